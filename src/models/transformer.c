/* The Transformer (Vaswani et al. 2017): no recurrence, only attention.
 *
 *     encoder layer   x <- norm(x + self(x))        x <- norm(x + ff(x))                        self: every word of the sentence
 *     decoder layer   y <- norm(y + self(y))        y <- norm(y + cross(y, x))    y <- norm(y + ff(y))
 *                     self: itself and what came before                cross: every word of the source
 *
 * With --decoder ssru a recurrence takes the place of the decoder's self-attention (Kim et al. 2019), which makes its
 * steps cheap:   f = sigma(Wf y + bf)   c_t = f c_{t-1} + (1 - f) W y   y <- norm(y + relu(c))
 *
 * Post-norm as printed; pre-norm (x + sub(norm(x)), one more norm after each stack) by option. One table E serves
 * source, target and, transposed, the output; embeddings are multiplied by sqrt(d). */
#include "decode/step_state.h"
#include "models/copy_parts.h"
#include "regard/transformer.h"

#include <math.h>
#include <string.h>

typedef struct {
    int64_t d, ff, heads, encoder, decoder, window, positions_learned, first_position, experts, top;
    double  dropout, dropout_attention, dropout_ff, smoothing, epsilon, balance;
    char   *norm, *positions, *score, *inside, *reach, *activation, *begin, *vocabulary, *autoregression;
    bool    tied, tied_output, shared, norm_embedding, scale_embedding;
    rg_copy_settings copy;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "256", "width of rows (d)", 0, "[1,1000000]" },
    { RG_OPTION_INT, "transformer-dim-ffn", offsetof(settings, ff), "1024", "width inside the feed-forward network", 0,
      "[1,1000000]" },
    { RG_OPTION_INT, "transformer-heads", offsetof(settings, heads), "4", "attention heads", 0, "[1,1000000]" },
    { RG_OPTION_INT, "enc-depth", offsetof(settings, encoder), "3", "encoder layers", 0, NULL },
    { RG_OPTION_INT, "dec-depth", offsetof(settings, decoder), "3", "decoder layers", 0, NULL },
    { RG_OPTION_REAL, "transformer-dropout", offsetof(settings, dropout), "0.1", "share of sub-layer outputs dropped",
      0, "[0,1)" },
    { RG_OPTION_REAL, "transformer-dropout-attention", offsetof(settings, dropout_attention), "0",
      "share of weights dropped", 0, "[0,1)" },
    { RG_OPTION_REAL, "transformer-dropout-ffn", offsetof(settings, dropout_ff), "0",
      "share dropped inside the feed-forward network", 0, "[0,1)" },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0.1", "probability spread over all words", 0,
      "[0,1)" },
    { RG_OPTION_STRING, "transformer-norm", offsetof(settings, norm), "pre",
      "where the norm stands: pre learns faster, post is the paper's", 0, "pre|post" },
    { RG_OPTION_STRING, "transformer-positions", offsetof(settings, positions), "sinusoidal",
      "how words know their place; halves (Hugging Face) and spread (Marian, CTranslate2) are other sinusoids", 0,
      "sinusoidal|sinusoidal-halves|sinusoidal-spread|learned|none" },
    { RG_OPTION_INT, "transformer-max-positions", offsetof(settings, positions_learned), "512",
      "places that learned positions know", 0, "[2,1000000]" },
    { RG_OPTION_STRING, "transformer-ffn-activation", offsetof(settings, activation), "relu",
      "inside the feed-forward network", 0, "relu|gelu|gelu_tanh|swish" },
    { RG_OPTION_STRING, "score", offsetof(settings, score), "scaled_dot", "score of every attention (`regard scores`)",
      0, NULL },
    { RG_OPTION_STRING, "reach", offsetof(settings, reach), "groups",
      "who looks at whom in self-attention: NAME or NAME:SIZE (`regard list reaches`); the decoder takes what of it "
      "lies behind",
      0, NULL },
    { RG_OPTION_STRING, "score-activation", offsetof(settings, inside), "own",
      "function inside the linear, additive and concat scores; own: identity in linear, else tanh", 0,
      "own|identity|tanh|relu|leaky_relu|tanh-if-any" },
    { RG_OPTION_INT, "window", offsetof(settings, window), "0", "the same as --reach window:N; 0: what --reach says", 0,
      "[0,1000000]" },
    { RG_OPTION_BOOL, "tied-embeddings-all", offsetof(settings, tied), "true",
      "one table for source, target and output (joint vocabulary)", 0, NULL },
    { RG_OPTION_BOOL, "tied-embeddings", offsetof(settings, tied_output), "true",
      "the target's table is also the output's", 0, NULL },
    { RG_OPTION_BOOL, "shared-embeddings", offsetof(settings, shared), "false",
      "one table for all though the vocabularies differ, with equally many tokens (imported models)", 0, NULL },
    { RG_OPTION_INT, "transformer-first-position", offsetof(settings, first_position), "0",
      "number of the first place of sinusoids", 0, "[0,1000000]" },
    { RG_OPTION_BOOL, "transformer-scale-embedding", offsetof(settings, scale_embedding), "true",
      "multiply embeddings by sqrt(d)", 0, NULL },
    { RG_OPTION_BOOL, "transformer-norm-embedding", offsetof(settings, norm_embedding), "false",
      "a layer norm after embedding and position (BART)", 0, NULL },
    { RG_OPTION_REAL, "transformer-norm-epsilon", offsetof(settings, epsilon), "1e-6",
      "added to variances in layer norms", 0, "(0,1)" },
    RG_ANSWER_VOCABULARY_ROW(settings, vocabulary),
    RG_COPY_ROWS(settings),
    { RG_OPTION_INT, "experts", offsetof(settings, experts), "0",
      "feed-forward networks in every layer, of which each word uses a few; 0: one", 0, "[0,64]" },
    { RG_OPTION_INT, "top-experts", offsetof(settings, top), "2", "how many of the experts each word uses", 0,
      "[1,64]" },
    { RG_OPTION_REAL, "balance", offsetof(settings, balance), "0.05",
      "weight of the losses that spread words over the experts", 0, "[0,inf)" },
    { RG_OPTION_STRING, "decoder", offsetof(settings, autoregression), "self-attention",
      "what sees the words before: self-attention, or a recurrence (SSRU) whose steps are cheaper", 0,
      "self-attention|ssru" },
    { RG_OPTION_STRING, "decoder-start", offsetof(settings, begin), "token",
      "what the decoder begins with: the embedding of <s>; zeros (Marian); or zeros, but the embedding of </s> in "
      "half of the sentences it learns from, so that programs that begin with </s> answer alike",
      0, "token|zero|zero-or-end" },
    RG_OPTION_END
};

typedef struct {
    rg_stack  encoder, decoder;
    rg_param *source, *target, *output; /* tables (V, d); the same one when tied */
    rg_param *output_bias;
    rg_param *source_places, *target_places; /* learned positions */
    rg_norm   source_norm, target_norm;      /* of embeddings */
    rg_copy   copy;
    rg_sinusoids sinusoids;
    rg_reach_choice around, past;            /* of self-attention in encoder and decoder */
} parts;

/* ------------------------------------------------------------------------------------------------------- build */

static bool recurs(const settings *s) { return strcmp(s->autoregression, "ssru") == 0; }

static rg_status block_config(rg_block_config *out, const settings *s)
{
    *out = (rg_block_config){ .width = (size_t)s->d,
                              .hidden = (size_t)s->ff,
                              .heads = (size_t)s->heads,
                              .score = s->score,
                              .inside = s->inside,
                              .pre = strcmp(s->norm, "pre") == 0,
                              .epsilon = s->epsilon,
                              .dropout = s->dropout,
                              .dropout_attention = s->dropout_attention,
                              .dropout_hidden = s->dropout_ff,
                              .experts = (size_t)s->experts,
                              .top = (size_t)s->top,
                              .balance = s->balance };
    return rg_activation_find(&out->activation, s->activation);
}

/* Embeddings have deviation d^-0.5, so that times sqrt(d) their variance is 1. */
static void build_tables(rg_model *m, parts *q, const settings *s)
{
    const size_t d = (size_t)s->d, Vs = rg_model_size(m, "source-vocabulary"),
                 Vt = rg_model_size(m, "target-vocabulary");
    const double deviation = 1 / sqrt((double)d);
    const rg_param_kind table = s->tied_output ? RG_TIED : RG_TABLE;
    if (s->tied && (rg_model_size(m, "joint-vocabulary") || (s->shared && Vs == Vt))) {
        q->source = q->target = rg_params_add(m->params, "embedding", table, Vt, d, RG_INIT_NORMAL, deviation);
    } else {
        q->source = rg_params_add(m->params, "source.embedding", RG_TABLE, Vs, d, RG_INIT_NORMAL, deviation);
        q->target = rg_params_add(m->params, "target.embedding", table, Vt, d, RG_INIT_NORMAL, deviation);
    }
    q->output = s->tied_output ? q->target
                               : rg_params_add(m->params, "output.weight", RG_TIED, Vt, d, RG_INIT_NORMAL, deviation);
    q->output_bias = rg_params_add(m->params, "output.bias", RG_VECTOR, 1, Vt, RG_INIT_ZERO, 0);
    if (s->norm_embedding) {
        rg_norm_init(&q->source_norm, m->params, "source.norm", d);
        rg_norm_init(&q->target_norm, m->params, "target.norm", d);
        q->source_norm.epsilon = q->target_norm.epsilon = s->epsilon;
    }
    if (strcmp(s->positions, "learned") != 0) return;
    m->longest = (size_t)s->positions_learned;
    q->source_places =
        rg_params_add(m->params, "source.places", RG_TABLE, (size_t)s->positions_learned, d, RG_INIT_NORMAL, deviation);
    q->target_places =
        rg_params_add(m->params, "target.places", RG_TABLE, (size_t)s->positions_learned, d, RG_INIT_NORMAL, deviation);
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    rg_block_config c;
    if (s->encoder < 1 || s->decoder < 1 || s->encoder > RG_STACK_DEPTH || s->decoder > RG_STACK_DEPTH)
        return rg_fail(RG_EINVAL, "enc-depth %lld and dec-depth %lld must lie in 1 .. %d", (long long)s->encoder,
                       (long long)s->decoder, RG_STACK_DEPTH);
    RG_TRY(rg_answer_vocabulary_check(s->vocabulary));
    RG_TRY(block_config(&c, s));
    q->sinusoids = strstr(s->positions, "halves")   ? RG_SINUSOIDS_HALVES
                   : strstr(s->positions, "spread") ? RG_SINUSOIDS_SPREAD
                                                    : RG_SINUSOIDS;
    RG_TRY(rg_reach_choose(&q->around, s->window ? "window:1" : s->reach));
    if (s->window) q->around.size = (size_t)s->window;
    q->past = rg_reach_past(q->around);
    build_tables(m, q, s);
    RG_TRY(rg_stack_init(&q->encoder, m->params, "encoder", &c, (size_t)s->encoder, false));
    c.recurrent = recurs(s);
    RG_TRY(rg_stack_init(&q->decoder, m->params, "decoder", &c, (size_t)s->decoder, true));
    return rg_copy_init(&q->copy, m, &s->copy, (size_t)s->d, (size_t)s->d);
}

/* ------------------------------------------------------------------------------------------------------ learning */

/* Places 0, 1, ... of every sentence, none beyond those that were learned. */
static rg_tensor *learned_places(rg_tape *t, const rg_param *places, const rg_layout *layout)
{
    for (size_t g = 0; g < layout->groups; g++)
        if ((size_t)(layout->start[g + 1] - layout->start[g]) > rg_param_rows(places))
            return rg_tape_fail(t, RG_ELIMIT,
                                "a sentence of %d tokens; positions were learned for %zu (--transformer-max-positions)",
                                (int)(layout->start[g + 1] - layout->start[g]), rg_param_rows(places));
    return rg_gather(t, rg_use(t, places), rg_places(t, layout), (size_t)layout->start[layout->groups], layout);
}

static double embedding_scale(const settings *s) { return s->scale_embedding ? sqrt((double)s->d) : 1; }
static bool   starts_from_zero(const settings *s) { return s->begin[0] == 'z'; }

/* The ids with none (whose row is zeros) at the first place of every sentence; while learning zero-or-end, </s> at that
 * of every second one. Batches are shuffled: a sentence meets both. */
static const int32_t *without_first(rg_tape *t, const rg_model *m, const int32_t *ids, const rg_layout *layout)
{
    const settings *s = m->options;
    const size_t    n = (size_t)layout->start[layout->groups];
    const bool      either = strcmp(s->begin, "zero-or-end") == 0 && rg_tape_learning(t);
    const int32_t   end = (int32_t)rg_model_size(m, "eos");
    int32_t        *copy = rg_tape_memory(t, n * sizeof *copy);
    if (!copy) return NULL;
    memcpy(copy, ids, n * sizeof *copy);
    for (size_t g = 0; g < layout->groups; g++)
        if (layout->start[g] < layout->start[g + 1]) copy[layout->start[g]] = either && g % 2 ? end : -1;
    return copy;
}

static rg_tensor *embed(rg_tape *t, const rg_model *m, bool target, const int32_t *ids, const rg_layout *layout)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const size_t    n = (size_t)layout->start[layout->groups];
    const rg_param *places = target ? q->target_places : q->source_places;
    if (target && starts_from_zero(s)) ids = without_first(t, m, ids, layout);
    rg_tensor *x =
        ids ? rg_scale(t, rg_gather(t, rg_use(t, target ? q->target : q->source), ids, n, layout), embedding_scale(s))
            : NULL;
    if (!target) x = rg_tape_offer(t, "inputs", x, NULL);
    if (places) x = rg_add(t, x, learned_places(t, places, layout));
    else if (s->positions[0] == 's') x = rg_add_sinusoids(t, x, q->sinusoids, (size_t)s->first_position);
    if (s->norm_embedding) x = rg_norm_run(t, target ? &q->target_norm : &q->source_norm, x);
    return rg_dropout(t, x, s->dropout);
}

static rg_tensor *encode(rg_tape *t, const rg_model *m, const int32_t *ids, const rg_layout *layout)
{
    const parts    *q = m->parts;
    const rg_reach *reach = rg_reach_within(t, q->around, layout);
    rg_tensor      *x = embed(t, m, false, ids, layout);
    return rg_stack_run(t, &q->encoder, "encoder", x, reach);
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_batch *batch = data;
    const rg_field *from = &batch->field[RG_SOURCE], *to = &batch->field[RG_TARGET];
    rg_tensor      *x = encode(t, m, from->ids, &from->layout);
    const rg_reach *past = rg_reach_within(t, q->past, &to->layout);
    const rg_reach *source = rg_reach_groups(t, &to->layout, &from->layout);
    rg_tensor      *y = embed(t, m, true, to->previous, &to->layout);
    for (size_t i = 0; i < q->decoder.depth; i++) {
        rg_tensor *k, *v;
        rg_tape_push(t, "decoder.%zu", i);
        y = rg_block_self(t, &q->decoder, i, y, past);
        rg_heads_memory(t, &q->decoder.block[i].cross, x, &k, &v);
        y = rg_block_cross(t, &q->decoder, i, y, k, v, source);
        y = rg_block_feed_forward(t, &q->decoder, i, y);
        rg_tape_pop(t);
    }
    y = rg_stack_end(t, &q->decoder, y);
    if (m->copies)
        return rg_copy_loss(t, &q->copy, y, rg_use(t, q->output), rg_use(t, q->output_bias), x, batch, s->smoothing);
    return rg_answer_loss_over(t, m, y, rg_use(t, q->output), rg_use(t, q->output_bias), batch, s->smoothing,
                               s->vocabulary);
}

/* ------------------------------------------------------------------------------------------------------ decoding */

typedef struct {
    rg_tensor *source_k[RG_STACK_DEPTH], *source_v[RG_STACK_DEPTH]; /* on the memory tape */
    rg_cache  *past;                                          /* of the target      */
    rg_step_state states;                                     /* of an SSRU, block by block */
    rg_tensor *source; /* rows of the encoder, for copying */
    rg_copy_memory copy;
} memory;

static void finish(rg_decoding *d)
{
    memory *c = d->state;
    rg_cache_free(c->past);
    rg_step_state_fini(&c->states);
    memset(c, 0, sizeof *c);
}

/* Rows of x go to rows first .. of *all, which the first of them makes. */
static void collect(rg_decoding *d, rg_tensor **all, rg_tensor *x, const int32_t *rows)
{
    if (!x) return;
    if (!*all) *all = rg_rows_new(d->memory, (size_t)d->sources.start[d->sources.groups], rg_tensor_cols(x), NULL);
    rg_rows_put(d->memory, *all, rows, x);
}

/* Sources g .. end-1, on the tape of steps: of all that the encoder computes only keys and values stay. */
static rg_status encode_some(rg_decoding *d, size_t g, size_t end)
{
    const parts    *q = d->model->parts;
    memory         *c = d->state;
    const int32_t   first = d->sources.start[g], n = d->sources.start[end] - first;
    rg_tape_reset(d->tape, 0);
    int32_t *start = rg_tape_memory(d->tape, (end - g + 1) * sizeof *start),
            *rows = rg_tape_memory(d->tape, (size_t)n * sizeof *rows);
    if (!start || !rows) return rg_tape_status(d->tape);
    for (size_t i = g; i <= end; i++) start[i - g] = d->sources.start[i] - first;
    for (int32_t i = 0; i < n; i++) rows[i] = first + i;
    const rg_layout layout = { .groups = end - g, .start = start };
    rg_tensor      *x = encode(d->tape, d->model, d->source.ids + first, &layout);
    for (size_t i = 0; i < q->decoder.depth; i++) {
        rg_tensor *k, *v;
        rg_heads_memory(d->tape, &q->decoder.block[i].cross, x, &k, &v);
        collect(d, &c->source_k[i], k, rows);
        collect(d, &c->source_v[i], v, rows);
    }
    if (d->model->copies) collect(d, &c->source, x, rows);
    return rg_tape_status(d->tape);
}

/* Room for the keys and values of all layers, as rows and in panels, in one piece: growing towards it would take
 * half as much again. */
static void reserve(rg_decoding *d)
{
    const settings *s = d->model->options;
    const size_t    rows = (size_t)d->sources.start[d->sources.groups] + 8 * d->sources.groups; /* panels are filled up to 16 */
    rg_tape_point  *point = rg_tape_mark(d->memory);
    rg_tape_memory(d->memory, rows * (size_t)s->d * (size_t)s->decoder * 4 * sizeof(rg_real));
    rg_tape_rewind(d->memory, point);
}

static rg_status start(rg_decoding *d)
{
    enum { AT_ONCE = 128 }; /* source rows: products run as fast as on more, and their results stay in the cache */
    const settings *s = d->model->options;
    const parts    *q = d->model->parts;
    memory         *c = d->state;
    if (!c->past) RG_TRY(rg_cache_new(&c->past, (size_t)s->decoder));
    rg_cache_clear(c->past);
    reserve(d);
    for (int64_t i = 0; i < s->decoder; i++) c->source_k[i] = c->source_v[i] = NULL;
    c->source = NULL;
    for (size_t g = 0, end; g < d->sources.groups; g = end) {
        for (end = g + 1; end < d->sources.groups && d->sources.start[end + 1] - d->sources.start[g] <= AT_ONCE;) end++;
        RG_TRY(encode_some(d, g, end));
    }
    for (int64_t i = 0; i < s->decoder; i++)
        rg_attention_pack(d->memory, &q->decoder.block[i].cross.att, c->source_k[i], c->source_v[i], &d->sources);
    if (d->model->copies) c->copy = rg_copy_start(d, &q->copy, c->source);
    return rg_tape_status(d->memory);
}

static const int32_t *no_tokens(rg_tape *t, size_t n)
{
    int32_t *none = rg_tape_memory(t, n * sizeof *none);
    for (size_t i = 0; none && i < n; i++) none[i] = -1;
    return none;
}

static rg_tensor *embed_step(rg_decoding *d, rg_tape *t)
{
    const settings *s = d->model->options;
    const parts    *q = d->model->parts;
    const int32_t  *tokens = d->steps == 0 && starts_from_zero(s) ? no_tokens(t, d->n) : d->tokens;
    const int32_t   place = (int32_t)d->steps;
    rg_tensor      *y =
        tokens ? rg_scale(t, rg_gather(t, rg_use(t, q->target), tokens, d->n, NULL), embedding_scale(s)) : NULL;
    if (s->positions[0] == 's') y = rg_add_sinusoid(t, y, q->sinusoids, d->steps + (size_t)s->first_position);
    else if (q->target_places) y = rg_add(t, y, rg_gather(t, rg_use(t, q->target_places), &place, 1, NULL));
    return s->norm_embedding ? rg_norm_run(t, &q->target_norm, y) : y;
}

static rg_tensor *recur(rg_decoding *d, rg_tape *t, size_t i, rg_tensor *y)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    rg_tensor   *now = NULL, *zeros = NULL;
    if (d->steps == 0 && y) { /* a state of zeros: every hypothesis is a group of its own */
        const size_t width = q->decoder.config.width;
        rg_real     *none = rg_tape_memory(t, d->n * width * sizeof *none);
        if (!none) return NULL;
        memset(none, 0, d->n * width * sizeof *none);
        zeros = rg_borrow(t, none, d->n, width, width);
    }
    y = rg_block_recur(t, &q->decoder, i, y, d->steps ? rg_step_state_use(t, &c->states, i) : zeros, &now);
    if (rg_step_state_put(&c->states, i, now) == RG_OK) return y;
    return rg_tape_fail(t, RG_ENOMEM, "no memory for the states of %zu hypotheses", d->n);
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts    *q = d->model->parts;
    memory         *c = d->state;
    const bool      recurrent = q->decoder.config.recurrent;
    const rg_reach *past = recurrent ? NULL : rg_cache_step(t, c->past, d->n, q->past), *source = rg_answer_reach(t, d);
    rg_tensor      *y = embed_step(d, t);
    for (size_t i = 0; i < q->decoder.depth; i++) {
        rg_tape_push(t, "decoder.%zu", i);
        y = recurrent ? recur(d, t, i, y) : rg_block_step(t, &q->decoder, i, y, c->past, past);
        y = rg_block_cross(t, &q->decoder, i, y, c->source_k[i], c->source_v[i], source);
        y = rg_block_feed_forward(t, &q->decoder, i, y);
        rg_tape_pop(t);
    }
    y = rg_stack_end(t, &q->decoder, y);
    rg_tensor *logits = rg_answer_logits(d, t, y, q->output, q->output_bias);
    return d->model->copies ? rg_copy_step(d, t, &q->copy, &c->copy, y, logits) : logits;
}

static rg_status keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    const parts *q = d->model->parts;
    memory      *c = d->state;
    return q->decoder.config.recurrent ? rg_step_state_keep(&c->states, parents, n) : rg_cache_keep(c->past, parents, n);
}

/* Section 5.1: about 25,000 source and 25,000 target tokens per batch; 0.4 and 1.0 seconds per update. */
static const rg_preset_training base_training = { "Vaswani et al. 2017, section 5.2", "8 P100 GPUs", 100000, 25000, 12 };
static const rg_preset_training big_training = { "Vaswani et al. 2017, section 5.2", "8 P100 GPUs", 300000, 25000, 84 };

static const rg_preset presets[] = {
    { "tiny", "for small corpora such as Multi30k: 2.6 M parameters with 10,000 tokens",
      "dim-emb: 128\ntransformer-dim-ffn: 256\ntransformer-heads: 4\nenc-depth: 4\ndec-depth: 4\ntransformer-dropout: "
      "0.3\n", NULL },
    { "small", "the default sizes",
      "dim-emb: 256\ntransformer-dim-ffn: 1024\ntransformer-heads: 4\nenc-depth: 3\ndec-depth: 3\ntransformer-dropout: "
      "0.1\n", NULL },
    { "base", "the paper's base model, 65 M parameters with 37,000 tokens",
      "dim-emb: 512\ntransformer-dim-ffn: 2048\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: 6\ntransformer-dropout: "
      "0.1\n"
      "transformer-norm: post\n",
      &base_training },
    { "big", "the paper's big model, 213 M parameters with 37,000 tokens",
      "dim-emb: 1024\ntransformer-dim-ffn: 4096\ntransformer-heads: 16\nenc-depth: 6\ndec-depth: "
      "6\ntransformer-dropout: 0.3\n"
      "transformer-norm: post\n",
      &big_training },
    { NULL, NULL, NULL, NULL },
};

static const rg_attention_use uses[] = {
    { "encoder layers", "source words", "source words", "source words", "scaled_dot", "groups",
      .watch = "encoder.*weights", .rows = "source", .cols = "source" },
    { "decoder layers, self", "target words", "target words so far", "target words so far", "scaled_dot", "causal",
      .watch = "decoder.*self.weights", .rows = "output", .cols = "output" },
    { "decoder layers, cross", "target words", "source words", "source words", "scaled_dot", "groups",
      .watch = "decoder.*cross.weights", .rows = "output", .cols = "source" },
    { "with --copy, before the answer", "what is answered from", "source words", "source words", "general", "groups",
      .watch = "copy.weights", .rows = "output", .cols = "source" },
    { 0 },
};

const rg_system rg_system_transformer = {
    .name = "transformer",
    .summary = "encoder and decoder of self-attention and feed-forward layers, no recurrence",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .task = &rg_task_translation,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .earlier = "score-activation: tanh-if-any\n",
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
