/* glossary_find.c - the terms of a line, and whether a translation has what is wanted for them.
 *
 * From every word boundary of the line the texts up to the next few boundaries are looked up, in lower case, in the
 * sorted table: a line of W words and terms of at most K words take about W K searches, however long the table is.
 * Of matches that overlap the one with more bytes is taken, of equals the one further left. */
#include "data/text/glossary.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---------------------------------------------------------------------------------------------- word boundaries */

/* Scripts written without blanks between words: every character is a boundary. */
static bool unspaced(uint32_t c)
{
    static const uint32_t range[][2] = {
        { 0x0E00, 0x0EFF },
        /* Thai, Lao          */ { 0x1000, 0x109F },
        /* Burmese */ { 0x1780, 0x17FF }, /* Khmer */
        { 0x3040, 0x30FF },
        /* Hiragana, Katakana */ { 0x3400, 0x9FFF },
        /* Han */ { 0xF900, 0xFAFF },
        { 0x20000, 0x3FFFF },
    };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i][0] && c <= range[i][1]) return true;
    return false;
}

static bool in_word(uint32_t c)
{
    const utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)c);
    return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO; /* letters, marks, numbers */
}

/* text is UTF-8; at is the beginning of a character or the end. */
static bool boundary(const char *text, size_t bytes, size_t at)
{
    uint32_t before, after;
    size_t   begin = at;
    if (!at || at >= bytes) return true;
    while (begin > 0 && ((unsigned char)text[--begin] & 0xC0) == 0x80) {
    }
    rg_utf8_next(&before, text + begin, at - begin);
    rg_utf8_next(&after, text + at, bytes - at);
    return !in_word(before) || !in_word(after) || unspaced(before) || unspaced(after);
}

/* ------------------------------------------------------------------------------------------------------- lookup */

static const rg_glossary_entry *look_up(const rg_glossary *g, const char *key, const char *written)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(g->entry[middle].key, key) < 0) low = middle + 1;
        else high = middle;
    }
    for (; low < g->count && strcmp(g->entry[low].key, key) == 0; low++)
        if (!g->entry[low].exact || strcmp(g->entry[low].term, written) == 0) return &g->entry[low];
    return NULL;
}

static void free_terms(rg_terms *t)
{
    for (size_t i = 0; i < t->count; i++) rg_free(t->term[i].kept);
    t->count = 0;
}

void rg_terms_free(rg_terms *t)
{
    free_terms(t);
    rg_free(t->term);
    rg_text_free(&t->line);
    *t = (rg_terms){ 0 };
}

static rg_status add_match(rg_terms *t, const rg_glossary_entry *e, size_t begin, size_t end)
{
    rg_term term = { .begin = begin, .end = end, .forms = (const char *const *)e->form, .count = e->count };
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 8;
        rg_term     *larger = rg_realloc(t->term, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        t->term = larger;
        t->room = room;
    }
    if (!e->count) { /* copied */
        if (!(term.kept = rg_alloc_zero(end - begin + 1))) return RG_ENOMEM;
        memcpy(term.kept, t->line.data + begin, end - begin);
        term.forms = NULL;
        term.count = 1;
    }
    t->term[t->count++] = term;
    return RG_OK;
}

/* The terms that begin at this boundary. */
static rg_status look_from(rg_terms *t, const rg_glossary *g, size_t begin, rg_text *written, rg_text *key)
{
    const char  *text = rg_text_c(&t->line);
    const size_t bytes = t->line.length;
    for (size_t end = begin, words = 1; end < bytes && end - begin <= RG_GLOSSARY_BYTES;) {
        uint32_t c;
        end += rg_utf8_next(&c, text + end, bytes - end);
        if (c == ' ' && ++words > g->words) return RG_OK;
        if (c == ' ' || !boundary(text, bytes, end)) continue;
        rg_text_clear(written);
        rg_text_clear(key);
        RG_TRY(rg_text_add(written, text + begin, end - begin));
        RG_TRY(rg_text_lower(key, rg_text_c(written), written->length));
        const rg_glossary_entry *e = look_up(g, rg_text_c(key), rg_text_c(written));
        if (e) RG_TRY(add_match(t, e, begin, end));
    }
    return RG_OK;
}

static int longest_first(const void *a, const void *b)
{
    const rg_term *x = a, *y = b;
    const size_t   m = x->end - x->begin, n = y->end - y->begin;
    if (m != n) return m > n ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_place(const void *a, const void *b)
{
    const rg_term *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void drop_overlaps(rg_terms *t)
{
    size_t kept = 0;
    if (t->count) qsort(t->term, t->count, sizeof *t->term, longest_first);
    for (size_t i = 0; i < t->count; i++) {
        bool free_place = true;
        for (size_t k = 0; k < kept && free_place; k++)
            free_place = t->term[i].end <= t->term[k].begin || t->term[i].begin >= t->term[k].end;
        if (free_place) t->term[kept++] = t->term[i];
        else rg_free(t->term[i].kept);
    }
    t->count = kept;
    if (kept) qsort(t->term, kept, sizeof *t->term, by_place);
}

rg_status rg_glossary_find(rg_terms *out, const rg_glossary *g, const char *line)
{
    rg_text written = { 0 }, key = { 0 };
    free_terms(out);
    rg_status status = rg_glossary_clean(&out->line, line);
    for (size_t at = 0; status == RG_OK && g->count && at < out->line.length;) {
        uint32_t    c;
        const char *text = out->line.data;
        if (text[at] != ' ' && boundary(text, out->line.length, at)) status = look_from(out, g, at, &written, &key);
        at += rg_utf8_next(&c, text + at, out->line.length - at);
    }
    drop_overlaps(out);
    rg_text_free(&written);
    rg_text_free(&key);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- missing */

rg_status rg_term_capital(rg_text *out, const char *form)
{
    uint32_t     c;
    const size_t n = *form ? rg_utf8_next(&c, form, strlen(form)) : 0;
    if (n) RG_TRY(rg_utf8_add(out, (uint32_t)utf8proc_totitle((utf8proc_int32_t)c)));
    return rg_text_add_string(out, form + n);
}

/* Claim the first place of `form` between boundaries that nobody has claimed. */
static bool claim(bool *taken, const char *text, size_t bytes, const char *form, bool only_first)
{
    const size_t n = strlen(form);
    for (const char *at = text; n && (at = strstr(at, form)) != NULL; at++) {
        const size_t begin = (size_t)(at - text);
        bool         open = boundary(text, bytes, begin) && boundary(text, bytes, begin + n) && (!only_first || !begin);
        for (size_t i = begin; open && i < begin + n; i++) open = !taken[i];
        if (!open) continue;
        memset(taken + begin, true, n);
        return true;
    }
    return false;
}

static rg_status find_form(bool *out, bool *taken, const char *text, size_t bytes, const char *form)
{
    rg_text capital = { 0 };
    *out = claim(taken, text, bytes, form, false);
    rg_status status = *out ? RG_OK : rg_term_capital(&capital, form);
    if (status == RG_OK && !*out) *out = claim(taken, text, bytes, rg_text_c(&capital), true);
    rg_text_free(&capital);
    return status;
}

typedef struct {
    size_t term, form, bytes;
} wanted;

static int most_bytes_first(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->term != y->term ? (x->term > y->term ? 1 : -1) : (x->form > y->form) - (x->form < y->form);
}

/* Long forms first: "York" does not take a part of the "New York" that another term wants. */
rg_status rg_terms_missing(size_t *out, bool *missing, const rg_terms *t, const char *text)
{
    const size_t bytes = strlen(text);
    size_t       all = 0, n = 0;
    for (size_t i = 0; i < t->count; i++) all += t->term[i].count;
    bool     *taken = rg_alloc_zero(bytes + 1);
    wanted   *list = rg_alloc_zero((all + 1) * sizeof *list);
    rg_status status = taken && list ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; list && i < t->count; i++) {
        missing[i] = true;
        for (size_t k = 0; k < t->term[i].count; k++)
            list[n++] = (wanted){ i, k, strlen(rg_term_form(&t->term[i], k)) };
    }
    if (n) qsort(list, n, sizeof *list, most_bytes_first);
    *out = t->count;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        bool found = false;
        if (!missing[list[i].term]) continue;
        status = find_form(&found, taken, text, bytes, rg_term_form(&t->term[list[i].term], list[i].form));
        missing[list[i].term] = !found;
        *out -= found;
    }
    rg_free(taken);
    rg_free(list);
    return status;
}
