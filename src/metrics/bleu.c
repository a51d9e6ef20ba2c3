/* bleu.c - BLEU (Papineni et al. 2002), corpus level, as sacreBLEU has it.
 *
 *   BLEU = min(1, exp(1 - r/c)) * exp(1/4 sum_n log p_n)      p_n: clipped n-gram matches over n-grams, both summed over the corpus
 *
 * Where an order has no match, p_n = 1 / (2^k total_n) for the k-th such order ("exp", the NIST script's). Stats of
 * a segment: hypothesis length, closest reference length, matches of orders 1-4, totals of orders 1-4. */
#include "metrics/metric.h"

#include <math.h>
#include <string.h>

enum { ORDER = 4, HYP = 0, REF = 1, CORRECT = 2, TOTAL = 6, STATS = 10 };

rg_status rg_scorer_tokens(rg_ids *out, rg_scorer *s, const char *line)
{
    rg_text_clear(&s->text);
    rg_text_clear(&s->token);
    if (s->config.lowercase) {
        RG_TRY(rg_text_lower(&s->text, line, strlen(line)));
        line = rg_text_c(&s->text);
    }
    RG_TRY(rg_tokenize(&s->token, s->config.tokenizer, line, strlen(line)));
    return rg_word_ids(out, &s->words, rg_text_c(&s->token), s->token.length);
}

static rg_status count_hypothesis(double *totals, rg_grams *grams, const rg_ids *tokens)
{
    rg_grams_clear(grams);
    for (uint32_t n = 1; n <= ORDER && n <= tokens->count; n++) {
        for (size_t i = 0; i + n <= tokens->count; i++) {
            rg_gram *gram;
            RG_TRY(rg_grams_get(&gram, grams, tokens->data + i, n, 0));
            gram->hypothesis++;
        }
        totals[n - 1] = (double)(tokens->count - n + 1);
    }
    return RG_OK;
}

/* With several references a gram counts as often as in the one that has it most. */
static void count_reference(rg_grams *grams, const rg_ids *tokens)
{
    for (uint32_t n = 1; n <= ORDER; n++) {
        for (size_t i = 0; i + n <= tokens->count; i++) {
            rg_gram *gram = rg_grams_find(grams, tokens->data + i, n, 0);
            if (gram) gram->current++;
        }
    }
    for (size_t i = 0; i < grams->count; i++) {
        rg_gram *gram = &grams->grams[i];
        if (gram->current > gram->reference) gram->reference = gram->current;
        gram->current = 0;
    }
}

/* Is length a closer to c than b, or as close and shorter? */
static bool closer(size_t a, size_t b, size_t c)
{
    size_t da = a > c ? a - c : c - a, db = b > c ? b - c : c - b;
    return da < db || (da == db && a < b);
}

static rg_status bleu_segment(double *stats, rg_scorer *s, const char *hypothesis, const char *const *references,
                              size_t count)
{
    size_t closest = 0;
    RG_TRY(rg_scorer_tokens(&s->hypothesis, s, hypothesis));
    RG_TRY(count_hypothesis(stats + TOTAL, &s->grams, &s->hypothesis));
    for (size_t r = 0; r < count; r++) {
        RG_TRY(rg_scorer_tokens(&s->reference, s, references[r]));
        if (r == 0 || closer(s->reference.count, closest, s->hypothesis.count)) closest = s->reference.count;
        count_reference(&s->grams, &s->reference);
    }
    stats[HYP] = (double)s->hypothesis.count;
    stats[REF] = (double)closest;
    for (size_t i = 0; i < s->grams.count; i++) {
        const rg_gram *gram = &s->grams.grams[i];
        stats[CORRECT + gram->n - 1] += gram->hypothesis < gram->reference ? gram->hypothesis : gram->reference;
    }
    return RG_OK;
}

/* effective: average only over the orders that the hypothesis is long enough for. */
static rg_bleu_parts compute(const double *sums, bool effective)
{
    rg_bleu_parts p = { .hypothesis_length = (uint64_t)sums[HYP],
                        .reference_length = (uint64_t)sums[REF],
                        .brevity = 1 };
    double        smooth = 1, logs = 0;
    int           order = ORDER, matches = 0;
    if (sums[HYP] < sums[REF]) p.brevity = sums[HYP] > 0 ? exp(1 - sums[REF] / sums[HYP]) : 0;
    for (int n = 0; n < ORDER; n++) {
        p.correct[n] = (uint64_t)sums[CORRECT + n];
        p.total[n] = (uint64_t)sums[TOTAL + n];
        matches += p.correct[n] > 0;
    }
    if (!matches) return p;
    for (int n = 0; n < ORDER && p.total[n]; n++) {
        if (effective) order = n + 1;
        if (!p.correct[n]) smooth *= 2;
        p.precisions[n] = 100 * (p.correct[n] ? (double)p.correct[n] : 1 / smooth) / (double)p.total[n];
    }
    for (int n = 0; n < order; n++) logs += p.precisions[n] > 0 ? log(p.precisions[n]) : -INFINITY;
    p.score = p.brevity * exp(logs / order);
    return p;
}

static double bleu_score(const rg_scorer *s, const double *sums, bool sentence)
{
    (void)s;
    return compute(sums, sentence).score;
}

static rg_status bleu_signature(rg_text *out, const rg_scorer *s)
{
    return rg_text_print(out, "nrefs:%zu|case:%s|eff:no|tok:%s|smooth:exp|version:2.6.0", s->references,
                         s->config.lowercase ? "lc" : "mixed", rg_tokenizer_name(s->config.tokenizer));
}

const rg_metric rg_metric_bleu = { .name = "bleu",
                                   .title = "BLEU",
                                   .reward = "bleu-sentence",
                                   .stats = STATS,
                                   .segment = bleu_segment,
                                   .score = bleu_score,
                                   .signature = bleu_signature };

rg_status rg_scorer_bleu(rg_bleu_parts *out, const rg_scorer *s)
{
    double sums[RG_METRIC_STATS] = { 0 };
    if (s->metric != &rg_metric_bleu) return rg_fail(RG_EINVAL, "%s has no n-gram precisions", s->metric->title);
    for (size_t i = 0; i < s->segments; i++)
        for (size_t j = 0; j < STATS; j++) sums[j] += s->stats[i * STATS + j];
    *out = compute(sums, false);
    return RG_OK;
}
