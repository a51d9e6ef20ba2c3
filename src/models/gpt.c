/* GPT (Radford et al. 2018, 2019): a stack of Transformer blocks in which every piece sees itself and what came before,
 * and predicts the next.
 *
 *     x = E[w] + P[place]      x <- x + self(norm(x))      x <- x + ff(norm(x))      logits = norm(x) E^T
 *
 * Pre-norm, GELU and learned places as in GPT-2; sinusoidal places and post-norm by option. A model knows windows of
 * `context` pieces. */
#include <math.h>
#include <string.h>

#include "models/language_parts.h"
#include "regard/transformer.h"

typedef struct {
    int64_t d, ff, heads, layers, places;
    double  dropout, dropout_attention, dropout_ff, epsilon, deviation;
    char   *norm, *positions, *activation;
    bool    tied;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "128", "width of rows (d)", 0, "[1,1000000]" },
    { RG_OPTION_INT, "transformer-dim-ffn", offsetof(settings, ff), "0",
      "width inside the feed-forward network; 0: four times dim-emb", 0, "[0,1000000]" },
    { RG_OPTION_INT, "transformer-heads", offsetof(settings, heads), "4", "attention heads", 0, "[1,1000000]" },
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "4", "blocks", 0, "[1,32]" },
    { RG_OPTION_REAL, "transformer-dropout", offsetof(settings, dropout), "0",
      "share of embeddings and sub-layer outputs dropped", 0, "[0,1)" },
    { RG_OPTION_REAL, "transformer-dropout-attention", offsetof(settings, dropout_attention), "0",
      "share of weights dropped", 0, "[0,1)" },
    { RG_OPTION_REAL, "transformer-dropout-ffn", offsetof(settings, dropout_ff), "0",
      "share dropped inside the feed-forward network", 0, "[0,1)" },
    { RG_OPTION_STRING, "transformer-norm", offsetof(settings, norm), "pre",
      "where the norm stands: pre as in GPT-2, post as in GPT-1", 0, "pre|post" },
    { RG_OPTION_STRING, "transformer-positions", offsetof(settings, positions), "learned",
      "how tokens know their place in the window", 0, "learned|sinusoidal" },
    { RG_OPTION_INT, "transformer-max-positions", offsetof(settings, places), "0",
      "learned places; 0: as many as --context. A model trained further on shorter windows keeps them all", 0,
      "[0,1000000]" },
    { RG_OPTION_STRING, "transformer-ffn-activation", offsetof(settings, activation), "gelu",
      "inside the feed-forward network; gelu_tanh: GPT-2's approximation", 0, "relu|gelu|gelu_tanh" },
    { RG_OPTION_REAL, "norm-epsilon", offsetof(settings, epsilon), "1e-5", "added to variances in the norms", 0,
      "(0,1)" },
    { RG_OPTION_REAL, "init-deviation", offsetof(settings, deviation), "0.02",
      "deviation of embeddings and learned places at the start; sinusoidal: dim-emb^-0.5", 0, "(0,10]" },
    { RG_OPTION_BOOL, "tied-embeddings", offsetof(settings, tied), "true", "one table for input and output", 0, NULL },
    RG_OPTION_END
};

typedef struct {
    rg_lm_tables tables;
    rg_stack     stack;
    rg_param    *places; /* (context, d); NULL: sinusoidal  */
    double       scale;  /* of embeddings when looked up    */
    size_t       context;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const size_t    d = (size_t)s->d;
    const bool      learned = strcmp(s->positions, "learned") == 0;
    const double    deviation = learned ? s->deviation : 1 / sqrt((double)d);
    rg_block_config c = { .width = d,
                          .hidden = s->ff ? (size_t)s->ff : 4 * d,
                          .heads = (size_t)s->heads,
                          .score = "scaled_dot",
                          .pre = strcmp(s->norm, "pre") == 0,
                          .epsilon = s->epsilon,
                          .dropout = s->dropout,
                          .dropout_attention = s->dropout_attention,
                          .dropout_hidden = s->dropout_ff };
    RG_TRY(rg_activation_find(&c.activation, s->activation));
    q->context = rg_model_size(m, "context");
    if (q->context < 1) return rg_fail(RG_EINVAL, "a gpt needs to know its context: how many tokens a window has");
    q->scale = learned ? 1 : sqrt((double)d);
    RG_TRY(rg_lm_tables_init(&q->tables, m, d, d, s->tied, false, RG_INIT_NORMAL, deviation));
    const size_t places = s->places ? (size_t)s->places : q->context;
    if (learned && places < q->context)
        return rg_fail(RG_EINVAL, "windows of %zu tokens (--context), but places for %zu (--transformer-max-positions)",
                       q->context, places);
    q->places = learned ? rg_params_add(m->params, "places", RG_TABLE, places, d, RG_INIT_NORMAL, deviation) : NULL;
    return rg_stack_init(&q->stack, m->params, "block", &c, (size_t)s->layers, false);
}

/* --------------------------------------------------------------------------------------------------------- learning */

/* Embedded pieces at their places in the window. */
static rg_tensor *enter(rg_tape *t, const rg_model *m, const rg_batch *b)
{
    const settings  *s = m->options;
    const parts     *q = m->parts;
    const rg_layout *layout = &rg_lm_text(b)->layout;
    rg_tensor       *x = rg_lm_words(t, &q->tables, b);
    for (size_t g = 0; g < layout->groups; g++)
        if ((size_t)(layout->start[g + 1] - layout->start[g]) > q->context)
            return rg_tape_fail(t, RG_ELIMIT, "a window of %d tokens; the model has places for %zu",
                                layout->start[g + 1] - layout->start[g], q->context);
    if (q->scale != 1) x = rg_scale(t, x, q->scale);
    if (!q->places) return rg_dropout(t, rg_add_positions(t, x), s->dropout);
    const int32_t *place = rg_places(t, layout);
    return place ? rg_dropout(t, rg_add(t, x, rg_gather(t, rg_use(t, q->places), place, rg_tensor_rows(x), layout)),
                              s->dropout)
                 : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const parts     *q = m->parts;
    const rg_batch  *b = data;
    const rg_layout *layout = &rg_lm_text(b)->layout;
    rg_tensor       *x = enter(t, m, b);
    return rg_lm_loss(t, &q->tables, x ? rg_stack_run(t, &q->stack, "block", x, rg_reach_causal(t, layout)) : NULL, b);
}

/* --------------------------------------------------------------------------------------------------------- decoding */

/* Keys and values of every layer are cached. A window that is full is begun anew with its last half, so that a text can
 * be longer than the context and a piece costs, taken together, at most three steps. */
typedef struct {
    rg_cache *past;
    int32_t  *tokens, *spare; /* (n, context): the pieces of the window */
    size_t    room;           /* hypotheses */
} memory;

static void finish(rg_decoding *d)
{
    memory *c = d->state;
    rg_cache_free(c->past);
    rg_free(c->tokens);
    rg_free(c->spare);
    memset(c, 0, sizeof *c);
}

static rg_status make_room(memory *c, size_t n, size_t context)
{
    if (n <= c->room) return RG_OK;
    size_t bytes;
    if (!rg_size_mul(&bytes, n, context) || !rg_size_mul(&bytes, bytes, sizeof *c->tokens))
        return rg_fail(RG_ELIMIT, "%zu windows of %zu tokens do not fit in memory", n, context);
    int32_t *tokens = rg_realloc(c->tokens, bytes);
    if (tokens) c->tokens = tokens;
    int32_t *spare = rg_realloc(c->spare, bytes);
    if (spare) c->spare = spare;
    if (!tokens || !spare) return RG_ENOMEM;
    c->room = n;
    return RG_OK;
}

static rg_status start(rg_decoding *d)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    if (!c->past) RG_TRY(rg_cache_new(&c->past, q->stack.depth));
    rg_cache_clear(c->past);
    return make_room(c, d->n, q->context);
}

/* One piece per hypothesis at the next place of the window: the rows above the last block. */
static rg_tensor *advance(rg_decoding *d, rg_tape *t, const int32_t *tokens)
{
    const parts    *q = d->model->parts;
    memory         *c = d->state;
    const size_t    place = rg_cache_steps(c->past);
    const int32_t   row = (int32_t)place;
    const rg_reach *reach = rg_cache_step(t, c->past, d->n, (rg_reach_choice){ &rg_reach_kind_causal, 0 });
    for (size_t i = 0; i < d->n; i++) c->tokens[i * q->context + place] = tokens[i];
    rg_tensor *x = rg_gather(t, rg_use(t, q->tables.embedding), tokens, d->n, NULL);
    if (q->scale != 1) x = rg_scale(t, x, q->scale);
    x = q->places ? rg_add(t, x, rg_gather(t, rg_use(t, q->places), &row, 1, NULL)) : rg_add_position(t, x, place);
    for (size_t i = 0; i < q->stack.depth; i++) {
        rg_tape_push(t, "block.%zu", i);
        x = rg_block_step(t, &q->stack, i, x, c->past, reach);
        x = rg_block_feed_forward(t, &q->stack, i, x);
        rg_tape_pop(t);
    }
    return x;
}

/* The last half of the window is the beginning of the next. */
static rg_status begin_anew(rg_decoding *d, rg_tape *t)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    const size_t kept = q->context / 2, from = q->context - kept;
    int32_t     *last = rg_tape_memory(t, (kept * d->n + 1) * sizeof *last);
    if (!last) return rg_tape_status(t);
    for (size_t j = 0; j < kept; j++)
        for (size_t i = 0; i < d->n; i++) last[j * d->n + i] = c->tokens[i * q->context + from + j];
    rg_cache_clear(c->past);
    for (size_t j = 0; j < kept; j++) advance(d, t, last + j * d->n);
    return rg_tape_status(t);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    if (rg_cache_steps(c->past) == q->context && begin_anew(d, t) != RG_OK) return NULL;
    return rg_lm_logits(t, &q->tables, rg_stack_end(t, &q->stack, advance(d, t, d->tokens)));
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    RG_TRY(make_room(c, n, q->context));
    for (size_t i = 0; i < n; i++)
        memcpy(c->spare + i * q->context, c->tokens + (size_t)parents[i] * q->context, q->context * sizeof *c->spare);
    int32_t *swap = c->tokens;
    c->tokens = c->spare;
    c->spare = swap;
    return rg_cache_keep(c->past, parents, n);
}

static const rg_preset presets[] = {
    { "tiny", "4 blocks of width 128: characters, minutes", "dim-emb: 128\nlayers: 4\ntransformer-heads: 4\n" },
    { "small", "6 blocks of width 256, dropout 0.1: characters or a small vocabulary, an hour",
      "dim-emb: 256\nlayers: 6\ntransformer-heads: 8\ntransformer-dropout: 0.1\n" },
    { "gpt2", "the smallest GPT-2: 12 blocks of width 768, 124 M parameters with 50,257 tokens",
      "dim-emb: 768\nlayers: 12\ntransformer-heads: 12\ntransformer-dropout: 0.1\ntransformer-dropout-attention: "
      "0.1\n" },
    { NULL, NULL, NULL },
};

static const rg_attention_use uses[] = {
    { "every block", "tokens", "tokens so far", "tokens so far", "scaled_dot", "causal", .watch = "block.*weights",
      .rows = "words", .cols = "words" },
    { 0 },
};

const rg_system rg_system_gpt = {
    .name = "gpt",
    .summary = "language model of Transformer blocks that look back: every token predicts the next",
    .paper =
        "Radford et al. 2018, Improving Language Understanding by Generative Pre-Training; Radford et al. 2019 (GPT-2)",
    .task = &rg_task_language,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .lends = "encoder: transformer\ntransformer-reach: causal\npool: last\ndropout-emb: 0\ndropout-words: 0\n",
    .presets = presets,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(memory),
    .start = start,
    .step = step,
    .keep = keep,
    .finish = finish,
};
