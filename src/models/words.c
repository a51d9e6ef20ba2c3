/* A text as the set of its words, whatever their order: the mean of their embeddings, then one linear layer. The
 * baseline of every classifier (Iyyer et al. 2015, "Deep unordered composition rivals syntactic methods for text
 * classification", without hidden layers; fastText).
 *
 *     y = mean_i E[x_i] W + b */
#include "regard/layers.h"
#include "regard/model.h"

typedef struct {
    int64_t width;
    double  dropout;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "width", offsetof(settings, width), "100", "numbers of a word's embedding", 0, "[1,1000000]" },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.3", "share of the text's mean dropped", 0, "[0,1)" },
    RG_OPTION_END
};

typedef struct {
    rg_param *embedding;
    rg_dense  output;
} parts;

static rg_status build(rg_model *m)
{
    const size_t d = (size_t)((const settings *)m->options)->width;
    parts       *q = m->parts;
    q->embedding =
        rg_params_add(m->params, "embedding", RG_TABLE, rg_model_size(m, "vocabulary"), d, RG_INIT_NORMAL, 0.1);
    rg_dense_init(&q->output, m->params, "output", d, rg_model_size(m, "classes"), RG_IDENTITY);
    return rg_sizes_put(&m->sizes, "units", d);
}

static rg_tensor *enter(rg_tape *t, const rg_model *m, const void *data)
{
    const parts    *q = m->parts;
    const rg_field *text = &((const rg_batch *)data)->field[RG_INPUT];
    return rg_gather(t, rg_use(t, q->embedding), text->ids, rg_field_rows(text), &text->layout); /* (words, d) */
}

static rg_tensor *features(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    (void)data;
    return rg_dropout(t, rg_mean_groups(t, x), ((const settings *)m->options)->dropout); /* (texts, d) */
}

static rg_tensor *answer(rg_tape *t, const rg_model *m, const void *data, rg_tensor *x)
{
    (void)data;
    return rg_dense_run(t, &((const parts *)m->parts)->output, x); /* (texts, classes) */
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_words = {
    .name = "words",
    .summary = "the class of a text from the mean of its words' embeddings",
    .paper = "the averaging network of Iyyer, Manjunatha, Boyd-Graber, Daume 2015, one layer",
    .task = &rg_task_classify,
    .reads = "text",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .enter = enter,
    .features = features,
    .answer = answer,
    .compare = rg_compare_classes,
    .predict = rg_model_predict,
};
