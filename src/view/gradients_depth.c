/* gradients_depth.c - how much of the loss reaches each layer of a deep network, and what helps.
 *
 *     h_l = f(N(h_{l-1} W_l))        l = 1 .. L, all of one width; N is nothing, or batch norm (Ioffe, Szegedy 2015)
 *
 * Weights uniform in +- gain sqrt(3 / width); 0.577 is the start +- 1 / sqrt(width) that was common before Glorot,
 * Bengio 2010: the gradient loses
 * about 0.577 per layer. Batch norm gives every layer inputs of variance 1 and makes the layer's scale drop out of
 * its gradient; an orthogonal start
 * keeps lengths; clipping the whole gradient to norm 1 (Pascanu et al. 2013) helps against growth alone. */
#include "view/gradients.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64 }; /* examples of the batch */

typedef struct {
    rg_params *params;
    rg_param  *mean, *variance; /* kept ones, never read: the batch's statistics are taken */
} statistics;

static rg_status make_statistics(statistics *s, size_t width)
{
    RG_TRY(rg_params_new(&s->params));
    s->mean = rg_params_add(s->params, "mean", RG_KEPT, 1, width, RG_INIT_ZERO, 0);
    s->variance = rg_params_add(s->params, "variance", RG_KEPT, 1, width, RG_INIT_ONE, 0);
    return rg_params_build(s->params, 1);
}

static rg_tensor *filled(rg_tape *t, size_t width, double value)
{
    rg_real *v = rg_tape_memory(t, width * sizeof *v);
    for (size_t i = 0; v && i < width; i++) v[i] = (rg_real)value;
    return v ? rg_constant(t, v, 1, width, NULL) : NULL;
}

/* layer[l]: norm of dL/dh_l, l = 0 the input. */
static rg_status measure(double *layer, rg_tape *t, const statistics *kept, const rg_gradients_options *o,
                         rg_activation f, const char *remedy)
{
    rg_random    random = rg_random_new(o->seed, 0);
    const size_t width = o->width, L = o->depth;
    const double range = (o->gain > 0 ? o->gain : 0.57735027) * sqrt(3.0 / (double)width);
    const bool   norm = strcmp(remedy, "batchnorm") == 0, orthogonal = strcmp(remedy, "orthogonal") == 0;
    rg_tensor  **h = rg_tape_memory(t, (L + 1) * sizeof *h), **w = rg_tape_memory(t, (L + 1) * sizeof *w);
    if (!h || !w) return rg_tape_status(t);
    h[0] = rg_gradients__drawn(t, &random, ROWS, width, sqrt(3.0));
    for (size_t l = 1; l <= L; l++) {
        w[l] = rg_gradients__drawn(t, &random, width, width,
                                   range); /* drawn in any case: the networks differ in the remedy alone */
        if (orthogonal) w[l] = rg_gradients__orthogonal(t, o->seed + l, width, width, 1);
        rg_tensor *e = rg_matmul(t, h[l - 1], w[l]);
        if (norm)
            e = rg_batch_norm(t, e, filled(t, width, 1), filled(t, width, 0), kept->mean, kept->variance, 0, 1e-5);
        h[l] = rg_map(t, e, f);
    }
    RG_TRY(rg_tape_backward(t, rg_sum(t, rg_mul(t, h[L], rg_gradients__drawn(t, &random, ROWS, width, 1)))));
    double whole = 0, scale = 1;
    for (size_t l = 1; l <= L; l++) whole = hypot(whole, rg_gradients__norm(rg_tape_gradient(t, w[l]), width * width));
    if (strcmp(remedy, "clip") == 0 && whole > 1) scale = 1 / whole;
    for (size_t l = 0; l <= L; l++) layer[l] = scale * rg_gradients__norm(rg_tape_gradient(t, h[l]), ROWS * width);
    return RG_OK;
}

static rg_status add_all(rg_record *r, rg_tape *t, const statistics *kept, const rg_gradients_options *o, double *x,
                         double *layer)
{
    const size_t  L = o->depth, networks = strcmp(o->remedy, "none") == 0 ? 1 : 2;
    char          said[2][80];
    size_t        curves;
    rg_activation f;
    RG_TRY(rg_activation_find(&f, strcmp(o->activation, "linear") == 0 ? "identity" : o->activation));
    for (size_t l = 0; l <= L; l++) x[l] = (double)l;
    for (size_t k = 0; k < networks; k++) {
        const char *remedy = k ? o->remedy : "none";
        double     *norms = layer + k * (L + 1);
        rg_tape_reset(t, k);
        RG_TRY(measure(norms, t, kept, o, f, remedy));
        rg_gradients__say(said[k], sizeof said[k], norms[L], norms[1], L - 1, NULL);
    }
    char *title = networks == 1 ? rg_format("%zu %s layers: gradients %s per layer", L, o->activation, said[0])
                                : rg_format("%zu %s layers: %s; %s: %s, %.2g times at layer 1", L, o->activation,
                                            said[0], o->remedy, said[1], layer[L + 2] / fmax(layer[1], 1e-300));
    if (!title) return RG_ENOMEM;
    rg_free(r->title);
    r->title = title;
    RG_TRY(rg_record_add_curves(&curves, r, title, "layer l", "norm of dL/dh", false, true));
    for (size_t k = 0; k < networks; k++)
        RG_TRY(rg_record_add_series(r, curves, k ? o->remedy : "no remedy", x + 1, layer + k * (L + 1) + 1, L));
    return RG_OK;
}

rg_status rg_gradients__depth(rg_record **out, const rg_gradients_options *o)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    rg_record     *r = NULL;
    statistics     kept = { 0 };
    double   *x = rg_alloc_array(o->depth + 1, sizeof *x), *layer = rg_alloc_array(2 * (o->depth + 1), sizeof *layer);
    rg_status status = x && layer ? rg_tape_new(&t, &config) : RG_ENOMEM;
    if (status == RG_OK) status = make_statistics(&kept, o->width);
    if (status == RG_OK) status = rg_record_new(&r, "Gradients", "training");
    if (status == RG_OK) status = add_all(r, t, &kept, o, x, layer);
    rg_tape_free(t);
    rg_params_free(kept.params);
    rg_free(x);
    rg_free(layer);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
