/* shortlist_learn.c - a shortlist from parallel text, by t(target | source) of IBM model 1 over tokens. */
#include <string.h>

#include "data/text/ibm1.h"
#include "data/text/shortlist.h"

/* One side: which tokens its lines have, of the lines that are aligned. */
typedef struct {
    rg_ids  ids;
    size_t *start, lines;
} side;

static void free_side(side *s)
{
    rg_ids_free(&s->ids);
    rg_free(s->start);
}

/* Of `all` lines every one, or `most` of them spread evenly. */
static bool taken(size_t i, size_t all, size_t most)
{
    return all <= most || i * most / all != (i + 1) * most / all;
}

static rg_status count_lines(size_t *out, const char *path)
{
    rg_lines *lines;
    rg_line   line;
    bool      more = true;
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    while (more && (status = rg_lines_next(&more, &line, lines)) == RG_OK) {
    }
    *out = (size_t)rg_lines_count(lines);
    rg_lines_close(lines);
    return status;
}

static rg_status read_side(side *s, const char *path, const rg_vocab *vocab, size_t all, size_t most)
{
    rg_lines *lines;
    rg_line   line;
    bool      more = true;
    if (!(s->start = rg_alloc_array((all < most ? all : most) + 2, sizeof *s->start))) return RG_ENOMEM;
    RG_TRY(rg_lines_open(&lines, path, NULL));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < all; i++) {
        if ((status = rg_lines_next(&more, &line, lines)) != RG_OK || !more) break;
        if (!taken(i, all, most)) continue;
        s->start[s->lines++] = s->ids.count;
        status = rg_vocab_encode(&s->ids, NULL, vocab, line.text, line.bytes);
    }
    s->start[s->lines] = s->ids.count;
    rg_lines_close(lines);
    return status;
}

/* Translations, and the share of each token among all as pairs of any source. */
static rg_status list(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, const side *from,
                      const side *to, const rg_shortlist_config *c)
{
    const rg_bitext    text = { .pairs = from->lines,
                                .source = from->ids.data,
                                .target = to->ids.data,
                                .source_start = from->start,
                                .target_start = to->start };
    const size_t       V = rg_vocab_size(target);
    rg_ibm1_entry     *table = NULL;
    size_t             entries = 0, n = 0, run = 0;
    rg_status          status = rg_ibm1_table(&table, &entries, &text, c->iterations);
    rg_shortlist_pair *pair = status == RG_OK ? rg_alloc_zero((entries + V + 1) * sizeof *pair) : NULL;
    if (status == RG_OK && !pair) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < entries; i++) {
        run = i && table[i].source == table[i - 1].source ? run + 1 : 0;
        if (run < c->best) pair[n++] = (rg_shortlist_pair){ table[i].source, table[i].target, (float)table[i].t };
    }
    if (status == RG_OK) {
        rg_shortlist_pair *any = pair + n;
        for (size_t v = 0; v < V; v++) any[v] = (rg_shortlist_pair){ -1, (int32_t)v, 0 };
        for (size_t i = 0; i < to->ids.count; i++) any[to->ids.data[i]].probability += 1;
        for (size_t v = 0; v < V; v++) any[v].probability /= (float)(to->ids.count ? to->ids.count : 1);
        status = rg_shortlist__make(out, source, target, pair, n + V, c->first, c->best);
    }
    rg_free(table);
    rg_free(pair);
    return status;
}

rg_status rg_shortlist_learn(rg_shortlist **out, const rg_vocab *source, const rg_vocab *target, const char *from,
                             const char *to, const rg_shortlist_config *c)
{
    side   a = { 0 }, b = { 0 };
    size_t lines[2] = { 0, 0 };
    *out = NULL;
    if (c->lines < 1 || c->lines > 1u << 30 || c->iterations < 1)
        return rg_fail(RG_EINVAL, "%d rounds over %zu lines", c->iterations, c->lines);
    RG_TRY(count_lines(&lines[0], from));
    RG_TRY(count_lines(&lines[1], to));
    if (lines[0] != lines[1])
        return rg_fail(RG_EMATCH, "%s has %zu lines, %s has %zu; each line translates the one beside it", from, lines[0],
                       to, lines[1]);
    if (!lines[0]) return rg_fail(RG_EFORMAT, "%s has no lines", from);
    rg_status status = read_side(&a, from, source, lines[0], c->lines);
    if (status == RG_OK) status = read_side(&b, to, target, lines[1], c->lines);
    if (status == RG_OK && a.lines != b.lines) status = rg_fail(RG_EMATCH, "%s changed while it was read", from);
    if (status == RG_OK) status = list(out, source, target, &a, &b, c);
    free_side(&a);
    free_side(&b);
    return status;
}
