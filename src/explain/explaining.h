/* explaining.h - what the methods share: passes over copies of the example, with something changed in each. */
#ifndef RG_EXPLAIN_EXPLAINING_H
#define RG_EXPLAIN_EXPLAINING_H

#include "regard/batch.h"
#include "regard/explain.h"

/* Copies of a batch of one example. */
typedef struct rg_copies {
    rg_batch batch;
    void    *owned[4 * RG_BATCH_FIELDS + 1];
    size_t   count;
} rg_copies;

/* n copies; gone (may be NULL): n times the rows of field `input`, those that copy c lacks. rg_copies_free also after
 * a failure. */
rg_status rg_copies_make(rg_copies *out, const rg_batch *one, size_t n, size_t input, const unsigned char *gone);
void      rg_copies_free(rg_copies *copies);

struct rg_explaining {
    const rg_subject         *subject;
    const rg_explain_options *options;
    const rg_record          *record;
    rg_tape                  *tape, *recording;
    double                   *drops;                 /* (outputs, inputs) of occlusion, when it was asked for */
    double                   *base;                  /* s of every output */
    size_t                    bytes, recorded_bytes; /* that one copy takes in a pass; 0: not known yet */
    double                    flops;                 /* of a pass of one copy; 0: not known yet         */
    double                   *random;                /* (draws, outputs) of faithfulness; NULL: not yet */
};

/* How many passes of one copy the options allow a method, each as expensive as `each` forward passes; at least `least`.
 * After the first pass. */
size_t rg_explaining__passes(const rg_explaining *x, double each, size_t least);

/* Rows of answers of a batch: what the system predicts, or watches in a pass of its loss. Not of subjects that write. */
rg_tensor *rg_explaining__answers(rg_tape *t, const rg_subject *s, const void *batch);

/* Inputs of each span (rg_explain_options.spans): span of every input into `span`; how many there are. */
size_t rg_explaining__spans(int32_t *span, const rg_explaining *x);
/* s(x) - s(x without j), shared out over the inputs of a span: (outputs, inputs). */
rg_status rg_explaining__drops(double *out, rg_explaining *x, rg_change change);
/* The same of occlusion, kept. */
rg_status rg_explaining__occlusion(const double **out, rg_explaining *x);

/* The gradient of every output: `see` gets rows x and ds/dx, (rows, D) each, g summed over `steps` points between
 * zeros and x (1: at x). Where that is too much, neighbouring outputs are taken together, and each gets the mean. */
enum { RG_GRADIENT_PASSES = 3 }; /* forward passes that one with its backward pass is worth */
typedef void rg_see_gradient(void *context, size_t output, const rg_real *x, const rg_real *g, size_t D);
rg_status    rg_explaining__gradients(rg_explaining *x, size_t steps, rg_see_gradient *see, void *context);

#endif
