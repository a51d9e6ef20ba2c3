/* bpe_bytes.c - byte-level BPE (Radford et al. 2019, GPT-2): every text has pieces, whatever its bytes.
 *
 *   text     cut into words:   's 't 're 've 'm 'll 'd | blank? letters | blank? digits | blank? other signs | blanks
 *   word     its bytes, each written as a printable character (0x20 as U+0120), each a piece of its own at first
 *   merges   the pair of neighbours of lowest rank becomes one piece, the leftmost first, until no pair has a rank
 *
 * merges.txt: "#version" on a line of its own, then "left right" in order of rank. A heap of pairs makes a word of n
 * bytes n log n work. */
#include "data/text/vocab.h"

#include <string.h>
#include <utf8proc.h>

/* ---------------------------------------------------------------------------------------------- bytes as characters */

/* Printable bytes of Latin-1 stand for themselves, the others in order for U+0100 and on. */
static bool is_printable(unsigned byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD); }

static uint32_t character_of(unsigned byte)
{
    uint32_t next = 0x100;
    if (is_printable(byte)) return byte;
    for (unsigned b = 0; b < byte; b++) next += !is_printable(b);
    return next;
}

/* The byte a character stands for, or -1. */
static int byte_of(uint32_t character)
{
    if (character < 0x100) return is_printable(character) ? (int)character : -1;
    for (unsigned b = 0, next = 0x100; b < 0x100; b++)
        if (!is_printable(b) && next++ == character) return (int)b;
    return -1;
}

/* The piece of every byte alone, or RG_EFORMAT. */
static rg_status byte_ids(int32_t ids[256], const rg_vocab *v)
{
    for (unsigned b = 0; b < 256; b++) {
        char           text[2];
        const uint32_t c = character_of(b);
        const size_t   bytes = c < 0x80 ? 1 : 2;
        text[0] = (char)(bytes == 1 ? c : 0xC0 | c >> 6);
        text[1] = (char)(0x80 | (c & 0x3F));
        ids[b] = (int32_t)rg_words_find(&v->pieces, text, bytes);
        if (ids[b] < 0)
            return rg_fail(RG_EFORMAT, "the vocabulary has no token for byte 0x%02X, \"%.*s\"", b, (int)bytes, text);
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- merges.txt */

static int64_t find_pair(const rg_vocab *v, int32_t left, int32_t right)
{
    const int32_t pair[2] = { left, right };
    return rg_words_find(&v->merges, (const char *)pair, sizeof pair);
}

/* "left right" and what they make must be pieces. */
static rg_status add_merge(rg_vocab *v, const char *line, size_t bytes, size_t number)
{
    const char *blank = memchr(line, ' ', bytes);
    uint32_t    rank;
    rg_text     joined = { 0 };
    if (!blank || blank == line || blank == line + bytes - 1 ||
        memchr(blank + 1, ' ', (size_t)(line + bytes - blank - 1)))
        return rg_fail(RG_EFORMAT, "merges line %zu: \"%.*s\" is not two tokens", number,
                       (int)(bytes < 40 ? bytes : 40), line);
    const size_t  a = (size_t)(blank - line), b = bytes - a - 1;
    rg_status     status = rg_text_add(&joined, line, a);
    if (status == RG_OK) status = rg_text_add(&joined, blank + 1, b);
    const int32_t pair[2] = { (int32_t)rg_words_find(&v->pieces, line, a),
                              (int32_t)rg_words_find(&v->pieces, blank + 1, b) };
    const int32_t made = (int32_t)rg_words_find(&v->pieces, rg_text_c(&joined), joined.length);
    rg_text_free(&joined);
    RG_TRY(status);
    if (pair[0] < 0 || pair[1] < 0 || made < 0)
        return rg_fail(RG_EFORMAT, "merges line %zu: \"%.*s\" or what it makes is not in the vocabulary", number,
                       (int)(bytes < 40 ? bytes : 40), line);
    const size_t before = v->merges.count;
    RG_TRY(rg_words_add(&rank, &v->merges, (const char *)pair, sizeof pair));
    if (rank != before)
        return rg_fail(RG_EFORMAT, "merges line %zu: \"%.*s\" is there twice", number, (int)(bytes < 40 ? bytes : 40),
                       line);
    v->merged[rank] = made;
    return RG_OK;
}

static rg_status load(rg_vocab *v)
{
    int32_t      ids[256];
    const char  *at = rg_text_c(&v->model), *end = at + v->model.length;
    size_t       lines = 1, number = 0;
    for (const char *c = at; c < end; c++) lines += *c == '\n';
    RG_TRY(byte_ids(ids, v));
    if (!(v->merged = rg_alloc_array(lines, sizeof *v->merged))) return RG_ENOMEM;
    for (const char *lf; at < end; at = lf + 1) {
        lf = memchr(at, '\n', (size_t)(end - at));
        if (!lf) return rg_fail(RG_EFORMAT, "merges line %zu has no line end: the file is cut short", number + 1);
        const size_t bytes = (size_t)(lf - at) - (lf > at && lf[-1] == '\r');
        number++;
        if (!bytes || (number == 1 && bytes > 8 && memcmp(at, "#version", 8) == 0)) continue;
        RG_TRY(add_merge(v, at, bytes, number));
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ words */

typedef enum { LETTER, DIGIT, BLANK, OTHER } class;

static class class_of(uint32_t c)
{
    const utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    if (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) return LETTER;
    if (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO) return DIGIT;
    if ((c >= '\t' && c <= '\r') || c == 0x85 || (k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP)) return BLANK;
    return OTHER;
}

static size_t contraction(const char *text, size_t bytes)
{
    static const char *const ends[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(ends[i]) <= bytes && memcmp(text, ends[i], strlen(ends[i])) == 0) return strlen(ends[i]);
    return 0;
}

/* Bytes of the run of characters of class k at text; *out_last (may be NULL) is where its last character begins. */
static size_t run_of(class k, const char *text, size_t bytes, size_t *out_last)
{
    size_t at = 0;
    for (size_t step; at < bytes; at += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + at, bytes - at);
        if (class_of(c) != k) break;
        if (out_last) *out_last = at;
    }
    return at;
}

/* Bytes of the word at text. Of blanks before a word the last belongs to the word if it is a blank, and stands alone
 * if it is another. */
static size_t next_word(const char *text, size_t bytes)
{
    uint32_t     c;
    size_t       last = 0;
    const size_t short_form = contraction(text, bytes);
    if (short_form) return short_form;
    const size_t skip = text[0] == ' ' && bytes > 1 ? 1 : 0;
    rg_utf8_next(&c, text + skip, bytes - skip);
    if (class_of(c) != BLANK) return skip + run_of(class_of(c), text + skip, bytes - skip, NULL);
    const size_t blanks = run_of(BLANK, text, bytes, &last);
    return blanks == bytes || last == 0 ? blanks : last;
}

/* ---------------------------------------------------------------------------------------------------------- merging */

/* Pieces of a word: a list by `next`; a pair in the heap is the piece it begins with, and what both were when it was
 * put there. */
typedef struct {
    int32_t id;
    int32_t next, before; /* -1: none */
    size_t  begin, end;   /* bytes of the text; begin == end: it was merged away */
} symbol;

typedef struct {
    int64_t rank;
    int32_t at, left, right;
} pair;

typedef struct {
    symbol *symbol;
    pair   *heap;
    size_t  count;
} merging;

static bool earlier(const pair *a, const pair *b) { return a->rank != b->rank ? a->rank < b->rank : a->at < b->at; }

static void push(merging *m, const rg_vocab *v, int32_t at)
{
    if (at < 0 || m->symbol[at].next < 0) return;
    pair p = { .at = at, .left = m->symbol[at].id, .right = m->symbol[m->symbol[at].next].id };
    p.rank = find_pair(v, p.left, p.right);
    if (p.rank < 0) return;
    size_t i = m->count++;
    for (; i && earlier(&p, &m->heap[(i - 1) / 2]); i = (i - 1) / 2) m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = p;
}

static pair pop(merging *m)
{
    const pair top = m->heap[0], last = m->heap[--m->count];
    size_t     i = 0;
    for (size_t child; (child = 2 * i + 1) < m->count; i = child) {
        if (child + 1 < m->count && earlier(&m->heap[child + 1], &m->heap[child])) child++;
        if (!earlier(&m->heap[child], &last)) break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = last;
    return top;
}

static void merge(merging *m, const rg_vocab *v, const pair *p)
{
    symbol *left = &m->symbol[p->at];
    if (left->begin == left->end || left->id != p->left || left->next < 0 || m->symbol[left->next].id != p->right) return; /* it is past */
    symbol *right = &m->symbol[left->next];
    left->id = v->merged[p->rank];
    left->end = right->end;
    left->next = right->next;
    right->begin = right->end;
    if (left->next >= 0) m->symbol[left->next].before = p->at;
    push(m, v, left->before);
    push(m, v, p->at);
}

static rg_status cut_word(const rg_vocab *v, const int32_t ids[256], const char *text, size_t begin, size_t end,
                          merging *m, rg_piece_sink *sink, void *context)
{
    const int32_t n = (int32_t)(end - begin);
    m->count = 0;
    for (int32_t i = 0; i < n; i++) {
        const size_t at = begin + (size_t)i;
        m->symbol[i] = (symbol){ ids[(unsigned char)text[at]], i + 1 < n ? i + 1 : -1, i - 1, at, at + 1 };
    }
    for (int32_t i = 0; i < n; i++) push(m, v, i);
    while (m->count) {
        const pair p = pop(m);
        merge(m, v, &p);
    }
    for (int32_t i = 0; i >= 0; i = m->symbol[i].next) {
        const symbol *s = &m->symbol[i];
        RG_TRY(sink(context, rg_words_get(&v->pieces, (size_t)s->id), v->pieces.words[s->id].bytes, s->begin, s->end));
    }
    return RG_OK;
}

static rg_status cut(const rg_vocab *v, const char *text, size_t bytes, rg_piece_sink *sink, void *context)
{
    int32_t ids[256];
    size_t  longest = 0;
    if (bytes > INT32_MAX / 4) return rg_fail(RG_ELIMIT, "a line of %zu bytes, at most %d", bytes, INT32_MAX / 4);
    for (size_t at = 0, n; at < bytes; at += n)
        if ((n = next_word(text + at, bytes - at)) > longest) longest = n;
    merging   m = { rg_alloc_array(longest + 1, sizeof *m.symbol), rg_alloc_array(3 * longest + 1, sizeof *m.heap), 0 };
    rg_status status = m.symbol && m.heap ? byte_ids(ids, v) : RG_ENOMEM;
    for (size_t at = 0, n; status == RG_OK && at < bytes; at += n) {
        n = next_word(text + at, bytes - at);
        status = cut_word(v, ids, text, at, at + n, &m, sink, context);
    }
    rg_free(m.symbol);
    rg_free(m.heap);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- joining */

/* A character that stands for no byte (of <|endoftext|>, say, or of another word put in) is itself. */
static rg_status add_bytes(rg_text *out, const char *piece)
{
    const size_t bytes = strlen(piece);
    for (size_t i = 0, step; i < bytes; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, piece + i, bytes - i);
        const int byte = byte_of(c);
        RG_TRY(byte < 0 ? rg_text_add(out, piece + i, step) : rg_text_add(out, &(char){ (char)byte }, 1));
    }
    return RG_OK;
}

static rg_status join(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count, const char *const *instead)
{
    rg_text   raw = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        if (instead && instead[i]) status = rg_text_add_string(&raw, instead[i]);
        else if (!rg_vocab_is_special(v, ids[i])) status = add_bytes(&raw, rg_vocab_piece(v, ids[i]));
    }
    if (status == RG_OK) status = rg_utf8_repair(out, rg_text_c(&raw), raw.length);
    rg_text_free(&raw);
    return status;
}

/* Blanks, line ends and control characters are text like any other. */
static rg_status prepare(rg_text *out, const rg_vocab *v, const char *line, size_t bytes)
{
    (void)v;
    rg_text_clear(out);
    return rg_utf8_repair(out, line, bytes);
}

const rg_cutter rg_cutter_bytes = { RG_VOCAB_BYTES, load, prepare, cut, join, NULL };
