/* metrics.c - one object for every metric of sentences: keeps each segment's numbers, sums any choice of them, takes
 * the score. */
#include "metrics/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rg_metric *const table[] = { &rg_metric_bleu,   &rg_metric_chrf,   &rg_metric_chrfpp,
                                          &rg_metric_ter,    &rg_metric_rouge1, &rg_metric_rouge2,
                                          &rg_metric_rougeL, &rg_metric_gleu,   NULL };

rg_status rg_scorer_new(rg_scorer **out, const char *name, const rg_scorer_config *config)
{
    const rg_metric *const *metric = table;
    while (*metric && strcmp((*metric)->name, name) != 0) metric++;
    if (!*metric)
        return rg_fail(RG_EINVAL,
                       "no metric is called \"%s\"; there are bleu, chrf, chrf++, ter, rouge1, rouge2, rougeL and gleu",
                       name);
    rg_scorer *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->metric = *metric;
    s->config = config ? *config : (rg_scorer_config)RG_SCORER_CONFIG_DEFAULT;
    *out = s;
    return RG_OK;
}

rg_status rg_scorer_new_reward(rg_scorer **out, const char *name)
{
    char   known[128] = "";
    size_t at = 0;
    *out = NULL;
    for (const rg_metric *const *m = table; *m; m++) {
        if (!(*m)->reward) continue;
        if (strcmp((*m)->reward, name) == 0) return rg_scorer_new(out, (*m)->name, NULL);
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", (*m)->reward);
    }
    return rg_fail(RG_EINVAL, "no reward is called \"%s\"; there are %s", name, known);
}

void rg_scorer_free(rg_scorer *s)
{
    if (!s) return;
    rg_free(s->stats);
    rg_words_fini(&s->words);
    rg_grams_fini(&s->grams);
    rg_text_free(&s->text);
    rg_text_free(&s->token);
    rg_ids_free(&s->hypothesis);
    rg_ids_free(&s->reference);
    rg_ids_free(&s->hypothesis_words);
    rg_ids_free(&s->reference_words);
    rg_free(s);
}

rg_status rg_scorer_add(rg_scorer *s, const char *hypothesis, const char *const *references, size_t count)
{
    if (!count || (s->references && count != s->references))
        return rg_fail(RG_EMATCH, "segment %zu has %zu references, the ones before it %zu", s->segments + 1, count,
                       s->references);
    if (s->segments == s->room) {
        size_t bytes, room = s->room ? 2 * s->room : 256;
        if (!rg_size_mul(&bytes, room, s->metric->stats * sizeof *s->stats))
            return rg_fail(RG_ENOMEM, "too many segments");
        double *stats = rg_realloc(s->stats, bytes);
        if (!stats) return RG_ENOMEM;
        s->stats = stats;
        s->room = room;
    }
    double *stats = s->stats + s->segments * s->metric->stats;
    memset(stats, 0, s->metric->stats * sizeof *stats);
    RG_TRY(s->metric->segment(stats, s, hypothesis, references, count));
    s->references = count;
    s->segments++;
    return RG_OK;
}

size_t rg_scorer_segments(const rg_scorer *s)
{
    return s->segments;
}

const char *rg_scorer_title(const rg_scorer *s)
{
    return s->metric->title;
}

rg_status rg_scorer_signature(rg_text *out, const rg_scorer *s)
{
    return s->metric->signature(out, s);
}

static void add_stats(double *sums, const rg_scorer *s, size_t segment)
{
    for (size_t j = 0; j < s->metric->stats; j++) sums[j] += s->stats[segment * s->metric->stats + j];
}

double rg_scorer_score(const rg_scorer *s)
{
    double sums[RG_METRIC_STATS] = { 0 };
    for (size_t i = 0; i < s->segments; i++) add_stats(sums, s, i);
    return s->metric->score(s, sums, false);
}

double rg_scorer_sentence(const rg_scorer *s, size_t segment)
{
    return segment < s->segments ? s->metric->score(s, s->stats + segment * s->metric->stats, true) : 0;
}

double rg_scorer_part(const rg_scorer *s, const size_t *segments, size_t count)
{
    double sums[RG_METRIC_STATS] = { 0 };
    for (size_t i = 0; i < count; i++)
        if (segments[i] < s->segments) add_stats(sums, s, segments[i]);
    return s->metric->score(s, sums, false);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

rg_status rg_scorer_bootstrap(double *out_mean, double *out_half, const rg_scorer *s, size_t samples, uint64_t seed)
{
    if (!s->segments || samples < 2)
        return rg_fail(RG_EINVAL, "%zu samples of %zu segments tell no confidence", samples, s->segments);
    double *scores = rg_alloc_array(samples, sizeof *scores), mean = 0;
    if (!scores) return RG_ENOMEM;
    rg_random random = rg_random_new(seed, 0x626F6F74);
    for (size_t k = 0; k < samples; k++) {
        double sums[RG_METRIC_STATS] = { 0 };
        for (size_t i = 0; i < s->segments; i++) add_stats(sums, s, (size_t)rg_random_below(&random, s->segments));
        scores[k] = s->metric->score(s, sums, false);
        mean += scores[k];
    }
    qsort(scores, samples, sizeof *scores, rising);
    size_t cut = samples / 40; /* 2.5 % from either end */
    *out_mean = mean / (double)samples;
    *out_half = (scores[samples - cut - 1] - scores[cut]) / 2;
    rg_free(scores);
    return RG_OK;
}

rg_status rg_scorer_by_length(double *out_scores, size_t *out_counts, const rg_scorer *s, const uint32_t *length,
                              const uint32_t *edges, size_t count)
{
    for (size_t b = 0; b <= count; b++) {
        double sums[RG_METRIC_STATS] = { 0 };
        out_counts[b] = 0;
        for (size_t i = 0; i < s->segments; i++) {
            size_t bucket = 0;
            while (bucket < count && length[i] > edges[bucket]) bucket++;
            if (bucket != b) continue;
            add_stats(sums, s, i);
            out_counts[b]++;
        }
        out_scores[b] = s->metric->score(s, sums, false);
    }
    return RG_OK;
}
