/* shortlist_binary.c - Marian's binary form of a shortlist, lex*.s2t.bin. Little-endian words of 64 bits, but the ids of
 * 32:
 *
 *     magic, checksum of all words that follow, first, best, n = source tokens + 1, m,
 *     offset[n], target ids[m]
 *
 * The list of source token w is ids[offset[w] .. offset[w + 1] - 1]. Programs that read it add the `first` tokens of the
 * vocabulary. Here the most frequent ones need not be the first: they are written into the list of </s>, which closes
 * every source, and `first` is 0. Its lists have no probabilities. */
#include <string.h>
#include <sys/stat.h>

#include "data/little_endian.h"
#include "data/stream.h"
#include "data/text/shortlist.h"

enum { HEAD = 6, MAGIC_AT = 0, SUM_AT = 1, FIRST_AT = 2, BEST_AT = 3, ROWS_AT = 4, IDS_AT = 5 };
static const uint64_t magic = 0xF11A48D5013417F5u;

/* Marian's own: seed ^= word + 0x9e3779b9 + (seed << 6) + (seed >> 2), from 0. Half a word at the end is not counted. */
static uint64_t checksum(const unsigned char *bytes, size_t count)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < count / 8; i++)
        seed ^= rg_little_get(bytes + 8 * i, 8) + 0x9e3779b9u + (seed << 6) + (seed >> 2);
    return seed;
}

bool rg_shortlist_is_marian(const void *bytes, size_t count) { return count >= 8 && rg_little_get(bytes, 8) == magic; }

/* ---------------------------------------------------------------------------------------------------------- reading */

static rg_status check_head(const uint64_t head[HEAD], const unsigned char *bytes, size_t count, const rg_vocab *source)
{
    const uint64_t rows = head[ROWS_AT], ids = head[IDS_AT], rest = count - 8 * HEAD;
    if (rows > rest / 8 || ids > rest / 4 || 8 * rows + 4 * ids != rest)
        return rg_fail(RG_EFORMAT, "the shortlist is damaged: %llu offsets and %llu tokens do not fill its %zu bytes",
                       (unsigned long long)rows, (unsigned long long)ids, count);
    if (checksum(bytes + 16, count - 16) != head[SUM_AT])
        return rg_fail(RG_EFORMAT, "the shortlist is damaged: its checksum is another one");
    if (rows != rg_vocab_size(source) + 1)
        return rg_fail(RG_EMATCH, "the shortlist is of %llu source tokens, the vocabulary has %zu",
                       (unsigned long long)rows - 1, rg_vocab_size(source));
    return RG_OK;
}

/* The pairs of all lists; their probabilities are not known. */
static rg_status read_pairs(rg_shortlist_pair *pair, const uint64_t head[HEAD], const unsigned char *offsets,
                            const rg_vocab *target)
{
    const unsigned char *ids = offsets + 8 * head[ROWS_AT];
    uint64_t             end = 0;
    for (uint64_t w = 0; w < head[ROWS_AT]; w++) {
        const uint64_t next = rg_little_get(offsets + 8 * w, 8);
        if (next < end || next > head[IDS_AT] || (!w && next) || (w + 1 == head[ROWS_AT] && next != head[IDS_AT]))
            return rg_fail(RG_EFORMAT, "the shortlist is damaged: the list of token %llu begins at %llu of %llu",
                           (unsigned long long)w, (unsigned long long)next, (unsigned long long)head[IDS_AT]);
        for (; end < next; end++) {
            const uint64_t id = rg_little_get(ids + 4 * end, 4);
            if (id >= rg_vocab_size(target))
                return rg_fail(RG_EMATCH, "the shortlist has the target token %llu, the vocabulary only %zu",
                               (unsigned long long)id, rg_vocab_size(target));
            pair[end] = (rg_shortlist_pair){ (int32_t)w - 1, (int32_t)id, 0 };
        }
    }
    return RG_OK;
}

rg_status rg_shortlist_from_marian(rg_shortlist **out, const void *data, size_t count, const rg_vocab *source,
                                   const rg_vocab *target)
{
    const unsigned char *bytes = data;
    uint64_t             head[HEAD] = { 0 };
    *out = NULL;
    if (count < 8 * HEAD || rg_little_get(bytes, 8) != magic)
        return rg_fail(RG_EFORMAT, "is no binary shortlist: %zu bytes, and other first ones", count);
    for (size_t i = 0; i < HEAD; i++) head[i] = rg_little_get(bytes + 8 * i, 8);
    RG_TRY(check_head(head, bytes, count, source));
    rg_shortlist_pair *pair = rg_alloc_array((size_t)head[IDS_AT] + 1, sizeof *pair);
    if (!pair) return RG_ENOMEM;
    rg_status status = read_pairs(pair, head, bytes + 8 * HEAD, target);
    if (status == RG_OK)
        status = rg_shortlist__make(out, source, target, pair, (size_t)head[IDS_AT],
                                    head[FIRST_AT] < SIZE_MAX ? (size_t)head[FIRST_AT] : SIZE_MAX, SIZE_MAX);
    rg_free(pair);
    return status;
}

rg_status rg_shortlist__load_marian(bool *out_is, rg_shortlist **out, const rg_vocab *source, const rg_vocab *target,
                                    const char *path)
{
    enum { MOST = 1 << 30 };
    struct stat about;
    rg_stream   stream = { 0 };
    rg_text     bytes = { 0 };
    *out_is = false;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return RG_OK; /* a pipe can be read only once: it is text */
    rg_status status = rg_stream_open(&stream, path);
    if (status == RG_OK) status = rg_stream_read_some(&bytes, &stream, 8);
    *out_is = status == RG_OK && rg_shortlist_is_marian(bytes.data, bytes.length);
    if (*out_is) status = rg_stream_read_some(&bytes, &stream, MOST);
    rg_stream_close(&stream);
    if (*out_is && status == RG_OK && bytes.length >= MOST)
        status = rg_fail(RG_ELIMIT, "%s: a shortlist of more than %d bytes", path, MOST);
    if (*out_is && status == RG_OK &&
        (status = rg_shortlist_from_marian(out, bytes.data, bytes.length, source, target)) != RG_OK)
        rg_fail_in(status, "%s: ", path);
    rg_text_free(&bytes);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* What source token w alone picks: with </s> the tokens that every source picks, with others their own only. */
static rg_status list_of(rg_ids *out, const rg_shortlist *s, int32_t w, bool closes)
{
    if (closes) return rg_shortlist_pick(out, s, &w, 1, NULL, 0);
    rg_shortlist own = *s;
    own.frequents = 0;
    own.always[0] = own.always[1] = -1;
    return rg_shortlist_pick(out, &own, &w, 1, NULL, 0);
}

rg_status rg_shortlist_to_marian(rg_text *out, const rg_shortlist *s, const rg_vocab *source)
{
    const size_t  before = out->length;
    const int32_t eos = rg_vocab_eos(source);
    rg_ids        ids = { 0 };
    rg_text       offsets = { 0 };
    size_t        best = 0;
    rg_status     status = rg_little_add(&offsets, 0, 8);
    if (eos < 0 || rg_vocab_size(source) != s->source)
        status = rg_fail(RG_EMATCH, eos < 0 ? "the source vocabulary has no </s>, whose list has the frequent tokens"
                                            : "the shortlist is of another source vocabulary");
    for (size_t w = 0; status == RG_OK && w < s->source; w++) {
        const size_t start = ids.count;
        status = list_of(&ids, s, (int32_t)w, (int32_t)w == eos);
        if (status == RG_OK && w + 1 == s->source &&
            ids.count == start) /* readers want the last list to have something */
            status = rg_ids_add(&ids, s->always[0] >= 0 ? s->always[0] : 0);
        best = ids.count - start > best ? ids.count - start : best;
        if (status == RG_OK) status = rg_little_add(&offsets, ids.count, 8);
    }
    const uint64_t head[HEAD] = { magic, 0, 0, best, s->source + 1, ids.count };
    for (size_t i = 0; status == RG_OK && i < HEAD; i++) status = rg_little_add(out, head[i], 8);
    if (status == RG_OK) status = rg_text_add(out, offsets.data, offsets.length);
    for (size_t i = 0; status == RG_OK && i < ids.count; i++) status = rg_little_add(out, (uint64_t)ids.data[i], 4);
    if (status == RG_OK) {
        const uint64_t sum = checksum((unsigned char *)out->data + before + 16, out->length - before - 16);
        for (size_t i = 0; i < 8; i++) out->data[before + 8 * SUM_AT + i] = (char)(unsigned char)(sum >> 8 * i);
    }
    rg_ids_free(&ids);
    rg_text_free(&offsets);
    return status;
}
