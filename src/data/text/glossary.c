/* glossary.c - a table of terms: read, checked, sorted by what a line is looked up with, the term in lower case. */
#include "data/text/glossary.h"

#include <stdlib.h>
#include <string.h>

const char *rg_term_form(const rg_term *t, size_t form) { return t->forms ? t->forms[form] : t->kept; }

rg_status rg_glossary_new(rg_glossary **out)
{
    *out = rg_alloc_zero(sizeof **out);
    return *out ? RG_OK : RG_ENOMEM;
}

static void free_entry(rg_glossary_entry *e)
{
    for (size_t i = 0; i < e->count; i++) rg_free(e->form[i]);
    rg_free(e->form);
    rg_free(e->term);
    rg_free(e->key);
}

void rg_glossary_free(rg_glossary *g)
{
    if (!g) return;
    for (size_t i = 0; i < g->count; i++) free_entry(&g->entry[i]);
    rg_free(g->entry);
    rg_free(g);
}

size_t rg_glossary_size(const rg_glossary *g) { return g->count; }

/* ------------------------------------------------------------------------------------------------------- adding */

rg_status rg_glossary_clean(rg_text *out, const char *text)
{
    rg_text_clear(out);
    RG_TRY(rg_text_clean(out, text, strlen(text), RG_TEXT_NFC, NULL));
    rg_text_squeeze(out);
    return RG_OK;
}

/* A new string: clean, in lower case if asked for. */
static rg_status clean_copy(char **out, const char *text, bool lower)
{
    rg_text   clean = { 0 }, low = { 0 };
    rg_status status = rg_glossary_clean(&clean, text);
    if (status == RG_OK && lower) status = rg_text_lower(&low, rg_text_c(&clean), clean.length);
    *out = status == RG_OK ? rg_strdup(rg_text_c(lower ? &low : &clean)) : NULL;
    if (status == RG_OK && !*out) status = RG_ENOMEM;
    rg_text_free(&clean);
    rg_text_free(&low);
    return status;
}

static rg_status check_text(const char *what, const char *text)
{
    size_t at;
    if (!rg_utf8_check(text, strlen(text), &at))
        return rg_fail(RG_EFORMAT, "byte %zu of the %s is not UTF-8", at + 1, what);
    if (strlen(text) > RG_GLOSSARY_BYTES)
        return rg_fail(RG_ELIMIT, "a %s of %zu bytes; at most %d are accepted", what, strlen(text), RG_GLOSSARY_BYTES);
    return RG_OK;
}

static rg_status check_term(const rg_glossary *g, const char *term, const char *const *forms, size_t count)
{
    RG_TRY(check_text("term", term));
    for (size_t i = 0; i < count; i++) RG_TRY(check_text("target", forms[i]));
    if (count > RG_GLOSSARY_FORMS)
        return rg_fail(RG_ELIMIT, "%zu targets; at most %d are accepted", count, RG_GLOSSARY_FORMS);
    if (g->count >= RG_GLOSSARY_TERMS) return rg_fail(RG_ELIMIT, "more than %d terms", RG_GLOSSARY_TERMS);
    return RG_OK;
}

static size_t words_of(const char *text)
{
    size_t n = *text != 0;
    for (; *text; text++) n += *text == ' ';
    return n;
}

static bool keeps(const char *const *forms, size_t count)
{
    return !count || (count == 1 && (!forms[0][0] || strcmp(forms[0], "keep") == 0));
}

static rg_status fill_entry(rg_glossary_entry *e, const char *term, const char *const *forms, size_t count)
{
    RG_TRY(clean_copy(&e->term, term, false));
    RG_TRY(clean_copy(&e->key, term, true));
    e->exact = strcmp(e->term, e->key) != 0;
    if (!*e->term) return rg_fail(RG_EFORMAT, "there is no term in front of the target");
    if (words_of(e->term) > RG_GLOSSARY_WORDS)
        return rg_fail(RG_ELIMIT, "a term of %zu words; at most %d are accepted", words_of(e->term), RG_GLOSSARY_WORDS);
    if (keeps(forms, count)) return RG_OK;
    if (!(e->form = rg_alloc_zero(count * sizeof *e->form))) return RG_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const char *form = strcmp(forms[i], "\\keep") == 0 ? "keep" : forms[i];
        RG_TRY(clean_copy(&e->form[e->count++], form, false));
        if (!*e->form[i]) return rg_fail(RG_EFORMAT, "target %zu of \"%s\" is empty", i + 1, e->term);
    }
    return RG_OK;
}

rg_status rg_glossary_add(rg_glossary *g, const char *term, const char *const *forms, size_t count, uint64_t line)
{
    rg_glossary_entry e = { .line = line };
    RG_TRY(check_term(g, term, forms, count));
    if (g->count == g->room) {
        const size_t       room = g->room ? 2 * g->room : 16;
        rg_glossary_entry *larger = rg_realloc(g->entry, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        g->entry = larger;
        g->room = room;
    }
    const rg_status status = fill_entry(&e, term, forms, count);
    if (status != RG_OK) {
        free_entry(&e);
        return status;
    }
    if (words_of(e.key) > g->words) g->words = words_of(e.key);
    g->entry[g->count++] = e;
    return RG_OK;
}

/* By key; of one key those that are found as written alone come first. */
static int by_key(const void *a, const void *b)
{
    const rg_glossary_entry *x = a, *y = b;
    const int                order = strcmp(x->key, y->key);
    if (order) return order;
    if (x->exact != y->exact) return x->exact ? -1 : 1;
    const int written = strcmp(x->term, y->term);
    return written ? written : (x->line > y->line) - (x->line < y->line);
}

rg_status rg_glossary_ready(rg_glossary *g)
{
    if (g->count) qsort(g->entry, g->count, sizeof *g->entry, by_key);
    for (size_t i = 1; i < g->count; i++)
        if (strcmp(g->entry[i].term, g->entry[i - 1].term) == 0)
            return rg_fail(RG_EFORMAT, "line %llu: the term \"%s\" is in line %llu already; give all its targets there",
                           (unsigned long long)g->entry[i].line, g->entry[i].term,
                           (unsigned long long)g->entry[i - 1].line);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* Cut at tabs, in place. Returns how many fields there are, which may be more than `most`. */
static size_t cut(const char **field, size_t most, char *text)
{
    size_t n = 0;
    for (char *at = text; at; n++) {
        char *tab = strchr(at, '\t');
        if (tab) *tab++ = 0;
        if (n < most) field[n] = at;
        at = tab;
    }
    return n;
}

static rg_status read_line(rg_glossary *g, const rg_line *line)
{
    const char *field[RG_GLOSSARY_FORMS + 2];
    if (line->faults) return rg_fail(RG_EFORMAT, "the line is damaged: bad UTF-8, a NUL, or longer than a line may be");
    char *copy = rg_strdup(line->text);
    if (!copy) return RG_ENOMEM;
    size_t n = cut(field, RG_GLOSSARY_FORMS + 2, copy);
    if (n > RG_GLOSSARY_FORMS + 2) n = RG_GLOSSARY_FORMS + 2; /* refused as one too many */
    while (n > 2 && !field[n - 1][0]) n--;                    /* empty cells at the end of a table's row */
    const rg_status status =
        n == 1 && !field[0][0] ? RG_OK : rg_glossary_add(g, field[0], field + 1, n - 1, line->number);
    rg_free(copy);
    return status;
}

rg_status rg_glossary_load(rg_glossary **out, const char *path)
{
    rg_lines    *lines = NULL;
    rg_glossary *g = NULL;
    rg_line      line = { 0 };
    bool         more = true;
    rg_status    status = rg_glossary_new(&g);
    *out = NULL;
    if (status == RG_OK) status = rg_lines_open(&lines, path, NULL);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more)
        if ((status = read_line(g, &line)) != RG_OK)
            rg_fail_in(status, "%s, line %llu: ", path, (unsigned long long)line.number);
    if (status == RG_OK && (status = rg_glossary_ready(g)) != RG_OK) rg_fail_in(status, "%s, ", path);
    rg_lines_close(lines);
    if (status != RG_OK) rg_glossary_free(g);
    else *out = g;
    return status;
}
