/* bias.h - y = f(x + b), b one row that serves all: a layer's end in one pass. */
#ifndef RG_AUTOGRAD_BIAS_H
#define RG_AUTOGRAD_BIAS_H

#include "regard/ops.h"

/* x (N, D), b (1, D) -> (N, D). f must be one whose slope its result tells: identity, relu, leaky relu, elu, tanh, sigmoid. */
rg_tensor *rg_bias_map(rg_tape *t, rg_tensor *x, rg_tensor *b, rg_activation f);

#endif
