/* number_parts.c - see number_parts.h. */
#include "models/number_parts.h"

#include "regard/ops.h"
#include "regard/text.h"

void rg_number_parts_init(rg_number_parts *q, rg_model *m, size_t width, size_t d, size_t answer)
{
    q->width = width;
    q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, width, RG_INIT_ZERO, 0);
    q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, width, RG_INIT_ONE, 1);
    rg_dense_init(&q->entry, m->params, "numbers", width, d, RG_IDENTITY);
    rg_dense_init(&q->answer, m->params, "answer", answer, width, RG_IDENTITY);
}

rg_tensor *rg_number_rows(rg_tape *t, const rg_number_parts *q, const rg_batch *b)
{
    const rg_field *f = &b->field[RG_SOURCE];
    rg_tensor *x = rg_tape_offer(t, "inputs", rg_constant(t, f->values, rg_field_rows(f), q->width, &f->layout), NULL);
    x = rg_mul(t, rg_add(t, x, rg_use(t, q->shift)), rg_use(t, q->scale));
    x = rg_dense_run(t, &q->entry, x);
    return x ? rg_with_layout(t, x, &f->layout) : NULL;
}

/* What is predicted, for those who watch. */
static void show(rg_tape *t, const rg_number_parts *q, const rg_tensor *y)
{
    const size_t N = rg_tensor_rows(y), W = q->width;
    if (!rg_tape_watched(t, "numbers")) return;
    rg_real *x = rg_tape_memory(t, (N * W + 1) * sizeof *x);
    for (size_t i = 0; x && i < N * W && !rg_tape_dry(t); i++)
        x[i] = rg_tensor_at(y, i / W, i % W) / rg_param_data(q->scale)[i % W] - rg_param_data(q->shift)[i % W];
    if (x) rg_tape_watch(t, "numbers", rg_borrow(t, x, N, W, W), NULL);
}

rg_loss rg_number_loss(rg_tape *t, const rg_number_parts *q, rg_tensor *h, const rg_batch *b)
{
    const rg_field *f = &b->field[RG_TARGET];
    const size_t    N = rg_field_rows(f), W = q->width;
    int32_t        *row = rg_tape_memory(t, (N + 1) * sizeof *row);
    rg_real        *to = rg_tape_memory(t, (N * W + 1) * sizeof *to);
    rg_tensor      *y = rg_dense_run(t, &q->answer, h);
    size_t          n = 0;
    if (!row || !to || !y) return (rg_loss){ NULL, 0 };
    show(t, q, y);
    for (size_t i = 0; i < N; i++) {
        if (f->ids[i] < 0) continue;
        for (size_t k = 0; k < W && !rg_tape_dry(t); k++)
            to[n * W + k] = (f->values[i * W + k] + rg_param_data(q->shift)[k]) * rg_param_data(q->scale)[k];
        row[n++] = (int32_t)i;
    }
    if (!n) return (rg_loss){ rg_zeros(t, 1, 1, NULL), 0 };
    return (rg_loss){ rg_squared_error(t, rg_gather(t, y, row, n, NULL), to), (double)(n * W) };
}
