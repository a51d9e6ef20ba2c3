/* BERT (Devlin et al. 2019): Transformer blocks in which every token sees its whole window; some tokens are hidden, and
 * the model says what they were.
 *
 *     x_i    = E[w_i] + P[i] + S[segment]            a hidden token: the learned row `mask`, or the vocabulary's [MASK]
 *     h      = blocks(norm(x))                       post-norm, GELU
 *     logits = norm(gelu(h_i W + b)) E^T + c         of the chosen tokens alone
 *     follows = tanh(h_0 W + b) U + d                does the second segment follow the first? (where the text has documents)
 *
 * What the parameters are called in Hugging Face's files (l is a block):
 *
 *     embedding                  bert.embeddings.word_embeddings.weight
 *     places, segments           bert.embeddings.position_embeddings.weight, token_type_embeddings.weight
 *     entry.gain, .bias          bert.embeddings.LayerNorm
 *     block.l.self.wqkv, bqkv    bert.encoder.layer.l.attention.self.{query,key,value}, transposed, side by side
 *     block.l.self.wo, bo        bert.encoder.layer.l.attention.output.dense, transposed
 *     block.l.self.norm          bert.encoder.layer.l.attention.output.LayerNorm
 *     block.l.ff.inner, outer    bert.encoder.layer.l.intermediate.dense, output.dense, transposed
 *     block.l.ff.norm            bert.encoder.layer.l.output.LayerNorm
 *     head.w, .b, head.norm      cls.predictions.transform.dense (transposed), LayerNorm
 *     output.bias                cls.predictions.bias
 *     pooler, follows            bert.pooler.dense, cls.seq_relationship, transposed */
#include <string.h>

#include "models/language_parts.h"
#include "regard/encoder.h"

typedef struct {
    int64_t             d;
    double              deviation;
    rg_encoder_settings encoder; /* name, reach and places are set by build */
} settings;

#define AT(field) offsetof(settings, field)

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", AT(d), "128", "width of rows (d)", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "transformer-dim-ffn", AT(encoder.ff), "0",
      "width inside the feed-forward network; 0: four times dim-emb", 0, "[0,1000000]", NULL },
    { RG_OPTION_INT, "transformer-heads", AT(encoder.heads), "4", "attention heads", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "layers", AT(encoder.layers), "4", "blocks", 0, "[1,32]", NULL },
    { RG_OPTION_REAL, "transformer-dropout", AT(encoder.dropout), "0.1",
      "share of embeddings and sub-layer outputs dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "transformer-dropout-attention", AT(encoder.dropout_attention), "0", "share of weights dropped",
      0, "[0,1)", NULL },
    { RG_OPTION_STRING, "transformer-norm", AT(encoder.norm), "post", "where the norm stands: post as printed", 0,
      "pre|post", NULL },
    { RG_OPTION_STRING, "transformer-positions", AT(encoder.positions), "learned",
      "how tokens know their place in the window", 0, "learned|sinusoidal", NULL },
    { RG_OPTION_STRING, "transformer-ffn-activation", AT(encoder.activation), "gelu", "inside the feed-forward network",
      0, "relu|gelu|gelu_tanh", NULL },
    { RG_OPTION_INT, "segments", AT(encoder.segments), "2", "kinds of segment", 0, "[0,16]", NULL },
    { RG_OPTION_BOOL, "embedding-norm", AT(encoder.entry_norm), "true", "a norm before the first block", 0, NULL,
      NULL },
    { RG_OPTION_REAL, "norm-epsilon", AT(encoder.epsilon), "1e-12", "added to variances in the norms", 0, "(0,1)",
      NULL },
    { RG_OPTION_REAL, "init-deviation", AT(deviation), "0.02", "deviation of embeddings at the start", 0, "(0,10]",
      NULL },
    RG_OPTION_END
};

typedef struct {
    rg_lm_tables tables;
    rg_param    *mask; /* (1, d); NULL: the vocabulary has a token for it */
    rg_encoder   encoder;
    rg_dense     head;
    rg_norm      head_norm;
    rg_dense     pooler, follows; /* follows.w NULL: the text has no documents */
} parts;

static rg_status build(rg_model *m)
{
    settings    *s = m->options;
    parts       *q = m->parts;
    const size_t d = (size_t)s->d, context = rg_model_size(m, "context");
    if (context < 3)
        return rg_fail(RG_EINVAL, "a bert needs a context of 3 tokens at least, two of which are <s> and </s>");
    if (s->encoder.layers < 1) return rg_fail(RG_EINVAL, "a bert without blocks");
    s->encoder.name = "transformer";
    s->encoder.reach = "groups";
    s->encoder.places = (int64_t)context;
    RG_TRY(rg_lm_tables_init(&q->tables, m, d, d, true, true, RG_INIT_NORMAL, s->deviation));
    if (!rg_model_size(m, "mask"))
        q->mask = rg_params_add(m->params, "mask", RG_TABLE, 1, d, RG_INIT_NORMAL, s->deviation);
    RG_TRY(rg_encoder_init(&q->encoder, m->params, &s->encoder, d));
    rg_dense_init(&q->head, m->params, "head", d, d, RG_GELU);
    rg_norm_init(&q->head_norm, m->params, "head.norm", d);
    q->head_norm.epsilon = s->encoder.epsilon;
    m->longest = context;
    if (!rg_model_size(m, "follows")) return RG_OK;
    rg_dense_init(&q->pooler, m->params, "pooler", d, d, RG_TANH);
    rg_dense_init(&q->follows, m->params, "follows", d, 2, RG_IDENTITY);
    return RG_OK;
}

/* A hidden token is -1: the zero row of the table, and the row `mask`. */
static rg_tensor *enter(rg_tape *t, const rg_model *m, const rg_field *text)
{
    const parts *q = m->parts;
    const size_t N = rg_field_rows(text);
    rg_tensor   *x = rg_gather(t, rg_use(t, q->tables.embedding), text->ids, N, &text->layout);
    if (!q->mask) return rg_tape_offer(t, "inputs", x, NULL);
    int32_t *hidden = rg_tape_memory(t, (N + 1) * sizeof *hidden);
    for (size_t i = 0; hidden && i < N; i++) hidden[i] = text->ids[i] < 0 ? 0 : -1;
    if (!hidden) return NULL;
    return rg_tape_offer(t, "inputs", rg_add(t, x, rg_gather(t, rg_use(t, q->mask), hidden, N, &text->layout)), NULL);
}

static rg_tensor *encode(rg_tape *t, const rg_model *m, const rg_batch *b)
{
    return rg_encoder_run(t, &((const parts *)m->parts)->encoder, enter(t, m, &b->field[RG_SOURCE]),
                          b->field[RG_SEGMENTS].ids, NULL);
}

/* The rows whose token is to be said, as they go into the last product, and what the tokens were. */
static rg_tensor *chosen_rows(rg_tape *t, const rg_model *m, const rg_batch *b, rg_tensor *h, int32_t **out_target,
                              size_t *out_count)
{
    const parts    *q = m->parts;
    const rg_field *target = &b->field[RG_TARGET];
    const size_t    N = rg_field_rows(target);
    int32_t        *row = rg_tape_memory(t, (N + 1) * sizeof *row);
    size_t          n = 0;
    *out_target = rg_tape_memory(t, (N + 1) * sizeof **out_target);
    if (!row || !*out_target) return NULL;
    for (size_t i = 0; i < N; i++)
        if (target->ids[i] >= 0) row[n] = (int32_t)i, (*out_target)[n++] = target->ids[i];
    *out_count = n;
    return rg_norm_run(t, &q->head_norm, rg_dense_run(t, &q->head, rg_gather(t, h, row, n, NULL)));
}

/* Logits of the chosen rows, in their order. */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    int32_t *target;
    size_t   n;
    return rg_lm_logits(t, &((const parts *)m->parts)->tables,
                        chosen_rows(t, m, data, encode(t, m, data), &target, &n));
}

/* Every window's answer counts as often as it has chosen tokens: both losses are means over these then. */
static rg_tensor *following(rg_tape *t, const rg_model *m, const rg_batch *b, rg_tensor *h)
{
    const parts    *q = m->parts;
    const rg_field *said = &b->field[RG_FOLLOWS], *target = &b->field[RG_TARGET];
    rg_real        *weight = rg_tape_memory(t, (b->examples + 1) * sizeof *weight);
    if (!weight) return NULL;
    for (size_t g = 0; g < b->examples; g++) {
        weight[g] = 0;
        for (int32_t i = target->layout.start[g]; i < target->layout.start[g + 1]; i++)
            weight[g] += target->ids[i] >= 0;
    }
    rg_tensor *y = rg_dense_run(t, &q->follows, rg_dense_run(t, &q->pooler, rg_last_rows(t, h, true)));
    rg_tape_watch(t, "follows", y, NULL);
    return rg_sum(t, rg_cross_entropy_rows(t, y, said->ids, 0, weight));
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_batch *b = data;
    rg_tensor      *h = encode(t, m, b);
    int32_t        *target = NULL;
    size_t          n = 0;
    rg_tensor      *x = chosen_rows(t, m, b, h, &target, &n);
    rg_tensor      *sum =
        rg_cross_entropy_over(t, x, rg_use(t, q->tables.output), rg_use(t, q->tables.output_bias), target, 0, 1);
    if (q->follows.w && rg_field_rows(&b->field[RG_FOLLOWS]) == b->examples)
        sum = rg_add(t, sum, following(t, m, b, h));
    return (rg_loss){ sum, (double)n };
}

static const rg_preset presets[] = {
    { "tiny", "4 blocks of width 128: minutes", "dim-emb: 128\nlayers: 4\ntransformer-heads: 4\n" },
    { "base", "12 blocks of width 768, 110 M parameters with 30,522 tokens",
      "dim-emb: 768\nlayers: 12\ntransformer-heads: 12\ntransformer-dropout: 0.1\ntransformer-dropout-attention: "
      "0.1\n" },
    { NULL, NULL, NULL },
};

static const rg_attention_use uses[] = {
    { "every block", "tokens", "tokens", "tokens", "scaled_dot", "groups", .watch = "block.*weights", .rows = "words",
      .cols = "words" },
    { 0 },
};

const rg_system rg_system_bert = {
    .name = "bert",
    .summary = "masked language model: Transformer blocks say what hidden tokens of a text were",
    .paper = "Devlin, Chang, Lee, Toutanova 2019",
    .task = &rg_task_language,
    .reads = "masked",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .lends = "encoder: transformer\npool: first\nends: true\ndropout-emb: 0\ndropout-words: 0\n",
    .presets = presets,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
