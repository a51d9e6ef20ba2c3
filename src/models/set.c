/* Pictures to sets of labels (Pineda, Salvador, Drozdzal, Romero 2019), by any of the predictors that paper compares:
 *
 *     bce               p_c = sigmoid(w_c . h), h of the pooled cells; binary cross-entropy; members have p > 1/2
 *     iou               the same with the soft intersection over union
 *     td                p = softmax; cross-entropy with y / |y|; the likeliest are members until their p add up to 1/2
 *     lstm              an LSTM that looks at the cells writes label after label and then the end
 *     transformer       blocks of self-attention and attention to the cells do (no positions: labels have none)
 *     set-transformer   the same blocks read their own answers; p pooled over the steps: no order of labels is learned from
 *
 * --cardinality cat (bce, iou, td): a head says how many members there are, and so many of the likeliest are taken. Labels that were written are
 * not written again; while learning, labels come in an order that is drawn anew each time (--shuffle). */
#include "layers/set_losses.h"
#include "models/set_parts.h"

typedef struct {
    rg_picture_settings picture;
    rg_set_settings     set;
    char               *predictor, *cardinality, *pool;
    int64_t             hidden;
} settings;

static const rg_option options[] = { RG_PICTURE_ROWS(settings),
                                     { RG_OPTION_STRING, "predictor", offsetof(settings, predictor), "transformer",
                                       "how the set is found", 0, "bce|iou|td|lstm|transformer|set-transformer", NULL },
                                     { RG_OPTION_STRING, "cardinality", offsetof(settings, cardinality), "none",
                                       "a head for the number of members (bce, iou, td)", 0, "none|cat", NULL },
                                     { RG_OPTION_STRING, "pool", offsetof(settings, pool), "max",
                                       "how cells become one row (bce, iou, td)", 0, "mean|max", NULL },
                                     { RG_OPTION_INT, "hidden", offsetof(settings, hidden), "128",
                                       "units between the pooled row and the labels (bce, iou, td)", 0, "[1,100000]",
                                       NULL },
                                     RG_SET_WRITER_ROWS(settings, set),
                                     RG_OPTION_END };

typedef struct {
    rg_picture_parts picture;
    rg_set_writer    writer;
    rg_dense         hidden, labels, count;
} parts;

static const settings *its(const rg_model *m) { return m->options; }
static bool            is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static bool            at_once(const settings *s)
{
    return is(s->predictor, "bce") || is(s->predictor, "iou") || is(s->predictor, "td");
}
static bool            counts(const settings *s) { return at_once(s) && is(s->cardinality, "cat"); }

static rg_status build(rg_model *m)
{
    const settings *s = its(m);
    parts          *q = m->parts;
    const size_t    C = rg_model_size(m, "classes"), most = rg_model_size(m, "most-members");
    RG_TRY(rg_picture_build(&q->picture, m, &s->picture));
    if (!at_once(s)) return rg_set_writer_build(&q->writer, m, &s->set, q->picture.width, is(s->predictor, "lstm"));
    rg_dense_init(&q->hidden, m->params, "hidden", q->picture.width, (size_t)s->hidden, RG_RELU);
    rg_dense_init(&q->labels, m->params, "labels", (size_t)s->hidden, C, RG_IDENTITY);
    if (counts(s)) rg_dense_init(&q->count, m->params, "count", (size_t)s->hidden, most + 1, RG_IDENTITY);
    return RG_OK;
}

static rg_tensor *pooled(rg_tape *t, const settings *s, const parts *q, rg_tensor *cells)
{
    rg_tensor *row = is(s->pool, "mean") ? rg_mean_groups(t, cells) : rg_max_groups(t, cells);
    return rg_dropout(t, rg_dense_run(t, &q->hidden, row), s->set.dropout);
}

/* --------------------------------------------------------------------------------------------------------- learning */

/* For those who watch: of each label that is given, in the order of the writers, (0, x): its logit against not being a
 * member. */
static void show_logits(rg_tape *t, const rg_field *set, rg_tensor *logits)
{
    const size_t n = rg_field_rows(set), G = set->layout.groups;
    if (!rg_tape_watched(t, "logits") || !logits) return;
    int32_t *row = rg_tape_memory(t, (n + 1) * sizeof *row);
    for (size_t g = 0; row && g < G; g++)
        for (int32_t i = set->layout.start[g]; i < set->layout.start[g + 1]; i++) row[i] = (int32_t)g;
    if (!row) return;
    rg_tensor *pair[2] = { rg_zeros(t, n, 1, NULL), rg_pick(t, rg_gather(t, logits, row, n, NULL), set->ids) };
    rg_tape_watch(t, "logits", rg_concat_columns(t, 2, pair), NULL);
}

static rg_tensor *loss_at_once(rg_tape *t, const rg_model *m, const rg_field *set, rg_tensor *cells)
{
    const settings *s = its(m);
    const parts    *q = m->parts;
    const size_t    C = rg_model_size(m, "classes"), most = rg_model_size(m, "most-members"), G = set->layout.groups;
    rg_tensor      *h = pooled(t, s, q, cells), *logits = rg_dense_run(t, &q->labels, h);
    rg_real        *y = rg_set_targets(t, set, C), *each = y ? rg_tape_memory(t, (G + 1) * sizeof *each) : NULL;
    int32_t        *count = each ? rg_tape_memory(t, (G + 1) * sizeof *count) : NULL;
    if (!count) return NULL;
    show_logits(t, set, logits);
    for (size_t g = 0; g < G; g++) {
        const int32_t n = set->layout.start[g + 1] - set->layout.start[g];
        count[g] = n < (int32_t)most ? n : (int32_t)most;
        each[g] = n > 0;
        for (size_t c = 0; c < C && n && is(s->predictor, "td"); c++) y[g * C + c] /= (rg_real)n;
    }
    rg_tensor *sum = is(s->predictor, "bce")   ? rg_binary_cross_entropy(t, logits, y)
                     : is(s->predictor, "iou") ? rg_soft_iou(t, logits, y)
                                               : rg_soft_cross_entropy(t, logits, rg_constant(t, y, G, C, NULL), each);
    return counts(s) ? rg_add(t, sum, rg_cross_entropy(t, rg_dense_run(t, &q->count, h), count, 0)) : sum;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = its(m);
    parts          *q = m->parts;
    const rg_batch *b = data;
    const rg_field *set = &b->field[RG_LABEL];
    rg_tensor      *cells = rg_picture_cells(t, &q->picture, &b->field[RG_INPUT]);
    rg_tensor      *sum = at_once(s)                            ? loss_at_once(t, m, set, cells)
                          : is(s->predictor, "set-transformer") ? rg_set_writer_pooled_loss(t, m, &q->writer, set, cells)
                                                                : rg_set_writer_loss(t, m, &q->writer, set, cells);
    return (rg_loss){ sum, (double)b->examples };
}

/* -------------------------------------------------------------------------------------------------------- answering */

/* The k likeliest of a row become members: their number above 1/2, the others below, both rising with p. */
static void take(rg_real *to, const double *p, size_t C, size_t k)
{
    for (size_t c = 0; c < C; c++) {
        size_t before = 0;
        for (size_t j = 0; j < C; j++) before += p[j] > p[c] || (p[j] == p[c] && j < c);
        to[c] = (rg_real)(before < k ? 0.5 + 1e-6 + p[c] * 0.49 : p[c] / 2);
    }
}

/* How many to take: by the head, or until half of the probability is taken. */
static size_t how_many(const double *p, size_t C, const rg_tensor *count, size_t g)
{
    size_t best = 0, k = 0;
    double sum = 0;
    for (size_t c = 1; count && c < rg_tensor_cols(count); c++)
        if (rg_tensor_at(count, g, c) > rg_tensor_at(count, g, best)) best = c;
    if (count) return best;
    for (double last = 2; k < C && sum <= 0.5; k++) {
        double next = -1;
        for (size_t c = 0; c < C; c++)
            if (p[c] < last && p[c] > next) next = p[c];
        sum += next, last = next;
    }
    return k;
}

static rg_tensor *answer_at_once(rg_tape *t, const rg_model *m, rg_tensor *cells)
{
    const settings *s = its(m);
    const parts    *q = m->parts;
    rg_tensor      *h = pooled(t, s, q, cells), *logits = rg_dense_run(t, &q->labels, h);
    const bool      td = is(s->predictor, "td");
    rg_tensor      *p = td ? rg_softmax(t, logits) : rg_sigmoid(t, logits),
              *count = counts(s) ? rg_dense_run(t, &q->count, h) : NULL;
    const size_t    G = rg_tensor_rows(p), C = rg_tensor_cols(p);
    if (!p || (!td && !count)) return p;
    rg_real *out = rg_tape_memory(t, (G * C + 1) * sizeof *out);
    double  *row = out ? rg_tape_memory(t, (C + 1) * sizeof *row) : NULL;
    for (size_t g = 0; row && g < G; g++) {
        for (size_t c = 0; c < C; c++) row[c] = (double)rg_tensor_at(p, g, c);
        take(out + g * C, row, C, how_many(row, C, count, g));
    }
    return row ? rg_constant(t, out, G, C, NULL) : NULL;
}

/* (pictures, labels): above 1/2 are the members. */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    parts          *q = m->parts;
    const rg_batch *b = data;
    rg_tensor      *cells = rg_picture_cells(t, &q->picture, &b->field[RG_INPUT]);
    return at_once(its(m)) ? answer_at_once(t, m, cells) : rg_set_writer_answer(t, m, &q->writer, cells);
}

static const rg_attention_use uses[] = {
    { "before every label (lstm, transformer, set-transformer)", "labels so far", "cells of the picture",
      "cells of the picture", "additive, scaled_dot", "groups", .watch = "*look*weights", .rows = "labels",
      .cols = "cells" },
    { 0 },
};

const rg_system rg_system_set = {
    .name = "set",
    .summary = "the set of labels of a picture, all at once or written one by one",
    .paper = "Pineda, Salvador, Drozdzal, Romero 2019, Elucidating Image-to-Set Prediction",
    .task = &rg_task_set,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
