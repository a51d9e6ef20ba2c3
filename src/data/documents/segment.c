/* segment.c - a paragraph becomes sentences, and the tags that reach over several of them are shared out:
 *
 *     One. <b>Two. Three.</b> Four.     One. | <b>Two. | Three.</b> | Four.
 *
 * A tag pair over several sentences is opened in the first of them and closed in the last; each is translated for
 * itself, and markup.c knows tags without a partner. */
#include "data/documents/documents.h"

#include <string.h>
#include <utf8proc.h>

typedef struct {
    rg_document *document;
    const char  *plain;
    size_t       bytes;
    rg_mark     *mark;
    size_t       marks;
    rg_escape   *escape;
    rg_spans     guards; /* what is protected                  */
    rg_spans     pieces; /* sentences, between which is copied */
    size_t      *first, *last; /* pieces of each mark          */
} segment;

/* --------------------------------------------------------------------------------------------------------- letters */

static bool is_letter(const char *text, size_t bytes, size_t *n)
{
    utf8proc_int32_t code;
    const utf8proc_ssize_t got =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)(bytes < 4 ? bytes : 4), &code);
    *n = got > 0 ? (size_t)got : 1;
    if (got <= 0) return false;
    const utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

/* The guard that ends behind `at`, or count: guards are in order. */
static size_t guard_behind(const rg_spans *guards, size_t at)
{
    size_t low = 0, high = guards->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (guards->data[middle].end > at) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* A letter in text[begin .. end) outside of guards and keeps. */
static bool has_letters(const char *text, size_t begin, size_t end, const rg_spans *guards, const rg_mark *mark,
                        size_t marks)
{
    size_t n;
    for (size_t at = begin; at < end; at += n) {
        if (!is_letter(text + at, end - at, &n)) continue;
        bool kept = false;
        for (size_t i = 0; i < marks && !kept; i++)
            if (mark[i].kind == RG_MARK_KEEP && mark[i].begin <= at && at < mark[i].end) kept = true, n = mark[i].end - at;
        const size_t g = kept ? guards->count : guard_behind(guards, at);
        if (g < guards->count && guards->data[g].begin <= at) kept = true, n = guards->data[g].end - at;
        if (!kept) return true;
    }
    return false;
}

rg_status rg_segment__has_words(bool *out, const char *plain, size_t bytes, const rg_mark *mark, size_t marks)
{
    rg_spans  guards = { 0 };
    size_t    n;
    rg_status status = RG_OK;
    *out = false;
    for (size_t at = 0; at < bytes && !*out; at += n) *out = is_letter(plain + at, bytes - at, &n);
    if (!*out) return RG_OK;
    status = rg_protect__find(&guards, plain, bytes);
    *out = has_letters(plain, 0, bytes, &guards, mark, marks);
    rg_spans_free(&guards);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- guards */

/* A mark that begins, ends or stands inside of [begin, end), or is kept itself. */
static bool disturbs(const rg_mark *m, size_t begin, size_t end)
{
    const bool in = m->begin > begin && m->begin < end, out = m->end > begin && m->end < end;
    return in || out || (m->kind == RG_MARK_KEEP && m->begin < end && m->end > begin);
}

static rg_status add_guard(segment *s, size_t begin, size_t end)
{
    rg_text   text = { 0 };
    rg_mark  *mark = rg_realloc(s->mark, (s->marks + 1) * sizeof *mark);
    rg_status status = mark ? s->escape(&text, s->plain + begin, end - begin) : RG_ENOMEM;
    if (mark) s->mark = mark;
    char *copy = status == RG_OK ? rg_document__copy(rg_text_c(&text), text.length) : NULL;
    rg_text_free(&text);
    if (!copy) return status == RG_OK ? RG_ENOMEM : status;
    int parent = -1; /* the innermost mark around it: the shortest */
    for (size_t i = 0; i < s->marks; i++) {
        const rg_mark *m = &mark[i];
        if (m->kind == RG_MARK_POINT || m->begin > begin || m->end < end || m->begin == m->end) continue;
        bool inner = parent < 0;
        for (int up = m->parent; up >= 0 && !inner; up = mark[up].parent) inner = up == parent;
        if (inner) parent = (int)i;
    }
    mark[s->marks++] =
        (rg_mark){ .kind = RG_MARK_KEEP, .begin = begin, .end = end, .parent = parent, .open = copy };
    return RG_OK;
}

static rg_status protect(segment *s)
{
    rg_spans        found = { 0 };
    rg_status       status = rg_protect__find(&found, s->plain, s->bytes);
    const size_t    marks = s->marks;
    for (size_t i = 0; status == RG_OK && i < found.count; i++) {
        const rg_span g = found.data[i];
        bool          free = s->marks < 2 * (size_t)RG_CUTTER_MARKS;
        for (size_t k = 0; k < marks && free; k++) free = !disturbs(&s->mark[k], g.begin, g.end);
        if (!free) continue;
        status = rg_spans_add(&s->guards, g.begin, g.end);
        if (status == RG_OK && s->document->config.aligned) status = add_guard(s, g.begin, g.end);
    }
    rg_spans_free(&found);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- pieces */

static bool is_kept(const segment *s, size_t at) /* would a cut at `at` go through something kept? */
{
    for (size_t i = 0; i < s->marks; i++)
        if (s->mark[i].kind == RG_MARK_KEEP && s->mark[i].begin < at && at < s->mark[i].end) return true;
    const size_t g = guard_behind(&s->guards, at);
    return g < s->guards.count && s->guards.data[g].begin < at;
}

/* Sentences, joined where one would be cut inside of something kept or would have no letter ("1. One"). */
static rg_status cut_sentences(rg_spans *out, const segment *s)
{
    rg_spans found = { 0 };
    if (!s->document->config.sentences) return rg_spans_add(out, 0, s->bytes);
    rg_status status = rg_sentences_cut(&found, s->document->config.sentences, s->plain, s->bytes);
    for (size_t i = 0; status == RG_OK && i < found.count; i++) {
        const rg_span f = found.data[i];
        rg_span      *last = out->count ? &out->data[out->count - 1] : NULL;
        const bool    joined = last && (is_kept(s, f.begin) || is_kept(s, last->end) ||
                                     !has_letters(s->plain, last->begin, last->end, &s->guards, s->mark, s->marks) ||
                                     !has_letters(s->plain, f.begin, f.end, &s->guards, s->mark, s->marks));
        if (joined) last->end = f.end;
        else status = rg_spans_add(out, i ? f.begin : 0, f.end);
    }
    if (out->count) out->data[out->count - 1].end = (uint32_t)s->bytes;
    else if (status == RG_OK) status = rg_spans_add(out, 0, s->bytes);
    rg_spans_free(&found);
    return status;
}

static rg_status add_piece(segment *s, size_t begin, size_t end)
{
    while (begin < end && s->plain[begin] == ' ') begin++;
    while (end > begin && s->plain[end - 1] == ' ') end--;
    return end > begin ? rg_spans_add(&s->pieces, begin, end) : RG_OK;
}

/* Without links, what is kept lies between pieces. */
static rg_status cut_pieces(segment *s)
{
    rg_spans  sentences = { 0 };
    rg_status status = cut_sentences(&sentences, s);
    for (size_t i = 0, g = 0; status == RG_OK && i < sentences.count; i++) {
        size_t at = sentences.data[i].begin;
        for (; !s->document->config.aligned && status == RG_OK && g < s->guards.count &&
               s->guards.data[g].end <= sentences.data[i].end;
             g++) {
            status = add_piece(s, at, s->guards.data[g].begin);
            at = s->guards.data[g].end;
        }
        if (status == RG_OK) status = add_piece(s, at, sentences.data[i].end);
    }
    rg_spans_free(&sentences);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- sharing out */

static size_t piece_ending_behind(const segment *s, size_t at, bool strictly)
{
    size_t low = 0, high = s->pieces.count - 1; /* the last one at the latest */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strictly ? s->pieces.data[middle].end > at : s->pieces.data[middle].end >= at) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The pieces of each mark. Parents come first in no order: each looks its own up. */
static rg_status find_pieces(segment *s)
{
    s->first = rg_alloc_array(s->marks + 1, sizeof *s->first);
    s->last = rg_alloc_array(s->marks + 1, sizeof *s->last);
    if (!s->first || !s->last) return RG_ENOMEM;
    if (!s->pieces.count) return rg_fail(RG_EINVAL, "a paragraph without a word"); /* readers do not hand one over */
    for (size_t i = 0; i < s->marks; i++) {
        const rg_mark *m = &s->mark[i];
        const size_t   behind = piece_ending_behind(s, m->begin, m->end > m->begin);
        size_t         last = behind;
        while (last + 1 < s->pieces.count && s->pieces.data[last + 1].begin < m->end) last++;
        s->first[i] = behind;
        s->last[i] = last;
    }
    for (bool moved = true; moved;) { /* what is empty stays inside of what is around it */
        moved = false;
        for (size_t i = 0; i < s->marks; i++) {
            const int up = s->mark[i].parent;
            if (up < 0) continue;
            if (s->first[i] < s->first[up]) s->first[i] = s->first[up], moved = true;
            if (s->last[i] > s->last[up]) s->last[i] = s->last[up], moved = true;
            if (s->last[i] < s->first[i]) s->last[i] = s->first[i];
            if (s->first[i] > s->last[i]) s->first[i] = s->last[i];
        }
    }
    return RG_OK;
}

/* Has mark i something to write in piece p? */
static bool is_in(const segment *s, size_t i, size_t p)
{
    const rg_mark_kind kind = s->mark[i].kind;
    if (kind == RG_MARK_OPEN) return s->first[i] == p;
    if (kind == RG_MARK_CLOSE) return s->last[i] == p;
    return s->first[i] == p || s->last[i] == p;
}

static size_t clamp(size_t at, rg_span piece)
{
    return at <= piece.begin ? 0 : at >= piece.end ? piece.end - piece.begin : at - piece.begin;
}

/* Mark i as it is in piece p. */
static rg_status share(rg_mark *out, const segment *s, size_t i, size_t p)
{
    const rg_mark *m = &s->mark[i];
    const rg_span  piece = s->pieces.data[p];
    const bool     several = m->kind == RG_MARK_ELEMENT && s->first[i] < s->last[i],
               closes = several && s->last[i] == p;
    *out = *m;
    out->kind = !several ? m->kind : closes ? RG_MARK_CLOSE : RG_MARK_OPEN;
    out->begin = out->kind == RG_MARK_CLOSE ? 0 : clamp(m->begin, piece);
    out->end = out->kind == RG_MARK_OPEN ? piece.end - piece.begin : clamp(m->end, piece);
    out->close = NULL;
    if (!(out->open = rg_strdup(closes ? m->close : m->open))) return RG_ENOMEM;
    if (out->kind == RG_MARK_ELEMENT && !(out->close = rg_strdup(m->close))) return RG_ENOMEM;
    return RG_OK;
}

static rg_status share_marks(rg_mark *out, size_t *count, int *number, const segment *s, size_t p)
{
    for (size_t i = 0; i < s->marks; i++) {
        number[i] = is_in(s, i, p) ? (int)*count : -1;
        if (number[i] < 0) continue;
        out[*count] = (rg_mark){ 0 };
        RG_TRY(share(&out[(*count)++], s, i, p));
    }
    for (size_t i = 0; i < s->marks; i++) {
        if (number[i] < 0) continue;
        int up = s->mark[i].parent;
        while (up >= 0 && number[up] < 0) up = s->mark[up].parent;
        out[number[i]].parent = up < 0 ? -1 : number[up];
    }
    return RG_OK;
}

/* A sentence; one without a letter is written as it is, with its tags. */
static rg_status emit_piece(segment *s, size_t p)
{
    rg_document  *d = s->document;
    const rg_span piece = s->pieces.data[p];
    size_t        count = 0, room = 0;
    for (size_t i = 0; i < s->marks; i++) room += is_in(s, i, p);
    rg_mark      *mark = room ? rg_alloc_zero(room * sizeof *mark) : NULL;
    int          *number = room ? rg_alloc_array(s->marks, sizeof *number) : NULL;
    rg_status     status = room && (!mark || !number) ? RG_ENOMEM : RG_OK;
    if (status == RG_OK && room) status = share_marks(mark, &count, number, s, p);
    rg_free(number);
    if (status != RG_OK) {
        rg_marks__free(mark, count);
        return status;
    }
    RG_TRY(rg_document__sentence(d, s->plain + piece.begin, piece.end - piece.begin, mark, count, s->escape));
    if (has_letters(s->plain, piece.begin, piece.end, &s->guards, s->mark, s->marks)) return RG_OK;
    rg_text  text = { 0 };
    rg_document_part *part = &d->part[d->parts - 1];
    status = rg_document_render(&text, d, d->sentences - 1, part->text, NULL);
    rg_marks__free(part->mark, part->marks);
    rg_free(part->text);
    d->parts--;
    d->sentences--;
    if (status == RG_OK) status = rg_document__keep(d, rg_text_c(&text), text.length);
    rg_text_free(&text);
    return status;
}

static rg_status emit_gap(segment *s, size_t begin, size_t end)
{
    rg_text   text = { 0 };
    rg_status status = end > begin ? s->escape(&text, s->plain + begin, end - begin) : RG_OK;
    if (status == RG_OK) status = rg_document__keep(s->document, rg_text_c(&text), text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_segment__add(rg_document *d, const char *plain, size_t bytes, rg_mark *mark, size_t marks,
                          rg_escape *escape)
{
    segment   s = { .document = d, .plain = plain, .bytes = bytes, .mark = mark, .marks = marks, .escape = escape };
    rg_status status = protect(&s);
    if (status == RG_OK) status = cut_pieces(&s);
    if (status == RG_OK) status = find_pieces(&s);
    size_t at = 0;
    for (size_t p = 0; status == RG_OK && p < s.pieces.count; p++) {
        status = emit_gap(&s, at, s.pieces.data[p].begin);
        if (status == RG_OK) status = emit_piece(&s, p);
        at = s.pieces.data[p].end;
    }
    if (status == RG_OK) status = emit_gap(&s, at, bytes);
    rg_marks__free(s.mark, s.marks);
    rg_spans_free(&s.guards);
    rg_spans_free(&s.pieces);
    rg_free(s.first);
    rg_free(s.last);
    return status;
}
