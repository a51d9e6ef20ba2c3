/* case_copy.c - the loss of answers that may copy words (--copy): a whole training step of rnnsearch whose 8 target
 * words come from the vocabulary or from the 30 words of the source, 6 of which no vocabulary has. Ours touches the
 * columns of the source's words only; the peer builds the distribution over all words and those of the source. */
#include "step.h"
#include "system.h"

#include <string.h>

enum { PAIRS = 64,
       SOURCE = 30,
       TARGET = 8,
       EXTRA = 6,
       V = 8000 };

static const bench_system copying = {
    "copy", "rnnsearch", "dim-emb: 256\ndim-rnn: 512\ncell: gru-reset-after\ndropout-rnn: 0\nlabel-smoothing: 0\ncopy: true\n",
    "\"d\": 256, \"u\": 512, \"V\": 8000", V, PAIRS, 0
};

static void describe(bench_row *out, size_t row)
{
    (void)row;
    snprintf(out->name, sizeof out->name, "rnnsearch copy %dx%d -> %d", PAIRS, SOURCE, TARGET);
    snprintf(out->params, sizeof out->params,
             "\"batch\": %d, \"source\": %d, \"target\": %d, \"extra\": %d, %s", PAIRS, SOURCE, TARGET, EXTRA, copying.peer);
    out->items = PAIRS * TARGET;
}

static uint32_t scatter(uint32_t i)
{
    uint32_t h = i * 0x85ebca6bu;
    h = (h ^ (h >> 15)) * 0xc2b2ae35u;
    return h >> 4;
}

/* Every fifth source word is one that no vocabulary has; every other target word is copied. */
static rg_status make_batch(rg_batch **out)
{
    const size_t n = PAIRS * SOURCE, m = PAIRS * TARGET;
    *out = rg_alloc_zero(sizeof **out + PAIRS * sizeof(uint64_t) + (2 * n + 2 * m + 2 * (PAIRS + 1)) * sizeof(int32_t));
    if (!*out) return RG_ENOMEM;
    uint64_t *lines = (uint64_t *)(*out + 1);
    int32_t  *ids = (int32_t *)(lines + PAIRS), *copies = ids + n, *target = copies + n, *previous = target + m,
            *from = previous + m, *to = from + PAIRS + 1;
    for (size_t i = 0; i < n; i++) {
        const size_t  at = i % SOURCE;
        const int32_t word = (int32_t)(4 + scatter((uint32_t)i + 1) % (V - 4));
        ids[i] = at % 5 == 0 ? 0 : word;
        copies[i] = at % 5 == 0 ? V + (int32_t)(at / 5) : word;
    }
    for (size_t i = 0; i < m; i++) {
        const size_t pair = i / TARGET;
        target[i] = i % 2 ? copies[pair * SOURCE + scatter((uint32_t)i + 7777) % SOURCE]
                          : (int32_t)(4 + scatter((uint32_t)i + 99) % (V - 4));
        previous[i] = i % TARGET == 0 ? 1 : target[i - 1] < V ? target[i - 1]
                                                              : 0;
    }
    for (size_t i = 0; i <= PAIRS; i++) {
        from[i] = (int32_t)(i * SOURCE);
        to[i] = (int32_t)(i * TARGET);
        if (i < PAIRS) lines[i] = i + 1;
    }
    **out = (rg_batch){ .examples = PAIRS,
                        .fields = 2,
                        .field = { [RG_SOURCE] = { .layout = { .groups = PAIRS, .start = from },
                                                   .ids = ids,
                                                   .copies = copies,
                                                   .extra = EXTRA },
                                   [RG_TARGET] = { .layout = { .groups = PAIRS, .start = to },
                                                   .ids = target,
                                                   .previous = previous } },
                        .lines = lines };
    return RG_OK;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    bench_step *s = context;
    (void)row;
    RG_TRY(bench_model_new(&s->model, &copying, false));
    RG_TRY(make_batch(&s->batch));
    return bench_step_init(s, "adam", 1e-4, team);
}

const bench_case bench_case_copy = {
    .name = "copy",
    .summary = "a training step whose answers may copy words of the source",
    .rows = 1,
    .describe = describe,
    .setup = setup,
    BENCH_STEP_CASE,
};
