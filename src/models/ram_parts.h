/* ram_parts.h - what systems that see through a retina share: the glimpse network, the core, and where to look next
 * (Mnih et al. 2014, section 3.1). */
#ifndef RG_MODELS_RAM_PARTS_H
#define RG_MODELS_RAM_PARTS_H

#include "regard/layers.h"
#include "regard/model.h"
#include "regard/spatial.h"

typedef struct rg_ram_core {
    rg_retina retina;
    rg_dense  glimpse, place, location, baseline;
    rg_param *see, *where, *b, *state, *input, *c;
} rg_ram_core;

/* `hidden` units for what is seen and for where, `width` of the state. Parameters glimpse.* .. baseline.*, in that order.
 * `first`: factor on the first weights of places and baselines. */
void rg_ram_core_init(rg_ram_core *out, rg_params *params, const rg_retina *retina, size_t channels, size_t hidden,
                      size_t width, double first);
/* rg_dense_init with a factor on the first weights. */
void rg_ram_dense_init(rg_dense *out, rg_params *params, const char *name, size_t in, size_t width, rg_activation f,
                       double first);
/* g = relu(W relu(W_g retina(x, l)) + W' relu(W_l l) + b); watch points "seen" and "place", the middle in pixels. */
rg_tensor *rg_ram_see(rg_tape *t, const rg_ram_core *core, rg_tensor *x, rg_tensor *l, const rg_layout *pictures);
/* h_t = relu(U h_{t-1} + in + b), in = U' g_t; h NULL: the first. */
rg_tensor *rg_ram_recur(rg_tape *t, const rg_ram_core *core, rg_tensor *in, rg_tensor *h);

/* (R - b) / (2 deviation^2) times `weight` of each row, a constant; base NULL: no baseline. */
rg_tensor *rg_ram_advantage(rg_tape *t, const rg_real *R, const rg_tensor *base, size_t rows, double weight,
                            double deviation);
/* sum of advantage |drawn - mean|^2: the gradient of -(R - b) log N(drawn; mean, deviation^2) */
rg_tensor *rg_ram_place_loss(rg_tape *t, rg_tensor *mean, rg_tensor *drawn, rg_tensor *advantage);

#endif
