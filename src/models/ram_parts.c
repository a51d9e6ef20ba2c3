/* ram_parts.c - see ram_parts.h. */
#include "models/ram_parts.h"

void rg_ram_core_init(rg_ram_core *q, rg_params *p, const rg_retina *retina, size_t channels, size_t H, size_t W,
                      double first)
{
    const size_t seen = retina->scales * retina->patch * retina->patch * channels;
    q->retina = *retina;
    rg_dense_init(&q->glimpse, p, "glimpse", seen, H, RG_RELU);
    rg_dense_init(&q->place, p, "place", 2, H, RG_RELU);
    q->see = rg_params_add(p, "see.w", RG_WEIGHT, H, W, RG_INIT_GLOROT, 1);
    q->where = rg_params_add(p, "where.w", RG_WEIGHT, H, W, RG_INIT_GLOROT, 1);
    q->b = rg_params_add(p, "see.b", RG_VECTOR, 1, W, RG_INIT_ZERO, 0);
    q->state = rg_params_add(p, "state.w", RG_WEIGHT, W, W, RG_INIT_GLOROT, 1);
    q->input = rg_params_add(p, "input.w", RG_WEIGHT, W, W, RG_INIT_GLOROT, 1);
    q->c = rg_params_add(p, "state.b", RG_VECTOR, 1, W, RG_INIT_ZERO, 0);
    rg_ram_dense_init(&q->location, p, "location", W, 2, RG_TANH, first);
    rg_ram_dense_init(&q->baseline, p, "baseline", W, 1, RG_IDENTITY, first);
}

void rg_ram_dense_init(rg_dense *out, rg_params *p, const char *name, size_t in, size_t width, rg_activation f,
                       double first)
{
    rg_params_push(p, "%s", name);
    *out = (rg_dense){ .w = rg_params_add(p, "w", RG_WEIGHT, in, width, RG_INIT_GLOROT, first),
                       .b = rg_params_add(p, "b", RG_VECTOR, 1, width, RG_INIT_ZERO, 0),
                       .f = f };
    rg_params_pop(p);
}

/* The middles of the glimpses in pixels, for those who watch. */
static void show_place(rg_tape *t, double unit, const rg_tensor *l, const rg_layout *pictures)
{
    const double x = ((double)pictures->width - 1) / 2, y = ((double)pictures->height - 1) / 2;
    if (!l || !rg_tape_watched(t, "place")) return;
    rg_real *at = rg_tape_memory(t, 2 * pictures->groups * sizeof *at + 1);
    for (size_t i = 0; at && i < pictures->groups && !rg_tape_dry(t); i++) {
        at[2 * i] = (rg_real)(x + (double)rg_tensor_at(l, i, 0) * (unit > 0 ? unit : x));
        at[2 * i + 1] = (rg_real)(y + (double)rg_tensor_at(l, i, 1) * (unit > 0 ? unit : y));
    }
    if (at) rg_tape_watch(t, "place", rg_constant(t, at, pictures->groups, 2, NULL), NULL);
}

rg_tensor *rg_ram_see(rg_tape *t, const rg_ram_core *q, rg_tensor *x, rg_tensor *l, const rg_layout *pictures)
{
    show_place(t, q->retina.unit, l, pictures);
    rg_tensor *seen = rg_glimpse(t, x, l, &q->retina);
    rg_tape_watch(t, "seen", seen, NULL);
    rg_tensor *what = rg_matmul(t, rg_dense_run(t, &q->glimpse, seen), rg_use(t, q->see));
    rg_tensor *where = rg_matmul(t, rg_dense_run(t, &q->place, l), rg_use(t, q->where));
    return rg_bias_map(t, rg_add(t, what, where), rg_use(t, q->b), RG_RELU);
}

rg_tensor *rg_ram_recur(rg_tape *t, const rg_ram_core *q, rg_tensor *in, rg_tensor *h)
{
    return rg_bias_map(t, h ? rg_add(t, in, rg_matmul(t, h, rg_use(t, q->state))) : in, rg_use(t, q->c), RG_RELU);
}

rg_tensor *rg_ram_advantage(rg_tape *t, const rg_real *R, const rg_tensor *base, size_t rows, double weight,
                            double deviation)
{
    rg_real *a = rg_tape_memory(t, (rows + 1) * sizeof *a);
    if (!a) return NULL;
    for (size_t i = 0; i < rows && !rg_tape_dry(t); i++) {
        const double b = base ? (double)rg_tensor_at(base, i, 0) : 0;
        a[i] = (rg_real)(weight * ((double)R[i] - b) / (2 * deviation * deviation));
    }
    return rg_constant(t, a, rows, 1, NULL);
}

rg_tensor *rg_ram_place_loss(rg_tape *t, rg_tensor *mean, rg_tensor *drawn, rg_tensor *advantage)
{
    rg_tensor *d = rg_sub(t, mean, drawn);
    return rg_sum(t, rg_mul(t, rg_dot_rows(t, d, d), advantage));
}
