/* Neural Turing machine (Graves, Wayne, Danihelka 2014): a network with a memory that it reads and writes by attention.
 *
 *     controller   h = f(x_t, r_t-1)                                    an LSTM, or a layer of tanh
 *     content      c = softmax over rows (beta cos(k, M))               beta = softplus
 *     gate         w = g c + (1 - g) w_t-1                              g logistic
 *     shift        w(x) = sum_j s(j) w(x - j)                           s = softmax over -1, 0, +1
 *     sharpen      w(x) = w(x)^gamma / sum                              gamma = 1 + softplus; = softmax(gamma log w)
 *     read         r = sum_x w(x) M(x)
 *     write        M(x) = M(x) (1 - w(x) e) + w(x) a                    e logistic, a tanh; all erases before all adds
 *     answer       W [h; r]
 *
 * All heads address M_t-1; reading comes before writing; each head keeps its own weights. Memory starts as 0.1
 * everywhere (near 0 the cosine makes a cliff of every write); first weights stand on row 0 and are learned, as
 * first reads are. Heads are columns: content is one weigh over the rows of each sequence's memory, reading one mix.
 * This chain of ordinary ops runs when somebody watches the heads; otherwise what they do in a step is one op
 * (memory_fused.h). */
#include "attention/pairs.h"
#include "attention/memory_fused.h"
#include "attention/memory.h"
#include "regard/layers.h"
#include "regard/model.h"
#include "regard/puzzles.h"

#include <string.h>

#define START 0.1
enum { SHIFTS = RG_NTM_SHIFTS, FOCUS = 10 }; /* FOCUS: how much likelier than another row 0 is to begin with, as a logarithm */

typedef struct {
    char   *controller;
    int64_t units, rows, width, readers, writers;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "controller", offsetof(settings, controller), "lstm", "what drives the heads", 0,
      "lstm|feed-forward" },
    { RG_OPTION_INT, "units", offsetof(settings, units), "100", "units of the controller", 0, "[1,1000000]" },
    { RG_OPTION_INT, "memory-rows", offsetof(settings, rows), "128", "rows of memory", 0, "[1,1000000]" },
    { RG_OPTION_INT, "memory-width", offsetof(settings, width), "20", "numbers in a row", 0, "[1,1000000]" },
    { RG_OPTION_INT, "read-heads", offsetof(settings, readers), "1", "heads that read", 0, "[1,63]" },
    { RG_OPTION_INT, "write-heads", offsetof(settings, writers), "1", "heads that write", 0, "[1,63]" },
    RG_OPTION_END
};

typedef struct {
    rg_recurrent_params lstm;
    rg_dense            layer, heads, output;
    rg_param           *first_weights, *first_reads;
    rg_attention        content;
} parts;

/* ------------------------------------------------------------------------------------------------------------ build */

static rg_ntm_sizes sizes_of(const settings *s)
{
    return (rg_ntm_sizes){ .rows = (size_t)s->rows, .width = (size_t)s->width,
                           .readers = (size_t)s->readers, .writers = (size_t)s->writers };
}

static rg_ntm_columns columns_of(const settings *s)
{
    const rg_ntm_sizes sizes = sizes_of(s);
    return rg_ntm_columns_of(&sizes);
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    rg_params      *p = m->params;
    if (s->rows < SHIFTS || s->readers + s->writers > 64)
        return rg_fail(RG_EINVAL,
                       "a memory of %lld rows, %lld heads that read and %lld that write: rows from %d, heads to 64",
                       (long long)s->rows, (long long)s->readers, (long long)s->writers, SHIFTS);
    const rg_ntm_columns c = columns_of(s);
    const size_t         reads = (size_t)(s->readers * s->width), in = rg_model_size(m, "features") + reads,
                 units = (size_t)s->units;
    rg_params_push(p, "controller");
    rg_recurrent_config recurrent = RG_RECURRENT_CONFIG_DEFAULT;
    recurrent.in = in;
    recurrent.width = units;
    if (s->controller[0] == 'l') rg_recurrent_params_init(&q->lstm, p, &recurrent, in);
    else rg_dense_init(&q->layer, p, "layer", in, units, RG_TANH);
    rg_params_pop(p);
    rg_dense_init(&q->heads, p, "heads", units, c.all, RG_IDENTITY);
    rg_dense_init(&q->output, p, "output", units + reads, rg_model_size(m, "classes"), RG_IDENTITY);
    q->first_weights = rg_params_add(p, "first_weights", RG_TABLE, (size_t)s->rows, c.H, RG_INIT_ZERO, 0);
    q->first_reads = rg_params_add(p, "first_reads", RG_TABLE, 1, reads, RG_INIT_NORMAL, 0.1);
    rg_attention_config content = RG_ATTENTION_CONFIG_DEFAULT;
    content.score = "cosine";
    content.heads = c.H;
    content.q_width = c.H * (size_t)s->width;
    content.k_width = (size_t)s->width;
    return rg_attention_init(&q->content, &content, p);
}

/* ------------------------------------------------------------------------------------------------------- addressing */

/* softmax of each head's shifts */
static rg_tensor *shifts(rg_tape *t, const rg_ntm_columns *c, rg_tensor *told)
{
    rg_tensor *part[64];
    for (size_t h = 0; h < c->H; h++) part[h] = rg_softmax(t, rg_columns(t, told, c->shift + h * SHIFTS, SHIFTS));
    return rg_concat_columns(t, c->H, part);
}

/* (P, H) weights of all heads over the rows of memory, from those of the last step. */
static rg_tensor *address(rg_tape *t, const parts *q, const rg_ntm_columns *c, rg_tensor *told, rg_tensor *memory,
                          rg_tensor *before, const rg_reach *reach)
{
    const size_t H = c->H;
    rg_tensor   *k = rg_tanh(t, rg_columns(t, told, c->key, c->beta - c->key));
    rg_tensor   *positive = rg_map(t, rg_columns(t, told, c->beta, 2 * H), RG_SOFTPLUS); /* beta, gamma - 1 */
    rg_tensor   *beta = rg_pairs_queries(t, rg_columns(t, positive, 0, H), reach);      /* the same for every row of a memory */
    rg_tensor   *gamma = rg_pairs_queries(t, rg_shift(t, rg_columns(t, positive, H, H), 1), reach);
    rg_tensor   *g = rg_pairs_queries(t, rg_sigmoid(t, rg_columns(t, told, c->gate, H)), reach);

    rg_tensor *e = rg_mul(t, rg_scores(t, &q->content, k, rg_attention_prepare(t, &q->content, memory), reach), beta);
    rg_tensor *content = rg_softmax_over(t, e, reach);
    rg_tensor *gated = rg_add(t, before, rg_mul(t, rg_sub(t, content, before), g));
    rg_tensor *moved = rg_roll(t, gated, shifts(t, c, told), reach);
    rg_tensor *logs = rg_map(t, rg_shift(t, moved, RG_NTM_TINY), RG_LOG);
    return rg_softmax_over(t, rg_mul(t, logs, gamma), reach);
}

static rg_tensor *change_memory(rg_tape *t, const settings *s, const rg_ntm_columns *c, rg_tensor *told,
                                rg_tensor *memory, rg_tensor *w, const rg_reach *reach)
{
    const size_t W = (size_t)s->width, R = (size_t)s->readers, N = (size_t)s->writers;
    rg_tensor   *e = rg_sigmoid(t, rg_columns(t, told, c->erase, N * W)),
              *a = rg_tanh(t, rg_columns(t, told, c->add, N * W));
    rg_tape_watch(t, "adds", a, NULL);
    for (size_t h = 0; h < N; h++)
        memory = rg_erase(t, memory, rg_columns(t, w, R + h, 1), rg_columns(t, e, h * W, W), reach);
    for (size_t h = 0; h < N; h++)
        memory = rg_write(t, memory, rg_columns(t, w, R + h, 1), rg_columns(t, a, h * W, W), reach);
    return memory;
}

/* -------------------------------------------------------------------------------------------------------------- run */

typedef struct {
    rg_tensor      *reads, *h, *c;
    rg_tensor      *whole;       /* memory and weights of all machines when nobody watches; else */
    rg_tensor      *memory, *w;  /* rows of memory, and weights over the pairs of                */
    const rg_reach *reach;       /* machine b sees its own rows                                  */
} machine;

static int32_t *numbers(rg_tape *t, size_t n, size_t first, size_t step, size_t modulus)
{
    int32_t *index = rg_tape_memory(t, n * sizeof *index);
    for (size_t i = 0; index && i < n; i++) index[i] = (int32_t)((first + i * step) % modulus);
    return index;
}

static rg_layout *even_layout(rg_tape *t, size_t groups, size_t rows)
{
    int32_t *start = rg_tape_memory(t, (groups + 1) * sizeof *start);
    for (size_t g = 0; start && g <= groups; g++) start[g] = (int32_t)(g * rows);
    return start ? rg_tape_layout(t, groups, start) : NULL;
}

/* Logarithms of first weights that stand on row 0 of each memory; what is learned is added. */
static rg_tensor *focus(rg_tape *t, size_t B, size_t N, size_t H)
{
    rg_real *e = rg_tape_memory(t, B * N * H * sizeof *e);
    for (size_t i = 0; e && i < B * N * H; i++) e[i] = i / H % N == 0 ? (rg_real)FOCUS : 0;
    return e ? rg_borrow(t, e, B * N, H, H) : NULL;
}

/* Rows of memory, and weights over them. */
static bool begin_watched(machine *x, rg_tape *t, const rg_model *m, size_t B)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const size_t    N = (size_t)s->rows, W = (size_t)s->width;
    rg_layout      *one = even_layout(t, B, 1), *rows = even_layout(t, B, N);
    if (one && rows) x->reach = rg_reach_groups(t, one, rows);
    int32_t *of_memory = numbers(t, B * N, 0, 1, N), *zeros = numbers(t, B, 0, 0, 1);
    if (!x->reach || !of_memory || !zeros) return false;
    x->memory = rg_shift(t, rg_zeros(t, B * N, W, NULL), START);
    rg_tensor *first = rg_gather(t, rg_use(t, q->first_weights), of_memory, B * N, NULL);
    x->w = rg_softmax_over(t, rg_add(t, first, focus(t, B, N, columns_of(s).H)), x->reach);
    x->reads = rg_gather(t, rg_use(t, q->first_reads), zeros, B, NULL);
    return true;
}

static bool begin(machine *x, rg_tape *t, const rg_model *m, size_t B)
{
    const settings    *s = m->options;
    const parts       *q = m->parts;
    const rg_ntm_sizes sizes = sizes_of(s);
    *x = (machine){ .reach = NULL };
    x->h = x->c = rg_zeros(t, B, (size_t)s->units, NULL);
    if (rg_tape_watched(t, "heads")) return begin_watched(x, t, m, B);
    x->whole = rg_ntm_start(t, &sizes, B, rg_use(t, q->first_weights), rg_use(t, q->first_reads), START, FOCUS);
    x->reads = rg_ntm_reads(t, &sizes, x->whole);
    return x->reads != NULL;
}

/* All that the heads do in a step, as ordinary ops: address, read, then write. */
static void move_heads(machine *x, rg_tape *t, const rg_model *m, rg_tensor *told)
{
    const settings      *s = m->options;
    const rg_ntm_columns c = columns_of(s);
    x->w = address(t, m->parts, &c, told, x->memory, x->w, x->reach);
    rg_tape_watch(t, "heads", x->w, x->reach);
    x->reads = rg_mix_shared(t, rg_columns(t, x->w, 0, (size_t)s->readers), x->memory, x->reach);
    rg_tape_watch(t, "reads", x->reads, NULL);
    x->memory = change_memory(t, s, &c, told, x->memory, x->w, x->reach);
}

/* [h; r] after one step. */
static rg_tensor *step(machine *x, rg_tape *t, const rg_model *m, const rg_recurrent_weights *lstm, rg_tensor *input)
{
    const parts       *q = m->parts;
    const rg_ntm_sizes sizes = sizes_of(m->options);
    rg_tensor         *in[] = { input, x->reads };
    rg_tensor         *given = rg_concat_columns(t, 2, in);
    if (lstm) x->h = rg_recurrent_cell(t, RG_LSTM, lstm, given, x->h, x->c, &x->c);
    else x->h = rg_dense_run(t, &q->layer, given);
    rg_tensor *told = rg_dense_run(t, &q->heads, x->h);
    if (x->whole) {
        x->whole = rg_ntm_step(t, &sizes, told, x->whole);
        x->reads = rg_ntm_reads(t, &sizes, x->whole);
    } else {
        move_heads(x, t, m, told);
    }
    rg_tensor *out[] = { x->h, x->reads };
    return rg_concat_columns(t, 2, out);
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const settings        *s = m->options;
    const parts           *q = m->parts;
    const rg_puzzle_batch *b = data;
    const size_t           B = b->sequences, T = b->steps, A = b->answers, asked = T - A;
    rg_recurrent_weights   weights = { 0 };
    machine                x;
    if (s->controller[0] == 'l') weights = rg_recurrent_params_use(t, &q->lstm);
    rg_tensor *input = rg_tape_offer(t, "inputs", rg_borrow(t, b->input, B * T, b->in, b->in), NULL);
    if (!begin(&x, t, m, B)) return NULL;
    rg_tensor *rows = rg_rows_new(t, B * A, (size_t)(s->units + s->readers * s->width), NULL);
    for (size_t i = 0; i < T && rows; i++) {
        int32_t *from = numbers(t, B, i, T, B * T), *to = i >= asked ? numbers(t, B, i - asked, A, B * A) : NULL;
        if (!from || (i >= asked && !to)) return NULL;
        rg_tensor *y = step(&x, t, m, weights.w ? &weights : NULL, rg_gather(t, input, from, B, NULL));
        if (!y) return NULL;
        if (to) rg_rows_put(t, rows, to, y);
    }
    return rg_dense_run(t, &q->output, rows);
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_puzzle_batch *b = data;
    return (rg_loss){ rg_binary_cross_entropy(t, predict(t, m, data), b->target), (double)b->sequences };
}

static const rg_attention_use uses[] = {
    { "every head, every step", "key from the controller", "rows of memory", "rows of memory",
      "cosine times beta; then gate, shift, sharpen", "its own memory", .watch = "heads", .rows = "steps",
      .cols = "slots" },
    { 0 },
};

const rg_system rg_system_ntm = {
    .name = "ntm",
    .summary = "neural Turing machine: a controller with a memory it addresses by content and place",
    .paper = "Graves, Wayne, Danihelka 2014, Neural Turing Machines",
    .task = &rg_task_memory,
    .batches = "puzzles",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
