/* table1_layers.c - self-attention, recurrence, convolutions and restricted attention as layers of n rows and d
 * columns. */
#include "lab/table1.h"

#include <math.h>

#include "regard/conv.h"
#include "regard/recurrent.h"

rg_status table1_weights_new(table1_weights *w, size_t d)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    *w = (table1_weights){ 0 };
    RG_TRY(rg_params_new(&w->params));
    rg_status status = rg_heads_init(&w->heads, w->params, d, 1, true, NULL);
    if (status == RG_OK) status = rg_attention_init(&w->dot, &c, w->params);
    w->rnn_w = rg_params_add(w->params, "rnn.w", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
    w->rnn_u = rg_params_add(w->params, "rnn.u", RG_WEIGHT, d, d, RG_INIT_ORTHOGONAL, 1);
    w->conv = rg_params_add(w->params, "conv.w", RG_WEIGHT, TABLE1_KERNEL * d, d, RG_INIT_GLOROT, 1);
    w->depth = rg_params_add(w->params, "depth.w", RG_VECTOR, TABLE1_KERNEL, d, RG_INIT_NORMAL, 1);
    w->point = rg_params_add(w->params, "point.w", RG_WEIGHT, d, d, RG_INIT_GLOROT, 1);
    if (status == RG_OK) status = rg_params_build(w->params, 1);
    if (status != RG_OK) table1_weights_free(w);
    return status;
}

void table1_weights_free(table1_weights *w)
{
    rg_params_free(w->params);
    *w = (table1_weights){ 0 };
}

/* ------------------------------------------------------------------------------------------------------- layers */

static rg_tensor *self(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)number;
    return rg_attend(t, &w->dot, x, x, x, rg_reach_groups(t, rows, rows));
}

static rg_tensor *self_projected(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows,
                                 size_t number)
{
    (void)number;
    return rg_heads_self(t, &w->heads, x, rg_reach_groups(t, rows, rows));
}

static rg_tensor *restricted(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)number;
    return rg_attend(t, &w->dot, x, x, x, rg_reach_window(t, rows, TABLE1_WINDOW));
}

static rg_tensor *recurrent(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)rows, (void)number;
    const rg_recurrent_weights r = { .w = rg_use(t, w->rnn_w), .u = rg_use(t, w->rnn_u) };
    return rg_recurrent(t, RG_RNN, &r, x, NULL, NULL, false, NULL);
}

/* One step of time: row i is the state that follows row i - 1. A recurrent layer is n of these, one after the other. */
static rg_tensor *recurrent_step(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows,
                                 size_t number)
{
    (void)number;
    const size_t n = (size_t)rows->start[1];
    int32_t     *before = rg_tape_memory(t, n * sizeof *before);
    for (size_t i = 0; before && i < n; i++) before[i] = (int32_t)i - 1;
    return before ? rg_rnn_cell(t, x, rg_gather(t, x, before, n, NULL), rg_use(t, w->rnn_u)) : NULL;
}

static rg_tensor *convolution(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)rows, (void)number;
    return rg_conv1d(t, x, rg_use(t, w->conv), NULL, RG_IDENTITY,
                     &(rg_time_window){ .taps = TABLE1_KERNEL, .dilation = 1 });
}

/* Looking back only: with taps on both sides, rows near an end would be jumped over. */
static rg_tensor *dilated(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)rows;
    size_t dilation = 1;
    for (size_t i = 0; i < number; i++) dilation *= TABLE1_KERNEL;
    return rg_conv1d(t, x, rg_use(t, w->conv), NULL, RG_IDENTITY,
                     &(rg_time_window){ .taps = TABLE1_KERNEL, .dilation = dilation, .causal = true });
}

static rg_tensor *separable(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number)
{
    (void)rows, (void)number;
    rg_tensor *y =
        rg_depthwise1d(t, x, rg_use(t, w->depth), NULL, &(rg_time_window){ .taps = TABLE1_KERNEL, .dilation = 1 });
    return rg_linear(t, y, rg_use(t, w->point), NULL, RG_IDENTITY);
}

/* ------------------------------------------------------------------------------------------------------- theory */

static double self_work(double n, double d) { return n * n * d; }
static double projected_work(double n, double d) { return n * n * d + 2 * n * d * d; } /* 4 n n d and 4 projections of 2 n d d */
static double recurrent_work(double n, double d) { return n * d * d; }
static double separable_work(double n, double d) { return TABLE1_KERNEL * n * d + n * d * d; }
static double restricted_work(double n, double d) { return TABLE1_WINDOW * n * d; }

static size_t one(size_t n) { return (void)n, 1; }
static size_t steps(size_t n) { return n - 1; }

/* A centred kernel looks (k - 1) / 2 rows to each side. */
static size_t contiguous_layers(size_t n) { return (n - 2) / ((TABLE1_KERNEL - 1) / 2) + 1; }

/* Dilations 1, k, k^2, ...: after L layers the last k^L rows. */
static size_t dilated_layers(size_t n)
{
    size_t layers = 0;
    for (size_t k = 1; k < n; k *= TABLE1_KERNEL) layers++;
    return layers;
}

/* r rows centred on one: (r - 1) / 2 before it. */
static size_t restricted_layers(size_t n) { return (n - 2) / ((TABLE1_WINDOW - 1) / 2) + 1; }

const table1_layer table1_layers[TABLE1_LAYERS] = {
    { "self-attention", "n^2 d", "1", "1", self_work, 0, one, false, false, self, NULL },
    { "  with projections", "n^2 d + n d^2", "1", "1", projected_work, 0, one, false, false, self_projected, NULL },
    { "recurrent", "n d^2", "n", "n", recurrent_work, 1, steps, true, false, recurrent, recurrent_step },
    { "convolution", "k n d^2", "1", "n/k", recurrent_work, 0, contiguous_layers, false, false, convolution, NULL },
    { "  dilated", "k n d^2", "1", "log_k n", recurrent_work, 0, dilated_layers, true, true, dilated, NULL },
    { "  separable", "k n d + n d^2", "1", "n/k", separable_work, 0, contiguous_layers, false, false, separable, NULL },
    { "restricted attention", "r n d", "1", "n/r", restricted_work, 0, restricted_layers, false, false, restricted,
      NULL },
};
