/* graph_read.c - the files of a graph: edges, features, labels, split. Every complaint names the file, the line and
 * the number. */
#include "data/graphs/graph.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 30, MOST_FEATURES = 1 << 24 };

static rg_status complain(const rg_lines *lines, const rg_line *line, const char *format, ...) RG_PRINTF(3, 4);
static rg_status complain(const rg_lines *lines, const rg_line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_failv(RG_EFORMAT, format, args);
    va_end(args);
    return rg_fail_in(RG_EFORMAT, "%s: line %llu: ", rg_lines_name(lines), (unsigned long long)line->number);
}

/* The next word of a line, cut out of *at; false when there is none. Words end at blanks and tabs. */
static bool next_word(const char **at, const char **word, size_t *bytes)
{
    while (**at == ' ' || **at == '\t') (*at)++;
    *word = *at;
    while (**at && **at != ' ' && **at != '\t') (*at)++;
    *bytes = (size_t)(*at - *word);
    return *bytes > 0;
}

/* The whole of a word is a whole number. */
static bool to_int(long long *out, const char *word, size_t bytes)
{
    char *end;
    errno = 0;
    *out = strtoll(word, &end, 10);
    return bytes && end == word + bytes && errno == 0;
}

static bool to_real(double *out, const char *word, size_t bytes)
{
    char *end;
    *out = rg_real_parse(word, &end);
    return bytes && end == word + bytes && isfinite(*out) && fabs(*out) < 1e30;
}

static rg_status read_node(int32_t *out, const rg_lines *lines, const rg_line *line, const char *word, size_t bytes,
                           size_t nodes)
{
    long long n;
    if (!to_int(&n, word, bytes))
        return complain(lines, line, "'%.*s' is not a node: a whole number from 0", (int)(bytes < 40 ? bytes : 40),
                        word);
    if (n < 0 || (uint64_t)n >= nodes)
        return complain(lines, line, "node %lld; there are nodes 0 .. %zu", n, nodes - 1);
    *out = (int32_t)n;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ ragged rows */

rg_status rg_ragged__add(rg_ragged *r, int32_t item, rg_real value)
{
    if (r->count == r->room) {
        const size_t room = r->room ? 2 * r->room : 1024;
        int32_t     *items = rg_realloc(r->item, room * sizeof *items);
        if (!items) return RG_ENOMEM;
        r->item = items;
        rg_real *values = rg_realloc(r->value, room * sizeof *values);
        if (!values) return RG_ENOMEM;
        r->value = values;
        r->room = room;
    }
    r->item[r->count] = item;
    r->value[r->count++] = value;
    return RG_OK;
}

rg_status rg_ragged__end_row(rg_ragged *r)
{
    if (r->rows + 1 >= r->rows_room) {
        const size_t room = r->rows_room ? 2 * r->rows_room : 256;
        size_t      *first = rg_realloc(r->first, room * sizeof *first);
        if (!first) return RG_ENOMEM;
        if (!r->rows_room) first[0] = 0;
        r->first = first;
        r->rows_room = room;
    }
    r->first[++r->rows] = r->count;
    return RG_OK;
}

void rg_ragged__free(rg_ragged *r)
{
    rg_free(r->first);
    rg_free(r->item);
    rg_free(r->value);
    *r = (rg_ragged){ 0 };
}

/* --------------------------------------------------------------------------------------------------------- features */

/* "17" or "17:0.5"; numbers rise, so that none is there twice. */
static rg_status sparse_line(rg_ragged *out, size_t *features, const rg_lines *lines, const rg_line *line, size_t most)
{
    const char *at = line->text, *word;
    size_t      bytes;
    long long   last = -1;
    while (next_word(&at, &word, &bytes)) {
        const char *colon = memchr(word, ':', bytes);
        long long   n;
        double      value = 1;
        if (!to_int(&n, word, colon ? (size_t)(colon - word) : bytes) || n < 0 || n >= MOST_FEATURES ||
            (colon && !to_real(&value, colon + 1, bytes - (size_t)(colon - word) - 1)))
            return complain(lines, line, "'%.*s' is not a feature: number or number:value",
                            (int)(bytes < 40 ? bytes : 40), word);
        if (n <= last) return complain(lines, line, "feature %lld stands after feature %lld; they must rise", n, last);
        if (most && (size_t)n >= most)
            return complain(lines, line, "feature %lld; the model knows 0 .. %zu", n, most - 1);
        if (value != 0) RG_TRY(rg_ragged__add(out, (int32_t)n, (rg_real)value));
        if ((size_t)n >= *features) *features = (size_t)n + 1;
        last = n;
    }
    return RG_OK;
}

static rg_status dense_line(rg_ragged *out, size_t *features, const rg_lines *lines, const rg_line *line)
{
    const char *at = line->text, *word;
    size_t      bytes, n = 0;
    for (; next_word(&at, &word, &bytes); n++) {
        double value;
        if (!to_real(&value, word, bytes))
            return complain(lines, line, "'%.*s' is not a number", (int)(bytes < 40 ? bytes : 40), word);
        if (value != 0) RG_TRY(rg_ragged__add(out, (int32_t)n, (rg_real)value));
    }
    if (n == 0) return complain(lines, line, "no features; every node has the same number of them");
    if (*features && n != *features)
        return complain(lines, line, "%zu features; the lines before have %zu", n, *features);
    *features = n;
    return RG_OK;
}

static void normalize_row(rg_real *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)value[i];
    for (size_t i = 0; sum > 0 && i < count; i++) value[i] = (rg_real)((double)value[i] / sum);
}

rg_status rg_graph__read_features(rg_ragged *out, size_t *out_features, rg_lines *lines, bool dense,
                                  const rg_graph_config *config)
{
    rg_line line;
    bool    more;
    *out_features = dense ? config->features : 0;
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) break;
        if (out->rows == MOST_NODES) return complain(lines, &line, "more than %d nodes", MOST_NODES);
        const size_t first = out->count;
        if (dense) RG_TRY(dense_line(out, out_features, lines, &line));
        else RG_TRY(sparse_line(out, out_features, lines, &line, config->features));
        if (!dense && config->normalize) normalize_row(out->value + first, out->count - first);
        RG_TRY(rg_ragged__end_row(out));
    }
    if (!out->rows) return rg_fail(RG_EFORMAT, "%s: empty: there are no nodes", rg_lines_name(lines));
    if (!*out_features && !config->features)
        return rg_fail(RG_EFORMAT, "%s: no node has a feature", rg_lines_name(lines));
    if (config->features) *out_features = config->features;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- labels */

static rg_status label_line(rg_ragged *out, size_t *classes, const rg_lines *lines, const rg_line *line, size_t most)
{
    const char *at = line->text, *word;
    size_t      bytes, n = 0;
    long long   last = -2;
    for (; next_word(&at, &word, &bytes); n++) {
        long long c;
        if (!to_int(&c, word, bytes) || c < -1 || c >= 1 << 20)
            return complain(lines, line, "'%.*s' is not a class: a whole number from 0, or -1 for none",
                            (int)(bytes < 40 ? bytes : 40), word);
        if (c <= last || (n && last < 0))
            return complain(lines, line, "class %lld stands after class %lld; several classes must rise", c, last);
        if (most && c >= (long long)most)
            return complain(lines, line, "class %lld; the model knows 0 .. %zu", c, most - 1);
        RG_TRY(rg_ragged__add(out, (int32_t)c, 1));
        if (c >= 0 && (size_t)c >= *classes) *classes = (size_t)c + 1;
        last = c;
    }
    return rg_ragged__end_row(out);
}

rg_status rg_graph__read_labels(rg_ragged *out, size_t *out_classes, bool *out_several, rg_lines *lines, size_t nodes,
                                const rg_graph_config *config)
{
    rg_line  line;
    bool     more;
    uint64_t empty = 0;
    *out_classes = 0;
    *out_several = config->several;
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) break;
        if (out->rows == nodes) return complain(lines, &line, "a label too many: the features name %zu nodes", nodes);
        const size_t first = out->count;
        RG_TRY(label_line(out, out_classes, lines, &line, config->classes));
        if (out->count - first > 1) *out_several = true;
        if (out->count == first && !empty) empty = line.number;
    }
    if (out->rows < nodes)
        return rg_fail(RG_EFORMAT,
                       "%s: line %zu: missing: %zu labels for %zu nodes; -1 stands for a label that is not known",
                       rg_lines_name(lines), out->rows + 1, out->rows, nodes);
    if (empty && !*out_several)
        return rg_fail(RG_EFORMAT,
                       "%s: line %llu: the label of node %llu is missing; -1 stands for a label that is not known",
                       rg_lines_name(lines), (unsigned long long)empty, (unsigned long long)empty - 1);
    if (!*out_classes && !config->classes) return rg_fail(RG_EFORMAT, "%s: no node has a label", rg_lines_name(lines));
    if (config->classes) *out_classes = config->classes;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ edges */

static rg_status add_edge(rg_edges *e, int32_t from, int32_t to, double weight, uint64_t line)
{
    if (e->count == e->room) {
        const size_t room = e->room ? 2 * e->room : 1024;
        int32_t     *f = rg_realloc(e->from, room * sizeof *f);
        if (f) e->from = f;
        int32_t *t = f ? rg_realloc(e->to, room * sizeof *t) : NULL;
        if (t) e->to = t;
        rg_real *w = t ? rg_realloc(e->weight, room * sizeof *w) : NULL;
        if (w) e->weight = w;
        uint64_t *l = w ? rg_realloc(e->line, room * sizeof *l) : NULL;
        if (!l) return RG_ENOMEM;
        e->line = l;
        e->room = room;
    }
    e->from[e->count] = from;
    e->to[e->count] = to;
    e->weight[e->count] = (rg_real)weight;
    e->line[e->count++] = line;
    return RG_OK;
}

void rg_edges__free(rg_edges *e)
{
    rg_free(e->from);
    rg_free(e->to);
    rg_free(e->weight);
    rg_free(e->line);
    *e = (rg_edges){ 0 };
}

typedef struct {
    uint64_t pair, line;
} numbered;

static int by_pair(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->pair != y->pair) return x->pair < y->pair ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Undirected, u v and v u are the same edge. */
static rg_status refuse_twins(const rg_edges *e, const rg_lines *lines, bool directed)
{
    numbered *n = rg_alloc_array(e->count, sizeof *n);
    rg_status status = n ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; n && i < e->count; i++) {
        const uint64_t u = (uint64_t)e->from[i], v = (uint64_t)e->to[i];
        n[i] = (numbered){ directed || u < v ? u << 32 | v : v << 32 | u, e->line[i] };
    }
    if (n) qsort(n, e->count, sizeof *n, by_pair);
    for (size_t i = 1; status == RG_OK && i < e->count; i++)
        if (n[i].pair == n[i - 1].pair)
            status =
                rg_fail(RG_EFORMAT, "%s: line %llu: the edge of nodes %llu and %llu is there already, at line %llu%s",
                        rg_lines_name(lines), (unsigned long long)n[i].line, (unsigned long long)(n[i].pair >> 32),
                        (unsigned long long)(n[i].pair & UINT32_MAX), (unsigned long long)n[i - 1].line,
                        directed ? "" : " (edges have no direction: list each once, or say that they have one)");
    rg_free(n);
    return status;
}

rg_status rg_graph__read_edges(rg_edges *out, rg_lines *lines, size_t nodes, bool directed)
{
    rg_line line;
    bool    more;
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) break;
        const char *at = line.text, *u, *v, *w;
        size_t      u_bytes, v_bytes, w_bytes;
        if (!next_word(&at, &u, &u_bytes)) continue; /* an empty line */
        int32_t from = 0, to = 0;
        double  weight = 1;
        RG_TRY(read_node(&from, lines, &line, u, u_bytes, nodes));
        if (!next_word(&at, &v, &v_bytes)) return complain(lines, &line, "one node; an edge has two");
        RG_TRY(read_node(&to, lines, &line, v, v_bytes, nodes));
        if (next_word(&at, &w, &w_bytes)) {
            if (!to_real(&weight, w, w_bytes) || !(weight > 0))
                return complain(lines, &line, "'%.*s' is not a weight: a number above 0",
                                (int)(w_bytes < 40 ? w_bytes : 40), w);
            out->weighted = true;
        }
        if (next_word(&at, &w, &w_bytes)) return complain(lines, &line, "more than two nodes and a weight");
        if (out->count >= (size_t)1 << 31) return complain(lines, &line, "more than 2^31 edges");
        RG_TRY(add_edge(out, from, to, weight, line.number));
    }
    return refuse_twins(out, lines, directed);
}

/* ------------------------------------------------------------------------------------------------------------ split */

rg_status rg_graph__read_split(uint8_t *out, rg_lines *lines, size_t nodes)
{
    static const char *const names[] = { "train", "val", "test", "valid" };
    rg_line line;
    bool    more;
    for (;;) {
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) return RG_OK;
        const char *at = line.text, *part, *node, *rest;
        size_t      part_bytes, node_bytes, rest_bytes, which = 0;
        if (!next_word(&at, &part, &part_bytes)) continue;
        while (which < 4 && (strlen(names[which]) != part_bytes || memcmp(names[which], part, part_bytes) != 0))
            which++;
        if (which == 4)
            return complain(lines, &line, "'%.*s' is not train, val or test", (int)(part_bytes < 40 ? part_bytes : 40),
                            part);
        if (!next_word(&at, &node, &node_bytes) || next_word(&at, &rest, &rest_bytes))
            return complain(lines, &line, "train, val or test, and one node, belong on a line");
        int32_t i = 0;
        RG_TRY(read_node(&i, lines, &line, node, node_bytes, nodes));
        if (out[i]) return complain(lines, &line, "node %d is in the split already, as %s", i, names[out[i] - 1]);
        out[i] = (uint8_t)((which == 3 ? 1 : which) + 1);
    }
}
