/* tape.c - the tape: an arena, a list of nodes, the first failure, and where gradients go. */
#include "autograd/tape.h"
#include "autograd/deferred.h"
#include "autograd/params.h"
#include "autograd/scope.h"

#include <math.h>
#include <string.h>

enum { FIRST_CHUNK = 1 << 20, NAME_ROOM = RG_SCOPE_ROOM + 64, MESSAGE_ROOM = 512, TRACED_INPUTS = 8 };

struct rg_tape {
    rg_tape_config config;
    rg_arena      *arena;
    rg_team       *alone; /* a team of one, when none was given */
    rg_node       *last;
    size_t         nodes; /* that are recorded */
    rg_deferred      *deferred;
    rg_final      *announced; /* backward marks here what is final; NULL: nobody asks */
    uint64_t       step, draws, serial;
    bool           still; /* kept values do not move */
    rg_progress    progress;
    uint64_t       inner; /* tensors before this serial are outside the inner pass */
    unsigned       marks; /* inner passes this is inside of */
    rg_status      status;
    char           message[MESSAGE_ROOM];
    rg_scope       scope;
    const char    *op;
    rg_tape_cost   cost;
    size_t         dry_bytes; /* numbers a dry tape would have taken */

    const rg_watcher   *watcher;
    const rg_exchanger *exchanger;
    const rg_tracer    *tracer;
    const rg_tensor    *given[TRACED_INPUTS]; /* of the op that is under way, while somebody traces */
    size_t              given_count;
};

struct rg_tape_point {
    rg_arena_point arena;
    rg_node       *last;
    size_t         nodes;
    rg_deferred      *deferred;
    rg_grads      *grads;
    uint64_t       inner;
};

/* ------------------------------------------------------------------------------------------------------ life */

rg_status rg_tape_new(rg_tape **out, const rg_tape_config *config)
{
    *out = NULL;
    rg_tape *t = rg_alloc_zero(sizeof *t);
    if (!t) return RG_ENOMEM;
    t->config = *config;
    rg_status status = rg_arena_new(&t->arena, config->bytes ? config->bytes : FIRST_CHUNK);
    if (status == RG_OK && !config->team) status = rg_team_new(&t->alone, 1);
    if (status != RG_OK) {
        rg_tape_free(t);
        return status;
    }
    if (!config->team) t->config.team = t->alone;
    *out = t;
    return RG_OK;
}

void rg_tape_free(rg_tape *t)
{
    if (!t) return;
    rg_team_free(t->alone);
    rg_arena_free(t->arena);
    rg_free(t);
}

void rg_tape_reset(rg_tape *t, uint64_t step)
{
    rg_arena_reset(t->arena);
    if (t->config.grads && !t->config.gather) rg_grads_reset(t->config.grads);
    if (t->config.grads && t->config.grads->final) rg_final_forget_uses(t->config.grads->final);
    t->last = NULL;
    t->nodes = 0;
    t->deferred = NULL;
    t->announced = NULL;
    t->step = step;
    t->draws = t->serial = t->inner = 0;
    t->still = false;
    t->marks = 0;
    t->status = RG_OK;
    t->message[0] = 0;
    t->scope = (rg_scope){0};
    t->op = NULL;
    t->cost = (rg_tape_cost){0};
    t->dry_bytes = 0;
}

bool rg_tape_record(rg_tape *t, bool record)
{
    bool old = t->config.record;
    t->config.record = record;
    return old;
}

bool rg_tape_learn(rg_tape *t, bool learn)
{
    bool old = t->config.learn;
    t->config.learn = learn;
    return old;
}

bool rg_tape_learning(const rg_tape *t) { return t->config.learn; }
bool rg_tape_dry(const rg_tape *t) { return t->config.dry; }
rg_deferred **rg_tape__deferred(rg_tape *t) { return &t->deferred; }
rg_team *rg_tape_team(const rg_tape *t) { return t->config.team; }
bool rg_tape__live(const rg_tape *t) { return !t->config.dry; }
bool rg_tape__recording(const rg_tape *t) { return t->config.record; }

/* ---------------------------------------------------------------------------------------------------- errors */

rg_tensor *rg_tape_fail(rg_tape *t, rg_status status, const char *format, ...)
{
    if (t->status != RG_OK) return NULL; /* the first failure is the one that tells */
    t->status = status;
    int at = snprintf(t->message, sizeof t->message, "%s%s%s: ", t->scope.text, t->scope.text[0] ? "." : "",
                      t->op ? t->op : "tape");
    if (at < 0) at = 0;
    if ((size_t)at < sizeof t->message) {
        va_list args;
        va_start(args, format);
        vsnprintf(t->message + at, sizeof t->message - (size_t)at, format, args);
        va_end(args);
    }
    return NULL;
}

rg_status rg_tape_status(const rg_tape *t)
{
    return t->status == RG_OK ? RG_OK : rg_fail(t->status, "%s", t->message);
}

void rg_tape__check(rg_tape *t, rg_status status)
{
    if (status != RG_OK) rg_tape_fail(t, status, "%s", rg_message());
}

void rg_tape_push(rg_tape *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_scope_push(&t->scope, format, args); /* names of messages and watch points only: a long one is cut */
    va_end(args);
}

void rg_tape_pop(rg_tape *t) { rg_scope_pop(&t->scope); }

/* -------------------------------------------------------------------------------------------------- watching */

void rg_tape_set_watcher(rg_tape *t, const rg_watcher *watcher) { t->watcher = watcher; }

bool rg_tape_watched(const rg_tape *t, const char *name)
{
    if (!t->watcher || t->status != RG_OK) return false;
    char full[NAME_ROOM];
    rg_scope_join(&t->scope, name, full, sizeof full);
    return t->watcher->wants(t->watcher->context, full);
}

void rg_tape_watch(rg_tape *t, const char *name, const rg_tensor *x, const void *reach)
{
    if (!x || t->config.dry || !rg_tape_watched(t, name)) return;
    char full[NAME_ROOM];
    rg_scope_join(&t->scope, name, full, sizeof full);
    t->watcher->see(t->watcher->context, full, x, reach);
}

void rg_tape_set_exchanger(rg_tape *t, const rg_exchanger *exchanger) { t->exchanger = exchanger; }

bool rg_tape_exchanged(const rg_tape *t, const char *name)
{
    if (!t->exchanger || t->status != RG_OK || t->config.dry) return false;
    char full[NAME_ROOM];
    rg_scope_join(&t->scope, name, full, sizeof full);
    return t->exchanger->wants(t->exchanger->context, full);
}

rg_tensor *rg_tape_offer(rg_tape *t, const char *name, rg_tensor *x, const void *about)
{
    if (!x || !rg_tape_exchanged(t, name)) return x;
    char full[NAME_ROOM];
    rg_scope_join(&t->scope, name, full, sizeof full);
    return t->exchanger->exchange(t->exchanger->context, t, full, x, about);
}

void rg_tape_set_tracer(rg_tape *t, const rg_tracer *tracer) { t->tracer = tracer; }

/* The inputs are copied: an op may use others inside it. */
static void note_inputs(rg_tape *t, size_t n, rg_tensor *const *inputs)
{
    t->given_count = n < TRACED_INPUTS ? n : TRACED_INPUTS;
    for (size_t i = 0; i < t->given_count; i++) t->given[i] = inputs[i];
}

static void trace(rg_tape *t, const rg_tensor *out)
{
    const rg_traced op = { .scope = t->scope.text,
                           .op = t->op ? t->op : "",
                           .inputs = t->given,
                           .count = t->given_count,
                           .out = out,
                           .flops = t->cost.flops };
    t->tracer->op(t->tracer->context, &op);
}

/* --------------------------------------------------------------------------------------------------- memory */

void *rg_tape__keep(rg_tape *t, size_t bytes)
{
    if (t->status != RG_OK) return NULL;
    void *p = rg_arena_get(t->arena, bytes);
    if (!p) rg_tape__check(t, RG_ENOMEM);
    return p;
}

void *rg_tape_memory(rg_tape *t, size_t bytes) { return rg_tape__keep(t, bytes); }

rg_real *rg_tape__reals(rg_tape *t, size_t count)
{
    size_t bytes;
    if (!rg_size_mul(&bytes, count, sizeof(rg_real))) {
        rg_tape_fail(t, RG_ELIMIT, "%zu numbers do not fit in memory", count);
        return NULL;
    }
    return rg_tape__keep(t, bytes);
}

int32_t *rg_tape__indices(rg_tape *t, const int32_t *index, size_t count)
{
    int32_t *copy = rg_tape__keep(t, count * sizeof *copy);
    if (copy && count) memcpy(copy, index, count * sizeof *copy);
    return copy;
}

rg_layout *rg_tape_layout(rg_tape *t, size_t groups, const int32_t *start)
{
    rg_layout *layout = rg_tape__keep(t, sizeof *layout);
    int32_t   *copy = rg_tape__indices(t, start, groups + 1);
    if (!layout || !copy) return NULL;
    *layout = (rg_layout){ .groups = groups, .start = copy };
    return layout;
}

rg_arena_point rg_tape__scratch(rg_tape *t) { return rg_arena_mark(t->arena); }
void rg_tape__release(rg_tape *t, rg_arena_point point) { rg_arena_rewind(t->arena, point); }

void rg_tape__count(rg_tape *t, double flops) { t->cost.flops += flops; }

void rg_tape__will_need(rg_tape *t, size_t bytes)
{
    if (bytes > t->cost.bytes) t->cost.bytes = bytes; /* scratch is reused: the largest counts */
}

void rg_tape__will_keep(rg_tape *t, size_t bytes)
{
    if (t->config.dry) t->dry_bytes += (bytes + 63) / 64 * 64;
}

rg_tape_cost rg_tape_get_cost(const rg_tape *t)
{
    rg_tape_cost cost = t->cost;
    cost.bytes = t->config.dry ? cost.bytes + t->dry_bytes + rg_arena_peak(t->arena) : rg_arena_peak(t->arena);
    return cost;
}

/* --------------------------------------------------------------------------------------------------- tensors */

static bool begin(rg_tape *t, const char *op, size_t n, rg_tensor *const *inputs)
{
    if (t->status != RG_OK) return false;
    t->op = op;
    for (size_t i = 0; i < n; i++) {
        if (inputs[i]) continue;
        rg_tape_fail(t, RG_EINVAL, "input %zu of %zu is missing", i + 1, n);
        return false;
    }
    if (t->tracer) note_inputs(t, n, inputs);
    return true;
}

/* Weights kept in few bytes, written out. */
static bool all_there(rg_tape *t, size_t n, rg_tensor *const *inputs)
{
    for (size_t i = 0; i < n; i++)
        if (inputs[i]->param && rg_param__is_small(inputs[i]->param) && !rg_tape__there(t, inputs[i])) return false;
    return true;
}

bool rg_tape__begin(rg_tape *t, const char *op, size_t n, rg_tensor *const *inputs)
{
    return begin(t, op, n, inputs) && all_there(t, n, inputs);
}

bool rg_tape__begin_packed(rg_tape *t, const char *op, size_t n, rg_tensor *const *inputs)
{
    return begin(t, op, n, inputs) && (!t->config.record || all_there(t, n, inputs)); /* the backward pass reads numbers */
}

static rg_tensor *new_tensor(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    rg_tensor *x = rg_tape__keep(t, sizeof *x);
    if (!x) return NULL;
    *x = (rg_tensor){ .rows = rows, .cols = cols, .ld = cols, .layout = layout, .serial = ++t->serial };
    return x;
}

rg_tensor *rg_tape__tensor(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    size_t count, bytes;
    if (!rg_size_mul(&count, rows, cols) || !rg_size_mul(&bytes, count, sizeof(rg_real)))
        return rg_tape_fail(t, RG_ELIMIT, "%zu x %zu numbers do not fit in memory", rows, cols);
    rg_tensor *x = new_tensor(t, rows, cols, layout);
    if (!x) return NULL;
    t->cost.ops++;
    if (t->tracer) trace(t, x);
    if (t->config.dry) {
        t->dry_bytes += (bytes + 63) / 64 * 64;
        return x;
    }
    x->data = rg_tape__keep(t, bytes);
    return x->data ? x : NULL;
}

static bool write_out(rg_tape *t, rg_tensor *x)
{
    rg_real *numbers = rg_tape__keep(t, x->rows * x->cols * sizeof *numbers);
    for (size_t i = 0; numbers && i < x->rows; i++) rg_param__row(x->param, i, numbers + i * x->cols);
    x->data = numbers;
    return numbers != NULL;
}

bool rg_tape__there(rg_tape *t, rg_tensor *x)
{
    if (x->data || t->config.dry || !x->param) return true;
    if (rg_param__is_small(x->param)) return write_out(t, x);
    rg_tape_fail(t, RG_EINVAL,
                 "the numbers of %s are asked for, but its parameters were made slim: only their packs are there",
                 rg_param_name(x->param));
    return false;
}

rg_tensor *rg_tape__view(rg_tape *t, rg_tensor *x, size_t row, size_t col, size_t rows, size_t cols)
{
    if (!rg_tape__there(t, x)) return NULL;
    rg_tensor *v = new_tensor(t, rows, cols, NULL);
    if (!v) return NULL;
    v->ld = x->ld;
    v->whole = x;
    v->offset = row * x->ld + col;
    v->data = x->data ? x->data + v->offset : NULL;
    v->needs = x->needs;
    v->depth = x->depth;
    return v;
}

rg_tensor *rg_constant(rg_tape *t, const rg_real *data, size_t rows, size_t cols, const rg_layout *layout)
{
    if (!rg_tape__begin(t, "constant", 0, NULL)) return NULL;
    rg_tensor *x = rg_tape__tensor(t, rows, cols, layout);
    if (x && x->data && rows && cols) memcpy(x->data, data, rows * cols * sizeof(rg_real));
    return x;
}

rg_tensor *rg_input(rg_tape *t, const rg_real *data, size_t rows, size_t cols, const rg_layout *layout)
{
    rg_tensor *x = rg_constant(t, data, rows, cols, layout);
    if (x) x->needs = t->config.record;
    return x;
}

rg_tensor *rg_borrow(rg_tape *t, const rg_real *data, size_t rows, size_t cols, size_t ld)
{
    if (!rg_tape__begin(t, "borrow", 0, NULL)) return NULL;
    rg_tensor *x = new_tensor(t, rows, cols, NULL);
    if (!x) return NULL;
    x->data = (rg_real *)data; /* nothing writes to a tensor that needs no gradient */
    x->ld = ld;
    return x;
}

rg_tensor *rg_zeros(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    if (!rg_tape__begin(t, "zeros", 0, NULL)) return NULL;
    rg_tensor *x = rg_tape__tensor(t, rows, cols, layout);
    if (x && x->data && rows && cols) memset(x->data, 0, rows * cols * sizeof(rg_real));
    return x;
}

const rg_param *rg_tensor_param(const rg_tensor *x)
{
    while (x && x->whole) x = x->whole;
    return x ? x->param : NULL;
}

uint64_t rg_tensor_serial(const rg_tensor *x)
{
    while (x && x->whole) x = x->whole;
    return x ? x->serial : 0;
}

rg_tensor *rg_use(rg_tape *t, const rg_param *param)
{
    if (!rg_tape__begin(t, "use", 0, NULL)) return NULL;
    if (!param) return rg_tape_fail(t, RG_EINVAL, "the parameter is missing");
    rg_tensor *x = new_tensor(t, param->rows, param->cols, NULL);
    if (!x) return NULL;
    x->data = t->config.dry ? NULL : param->data;
    x->param = param;
    bool learns = !param->frozen && param->kind != RG_KEPT && (t->config.grads || t->config.dry);
    x->needs = learns && t->config.record;
    if (x->needs && t->config.grads && t->config.grads->final)
        rg_final_note_use(t->config.grads->final, param->index, t->nodes);
    return x;
}

rg_tensor *rg_detach(rg_tape *t, rg_tensor *x)
{
    if (!rg_tape__begin(t, "detach", 1, &x)) return NULL;
    rg_tensor *y = rg_tape__view(t, x, 0, 0, x->rows, x->cols);
    if (!y) return NULL;
    y->layout = x->layout;
    y->needs = false;
    return y;
}

rg_tensor *rg_with_layout(rg_tape *t, rg_tensor *x, const rg_layout *layout)
{
    if (!rg_tape__begin(t, "with_layout", 1, &x)) return NULL;
    if (layout && (size_t)layout->start[layout->groups] != x->rows)
        return rg_tape_fail(t, RG_ESHAPE, "the layout has %d rows, the tensor %zu", layout->start[layout->groups],
                            x->rows);
    if (layout && layout->height && layout->height * layout->width * layout->groups != x->rows)
        return rg_tape_fail(t, RG_ESHAPE, "%zu pictures of %zu x %zu are not %zu rows", layout->groups, layout->height,
                            layout->width, x->rows);
    rg_tensor *y = rg_tape__view(t, x, 0, 0, x->rows, x->cols);
    if (y) y->layout = layout;
    return y;
}

/* ----------------------------------------------------------------------------------------------------- nodes */

bool rg_tape__wants(const rg_tape *t, const rg_tensor *x)
{
    if (!x || !x->needs || x->serial <= t->inner) return false;
    return !x->param || t->config.grads != NULL || t->config.dry;
}

void *rg_tape__node(rg_tape *t, size_t bytes, rg_tensor *out, rg_backward *backward, size_t n, rg_tensor *const *inputs)
{
    bool wanted = false;
    for (size_t i = 0; i < n; i++) {
        if (!inputs[i]) continue;
        wanted = wanted || rg_tape__wants(t, inputs[i]);
        if (inputs[i]->depth + 1 > out->depth) out->depth = inputs[i]->depth + 1;
    }
    if (out->depth > t->cost.depth) t->cost.depth = out->depth;
    if (!wanted || !t->config.record) return NULL;
    rg_node *node = rg_arena_get_zero(t->arena, bytes);
    if (!node) {
        rg_tape__check(t, RG_ENOMEM);
        return NULL;
    }
    node->out = out;
    node->backward = backward;
    node->previous = t->last;
    t->last = node;
    t->nodes++;
    out->needs = true;
    if (t->config.dry) t->dry_bytes += (out->rows * out->cols * sizeof(rg_real) + 63) / 64 * 64; /* its gradient */
    return node;
}

void rg_tape__deepen(rg_tape *t, rg_tensor *out, size_t steps)
{
    if (steps > 1) out->depth += steps - 1;
    if (out->depth > t->cost.depth) t->cost.depth = out->depth;
}

uint64_t rg_tape_draws(const rg_tape *t) { return t->draws; }
void rg_tape_redraw(rg_tape *t, uint64_t draws) { t->draws = draws; }

bool rg_tape_update_statistics(rg_tape *t, bool update)
{
    const bool before = !t->still;
    t->still = !update;
    return before;
}

rg_progress rg_tape_progress(const rg_tape *t) { return t->progress; }
void rg_tape_set_progress(rg_tape *t, rg_progress progress) { t->progress = progress; }

uint64_t rg_tape__draw(rg_tape *t, uint32_t key[2])
{
    const uint64_t op = t->draws++;
    const uint32_t counter[4] = { (uint32_t)op, (uint32_t)(op >> 32), (uint32_t)t->step, (uint32_t)(t->step >> 32) };
    const uint32_t seed[2] = { (uint32_t)t->config.seed, (uint32_t)(t->config.seed >> 32) };
    uint32_t       mixed[4];
    rg_philox(mixed, counter, seed);
    key[0] = mixed[0];
    key[1] = mixed[1];
    return t->step;
}

/* ------------------------------------------------------------------------------------------------- gradients */

/* A whole whose pieces were written one by one becomes one gradient: the parts nobody wrote are zero. */
static void join_pieces(rg_tensor *x)
{
    if (x->written || !x->grad || !x->pieces) return;
    for (rg_tensor *p = x->pieces; p; p = p->sibling)
        if (!p->written) rg_rows__zero(p->rows, p->cols, x->grad + p->offset, x->ld);
    x->written = true;
}

static bool make_grad(rg_tape *t, rg_tensor *x)
{
    if (!x->grad) x->grad = rg_tape__reals(t, x->rows ? (x->rows - 1) * x->ld + x->cols : 0);
    return x->grad != NULL;
}

static rg_real *param_grad(rg_tape *t, rg_tensor *x, bool *add)
{
    rg_grads *grads = t->config.grads;
    *add = grads->written[x->param->index];
    grads->written[x->param->index] = true;
    return grads->block + x->param->offset;
}

rg_real *rg_tape__moves(rg_tape *t, rg_param *kept)
{
    if (t->config.dry || !t->config.learn || t->marks || t->still) return NULL;
    return t->config.grads ? rg_grads__moves(t->config.grads, kept) : kept->data;
}

static rg_real *piece_grad(rg_tape *t, rg_tensor *x, bool *add)
{
    rg_tensor *whole = x->whole;
    if (!make_grad(t, whole)) return NULL;
    *add = whole->written || x->written;
    x->written = true;
    return whole->grad + x->offset;
}

rg_real *rg_tape__grad(rg_tape *t, rg_tensor *x, bool *add)
{
    if (t->status != RG_OK || !rg_tape__wants(t, x)) return NULL;
    if (x->param) return param_grad(t, x, add);
    if (x->piece) return piece_grad(t, x, add);
    if (x->whole) {
        bool all = x->rows == x->whole->rows && x->cols == x->whole->cols;
        if (all) return rg_tape__grad(t, x->whole, add);
        rg_real *g = rg_tape__grad_add(t, x->whole);
        *add = true;
        return g ? g + x->offset : NULL;
    }
    if (!make_grad(t, x)) return NULL;
    bool some = false;
    for (rg_tensor *p = x->pieces; p && !some; p = p->sibling) some = p->written;
    if (some) join_pieces(x);
    *add = x->written;
    x->written = true;
    return x->grad;
}

rg_real *rg_tape__grad_add(rg_tape *t, rg_tensor *x)
{
    bool     add;
    rg_real *g = rg_tape__grad(t, x, &add);
    if (g && !add) rg_rows__zero(x->rows, x->cols, g, x->ld);
    return g;
}

const rg_real *rg_tape__arrived(rg_tape *t, rg_tensor *x)
{
    (void)t;
    if (x->whole) {
        const rg_real *g = rg_tape__arrived(t, x->whole);
        return g ? g + x->offset : NULL;
    }
    bool some = x->written;
    for (rg_tensor *p = x->pieces; p && !some; p = p->sibling) some = p->written;
    if (!some) return NULL;
    join_pieces(x);
    return x->grad;
}

const rg_real *rg_tape_gradient(const rg_tape *t, const rg_tensor *x)
{
    if (!x) return NULL;
    if (x->param) return t->config.grads ? rg_grads_of(t->config.grads, x->param) : NULL;
    return rg_tape__arrived((rg_tape *)t, (rg_tensor *)x); /* joining pieces writes zeros nobody has seen yet */
}

void rg_tape__announce(rg_tape *t)
{
    if (t->marks || !t->config.grads || !t->config.grads->final) return;
    t->announced = t->config.grads->final;
    rg_final_mark_unused(t->announced);
}

/* What only nodes that are behind us could add to. */
static void announce(rg_tape *t, size_t nodes_left)
{
    for (size_t entry; rg_final_next(&entry, t->announced, nodes_left);) {
        rg_deferred_flush(t, t->config.grads->params->entry[entry]);
        if (t->status == RG_OK) rg_final_mark(t->announced, entry);
    }
}

static rg_status walk_back(rg_tape *t)
{
    size_t left = t->nodes;
    for (rg_node *n = t->last; n && n->out->serial > t->inner && t->status == RG_OK; n = n->previous) {
        if (rg_tape__arrived(t, n->out)) n->backward(t, n);
        left--;
        if (t->announced) announce(t, left);
    }
    if (t->status == RG_OK) rg_deferred_flush(t, NULL);
    return rg_tape_status(t);
}

rg_status rg_tape_backward(rg_tape *t, rg_tensor *loss)
{
    RG_TRY(rg_tape_status(t));
    t->op = "backward";
    if (!loss) return rg_fail(RG_EINVAL, "backward: there is no loss");
    if (loss->rows != 1 || loss->cols != 1)
        return rg_fail(RG_ESHAPE, "backward: a loss is 1 x 1, this tensor is %zu x %zu", loss->rows, loss->cols);
    if (t->config.dry) return RG_OK;
    if (!isfinite((double)loss->data[0])) return rg_fail(RG_ENUMBER, "the loss is %g", (double)loss->data[0]);
    const rg_real one = 1;
    return rg_tape_backward_from(t, loss, &one);
}

rg_status rg_tape_backward_from(rg_tape *t, rg_tensor *x, const rg_real *dx)
{
    RG_TRY(rg_tape_status(t));
    t->op = "backward";
    if (t->config.dry) return RG_OK;
    bool     add;
    rg_real *g = rg_tape__grad(t, x, &add);
    if (!g) {
        RG_TRY(rg_tape_status(t));
        return rg_fail(RG_EINVAL, "backward: nothing that learns led to this tensor (is recording on?)");
    }
    rg_rows__axpy(x->rows, x->cols, g, x->ld, 1, dx, x->cols, add);
    return walk_back(t);
}

rg_tape_point *rg_tape_mark(rg_tape *t)
{
    rg_tape_point *point = rg_tape__keep(t, sizeof *point);
    if (!point) return NULL;
    *point = (rg_tape_point){ .arena = rg_arena_mark(t->arena),
                              .last = t->last,
                              .nodes = t->nodes,
                              .deferred = t->deferred,
                              .grads = t->config.grads,
                              .inner = t->inner };
    t->config.grads = NULL;
    t->inner = t->serial;
    t->marks++;
    return point;
}

void rg_tape_rewind(rg_tape *t, rg_tape_point *point)
{
    if (!point) return;
    t->last = point->last;
    t->nodes = point->nodes;
    t->deferred = point->deferred;
    t->config.grads = point->grads;
    t->inner = point->inner;
    t->marks--;
    rg_arena_rewind(t->arena, point->arena);
}

void rg_tape__rows(rg_tape *t, size_t rows, size_t cost, rg_team_work *work, void *context)
{
    enum { WORTH = 1 << 14 }; /* numbers below which waking a thread costs more than it brings */
    size_t grain = cost ? (WORTH + cost - 1) / cost : rows;
    rg_team_for(t->config.team, rows, grain ? grain : 1, work, context);
}
