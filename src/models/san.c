/* Stacked attention network (Yang, He, Gao, Deng, Smola 2016): a question about a picture; the network looks where the
 * question says, asks again with what it saw, and answers.
 *
 *     v_i = tanh(W_I f_i + b)                                            cells of the picture
 *     u^0 = the question: the last state of an LSTM, or the largest of its 1-, 2- and 3-grams through dense layers
 *     p^k = softmax_i(w^k . tanh(W^k v_i + U^k u^{k-1} + b))             u^k = u^{k-1} + sum_i p^k_i v_i,    k = 1 .. hops
 *     answer = softmax(W u^K + b),    or with --hidden H:    softmax(W relu(W' u^K + b') + b)
 *
 * The paper's answer is linear in u^K, a sum of the question and what was seen: whether a cell's place or its shape is
 * asked for cannot be chosen there. A hidden layer can: with it questions of several kinds are answered from one cell.
 * --pool mean gives all cells the same weight in every hop, --pool none answers from the question alone: two controls.
 * The questions of a picture share its cells. */
#include <string.h>

#include "models/picture_parts.h"

typedef struct {
    rg_picture_settings picture;
    char               *question, *pool, *score;
    int64_t             hops, d, width, hidden;
    double              dropout;
} settings;

enum { MOST_HOPS = 8, GRAMS = 3 };

static const rg_option options[] = {
    RG_PICTURE_ROWS(settings),
    { RG_OPTION_INT, "hops", offsetof(settings, hops), "2", "times the network looks", 0, "[1,8]", NULL },
    { RG_OPTION_STRING, "question", offsetof(settings, question), "lstm",
      "how a question is read; grams: a network on 1-, 2- and 3-grams", 0, "lstm|grams", NULL },
    { RG_OPTION_STRING, "pool", offsetof(settings, pool), "attention",
      "controls: mean, no attention; none, the question alone", 0, "attention|mean|none", NULL },
    { RG_OPTION_STRING, "score", offsetof(settings, score), "additive",
      "score of every hop (`regard scores`); general: u^T W v", 0, "additive|general|dot|scaled_dot|concat", NULL },
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "64", "width of embeddings", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "width", offsetof(settings, width), "128", "of questions, cells and what is answered from", 0,
      "[1,1000000]", NULL },
    { RG_OPTION_INT, "hidden", offsetof(settings, hidden), "0",
      "units between the last sum and the answers; 0: none, as in the paper", 0, "[0,1000000]", NULL },
    { RG_OPTION_REAL, "dropout", offsetof(settings, dropout), "0.1",
      "share of embeddings and of what is answered from that is dropped", 0, "[0,1)", NULL },
    RG_OPTION_END
};

typedef struct {
    rg_picture_parts   picture;
    rg_param          *table;
    rg_recurrent_stack reader;
    rg_dense           gram[GRAMS], join, cells, hidden, output;
    rg_attention       hop[MOST_HOPS];
} parts;

static rg_status build(rg_model *m)
{
    const settings     *s = m->options;
    parts              *q = m->parts;
    const size_t        d = (size_t)s->d, width = (size_t)s->width;
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    rg_attention_config a = RG_ATTENTION_CONFIG_DEFAULT;
    RG_TRY(rg_picture_build(&q->picture, m, &s->picture));
    q->table = rg_params_add(m->params, "embedding", RG_TABLE, rg_model_size(m, "vocabulary"), d, RG_INIT_NORMAL, 0.3);
    c.in = d;
    c.width = width;
    if (s->question[0] == 'l') rg_recurrent_stack_init(&q->reader, m->params, "question", &c);
    for (size_t n = 0; s->question[0] == 'g' && n < GRAMS; n++) {
        char name[16];
        snprintf(name, sizeof name, "gram.%zu", n + 1);
        rg_dense_init(&q->gram[n], m->params, name, (n + 1) * d, width, RG_TANH);
    }
    if (s->question[0] == 'g') rg_dense_init(&q->join, m->params, "question", GRAMS * width, width, RG_IDENTITY);
    if (s->pool[0] != 'n') rg_dense_init(&q->cells, m->params, "cells", q->picture.width, width, RG_TANH);
    a.score = s->score;
    a.q_width = a.k_width = a.hidden = width;
    for (size_t k = 0; k < (size_t)s->hops && s->pool[0] == 'a'; k++) {
        rg_params_push(m->params, "hop.%zu", k);
        RG_TRY(rg_attention_init(&q->hop[k], &a, m->params));
        rg_params_pop(m->params);
    }
    const size_t hidden = (size_t)s->hidden;
    if (hidden) rg_dense_init(&q->hidden, m->params, "hidden", width, hidden, RG_RELU);
    rg_dense_init(&q->output, m->params, "output", hidden ? hidden : width, rg_model_size(m, "classes"), RG_IDENTITY);
    return RG_OK;
}

/* n rows that follow each other in their text side by side, zeros past its end. */
static rg_tensor *n_grams(rg_tape *t, rg_tensor *x, const rg_layout *layout, size_t n)
{
    rg_tensor *part[GRAMS] = { x };
    const size_t rows = rg_tensor_rows(x);
    for (size_t k = 1; k < n; k++) {
        int32_t *row = rg_tape_memory(t, (rows + 1) * sizeof *row);
        if (!row) return NULL;
        for (size_t g = 0; g < layout->groups; g++)
            for (int32_t i = layout->start[g]; i < layout->start[g + 1]; i++)
                row[i] = i + (int32_t)k < layout->start[g + 1] ? i + (int32_t)k : -1;
        part[k] = rg_gather(t, x, row, rows, layout);
    }
    return n == 1 ? x : rg_concat_columns(t, n, part);
}

/* A row per question. */
static rg_tensor *read_questions(rg_tape *t, const rg_model *m, const rg_field *words, const rg_texts *texts)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    rg_tensor *x = rg_dropout(t, rg_gather(t, rg_use(t, q->table), words->ids, rg_field_rows(words), texts->layout),
                              s->dropout),
              *seen[GRAMS];
    if (!x) return NULL;
    if (s->question[0] == 'l') return rg_last_rows(t, rg_recurrent_stack_run(t, &q->reader, x, NULL), false);
    for (size_t n = 0; n < GRAMS; n++) {
        rg_tensor *y = rg_dense_run(t, &q->gram[n], n_grams(t, x, texts->layout, n + 1));
        seen[n] = y ? rg_max_groups(t, rg_with_layout(t, y, texts->layout)) : NULL;
    }
    return rg_dense_run(t, &q->join, rg_concat_columns(t, GRAMS, seen));
}

/* u^K of u^0: what every hop saw is added. */
static rg_tensor *look(rg_tape *t, const rg_model *m, rg_tensor *u, const rg_texts *texts, const rg_field *picture)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    rg_tensor      *cells = rg_picture_cells(t, &q->picture, picture), *v = rg_dense_run(t, &q->cells, cells);
    if (!v) return NULL;
    const rg_reach *reach = rg_reach_chosen(t, texts->of, texts->count, rg_tensor_layout(cells));
    for (size_t k = 0; k < (size_t)s->hops; k++) {
        rg_tape_push(t, "hop.%zu", k);
        rg_tensor *seen = s->pool[0] == 'm'
                              ? rg_gather(t, rg_mean_groups(t, v), texts->of, texts->count, NULL)
                              : rg_attend(t, &q->hop[k], u, rg_attention_prepare(t, &q->hop[k], v), v, reach);
        rg_tape_pop(t);
        u = rg_add(t, u, seen);
    }
    return u;
}

/* (questions, classes) */
static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    const parts    *q = m->parts;
    const rg_batch *b = data;
    rg_texts        texts;
    if (rg_texts_of(&texts, t, &b->field[1], (int32_t)rg_model_size(m, "eos")) != RG_OK) return NULL;
    rg_tensor *u = read_questions(t, m, &b->field[1], &texts);
    if (s->pool[0] != 'n') u = look(t, m, u, &texts, &b->field[0]);
    if (s->hidden) u = rg_dense_run(t, &q->hidden, u);
    return rg_dense_run(t, &q->output, rg_dropout(t, u, s->dropout));
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_field *answers = &((const rg_batch *)data)->field[2];
    const size_t    n = rg_field_rows(answers);
    size_t          known = 0;
    for (size_t i = 0; i < n; i++) known += answers->ids[i] >= 0;
    return (rg_loss){ rg_cross_entropy(t, predict(t, m, data), answers->ids, 0), (double)known };
}

static const rg_attention_use uses[] = {
    { "every hop", "the question and what was seen so far", "cells of the picture", "cells of the picture", "additive",
      "groups", .watch = "hop.*weights", .rows = "question", .cols = "cells" },
    { 0 },
};

const rg_system rg_system_san = {
    .name = "san",
    .summary = "answers questions about a picture: looks where the question says, once or several times",
    .paper = "Yang, He, Gao, Deng, Smola 2016, Stacked Attention Networks for Image Question Answering",
    .task = &rg_task_vqa,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
