/* perturb.c - see perturb.h. The plain one-step form is three lines: rg_perturb_gradient, rg_perturb_scale, and the
 * clip to the range. */
#include "regard/perturb.h"

#include <math.h>
#include <string.h>

#include "regard/ops.h"

rg_status rg_ball_find(rg_ball *out, const char *name)
{
    if (strcmp(name, "linf") == 0) return *out = RG_BALL_LINF, RG_OK;
    if (strcmp(name, "l2") == 0) return *out = RG_BALL_L2, RG_OK;
    return rg_fail(RG_EINVAL, "there is no norm '%s'; there are: linf, l2", name);
}

/* ----------------------------------------------------------------------------------------------------------- passes */

rg_pass rg_pass_run(rg_tape *t, const rg_model *m, const void *batch, bool labels)
{
    const rg_system *s = m->system;
    rg_pass          p = { .model = m, .batch = batch, .fields = s->batches ? NULL : batch };
    p.rows = s->enter(t, m, batch);
    p.draws = rg_tape_draws(t);
    p.features = s->features(t, m, batch, p.rows);
    p.logits = s->answer(t, m, batch, p.features);
    if (labels) p.loss = s->compare(t, batch, p.logits);
    return p;
}

rg_tensor *rg_pass_again(rg_tape *t, const rg_pass *p, rg_tensor *rows)
{
    const rg_system *s = p->model->system;
    const uint64_t   after = rg_tape_draws(t);
    const bool       settles = rg_tape_update_statistics(t, false);
    rg_tape_redraw(t, p->draws);
    rg_tensor *y = s->answer(t, p->model, p->batch, s->features(t, p->model, p->batch, rows));
    rg_tape_redraw(t, after);
    rg_tape_update_statistics(t, settles);
    return y;
}

/* x + r on the tape as something whose gradient is wanted. */
static rg_tensor *moved_input(rg_tape *t, const rg_pass *p, const rg_real *r)
{
    const size_t N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows), ld = rg_tensor_ld(p->rows);
    rg_real     *x = rg_tape_memory(t, (N * D + 1) * sizeof *x);
    for (size_t i = 0; x && i < N; i++)
        for (size_t j = 0; j < D; j++) x[i * D + j] = rg_tensor_data(p->rows)[i * ld + j] + (r ? r[i * D + j] : 0);
    return x ? rg_input(t, x, N, D, rg_tensor_layout(p->rows)) : NULL;
}

bool rg_perturb_gradient(rg_real *g, rg_tape *t, const rg_pass *p, const rg_real *r, rg_inner_loss *loss, void *context)
{
    const size_t N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    memset(g, 0, N * D * sizeof *g);
    if (rg_tape_dry(t) || !N) return rg_tape_status(t) == RG_OK;
    const bool     recorded = rg_tape_record(t, true);
    rg_tape_point *point = rg_tape_mark(t);
    rg_tensor *x = point ? moved_input(t, p, r) : NULL, *sum = x ? loss(t, p, rg_pass_again(t, p, x), context) : NULL;
    const rg_status status = sum ? rg_tape_backward(t, sum) : rg_tape_status(t);
    const rg_real  *dx = status == RG_OK && sum ? rg_tape_gradient(t, x) : NULL;
    for (size_t i = 0; dx && i < N; i++) memcpy(g + i * D, dx + i * rg_tensor_ld(x), D * sizeof *g);
    if (status != RG_OK && rg_tape_status(t) == RG_OK) rg_tape_fail(t, status, "inner pass: %s", rg_message());
    rg_tape_rewind(t, point);
    rg_tape_record(t, recorded);
    return rg_tape_status(t) == RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- examples */

typedef struct {
    size_t begin, end; /* rows */
} example;

static size_t examples_of(const rg_pass *p)
{
    const rg_layout *l = rg_tensor_layout(p->rows);
    return l ? l->groups : rg_tensor_rows(p->rows);
}

/* Rows that do not group stand for themselves: the nodes of a graph. */
static example example_at(const rg_pass *p, size_t i)
{
    const rg_layout *l = rg_tensor_layout(p->rows);
    return l ? (example){ (size_t)l->start[i], (size_t)l->start[i + 1] } : (example){ i, i + 1 };
}

static double unit_at(const rg_real *unit, size_t column) { return unit ? (double)unit[column] : 1; }

/* In units u the ball is |r / u| <= eps and the gradient with respect to r / u is g u. */
static void scale_one(rg_real *g, size_t rows, size_t D, rg_ball ball, double epsilon, const rg_real *unit)
{
    double most = 0, squares = 0;
    for (size_t k = 0; k < rows * D; k++) most = fmax(most, fabs((double)g[k] * unit_at(unit, k % D)));
    for (size_t k = 0; k < rows * D && most > 0; k++) {
        const double x = (double)g[k] * unit_at(unit, k % D) / most;
        squares += x * x;
    }
    for (size_t k = 0; k < rows * D; k++) {
        const double u = unit_at(unit, k % D), x = (double)g[k] * u;
        if (!(most > 0)) g[k] = 0; /* also where a gradient is not a number: no direction */
        else if (ball == RG_BALL_LINF) g[k] = (rg_real)(epsilon * u * ((x > 0) - (x < 0)));
        else g[k] = (rg_real)(epsilon * u * (x / most) / sqrt(squares));
    }
}

void rg_perturb_scale(rg_real *g, const rg_pass *p, rg_ball ball, double epsilon, const rg_real *unit)
{
    const size_t D = rg_tensor_cols(p->rows);
    for (size_t i = 0; i < examples_of(p); i++) {
        const example e = example_at(p, i);
        scale_one(g + e.begin * D, e.end - e.begin, D, ball, epsilon, unit);
    }
}

/* Back onto the ball from outside. */
static void project(rg_real *r, const rg_pass *p, const rg_perturb_config *c)
{
    const size_t D = rg_tensor_cols(p->rows);
    for (size_t i = 0; i < examples_of(p); i++) {
        const example e = example_at(p, i);
        double        squares = 0;
        for (size_t k = e.begin * D; k < e.end * D; k++) {
            const double u = unit_at(c->unit, k % D), most = c->epsilon * u;
            if (c->ball == RG_BALL_LINF) r[k] = (rg_real)fmin(most, fmax(-most, (double)r[k]));
            squares += u > 0 ? (double)r[k] / u * ((double)r[k] / u) : 0;
        }
        const double factor = c->epsilon / sqrt(squares);
        for (size_t k = e.begin * D; c->ball == RG_BALL_L2 && factor < 1 && k < e.end * D; k++)
            r[k] = (rg_real)((double)r[k] * factor);
    }
}

static void clip(rg_real *r, const rg_pass *p, const rg_perturb_config *c)
{
    const size_t N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    for (size_t i = 0; i < N && c->low < c->high; i++)
        for (size_t j = 0; j < D; j++) {
            const rg_real x = rg_tensor_at(p->rows, i, j), to = x + r[i * D + j];
            if (to < (rg_real)c->low) r[i * D + j] = (rg_real)c->low - x;
            if (to > (rg_real)c->high) r[i * D + j] = (rg_real)c->high - x;
        }
}

/* A random direction of a length that is uniform in (0, eps); linf: uniform in the cube. */
static void start(rg_real *r, rg_tape *t, const rg_pass *p, const rg_perturb_config *c)
{
    const size_t     N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    const bool       linf = c->ball == RG_BALL_LINF;
    const rg_layout *l = rg_tensor_layout(p->rows);
    const rg_tensor *x = linf ? rg_uniform(t, N, D, l) : rg_normal(t, N, D, l),
                    *length = rg_uniform(t, examples_of(p), 1, NULL);
    if (!x || !length) return;
    for (size_t k = 0; k < N * D; k++) {
        const double v = (double)rg_tensor_at(x, k / D, k % D);
        r[k] = (rg_real)(linf ? c->epsilon * unit_at(c->unit, k % D) * (2 * v - 1) : v);
    }
    if (linf) return;
    rg_perturb_scale(r, p, RG_BALL_L2, c->epsilon, c->unit);
    for (size_t i = 0; i < examples_of(p); i++)
        for (size_t k = example_at(p, i).begin * D; k < example_at(p, i).end * D; k++)
            r[k] *= rg_tensor_at(length, i, 0);
}

/* ----------------------------------------------------------------------------------------------------- perturbation */

static rg_tensor *inner_loss(rg_tape *t, const rg_pass *p, rg_tensor *y, void *context)
{
    const int32_t *said = context;
    return said ? rg_cross_entropy(t, y, said, 0) : p->model->system->compare(t, p->batch, y).sum;
}

/* The class of every row of the clean answers. */
static int32_t *answers(rg_tape *t, const rg_pass *p)
{
    const size_t N = rg_tensor_rows(p->logits);
    int32_t     *said = rg_tape_memory(t, (N + 1) * sizeof *said);
    for (size_t i = 0; said && i < N && !rg_tape_dry(t); i++) {
        const rg_real *y = rg_tensor_row(p->logits, i);
        said[i] = 0;
        for (size_t c = 1; c < rg_tensor_cols(p->logits); c++)
            if (y[c] > y[said[i]]) said[i] = (int32_t)c;
    }
    return said;
}

rg_tensor *rg_perturb(rg_tape *t, const rg_pass *p, const rg_perturb_config *c)
{
    const size_t N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows), steps = c->steps ? c->steps : 1;
    int32_t     *said = c->towards == RG_TOWARDS_ANSWER ? answers(t, p) : NULL;
    rg_real     *r = rg_tape_memory(t, (N * D + 1) * sizeof *r), *g = rg_tape_memory(t, (N * D + 1) * sizeof *g);
    if (!r || !g || !p->rows || !p->logits || (c->towards == RG_TOWARDS_ANSWER && !said)) return NULL;
    memset(r, 0, N * D * sizeof *r);
    if (steps > 1) start(r, t, p, c);
    if (steps > 1) clip(r, p, c);
    for (size_t s = 0; s < steps && !rg_tape_dry(t); s++) {
        if (!rg_perturb_gradient(g, t, p, r, inner_loss, said)) return NULL;
        rg_perturb_scale(g, p, c->ball, steps > 1 ? 2.5 * c->epsilon / (double)steps : c->epsilon, c->unit);
        for (size_t k = 0; k < N * D; k++) r[k] += g[k];
        if (steps > 1) project(r, p, c);
        clip(r, p, c);
    }
    return rg_constant(t, r, N, D, rg_tensor_layout(p->rows));
}

void rg_perturb_range(double *out_low, double *out_high, const rg_pass *p)
{
    *out_low = 0;
    *out_high = p->fields && p->fields->field[RG_INPUT].kind == RG_FIELD_PIXELS;
}

const rg_real *rg_perturb_unit(rg_tape *t, const rg_pass *p)
{
    const size_t N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    if (!p->fields || p->fields->field[RG_INPUT].kind != RG_FIELD_IDS || N < 2 || rg_tape_dry(t)) return NULL;
    rg_real *unit = rg_tape_memory(t, D * sizeof *unit);
    for (size_t j = 0; unit && j < D; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < N; i++) {
            const double x = (double)rg_tensor_at(p->rows, i, j);
            sum += x;
            squares += x * x;
        }
        unit[j] = (rg_real)sqrt(fmax(0, squares / (double)N - sum / (double)N * (sum / (double)N)));
    }
    return unit;
}
