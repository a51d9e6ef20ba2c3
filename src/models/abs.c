/* ABS (Rush, Chopra, Weston 2015): a feed-forward language model of the last C words, with an attention over the
 * source.
 *
 *     h = tanh(U [E y_{i-C+1}; ...; E y_i])
 *     p = softmax(X~ P [G y_{i-C+1}; ...; G y_i])          X~: rows F x_j of the source
 *     enc = sum_j p_j xbar_j ,   xbar_j = sum_{q=j-Q}^{j+Q} x~_q / Q
 *     p(y_{i+1} | x, y) = softmax(V h + W enc)
 *
 * Source words (F) and the words of the context that asks (G) have tables of their own beside the language model's
 * (E). The context is filled up with start symbols. As printed, xbar divides 2Q + 1 terms by Q; W takes up the
 * constant. There is no recurrence: all words of a title learn at once, and a hypothesis carries only its last C
 * words. */
#include "decode/step_state.h"
#include "models/answer_parts.h"
#include "regard/layers.h"

typedef struct {
    int64_t d, hidden, context, around;
    double  dropout, smoothing;
    char   *vocabulary;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "200", "width of embeddings (D)", 0, "[1,1000000]" },
    { RG_OPTION_INT, "dim-hidden", offsetof(settings, hidden), "400", "width of the language model's hidden layer (H)",
      0, "[1,1000000]" },
    { RG_OPTION_INT, "context", offsetof(settings, context), "5", "words before that are looked at (C)", 0, "[1,32]" },
    { RG_OPTION_INT, "smooth", offsetof(settings, around), "2",
      "source words to either side that a place is summed with (Q)", 0, "[0,32]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.2",
      "share of embeddings and of what is answered from dropped", 0, "[0,1)" },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0", "probability spread over all words", 0,
      "[0,1)" },
    RG_ANSWER_VOCABULARY_ROW(settings, vocabulary),
    RG_OPTION_END
};

typedef struct {
    rg_param    *words, *source, *asking; /* E, F, G */
    rg_dense     hidden;                  /* U       */
    rg_param    *query;                   /* P       */
    rg_param    *output, *output_bias;    /* [V W]   */
    rg_attention att;
} parts;

static rg_status build(rg_model *m)
{
    const settings     *s = m->options;
    parts              *p = m->parts;
    const size_t        D = (size_t)s->d, H = (size_t)s->hidden, C = (size_t)s->context,
                 V = rg_model_size(m, "target-vocabulary");
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    RG_TRY(rg_answer_vocabulary_check(s->vocabulary));
    p->words = rg_params_add(m->params, "words", RG_TABLE, V, D, RG_INIT_NORMAL, 0.3);
    p->source =
        rg_params_add(m->params, "source", RG_TABLE, rg_model_size(m, "source-vocabulary"), D, RG_INIT_NORMAL, 0.3);
    p->asking = rg_params_add(m->params, "asking", RG_TABLE, V, D, RG_INIT_NORMAL, 0.3);
    rg_dense_init(&p->hidden, m->params, "hidden", C * D, H, RG_TANH);
    p->query = rg_params_add(m->params, "query", RG_WEIGHT, C * D, D, RG_INIT_GLOROT, 1);
    p->output = rg_params_add(m->params, "output", RG_TIED, V, H + D, RG_INIT_GLOROT, 1);
    p->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, V, RG_INIT_ZERO, 0);
    c.score = "dot";
    c.q_width = c.k_width = D;
    return rg_attention_init(&p->att, &c, m->params);
}

/* ------------------------------------------------------------------------------------------------------- the source */

typedef struct {
    rg_tensor *keys, *values; /* x~, xbar */
} memory_of_source;

/* Row j of the source moved by `by` rows within its sentence; -1 outside of it. */
static const int32_t *moved(rg_tape *t, const rg_layout *layout, int32_t by)
{
    int32_t *row = rg_tape_memory(t, ((size_t)layout->start[layout->groups] + 1) * sizeof *row);
    for (size_t g = 0; row && g < layout->groups; g++)
        for (int32_t j = layout->start[g]; j < layout->start[g + 1]; j++)
            row[j] = j + by >= layout->start[g] && j + by < layout->start[g + 1] ? j + by : -1;
    return row;
}

static memory_of_source encode(rg_tape *t, const parts *p, const settings *s, const int32_t *ids,
                               const rg_layout *layout)
{
    const size_t  n = (size_t)layout->start[layout->groups];
    const int32_t Q = (int32_t)s->around;
    rg_tensor    *words = rg_tape_offer(t, "inputs", rg_gather(t, rg_use(t, p->source), ids, n, layout), NULL);
    rg_tensor    *x = rg_dropout(t, words, s->dropout), *sum = x;
    for (int32_t q = -Q; q <= Q && x; q++) {
        const int32_t *row = q ? moved(t, layout, q) : NULL;
        if (row) sum = rg_add(t, sum, rg_gather(t, x, row, n, layout));
    }
    return (memory_of_source){ rg_attention_prepare(t, &p->att, x), Q ? rg_scale(t, sum, 1.0 / (double)Q) : sum };
}

/* -------------------------------------------------------------------------------------------------------- the words */

/* What is answered from, (n, H + D); context: C ids for each row. */
static rg_tensor *look_back(rg_tape *t, const parts *p, const settings *s, const int32_t *context, size_t n,
                            const memory_of_source *source, const rg_reach *reach)
{
    const size_t C = (size_t)s->context;
    rg_tensor   *words = rg_join_rows(t, rg_gather(t, rg_use(t, p->words), context, n * C, NULL), C);
    rg_tensor   *asking = rg_join_rows(t, rg_gather(t, rg_use(t, p->asking), context, n * C, NULL), C);
    rg_tape_push(t, "attention");
    rg_tensor *seen =
        rg_attend(t, &p->att, rg_matmul(t, asking, rg_use(t, p->query)), source->keys, source->values, reach);
    rg_tape_pop(t);
    rg_tensor *both[] = { rg_dense_run(t, &p->hidden, rg_dropout(t, words, s->dropout)), seen };
    return both[0] && both[1] ? rg_dropout(t, rg_concat_columns(t, 2, both), s->dropout) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings        *s = m->options;
    const parts           *p = m->parts;
    const rg_batch        *batch = data;
    const rg_field        *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    const size_t           C = (size_t)s->context, N = rg_field_rows(to);
    const int32_t          bos = (int32_t)rg_model_size(m, "bos");
    const memory_of_source source = encode(t, p, s, from->ids, &from->layout);
    int32_t               *context = rg_tape_memory(t, (N * C + 1) * sizeof *context);
    for (size_t g = 0; context && g < to->layout.groups; g++)
        for (int32_t i = to->layout.start[g]; i < to->layout.start[g + 1]; i++)
            for (size_t k = 0; k < C; k++) { /* the oldest first */
                const int32_t at = i - (int32_t)(C - 1 - k);
                context[(size_t)i * C + k] = at >= to->layout.start[g] ? to->previous[at] : bos;
            }
    if (!context) return (rg_loss){ NULL, 0 };
    rg_tensor *y = look_back(t, p, s, context, N, &source, rg_reach_groups(t, &to->layout, &from->layout));
    return rg_answer_loss_over(t, m, y, rg_use(t, p->output), rg_use(t, p->output_bias), batch, s->smoothing,
                               s->vocabulary);
}

/* -------------------------------------------------------------------------------------------------------- decoding */

typedef struct {
    rg_step_state    carried; /* block 0: the last C - 1 tokens of each hypothesis, as numbers */
    memory_of_source source;
} memory;

static rg_status start(rg_decoding *d)
{
    const settings *s = d->model->options;
    const parts    *p = d->model->parts;
    memory         *mem = d->state;
    const size_t    C = (size_t)s->context;
    rg_real        *last = rg_tape_memory(d->memory, (d->n * C + 1) * sizeof *last);
    mem->source = encode(d->memory, p, s, d->source.ids, &d->sources);
    rg_attention_pack(d->memory, &p->att, mem->source.keys, mem->source.values, &d->sources);
    RG_TRY(rg_tape_status(d->memory));
    for (size_t i = 0; i < d->n * C; i++) last[i] = (rg_real)rg_model_size(d->model, "bos");
    return rg_step_state_put(&mem->carried, 0, rg_borrow(d->memory, last, d->n, C, C));
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const settings  *s = d->model->options;
    const parts     *p = d->model->parts;
    memory          *mem = d->state;
    const size_t     C = (size_t)s->context;
    const rg_tensor *last = rg_step_state_use(t, &mem->carried, 0);
    int32_t         *context = rg_tape_memory(t, (d->n * C + 1) * sizeof *context);
    rg_real         *next = rg_tape_memory(t, (d->n * C + 1) * sizeof *next);
    if (!last || !context || !next) return NULL;
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < C; k++) {
            context[i * C + k] = k + 1 < C ? (int32_t)rg_tensor_at(last, i, k + 1) : d->tokens[i];
            next[i * C + k] = (rg_real)context[i * C + k];
        }
    rg_tensor *y = look_back(t, p, s, context, d->n, &mem->source, rg_answer_reach(t, d));
    if (y && rg_step_state_put(&mem->carried, 0, rg_borrow(t, next, d->n, C, C)) != RG_OK)
        return rg_tape_fail(t, RG_ENOMEM, "no memory for the words of %zu hypotheses", d->n);
    return rg_answer_logits(d, t, y, p->output, p->output_bias);
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    return rg_step_state_keep(d->state, parents, n);
}
static void      finish(rg_decoding *d) { rg_step_state_fini(d->state); }

static const rg_attention_use uses[] = {
    { "before every target word", "the last C words, through G and P", "embedded source words",
      "sums of embedded source words around each place", "dot", "groups", .watch = "*weights", .rows = "output",
      .cols = "source" },
    { 0 },
};

const rg_system rg_system_abs = {
    .name = "abs",
    .summary = "a feed-forward language model of the last words that looks at the source: headlines",
    .paper = "Rush, Chopra, Weston 2015, A Neural Attention Model for Abstractive Sentence Summarization",
    .task = &rg_task_translation,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
