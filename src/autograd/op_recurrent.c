/* op_recurrent.c - recurrence over ragged groups, forward: one product projects all rows, then each step is one
 * product of its block of states with packed weights and one pass over its gates (kinds and formulas:
 * regard/recurrent.h). */
#include "autograd/deferred.h"
#include "autograd/recurrent.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t      gates, recurrent; /* column blocks of W, and of U */
} kinds[RG_RECURRENCES] = {
    [RG_RNN] = { "rnn", 1, 1 },
    [RG_LSTM] = { "lstm", 4, 4 },
    [RG_GRU] = { "gru", 3, 2 },
    [RG_GRU_RESET_AFTER] = { "gru-reset-after", 3, 3 },
};

const char *rg_recurrence_name(rg_recurrence kind) { return (unsigned)kind < RG_RECURRENCES ? kinds[kind].name : "?"; }
size_t rg_recurrence_gates(rg_recurrence kind) { return (unsigned)kind < RG_RECURRENCES ? kinds[kind].gates : 0; }

rg_status rg_recurrence_find(rg_recurrence *out, const char *name)
{
    for (rg_recurrence k = RG_RNN; k < RG_RECURRENCES; k++)
        if (strcmp(kinds[k].name, name) == 0) {
            *out = k;
            return RG_OK;
        }
    return rg_fail(RG_EINVAL, "'%s' is no recurrence; there are rnn, lstm, gru and gru-reset-after", name);
}

/* ------------------------------------------------------------------------------------------------------ one step */

typedef struct {
    const rg_recurrent_node *n;
    size_t                   from;     /* first row of the step        */
    const rg_real           *h0, *c0;  /* states before it, or NULL    */
    const rg_real           *a;        /* U h0 of the reset-after GRU  */
    bool                     second;   /* the GRU's pass after its second product */
} step_job;

static void step_rows(void *context, int member, size_t begin, size_t end)
{
    const step_job          *job = context;
    const rg_recurrent_node *n = job->n;
    const rg_gates          *k = rg_kernel()->gates;
    const size_t             u = n->u;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        const size_t   row = job->from + i;
        rg_real       *gates = n->gates + row * n->gu, *h = n->h + row * u;
        const rg_real *h0 = job->h0 ? job->h0 + i * u : NULL;
        switch (n->kind) {
        case RG_LSTM: k->lstm(u, gates, n->c + row * u, h, job->c0 ? job->c0 + i * u : NULL); break;
        case RG_GRU:
            if (job->second) k->gru(u, gates, h, h0);
            else k->gru_reset(u, gates, n->extra + row * u, h0);
            break;
        case RG_GRU_RESET_AFTER:
            k->gru_after(u, gates, n->extra + row * u, h, job->a ? job->a + i * 3 * u : NULL,
                         n->w.b_new ? n->w.b_new->data : NULL, h0);
            break;
        default: rg_kernel()->map(RG_TANH, u, h, h); break; /* the RNN's sums stand where its states go */
        }
    }
}

typedef struct {
    rg_tape                 *t;
    const rg_recurrent_node *n;
    rg_pack                  u, u_new;
    rg_real                 *a; /* (running, gu) U h0 of the reset-after GRU */
} sequence;

/* Rows begin .. end of one step; the team (NULL: nobody) splits each of its products and passes. */
static rg_status some_rows_of_step(const sequence *q, rg_team *team, size_t step, size_t begin, size_t end)
{
    const rg_recurrent_node *n = q->n;
    const size_t             from = (size_t)n->steps->first[step], rows = end - begin, u = n->u;
    const bool               after = n->kind == RG_GRU_RESET_AFTER;
    const rg_real           *h0 = rg_recurrent__before(n, n->h, n->start_h, step);
    const rg_real           *c0 = n->c ? rg_recurrent__before(n, n->c, n->start_c, step) : NULL;
    step_job                 job = { .n = n, .from = from + begin };
    rg_real                 *sums = n->gates + job.from * n->gu;
    if (h0) job.h0 = h0 + begin * u;
    if (c0) job.c0 = c0 + begin * u;
    if (h0 && after) job.a = q->a + begin * n->gu;
    if (h0)
        RG_TRY(rg_product_packed(team, rows, job.h0, u, &q->u, after ? q->a + begin * n->gu : sums, n->gu, !after, NULL,
                                 RG_IDENTITY));
    rg_recurrent__rows(team, n, rows, step_rows, &job);
    if (n->kind != RG_GRU) return RG_OK;
    if (h0)
        RG_TRY(rg_product_packed(team, rows, n->extra + job.from * u, u, &q->u_new, sums + 2 * u, n->gu, true, NULL,
                                 RG_IDENTITY));
    job.second = true;
    rg_recurrent__rows(team, n, rows, step_rows, &job);
    return RG_OK;
}

/* Groups begin .. end through all their steps: nothing here can fail, the shapes were looked at before. */
static void some_groups(void *context, int member, size_t begin, size_t end)
{
    const sequence *q = context;
    const rg_steps *s = q->n->steps;
    (void)member;
    for (size_t step = 0; step < s->steps && (size_t)s->count[step] > begin; step++)
        (void)some_rows_of_step(q, NULL, step, begin, (size_t)s->count[step] < end ? (size_t)s->count[step] : end);
}

static void all_steps(const sequence *q)
{
    const rg_steps *s = q->n->steps;
    rg_team        *team = rg_tape_team(q->t);
    if (rg_recurrent__apart(q->t, s)) {
        rg_team_for(team, s->running, 1, some_groups, (void *)q);
        return;
    }
    for (size_t step = 0; step < s->steps && rg_tape_status(q->t) == RG_OK; step++)
        rg_tape__check(q->t, some_rows_of_step(q, team, step, 0, (size_t)s->count[step]));
}

/* Cut as rg_team_for cuts: do all members get about the same number of rows? */
bool rg_recurrent__apart(const rg_tape *t, const rg_steps *s)
{
    enum { LEAST_ROWS = 24 };
    const size_t members = (size_t)rg_team_size(rg_tape_team(t));
    if (members < 2 || s->running < members * LEAST_ROWS) return false;
    for (size_t i = 0; i < members; i++) {
        const size_t begin = s->running * i / members, end = s->running * (i + 1) / members;
        size_t       rows = 0;
        for (size_t step = 0; step < s->steps && (size_t)s->count[step] > begin; step++)
            rows += ((size_t)s->count[step] < end ? (size_t)s->count[step] : end) - begin;
        if (rows * members * 20 > s->rows * 21) return false; /* more than 5 % over its share */
    }
    return true;
}

void rg_recurrent__rows(rg_team *team, const rg_recurrent_node *n, size_t rows, rg_team_work *work, void *context)
{
    enum { WORTH = 1 << 11 }; /* gates below which waking a thread costs more than it brings */
    rg_team_for(team, rows, WORTH / n->gu + 1, work, context);
}

/* ------------------------------------------------------------------------------------------------------- all steps */

typedef struct {
    size_t         cols, ld;
    rg_real       *dst;
    const rg_real *src;
    const int32_t *index;
} copying;

static void collect_rows(void *context, int member, size_t begin, size_t end)
{
    const copying *c = context;
    (void)member;
    for (size_t i = begin; i < end; i++)
        memcpy(c->dst + i * c->cols, c->src + (size_t)c->index[i] * c->ld, c->cols * sizeof *c->dst);
}

static void spread_rows(void *context, int member, size_t begin, size_t end)
{
    const copying *c = context;
    (void)member;
    for (size_t i = begin; i < end; i++)
        memcpy(c->dst + (size_t)c->index[i] * c->ld, c->src + i * c->cols, c->cols * sizeof *c->dst);
}

/* rows of src by number, one after another */
static void collect(rg_tape *t, size_t rows, size_t cols, rg_real *dst, const rg_real *src, size_t ld,
                    const int32_t *index)
{
    rg_tape__rows(t, rows, cols, collect_rows, &(copying){ cols, ld, dst, src, index });
}

static rg_real *starting(rg_tape *t, const rg_steps *s, const rg_tensor *state)
{
    rg_real *rows = state ? rg_tape__reals(t, s->running * state->cols) : NULL;
    if (rows) collect(t, s->running, state->cols, rows, state->data, state->ld, s->order);
    return rows;
}

/* Sums of all rows before any recurrence: x W + b, or x (+ b) as it came. */
static void project(rg_tape *t, rg_recurrent_node *n)
{
    const rg_steps *s = n->steps;
    const rg_real  *b = n->w.b ? n->w.b->data : NULL;
    if (n->w.w) {
        const rg_pack w = rg_tape__pack(t, n->w.w, false);
        if (rg_pack_there(&w))
            rg_tape__check(t, rg_product_packed(rg_tape_team(t), s->rows, n->xs, n->ld_xs, &w, n->gates, n->gu, false,
                                                b, RG_IDENTITY));
        return;
    }
    collect(t, s->rows, n->gu, n->gates, n->x->data, n->x->ld, s->row);
    for (size_t i = 0; b && i < s->rows; i++) rg_kernel()->axpy(n->gu, n->gates + i * n->gu, 1, b);
}

static bool allocate(rg_tape *t, rg_recurrent_node *n)
{
    const rg_steps *s = n->steps;
    const size_t    N = s->rows;
    n->h = s->as_is ? n->node.out->data : rg_tape__reals(t, N * n->u);
    n->gates = n->kind == RG_RNN ? n->h : rg_tape__reals(t, N * n->gu);
    if (n->kind == RG_LSTM) n->c = s->as_is && n->c_out ? n->node.out->data + N * n->u : rg_tape__reals(t, N * n->u);
    if (n->kind == RG_GRU || n->kind == RG_GRU_RESET_AFTER) n->extra = rg_tape__reals(t, N * n->u);
    n->start_h = starting(t, s, n->h0);
    n->start_c = starting(t, s, n->c0);
    n->xs = n->x->data;
    n->ld_xs = n->x->ld;
    if (n->w.w && !s->as_is) {
        rg_real *xs = rg_tape__reals(t, N * n->x->cols);
        if (xs) collect(t, N, n->x->cols, xs, n->x->data, n->x->ld, s->row);
        n->xs = xs;
        n->ld_xs = n->x->cols;
    }
    return rg_tape_status(t) == RG_OK;
}

static void forward(rg_tape *t, rg_recurrent_node *n)
{
    const rg_steps *s = n->steps;
    if (!allocate(t, n)) return;
    rg_arena_point scratch = rg_tape__scratch(t);
    sequence       q = { .t = t, .n = n, .u = rg_tape__pack(t, n->w.u, false) };
    if (n->w.u_new) q.u_new = rg_tape__pack(t, n->w.u_new, false);
    if (n->kind == RG_GRU_RESET_AFTER) q.a = rg_tape__reals(t, s->running * n->gu);
    project(t, n);
    if (rg_tape_status(t) == RG_OK) all_steps(&q);
    rg_tape__release(t, scratch);
    if (s->as_is || rg_tape_status(t) != RG_OK) return;
    rg_real *h = n->node.out->data, *c = h + s->rows * n->u;
    rg_tape__rows(t, s->rows, n->u, spread_rows, &(copying){ n->u, n->u, h, n->h, s->row });
    if (n->c_out) rg_tape__rows(t, s->rows, n->u, spread_rows, &(copying){ n->u, n->u, c, n->c, s->row });
}

/* ----------------------------------------------------------------------------------------------------------- the op */

static bool state_fits(rg_tape *t, const char *what, const rg_tensor *state, size_t groups, size_t u)
{
    if (!state || (state->rows == groups && state->cols == u)) return true;
    rg_tape_fail(t, RG_ESHAPE, "%s is %zu x %zu; %zu groups with states of %zu need %zu x %zu", what, state->rows,
                 state->cols, groups, u, groups, u);
    return false;
}

static bool weights_fit(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *w, const rg_tensor *x)
{
    const size_t u = w->u->rows, G = kinds[kind].gates;
    if (w->u->cols != kinds[kind].recurrent * u)
        return rg_tape_fail(t, RG_ESHAPE, "recurrent weights of %zu x %zu; this kind has %zu columns a state",
                            w->u->rows, w->u->cols, kinds[kind].recurrent);
    const rg_tensor *sums = w->w ? w->w : x;
    if (sums->cols != G * u || (w->w && w->w->rows != x->cols))
        return rg_tape_fail(t, RG_ESHAPE,
                            "x is %zu x %zu, the input weights %zu x %zu; %zu gates of %zu need %zu columns", x->rows,
                            x->cols, w->w ? w->w->rows : 0, w->w ? w->w->cols : 0, G, u, G * u);
    if (w->b && (w->b->rows != 1 || w->b->cols != G * u))
        return rg_tape_fail(t, RG_ESHAPE, "the bias is %zu x %zu, it should be 1 x %zu", w->b->rows, w->b->cols, G * u);
    if ((kind == RG_GRU) != (w->u_new != NULL) || (w->u_new && (w->u_new->rows != u || w->u_new->cols != u)))
        return rg_tape_fail(t, RG_ESHAPE, "the gru, and only it, has candidate weights (u_new) of %zu x %zu", u, u);
    if (w->b_new && (kind != RG_GRU_RESET_AFTER || w->b_new->rows != 1 || w->b_new->cols != u))
        return rg_tape_fail(t, RG_ESHAPE, "the gru-reset-after, and only it, has an inner bias (b_new) of 1 x %zu", u);
    return true;
}

/* h and c are the two halves of one tensor, so that a gradient at either wakes the one backward. */
static rg_tensor *half(rg_tape *t, const rg_recurrent_node *n, size_t from)
{
    rg_tensor *v = rg_tape__view(t, n->node.out, from, 0, n->steps->rows, n->u);
    if (!v) return NULL;
    v->layout = n->x->layout;
    v->piece = true;
    return v;
}

/* What the gates were, for whoever watches "gates": a block of columns per gate, rows as in x. The LSTM's cell is
 * one of them. A pass from the last row to the first calls them "gates.back.input", and so on. */
static void watch_gates(rg_tape *t, const rg_recurrent_node *n)
{
    static const char *const names[RG_RECURRENCES][4] = {
        [RG_LSTM] = { "gates.input", "gates.forget", "gates.output", "gates.candidate" },
        [RG_GRU] = { "gates.update", "gates.reset", "gates.candidate" },
        [RG_GRU_RESET_AFTER] = { "gates.update", "gates.reset", "gates.candidate" }
    };
    const rg_steps *s = n->steps;
    rg_real        *rows = rg_tape__reals(t, s->rows * n->u);
    char            back[32];
    for (size_t g = 0; rows && g < 5; g++) {
        const char    *name = g < 4 ? names[n->kind][g] : n->c ? "gates.cell" : NULL;
        const rg_real *from = g < 4 ? n->gates + g * n->u : n->c;
        for (size_t i = 0; name && from && i < s->rows; i++)
            memcpy(rows + (size_t)s->row[i] * n->u, from + i * (g < 4 ? n->gu : n->u), n->u * sizeof *rows);
        if (name && s->reverse) (void)snprintf(back, sizeof back, "gates.back.%s", name + strlen("gates."));
        if (name)
            rg_tape_watch(t, s->reverse ? back : name, rg_constant(t, rows, s->rows, n->u, n->x->layout), NULL);
    }
}

static rg_tensor *recur(rg_tape *t, rg_recurrent_node *now, rg_tensor **out_c)
{
    const rg_steps *s = now->steps;
    const size_t    N = s->rows;
    const bool      cells = out_c && now->kind == RG_LSTM;
    rg_tensor      *out = rg_tape__tensor(t, cells ? 2 * N : N, now->u, cells ? NULL : now->x->layout);
    if (!out) return NULL;
    now->node.out = now->h_out = out;
    now->c_out = cells ? out : NULL;
    rg_arena_point before = rg_tape__scratch(t);
    if (rg_tape__live(t)) forward(t, now);
    if (rg_tape__live(t) && now->kind != RG_RNN && rg_tape_watched(t, "gates")) watch_gates(t, now);
    rg_tape__count(t, 2.0 * (double)N * (double)now->u * (double)now->gu +
                          (now->w.w ? 2.0 * (double)N * (double)now->x->cols * (double)now->gu : 0));

    const rg_recurrent_weights *w = &now->w;
    rg_tensor         *in[] = { now->x, w->w, w->b, w->u, w->u_new, w->b_new, now->h0, now->c0 };
    rg_recurrent_node          *n =
        rg_tape_status(t) == RG_OK ? rg_tape__node(t, sizeof *n, out, rg_recurrent__backward, 8, in) : NULL;
    if (rg_tape_status(t) != RG_OK) return NULL;
    rg_tape__deepen(t, out, s->steps);
    if (n) {
        rg_tape__will_keep(t, N * (now->gu + 2 * now->u + (now->w.w ? now->x->cols : 0)) * sizeof(rg_real));
        rg_tape__will_need(t, rg_recurrent__scratch(now) * sizeof(rg_real));
        now->node = n->node;
        if (s->steps == 1 && now->h0) rg_deferred_use(t, w->u, N), rg_deferred_use(t, w->u_new, N);
    }
    else rg_tape__release(t, before);
    if (cells) {
        now->h_out = half(t, now, 0);
        now->c_out = half(t, now, N);
        if (!now->h_out || !now->c_out) return NULL;
        now->h_out->sibling = now->c_out;
        out->pieces = now->h_out;
        *out_c = now->c_out;
    }
    if (n) *n = *now;
    return now->h_out;
}

static rg_tensor *begin(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *w, rg_tensor *x, rg_tensor *h0,
                        rg_tensor *c0, const rg_steps *steps, rg_tensor **out_c)
{
    if (!steps || !weights_fit(t, kind, w, x)) return NULL;
    if (kind != RG_LSTM && c0) return rg_tape_fail(t, RG_EINVAL, "a %s has no cells", kinds[kind].name);
    const size_t u = w->u->rows;
    if (!state_fits(t, "the first state", h0, steps->groups, u) ||
        !state_fits(t, "the first cell", c0, steps->groups, u))
        return NULL;
    rg_recurrent_node now = {
        .kind = kind, .w = *w, .x = x, .h0 = h0, .c0 = c0, .steps = steps, .u = u, .gu = kinds[kind].gates * u
    };
    return recur(t, &now, out_c);
}

static bool ready(rg_tape *t, const char *op, rg_recurrence kind, const rg_recurrent_weights *w, rg_tensor *x,
                  rg_tensor **out_c)
{
    if (out_c) *out_c = NULL;
    rg_tensor *in[] = { x, w->u };
    if (!rg_tape__begin_packed(t, op, 2, in)) return false;
    if ((unsigned)kind < RG_RECURRENCES) return true;
    rg_tape_fail(t, RG_EINVAL, "there is no recurrence %d", (int)kind);
    return false;
}

rg_tensor *rg_recurrent(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *w, rg_tensor *x, rg_tensor *h0,
                        rg_tensor *c0, bool reverse, rg_tensor **out_c)
{
    if (!ready(t, "recurrent", kind, w, x, out_c)) return NULL;
    const rg_steps *steps = rg_steps_new(t, x->layout, reverse);
    return steps && ready(t, "recurrent", kind, w, x, out_c) ? begin(t, kind, w, x, h0, c0, steps, out_c) : NULL;
}

/* One step: every row is a group. */
rg_tensor *rg_recurrent_cell(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *w, rg_tensor *x, rg_tensor *h,
                             rg_tensor *c, rg_tensor **out_c)
{
    if (!ready(t, "recurrent_cell", kind, w, x, out_c)) return NULL;
    const size_t n = x->rows;
    rg_steps    *s = rg_tape__keep(t, sizeof *s);
    int32_t     *order = rg_tape__keep(t, (n + 3) * sizeof *order);
    if (!s || !order) return NULL;
    for (size_t i = 0; i < n; i++) order[i] = (int32_t)i;
    order[n] = (int32_t)n; /* count[0] */
    order[n + 1] = 0;      /* first[0], first[1] */
    order[n + 2] = (int32_t)n;
    *s = (rg_steps){ .groups = n, .running = n, .steps = n ? 1 : 0, .rows = n, .order = order, .count = order + n, .first = order + n + 1,
                     .row = order, .as_is = true };
    return begin(t, kind, w, x, h, c, s, out_c);
}

rg_tensor *rg_rnn_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *u)
{
    return rg_recurrent_cell(t, RG_RNN, &(rg_recurrent_weights){ .u = u }, x, h, NULL, NULL);
}

rg_tensor *rg_lstm_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *c, rg_tensor *u, rg_tensor **out_c)
{
    return rg_recurrent_cell(t, RG_LSTM, &(rg_recurrent_weights){ .u = u }, x, h, c, out_c);
}

rg_tensor *rg_gru_cell(rg_tape *t, rg_tensor *x, rg_tensor *h, rg_tensor *u, rg_tensor *u_new)
{
    return rg_recurrent_cell(t, RG_GRU, &(rg_recurrent_weights){ .u = u, .u_new = u_new }, x, h, NULL, NULL);
}

/* ---------------------------------------------------------------------------------------- ends and both directions */

rg_tensor *rg_last_rows(rg_tape *t, rg_tensor *x, bool reverse)
{
    if (!rg_tape__begin(t, "last_rows", 1, &x)) return NULL;
    const rg_layout *layout = x->layout;
    if (!layout) return rg_tape_fail(t, RG_EINVAL, "rows without a layout have no last one");
    int32_t *last = rg_tape__keep(t, (layout->groups + 1) * sizeof *last);
    if (!last) return NULL;
    for (size_t g = 0; g < layout->groups; g++) {
        const int32_t from = layout->start[g], end = layout->start[g + 1];
        last[g] = from == end ? -1 : reverse ? from : end - 1;
    }
    return rg_gather(t, x, last, layout->groups, NULL);
}

rg_tensor *rg_combined(rg_tape *t, rg_combine how, rg_tensor *forward_states, rg_tensor *backward_states)
{
    rg_tensor *both[] = { forward_states, backward_states };
    switch (how) {
    case RG_COMBINE_ADD: return rg_add(t, both[0], both[1]);
    case RG_COMBINE_MULTIPLY: return rg_mul(t, both[0], both[1]);
    default: return rg_concat_columns(t, 2, both);
    }
}

rg_tensor *rg_bidirectional(rg_tape *t, rg_recurrence kind, const rg_recurrent_weights *ahead,
                            const rg_recurrent_weights *back, rg_tensor *x, rg_combine how)
{
    rg_tensor *h = rg_recurrent(t, kind, ahead, x, NULL, NULL, false, NULL);
    return rg_combined(t, how, h, rg_recurrent(t, kind, back, x, NULL, NULL, true, NULL));
}
