/* fuzz_tokenizers.c - any bytes as vocab.json, vocab.txt or merges.txt of another program: refused, or used without
 * harm (P1, P8). The first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/vocab.h"
#include "data/text/vocab_files.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

static void use(const rg_vocab_table *table)
{
    static const char line[] = "The l\xC3\xA9\xE4\xBD\xA0 aaab <|e|> \x01 n't";
    rg_vocab         *v = NULL, *again = NULL;
    rg_ids            ids = { 0 };
    rg_text           text = { 0 };
    if (rg_vocab_from_table(&v, table) != RG_OK) return;
    must(rg_vocab_encode(&ids, NULL, v, line, sizeof line - 1) == RG_OK);
    for (size_t i = 0; i < ids.count; i++) must(ids.data[i] >= 0 && (size_t)ids.data[i] < rg_vocab_size(v));
    must(rg_vocab_decode(&text, v, ids.data, ids.count) == RG_OK && rg_utf8_check(rg_text_c(&text), text.length, NULL));
    rg_text_clear(&text);
    must(rg_vocab_to_bytes(&text, v) == RG_OK && rg_vocab_from_bytes(&again, text.data, text.length) == RG_OK);
    must(rg_vocab_checksum(v) == rg_vocab_checksum(again));
    rg_vocab_free(again);
    rg_vocab_free(v);
    rg_ids_free(&ids);
    rg_text_free(&text);
}

/* A piece per byte, as byte-level BPE writes them, and a few longer ones. */
static void add_bytes(rg_line_list *pieces)
{
    static const char *const more[] = { "aa", "ab", "aab", "Th", "The", "<|e|>" };
    unsigned                 next = 0x100;
    for (unsigned b = 0; b < 256; b++) {
        const bool     own = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
        const unsigned c = own ? b : next++;
        const char     two[2] = { (char)(c < 0x80 ? c : 0xC0 | c >> 6), (char)(0x80 | (c & 0x3F)) };
        must(rg_pieces_add(pieces, two, c < 0x80 ? 1 : 2) == RG_OK);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        must(rg_pieces_add(pieces, more[i], strlen(more[i])) == RG_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_line_list pieces = { 0 };
    if (!count) return 0;
    const char    *text = (const char *)bytes + 1;
    rg_vocab_table t = { .kind = RG_VOCAB_WORDPIECE,
                         .form = bytes[0] & 4 ? RG_TEXT_LOWER : RG_TEXT_AS_IS,
                         .bos = 1,
                         .eos = 2,
                         .begin = -1 };
    rg_status      status = RG_OK;
    switch (bytes[0] & 3) {
    case 0: status = rg_pieces_of_json(&pieces, text, count - 1); break;
    case 1: status = rg_pieces_of_lines(&pieces, text, count - 1); break;
    default:
        add_bytes(&pieces);
        t = (rg_vocab_table){ .kind = RG_VOCAB_BYTES,
                              .form = RG_TEXT_AS_IS,
                              .unk = -1,
                              .bos = 261,
                              .eos = 261,
                              .begin = -1,
                              .model = text,
                              .model_bytes = count - 1 };
    }
    t.pieces = (const char *const *)pieces.line;
    t.count = pieces.count;
    if (status == RG_OK) use(&t);
    rg_line_list_free(&pieces);
    return 0;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const seeds[] = {
        "\x04{\"[UNK]\": 0, \"[CLS]\": 1, \"[SEP]\": 2, \"t\": 3, \"##he\": 4, \"\\u4f60\": 5}",
        "\x01[UNK]\n[CLS]\n[SEP]\nThe\na\n##a\n##b\nn\n'\n", "\x02#version: 0.2\na a\na b\na ab\nT h\nTh e\n"
    };
    if (index >= sizeof seeds / sizeof *seeds) return 0;
    const size_t n = strlen(seeds[index]);
    must(n < room);
    memcpy(bytes, seeds[index], n);
    return n;
}
