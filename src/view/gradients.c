/* gradients.c - the picture of vanishing gradients: how much of the last step's loss reaches each step before it.
 *
 *     delta_t = dL_T / dh_t        for t = T-1 .. 0, for a plain recurrent network, an LSTM and a GRU
 *
 * ||dh_j/dh_k|| <= (||U|| max|f'|)^(j-k): a plain network's gradient falls (or grows) by a constant factor a step (Bengio et al.
 * 1994, Pascanu et al. 2013); the LSTM's cell passes it on times the forget gate. Beside it the norm of what step t adds to the
 * gradient of the recurrent weights: h_{t-1}^T dx_t, of rank one, so its norm is the product of the two. */
#include "regard/recurrent.h"
#include "regard/view.h"

#include <math.h>
#include <string.h>

typedef struct network {
    const char   *name;
    rg_recurrence kind;
} network;

static const network networks[] = { { "RNN", RG_RNN }, { "LSTM, forget bias 1", RG_LSTM }, { "GRU", RG_GRU_RESET_AFTER } };
enum { NETWORKS = sizeof networks / sizeof *networks, MOST_STEPS = 4096, MOST_WIDTH = 1024 };

static double norm_of(const rg_real *v, size_t count)
{
    double sum = 0;

    for (size_t i = 0; v && i < count; i++) sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

/* Numbers in +- range, drawn from `random`. */
static rg_tensor *drawn(rg_tape *t, rg_random *random, size_t rows, size_t cols, double range)
{
    rg_real   *v = rg_alloc_array(rows * cols, sizeof *v);
    rg_tensor *x;

    if (!v) return rg_tape_fail(t, RG_ENOMEM, "no memory for %zu x %zu numbers", rows, cols);
    for (size_t i = 0; i < rows * cols; i++) v[i] = (rg_real)(range * (2 * rg_random_uniform(random) - 1));
    x = rg_input(t, v, rows, cols, NULL);
    rg_free(v);
    return x;
}

/* Inputs already projected: noise, and for the LSTM one more in the forget gates (columns u .. 2u). */
static rg_tensor *projected(rg_tape *t, rg_random *random, rg_recurrence kind, size_t width)
{
    size_t     cols = rg_recurrence_gates(kind) * width;
    rg_real   *v = rg_alloc_array(cols, sizeof *v);
    rg_tensor *x;

    if (!v) return rg_tape_fail(t, RG_ENOMEM, "no memory for %zu numbers", cols);
    for (size_t j = 0; j < cols; j++)
        v[j] = (rg_real)(0.5 * rg_random_normal(random) + (kind == RG_LSTM && j >= width && j < 2 * width ? 1 : 0));
    x = rg_input(t, v, 1, cols, NULL);
    rg_free(v);
    return x;
}

/* state[t] and weight[t]: norms of dL/dh_t and of the weight gradient of step t. */
static rg_status measure(double *state, double *weight, rg_tape *t, rg_recurrence kind, size_t steps, size_t width, double gain,
                         uint64_t seed)
{
    rg_random             random = rg_random_new(seed, (uint64_t)kind);
    double                range = gain * sqrt(3.0 / (double)width); /* spectral radius near `gain` */
    rg_recurrent_weights  w = { .u = drawn(t, &random, width, rg_recurrence_gates(kind) * width, range) };
    rg_tensor           **h = rg_tape_memory(t, steps * sizeof *h), **x = rg_tape_memory(t, steps * sizeof *x);
    rg_tensor            *before = rg_zeros(t, 1, width, NULL), *cell = rg_zeros(t, 1, width, NULL);

    if (!h || !x) return rg_tape_status(t);
    for (size_t i = 0; i < steps; i++) {
        x[i] = projected(t, &random, kind, width);
        h[i] = rg_recurrent_cell(t, kind, &w, x[i], i ? h[i - 1] : before, kind == RG_LSTM ? cell : NULL,
                                 kind == RG_LSTM ? &cell : NULL);
    }
    RG_TRY(rg_tape_backward(t, rg_sum(t, rg_mul(t, h[steps - 1], drawn(t, &random, 1, width, 1)))));
    for (size_t i = 0; i < steps; i++) {
        state[i] = norm_of(rg_tape_gradient(t, h[i]), width);
        weight[i] = norm_of(rg_tape_gradient(t, x[i]), rg_tensor_cols(x[i])) * (i ? norm_of(rg_tensor_data(h[i - 1]), width) : 0);
    }
    return RG_OK;
}

static rg_status add_heat(rg_record *r, const double *state, size_t steps)
{
    static const double decades = 12;
    const char         *names[NETWORKS];
    char              **times = rg_alloc_zero(steps * sizeof *times);
    rg_real            *w = rg_alloc_array(NETWORKS * steps, sizeof *w);
    rg_map_place        place = { "gradient over 12 decades (1 is the largest)", -1, -1, -1, -1 };
    size_t              rows, cols;
    double              top = 1e-300;
    rg_status           status = times && w ? RG_OK : RG_ENOMEM;

    for (size_t i = 0; i < NETWORKS * steps; i++) top = fmax(top, state[i]);
    for (size_t i = 0; status == RG_OK && i < NETWORKS * steps; i++)
        w[i] = (rg_real)fmax(0, 1 + log10(fmax(state[i], 1e-300) / top) / decades);
    for (size_t k = 0; k < NETWORKS; k++) names[k] = networks[k].name;
    for (size_t i = 0; status == RG_OK && i < steps; i++)
        if (!(times[i] = rg_format("%zu", i))) status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_labels(&rows, r, "network", RG_LABEL_TOKEN, names, NETWORKS);
    if (status == RG_OK) status = rg_record_add_labels(&cols, r, "time step", RG_LABEL_SLOT, (const char *const *)times, steps);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cols, w, steps);
    for (size_t i = 0; times && i < steps; i++) rg_free(times[i]);
    rg_free(times);
    rg_free(w);
    return status;
}

static rg_status add_all(rg_record *r, rg_tape *t, const rg_gradients_options *o, double *x, double *state, double *weight)
{
    size_t states, weights;

    RG_TRY(rg_record_add_curves(&states, r, "How much of the loss reaches step t", "time step t", "norm of dL/dh", false, true));
    RG_TRY(rg_record_add_curves(&weights, r, "What step t teaches the recurrent weights", "time step t", "norm of dL/dU at t", false,
                                true));
    for (size_t i = 0; i < o->steps; i++) x[i] = (double)i;
    for (size_t k = 0; k < NETWORKS; k++) {
        double   *s = state + k * o->steps;
        rg_status status;
        rg_tape_reset(t, k);
        status = measure(s, weight, t, networks[k].kind, o->steps, o->width, o->gain, o->seed);
        if (status != RG_OK) return rg_fail_in(status, "%s: ", networks[k].name);
        RG_TRY(rg_record_add_series(r, states, networks[k].name, x, s, o->steps));
        RG_TRY(rg_record_add_series(r, weights, networks[k].name, x + 1, weight + 1, o->steps - 1));
    }
    return add_heat(r, state, o->steps);
}

rg_status rg_gradients_record(rg_record **out, const rg_gradients_options *o)
{
    rg_status      status;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    rg_record     *r = NULL;
    double        *x, *state, *weight;

    if (o->steps < 2 || o->steps > MOST_STEPS || o->width < 1 || o->width > MOST_WIDTH || !(o->gain > 0))
        return rg_fail(RG_EINVAL, "%zu steps (2 to %d), width %zu (1 to %d), gain %g (above 0)", o->steps, MOST_STEPS, o->width,
                       MOST_WIDTH, o->gain);
    x = rg_alloc_array(o->steps, sizeof *x);
    state = rg_alloc_array(NETWORKS * o->steps, sizeof *state);
    weight = rg_alloc_array(o->steps, sizeof *weight);
    status = x && state && weight ? rg_tape_new(&t, &config) : RG_ENOMEM;
    if (status == RG_OK) status = rg_record_new(&r, "Vanishing gradients", "training");
    if (status == RG_OK) status = add_all(r, t, o, x, state, weight);
    rg_tape_free(t);
    rg_free(x);
    rg_free(state);
    rg_free(weight);
    if (status != RG_OK) {
        rg_record_free(r);
        return status;
    }
    *out = r;
    return RG_OK;
}
