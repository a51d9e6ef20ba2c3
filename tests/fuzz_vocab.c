/* fuzz_vocab.c - any bytes as a vocabulary file, SentencePiece's included: refused, or used without harm (P1, P8). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/vocab.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

/* It never changes by being stored. */
static void store(const rg_vocab *vocab)
{
    rg_text   a = { 0 }, b = { 0 };
    rg_vocab *again = NULL;
    must(rg_vocab_to_bytes(&a, vocab) == RG_OK);
    must(rg_vocab_from_bytes(&again, a.data, a.length) == RG_OK);
    must(rg_vocab_to_bytes(&b, again) == RG_OK);
    must(a.length == b.length && memcmp(a.data, b.data, a.length) == 0);
    must(rg_vocab_checksum(vocab) == rg_vocab_checksum(again));
    rg_vocab_free(again);
    rg_text_free(&a);
    rg_text_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const lines[] = { "", "the old dog",
                                         "l'homme n'a pas \xEF\xBC\xA1\xE2\x91\xA0 \xE4\xBD\xA0\xF0\x9F\x98\x80",
                                         "  a \xFF b\t" };
    rg_vocab                *vocab = NULL;
    if (rg_vocab__from_file_bytes(&vocab, bytes, count) != RG_OK) return 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        rg_ids  ids = { 0 };
        rg_text text = { 0 };
        must(rg_vocab_encode(&ids, NULL, vocab, lines[i], strlen(lines[i])) == RG_OK);
        for (size_t j = 0; j < ids.count; j++) must(ids.data[j] >= 0 && (size_t)ids.data[j] < rg_vocab_size(vocab));
        must(rg_vocab_decode(&text, vocab, ids.data, ids.count) == RG_OK);
        must(rg_vocab_normalize(&text, vocab, lines[i], strlen(lines[i])) == RG_OK);
        rg_ids_free(&ids);
        rg_text_free(&text);
    }
    for (int32_t id = -1; id <= (int32_t)rg_vocab_size(vocab) && id < 100; id++)
        must(rg_vocab_piece(vocab, id) != NULL);
    store(vocab);
    rg_vocab_free(vocab);
    return 0;
}

static rg_status feed(bool *more, const char **text, size_t *bytes, void *context)
{
    static const char *const lines[] = { "the old dog sees the cat", "l'homme n'a pas le chat", "a b c d e f g h i",
                                         "the dogs see the old man" };
    size_t                  *next = context;
    *more = *next < 40;
    *text = lines[(*next)++ % 4];
    *bytes = strlen(*text);
    return RG_OK;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const lists[] = {
        "the\t5\nold\ndog\n", "</s>: 0\n<unk>: 1\nthe: 2\n\"\\\"\": 3\n", "{\"a\": 0, \"b\": 1}",
        "<unk>\t0\n<s>\t0\n</s>\t0\n\xE2\x96\x81the\t-3.5\n\xE2\x96\x81\t-1.25\nold\t-4\n"
    };
    if (index >= 12 && index < 16) {
        memcpy(bytes, lists[index - 12], strlen(lists[index - 12]));
        return strlen(lists[index - 12]);
    }
    if (index > 15) return 0;
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    rg_text         text = { 0 };
    size_t          next = 0, length = 0;
    config.kind = (rg_vocab_kind)(index % 6);
    config.size = 60;
    must(rg_vocab_train(&vocab, &config, feed, &next) == RG_OK);
    must(rg_vocab_to_bytes(&text, vocab) == RG_OK);
    const char *from = index < 6 ? text.data : strstr(text.data, "\n\n") + 2; /* ours, and what is inside */
    length = text.length - (size_t)(from - text.data);
    must(length < room);
    memcpy(bytes, from, length);
    rg_text_free(&text);
    rg_vocab_free(vocab);
    return length;
}
