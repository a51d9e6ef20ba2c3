/* small_translator.c - see small_translator.h */
#include "support/small_translator.h"

static rg_status build(rg_model **out, const rg_system *system, void *options, const char *yaml, size_t bytes)
{
    const rg_option_group group = { .rows = system->options, .values = options };
    const rg_sizes  sizes = { { { "source-vocabulary", 6 }, { "target-vocabulary", 6 },
                             { "joint-vocabulary", true }, { "bos", 1 }, { "eos", 2 } } };
    RG_TRY(rg_options_read_yaml(&group, 1, yaml, bytes, "test", true));
    return rg_model_new(out, system, options, &sizes, 1);
}

rg_status small_translator_save(const char *path, const char *name, unsigned width)
{
    static const char *const pieces[] = { "a", "b", "c" };
    const rg_system         *system = rg_system_find(name);
    rg_vocab                *vocab = NULL;
    rg_model                *m = NULL;
    rg_translator           *t = NULL;
    char                     yaml[160];
    const int                bytes = snprintf(
                       yaml, sizeof yaml,
                       "dim-emb: %u\ntransformer-dim-ffn: %u\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\ndim-rnn: %u\n", width,
                       width, width);
    void     *options = rg_alloc_zero(system->options_bytes);
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = build(&m, system, options, yaml, (size_t)bytes);
    if (status == RG_OK) status = rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 3);
    if (status == RG_OK) status = rg_translator_new(&t, m, vocab, NULL);
    if (status == RG_OK) status = rg_translator_save(t, path);
    rg_translator_free(t);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}
