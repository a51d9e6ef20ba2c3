/* A class for each word: an encoder over the sentence, and a linear layer on each of its rows. With windows it is the
 * window approach of Collobert et al. 2011; with states of both directions the tagger of Huang, Xu, Yu 2015 without the
 * CRF.
 *
 *     h = encoder(E[x])          y_i = h_i V + c */
#include "regard/encoder.h"
#include "regard/model.h"

typedef struct {
    int64_t             emb;
    double              dropout;
    rg_encoder_settings encoder;
} settings;

static const rg_option options[] = { { RG_OPTION_INT, "dim-emb", offsetof(settings, emb), "64",
                                       "numbers of a word's embedding", 0, "[1,1000000]", NULL },
                                     RG_ENCODER_ROWS(settings, encoder, "bilstm", "128"),
                                     { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.3",
                                       "share of embeddings and of the encoder's rows dropped", 0, "[0,1)", NULL },
                                     RG_OPTION_END };

typedef struct {
    rg_param  *embedding;
    rg_encoder encoder;
    rg_dense   output;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    const size_t    d = (size_t)s->emb;
    parts          *q = m->parts;
    q->embedding = rg_params_add(m->params, "embedding", RG_TABLE, rg_model_size(m, "vocabulary"), d, RG_INIT_NORMAL,
                                 rg_encoder_deviation(&s->encoder, d));
    RG_TRY(rg_encoder_init(&q->encoder, m->params, &s->encoder, d));
    rg_dense_init(&q->output, m->params, "output", q->encoder.out, rg_model_size(m, "tags"), RG_IDENTITY);
    m->longest = rg_encoder_longest(&q->encoder);
    return rg_sizes_put(&m->sizes, "units", q->encoder.out);
}

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *text = &((const rg_batch *)data)->field[RG_INPUT];
    return rg_gather(t, rg_use(t, q->embedding), text->ids, rg_field_rows(text), &text->layout); /* (words, d) */
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    (void)data;
    return rg_encoder_run(t, &q->encoder, rg_dropout(t, x, s->dropout), NULL, NULL); /* (words, out) */
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *h)
{
    (void)data;
    return rg_dense_run(t, &((const parts *)m->parts)->output, rg_dropout(t, h, ((const settings *)m->options)->dropout)); /* (words, tags) */
}

/* Rows that continue a word have no tag, -1, and no loss. */
static rg_loss compare(rg_tape *t, const void *data, rg_tensor *logits)
{
    const rg_field *tags = &((const rg_batch *)data)->field[RG_LABEL];
    double          words = 0;
    for (size_t i = 0; i < rg_field_rows(tags); i++) words += tags->ids[i] >= 0;
    return (rg_loss){ rg_cross_entropy(t, logits, tags->ids, 0), words };
}

static const rg_attention_use uses[] = {
    { "every block", "words", "words", "words", "scaled_dot", "groups", .watch = "block.*weights", .rows = "words",
      .cols = "words" },
    { 0 },
};

const rg_system rg_system_tagger = {
    .name = "tagger",
    .summary = "a class for each word of a sentence, by any of the classifier's encoders",
    .paper = "Collobert et al. 2011 (window); Huang, Xu, Yu 2015 (bilstm)",
    .task = &rg_task_tag,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .earlier = "encoder: window\n",
    .parts_bytes = sizeof(parts),
    .build = build,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = compare,
    .predict = rg_model_predict,
};
