/* fuzz_shortlist.c - any bytes as a shortlist, Marian's text and the bytes of a model file: refused, or a list whose
 * picks are tokens of the vocabulary, rising, with the end among them (P1). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/seams.h"
#include "regard/shortlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(bool condition)
{
    if (!condition) abort();
}

static void use(rg_shortlist *list, const rg_vocab *vocab)
{
    static const int32_t source[] = { 3, 4, 5, -1, 99, 2 };
    rg_ids               ids = { 0 };
    bool                 end = false;
    must(rg_shortlist_pick(&ids, list, source, 6, NULL, 0) == RG_OK);
    for (size_t i = 0; i < ids.count; i++) {
        must(ids.data[i] >= 0 && (size_t)ids.data[i] < rg_vocab_size(vocab) && (!i || ids.data[i] > ids.data[i - 1]));
        end = end || ids.data[i] == rg_vocab_eos(vocab);
    }
    must(end);
    rg_ids_free(&ids);
    rg_shortlist_free(list);
}

static void use_bytes(const uint8_t *bytes, size_t count, const rg_vocab *vocab)
{
    rg_shortlist *list;
    uint8_t      *copy = malloc(count + 8);
    must(copy != NULL);
    memcpy(copy, bytes, count);
    const uint64_t sum = rg_hash64_of(copy, count); /* the checksum it would have */
    memcpy(copy + count, &sum, sizeof sum);
    if (rg_shortlist_from_bytes(&list, copy, count + 8, vocab, vocab) == RG_OK) use(list, vocab);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const  pieces[] = { "a", "b", "c", "NULLs" };
    const rg_shortlist_config c = { .first = 2, .best = 2 };
    const size_t              blocks = rg_base__live_blocks();
    rg_vocab                 *vocab = NULL;
    rg_shortlist             *list;
    FILE                     *file = fopen("fuzzed", "wb");
    must(file != NULL && rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 4) == RG_OK);
    must(fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
    if (rg_shortlist_load(&list, vocab, vocab, "fuzzed", &c) == RG_OK) use(list, vocab);
    use_bytes(bytes, count, vocab);
    rg_vocab_free(vocab);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
