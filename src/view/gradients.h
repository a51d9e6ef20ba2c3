/* gradients.h - what the pictures of gradients share: norms, drawn numbers, and the words that say what happened. */
#ifndef RG_VIEW_GRADIENTS_H
#define RG_VIEW_GRADIENTS_H

#include "regard/ops.h"
#include "regard/view.h"

double rg_gradients__norm(const rg_real *v, size_t count);

/* Numbers in +- range, drawn from `random`. */
rg_tensor *rg_gradients__drawn(rg_tape *t, rg_random *random, size_t rows, size_t cols, double range);
/* Orthogonal blocks of (rows, rows) times gain. */
rg_tensor *rg_gradients__orthogonal(rg_tape *t, uint64_t seed, size_t rows, size_t cols, double gain);

/* "vanish (0.67 per step)", what a step multiplies by (`step` NULL: without that word): from `near` to `far` in so
 * many steps. 1/100 and less has vanished, 100 and more exploded. */
void rg_gradients__say(char *out, size_t room, double near, double far, size_t steps, const char *step);

/* The deep network (gradients_depth.c). */
rg_status rg_gradients__depth(rg_record **out, const rg_gradients_options *options);

#endif
