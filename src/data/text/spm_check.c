/* spm_check.c - look through a SentencePiece model before handing it over.
 *
 * SentencePiece follows the offsets inside a model's normaliser without checking them and ends the process where its
 * own checks fail. So what a file says is verified here first: the message's framing, pieces, scores, and every path of
 * the normaliser's double-array trie. Layout (sentencepiece_model.proto):
 *
 *   model      1 piece*   2 trainer   3 normaliser   5 denormaliser
 *   piece      1 text     2 score (float)   3 type
 *   trainer    3 model type (1 unigram, 2 bpe, 3 word, 4 char)
 *   normaliser 2 character map: trie bytes (u32), trie, replacement strings each closed by NUL */
#include "data/text/vocab.h"

#include <math.h>
#include <string.h>

enum { MAX_TRIE = 8 << 20 }; /* bytes; published models have a quarter of a MiB */

typedef struct reader {
    const unsigned char *at, *end;
} reader;

typedef struct field {
    unsigned number, wire;
    uint64_t value; /* of a varint or fixed field */
    reader   bytes; /* of a length-delimited one  */
} field;

static rg_status cut_short(void)
{
    return rg_fail(RG_EFORMAT, "not a SentencePiece model, or one cut short");
}

static bool varint(uint64_t *out, reader *r)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool fixed(uint64_t *out, reader *r, size_t bytes)
{
    if ((size_t)(r->end - r->at) < bytes) return false;
    *out = 0;
    for (size_t i = 0; i < bytes; i++) *out |= (uint64_t)r->at[i] << (8 * i);
    r->at += bytes;
    return true;
}

/* The next field; false at anything malformed. Groups are not used by this message. */
static bool next_field(field *f, reader *r)
{
    uint64_t key, length;
    if (!varint(&key, r) || key >> 3 == 0 || key >> 3 > 536870911) return false;
    *f = (field){ .number = (unsigned)(key >> 3), .wire = (unsigned)(key & 7) };
    switch (f->wire) {
    case 0: return varint(&f->value, r);
    case 1: return fixed(&f->value, r, 8);
    case 5: return fixed(&f->value, r, 4);
    case 2:
        if (!varint(&length, r) || length > (uint64_t)(r->end - r->at)) return false;
        f->bytes = (reader){ r->at, r->at + length };
        r->at += length;
        return true;
    default: return false;
    }
}

static rg_status check_piece(reader r, size_t number)
{
    field  f;
    size_t bytes = 0;
    while (r.at < r.end) {
        if (!next_field(&f, &r)) return cut_short();
        if (f.number == 1 && f.wire == 2) {
            bytes = (size_t)(f.bytes.end - f.bytes.at);
            if (memchr(f.bytes.at, '\0', bytes) || memchr(f.bytes.at, '\n', bytes) ||
                !rg_utf8_check((const char *)f.bytes.at, bytes, NULL))
                return rg_fail(RG_EFORMAT, "token %zu of the SentencePiece model is not clean UTF-8", number);
        }
        if (f.number == 2 && f.wire == 5) {
            uint32_t bits = (uint32_t)f.value;
            float    score;
            memcpy(&score, &bits, sizeof score);
            if (!isfinite(score))
                return rg_fail(RG_EFORMAT, "token %zu of the SentencePiece model has no finite score", number);
        }
        if (f.number == 3 && f.wire == 0 && (f.value < 1 || f.value > 6))
            return rg_fail(RG_EFORMAT, "token %zu of the SentencePiece model has the unknown type %llu", number,
                           (unsigned long long)f.value);
    }
    if (!bytes || bytes > RG_VOCAB_MAX_PIECE_BYTES)
        return rg_fail(RG_EFORMAT, "token %zu of the SentencePiece model is empty or longer than %d bytes", number,
                       RG_VOCAB_MAX_PIECE_BYTES);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------ the normaliser's trie */

typedef struct trie {
    const unsigned char *units;
    size_t               count, strings; /* bytes of replacement strings */
    uint32_t            *stack;
    unsigned char       *seen; /* a bit for each node */
    size_t               depth;
} trie;

static uint32_t unit(const trie *t, size_t i)
{
    const unsigned char *b = t->units + 4 * i;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Where the children of unit u, standing at i, begin. */
static size_t children(size_t i, uint32_t u)
{
    return i ^ ((size_t)(u >> 10) << ((u & (1u << 9)) >> 6));
}

static bool push(trie *t, size_t node)
{
    if ((node | 0xFF) >= t->count) return false; /* any byte may be looked up there */
    if (t->seen[node >> 3] & (1u << (node & 7))) return true;
    t->seen[node >> 3] = (unsigned char)(t->seen[node >> 3] | (1u << (node & 7)));
    t->stack[t->depth++] = (uint32_t)node;
    return true;
}

static bool walk(trie *t)
{
    if (!push(t, children(0, unit(t, 0)))) return false;
    while (t->depth) {
        size_t node = t->stack[--t->depth];
        for (size_t byte = 0; byte < 256; byte++) {
            uint32_t u = unit(t, node ^ byte);
            if ((u & ((1u << 31) | 0xFF)) != byte) continue;
            size_t next = children(node ^ byte, u);
            if (!push(t, next)) return false;
            if ((u >> 8) & 1 && (unit(t, next) & 0x7FFFFFFF) >= t->strings) return false;
        }
    }
    return true;
}

static rg_status check_map(reader map)
{
    uint64_t bytes;
    if (map.at == map.end) return RG_OK;
    if (!fixed(&bytes, &map, 4) || bytes == 0 || bytes % 4 || bytes > MAX_TRIE ||
        bytes >= (uint64_t)(map.end - map.at) || map.end[-1] != '\0')
        return rg_fail(RG_EFORMAT, "the character map of the SentencePiece model is malformed");
    trie t = { .units = map.at, .count = (size_t)bytes / 4, .strings = (size_t)(map.end - map.at) - (size_t)bytes };
    t.stack = rg_alloc_array(t.count, sizeof *t.stack);
    t.seen = rg_alloc_zero(t.count / 8 + 1);
    rg_status status = t.stack && t.seen ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && !walk(&t))
        status = rg_fail(RG_EFORMAT, "the character map of the SentencePiece model points outside itself");
    rg_free(t.stack);
    rg_free(t.seen);
    return status;
}

static rg_status check_normalizer(reader r)
{
    field f;
    while (r.at < r.end) {
        if (!next_field(&f, &r)) return cut_short();
        if (f.number == 2 && f.wire == 2) RG_TRY(check_map(f.bytes));
    }
    return RG_OK;
}

static rg_status find_kind(rg_vocab_kind *out, reader r)
{
    static const rg_vocab_kind kinds[5] = { RG_VOCAB_UNIGRAM, RG_VOCAB_UNIGRAM, RG_VOCAB_BPE, RG_VOCAB_WORD,
                                            RG_VOCAB_CHAR };
    field                      f;
    while (r.at < r.end) {
        if (!next_field(&f, &r)) return cut_short();
        if (f.number != 3 || f.wire != 0) continue;
        if (f.value < 1 || f.value > 4)
            return rg_fail(RG_EFORMAT, "the SentencePiece model is of unknown type %llu", (unsigned long long)f.value);
        *out = kinds[f.value];
    }
    return RG_OK;
}

rg_status rg_spm_check(rg_vocab_kind *out_kind, const void *model, size_t bytes)
{
    reader r = { model, (const unsigned char *)model + bytes };
    field  f;
    size_t pieces = 0;
    *out_kind = RG_VOCAB_UNIGRAM;
    while (r.at < r.end) {
        if (!next_field(&f, &r)) return cut_short();
        if (f.wire != 2) continue;
        if (f.number == 1) RG_TRY(check_piece(f.bytes, pieces++));
        if (f.number == 2) RG_TRY(find_kind(out_kind, f.bytes));
        if (f.number == 3 || f.number == 5) RG_TRY(check_normalizer(f.bytes));
        if (pieces > RG_VOCAB_MAX_PIECES) return rg_fail(RG_ELIMIT, "more than %d tokens", RG_VOCAB_MAX_PIECES);
    }
    return pieces ? RG_OK : rg_fail(RG_EFORMAT, "not a SentencePiece model: it has no tokens");
}
