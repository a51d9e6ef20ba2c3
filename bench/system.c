/* system.c - the models whose speed docs/performance.md states. `products` counts the multiply-adds of the matrix
 * products for one target word and the source word that goes with it; attention itself is small beside them and not
 * counted. */
#include "system.h"

#include <string.h>

/* 4 + 8 square matrices, 2 x 2 of the network */
#define TRANSFORMER(d, ff, layers, V) (layers * (12.0 * d * d + 4.0 * d * ff) + (double)V * d)
#define RNNSEARCH(d, u, V)                                                                                       \
    (2 * 3.0 * u * (d + u) + 2.0 * u * u + 1.0 * u * u + 3.0 * u * (d + u + 2 * u) + 2.0 * d * (u + d + 2 * u) + \
     (double)V * d)

/* a convolution of k d x 2 d in every layer, and a query in those of the decoder */
#define CONVS2S(d, k, layers, V) (2 * layers * 2.0 * k * d * d + layers * 1.0 * d * d + (double)V * d)
/* LSTMs of 4 u x (what goes in + u): 2 directions, then 2 u, u and u; d + u, then three of 2 u */
#define GNMT(d, u, V)                                                                                                \
    (4.0 * u * (2.0 * (d + u) + 3.0 * u + 2 * 2.0 * u + (d + 2.0 * u) + 3 * 3.0 * u) + 2.0 * u * u + (double)V * u)

static const bench_system systems[BENCH_SYSTEMS] = {
    [BENCH_SMALL] = { "small", "transformer",
                      "dim-emb: 256\ntransformer-dim-ffn: 1024\ntransformer-heads: 4\nenc-depth: 3\ndec-depth: "
                      "3\ntransformer-dropout: 0\n"
                      "transformer-norm: post\ntied-embeddings-all: false\n",
                      "\"d\": 256, \"ff\": 1024, \"heads\": 4, \"layers\": 3, \"V\": 8000, \"dropout\": 0", 8000, 64,
                      TRANSFORMER(256, 1024, 3, 8000) },
    [BENCH_BASE] = { "base", "transformer",
                     "dim-emb: 512\ntransformer-dim-ffn: 2048\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: "
                     "6\ntransformer-dropout: 0\n"
                     "transformer-norm: post\ntied-embeddings-all: false\n",
                     "\"d\": 512, \"ff\": 2048, \"heads\": 8, \"layers\": 6, \"V\": 32000, \"dropout\": 0", 32000, 32,
                     TRANSFORMER(512, 2048, 6, 32000) },
    [BENCH_SMALL_DROPOUT] = { "small dropout", "transformer",
                              "dim-emb: 256\ntransformer-dim-ffn: 1024\ntransformer-heads: 4\nenc-depth: 3\ndec-depth: "
                              "3\n"
                              "transformer-dropout: 0.1\ntransformer-norm: post\ntied-embeddings-all: false\n",
                              "\"d\": 256, \"ff\": 1024, \"heads\": 4, \"layers\": 3, \"V\": 8000, \"dropout\": 0.1",
                              8000, 64, TRANSFORMER(256, 1024, 3, 8000) },
    [BENCH_RNNSEARCH] = { "rnnsearch", "rnnsearch",
                          "dim-emb: 256\ndim-rnn: 512\ncell: gru-reset-after\ndropout-rnn: 0\n",
                          "\"d\": 256, \"u\": 512, \"V\": 8000", 8000, 64, RNNSEARCH(256, 512, 8000) },
    [BENCH_TINY] = { "tiny", "transformer",
                     "dim-emb: 128\ntransformer-dim-ffn: 256\ntransformer-heads: 4\nenc-depth: 4\ndec-depth: "
                     "4\ntransformer-dropout: 0.3\n"
                     "transformer-norm: pre\ntied-embeddings-all: true\n",
                     "\"d\": 128, \"ff\": 256, \"heads\": 4, \"layers\": 4, \"V\": 10000, \"dropout\": 0.3", 10000, 0,
                     TRANSFORMER(128, 256, 4, 10000) },
    [BENCH_CONVS2S] = { "convs2s", "convs2s", "dim-emb: 256\nenc-depth: 4\ndec-depth: 4\nkernel: 3\ndropout: 0\n",
                        "\"d\": 256, \"layers\": 4, \"k\": 3, \"V\": 8000, \"places\": 512", 8000, 64,
                        CONVS2S(256, 3, 4, 8000) },
    [BENCH_GNMT] = { "gnmt", "gnmt",
                     "dim-emb: 256\ndim-rnn: 512\nenc-depth: 4\ndec-depth: 4\ndropout-rnn: 0\nlabel-smoothing: 0.1\n",
                     "\"d\": 256, \"u\": 512, \"layers\": 4, \"V\": 8000", 8000, 64, GNMT(256, 512, 8000) },
};

const bench_system *bench_system_of(size_t which) { return &systems[which]; }

rg_status bench_system_new(rg_model **out, const char *name, const char *settings, const rg_sizes *sizes)
{
    *out = NULL;
    const rg_system *system = rg_system_find(name);
    if (!system) return rg_fail(RG_EINVAL, "there is no system %s", name);
    void *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    const rg_option_group group = { .rows = system->options, .values = options };
    rg_status             status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, settings, strlen(settings), name, false);
    if (status == RG_OK) status = rg_model_new(out, system, options, sizes, 1);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

rg_status bench_fill_weights(rg_params *p)
{
    uint32_t seed = 10;
    for (size_t i = 0; i < rg_params_count(p); i++) {
        rg_param    *e = rg_params_at(p, i);
        const size_t n = rg_param_rows(e) * rg_param_cols(e), length = strlen(rg_param_name(e));
        if (strcmp(rg_param_name(e) + length - 2, ".w") != 0) continue;
        bench_fill(rg_param_data(e), n, seed++);
        for (size_t k = 0; k < n; k++) rg_param_data(e)[k] *= (rg_real)0.1;
    }
    return rg_params_repack(p, NULL);
}

rg_status bench_model_new(rg_model **out, const bench_system *s, bool endless)
{
    const rg_sizes sizes = { { { "source-vocabulary", s->vocabulary }, { "target-vocabulary", s->vocabulary },
                               { "joint-vocabulary", true }, { "bos", 1 }, { "eos", endless ? SIZE_MAX : 2 } } };
    return bench_system_new(out, s->system, s->settings, &sizes);
}

rg_status bench_language_new(rg_model **out, const char *system, const char *settings, size_t vocabulary,
                             size_t context)
{
    const rg_sizes sizes = {
        { { "target-vocabulary", vocabulary }, { "bos", 2 }, { "eos", 2 }, { "lines", 1 }, { "context", context } }
    };
    return bench_system_new(out, system, settings, &sizes);
}

/* Words 4 .. vocabulary - 1. */
static void fill_words(int32_t *ids, size_t n, size_t vocabulary, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t h = ((uint32_t)i + seed * 0x9e3779b9u) * 0x85ebca6bu;
        h = (h ^ (h >> 15)) * 0xc2b2ae35u;
        ids[i] = (int32_t)(4 + (h >> 4) % (uint32_t)(vocabulary - 4));
    }
}

rg_loss bench_loss(void *context, rg_tape *t, const void *share, int worker)
{
    (void)worker;
    const rg_model *model = context;
    return rg_model_loss(t, model, share);
}

rg_status bench_batch_new(rg_batch **out, size_t pairs, size_t vocabulary, uint32_t seed)
{
    const size_t n = pairs * BENCH_WORDS;
    *out = rg_alloc_zero(sizeof **out + pairs * sizeof(uint64_t) + (3 * n + pairs + 1) * sizeof(int32_t));
    if (!*out) return RG_ENOMEM;
    uint64_t *lines = (uint64_t *)(*out + 1);
    int32_t  *ids = (int32_t *)(lines + pairs), *start = ids + 3 * n;
    fill_words(ids, 3 * n, vocabulary, seed);
    for (size_t i = 0; i <= pairs; i++) start[i] = (int32_t)(i * BENCH_WORDS);
    for (size_t i = 0; i < pairs; i++) lines[i] = i + 1;
    const rg_layout layout = { .groups = pairs, .start = start };
    **out = (rg_batch){ .examples = pairs, .fields = 2,
                        .field = { [RG_SOURCE] = { .layout = layout, .ids = ids },
                                   [RG_TARGET] = { .layout = layout, .ids = ids + n, .previous = ids + 2 * n } },
                        .lines = lines };
    return RG_OK;
}

void bench_batch_free(rg_batch *batch) { rg_free(batch); }

rg_status bench_text_new(rg_batch **out, size_t groups, size_t rows, size_t vocabulary, uint32_t seed)
{
    const size_t n = groups * rows;
    *out = rg_alloc_zero(sizeof **out + groups * sizeof(uint64_t) + (2 * n + 2 * groups + 2) * sizeof(int32_t));
    if (!*out) return RG_ENOMEM;
    uint64_t *lines = (uint64_t *)(*out + 1);
    int32_t  *ids = (int32_t *)(lines + groups), *start = ids + 2 * n, *none = start + groups + 1;
    fill_words(ids, 2 * n, vocabulary, seed);
    for (size_t i = 0; i <= groups; i++) start[i] = (int32_t)(i * rows);
    for (size_t i = 0; i < groups; i++) lines[i] = i + 1;
    **out = (rg_batch){
        .examples = groups,
        .fields = 2,
        .field = { [RG_SOURCE] = { .layout = { .groups = groups, .start = none } },
                   [RG_TARGET] = { .layout = { .groups = groups, .start = start }, .ids = ids, .previous = ids + n } },
        .lines = lines
    };
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------------- pictures */

/* The batch, then `numbers` of the pictures, then `ints` behind them. */
static rg_status pictures_block(rg_batch **out, rg_real **values, int32_t **ints, size_t numbers, size_t count,
                                uint32_t seed)
{
    *out = rg_alloc_zero(sizeof **out + numbers * sizeof **values + count * sizeof **ints);
    if (!*out) return RG_ENOMEM;
    *values = (rg_real *)(*out + 1);
    *ints = (int32_t *)(*values + numbers);
    bench_fill(*values, numbers, seed);
    for (size_t i = 0; i < numbers; i++) (*values)[i] += (rg_real)0.5;
    return RG_OK;
}

static rg_field pixels(const rg_real *values, int32_t *start, int32_t *size, size_t n, size_t height, size_t width,
                       size_t channels)
{
    for (size_t i = 0; i <= n; i++) start[i] = (int32_t)(i * height * width);
    for (size_t i = 0; i < n; i++) size[2 * i] = (int32_t)height, size[2 * i + 1] = (int32_t)width;
    return (rg_field){ .kind = RG_FIELD_PIXELS,
                       .layout = { .groups = n, .start = start, .height = height, .width = width },
                       .values = values,
                       .width = channels,
                       .size = size };
}

rg_status bench_pictures_new(rg_batch **out, size_t n, size_t height, size_t width, size_t channels, size_t classes,
                             uint32_t seed)
{
    rg_real *values;
    int32_t *start;
    RG_TRY(pictures_block(out, &values, &start, n * height * width * channels, 5 * n + 2, seed));
    int32_t *size = start + n + 1, *at = size + 2 * n, *label = at + n + 1;
    for (size_t i = 0; i <= n; i++) at[i] = (int32_t)i;
    for (size_t i = 0; i < n; i++) label[i] = (int32_t)(i % classes);
    **out = (rg_batch){ .examples = n, .fields = 2 };
    (*out)->field[RG_INPUT] = pixels(values, start, size, n, height, width, channels);
    (*out)->field[RG_LABEL] =
        (rg_field){ .kind = RG_FIELD_CLASS, .layout = { .groups = n, .start = at }, .ids = label };
    return RG_OK;
}

size_t bench_caption_length(size_t i) { return 8 + i * 7 % 9; }

rg_status bench_captions_new(rg_batch **out, size_t n, size_t height, size_t width, size_t channels, size_t vocabulary,
                             uint32_t seed)
{
    rg_real *values;
    int32_t *start;
    size_t   rows = 0;
    for (size_t i = 0; i < n; i++) rows += bench_caption_length(i);
    RG_TRY(pictures_block(out, &values, &start, n * height * width * channels, 4 * n + 2 + 2 * rows, seed));
    int32_t *size = start + n + 1, *at = size + 2 * n, *ids = at + n + 1, *previous = ids + rows;
    fill_words(ids, rows, vocabulary, seed);
    for (size_t i = 0, row = 0; i < n; i++) {
        for (size_t k = 0; k < bench_caption_length(i); k++, row++) previous[row] = k ? ids[row - 1] : 1;
        ids[row - 1] = 2; /* </s> */
        at[i + 1] = (int32_t)row;
    }
    **out = (rg_batch){ .examples = n, .fields = 2 };
    (*out)->field[RG_SOURCE] = pixels(values, start, size, n, height, width, channels);
    (*out)->field[RG_TARGET] = (rg_field){
        .kind = RG_FIELD_IDS, .layout = { .groups = n, .start = at }, .ids = ids, .previous = previous
    };
    return RG_OK;
}
