/* layers.h - parts that several systems are built from; the blocks of Transformers are in transformer.h. Each has an
 * init that declares its parameters inside the current scope and a function that runs it. */
#ifndef REGARD_LAYERS_H
#define REGARD_LAYERS_H

#include "regard/attention.h"
#include "regard/recurrent.h"

RG_API_BEGIN

/* y = f(x w + b) */
typedef struct rg_dense {
    rg_param     *w, *b;
    rg_activation f;
} rg_dense;
void       rg_dense_init(rg_dense *out, rg_params *p, const char *name, size_t in, size_t width, rg_activation f);
rg_tensor *rg_dense_run(rg_tape *t, const rg_dense *d, rg_tensor *x);

/* Layer normalisation over the columns of each row. */
#define RG_NORM_EPSILON 1e-6
typedef struct rg_norm {
    rg_param *gain, *bias;
    double    epsilon; /* rg_norm_init sets RG_NORM_EPSILON */
} rg_norm;
void       rg_norm_init(rg_norm *out, rg_params *p, const char *name, size_t width);
rg_tensor *rg_norm_run(rg_tape *t, const rg_norm *n, rg_tensor *x);
rg_tensor *rg_norm_sum(rg_tape *t, const rg_norm *n, rg_tensor *x, rg_tensor *y); /* norm(x + y) */

/* Position-wise feed-forward: f(x w1 + b1) w2 + b2, with dropout between when p > 0. */
typedef struct rg_feed_forward {
    rg_dense inner, outer;
} rg_feed_forward;
void       rg_feed_forward_init(rg_feed_forward *out, rg_params *p, size_t width, size_t hidden, rg_activation f);
rg_tensor *rg_feed_forward_run(rg_tape *t, const rg_feed_forward *ff, rg_tensor *x, double dropout);

/* Sinusoidal positions: sin(pos w_i) and cos(pos w_i), which programs arrange and space differently.
 *
 *     RG_SINUSOIDS         w_i = 10000^(-2i/d)           sin, cos, sin, cos, ...      as printed (Vaswani et al. 2017)
 *     RG_SINUSOIDS_HALVES  the same                      all sines, then all cosines   Hugging Face
 *     RG_SINUSOIDS_SPREAD  w_i = 10000^(-i/(d/2-1))      all sines, then all cosines   tensor2tensor, Marian, CTranslate2
 *
 * Adds to x (N, d) the code of each row's place in its group. With `from`, every row stands at place from instead. */
typedef enum rg_sinusoids { RG_SINUSOIDS, RG_SINUSOIDS_HALVES, RG_SINUSOIDS_SPREAD } rg_sinusoids;
rg_tensor *rg_add_positions(rg_tape *t, rg_tensor *x);
rg_tensor *rg_add_position(rg_tape *t, rg_tensor *x, size_t from);
/* The same with a choice, and `first` as the number of a group's first place. */
rg_tensor *rg_add_sinusoids(rg_tape *t, rg_tensor *x, rg_sinusoids form, size_t first);
rg_tensor *rg_add_sinusoid(rg_tape *t, rg_tensor *x, rg_sinusoids form, size_t place);

/* The place of each row in its group, as numbers on the tape; NULL latches. For learned positions. */
int32_t *rg_places(rg_tape *t, const rg_layout *layout);

/* ------------------------------------------------------------------------------------------------- recurrence */

/* A stack of recurrent layers; layer l reads the states of layer l-1. Dropout sits on what goes up, never on what
 * goes on in time: on the input of every layer (Zaremba, Sutskever, Vinyals 2014); what leaves the top is the
 * caller's to drop. */
enum { RG_RECURRENT_DEPTH = 16 };

typedef struct rg_recurrent_config {
    rg_recurrence kind;
    size_t        in, width, depth;
    bool          bidirectional; /* every layer in both directions */
    rg_combine    combine;
    double        dropout;
    double        uniform;     /* all weights in +- uniform; 0: Glorot for inputs, orthogonal for states */
    double        forget_bias; /* of the LSTM */
} rg_recurrent_config;
#define RG_RECURRENT_CONFIG_DEFAULT { .kind = RG_LSTM, .depth = 1, .forget_bias = 1 }

/* One layer, one direction. Named w, b, u and u_new or b_new inside the current scope. */
typedef struct rg_recurrent_params {
    rg_param *w, *b, *u, *u_new, *b_new;
} rg_recurrent_params;
void rg_recurrent_params_init(rg_recurrent_params *out, rg_params *p, const rg_recurrent_config *config, size_t in);
rg_recurrent_weights rg_recurrent_params_use(rg_tape *t, const rg_recurrent_params *r);

typedef struct rg_recurrent_stack {
    rg_recurrent_config config;
    rg_recurrent_params ahead[RG_RECURRENT_DEPTH], back[RG_RECURRENT_DEPTH];
} rg_recurrent_stack;

/* States between sequences or steps, a layer each; (G, width) or NULL for zeros. c of LSTMs only. */
typedef struct rg_recurrent_states {
    rg_tensor *h[RG_RECURRENT_DEPTH], *c[RG_RECURRENT_DEPTH];
    size_t     after; /* rg_recurrent_stack_run: leave the states after so many rows of every group; 0: at its end */
} rg_recurrent_states;

void   rg_recurrent_stack_init(rg_recurrent_stack *out, rg_params *p, const char *name,
                               const rg_recurrent_config *config);
size_t rg_recurrent_stack_width(const rg_recurrent_stack *s); /* columns of what it returns: twice the width for concatenated directions */

/* (N, in) -> (N, stack width) over the layout of x. `states` (may be NULL) is where every group starts and, on
 * return, where it ended; both directions start from zeros and leave their ends combined as the rows are. */
rg_tensor *rg_recurrent_stack_run(rg_tape *t, const rg_recurrent_stack *s, rg_tensor *x, rg_recurrent_states *states);
/* One step of n rows: (n, in) -> (n, width); states are read and replaced. Not for both directions. */
rg_tensor *rg_recurrent_stack_step(rg_tape *t, const rg_recurrent_stack *s, rg_tensor *x, rg_recurrent_states *states);

RG_API_END
#endif
