/* metrics.h - how good is it: BLEU, chrF, chrF++, TER, ROUGE with the numbers of sacreBLEU 2.6; alignment error, sets,
 * perplexity.
 *
 * A metric of sentences turns each segment into a few numbers that are summed over the corpus before the score is
 * taken. So one object serves the corpus score, sentence scores, parts of the corpus and bootstrap confidence. */
#ifndef REGARD_METRICS_H
#define REGARD_METRICS_H

#include "regard/options.h"
#include "regard/text.h"

RG_API_BEGIN

typedef enum rg_tokenizer {
    RG_TOKENIZE_13A,  /* mteval-v13a, WMT's                                */
    RG_TOKENIZE_INTL, /* mteval-v14: punctuation and symbols of Unicode    */
    RG_TOKENIZE_CHAR, /* each character                                     */
    RG_TOKENIZE_NONE, /* blanks only: for text that is tokenised already    */
    RG_TOKENIZE_ZH,   /* Chinese characters apart, the rest as 13a          */
    RG_TOKENIZERS
} rg_tokenizer;

rg_status   rg_tokenizer_find(rg_tokenizer *out, const char *name); /* "13a" "intl" "char" "none" "zh" */
const char *rg_tokenizer_name(rg_tokenizer tokenizer);
/* Append the line with one blank between its tokens. */
rg_status rg_tokenize(rg_text *out, rg_tokenizer tokenizer, const char *line, size_t bytes);

typedef struct rg_scorer_config {
    rg_tokenizer tokenizer;   /* bleu                                                             */
    bool         lowercase;   /* bleu, chrf; ter and rouge are always lower-cased                 */
    bool         normalized;  /* ter: split punctuation, as tercom's -N                           */
    size_t       max_bytes;   /* rouge: look at so many bytes of the output only (75 for DUC); 0: all */
    bool         split_words; /* rouge: cut words at every sign, also inside U.S. and 4.5       */
} rg_scorer_config;
#define RG_SCORER_CONFIG_DEFAULT                \
    {                                           \
        RG_TOKENIZE_13A, false, false, 0, false \
    }

typedef struct rg_scorer rg_scorer;

/* name: "bleu", "chrf", "chrf++", "ter", "rouge1", "rouge2", "rougeL", "gleu". NULL config: the default. */
rg_status rg_scorer_new(rg_scorer **out, const char *name, const rg_scorer_config *config);
/* A metric that answers are rewarded by, with the default settings: "gleu", "bleu-sentence", "rouge-l", "chrf". */
rg_status rg_scorer_new_reward(rg_scorer **out, const char *name);
void      rg_scorer_free(rg_scorer *scorer);
/* One segment with its references, at least one, equally many for all segments. On failure nothing was added. */
rg_status rg_scorer_add(rg_scorer *scorer, const char *hypothesis, const char *const *references, size_t count);
size_t    rg_scorer_segments(const rg_scorer *scorer);

/* Scores run from 0 to 100 (TER may exceed it; less is better there). Without a segment: 0. */
double rg_scorer_score(const rg_scorer *scorer);
double rg_scorer_sentence(const rg_scorer *scorer, size_t segment); /* BLEU: effective order */
double rg_scorer_part(const rg_scorer *scorer, const size_t *segments, size_t count);

/* 95 % interval by resampling segments: mean of the resampled scores and half the interval's width. */
rg_status rg_scorer_bootstrap(double *out_mean, double *out_half, const rg_scorer *scorer, size_t samples,
                              uint64_t seed);

/* What makes a score comparable: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0" (the numbers are that
 * version's). */
rg_status rg_scorer_signature(rg_text *out, const rg_scorer *scorer);
/* "BLEU", "chrF2", "chrF2++", "TER", "ROUGE-1", ... */
const char *rg_scorer_title(const rg_scorer *scorer);

/* The parts of a corpus BLEU. */
typedef struct rg_bleu_parts {
    double   score, precisions[4], brevity;
    uint64_t correct[4], total[4], hypothesis_length, reference_length;
} rg_bleu_parts;
rg_status rg_scorer_bleu(rg_bleu_parts *out, const rg_scorer *scorer); /* RG_EINVAL for other metrics */

/* Recall, precision and F1 of ROUGE, means over the segments. */
rg_status rg_scorer_rouge(double *out_precision, double *out_recall, double *out_f1, const rg_scorer *scorer);

/* The score by length: segment i belongs to the first bucket b with length[i] <= edges[b], else to the last.
 * out_scores and out_counts have count + 1 entries. */
rg_status rg_scorer_by_length(double *out_scores, size_t *out_counts, const rg_scorer *scorer, const uint32_t *length,
                              const uint32_t *edges, size_t count);

/* ----------------------------------------------------------------------------------------------------- classes */

typedef struct rg_names rg_names; /* regard/examples.h */

/* How often each class was answered with each. All zero: nothing yet. */
typedef struct rg_confusion {
    size_t    classes;
    uint64_t *count; /* [gold * classes + predicted] */
} rg_confusion;

rg_status rg_confusion_init(rg_confusion *out, size_t classes);
void      rg_confusion_fini(rg_confusion *c);
void      rg_confusion_add(rg_confusion *c, int32_t gold, int32_t predicted); /* gold outside the classes is passed over */

typedef struct rg_class_scores {
    double   precision, recall, f1; /* 0 where there is nothing to divide by */
    uint64_t gold, predicted;       /* how often                             */
} rg_class_scores;
rg_class_scores rg_confusion_class(const rg_confusion *c, size_t class_number);
double          rg_confusion_accuracy(const rg_confusion *c); /* NaN when nothing was counted */
double          rg_confusion_macro_f1(const rg_confusion *c); /* mean over the classes that were right or answered at least once */

/* Precision, recall and F1 per class, and the confusion matrix where there are few enough classes for a terminal. Or
 * one JSON object. */
rg_status rg_confusion_print(rg_text *out, const rg_confusion *c, const rg_names *names);
rg_status rg_confusion_json(rg_text *out, const rg_confusion *c, const rg_names *names);

/* Spans of tags such as B-PER I-PER O: one begins at B, or at I behind another type, and ends before the next that
 * is not its I. */
bool rg_tags_are_bio(const rg_names *tags);

/* --------------------------------------------------------------------------------------------- other measures */

/* exp(nats / tokens); infinite without tokens. */
double rg_perplexity(double nats, uint64_t tokens);

/* Alignment error rate = 1 - (|A and S| + |A and P|) / (|A| + |S|), summed over lines. */
typedef struct rg_aer {
    uint64_t links, sure, in_sure, in_possible;
} rg_aer;
/* Pharaoh lines: "0-0 1-2"; in gold "3?4" or "3p4" is possible only, and sure links are possible too. */
rg_status rg_aer_add(rg_aer *aer, const char *links, const char *gold);
double    rg_aer_rate(const rg_aer *aer);

/* Sets of labels: counts of one comparison, to be summed for the pooled form. */
typedef struct rg_set_counts {
    uint64_t hit, extra, missed;
} rg_set_counts;
rg_status rg_set_compare(rg_set_counts *out, const int32_t *predicted, size_t predicted_count, const int32_t *gold,
                         size_t gold_count);
/* Spans of a sentence: hit where type, begin and end agree. Added to *sums. */
void   rg_spans_compare(rg_set_counts *sums, const int32_t *gold, const int32_t *predicted, size_t n,
                        const rg_names *tags);
double rg_set_f1(rg_set_counts counts); /* 1 when both are empty */
double rg_set_iou(rg_set_counts counts);

/* Rectangles in pictures, in pixels: columns x .. x + width, lines y .. y + height. */
typedef struct rg_box {
    double x, y, width, height;
} rg_box;
double rg_box_iou(rg_box a, rg_box b);
bool   rg_box_has(rg_box box, double x, double y);

/* Where a map of down x across cells says that the evidence is, in a picture of height x width: the place of the
 * largest value of the enlarged map, and the box around the largest connected part above `share` of it (0.2: Zhou et
 * al. 2016). A map without a positive value: the whole picture. */
typedef struct rg_evidence {
    rg_box box;
    double x, y;
} rg_evidence;
rg_status rg_evidence_of(rg_evidence *out, const float *map, size_t down, size_t across, size_t height, size_t width,
                         double share);

/* ---------------------------------------------------------------------------------------------------- families */

/* What is compared, and where what was found goes. */
typedef struct rg_judging {
    const char        *predicted; /* file of answers, one per line (or per blank-separated block); "-": standard input */
    const char *const *gold;      /* files of what is right, at least one                                               */
    size_t             gold_count;
    const void        *options; /* filled from the family's rows                                                      */
    bool               json;    /* one JSON object per line instead of a table                                        */
    int                digits;  /* after the point                                                                     */
    rg_text           *out;     /* what is to be printed: tables within 80 columns, or JSON lines; appended            */
    rg_text           *notes;   /* remarks for people, one per line; appended                                          */
    rg_confusion      *confusion; /* NULL, or a zeroed one that families of classes fill; the caller frees both         */
    rg_names         **names;
} rg_judging;

/* Metrics of one kind of answer: `regard evaluate --type NAME GOLD... < predicted`. A family is a constant in
 * src/metrics, rg_metric_family_NAME, and one word in RG_METRIC_FAMILIES. Those of text are the scorers above, and
 * no row. */
typedef struct rg_metric_family {
    const char      *name, *summary; /* "classes", "accuracy, F1 per class, confusion matrix" */
    const char      *details;        /* the files, for --help; may be NULL                    */
    const rg_option *options;        /* may be NULL                                           */
    size_t           options_bytes;
    rg_status (*judge)(const rg_judging *judging); /* RG_EMATCH, RG_EFORMAT name file and line */
} rg_metric_family;

#define RG_METRIC_FAMILIES(X) X(classes) X(sets) X(boxes) X(parzen)
#define RG_METRIC_FAMILY_DECLARE(name) extern const rg_metric_family rg_metric_family_##name;
RG_METRIC_FAMILIES(RG_METRIC_FAMILY_DECLARE)
#undef RG_METRIC_FAMILY_DECLARE

const rg_metric_family *const *rg_metric_family_all(void);              /* ends with NULL */
const rg_metric_family        *rg_metric_family_find(const char *name); /* NULL: none     */

/* ---------------------------------------------------------------------------------------------------------- samples */

/* Log-likelihood of n rows x of d numbers under normal windows around M samples; their width is chosen on `valid`. */
typedef struct rg_parzen {
    double mean, error; /* nats per example, and the standard error */
    double sigma;
    size_t examples;
} rg_parzen;
rg_status rg_parzen_measure(rg_parzen *out, const rg_real *samples, size_t M, const rg_real *x, size_t n,
                            const rg_real *valid, size_t valid_n, size_t d);

RG_API_END
#endif
