/* shortlist_text.c - Marian's text form of a shortlist, a line per pair: target token, source token, probability. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "data/text/shortlist.h"
#include "regard/options.h"

static const char none[] = "NULL"; /* the empty word of aligners; here: any source */

typedef struct {
    rg_shortlist_pair *pair;
    size_t             count, room, known; /* known: lines whose tokens the vocabularies have */
} pairs;

static rg_status add(pairs *p, rg_shortlist_pair pair)
{
    if (p->count == p->room) {
        const size_t       room = p->room ? 2 * p->room : 4096;
        rg_shortlist_pair *larger = rg_realloc(p->pair, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        p->pair = larger;
        p->room = room;
    }
    p->pair[p->count++] = pair;
    return RG_OK;
}

/* -1: not in the vocabulary; the unknown token only by its own name. */
static int32_t find(const rg_vocab *vocab, const char *piece)
{
    const int32_t id = rg_vocab_find(vocab, piece), unknown = rg_vocab_unk(vocab);
    return id == unknown && (unknown < 0 || strcmp(rg_vocab_piece(vocab, unknown), piece) != 0) ? -1 : id;
}

/* Cut a copy of the line at its blanks. */
static size_t cut(char *line, char **field, size_t most)
{
    size_t n = 0;
    for (char *at = line + strspn(line, " \t"); *at; at += strspn(at, " \t")) {
        if (n < most) field[n] = at;
        n++;
        at += strcspn(at, " \t");
        if (*at) *at++ = 0;
    }
    return n;
}

static rg_status read_line(pairs *p, char *text, const rg_line *line, const char *path, const rg_vocab *source,
                           const rg_vocab *target)
{
    char        *field[3] = { NULL, NULL, NULL }, *end = NULL;
    const size_t fields = cut(text, field, 3);
    if (!fields) return RG_OK;
    const double probability = fields == 3 ? rg_real_parse(field[2], &end) : 0;
    if (fields != 3 || *end || !isfinite(probability) || probability < 0)
        return rg_fail(RG_EFORMAT,
                       "%s, line %llu: a shortlist has lines \"target source probability\", such as \"Haus house 0.61\"",
                       path, (unsigned long long)line->number);
    const bool    any = strcmp(field[1], none) == 0;
    const int32_t to = find(target, field[0]), from = any ? -1 : find(source, field[1]);
    if (to < 0 || (!any && from < 0)) return RG_OK;
    p->known += !any;
    return add(p, (rg_shortlist_pair){ from, to, (float)probability });
}

rg_status rg_shortlist_load(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, const char *path,
                            const rg_shortlist_config *c)
{
    rg_lines *lines = NULL;
    pairs     p = { 0 };
    rg_line   line;
    bool      more = true;
    bool      binary;
    *out = NULL;
    RG_TRY(rg_shortlist__load_marian(&binary, out, source, target, path));
    if (binary) return RG_OK;
    rg_status status = rg_lines_open(&lines, path, NULL);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        char *text = rg_strdup(line.text);
        status = text ? read_line(&p, text, &line, path, source, target) : RG_ENOMEM;
        rg_free(text);
    }
    rg_lines_close(lines);
    if (status == RG_OK && !p.known)
        status = rg_fail(RG_EMATCH,
                         "%s: no line is of tokens that the model's vocabularies have; `regard shortlist -m MODEL` makes one",
                         path);
    if (status == RG_OK) status = rg_shortlist__make(out, source, target, p.pair, p.count, c->first, c->best);
    rg_free(p.pair);
    return status;
}

/* Tokens that a line cannot hold (with blanks in them, empty) are left out. */
static rg_status write_pair(rg_file *file, const char *target, const char *source, double probability)
{
    if (!*target || !*source || strpbrk(target, " \t\r\n") || strpbrk(source, " \t\r\n")) return RG_OK;
    char number[32];
    rg_real_print(number, sizeof number, 6, probability);
    char *line = rg_format("%s %s %s\n", target, source, number);
    if (!line) return RG_ENOMEM;
    const rg_status status = rg_file_write(file, line, strlen(line));
    rg_free(line);
    return status;
}

static rg_status save_binary(const rg_shortlist *s, const rg_vocab *source, const char *path)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_shortlist_to_marian(&bytes, s, source);
    if (status == RG_OK) status = rg_file_replace(path, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_shortlist_save(const rg_shortlist *s, const rg_vocab *source, const rg_vocab *target, const char *path)
{
    rg_file *file;
    if (rg_vocab_size(source) != s->source || rg_vocab_size(target) != s->target)
        return rg_fail(RG_EMATCH, "the shortlist is of other vocabularies");
    if (rg_name_matches("*.bin", path)) return save_binary(s, source, path);
    RG_TRY(rg_file_replace_begin(&file, path));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < s->frequents; i++)
        status = write_pair(file, rg_vocab_piece(target, s->frequent[i]), none, (double)s->share[i]);
    for (size_t i = 0; status == RG_OK && i < s->source; i++)
        for (uint32_t k = s->start[i]; status == RG_OK && k < s->start[i + 1]; k++)
            status = write_pair(file, rg_vocab_piece(target, s->translation[k]), rg_vocab_piece(source, (int32_t)i),
                                (double)s->probability[k]);
    if (status == RG_OK) return rg_file_replace_commit(file);
    rg_file_replace_abandon(file);
    return status;
}
