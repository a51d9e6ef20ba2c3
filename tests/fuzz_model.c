/* fuzz_model.c - any bytes as a model file: refused, or a translator that gives an answer (P1, P2). */
#include "support/small_translator.h"

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

/* The same weights in 8 bits. */
static void quantise(void)
{
    rg_translator *t;
    if (rg_translator_load_as(&t, place, RG_WEIGHT_INT8) != RG_OK || rg_translator_save(t, place) != RG_OK) abort();
    rg_translator_free(t);
}

/* Every translator, in float and in 8 bits; of each a second seed whose header no longer carries its checksum, so
 * that mutations get further. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const names[] = { "transformer", "rnnsearch", "seq2seq", "luong" };
    if (index >= 16) return 0;
    if (small_translator_save(place, names[index / 2 % 4], index < 8 ? 4 : 8) != RG_OK) abort();
    if (index >= 8) quantise();
    FILE  *f = fopen(place, "rb");
    size_t count = f ? fread(bytes, 1, room, f) : 0;
    if (f) fclose(f);
    for (size_t i = 8; index % 2 && i + 8 < count; i++)
        if (memcmp(bytes + i, "checksum", 8) == 0) bytes[i] = 'C';
    return count;
}
