/* metric.h - a metric of sentences: how many numbers a segment gives, how to get them, how their sums become a
 * score. */
#ifndef RG_METRICS_METRIC_H
#define RG_METRICS_METRIC_H

#include "data/text/words.h"
#include "regard/metrics.h"

enum { RG_METRIC_STATS = 24 };

typedef struct rg_metric rg_metric;

/* n-grams of small numbers (words, characters) with counts; cleared for each segment. */
typedef struct rg_gram {
    const int32_t *ids; /* borrowed: they stay where they are until the grams are cleared */
    uint32_t       n, kind, hypothesis, reference, current;
} rg_gram;

typedef struct rg_grams {
    rg_gram  *grams;
    size_t    count, room;
    uint32_t *slots;
    size_t    slot_count;
} rg_grams;

struct rg_scorer {
    const rg_metric *metric;
    rg_scorer_config config;
    size_t           references; /* of each segment; 0 before the first */
    double          *stats;      /* metric->stats numbers a segment */
    size_t           segments, room;
    rg_words         words; /* of all segments, to compare tokens by number */
    rg_grams         grams;
    rg_text          text, token;
    rg_ids           hypothesis, reference, hypothesis_words, reference_words;
};

struct rg_metric {
    const char *name, *title;
    const char *reward; /* its name as a reward of single sentences; NULL: it is none */
    size_t      stats;
    unsigned    order; /* chrf: of words; rouge: n, 0 for L */
    rg_status (*segment)(double *stats, rg_scorer *scorer, const char *hypothesis, const char *const *references,
                         size_t count);
    double (*score)(const rg_scorer *scorer, const double *sums, bool sentence);
    rg_status (*signature)(rg_text *out, const rg_scorer *scorer);
};

/* Numbers of a line's tokens, as the scorer's settings cut it. */
rg_status rg_scorer_tokens(rg_ids *out, rg_scorer *scorer, const char *line);

extern const rg_metric rg_metric_bleu, rg_metric_chrf, rg_metric_chrfpp, rg_metric_ter, rg_metric_rouge1,
    rg_metric_rouge2, rg_metric_rougeL, rg_metric_gleu;

/* grams.c */
void      rg_grams_fini(rg_grams *grams);
void      rg_grams_clear(rg_grams *grams);
rg_gram  *rg_grams_find(const rg_grams *grams, const int32_t *ids, uint32_t n, uint32_t kind); /* NULL if absent */
rg_status rg_grams_get(rg_gram **out, rg_grams *grams, const int32_t *ids, uint32_t n, uint32_t kind);

/* tokenize.c */
bool      rg_is_space(uint32_t c); /* as Python's str.split sees it */
rg_status rg_codes_of(rg_ids *out, const char *text, size_t bytes); /* characters */
/* Numbers of the words between blanks of `text`, in place of out's content. */
rg_status rg_word_ids(rg_ids *out, rg_words *words, const char *text, size_t bytes);

#endif
