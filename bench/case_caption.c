/* case_caption.c - a training step of the decoder of show, attend and tell: 64 captions of 8 to 16 words, each over 196
 * cells of 512 numbers that are given, an LSTM of 512 units, 5,000 words, additive attention, gate and deep output,
 * Adam. */
#include "step.h"
#include "system.h"

enum { PICTURES = 64, GRID = 14, CELL = 512, V = 5000 };

static void describe(bench_row *out, size_t row)
{
    size_t words = 0;
    (void)row;
    for (size_t i = 0; i < PICTURES; i++) words += bench_caption_length(i);
    snprintf(out->name, sizeof out->name, "%d captions, %d cells", PICTURES, GRID * GRID);
    snprintf(out->params, sizeof out->params, "\"pictures\": %d, \"cells\": %d, \"cell\": %d, \"V\": %d, \"d\": 512",
             PICTURES, GRID * GRID, CELL, V);
    out->items = (double)words;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step    *s = context;
    const rg_sizes sizes = { { { "channels", CELL },
                               { "height", GRID },
                               { "width", GRID },
                               { "encoded", 1 },
                               { "target-vocabulary", V },
                               { "bos", 1 },
                               { "eos", 2 } } };
    (void)row;
    RG_TRY(bench_system_new(&s->model, "caption",
                            "layers: ''\ncoordinates: false\ndim-emb: 512\ndim-rnn: 512\ndropout-rnn: 0\n", &sizes));
    RG_TRY(bench_captions_new(&s->batch, PICTURES, GRID, GRID, CELL, V, 1));
    return bench_step_init(s, "adam", 1e-4, team);
}

const bench_case bench_case_caption = {
    .name = "caption",
    .summary = "a training step of a captioning decoder over 196 cells",
    .rows = 1,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
