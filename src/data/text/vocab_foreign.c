/* vocab_foreign.c - Marian's vocab.yml and SentencePiece's .vocab.
 *
 *   vocab.yml      "word": 17           ids need not be in order; ours follow their order, with <unk> <s> </s> in front
 *   .vocab         piece TAB log p      all that cutting needs but the normaliser, for which NFKC stands in
 *
 * A .vocab becomes the bytes of a SentencePiece model (sentencepiece_model.proto, see spm_check.c), so that text is cut
 * as SentencePiece does it. Pieces without their scores, in a vocab.yml or a list, cannot be used so and are refused:
 * read as words, nearly every word of a text would be unknown. */
#include "data/text/vocab_foreign.h"
#include "data/text/vocab_files.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { LINES_LOOKED_AT = 50 };

/* The line at *at without its line end, and *at after it; false at the end. */
static bool next_line(const char **line, size_t *length, const char **at, const char *end)
{
    if (*at == end) return false;
    const char *lf = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *length = (size_t)((lf ? lf : end) - *at);
    *at = lf ? lf + 1 : end;
    if (*length && (*line)[*length - 1] == '\r') --*length;
    return true;
}

static bool has_mark(const char *piece, size_t bytes)
{
    for (size_t i = 0; i + 3 <= bytes; i++)
        if (memcmp(piece + i, RG_BLANK_MARK, 3) == 0) return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------ vocab.yml */

/* Does it end in ": 17"? */
static bool ends_in_id(const char *line, size_t length)
{
    size_t digits = 0;
    while (digits < length && line[length - 1 - digits] >= '0' && line[length - 1 - digits] <= '9') digits++;
    return digits && length >= digits + 2 && memcmp(line + length - digits - 2, ": ", 2) == 0;
}

bool rg_vocab__is_yaml(const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count, *line;
    size_t      length, seen = 0;
    while (at < end && (*at == ' ' || *at == '\n')) at++;
    if (at < end && *at == '{' && memchr(at, ':', (size_t)(end - at))) return true;
    while (seen < LINES_LOOKED_AT && next_line(&line, &length, &at, end)) {
        if (!length || line[0] == '#' || (seen == 0 && length == 3 && memcmp(line, "---", 3) == 0)) continue;
        if (!ends_in_id(line, length)) return false;
        seen++;
    }
    return seen > 1;
}

typedef struct {
    char    *word;
    uint64_t id;
    size_t   line;
} entry;

typedef struct {
    yaml_parser_t parser;
    yaml_event_t  event;
    entry        *list;
    size_t        count, room, marked; /* marked: how many begin a word as SentencePiece writes it */
} listing;

static rg_status next_event(listing *l)
{
    yaml_event_delete(&l->event);
    if (yaml_parser_parse(&l->parser, &l->event)) return RG_OK;
    return rg_fail(RG_EFORMAT, "line %zu: not YAML: %s", l->parser.problem_mark.line + 1,
                   l->parser.problem ? l->parser.problem : "broken");
}

static rg_status expect(listing *l, yaml_event_type_t type)
{
    RG_TRY(next_event(l));
    return l->event.type == type
               ? RG_OK
               : rg_fail(RG_EFORMAT, "line %zu: not a map of words to ids", l->event.start_mark.line + 1);
}

static rg_status add_word(listing *l)
{
    const char  *text = (const char *)l->event.data.scalar.value;
    const size_t bytes = l->event.data.scalar.length;
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 1024;
        entry       *list = rg_realloc(l->list, room * sizeof *list);
        if (!list) return RG_ENOMEM;
        l->list = list;
        l->room = room;
    }
    if (strlen(text) != bytes)
        return rg_fail(RG_EFORMAT, "line %zu: a word with a zero byte", l->event.start_mark.line + 1);
    l->marked += has_mark(text, bytes);
    l->list[l->count] = (entry){ .word = rg_strdup(text), .line = l->event.start_mark.line + 1 };
    return l->list[l->count].word ? (l->count++, RG_OK) : RG_ENOMEM;
}

static rg_status set_id(listing *l)
{
    const char *text = (const char *)l->event.data.scalar.value;
    char       *end;
    entry      *e = &l->list[l->count - 1];
    e->id = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || e->id >= RG_VOCAB_MAX_PIECES)
        return rg_fail(RG_EFORMAT, "line %zu: the id of \"%.40s\" is %.40s; it should be 0 .. %d", e->line, e->word,
                       text, RG_VOCAB_MAX_PIECES - 1);
    return RG_OK;
}

static rg_status read_entries(listing *l)
{
    RG_TRY(expect(l, YAML_STREAM_START_EVENT));
    RG_TRY(expect(l, YAML_DOCUMENT_START_EVENT));
    RG_TRY(expect(l, YAML_MAPPING_START_EVENT));
    for (;;) {
        RG_TRY(next_event(l));
        if (l->event.type == YAML_MAPPING_END_EVENT) return RG_OK;
        if (l->event.type != YAML_SCALAR_EVENT)
            return rg_fail(RG_EFORMAT, "line %zu: not a map of words to ids", l->event.start_mark.line + 1);
        RG_TRY(add_word(l));
        RG_TRY(expect(l, YAML_SCALAR_EVENT));
        RG_TRY(set_id(l));
    }
}

static int by_id(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static rg_status add_entries(rg_vocab *v, listing *l)
{
    if (l->marked)
        return rg_fail(RG_EFORMAT,
                       "%zu of its %zu entries are SentencePiece's tokens, without their scores; give SentencePiece's "
                       "model (.model, .spm) "
                       "instead",
                       l->marked, l->count);
    if (l->count) qsort(l->list, l->count, sizeof *l->list, by_id);
    v->kind = RG_VOCAB_WORDS;
    v->cutter = &rg_cutter_words;
    RG_TRY(rg_plain_begin(v));
    for (size_t i = 0; i < l->count; i++) {
        const entry  *e = &l->list[i];
        const int64_t known = rg_words_find(&v->pieces, e->word, strlen(e->word));
        if (i && e->id == l->list[i - 1].id)
            return rg_fail(RG_EFORMAT, "line %zu: id %llu has two words, \"%.40s\" and \"%.40s\"", e->line,
                           (unsigned long long)e->id, l->list[i - 1].word, e->word);
        if (known >= 0 && known < 3) continue; /* <unk>, <s>, </s> */
        const rg_status status = rg_plain_add(v, e->word, strlen(e->word));
        if (status != RG_OK) return rg_fail_in(status, "line %zu: ", e->line);
    }
    return RG_OK;
}

/* Every id from 0 on, in order. */
static rg_status list_entries(rg_line_list *out, listing *l)
{
    if (l->count) qsort(l->list, l->count, sizeof *l->list, by_id);
    for (size_t i = 0; i < l->count; i++) {
        if (l->list[i].id != i)
            return rg_fail(RG_EFORMAT, "line %zu: \"%.40s\" has id %llu where %zu is next", l->list[i].line,
                           l->list[i].word, (unsigned long long)l->list[i].id, i);
        RG_TRY(rg_pieces_add(out, l->list[i].word, strlen(l->list[i].word)));
    }
    return RG_OK;
}

/* Into a vocabulary of words, or else a list. */
static rg_status read_yaml(rg_vocab *v, rg_line_list *pieces, const char *bytes, size_t count)
{
    listing l = { .count = 0 };
    if (!yaml_parser_initialize(&l.parser)) return rg_fail(RG_ENOMEM, "no memory to read YAML");
    yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)bytes, count);
    rg_status status = read_entries(&l);
    if (status == RG_OK) status = v ? add_entries(v, &l) : list_entries(pieces, &l);
    for (size_t i = 0; i < l.count; i++) rg_free(l.list[i].word);
    rg_free(l.list);
    yaml_event_delete(&l.event);
    yaml_parser_delete(&l.parser);
    return status;
}

rg_status rg_vocab__read_yaml(rg_vocab *v, const char *bytes, size_t count) { return read_yaml(v, NULL, bytes, count); }
rg_status rg_pieces_of_yaml(rg_line_list *out, const char *bytes, size_t count)
{
    return read_yaml(NULL, out, bytes, count);
}

/* ----------------------------------------------------------------------------------------------------------- .vocab */

typedef struct {
    const char *piece, *number; /* number: as it is written */
    size_t      bytes, number_bytes;
    double      score;
} scored;

/* "token TAB score": the score is a number, at most 0. */
static bool split_scored(scored *out, const char *line, size_t length)
{
    char        number[40], *end;
    const char *tab = memchr(line, '\t', length);
    if (!tab || tab == line) return false;
    *out = (scored){ .piece = line,
                     .bytes = (size_t)(tab - line),
                     .number = tab + 1,
                     .number_bytes = length - (size_t)(tab + 1 - line) };
    if (!out->number_bytes || out->number_bytes >= sizeof number) return false;
    memcpy(number, out->number, out->number_bytes);
    number[out->number_bytes] = '\0';
    out->score = rg_real_parse(number, &end);
    return !*end && isfinite(out->score) && out->score <= 0;
}

/* Counts in a list of words are above 0, and no such list has an <unk> whose count is 0. */
bool rg_vocab__is_scored(const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count, *line;
    size_t      length, seen = 0;
    bool        unknown = false, marked = false;
    scored      s;
    for (; seen < LINES_LOOKED_AT && next_line(&line, &length, &at, end); seen++) {
        if (!split_scored(&s, line, length)) return false;
        unknown = unknown || (s.bytes == 5 && memcmp(s.piece, "<unk>", 5) == 0 && s.score == 0);
        marked = marked || has_mark(s.piece, s.bytes);
    }
    return seen > 0 && (unknown || marked);
}

/* Types of the proto. Symbols that are not learned have the score "0"; the first piece of BPE has "-0". */
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, DEFINED = 4, BYTE = 6 };

static unsigned type_of(const scored *s)
{
    const bool learned = s->number_bytes != 1 || s->number[0] != '0';
    if (learned) return NORMAL;
    if (s->bytes == 5 && memcmp(s->piece, "<unk>", 5) == 0) return UNKNOWN;
    if (s->bytes == 6 && memcmp(s->piece, "<0x", 3) == 0) return BYTE;
    return s->piece[0] == '<' && s->piece[s->bytes - 1] == '>' ? CONTROL : DEFINED;
}

/* A length as a varint, then the bytes. */
static rg_status add_field(rg_text *out, unsigned char key, const void *bytes, size_t count)
{
    unsigned char head[12] = { key };
    size_t        n = 1;
    for (size_t left = count; n == 1 || left; left >>= 7)
        head[n++] = (unsigned char)((left & 0x7F) | (left >> 7 ? 0x80 : 0));
    RG_TRY(rg_text_add(out, (const char *)head, n));
    return rg_text_add(out, bytes, count);
}

static rg_status add_piece(rg_text *out, const scored *s)
{
    const float   score = (float)s->score;
    uint32_t      bits;
    unsigned char tail[7] = { 0x15, 0, 0, 0, 0, 0x18, (unsigned char)type_of(s) };
    rg_text       piece = { 0 };
    memcpy(&bits, &score, sizeof bits);
    for (int i = 0; i < 4; i++) tail[1 + i] = (unsigned char)(bits >> 8 * i & 0xFF);
    rg_status status = add_field(&piece, 0x0A, s->piece, s->bytes);
    if (status == RG_OK) status = rg_text_add(&piece, (const char *)tail, sizeof tail);
    if (status == RG_OK) status = add_field(out, 0x0A, piece.data, piece.length);
    rg_text_free(&piece);
    return status;
}

/* The trainer's part: 3 model type, 35 byte fallback. The normaliser's: 1 name. */
static rg_status add_specs(rg_text *out, bool ranks, bool bytes)
{
    const char trainer[] = { 0x18, ranks ? 2 : 1, (char)0x98, 0x02, bytes ? 1 : 0 }, normalizer[] = "\x0A\x08identity";
    RG_TRY(add_field(out, 0x12, trainer, sizeof trainer));
    return add_field(out, 0x1A, normalizer, sizeof normalizer - 1);
}

rg_status rg_vocab__read_scored(rg_text *out, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count, *line;
    size_t      length, number = 0;
    bool        unknown = false, fallback = false, ranks = true;
    scored      s;
    while (next_line(&line, &length, &at, end)) {
        number++;
        if (!split_scored(&s, line, length))
            return rg_fail(RG_EFORMAT, "line %zu: not a token, a tab and its score (at most 0)", number);
        unknown = unknown || type_of(&s) == UNKNOWN;
        fallback = fallback || type_of(&s) == BYTE;
        ranks = ranks && s.score == floor(s.score);
        RG_TRY(add_piece(out, &s));
    }
    if (!unknown)
        return rg_fail(RG_EFORMAT, "SentencePiece's tokens without <unk>, so that they cannot be used; give "
                                   "SentencePiece's model (.model, .spm) instead");
    return add_specs(out, ranks, fallback);
}
