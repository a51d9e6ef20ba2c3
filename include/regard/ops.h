/* ops.h - the words of formulas. Every op takes the tape first and returns a tensor that lives on it, or NULL with
 * the reason latched on the tape. NULL arguments flow through. Shapes are (rows, cols); N rows, D columns. */
#ifndef REGARD_OPS_H
#define REGARD_OPS_H

#include "regard/autograd.h"

RG_API_BEGIN

/* products */
rg_tensor *rg_matmul(rg_tape *t, rg_tensor *a, rg_tensor *b);    /* (M, K) (K, N) -> (M, N)     a b   */
rg_tensor *rg_matmul_nt(rg_tape *t, rg_tensor *a, rg_tensor *b); /* (M, K) (N, K) -> (M, N)     a b^T */
/* f(x w + b); b may be NULL. w (in, out). */
rg_tensor *rg_linear(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f);
/* x w^T + b for a table w (out, in), as over a vocabulary; b may be NULL. */
rg_tensor *rg_linear_nt(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b);

/* one number at a time */
rg_tensor *rg_map(rg_tape *t, rg_tensor *x, rg_activation f);
rg_tensor *rg_tanh(rg_tape *t, rg_tensor *x);
rg_tensor *rg_sigmoid(rg_tape *t, rg_tensor *x);
rg_tensor *rg_relu(rg_tape *t, rg_tensor *x);
rg_tensor *rg_scale(rg_tape *t, rg_tensor *x, double a);           /* a x      */
rg_tensor *rg_shift(rg_tape *t, rg_tensor *x, double a);           /* x + a    */
rg_tensor *rg_add(rg_tape *t, rg_tensor *x, rg_tensor *y);         /* same shape, or y is one row (a bias), or y is (1, 1)     */
rg_tensor *rg_bias_map(rg_tape *t, rg_tensor *x, rg_tensor *b, rg_activation f); /* f(x + b), b one row: a layer's end */
rg_tensor *rg_sub(rg_tape *t, rg_tensor *x, rg_tensor *y);         /* same shape */
rg_tensor *rg_mul(rg_tape *t, rg_tensor *x, rg_tensor *y);         /* same shape, or y is one column (one weight per row), or one row */
rg_tensor *rg_power(rg_tape *t, rg_tensor *x, rg_tensor *gamma);   /* x^gamma, x >= 0; gamma (N, 1) or same shape              */
rg_tensor *rg_dropout(rg_tape *t, rg_tensor *x, double p);         /* backward keeps one bit per number; identity when not learning */
rg_tensor *rg_clamp(rg_tape *t, rg_tensor *x, double low, double high);
rg_tensor *rg_max_pairs(rg_tape *t, rg_tensor *x);                 /* maxout: (N, 2D) -> (N, D), the larger of columns 2j, 2j+1 */
rg_tensor *rg_glu(rg_tape *t, rg_tensor *x);                       /* gated linear unit: (N, 2D) -> (N, D), [a | b] -> a sigma(b) */

/* c_t = f_t c_{t-1} + (1 - f_t) x_t over the rows of each group, all (N, D): the recurrence of an SSRU. `from`: NULL,
 * groups start from zeros; (N, D): one step, row i continues from row i of it, which gets no gradient. */
rg_tensor *rg_ssru(rg_tape *t, rg_tensor *f, rg_tensor *x, rg_tensor *from);

/* columns and rows */
rg_tensor *rg_columns(rg_tape *t, rg_tensor *x, size_t from, size_t count); /* a view */
/* n views of equal width that together are x: their gradients are written in place, nothing is zeroed. out[n]. */
void       rg_split(rg_tape *t, rg_tensor *x, size_t n, rg_tensor **out);
rg_tensor *rg_rows(rg_tape *t, rg_tensor *x, size_t from, size_t count);    /* a view */
rg_tensor *rg_concat_columns(rg_tape *t, size_t n, rg_tensor *const *parts);
rg_tensor *rg_concat_rows(rg_tape *t, size_t n, rg_tensor *const *parts); /* groups of all parts; pictures of one size stay pictures */
/* Rows by number; -1 gives the zero row. index is copied. */
rg_tensor *rg_gather(rg_tape *t, rg_tensor *x, const int32_t *index, size_t count, const rg_layout *layout);
/* out (rows, D) with out[index[i]] += x[i]; -1 drops the row. */
rg_tensor *rg_scatter(rg_tape *t, rg_tensor *x, const int32_t *index, size_t rows, const rg_layout *layout);
rg_tensor *rg_transpose(rg_tape *t, rg_tensor *x);
/* n rows side by side, (N n, D) -> (N, n D), and each row cut into n, (N, n D) -> (N n, D). Views of dense rows.
 * Groups of a layout keep their rows where n divides each of them; pictures become plain groups. A picture's pixels
 * as one row: n = height * width. */
rg_tensor *rg_join_rows(rg_tape *t, rg_tensor *x, size_t n);
rg_tensor *rg_split_rows(rg_tape *t, rg_tensor *x, size_t n);
/* (N, k): the k largest numbers of each row, largest first, and (N, k) the columns they stand in, unless `column` is
 * NULL. Of equals the one further left comes first. */
rg_tensor *rg_top_columns(rg_tape *t, rg_tensor *x, size_t k, const int32_t **column);

/* Write-once rows: recurrence puts each step's rows there; later ops read all of it. */
rg_tensor *rg_rows_new(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout);
void       rg_rows_put(rg_tape *t, rg_tensor *buffer, const int32_t *at, rg_tensor *x); /* row at[i] of buffer = x[i] */

/* softmax over the columns of each row, and its logarithm */
rg_tensor *rg_softmax(rg_tape *t, rg_tensor *x);
rg_tensor *rg_log_softmax(rg_tape *t, rg_tensor *x);
rg_tensor *rg_pick(rg_tape *t, rg_tensor *x, const int32_t *column); /* (N, 1): x[i][column[i]]; -1 gives 0 */

/* norms */
rg_tensor *rg_layer_norm(rg_tape *t, rg_tensor *x, rg_tensor *gain, rg_tensor *bias, double eps);
/* layer_norm(x + y), the residual sum taken in the same pass. */
rg_tensor *rg_add_norm(rg_tape *t, rg_tensor *x, rg_tensor *y, rg_tensor *gain, rg_tensor *bias, double eps);
/* Statistics over all rows while learning (kept mean and variance move by `momentum`: rg_params_update_kept), kept
 * ones otherwise. With momentum 0 the statistics of the batch are used and the kept ones stay as they are, as a
 * second pass over perturbed inputs wants it. */
rg_tensor *rg_batch_norm(rg_tape *t, rg_tensor *x, rg_tensor *gain, rg_tensor *bias, rg_param *mean, rg_param *variance,
                         double momentum, double eps);

/* reductions */
rg_tensor *rg_sum(rg_tape *t, rg_tensor *x);         /* (1, 1)                   */
rg_tensor *rg_sum_columns(rg_tape *t, rg_tensor *x); /* (N, 1)  over each row     */
rg_tensor *rg_sum_rows(rg_tape *t, rg_tensor *x);    /* (1, D)  over each column  */
rg_tensor *rg_sum_groups(rg_tape *t, rg_tensor *x);  /* (G, D)  over each group of the layout */
rg_tensor *rg_mean_groups(rg_tape *t, rg_tensor *x); /* (G, D); an empty group gives zeros    */
rg_tensor *rg_max_groups(rg_tape *t, rg_tensor *x);  /* (G, D); an empty group gives zeros    */
rg_tensor *rg_dot_rows(rg_tape *t, rg_tensor *x, rg_tensor *y);    /* (N, 1)  sum_j x_ij y_ij  */

/* losses: (1, 1) sums */
/* sum_i -log softmax(x)[i][target[i]], with label smoothing eps over all classes; target -1 is left out. */
rg_tensor *rg_cross_entropy(rg_tape *t, rg_tensor *logits, const int32_t *target, double smoothing);
/* The same for logits = x w^T + b that are never stored: w is a table (V, D), b (1, V) may be NULL. The gradient is
 * made in the forward pass, times `weight`; nothing may scale the result afterwards but addition to other losses.
 * The watch point "losses" gives the loss of each row, (N, 1). */
rg_tensor *rg_cross_entropy_over(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const int32_t *target,
                                 double smoothing, double weight);
/* Cross-entropy row by row, (N, 1): loss i times weight[i] (NULL: 1). Its sum is rg_cross_entropy. */
rg_tensor *rg_cross_entropy_rows(rg_tape *t, rg_tensor *logits, const int32_t *target, double smoothing,
                                 const rg_real *weight);
/* rg_cross_entropy_over with a weight for each row, and each row's loss (weight included), (N, 1), without a
 * gradient of its own; either may be NULL. */
rg_tensor *rg_cross_entropy_over_rows(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const int32_t *target,
                                      double smoothing, const rg_real *weight, rg_tensor **each);
/* sum_i weight[i] sum_j -q_ij log softmax(x)_ij for a target q (N, V) of probabilities; gradients to both. weight
 * NULL: 1. */
rg_tensor *rg_soft_cross_entropy(rg_tape *t, rg_tensor *logits, rg_tensor *target, const rg_real *weight);
/* sum_i weight[i] KL(softmax(x_i) || softmax(y_i)), both given as logits (N, V); gradients to both. weight NULL: 1. */
rg_tensor *rg_divergence(rg_tape *t, rg_tensor *x, rg_tensor *y, const rg_real *weight);
/* sum of log(1 + exp(x)) - y x: y in [0, 1] given as numbers, same shape */
rg_tensor *rg_binary_cross_entropy(rg_tape *t, rg_tensor *logits, const rg_real *target);
rg_tensor *rg_squared_error(rg_tape *t, rg_tensor *x, const rg_real *target); /* sum (x - y)^2 */

/* random numbers, without a gradient: from seed, step, op, the row in the whole batch (layout->first; layout may be
 * NULL) and the column */
rg_tensor *rg_normal(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout);  /* mean 0, deviation 1 */
rg_tensor *rg_uniform(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout); /* in (0, 1)           */

/* gradients by hand */
rg_tensor *rg_reverse_gradient(rg_tape *t, rg_tensor *x, double lambda);            /* identity; backward times -lambda */
rg_tensor *rg_scale_gradient(rg_tape *t, rg_tensor *x, double factor);              /* identity; backward times factor  */
rg_tensor *rg_straight_through(rg_tape *t, rg_tensor *hard, rg_tensor *soft);       /* numbers of hard, gradient to soft */
/* Numbers of x. Backward passes its gradient on and adds 1 to that of `loss` (1, 1), which is then minimised beside
 * what follows from x. */
rg_tensor *rg_attach_loss(rg_tape *t, rg_tensor *x, rg_tensor *loss);
/* Any forward you computed, with a backward of yours: called with dy tightly packed; adds into dx (ld given). */
typedef void rg_custom_backward(void *context, size_t rows, size_t cols, const rg_real *dy, size_t lddy, rg_real *dx,
                                size_t lddx);
rg_tensor *rg_custom(rg_tape *t, rg_tensor *x, const rg_real *y, rg_custom_backward *backward, void *context);

RG_API_END
#endif
