/* gradients_bptt.c - the double sum of backpropagation through time, term by term (Werbos 1990; Pascanu et al. 2013):
 *
 *     dL/dU = sum_t sum_{k <= t} dL_t/dh_t (dh_t/dh_k) dh_k/dU        L = sum_t L_t,  L_t = v_t . h_t
 *
 * for a plain network h_k = tanh(x_k + h_{k-1} U). The term (t, k) is h_{k-1}^T dL_t/dz_k, of rank one (z is what goes
 * into tanh): a triangle of norms, loss down and step across. Every L_t is sent back alone; the sum of all terms is
 * compared with what the tape gives for L at once. */
#include "view/gradients.h"

#include <math.h>
#include <string.h>

#include "regard/recurrent.h"

enum { MOST = 256 }; /* steps: the triangle has so many rows and columns */

typedef struct {
    rg_tensor *u, **h, **x, *before;
    rg_tensor *loss; /* of every step, (1, 1), or of one */
} network;

/* The same numbers every time; the loss of step `only`, of all steps when it is `steps`. */
static rg_status build(network *n, rg_tape *t, const rg_gradients_options *o, size_t only)
{
    rg_random            random = rg_random_new(o->seed, (uint64_t)RG_RNN);
    const size_t         T = o->steps, width = o->width;
    const double         range = (o->gain > 0 ? o->gain : 0.9) * sqrt(3.0 / (double)width);
    rg_recurrent_weights w = { .u = n->u = rg_gradients__drawn(t, &random, width, width, range) };
    n->h = rg_tape_memory(t, T * sizeof *n->h);
    n->x = rg_tape_memory(t, T * sizeof *n->x);
    n->before = rg_zeros(t, 1, width, NULL);
    n->loss = NULL;
    if (!n->h || !n->x) return rg_tape_status(t);
    for (size_t k = 0; k < T; k++) {
        rg_tensor *v = rg_gradients__drawn(t, &random, 1, width, 1);
        n->x[k] = rg_gradients__drawn(t, &random, 1, width, 1);
        n->h[k] = rg_recurrent_cell(t, RG_RNN, &w, n->x[k], k ? n->h[k - 1] : n->before, NULL, NULL);
        if (only != k && only != T) continue;
        rg_tensor *loss = rg_sum(t, rg_mul(t, n->h[k], v));
        n->loss = n->loss ? rg_add(t, n->loss, loss) : loss;
    }
    return rg_tape_backward(t, n->loss);
}

/* Norms of the terms of L_t into a row, the terms into `sum`. */
static void add_terms(rg_real *row, double *sum, const network *n, const rg_tape *t, size_t until, size_t width)
{
    for (size_t k = 1; k <= until; k++) { /* h is 0 before the first step: its term too */
        const rg_real *h = rg_tensor_data(n->h[k - 1]), *dz = rg_tape_gradient(t, n->x[k]);
        row[k] = (rg_real)(rg_gradients__norm(h, width) * rg_gradients__norm(dz, width));
        for (size_t i = 0; dz && i < width; i++)
            for (size_t j = 0; j < width; j++) sum[i * width + j] += (double)h[i] * (double)dz[j];
    }
}

/* (steps, steps) norms, and how far the sum is from the tape's gradient, relative to it. */
static rg_status measure(rg_real *norm, double *out_apart, rg_tape *t, const rg_gradients_options *o)
{
    const size_t T = o->steps, width = o->width;
    network      n;
    double       apart = 0, whole = 0;
    double      *sum = rg_alloc_zero(width * width * sizeof *sum);
    rg_status    status = sum ? RG_OK : RG_ENOMEM;
    for (size_t only = 0; status == RG_OK && only <= T; only++) {
        rg_tape_reset(t, only);
        status = build(&n, t, o, only);
        if (status == RG_OK && only < T) add_terms(norm + only * T, sum, &n, t, only, width);
    }
    const rg_real *g = status == RG_OK ? rg_tape_gradient(t, n.u) : NULL; /* of the last pass: of all losses */
    for (size_t i = 0; g && i < width * width; i++) {
        apart += pow(sum[i] - (double)g[i], 2);
        whole += pow((double)g[i], 2);
    }
    *out_apart = whole > 0 ? sqrt(apart / whole) : 0;
    rg_free(sum);
    return status;
}

/* Over 12 decades, 1 is the largest. */
static void as_decades(rg_real *norm, size_t count)
{
    double top = 1e-300;
    for (size_t i = 0; i < count; i++) top = fmax(top, (double)norm[i]);
    for (size_t i = 0; i < count; i++)
        norm[i] = norm[i] > 0 ? (rg_real)fmax(0, 1 + log10((double)norm[i] / top) / 12) : 0;
}

static rg_status add_triangle(rg_record *r, rg_real *norm, size_t T)
{
    const rg_map_place place = { "norm of the term over 12 decades (1 is the largest)", -1, -1, -1, -1 };
    char             **name = rg_alloc_zero(2 * T * sizeof *name);
    size_t             rows, cols;
    rg_status          status = name ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < T; i++)
        if (!(name[i] = rg_format("L%zu", i)) || !(name[T + i] = rg_format("%zu", i))) status = RG_ENOMEM;
    as_decades(norm, T * T);
    if (status == RG_OK)
        status = rg_record_add_labels(&rows, r, "loss", RG_LABEL_TOKEN, (const char *const *)name, T);
    if (status == RG_OK)
        status = rg_record_add_labels(&cols, r, "step k", RG_LABEL_SLOT, (const char *const *)name + T, T);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cols, norm, T);
    for (size_t i = 0; name && i < 2 * T; i++) rg_free(name[i]);
    rg_free(name);
    return status;
}

rg_status rg_gradients_contributions(rg_record **out, double *out_apart, const rg_gradients_options *o)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    rg_record     *r = NULL;
    char          *title = NULL;
    double         apart = 0;
    if (o->steps < 2 || o->steps > MOST || o->width < 1 || o->width > 1024 || !(o->gain >= 0))
        return rg_fail(RG_EINVAL, "--contributions: %zu steps (2 to %d), width %zu (1 to 1024), gain %g (0 and above)",
                       o->steps, MOST, o->width, o->gain);
    rg_real  *norm = rg_alloc_zero(o->steps * o->steps * sizeof *norm);
    rg_status status = norm ? rg_tape_new(&t, &config) : RG_ENOMEM;
    if (status == RG_OK) status = measure(norm, &apart, t, o);
    if (status == RG_OK)
        title = rg_format("BPTT: %zu terms (loss t, step k); their sum is the tape's gradient to %.1g",
                          o->steps * (o->steps - 1) / 2, apart);
    if (status == RG_OK) status = title ? rg_record_new(&r, title, "training") : RG_ENOMEM;
    if (status == RG_OK) status = add_triangle(r, norm, o->steps);
    if (out_apart) *out_apart = apart;
    rg_tape_free(t);
    rg_free(norm);
    rg_free(title);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
