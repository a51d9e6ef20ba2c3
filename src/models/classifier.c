/* One class or one number of a text or of a sequence of numbers: an encoder, a pooling, a linear layer.
 *
 *     x_i = E[w_i]            numbers: (n_i + shift) scale W + b, every column with mean 0 and deviation 1 on the training data
 *     h   = encoder(x)        (words, out): recurrent, transformer, windows, or the rows as they are
 *     y   = pool(h) W + b     last, first, mean, max, or rows of attention (Lin et al. 2017)
 *
 *     L   = L_task + overlap |A A^T - I|^2 + lm_weight L_LM
 *
 * The overlap is of several rows of attention. L_LM (Radford et al. 2018) is of the next token, from causal blocks
 * and the embedding, a mean over the tokens of each text. Parameters are called as in bert and gpt: --init-from
 * takes theirs. */
#include <string.h>

#include "regard/encoder.h"
#include "regard/model.h"

typedef struct {
    int64_t             emb, rows, hidden;
    char               *pool;
    double              dropout, dropout_emb, dropout_words, overlap, lm_weight;
    rg_encoder_settings encoder;
} settings;

#define AT(field) offsetof(settings, field)

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", AT(emb), "100", "numbers of a token's embedding", 0, "[1,1000000]", NULL },
    RG_ENCODER_ROWS(settings, encoder, "bilstm", "100"),
    { RG_OPTION_STRING, "pool", AT(pool), "attention", "what makes one row of a text's rows", 0,
      "last|first|mean|max|attention", NULL },
    { RG_OPTION_INT, "attention-rows", AT(rows), "1", "rows of attention, side by side", 0, "[1,64]", NULL },
    { RG_OPTION_INT, "attention-dim", AT(hidden), "64", "width inside the score of attention", 0, "[1,100000]", NULL },
    { RG_OPTION_REAL, "overlap-penalty", AT(overlap), "0.1", "weight of the overlap of several rows of attention", 0,
      "[0,inf)", NULL },
    { RG_OPTION_REAL, "dropout", AT(dropout), "0.5", "share of the pooled row dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "dropout-emb", AT(dropout_emb), "0.5", "share of the embeddings dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "dropout-words", AT(dropout_words), "0.3", "share of whole tokens dropped (Iyyer et al. 2015)", 0,
      "[0,1)", NULL },
    { RG_OPTION_REAL, "lm-weight", AT(lm_weight), "0",
      "weight of the loss of each next token; needs --transformer-reach causal", 0, "[0,1000]", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_param  *embedding;          /* of texts                               */
    rg_param  *shift, *scale;      /* of numbers, kept: from training data   */
    rg_dense   entry;              /* of numbers                             */
    rg_encoder encoder;
    rg_pool    pool;
    rg_dense   output;
    rg_param  *out_shift, *out_scale; /* of a number that is answered, kept  */
} parts;

static rg_status check(const rg_model *m, const settings *s)
{
    const bool causal = strcmp(s->encoder.reach, "causal") == 0 && strcmp(s->encoder.name, "transformer") == 0;
    if (s->lm_weight > 0 && !causal)
        return rg_fail(RG_EINVAL,
                       "--lm-weight %g: each next token is predicted from those before it; give --encoder transformer "
                       "--transformer-reach causal",
                       s->lm_weight);
    if (s->lm_weight > 0 && !rg_model_size(m, "vocabulary"))
        return rg_fail(RG_EINVAL, "--lm-weight is for texts, not for numbers");
    return RG_OK;
}

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    const size_t    d = (size_t)s->emb, V = rg_model_size(m, "vocabulary"), in = rg_model_size(m, "features");
    parts          *q = m->parts;
    RG_TRY(check(m, s));
    if (V) {
        q->embedding = rg_params_add(m->params, "embedding", s->lm_weight > 0 ? RG_TIED : RG_TABLE, V, d,
                                     RG_INIT_NORMAL, rg_encoder_deviation(&s->encoder, d));
    } else {
        q->shift = rg_params_add(m->params, "input.shift", RG_KEPT, 1, in, RG_INIT_ZERO, 0);
        q->scale = rg_params_add(m->params, "input.scale", RG_KEPT, 1, in, RG_INIT_ONE, 1);
        rg_dense_init(&q->entry, m->params, "numbers", in, d, RG_IDENTITY);
    }
    RG_TRY(rg_encoder_init(&q->encoder, m->params, &s->encoder, d));
    RG_TRY(rg_pool_init(&q->pool, m->params, s->pool, q->encoder.out, (size_t)s->rows, (size_t)s->hidden));
    rg_dense_init(&q->output, m->params, "output", q->pool.out, rg_model_size(m, "classes"), RG_IDENTITY);
    m->longest = rg_encoder_longest(&q->encoder);
    RG_TRY(rg_sizes_put(&m->sizes, "units", q->pool.out));
    if (!rg_model_size(m, "regression")) return RG_OK;
    q->out_shift = rg_params_add(m->params, "output.shift", RG_KEPT, 1, rg_model_size(m, "classes"), RG_INIT_ZERO, 0);
    q->out_scale = rg_params_add(m->params, "output.scale", RG_KEPT, 1, rg_model_size(m, "classes"), RG_INIT_ONE, 1);
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- steps */

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *x = &((const rg_batch *)data)->field[RG_INPUT];
    const size_t    rows = rg_field_rows(x);
    if (q->embedding) return rg_gather(t, rg_use(t, q->embedding), x->ids, rows, &x->layout); /* (tokens, d) */
    rg_tensor *n = rg_constant(t, x->values, rows, x->width, &x->layout);
    return rg_dense_run(t, &q->entry, rg_mul(t, rg_add(t, n, rg_use(t, q->shift)), rg_use(t, q->scale)));
}

static rg_tensor *encode(rg_tape *t, const rg_model *m, rg_tensor *x, rg_tensor **end)
{
    const settings *s = m->options;
    if (s->dropout_words > 0 && rg_tape_learning(t) && x) /* a row of zeros instead of a token */
        x = rg_mul(t, x, rg_dropout(t, rg_shift(t, rg_zeros(t, rg_tensor_rows(x), 1, NULL), 1), s->dropout_words));
    return rg_encoder_run(t, &((const parts *)m->parts)->encoder, rg_dropout(t, x, s->dropout_emb), NULL, end);
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    rg_tensor *end, *h = encode(t, m, x, &end);
    (void)data;
    return rg_pool_run(t, &((const parts *)m->parts)->pool, h, end, NULL); /* (texts, out) */
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    const parts *q = m->parts;
    (void)data;
    x = rg_dense_run(t, &q->output, rg_dropout(t, x, ((const settings *)m->options)->dropout)); /* (texts, classes) */
    return q->out_scale ? rg_add(t, rg_mul(t, x, rg_use(t, q->out_scale)), rg_use(t, q->out_shift)) : x;
}

/* The next token of every token but a text's last, a mean over them: sum over the texts. */
static rg_tensor *next_pieces(rg_tape *t, const rg_model *m, const rg_field *text, rg_tensor *h)
{
    const rg_layout *l = &text->layout;
    const size_t     N = rg_field_rows(text);
    int32_t         *next = rg_tape_memory(t, (N + 1) * sizeof *next);
    rg_real         *weight = rg_tape_memory(t, (N + 1) * sizeof *weight);
    for (size_t g = 0; next && weight && g < l->groups; g++)
        for (int32_t i = l->start[g]; i < l->start[g + 1]; i++) {
            const bool last = i + 1 == l->start[g + 1];
            next[i] = last ? -1 : text->ids[i + 1];
            weight[i] =
                last ? 0 : (rg_real)(((const settings *)m->options)->lm_weight / (l->start[g + 1] - l->start[g] - 1));
        }
    if (!next || !weight) return NULL;
    return rg_cross_entropy_over_rows(t, h, rg_use(t, ((const parts *)m->parts)->embedding), NULL, next, 0, weight,
                                      NULL);
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    rg_tensor      *end, *overlap, *h = encode(t, m, enter(t, m, data), &end);
    rg_tensor      *pooled = rg_pool_run(t, &q->pool, h, end, &overlap);
    rg_loss         all = rg_compare_classes(t, data, answer(t, m, data, pooled));
    if (overlap && s->overlap > 0) all.sum = rg_add(t, all.sum, rg_scale(t, overlap, s->overlap));
    if (s->lm_weight > 0)
        all.sum = rg_add(t, all.sum, next_pieces(t, m, &((const rg_batch *)data)->field[RG_INPUT], h));
    return all;
}

static const rg_preset presets[] = {
    { "kim", "windows of 3, 4 and 5 words, 100 maps each, the largest of each over the text (Kim 2014)",
      "encoder: cnn\npool: max\nmaps: 100\ndim-emb: 300\ndropout: 0.5\n" },
    { "lin", "states of both directions, several rows of attention kept apart (Lin et al. 2017)",
      "encoder: bilstm\npool: attention\nattention-rows: 4\noverlap-penalty: 0.3\n" },
    { NULL, NULL, NULL },
};

static const rg_attention_use uses[] = {
    { "pooling", "none: a learned vector per row", "rows of the encoder", "rows of the encoder", "vector", "groups",
      .watch = "pool.weights", .rows = "class", .cols = "words" },
    { "every block", "rows", "rows", "rows", "scaled_dot", "groups or causal", .watch = "block.*weights",
      .rows = "words", .cols = "words" },
    { 0 },
};

const rg_system rg_system_classifier = {
    .name = "classifier",
    .summary = "the class of a text, or a number of a sequence: an encoder and a pooling by name",
    .paper = "Kim 2014 (cnn); Lin et al. 2017 (attention); Devlin et al. 2019, Radford et al. 2018 (fine-tuned)",
    .task = &rg_task_classify,
    .reads = "text|sequence|sound",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .presets = presets,
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = rg_compare_classes,
    .predict = rg_model_predict,
};
