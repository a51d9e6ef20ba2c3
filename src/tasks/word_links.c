/* word_links.c - word alignments of a corpus, from a file in Pharaoh's form or from the aligner. */
#include "tasks/word_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "data/text/ibm1.h"
#include "tasks/content.h"

enum { MOST_WORDS = 65535 };

struct rg_word_links {
    uint16_t (*pair)[2]; /* source, target */
    size_t *start;       /* of line i + 1 .. */
    size_t  lines, count, room;
    bool    tokens;
};

void rg_word_links_free(rg_word_links *l)
{
    if (!l) return;
    rg_free(l->pair);
    rg_free(l->start);
    rg_free(l);
}

size_t rg_word_links_count(const rg_word_links *l) { return l->count; }
bool   rg_word_links_are_of_tokens(const rg_word_links *l) { return l->tokens; }

uint64_t rg_word_links_checksum(const rg_word_links *l)
{
    return rg_hash64_of(l->pair, l->count * sizeof *l->pair) ^
           rg_hash64_of(l->start, (l->lines + 1) * sizeof *l->start);
}

size_t rg_word_links_of(const uint16_t (**out)[2], const rg_word_links *l, uint64_t line)
{
    if (line < 1 || line > l->lines) return 0;
    *out = (const uint16_t(*)[2])(l->pair + l->start[line - 1]);
    return l->start[line] - l->start[line - 1];
}

static rg_status links_new(rg_word_links **out, uint64_t lines)
{
    rg_word_links *l = rg_alloc_zero(sizeof *l);
    if (l) l->start = rg_alloc_array(lines + 1, sizeof *l->start);
    if (l && l->start) memset(l->start, 0, (lines + 1) * sizeof *l->start);
    if (!l || !l->start) {
        rg_word_links_free(l);
        return RG_ENOMEM;
    }
    l->lines = lines;
    *out = l;
    return RG_OK;
}

static rg_status add(rg_word_links *l, size_t source, size_t target)
{
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 1024;
        uint16_t(*larger)[2] = rg_realloc(l->pair, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        l->pair = larger;
        l->room = room;
    }
    l->pair[l->count][0] = (uint16_t)source;
    l->pair[l->count++][1] = (uint16_t)target;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------ Pharaoh's form */

static rg_status read_number(size_t *out, const char **at, const char *link)
{
    char *end;
    if (**at < '0' || **at > '9')
        return rg_fail(RG_EFORMAT, "\"%.*s\" is no link; 3-4 is one: source word 3, target word 4",
                       (int)strcspn(link, " \t"), link);
    const unsigned long n = strtoul(*at, &end, 10);
    if (n > MOST_WORDS || end - *at > 5)
        return rg_fail(RG_ELIMIT, "\"%.*s\": a word past number %d", (int)strcspn(link, " \t"), link, MOST_WORDS);
    *at = end;
    *out = n;
    return RG_OK;
}

static rg_status read_links(rg_word_links *l, const char *text)
{
    for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
        const char *link = at;
        size_t      i, j;
        RG_TRY(read_number(&i, &at, link));
        if (*at != '-' && *at != '?' && *at != 'p')
            return rg_fail(RG_EFORMAT, "\"%.*s\" is no link; 3-4 is one: source word 3, target word 4",
                           (int)strcspn(link, " \t"), link);
        at++;
        RG_TRY(read_number(&j, &at, link));
        if (*at && *at != ' ' && *at != '\t')
            return rg_fail(RG_EFORMAT, "\"%.*s\" is no link; 3-4 is one: source word 3, target word 4",
                           (int)strcspn(link, " \t"), link);
        RG_TRY(add(l, i, j));
    }
    return RG_OK;
}

void rg_word_links_number(int *out, const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    const rg_vocab_kind kind = rg_vocab_kind_of(vocab);
    if (kind != RG_VOCAB_WORDS && kind != RG_VOCAB_TOKENS && kind != RG_VOCAB_WORD)
        rg_content_number(out, vocab, ids, n);
    else
        for (size_t i = 0; i < n; i++) out[i] = (int)i;
}

/* Words of one side of a pair, without </s>. */
static rg_status words_of(size_t *out, rg_ids *room, const rg_vocab *v, const rg_field *field)
{
    size_t n = (size_t)field->layout.start[1];
    if (n && field->ids[n - 1] == rg_vocab_eos(v)) n--;
    room->count = 0;
    RG_TRY(rg_ids_reserve(room, n + 1));
    rg_word_links_number(room->data, v, field->ids, n);
    *out = n ? (size_t)room->data[n - 1] + 1 : 0;
    return RG_OK;
}

/* Every link of the pairs that were kept has its words. Pairs that were cropped have fewer than their lines. */
static rg_status check_words(const rg_word_links *l, const char *path, rg_corpus *corpus, const rg_vocab *source,
                             const rg_vocab *target)
{
    rg_ids     room = { 0 };
    rg_status  status = RG_OK;
    const bool cropped = rg_corpus_counts(corpus)->cropped.count > 0;
    for (uint64_t p = 0; status == RG_OK && !cropped && p < rg_corpus_pairs(corpus); p++) {
        rg_batch b;
        size_t   words[2] = { 0 };
        const uint16_t(*link)[2] = NULL;
        if ((status = rg_corpus_pair(&b, corpus, p)) == RG_OK)
            status = words_of(&words[0], &room, source, &b.field[RG_SOURCE]);
        if (status == RG_OK) status = words_of(&words[1], &room, target, &b.field[RG_TARGET]);
        const size_t n = status == RG_OK ? rg_word_links_of(&link, l, b.lines[0]) : 0;
        for (size_t k = 0; status == RG_OK && k < n; k++)
            for (size_t side = 0; side < 2 && status == RG_OK; side++)
                if (link[k][side] >= words[side])
                    status =
                        rg_fail(RG_EMATCH, "%s, line %llu: the link %u-%u, but the %s has %zu words, counted from 0",
                                path, (unsigned long long)b.lines[0], link[k][0], link[k][1],
                                side ? "target" : "source", words[side]);
    }
    rg_ids_free(&room);
    return status;
}

rg_status rg_word_links_load(rg_word_links **out, const char *path, rg_corpus *corpus, const rg_vocab *source,
                             const rg_vocab *target)
{
    const uint64_t wanted = rg_corpus_counts(corpus)->lines;
    rg_lines      *lines = NULL;
    rg_word_links *l = NULL;
    rg_line        line = { 0 };
    bool           more = true;
    uint64_t       n = 0;
    *out = NULL;
    RG_TRY(links_new(&l, wanted));
    rg_status status = rg_lines_open(&lines, path, NULL);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        if (n < wanted && (status = read_links(l, line.text)) != RG_OK)
            rg_fail_in(status, "%s, line %llu: ", path, (unsigned long long)line.number);
        if (n++ < wanted) l->start[n] = l->count;
    }
    if (status == RG_OK && n != wanted)
        status = rg_fail(RG_EMATCH, "%s has %llu lines of links, the corpus has %llu pairs of lines", path,
                         (unsigned long long)n, (unsigned long long)wanted);
    if (status == RG_OK) status = check_words(l, path, corpus, source, target);
    rg_lines_close(lines);
    if (status != RG_OK) rg_word_links_free(l);
    else *out = l;
    return status;
}

/* --------------------------------------------------------------------------------------------------- the aligner */

void rg_linked_corpus_free(rg_linked_corpus *c)
{
    rg_ids_free(&c->source);
    rg_ids_free(&c->target);
    rg_free(c->source_start);
    rg_free(c->target_start);
    rg_free(c->link);
    *c = (rg_linked_corpus){ 0 };
}

/* The tokens of one side of a pair, its last one, </s>, left out. */
static rg_status add_tokens(rg_ids *out, const rg_field *field)
{
    rg_status status = RG_OK;
    for (int32_t i = 0; status == RG_OK && i + 1 < field->layout.start[1]; i++) status = rg_ids_add(out, field->ids[i]);
    return status;
}

rg_status rg_linked_corpus_make(rg_linked_corpus *c, rg_corpus *corpus, int iterations)
{
    const uint64_t n = rg_corpus_pairs(corpus);
    *c = (rg_linked_corpus){ 0 };
    if (!(c->source_start = rg_alloc_array(n + 1, sizeof *c->source_start)) ||
        !(c->target_start = rg_alloc_array(n + 1, sizeof *c->target_start)))
        return RG_ENOMEM;
    for (uint64_t p = 0; p < n; p++) {
        rg_batch b;
        c->source_start[p] = c->source.count;
        c->target_start[p] = c->target.count;
        RG_TRY(rg_corpus_pair(&b, corpus, p));
        RG_TRY(add_tokens(&c->source, &b.field[RG_SOURCE]));
        RG_TRY(add_tokens(&c->target, &b.field[RG_TARGET]));
    }
    c->source_start[n] = c->source.count;
    c->target_start[n] = c->target.count;
    if (!(c->link = rg_alloc_array(c->target.count + 1, sizeof *c->link))) return RG_ENOMEM;
    const rg_bitext text = { .pairs = n,
                             .source = c->source.data,
                             .target = c->target.data,
                             .source_start = c->source_start,
                             .target_start = c->target_start };
    return rg_ibm1_align(c->link, &text, iterations);
}

/* Links of pair p, to the end of the list. */
static rg_status take_pair(rg_word_links *l, const rg_linked_corpus *c, uint64_t p)
{
    const size_t n = c->target_start[p + 1] - c->target_start[p];
    for (size_t j = 0; j < n && j <= MOST_WORDS; j++) {
        const int32_t i = c->link[c->target_start[p] + j];
        if (i >= 0 && i <= MOST_WORDS) RG_TRY(add(l, (size_t)i, j));
    }
    return RG_OK;
}

rg_status rg_word_links_learn(rg_word_links **out, rg_corpus *corpus, int iterations)
{
    rg_linked_corpus c;
    rg_word_links   *l = NULL;
    uint64_t         line = 0; /* the last with its links */
    *out = NULL;
    RG_TRY(links_new(&l, rg_corpus_counts(corpus)->lines));
    rg_status status = rg_linked_corpus_make(&c, corpus, iterations);
    for (uint64_t p = 0; status == RG_OK && p < rg_corpus_pairs(corpus); p++) { /* in file order: lines rise */
        rg_batch b;
        if ((status = rg_corpus_pair(&b, corpus, p)) != RG_OK) break;
        while (line + 1 < b.lines[0]) l->start[++line] = l->count;
        status = take_pair(l, &c, p);
        if (status == RG_OK) l->start[++line] = l->count;
    }
    while (status == RG_OK && line < l->lines) l->start[++line] = l->count;
    l->tokens = true;
    rg_linked_corpus_free(&c);
    if (status != RG_OK) rg_word_links_free(l);
    else *out = l;
    return status;
}
