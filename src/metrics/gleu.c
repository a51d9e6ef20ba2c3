/* gleu.c - GLEU (Wu et al. 2016, section 4.2): a score of single sentences that serves as a reward.
 *
 *   GLEU = min(precision, recall) of all 1- to 4-grams taken together: matches / grams of the output, matches / grams of the reference
 *
 * Over a corpus the counts are summed first. Of several references the one with the best score counts. Stats:
 * matches, grams of the output, grams of the reference. */
#include "metrics/metric.h"

#include <string.h>

enum { ORDER = 4,
       MATCHES = 0,
       OUTPUT = 1,
       REFERENCE = 2,
       STATS = 3 };

static double grams_of(const rg_ids *tokens)
{
    double count = 0;
    for (size_t n = 1; n <= ORDER && n <= tokens->count; n++) count += (double)(tokens->count - n + 1);
    return count;
}

static rg_status count_matches(double *out, rg_scorer *s)
{
    rg_grams_clear(&s->grams);
    *out = 0;
    for (uint32_t n = 1; n <= ORDER; n++)
        for (size_t i = 0; i + n <= s->hypothesis.count; i++) {
            rg_gram *gram;
            RG_TRY(rg_grams_get(&gram, &s->grams, s->hypothesis.data + i, n, 0));
            gram->hypothesis++;
        }
    for (uint32_t n = 1; n <= ORDER; n++)
        for (size_t i = 0; i + n <= s->reference.count; i++) {
            rg_gram *gram = rg_grams_find(&s->grams, s->reference.data + i, n, 0);
            if (gram && gram->reference < gram->hypothesis) gram->reference++, ++*out;
        }
    return RG_OK;
}

/* The larger divisor gives the smaller of precision and recall. */
static double ratio(const double *stats)
{
    const double most = stats[OUTPUT] > stats[REFERENCE] ? stats[OUTPUT] : stats[REFERENCE];
    return most > 0 ? stats[MATCHES] / most : 0;
}

static rg_status gleu_segment(double *stats, rg_scorer *s, const char *hypothesis, const char *const *references,
                              size_t count)
{
    RG_TRY(rg_scorer_tokens(&s->hypothesis, s, hypothesis));
    for (size_t r = 0; r < count; r++) {
        double now[STATS];
        RG_TRY(rg_scorer_tokens(&s->reference, s, references[r]));
        RG_TRY(count_matches(&now[MATCHES], s));
        now[OUTPUT] = grams_of(&s->hypothesis);
        now[REFERENCE] = grams_of(&s->reference);
        if (r == 0 || ratio(now) > ratio(stats)) memcpy(stats, now, sizeof now);
    }
    return RG_OK;
}

static double gleu_score(const rg_scorer *s, const double *sums, bool sentence)
{
    (void)s;
    (void)sentence;
    return 100 * ratio(sums);
}

static rg_status gleu_signature(rg_text *out, const rg_scorer *s)
{
    return rg_text_print(out, "nrefs:%zu|case:%s|tok:%s|order:4", s->references, s->config.lowercase ? "lc" : "mixed",
                         rg_tokenizer_name(s->config.tokenizer));
}

const rg_metric rg_metric_gleu = { .name = "gleu",
                                   .title = "GLEU",
                                   .reward = "gleu",
                                   .stats = STATS,
                                   .segment = gleu_segment,
                                   .score = gleu_score,
                                   .signature = gleu_signature };
