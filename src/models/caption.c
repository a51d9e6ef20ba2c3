/* Show, attend and tell (Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio 2015): a picture in words, or a
 * string that is drawn in it.
 *
 *     a_i = cells of a picture                          layers of convolutions, or rows that another network made
 *     h_t, c_t, z_t, alpha_t                            a writer that looks at the cells before every word (picture_parts.h)
 *     p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t))
 *
 *     soft   loss = - log p(y)  +  lambda sum_i (1 - sum_t alpha_ti)^2                doubly stochastic: no cell is left out
 *     hard   loss = - log p(y)  -  lambda_r (R - b) log alpha(drawn cell) - lambda_e H(alpha),      R = mean of log p(y_t) over the caption
 *
 * The captions of a picture share its cells: one pass through the encoder for all of them. */
#include "models/picture_parts.h"

typedef struct {
    rg_picture_settings picture;
    char               *attention, *baseline;
    int64_t             d, width;
    double              dropout, smoothing, doubly, reward, entropy, soft_share, temperature;
    bool                gate;
} settings;

static const rg_option options[] = {
    RG_PICTURE_ROWS(settings),
    { RG_OPTION_STRING, "attention", offsetof(settings, attention), "soft",
      "which cells a word sees: all weighted, one drawn, one by the Gumbel softmax; fixed, mean and none are controls",
      0, "soft|hard|gumbel|fixed|mean|none", NULL },
    { RG_OPTION_INT, "dim-emb", offsetof(settings, d), "128", "width of embeddings", 0, "[1,1000000]", NULL },
    { RG_OPTION_INT, "dim-rnn", offsetof(settings, width), "256", "width of states", 0, "[1,1000000]", NULL },
    { RG_OPTION_REAL, "dropout-rnn", offsetof(settings, dropout), "0.1",
      "share of embeddings, states and outputs dropped", 0, "[0,1)", NULL },
    { RG_OPTION_REAL, "label-smoothing", offsetof(settings, smoothing), "0", "probability spread over all words", 0,
      "[0,1)", NULL },
    { RG_OPTION_BOOL, "gate", offsetof(settings, gate), "true", "a scalar says how much of what is seen counts", 0,
      NULL, NULL },
    { RG_OPTION_REAL, "doubly-stochastic", offsetof(settings, doubly), "0",
      "lambda of the term that wants every cell seen once; soft attention", 0, "[0,inf)", NULL },
    { RG_OPTION_REAL, "reward", offsetof(settings, reward), "0.1", "lambda_r of hard attention", 0, "[0,inf)", NULL },
    { RG_OPTION_REAL, "entropy", offsetof(settings, entropy), "0.002", "lambda_e of hard attention", 0, "[0,inf)",
      NULL },
    { RG_OPTION_REAL, "soft-share", offsetof(settings, soft_share), "0.5",
      "share of batches that learn hard attention by its expectation", 0, "[0,1]", NULL },
    { RG_OPTION_STRING, "baseline", offsetof(settings, baseline), "moving",
      "what is taken from the reward of hard attention", 0, "none|moving", NULL },
    { RG_OPTION_REAL, "temperature", offsetof(settings, temperature), "1", "of --attention gumbel", 0, "(0,inf)",
      NULL },
    RG_OPTION_END
};

typedef struct {
    rg_picture_parts picture;
    rg_look          look;
    rg_rnn_parts     words; /* its output only */
    rg_hard          hard;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const size_t    V = rg_model_size(m, "target-vocabulary"), d = (size_t)s->d;
    q->look = (rg_look){
        .kind = rg_look_kind_of(s->attention), .gated = s->gate, .temperature = s->temperature, .dropout = s->dropout
    };
    q->hard = (rg_hard)RG_HARD_DEFAULT;
    q->hard.reward = s->reward, q->hard.entropy = s->entropy, q->hard.soft_share = s->soft_share;
    if (s->baseline[0] == 'n') q->hard.decay = 1; /* it stays where it began: 0 */
    RG_TRY(rg_picture_build(&q->picture, m, &s->picture));
    q->look.grid = q->picture.down * q->picture.across;
    RG_TRY(rg_look_build(&q->look, m, V, d, (size_t)s->width, q->picture.width));
    if (q->look.kind == RG_LOOK_HARD) rg_hard_init(&q->hard, m->params);
    rg_look_output(&q->words, m, V, d);
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- learning */

/* lambda sum over texts and cells of (1 - sum over its words of alpha)^2 */
static rg_tensor *doubly_stochastic(rg_tape *t, const rg_looked *seen, const rg_texts *texts, const parts *q,
                                    double lambda)
{
    const size_t cells = q->picture.down * q->picture.across, all = texts->count * cells, rows = seen->reach->Nq;
    int32_t     *text = rg_tape_memory(t, (rows + 1) * sizeof *text),
            *to = rg_tape_memory(t, (seen->reach->P + 1) * sizeof *to);
    rg_real     *ones = rg_tape_memory(t, (all + 1) * sizeof *ones);
    if (!text || !to || !ones) return NULL;
    for (size_t g = 0; g < texts->count; g++)
        for (int32_t i = texts->layout->start[g]; i < texts->layout->start[g + 1]; i++) text[i] = (int32_t)g;
    for (size_t i = 0; i < rows; i++)
        for (size_t p = seen->reach->first[i]; p < seen->reach->first[i + 1]; p++)
            to[p] = (int32_t)((size_t)text[seen->row[i]] * cells + (p - seen->reach->first[i]));
    for (size_t i = 0; i < all; i++) ones[i] = 1;
    return rg_scale(t, rg_squared_error(t, rg_scatter(t, seen->a, to, all, NULL), ones), lambda);
}

/* The reward of every query: the mean log p of the words of its caption. */
static const rg_real *rewards(rg_tape *t, const rg_looked *seen, const rg_texts *texts, const rg_tensor *losses)
{
    const size_t rows = seen->reach->Nq;
    rg_real     *of_row = rg_tape_memory(t, (rows + 1) * sizeof *of_row),
            *out = rg_tape_memory(t, (rows + 1) * sizeof *out);
    if (!of_row || !out || !losses) return NULL;
    for (size_t g = 0; g < texts->count; g++) {
        const int32_t from = texts->layout->start[g], end = texts->layout->start[g + 1];
        double        sum = 0;
        for (int32_t i = from; i < end && !rg_tape_dry(t); i++) sum -= (double)rg_tensor_at(losses, (size_t)i, 0);
        for (int32_t i = from; i < end; i++) of_row[i] = (rg_real)(sum / (end - from));
    }
    for (size_t i = 0; i < rows; i++) out[i] = of_row[seen->row[i]];
    return out;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    const rg_batch *b = data;
    const rg_field *to = &b->field[RG_TARGET];
    const bool      hard = q->look.kind == RG_LOOK_HARD, learns = rg_tape_learning(t),
               soft = hard && learns && rg_hard_coin(t, &q->hard);
    rg_texts        texts;
    rg_tensor      *cells = rg_picture_cells(t, &q->picture, &b->field[RG_SOURCE]), *each = NULL;
    if (rg_texts_of(&texts, t, to, (int32_t)rg_model_size(m, "eos")) != RG_OK) return (rg_loss){ NULL, 0 };
    const rg_looked seen = rg_look_run(t, &q->look, cells, &texts, to->previous, to->layout.first, soft);
    rg_tensor      *y = rg_dropout(t, seen.y, s->dropout);
    rg_tensor      *sum = rg_cross_entropy_over_rows(t, y, rg_use(t, q->words.output), rg_use(t, q->words.output_bias),
                                                     to->ids, learns ? s->smoothing : 0, NULL, &each);
    if (sum && learns && s->doubly > 0 && q->look.kind == RG_LOOK_SOFT)
        sum = rg_add(t, sum, doubly_stochastic(t, &seen, &texts, q, s->doubly));
    if (sum && learns && hard && !soft) {
        const rg_real *reward = rewards(t, &seen, &texts, each);
        sum = reward ? rg_add(t, sum, rg_hard_loss(t, &q->hard, seen.a, seen.picked, reward, seen.reach)) : NULL;
    }
    return (rg_loss){ sum, (double)rg_field_rows(to) };
}

/* --------------------------------------------------------------------------------------------------------- decoding */

static rg_status start(rg_decoding *d)
{
    const parts *q = d->model->parts;
    return rg_look_start(d, &q->look, rg_picture_cells(d->memory, &q->picture, &d->source));
}

static rg_tensor *step(rg_decoding *d, rg_tape *t)
{
    const parts *q = d->model->parts;
    return rg_look_answer(d, t, &q->look, &q->words);
}

static const rg_attention_use uses[] = {
    { "before every word", "the writer's previous state", "cells of the picture", "cells of the picture", "additive",
      "groups", .watch = "*look.weights", .rows = "output", .cols = "cells" },
    { 0 },
};

const rg_system rg_system_caption = {
    .name = "caption",
    .summary = "a picture in words: an LSTM that looks at its cells before every word; also reads strings",
    .paper = "Xu et al. 2015, Show, Attend and Tell",
    .task = &rg_task_caption,
    .reads = "pixels",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .state_bytes = sizeof(rg_look_memory),
    .start = start,
    .step = step,
    .keep = rg_rnn_keep,
    .finish = rg_rnn_finish,
};
