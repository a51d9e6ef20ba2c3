/* explain.h - why a model answered what it answered: how much each input (word, region of a picture, node) mattered to
 * each output. docs/explaining.md has definitions and papers.
 *
 *     s_o    log p of output o; with a contrast  log p(word) - log p(other word)
 *     x_j    the rows of input j as they go in, embedded
 *
 *     attention        mean of the heads of the last layer that looks from outputs at inputs
 *     rollout          C prod_l (A_l + I) / 2          A_l: mean of the heads of layer l over inputs, C: attention
 *     gradient         |ds_o / dx_j|_2
 *     input-gradient   x_j . ds_o / dx_j
 *     integrated       x_j . mean over k of ds_o / dx_j at (k - 1/2) / K x         sums to s_o(x) - s_o(0)
 *     zeroing          s_o - s_o with the value of key j zero in every attention over inputs
 *     occlusion        s_o - s_o without input j
 *
 * A method is one file in src/explain that ends in a constant, and one word in RG_METHODS. It works on a *subject*: one
 * example of any system, which its task describes. Passes with changes share batches of copies of the example. */
#ifndef REGARD_EXPLAIN_H
#define REGARD_EXPLAIN_H

#include "regard/model.h"
#include "regard/record.h"

RG_API_BEGIN

/* One example through a model: what goes in and what comes out. Borrowed. */
typedef struct rg_subject {
    const rg_model *model;
    const void     *batch;  /* of the one example                                                                  */
    bool            copies; /* it is an rg_batch: several copies of the example can share a pass                    */
    /* what goes in: the rows offered as "inputs" (autograd.h) */
    size_t         input; /* copies: the field they are made of                                                  */
    size_t         rows;
    size_t         inputs;    /* columns of the maps                                                                 */
    const int32_t *unit;      /* of each row: the input it is part of, -1: none; NULL: row j is input j              */
    bool           leave_out; /* rows of the field can be left out; otherwise zeros go in instead                    */
    bool           mean;      /* or, of pixels, their mean                                                           */
    const char    *keys;      /* label list of the inputs in the system's uses: "source"; NULL: none                 */
    /* what comes out */
    bool           writes; /* tokens of the field `target`, by the system's loss; otherwise rows of its predict   */
    size_t         target;
    rg_loss (*pass)(rg_tape *t, const rg_model *model, const void *batch); /* instead of its predict: a loss in which it   */
    const char    *logits;  /* ... watches the rows of answers under this name; NULL: predict gives them            */
    size_t         answers; /* rows of answers of one example                                                      */
    size_t         outputs; /* rows of the maps                                                                    */
    const int32_t *row;     /* of each output: its row of answers; NULL: its own                                   */
    const int32_t *word;    /* of each output: its token or class                                                  */
    const rg_real *bits;    /* instead of `word`: 0 or 1 of each column of each output, answered independently      */
    int32_t        against; /* contrast: the other token or class; -1: none                                        */
    const int32_t *seat;    /* of each output: the input where it is computed; NULL: nowhere in particular          */
    bool           causal;  /* an output depends on inputs up to its seat                                          */
    /* where the maps go */
    size_t      row_labels, col_labels;
    int         hypothesis;   /* -1: none */
    const char *against_text; /* of the contrast; may be NULL */
} rg_subject;

typedef struct rg_explain_options {
    const char *by;       /* methods with commas between them, or "all"; NULL, "": no maps of its own           */
    const char *against;  /* a word or class, for tasks that know it; NULL, "": no contrast                    */
    size_t      steps;    /* K of integrated gradients                                                         */
    size_t      spans;    /* more inputs than this are occluded and zeroed in so many spans of neighbours       */
    size_t      bytes;    /* memory that copies of a pass may take together                                    */
    double      flops;    /* of the passes of one method, or of the faithfulness of one map: a long input is taken in
                           * fewer spans, neighbouring outputs together, in fewer steps, until it fits; 0: never  */
    bool        faithful; /* measure maps from outputs to inputs (rg_faithfulness), those that were there too   */
    rg_team    *team;     /* may be NULL */
} rg_explain_options;
#define RG_EXPLAIN_OPTIONS_DEFAULT                            \
    {                                                         \
        .steps = 32, .spans = 256, .bytes = (size_t)256 << 20, .flops = 2e12 \
    }

typedef struct rg_explaining rg_explaining;

typedef struct rg_method {
    const char *name, *formula, *summary, *paper;
    bool        contrasts; /* it can explain a difference of two log p */
    bool        attends;   /* it reads the record's maps of attention  */
    /* (outputs, inputs), tightly packed. RG_EMATCH: the system has nothing it needs. */
    rg_status (*explain)(rg_real *out, rg_explaining *explaining);
} rg_method;

const rg_method *const *rg_method_all(void);              /* ends with NULL */
const rg_method        *rg_method_find(const char *name); /* NULL: none     */
/* RG_EINVAL: `by` names a method that is not there, or --against goes with one that has no contrast. */
rg_status rg_explain_check(const rg_explain_options *options);
/* Are maps of attention needed in the record? NULL, or no methods: they are what is asked for. */
bool rg_explain_attends(const rg_explain_options *options);

/* Add a map per method to the record, named like the method; with a contrast "occlusion against WORD". Of "all",
 * methods that find nothing to work on are passed over. */
rg_status rg_explain(rg_record *record, const rg_subject *subject, const rg_explain_options *options);

/* How many rows of answers a pass over a batch gives, and how wide they are. */
rg_status rg_explain_answers(size_t *out_rows, size_t *out_columns, const rg_subject *subject, rg_tape *tape,
                             const void *batch);

/* ------------------------------------------------------------------------------------------------------- by hand */

/* `record` (may be NULL) has the maps of attention. Options and subject are borrowed. */
rg_status rg_explaining_new(rg_explaining **out, const rg_subject *subject, const rg_explain_options *options,
                            const rg_record *record);
void      rg_explaining_free(rg_explaining *explaining);

typedef enum rg_change {
    RG_CHANGE_OCCLUDE, /* inputs are left out, or replaced        */
    RG_CHANGE_ZERO     /* their values are zero in every attention */
} rg_change;

/* s of every output when inputs are changed: gone[v * inputs + j] says whether variant v lacks input j; out is
 * (variants, outputs). A variant that lacks nothing is the example as it is. As many variants as fit the memory share
 * a pass, which changes no bit. */
rg_status rg_explaining_score(double *out, rg_explaining *explaining, const unsigned char *gone, size_t variants,
                              rg_change change);

/* How well a map says what the answer rests on: the rank correlation (Spearman) of its rows with those of occlusion,
 * and how far s falls when the k inputs with the largest weights are left out, against k random ones (mean of 20
 * draws); k is a fifth of the inputs. Means over outputs, of at most 64. Not measured where there are fewer than 3
 * inputs. drop false: the correlation alone, which needs no further pass; k is 0 then. */
rg_status rg_explaining_faithfulness(rg_faithfulness *out, rg_explaining *explaining, const rg_real *map, bool drop);

/* Spearman's rank correlation; ties have their mean rank. 0 where one of them is constant. */
double rg_rank_correlation(const double *x, const double *y, size_t n);

RG_API_END
#endif
