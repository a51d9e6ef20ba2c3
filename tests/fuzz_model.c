/* fuzz_model.c - any bytes as a model file: refused, or a translator that gives an answer (P1, P2). */
#include "regard/translate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static const char *const place = "fuzz-model.file";

static void put(const uint8_t *bytes, size_t count)
{
    FILE *f = fopen(place, "wb");
    if (!f || fwrite(bytes, 1, count, f) != count || fclose(f) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_translator *t = NULL;
    rg_session    *session = NULL;
    put(bytes, count);
    if (rg_translator_load(&t, place) != RG_OK) {
        if (t || !*rg_message()) abort();
        return 0;
    }
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    const char          *line = "a b";
    const rg_translated *out;
    c.search.length_factor = 0; /* one token */
    c.search.length_extra = 1;
    if (rg_session_new(&session, &t, 1, 1) == RG_OK) (void)rg_session_run(&out, session, &c, &line, 1, 0, NULL);
    rg_session_free(session);
    rg_translator_free(t);
    return 0;
}

static rg_status save(const rg_system *system)
{
    static const char *const yaml = "dim-emb: 4\ntransformer-dim-ffn: 4\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\ndim-rnn: 4\n";
    static const char *const pieces[] = { "a", "b", "c" };
    rg_vocab                *vocab = NULL;
    rg_model                *m = NULL;
    rg_translator           *t = NULL;
    void                    *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group    group = { .rows = system->options, .values = options };
    const rg_model_sizes     sizes = { .source_vocabulary = 6, .target_vocabulary = 6, .joint = true, .bos = 1, .eos = 2 };
    rg_status                status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "seed", true);
    if (status == RG_OK) status = rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 3);
    if (status == RG_OK) status = rg_model_new(&m, system, options, &sizes, 1);
    if (status == RG_OK) status = rg_translator_new(&t, m, vocab, NULL);
    if (status == RG_OK) status = rg_translator_save(t, place);
    rg_translator_free(t);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

/* Every translator; of each a second seed whose header no longer carries its checksum, so that mutations get further. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const names[] = { "transformer", "rnnsearch", "seq2seq", "luong" };
    if (index >= 8) return 0;
    if (save(rg_system_find(names[index / 2])) != RG_OK) abort();
    FILE  *f = fopen(place, "rb");
    size_t count = f ? fread(bytes, 1, room, f) : 0;
    if (f) fclose(f);
    for (size_t i = 8; index % 2 && i + 8 < count; i++)
        if (memcmp(bytes + i, "checksum", 8) == 0) bytes[i] = 'C';
    return count;
}
