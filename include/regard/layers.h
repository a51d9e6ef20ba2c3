/* layers.h - parts without attention: what several systems are built from. Each has an init that declares its parameters inside the
 * current scope and a function that runs it. */
#ifndef REGARD_LAYERS_H
#define REGARD_LAYERS_H

#include "regard/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = f(x w + b) */
typedef struct rg_dense {
    rg_param     *w, *b;
    rg_activation f;
} rg_dense;
void       rg_dense_init(rg_dense *out, rg_params *p, const char *name, size_t in, size_t width, rg_activation f);
rg_tensor *rg_dense_run(rg_tape *t, const rg_dense *d, rg_tensor *x);

/* Layer normalisation over the columns of each row. */
typedef struct rg_norm {
    rg_param *gain, *bias;
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

/* Sinusoidal positions (Vaswani et al. 2017): PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(same).
 * Adds to x (N, d) the code of each row's place in its group. With `from`, row i stands at place from instead. */
rg_tensor *rg_add_positions(rg_tape *t, rg_tensor *x);
rg_tensor *rg_add_position(rg_tape *t, rg_tensor *x, size_t from);

/* The place of each row in its group, as numbers on the tape; NULL latches. For learned positions. */
int32_t *rg_places(rg_tape *t, const rg_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
