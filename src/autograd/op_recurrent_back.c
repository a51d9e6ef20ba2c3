/* op_recurrent_back.c - recurrence, backward through time.
 *
 *   for t from the last step to the first:     dh += what arrived at the states of step t
 *                                              dz_t = gates backward (dh, dc)            rows of one block (N, gu)
 *                                              dh = dz_t U^T                             gradient of the states before
 *   then, over all rows at once:               dU = H_before^T dz      dW = X^T dz      db = sum dz      dx = dz W^T
 *
 * Groups that end earlier join the block waiting; until then their rows of dh and dc are zero. */
#include "autograd/deferred.h"
#include "autograd/recurrent.h"

#include <string.h>

typedef struct {
    const rg_recurrent_node *n;
    rg_real                 *dz, *da;   /* (N, gu) of the sums; of U h + b' where that differs, else the same place */
    rg_real                 *dh, *dc;   /* (running, u) carried from waiting steps */
    rg_real                 *drh;       /* (running, u) the GRU's reset states   */
    const rg_real           *h_arrived, *c_arrived; /* (N, u) in the layout's order, or NULL */
    size_t                   from;
    const rg_real           *h0, *c0;
    bool                     second;
} back_job;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t rg_recurrent__scratch(const rg_recurrent_node *n)
{
    const size_t N = n->steps->rows, blocks = n->kind == RG_GRU_RESET_AFTER ? 2 : 1;
    return N * (blocks * n->gu + n->u + (n->w.w && !n->steps->as_is ? n->x->cols : 0)) + 3 * n->steps->running * n->u;
}

/* ------------------------------------------------------------------------------------------------------ one step */

static void back_rows(void *context, int member, size_t begin, size_t end)
{
    const back_job          *job = context;
    const rg_recurrent_node *n = job->n;
    const rg_gates          *k = rg_kernel()->gates;
    const size_t             u = n->u;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const size_t   row = job->from + i, at = (size_t)n->steps->row[row] * u;
        rg_real       *dz = job->dz + row * n->gu, *dh = job->dh + i * u;
        const rg_real *gates = n->gates + row * n->gu, *h0 = job->h0 ? job->h0 + i * u : NULL;
        if (job->second) {
            k->gru_reset_backward(u, dz, dh, job->drh + i * u, gates, h0);
            continue;
        }
        if (job->h_arrived) rg_kernel()->axpy(u, dh, 1, job->h_arrived + at);
        if (job->c_arrived) rg_kernel()->axpy(u, job->dc + i * u, 1, job->c_arrived + at);
        switch (n->kind) {
        case RG_LSTM:
            k->lstm_backward(u, dz, job->dc + i * u, gates, n->c + row * u, job->c0 ? job->c0 + i * u : NULL, dh);
            break;
        case RG_GRU: k->gru_backward(u, dz, dh, gates, h0); break;
        case RG_GRU_RESET_AFTER:
            k->gru_after_backward(u, dz, job->da + row * n->gu, dh, gates, n->extra + row * u, h0);
            break;
        default: rg_kernel()->map_backward(RG_TANH, u, dz, gates, gates, dh, false); break;
        }
    }
}

typedef struct {
    back_job job; /* of the whole: its step is filled in */
    rg_pack  u, u_new;
    bool     first; /* the states before the first step want a gradient */
} back_sequence;

/* Rows begin .. end of one step; the team (NULL: nobody) splits each of its products and passes. */
static rg_status some_rows_of_step(const back_sequence *q, rg_team *team, size_t step, size_t begin, size_t end)
{
    back_job                 job = q->job;
    const rg_recurrent_node *n = job.n;
    const size_t             rows = end - begin, u = n->u;
    const rg_real           *h0 = rg_recurrent__before(n, n->h, n->start_h, step);
    const rg_real           *c0 = n->c ? rg_recurrent__before(n, n->c, n->start_c, step) : NULL;
    job.from = (size_t)n->steps->first[step] + begin;
    job.h0 = h0 ? h0 + begin * u : NULL;
    job.c0 = c0 ? c0 + begin * u : NULL;
    job.dh += begin * u;
    job.dc += begin * u;
    job.drh += begin * u;
    rg_recurrent__rows(team, n, rows, back_rows, &job);
    rg_real *dz = job.dz + job.from * n->gu, *da = job.da + job.from * n->gu;
    if (n->kind == RG_GRU) {
        if (h0)
            RG_TRY(rg_product_packed(team, rows, dz + 2 * u, n->gu, &q->u_new, job.drh, u, false, NULL, RG_IDENTITY));
        else memset(job.drh, 0, rows * u * sizeof *job.drh);
        job.second = true;
        rg_recurrent__rows(team, n, rows, back_rows, &job);
    }
    if (step == 0 && !q->first) return RG_OK;
    const bool direct = n->kind == RG_GRU || n->kind == RG_GRU_RESET_AFTER; /* dh holds the part that goes past the gates */
    return rg_product_packed(team, rows, da, n->gu, &q->u, job.dh, u, direct, NULL, RG_IDENTITY);
}

/* Groups begin .. end back through all their steps: nothing here can fail, the shapes were looked at before. */
static void some_groups(void *context, int member, size_t begin, size_t end)
{
    const back_sequence *q = context;
    const rg_steps      *s = q->job.n->steps;
    (void)member;
    for (size_t step = s->steps; step-- > 0;)
        if ((size_t)s->count[step] > begin)
            (void)some_rows_of_step(q, NULL, step, begin, smaller((size_t)s->count[step], end));
}

static void all_steps(rg_tape *t, const back_sequence *q)
{
    const rg_steps *s = q->job.n->steps;
    rg_team        *team = rg_tape_team(t);
    if (rg_recurrent__apart(t, s)) {
        rg_team_for(team, s->running, 1, some_groups, (void *)q);
        return;
    }
    for (size_t step = s->steps; step-- > 0 && rg_tape_status(t) == RG_OK;)
        rg_tape__check(t, some_rows_of_step(q, team, step, 0, (size_t)s->count[step]));
}

/* ---------------------------------------------------------------------------------------- weights, all rows at once */

typedef struct {
    rg_real *at;
    bool     add;
} place;

typedef struct {
    place     x, w, b, u, u_new, b_new, h0, c0;
    rg_deferred *waiting, *waiting_new; /* of u, of u_new */
} places;

static place place_of(rg_tape *t, rg_tensor *x)
{
    place p = { NULL, false };
    p.at = rg_tape__grad(t, x, &p.add);
    return p;
}

/* States before each row, from row `skip` on: those of the step above without the groups that ended there. */
static const rg_real *states_before(rg_tape *t, const rg_recurrent_node *n, size_t skip)
{
    const rg_steps *s = n->steps;
    const size_t    u = n->u;
    if (skip && s->steps && (size_t)s->count[s->steps - 1] == s->running)
        return n->h; /* all equally long: the same rows, a block earlier */
    rg_real *before = rg_tape__reals(t, (s->rows - skip) * u);
    rg_real *to = before;
    for (size_t step = skip ? 1 : 0; before && step < s->steps; step++) {
        memcpy(to, rg_recurrent__before(n, n->h, n->start_h, step), (size_t)s->count[step] * u * sizeof *to);
        to += (size_t)s->count[step] * u;
    }
    return before;
}

/* A cell is one step of somebody's loop: the gradients of its U may wait for the others. */
static rg_deferred *waits(rg_tape *t, const rg_recurrent_node *n, const rg_tensor *u)
{
    return n->steps->steps == 1 && n->start_h ? rg_deferred_find(t, u, n->steps->rows) : NULL;
}

static void weight_gradient(rg_tape *t, place to, const rg_tensor *w, size_t rows, const rg_real *a, size_t lda,
                            const rg_real *dz, size_t lddz)
{
    if (to.at && w)
        rg_tape__check(
            t, rg_product(rg_tape_team(t), RG_TN, w->rows, w->cols, rows, a, lda, dz, lddz, to.at, w->ld, to.add));
}

static void recurrent_weights(rg_tape *t, const back_job *job, const places *p)
{
    const rg_recurrent_node *n = job->n;
    const size_t             N = n->steps->rows, skip = n->start_h ? 0 : n->steps->running; /* zeros before the first step give nothing */
    if (p->waiting) rg_deferred_add(p->waiting, N, n->start_h, n->u, job->da, n->gu);
    if (p->waiting_new) rg_deferred_add(p->waiting_new, N, n->extra, n->u, job->dz + 2 * n->u, n->gu);
    if (p->u.at) {
        const rg_real *before = states_before(t, n, skip);
        if (before) weight_gradient(t, p->u, n->w.u, N - skip, before, n->u, job->da + skip * n->gu, n->gu);
    }
    weight_gradient(t, p->u_new, n->w.u_new, N, n->extra, n->u, job->dz + 2 * n->u, n->gu);
    if (p->b_new.at) rg_tape__column_sums(t, N, n->u, p->b_new.at, job->da + 2 * n->u, n->gu, p->b_new.add);
}

typedef struct {
    const rg_steps *steps;
    size_t          cols, ld;
    place           to;
    const rg_real  *x;
} spreading;

static void spread_rows(void *context, int member, size_t begin, size_t end)
{
    const spreading *w = context;
    (void)member;
    for (size_t i = begin; i < end; i++)
        rg_rows__axpy(1, w->cols, w->to.at + (size_t)w->steps->row[i] * w->ld, w->cols, 1, w->x + i * w->cols, w->cols,
                      w->to.add);
}

/* y[row[i]] (+)= x[i] */
static void spread(rg_tape *t, const rg_steps *s, size_t cols, place to, size_t ld, const rg_real *x)
{
    rg_tape__rows(t, s->rows, cols, spread_rows, &(spreading){ s, cols, ld, to, x });
}

static void inputs(rg_tape *t, const back_job *job, const places *p)
{
    const rg_recurrent_node *n = job->n;
    const rg_steps          *s = n->steps;
    rg_team                 *team = rg_tape_team(t);
    if (p->b.at) rg_tape__column_sums(t, s->rows, n->gu, p->b.at, job->dz, n->gu, p->b.add);
    weight_gradient(t, p->w, n->w.w, s->rows, n->xs, n->ld_xs, job->dz, n->gu);
    if (!p->x.at) return;
    if (!n->w.w) {
        spread(t, s, n->gu, p->x, n->x->ld, job->dz);
        return;
    }
    const rg_pack w = rg_tape__pack(t, n->w.w, true);
    rg_real      *dxs = s->as_is ? p->x.at : rg_tape__reals(t, s->rows * n->x->cols);
    if (!w.data || !dxs) return;
    rg_tape__check(t, rg_product_packed(team, s->rows, job->dz, n->gu, &w, dxs, s->as_is ? n->x->ld : n->x->cols,
                                        s->as_is && p->x.add, NULL, RG_IDENTITY));
    if (!s->as_is) spread(t, s, n->x->cols, p->x, n->x->ld, dxs);
}

static void first_state(const rg_steps *s, place to, const rg_tensor *state, const rg_real *d)
{
    if (!to.at) return;
    for (size_t i = 0; i < s->groups; i++) {
        rg_real *at = to.at + (size_t)s->order[i] * state->ld;
        if (i < s->running) rg_rows__axpy(1, state->cols, at, state->cols, 1, d + i * state->cols, state->cols, to.add);
        else if (!to.add) memset(at, 0, state->cols * sizeof *at);
    }
}

/* --------------------------------------------------------------------------------------------------------- backward */

void rg_recurrent__backward(rg_tape *t, rg_node *node)
{
    rg_recurrent_node *n = (rg_recurrent_node *)node;
    const rg_steps    *s = n->steps;
    const size_t       N = s->rows, states = s->running * n->u;
    rg_deferred    *waiting = waits(t, n, n->w.u), *waiting_new = waits(t, n, n->w.u_new);
    const places       p = { place_of(t, n->x),
                             place_of(t, n->w.w),
                             place_of(t, n->w.b),
                       waiting ? (place){ NULL, false } : place_of(t, n->w.u),
                       waiting_new ? (place){ NULL, false } : place_of(t, n->w.u_new),
                       place_of(t, n->w.b_new),
                             place_of(t, n->h0),
                             place_of(t, n->c0),
                             waiting,
                             waiting_new };
    back_job           job = { .n = n,
                               .h_arrived = rg_tape__arrived(t, n->h_out),
                               .c_arrived = n->c_out ? rg_tape__arrived(t, n->c_out) : NULL };

    rg_arena_point scratch = rg_tape__scratch(t);
    job.dz = rg_tape__reals(t, N * n->gu);
    job.da = n->kind == RG_GRU_RESET_AFTER ? rg_tape__reals(t, N * n->gu) : job.dz;
    job.dh = rg_tape__reals(t, 3 * states);
    back_sequence q = { .u = rg_tape__pack(t, n->w.u, true), .first = p.h0.at != NULL };
    if (n->w.u_new) q.u_new = rg_tape__pack(t, n->w.u_new, true);
    if (rg_tape_status(t) != RG_OK) return;
    job.dc = job.dh + states;
    job.drh = job.dc + states;
    memset(job.dh, 0, 2 * states * sizeof *job.dh);

    q.job = job;
    all_steps(t, &q);
    first_state(s, p.h0, n->h0, job.dh);
    first_state(s, p.c0, n->c0, job.dc);
    recurrent_weights(t, &job, &p);
    inputs(t, &job, &p);
    rg_tape__release(t, scratch);
}
