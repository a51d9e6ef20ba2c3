/* read_conll.c - one word per line with its tag behind it, an empty line between sentences:
 *
 *     The TAB DET
 *     dog TAB NOUN
 *
 * A row is a sentence: in each column, its words one per line. Columns stand between tabs, or blanks where a line
 * has no tab. A comment is a line that begins with # and has one column only. */
#include "data/reader.h"

#include <string.h>

enum { MOST_WORD_COLUMNS = 64 };

typedef struct sentence {
    rg_text column[MOST_WORD_COLUMNS];
    size_t  columns;
} sentence;

static rg_status conll_open(rg_reader *r)
{
    r->own = rg_alloc_zero(sizeof(sentence));
    r->config.header = RG_HEADER_NO;
    return r->own ? rg_reader__open_lines(r) : RG_ENOMEM;
}

static void conll_close(rg_reader *r)
{
    sentence *s = r->own;
    for (size_t i = 0; s && i < MOST_WORD_COLUMNS; i++) rg_text_free(&s->column[i]);
    rg_free(s);
}

/* The columns of one word, behind those of the words before. */
static rg_status add_word(sentence *s, const rg_reader *r, const rg_line *line, bool first)
{
    const char *separators = strchr(line->text, '\t') ? "\t" : " ", *at = line->text;
    size_t      columns = 0;
    for (; *at; columns++) {
        const size_t bytes = strcspn(at, separators);
        if (columns == MOST_WORD_COLUMNS)
            return rg_reader__complain(r, line->number, "more than %d columns", MOST_WORD_COLUMNS);
        if (!bytes)
            return rg_reader__complain(r, line->number, "column %zu is empty: a word and its tag belong on a line",
                                       columns + 1);
        if (!first) RG_TRY(rg_text_add(&s->column[columns], "\n", 1));
        RG_TRY(rg_text_add(&s->column[columns], at, bytes));
        at += bytes;
        if (*separators == '\t') at += *at == '\t';
        else at += strspn(at, separators);
    }
    if (!first && columns != s->columns)
        return rg_reader__complain(r, line->number, "%zu column%s; the words before have %zu", columns,
                                   columns == 1 ? "" : "s", s->columns);
    s->columns = columns;
    return RG_OK;
}

static bool is_comment(const rg_line *line)
{
    return line->text[0] == '#' && !strchr(line->text, '\t') && (line->text[1] == ' ' || !line->text[1]);
}

static rg_status conll_next(bool *out_more, rg_reader *r)
{
    sentence *s = r->own;
    rg_line   line;
    bool      more = true, begun = false;
    unsigned  faults = 0;
    for (size_t i = 0; i < MOST_WORD_COLUMNS; i++) rg_text_clear(&s->column[i]);
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, r->lines));
        const bool empty = more && rg_reader__is_empty(&line) && !(line.faults & RG_LINE_TOO_LONG);
        if (!more || (empty && begun)) break;
        if (empty || (!begun && is_comment(&line))) continue;
        if (line.faults & RG_LINE_TOO_LONG)
            return rg_reader__complain(r, line.number, "a word that is longer than a line may be");
        if (!begun) rg_reader__begin_row(r, line.number);
        RG_TRY(add_word(s, r, &line, !begun));
        begun = true;
        faults |= line.faults;
        if (s->column[0].length > r->config.max_bytes)
            return rg_reader__complain(r, r->row.line, "a sentence of more than %zu bytes: an empty line ends one",
                                       r->config.max_bytes);
    }
    *out_more = begun;
    r->row.faults = faults;
    for (size_t i = 0; begun && i < s->columns; i++)
        RG_TRY(rg_reader__add_cell(r, s->column[i].data, s->column[i].length));
    return RG_OK;
}

const rg_reader_format rg_reader_conll = {
    .name = "conll",
    .summary = "a word and its tag per line, an empty line between sentences",
    .endings = ".conll .conllu ",
    .open = conll_open,
    .next = conll_next,
    .close = conll_close,
};
