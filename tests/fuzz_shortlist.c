/* fuzz_shortlist.c - any bytes as a shortlist, Marian's text and binary forms and the bytes of a model file: refused, or a list whose
 * picks are tokens of the vocabulary, rising, with the end among them (P1). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/seams.h"
#include "regard/shortlist.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

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

/* Marian's binary form with the checksum it would have, so that mutations get past it. */
static void use_binary(const uint8_t *bytes, size_t count, const rg_vocab *vocab)
{
    rg_shortlist *list;
    uint8_t      *copy = malloc(count + 1);
    uint64_t      seed = 0;
    must(copy != NULL);
    memcpy(copy, bytes, count);
    for (size_t i = 2; i < count / 8; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, 8);
        seed ^= word + 0x9e3779b9u + (seed << 6) + (seed >> 2);
    }
    if (count >= 16) memcpy(copy + 8, &seed, 8);
    if (rg_shortlist_from_marian(&list, copy, count, vocab, vocab) == RG_OK) {
        rg_text       again = { 0 };
        rg_shortlist *second;
        must(rg_shortlist_to_marian(&again, list, vocab) == RG_OK);
        must(rg_shortlist_from_marian(&second, again.data, again.length, vocab, vocab) == RG_OK);
        rg_text_free(&again);
        use(second, vocab);
        use(list, vocab);
    }
    free(copy);
}

/* Lists of 7 source tokens over 7 target tokens, in Marian's binary form. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const uint64_t words[] = { 0xF11A48D5013417F5u, 0, 2, 3, 8, 4, 0, 0, 0, 1, 2, 2, 2, 4 };
    static const uint32_t ids[] = { 3, 6, 4, 5 };
    if (index || room < sizeof words + sizeof ids) return 0;
    memcpy(bytes, words, sizeof words);
    memcpy(bytes + sizeof words, ids, sizeof ids);
    return sizeof words + sizeof ids;
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
    use_binary(bytes, count, vocab);
    rg_vocab_free(vocab);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
