/* perturb.h - the small change of what goes in that makes a model err most, to first order.
 *
 *     linf   r = eps sign(g)        |r|_max = eps        (Goodfellow, Shlens, Szegedy 2015: the fast gradient sign method)
 *     l2     r = eps g / |g|_2      |r|_2   = eps        over all rows of an example: pixels of a picture, words of a text
 *
 * g is the gradient of a loss with respect to the rows that enter. With several steps r starts at a random place
 * inside the ball, moves 2.5 eps / steps along each new gradient and is projected back (Madry et al. 2018). */
#ifndef REGARD_PERTURB_H
#define REGARD_PERTURB_H

#include "regard/objective.h"

RG_API_BEGIN

typedef enum rg_ball { RG_BALL_LINF, RG_BALL_L2 } rg_ball;

typedef enum rg_towards {
    RG_TOWARDS_LABEL, /* away from the label: raise the loss of `compare`             */
    RG_TOWARDS_ANSWER /* away from what the model says: needs no label and leaks none */
} rg_towards;

typedef struct rg_perturb_config {
    rg_ball        ball;
    double         epsilon; /* > 0 */
    size_t         steps;   /* 1: no random start */
    rg_towards     towards;
    double         low, high; /* rows + r stay inside; low = high: anywhere       */
    const rg_real *unit;      /* per column: r is measured in it; NULL: 1         */
} rg_perturb_config;
#define RG_PERTURB_CONFIG_DEFAULT { .ball = RG_BALL_LINF, .epsilon = 0.25, .steps = 1 }

rg_status rg_ball_find(rg_ball *out, const char *name); /* "linf" "l2" */

/* r, a constant as large as pass->rows, which is where the gradient is taken. The inner passes have the masks of the
 * clean one; they move no kept statistics and touch no gradient of a parameter. In learning or evaluation mode as
 * the tape is. Where the gradient of an example is 0 its r is 0, and so is every component with sign(0). */
rg_tensor *rg_perturb(rg_tape *t, const rg_pass *pass, const rg_perturb_config *config);

/* What r must stay within, by the kind of the input: pixels 0 .. 1. */
void rg_perturb_range(double *out_low, double *out_high, const rg_pass *pass);
/* For texts the deviation of every column of the embeddings in this batch, so that r is as of normalised embeddings
 * (Miyato, Dai, Goodfellow 2017), which growing embeddings do not escape; NULL for other inputs. */
const rg_real *rg_perturb_unit(rg_tape *t, const rg_pass *pass);

/* Inner passes of other objectives: the gradient of `loss` of the logits at rows + r, into g (as many numbers as the
 * rows have, one row after another). False: it failed, the tape says why. */
typedef rg_tensor *rg_inner_loss(rg_tape *t, const rg_pass *pass, rg_tensor *logits, void *context);
bool rg_perturb_gradient(rg_real *g, rg_tape *t, const rg_pass *pass, const rg_real *r, rg_inner_loss *loss,
                         void *context);
/* In place: each example's numbers become eps g / |g| of the norm. Divided by the largest first, so that nothing
 * under- or overflows. */
void rg_perturb_scale(rg_real *g, const rg_pass *pass, rg_ball ball, double epsilon, const rg_real *unit);

/* Of virtual adversarial training (vat.c): for each example the direction, of any length, in which its answer
 * changes fastest, by `power` iterations with finite differences of length xi. As many numbers as pass->rows has, on
 * the tape. */
rg_real *rg_vat_direction(rg_tape *t, const rg_pass *pass, double xi, int64_t power, const rg_real *unit);

RG_API_END
#endif
