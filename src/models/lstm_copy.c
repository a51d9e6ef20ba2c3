/* The baseline of the Turing machine: the same puzzles with nothing but a stack of LSTM layers (three of 256 in the
 * paper). */
#include "regard/layers.h"
#include "regard/model.h"
#include "regard/puzzles.h"

typedef struct {
    int64_t layers, units;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "layers", offsetof(settings, layers), "3", "LSTM layers", 0, NULL },
    { RG_OPTION_INT, "units", offsetof(settings, units), "256", "units of a layer", 0, "[1,1000000]" },
    RG_OPTION_END
};

typedef struct {
    rg_recurrent_stack stack;
    rg_dense           output;
} parts;

static rg_status build(rg_model *m)
{
    const settings *s = m->options;
    parts          *q = m->parts;
    if (s->layers < 1 || s->layers > RG_RECURRENT_DEPTH || s->units < 1)
        return rg_fail(RG_EINVAL, "%lld layers of %lld units: 1 .. %d layers, units from 1", (long long)s->layers,
                       (long long)s->units, RG_RECURRENT_DEPTH);
    rg_recurrent_config c = RG_RECURRENT_CONFIG_DEFAULT;
    c.in = rg_model_size(m, "features");
    c.width = (size_t)s->units;
    c.depth = (size_t)s->layers;
    rg_recurrent_stack_init(&q->stack, m->params, "lstm", &c);
    rg_dense_init(&q->output, m->params, "output", c.width, rg_model_size(m, "classes"), RG_IDENTITY);
    return RG_OK;
}

static rg_tensor *predict(rg_tape *t, const rg_model *m, const void *data)
{
    const parts           *q = m->parts;
    const rg_puzzle_batch *b = data;
    const size_t           B = b->sequences, T = b->steps, A = b->answers;
    rg_tensor             *in = rg_tape_offer(t, "inputs", rg_borrow(t, b->input, B * T, b->in, b->in), NULL);
    rg_tensor             *x = rg_with_layout(t, in, &b->layout);
    rg_tensor             *h = rg_recurrent_stack_run(t, &q->stack, x, NULL);
    int32_t               *rows = rg_tape_memory(t, B * A * sizeof *rows);
    for (size_t i = 0; rows && i < B * A; i++) rows[i] = (int32_t)(i / A * T + T - A + i % A);
    return rows ? rg_dense_run(t, &q->output, rg_gather(t, h, rows, B * A, NULL)) : NULL;
}

static rg_loss loss(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_puzzle_batch *b = data;
    return (rg_loss){ rg_binary_cross_entropy(t, predict(t, m, data), b->target), (double)b->sequences };
}

static const rg_attention_use uses[] = { { 0 } };

const rg_system rg_system_lstm_copy = {
    .name = "lstm-copy",
    .summary = "LSTM layers without a memory: the Turing machine's baseline",
    .paper = "Hochreiter, Schmidhuber 1997; as in Graves, Wayne, Danihelka 2014",
    .task = &rg_task_memory,
    .batches = "puzzles",
    .uses = uses,
    .options = options,
    .options_bytes = sizeof(settings),
    .parts_bytes = sizeof(parts),
    .build = build,
    .loss = loss,
    .predict = predict,
};
