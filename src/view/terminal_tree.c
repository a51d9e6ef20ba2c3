/* terminal_tree.c - a beam search in the terminal: a line per hypothesis that was kept, with the candidates that were
 * dropped behind it. Where one alone goes on it stands below; where several do, they branch.
 *
 *     <s>
 *     la -0.12                     dropped: le -2.31, l' -4.10
 *     ├ maison -0.14
 *     │ </s> -0.16                 answer: -0.05
 *     └ porte -3.20                                                                                            */
#include <string.h>

#include "view/terminal.h"

enum { MOST_NODES = 2000, PREFIX = 400 };

typedef struct tree {
    rg_buffer                 *b;
    const rg_terminal_options *o;
    const rg_labels           *labels;
    size_t                    *parent;                      /* of each node; itself: none */
    bool                      *dropped, *finished, *answer; /* of each                   */
} tree;

/* "maison · -0.14" up to the dot, and what is behind it. */
static size_t word_of(const char *label, const char **rest)
{
    static const char dot[] = " · ";
    const char       *at = strstr(label, dot);
    *rest = at ? at + strlen(dot) : "";
    return at ? (size_t)(at - label) : strlen(label);
}

/* Word and log p, as far as there is room; returns the columns. */
static size_t put_candidate(const tree *t, size_t i, size_t room)
{
    const char *rest, *second;
    char        text[160];
    const int   n = (int)word_of(t->labels->text[i], &rest), p = (int)word_of(rest, &second);
    snprintf(text, sizeof text, "%.*s%s%.*s", n < 100 ? n : 100, t->labels->text[i], p ? " " : "", p < 20 ? p : 20,
             rest);
    return rg_terminal__label(t->b, text, room ? room : 1, t->o->unicode);
}

static void put_dropped(const tree *t, size_t i, size_t at)
{
    const size_t wide = (size_t)t->o->width;
    bool         first = true;
    for (size_t k = 0; k < t->labels->count; k++) {
        if (k == i || t->parent[k] != i || !t->dropped[k]) continue;
        if (at + 16 > wide) break;
        if (first && at < 40) rg_buffer_repeat(t->b, " ", 40 - at), at = 40;
        rg_terminal__dim(t->b, t->o);
        rg_buffer_text(t->b, first ? "  dropped: " : ", ");
        at += first ? 11 : 2;
        at += put_candidate(t, k, wide > at ? wide - at : 1);
        rg_terminal__plain(t->b, t->o);
        first = false;
    }
}

static void put_line(const tree *t, size_t i, const char *prefix, size_t columns)
{
    const char  *rest, *score;
    const size_t wide = (size_t)t->o->width;
    rg_buffer_text(t->b, prefix);
    if (t->answer[i]) rg_terminal__bold(t->b, t->o);
    size_t at = columns + put_candidate(t, i, wide > columns ? wide - columns : 1);
    rg_terminal__plain(t->b, t->o);
    (void)word_of(t->labels->text[i], &rest);
    (void)word_of(rest, &score);
    if (t->finished[i] && at < wide) {
        if (at < 40) rg_buffer_repeat(t->b, " ", 40 - at);
        rg_buffer_format(t->b, "  %s %.12s", t->answer[i] ? "ANSWER, score" : "finished, score", score);
    } else put_dropped(t, i, at);
    rg_buffer_text(t->b, "\n");
}

static size_t next_kept(const tree *t, size_t parent, size_t from)
{
    while (from < t->labels->count && (t->parent[from] != parent || from == parent || t->dropped[from])) from++;
    return from;
}

/* `before`: what stands in front of a node's own line; `below`: in front of those behind it. */
static void put_tree(const tree *t, size_t i, const char *before, const char *below, size_t columns)
{
    const char *turn = t->o->unicode ? "├ " : "+ ", *last = t->o->unicode ? "└ " : "+ ",
               *line = t->o->unicode ? "│ " : "| ";
    const size_t n = t->labels->count, first = next_kept(t, i, 0);
    put_line(t, i, before, columns);
    if (first >= n) return;
    const bool one =
        next_kept(t, i, first + 1) >= n || strlen(below) + 8 > PREFIX || columns + 24 > (size_t)t->o->width;
    for (size_t k = first; k < n; k = next_kept(t, i, k + 1)) {
        char       own[PREFIX], rest[PREFIX];
        const bool end = next_kept(t, i, k + 1) >= n;
        snprintf(own, sizeof own, "%s%s", below, one ? "" : end ? last : turn);
        snprintf(rest, sizeof rest, "%s%s", below, one ? "" : end ? "  " : line);
        put_tree(t, k, own, rest, columns + (one ? 0 : 2));
    }
}

/* Every edge leads from an earlier label to a later one, and to none twice: a tree. */
static rg_status read_edges(tree *t, const rg_record *r, const rg_record_map *m)
{
    const struct {
        const char *name;
        bool       *mark;
    } marks[] = { { "dropped", t->dropped }, { "finished", t->finished }, { "answer", t->answer } };
    for (size_t i = 0; i < t->labels->count; i++) t->parent[i] = i;
    for (size_t e = 0; e < m->edges; e++) {
        if (m->from[e] >= m->to[e] || t->parent[m->to[e]] != m->to[e])
            return rg_fail(RG_EINVAL, "map %s is no tree: edge %zu leads from label %u to label %u", m->name, e + 1,
                           m->from[e], m->to[e]);
        t->parent[m->to[e]] = m->from[e];
    }
    for (size_t i = 0; i < r->maps; i++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
            if (strcmp(r->map[i].name, marks[k].name) == 0 && r->map[i].from && r->map[i].col_labels == m->col_labels)
                for (size_t e = 0; e < r->map[i].edges; e++) marks[k].mark[r->map[i].to[e]] = true;
    return RG_OK;
}

rg_status rg_terminal_tree(char **out, const rg_record *r, size_t map, const rg_terminal_options *o)
{
    const rg_record_map *m = map < r->maps ? &r->map[map] : NULL;
    rg_buffer            buffer = RG_BUFFER_EMPTY;
    if (!m || !m->from || m->row_labels != m->col_labels)
        return rg_fail(RG_EINVAL, "this map is no tree: it needs edges between labels of one list");
    const rg_labels *l = &r->labels[m->row_labels];
    const size_t     n = l->count;
    if (n > MOST_NODES) return rg_fail(RG_ELIMIT, "a tree of %zu hypotheses; at most %d are drawn", n, MOST_NODES);
    tree      t = { .b = &buffer,
                    .o = o,
                    .labels = l,
                    .parent = rg_alloc_array(n + 1, sizeof *t.parent),
                    .dropped = rg_alloc_zero(3 * n + 3) };
    rg_status status = t.parent && t.dropped ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) {
        t.finished = t.dropped + n, t.answer = t.finished + n;
        status = read_edges(&t, r, m);
    }
    if (status == RG_OK) {
        char *title = rg_terminal_cut(r->title, (size_t)o->width);
        rg_buffer_format(&buffer, "%s\n\n", title ? title : "");
        rg_free(title);
        for (size_t i = 0; i < n; i++)
            if (t.parent[i] == i) put_tree(&t, i, "", "", 0);
        for (size_t i = 0; i < r->texts; i++)
            if (strcmp(r->text[i].role, "note") == 0) {
                char *note = rg_terminal_safe(r->text[i].text);
                rg_buffer_format(&buffer, "\n%s\n", note ? note : "");
                rg_free(note);
            }
        status = rg_buffer_take(out, NULL, &buffer);
    }
    rg_buffer_fini(&buffer);
    rg_free(t.parent);
    rg_free(t.dropped);
    return status;
}
