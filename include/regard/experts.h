/* experts.h - a mixture of experts (Shazeer et al. 2017): many feed-forward networks of which each row uses a few.
 *
 *     H = x W_g + N(0, 1) softplus(x W_n)          one draw for each expert; no noise outside of learning
 *     G = softmax of the k largest of H            the others are 0
 *     y = sum_i G_i E_i(x)                         E_i(x) = f(x w1 + b1) w2 + b2, computed only for the rows that chose it
 *
 * So that all are used, two losses are added, each the squared coefficient of variation over experts: of importance,
 * sum_x G(x), and of load,
 *
 *     sum_x Phi(((x W_g)_i - kth_i) / softplus((x W_n)_i))      kth_i: the k-th largest of the other H
 *
 * which is the chance that x chooses i once the noise is drawn anew. W_g and W_n start at zero. */
#ifndef REGARD_EXPERTS_H
#define REGARD_EXPERTS_H

#include "regard/layers.h"

RG_API_BEGIN

enum { RG_EXPERTS_MAX = 64 };

typedef struct rg_experts_config {
    size_t        width, hidden; /* of rows, inside an expert                                    */
    size_t        experts, top;  /* N, and how many each row uses                                */
    double        balance;       /* weight of the two losses, for each row                       */
    double        dropout;       /* inside an expert                                             */
    rg_activation activation;
} rg_experts_config;

typedef struct rg_experts {
    rg_experts_config config;
    rg_param         *gate, *noise; /* (width, N) */
    rg_feed_forward   expert[RG_EXPERTS_MAX];
} rg_experts;

/* RG_EINVAL: more experts than there may be, or more at a time than there are. Declares gate, noise, 0, 1, ... in
 * the current scope. */
rg_status rg_experts_init(rg_experts *out, rg_params *p, const rg_experts_config *config);

/* (N, width) -> (N, width). `balance` (may be NULL) gets both losses together, (1, 1), unweighted; NULL there when
 * nothing learns. */
rg_tensor *rg_experts_mix(rg_tape *t, const rg_experts *e, rg_tensor *x, rg_tensor **balance);
/* The same with the losses attached: their gradient, config.balance times the rows, arrives with that of the result.
 * The watch point "load" gives the share of the rows' choices that each expert got, (1, N); "chosen" the first
 * choice of each row, (rows, 1). */
rg_tensor *rg_experts_run(rg_tape *t, const rg_experts *e, rg_tensor *x);

RG_API_END
#endif
