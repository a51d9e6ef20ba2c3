/* dense.c - linear layers, layer norms and the position-wise feed-forward network. */
#include "regard/layers.h"

void rg_dense_init(rg_dense *out, rg_params *p, const char *name, size_t in, size_t width, rg_activation f)
{
    rg_params_push(p, "%s", name);
    out->w = rg_params_add(p, "w", RG_WEIGHT, in, width, RG_INIT_GLOROT, 1);
    out->b = rg_params_add(p, "b", RG_VECTOR, 1, width, RG_INIT_ZERO, 0);
    out->f = f;
    rg_params_pop(p);
}

rg_tensor *rg_dense_run(rg_tape *t, const rg_dense *d, rg_tensor *x)
{
    return rg_linear(t, x, rg_use(t, d->w), rg_use(t, d->b), d->f);
}

void rg_norm_init(rg_norm *out, rg_params *p, const char *name, size_t width)
{
    out->epsilon = RG_NORM_EPSILON;
    rg_params_push(p, "%s", name);
    out->gain = rg_params_add(p, "gain", RG_VECTOR, 1, width, RG_INIT_ONE, 0);
    out->bias = rg_params_add(p, "bias", RG_VECTOR, 1, width, RG_INIT_ZERO, 0);
    rg_params_pop(p);
}

rg_tensor *rg_norm_run(rg_tape *t, const rg_norm *n, rg_tensor *x)
{
    return rg_layer_norm(t, x, rg_use(t, n->gain), rg_use(t, n->bias), n->epsilon);
}

rg_tensor *rg_norm_sum(rg_tape *t, const rg_norm *n, rg_tensor *x, rg_tensor *y)
{
    return rg_add_norm(t, x, y, rg_use(t, n->gain), rg_use(t, n->bias), n->epsilon);
}

void rg_feed_forward_init(rg_feed_forward *out, rg_params *p, size_t width, size_t hidden, rg_activation f)
{
    rg_dense_init(&out->inner, p, "inner", width, hidden, f);
    rg_dense_init(&out->outer, p, "outer", hidden, width, RG_IDENTITY);
}

rg_tensor *rg_feed_forward_run(rg_tape *t, const rg_feed_forward *ff, rg_tensor *x, double dropout)
{
    return rg_dense_run(t, &ff->outer, rg_dropout(t, rg_dense_run(t, &ff->inner, x), dropout));
}
