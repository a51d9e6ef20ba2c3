/* gradients.c - the picture of vanishing gradients: how much of the last step's loss reaches each step before it.
 *
 *     delta_t = dL_T / dh_t        for t = T-1 .. 0, for a plain recurrent network, an LSTM and a GRU
 *
 * ||dh_j/dh_k|| <= (||U|| max|f'|)^(j-k): a plain network's gradient falls (or grows) by a constant factor a step (Bengio et al.
 * 1994, Pascanu et al. 2013); the LSTM's cell passes it on times the forget gate. Beside it the norm of what step t
 * adds to the gradient of the recurrent weights: h_{t-1}^T dx_t, of rank one, so its norm is the product of the two.
 *
 * The gated networks start as they should be started: with a bias of 1 where a gate keeps (the LSTM's forget gate,
 * Gers et al. 2000; the GRU's update gate z in h' = (1-z) n + z h). Without it a GRU's gates are half open, and its
 * gradient falls like a plain network's. */
#include "view/gradients.h"

#include "regard/recurrent.h"

#include <math.h>
#include <string.h>

typedef struct network {
    const char   *name;
    rg_recurrence kind;
} network;

static const network networks[] = { { "RNN", RG_RNN },
                                    { "LSTM, forget bias 1", RG_LSTM },
                                    { "GRU, update bias 1", RG_GRU_RESET_AFTER } };
enum { NETWORKS = sizeof networks / sizeof *networks, MOST_STEPS = 4096, MOST_WIDTH = 1024 };

double rg_gradients__norm(const rg_real *v, size_t count)
{
    double sum = 0;

    for (size_t i = 0; v && i < count; i++) sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

rg_tensor *rg_gradients__drawn(rg_tape *t, rg_random *random, size_t rows, size_t cols, double range)
{
    rg_real   *v = rg_alloc_array(rows * cols, sizeof *v);
    rg_tensor *x;

    if (!v) return rg_tape_fail(t, RG_ENOMEM, "no memory for %zu x %zu numbers", rows, cols);
    for (size_t i = 0; i < rows * cols; i++) v[i] = (rg_real)(range * (2 * rg_random_uniform(random) - 1));
    x = rg_input(t, v, rows, cols, NULL);
    rg_free(v);
    return x;
}

rg_tensor *rg_gradients__orthogonal(rg_tape *t, uint64_t seed, size_t rows, size_t cols, double gain)
{
    rg_params *params = NULL;
    rg_tensor *x = NULL;
    rg_status  status = rg_params_new(&params);
    rg_param  *u = status == RG_OK ? rg_params_add(params, "u", RG_VECTOR, rows, cols, RG_INIT_ORTHOGONAL, gain) : NULL;
    if (status == RG_OK) status = rg_params_build(params, seed);
    if (status == RG_OK) x = rg_input(t, rg_param_data(u), rows, cols, NULL);
    else rg_tape_fail(t, status, "an orthogonal start of %zu x %zu numbers", rows, cols);
    rg_params_free(params);
    return x;
}

void rg_gradients__say(char *out, size_t room, double near, double far, size_t steps, const char *step)
{
    const double ratio = near > 0 && far > 0 ? far / near : near > 0 ? 0 : 1;
    const char  *word = ratio <= 0.01 ? "vanish" : ratio >= 100 ? "explode" : "stay";
    if (ratio <= 0) snprintf(out, room, "vanish (to nothing)");
    else
        snprintf(out, room, "%s (%.2f%s%s)", word, pow(ratio, 1 / (double)(steps ? steps : 1)), step ? " per " : "",
                 step ? step : "");
}

/* The first column of the gates that keep what was there, and one past the last: the LSTM's f, the GRU's z. */
static bool keeps(rg_recurrence kind, size_t column, size_t width)
{
    return kind == RG_LSTM ? column >= width && column < 2 * width : kind == RG_GRU_RESET_AFTER && column < width;
}

/* Inputs already projected: noise, and one more in the gates that keep. */
static rg_tensor *projected(rg_tape *t, rg_random *random, rg_recurrence kind, size_t width)
{
    size_t     cols = rg_recurrence_gates(kind) * width;
    rg_real   *v = rg_alloc_array(cols, sizeof *v);
    rg_tensor *x;

    if (!v) return rg_tape_fail(t, RG_ENOMEM, "no memory for %zu numbers", cols);
    for (size_t j = 0; j < cols; j++)
        v[j] = (rg_real)(0.5 * rg_random_normal(random) + (keeps(kind, j, width) ? 1 : 0));
    x = rg_input(t, v, 1, cols, NULL);
    rg_free(v);
    return x;
}

/* One step; the plain network's activation can be chosen. */
static rg_tensor *step(rg_tape *t, rg_recurrence kind, rg_activation f, const rg_recurrent_weights *w, rg_tensor *x,
                       rg_tensor *h, rg_tensor **cell)
{
    if (kind == RG_RNN && f != RG_TANH) return rg_map(t, rg_add(t, x, rg_matmul(t, h, w->u)), f);
    return rg_recurrent_cell(t, kind, w, x, h, kind == RG_LSTM ? *cell : NULL, kind == RG_LSTM ? cell : NULL);
}

/* state[t] and weight[t]: norms of dL/dh_t and of the weight gradient of step t. */
static rg_status measure(double *state, double *weight, rg_tape *t, rg_recurrence kind, const rg_gradients_options *o,
                         rg_activation f)
{
    rg_random             random = rg_random_new(o->seed, (uint64_t)kind);
    const size_t          steps = o->steps, width = o->width, cols = rg_recurrence_gates(kind) * width;
    const double          gain = o->gain > 0 ? o->gain : 0.9, range = gain * sqrt(3.0 / (double)width); /* spectral radius near `gain` */
    rg_recurrent_weights  w = { .u = strcmp(o->remedy, "orthogonal") == 0
                                         ? rg_gradients__orthogonal(t, o->seed, width, cols, 1)
                                         : rg_gradients__drawn(t, &random, width, cols, range) };
    rg_tensor           **h = rg_tape_memory(t, steps * sizeof *h), **x = rg_tape_memory(t, steps * sizeof *x);
    rg_tensor            *before = rg_zeros(t, 1, width, NULL), *cell = rg_zeros(t, 1, width, NULL);

    if (!h || !x) return rg_tape_status(t);
    for (size_t i = 0; i < steps; i++) {
        x[i] = projected(t, &random, kind, width);
        h[i] = step(t, kind, f, &w, x[i], i ? h[i - 1] : before, &cell);
    }
    RG_TRY(rg_tape_backward(t, rg_sum(t, rg_mul(t, h[steps - 1], rg_gradients__drawn(t, &random, 1, width, 1)))));
    const double whole = rg_gradients__norm(rg_tape_gradient(t, w.u), width * cols);
    const double scale = strcmp(o->remedy, "clip") == 0 && whole > 1 ? 1 / whole : 1; /* Pascanu et al. 2013 */
    for (size_t i = 0; i < steps; i++) {
        state[i] = scale * rg_gradients__norm(rg_tape_gradient(t, h[i]), width);
        weight[i] = scale * rg_gradients__norm(rg_tape_gradient(t, x[i]), rg_tensor_cols(x[i])) *
                    (i ? rg_gradients__norm(rg_tensor_data(h[i - 1]), width) : 0);
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
    if (status == RG_OK)
        status = rg_record_add_labels(&cols, r, "time step", RG_LABEL_SLOT, (const char *const *)times, steps);
    if (status == RG_OK) status = rg_record_add_map(NULL, r, place, rows, cols, w, steps);
    for (size_t i = 0; times && i < steps; i++) rg_free(times[i]);
    rg_free(times);
    rg_free(w);
    return status;
}

static rg_status add_all(rg_record *r, rg_tape *t, const rg_gradients_options *o, double *x, double *state,
                         double *weight)
{
    size_t        states, weights;
    rg_activation f;

    RG_TRY(rg_activation_find(&f, strcmp(o->activation, "linear") == 0 ? "identity" : o->activation));
    RG_TRY(rg_record_add_curves(&states, r, "How much of the loss reaches step t", "time step t", "norm of dL/dh",
                                false, true));
    RG_TRY(rg_record_add_curves(&weights, r, "What step t teaches the recurrent weights", "time step t",
                                "norm of dL/dU at t", false, true));
    for (size_t i = 0; i < o->steps; i++) x[i] = (double)i;
    for (size_t k = 0; k < NETWORKS; k++) {
        double   *s = state + k * o->steps;
        rg_status status;
        rg_tape_reset(t, k);
        status = measure(s, weight, t, networks[k].kind, o, f);
        if (status != RG_OK) return rg_fail_in(status, "%s: ", networks[k].name);
        RG_TRY(rg_record_add_series(r, states, networks[k].name, x, s, o->steps));
        RG_TRY(rg_record_add_series(r, weights, networks[k].name, x + 1, weight + 1, o->steps - 1));
    }
    return add_heat(r, state, o->steps);
}

/* "Gradients: RNN vanish (0.66 per step), LSTM vanish (0.90), GRU ..." */
static rg_status set_title(rg_record *r, const double *state, const rg_gradients_options *o)
{
    char  said[NETWORKS][80];
    for (size_t k = 0; k < NETWORKS; k++)
        rg_gradients__say(said[k], sizeof said[k], state[k * o->steps + o->steps - 1], state[k * o->steps],
                          o->steps - 1, k ? NULL : "step");
    char *title = rg_format("Gradients: RNN %s, LSTM %s, GRU %s", said[0], said[1], said[2]);
    if (!title) return RG_ENOMEM;
    rg_free(r->title);
    r->title = title;
    return RG_OK;
}

static rg_status check(const rg_gradients_options *o)
{
    if (o->steps < 2 || o->steps > MOST_STEPS || o->width < 1 || o->width > MOST_WIDTH || !(o->gain >= 0) ||
        o->depth > MOST_STEPS)
        return rg_fail(RG_EINVAL,
                       "%zu steps (2 to %d), width %zu (1 to %d), gain %g (0 and above), depth %zu (0 to %d)", o->steps,
                       MOST_STEPS, o->width, MOST_WIDTH, o->gain, o->depth, MOST_STEPS);
    if (!o->depth && strcmp(o->remedy, "batchnorm") == 0)
        return rg_fail(RG_EINVAL, "batch norm is a remedy of deep networks: give --depth 30");
    return RG_OK;
}

rg_status rg_gradients_record(rg_record **out, const rg_gradients_options *o)
{
    rg_status      status;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    rg_record     *r = NULL;
    double        *x, *state, *weight;

    RG_TRY(check(o));
    if (o->depth) return rg_gradients__depth(out, o);
    x = rg_alloc_array(o->steps, sizeof *x);
    state = rg_alloc_array(NETWORKS * o->steps, sizeof *state);
    weight = rg_alloc_array(o->steps, sizeof *weight);
    status = x && state && weight ? rg_tape_new(&t, &config) : RG_ENOMEM;
    if (status == RG_OK) status = rg_record_new(&r, "Gradients", "training");
    if (status == RG_OK) status = add_all(r, t, o, x, state, weight);
    if (status == RG_OK) status = set_title(r, state, o);
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
