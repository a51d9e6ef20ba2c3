/* A class for each word from the words around it (Collobert et al. 2011, the window approach):
 *
 *     h_i = tanh([E[x_i-r] ; ... ; E[x_i] ; ... ; E[x_i+r]] W + b)          beyond the sentence: zeros
 *     y_i = h_i V + c */
#include "regard/layers.h"
#include "regard/model.h"

enum { MOST_WINDOW = 10 };

typedef struct {
    int64_t emb, width, window;
    double  dropout;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "dim-emb", offsetof(settings, emb), "64", "numbers of a word's embedding", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "width", offsetof(settings, width), "128", "units of the hidden layer", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "window", offsetof(settings, window), "2", "words on either side", 0, "[0,10]", NULL },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.3", "share of what goes into each layer dropped", 0, "[0,1)", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_param *embedding;
    rg_dense  hidden, output;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    const size_t    d = (size_t)s->emb;
    parts          *q = m->parts;
    q->embedding = rg_params_add(m->params, "embedding", RG_TABLE, rg_model_size(m, "vocabulary"), d, RG_INIT_NORMAL, 0.1);
    rg_dense_init(&q->hidden, m->params, "hidden", d * (2 * (size_t)s->window + 1), (size_t)s->width, RG_TANH);
    rg_dense_init(&q->output, m->params, "output", (size_t)s->width, rg_model_size(m, "tags"), RG_IDENTITY);
    return RG_OK;
}

/* The word `by` places on within the same sentence; -1, the zero row, outside it. */
static int32_t *shifted(rg_tape *t, const rg_field *text, int64_t by)
{
    const rg_layout *l = &text->layout;
    int32_t         *ids = rg_tape_memory(t, (rg_field_rows(text) + 1) * sizeof *ids);
    for (size_t g = 0; ids && g < l->groups; g++)
        for (int64_t i = l->start[g]; i < l->start[g + 1]; i++)
            ids[i] = i + by >= l->start[g] && i + by < l->start[g + 1] ? text->ids[i + by] : -1;
    return ids;
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_field *text = &((const rg_batch *)data)->field[RG_INPUT];
    const size_t    n = 2 * (size_t)s->window + 1;
    rg_tensor      *word[2 * MOST_WINDOW + 1];
    for (size_t k = 0; k < n; k++)
        word[k] = rg_gather(t, rg_use(t, q->embedding), shifted(t, text, (int64_t)k - s->window), rg_field_rows(text), &text->layout);
    rg_tensor *h = rg_dense_run(t, &q->hidden, rg_dropout(t, rg_concat_columns(t, n, word), s->dropout)); /* (words, width) */
    return rg_dense_run(t, &q->output, rg_dropout(t, h, s->dropout));                                     /* (words, tags)  */
}

/* Rows that continue a word have no tag, -1, and no loss. */
static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_field *tags = &((const rg_batch *)data)->field[RG_LABEL];
    double          words = 0;
    for (size_t i = 0; i < rg_field_rows(tags); i++) words += tags->ids[i] >= 0;
    return (rg_loss){ rg_cross_entropy(t, predict(t, m, data), tags->ids, 0), words };
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_tagger = {
    .name = "tagger",
    .summary = "a class for each word from the words around it",
    .paper = "Collobert, Weston, Bottou, Karlen, Kavukcuoglu, Kuksa 2011",
    .task = &rg_task_tag,
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
