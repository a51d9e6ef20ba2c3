/* unrolled.h - a recurrent network read step by step, as lectures draw it: every number of the forward pass over a short
 * text, and the loss as it adds up.
 *
 *     h_t = cell(W x_t, h_{t-1})        x_t: word t as a row of zeros with a one        h_0 = 0
 *     y_t = softmax(V h_t)              the probability of every word to come next
 *     L_t = -log y_t[word t+1]          L = sum_t L_t
 *
 * The words of the text are the vocabulary. Weights are drawn; `updates` steps of gradient descent on L may follow, so that
 * one sees what learning changes. */
#ifndef REGARD_UNROLLED_H
#define REGARD_UNROLLED_H

#include "regard/recurrent.h"

RG_API_BEGIN

typedef struct rg_unrolled_options {
    rg_recurrence cell;
    size_t        units;   /* 1 to 64                                       */
    size_t        updates; /* of gradient descent before the pass that is kept */
    double        rate;
    uint64_t      seed;
} rg_unrolled_options;
#define RG_UNROLLED_OPTIONS_DEFAULT { RG_RNN, 3, 0, 0.1, 1 }

typedef struct rg_unrolled_step {
    size_t        word, next; /* numbers of words                                  */
    const double *h;          /* [units]                                           */
    const double *c;          /* [units], the LSTM's cell; NULL: the cell has none */
    const double *y;          /* [words]                                           */
    double        loss, sum;  /* L_t, L_1 + ... + L_t                              */
} rg_unrolled_step;

typedef struct rg_unrolled {
    size_t            words, units, steps;
    char            **word; /* [words] in the order they first occur */
    rg_unrolled_step *step; /* [steps], one less than the text has words */
    double            loss; /* what the tape says L is               */
    double           *numbers; /* where h, c and y of the steps lie  */
} rg_unrolled;

/* Words are what stands between blanks: 2 to 200. RG_EINVAL: fewer, more, or units that are not 1 to 64. */
rg_status rg_unrolled_new(rg_unrolled **out, const char *text, const rg_unrolled_options *options);
void      rg_unrolled_free(rg_unrolled *unrolled); /* NULL: nothing */

/* {"words": [...], "steps": [{"word", "next", "h", "c" of an LSTM, "y", "loss", "sum"}, ...], "loss"}; freed with rg_free. */
rg_status rg_unrolled_to_json(char **out, const rg_unrolled *unrolled);

RG_API_END
#endif
