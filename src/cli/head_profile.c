/* head_profile.c - means over all queries i of self-attention with weights a_ij:
 *
 *     distance   sum_j a_ij |i - j|          entropy   - sum_j a_ij log2 a_ij   (bits)
 *     shares     a_i,i-1 (previous)   a_i,i+1 (next)   a_i,i (same)   a_i,1 (first)   a_i,n (end)
 *
 * Queries that have no previous or next key are left out of that share. A head is of the kind whose share is
 * largest, when that is at least 0.4; else `broad` when it spreads over more than half of what it may see (entropy
 * above half of the largest), else `content`. */
#include "cli/head_profile.h"

#include <math.h>
#include <string.h>

enum { PREVIOUS, NEXT, SAME, FIRST, END, PLACES };
static const char *const kinds[] = { "previous", "next", "same", "first", "end", "broad", "content" };
enum { BROAD = PLACES, CONTENT, KINDS };

typedef struct {
    char  *name;
    int    head;
    double queries, distance, entropy, most; /* most: entropy of looking alike at all it may see */
    double share[PLACES], counted[PLACES];
} line;

struct rg_head_profile {
    line  *lines;
    size_t count;
};

rg_status rg_head_profile_new(rg_head_profile **out)
{
    *out = rg_alloc_zero(sizeof **out);
    return *out ? RG_OK : RG_ENOMEM;
}

void rg_head_profile_free(rg_head_profile *p)
{
    for (size_t i = 0; p && i < p->count; i++) rg_free(p->lines[i].name);
    if (p) rg_free(p->lines);
    rg_free(p);
}

static line *line_of(rg_head_profile *p, const rg_record_map *m)
{
    char *name = m->layer >= 0 ? rg_format("%s, layer %d", m->name, m->layer) : rg_strdup(m->name);
    for (size_t i = 0; name && i < p->count; i++)
        if (p->lines[i].head == m->head && strcmp(p->lines[i].name, name) == 0) {
            rg_free(name);
            return &p->lines[i];
        }
    line *larger = name ? rg_realloc(p->lines, (p->count + 1) * sizeof *larger) : NULL;
    if (!larger) {
        rg_free(name);
        return NULL;
    }
    p->lines = larger;
    larger[p->count] = (line){ .name = name, .head = m->head };
    return &larger[p->count++];
}

static double weight(const rg_record_map *m, size_t i, size_t j)
{
    if (!m->from) return (double)m->weights[i * m->cols + j];
    for (size_t e = 0; e < m->edges; e++)
        if (m->from[e] == i && m->to[e] == j) return (double)m->weights[e];
    return 0;
}

static void add_share(line *l, int place, const rg_record_map *m, size_t i, bool there, size_t j)
{
    if (!there) return;
    l->share[place] += weight(m, i, j);
    l->counted[place]++;
}

static void add_query(line *l, const rg_record_map *m, size_t i)
{
    const size_t n = m->cols;
    double       seen = 0;
    for (size_t j = 0; j < n; j++) {
        const double a = weight(m, i, j);
        l->distance += a * fabs((double)i - (double)j);
        if (a > 0) l->entropy -= a * log2(a), seen++;
    }
    l->queries++;
    l->most += log2(fmax(1, seen));
    add_share(l, PREVIOUS, m, i, i > 0, i - 1);
    add_share(l, NEXT, m, i, i + 1 < n, i + 1);
    add_share(l, SAME, m, i, true, i);
    add_share(l, FIRST, m, i, true, 0);
    add_share(l, END, m, i, true, n - 1);
}

rg_status rg_head_profile_add(rg_head_profile *p, const rg_record *r)
{
    for (size_t k = 0; k < r->maps; k++) {
        const rg_record_map *m = &r->map[k];
        if (m->row_labels != m->col_labels || m->cols < 2) continue;
        line *l = line_of(p, m);
        if (!l) return RG_ENOMEM;
        for (size_t i = 0; i < m->rows; i++) add_query(l, m, i);
    }
    return RG_OK;
}

static double mean(const line *l, int place) { return l->counted[place] > 0 ? l->share[place] / l->counted[place] : 0; }

static int kind_of(const line *l)
{
    int best = 0;
    for (int k = 1; k < PLACES; k++)
        if (mean(l, k) > mean(l, best)) best = k;
    if (mean(l, best) >= 0.4) return best;
    return l->entropy > 0.5 * l->most ? BROAD : CONTENT;
}

size_t rg_head_profile_print(FILE *out, const rg_head_profile *p)
{
    size_t met[KINDS] = { 0 }, different = 0;
    fprintf(out, "distance  entropy  previous  next  same  first   end  kind      head  watch point\n");
    for (size_t i = 0; i < p->count; i++) {
        const line  *l = &p->lines[i];
        const double n = l->queries > 0 ? l->queries : 1;
        const int    kind = kind_of(l);
        fprintf(out, "%8.2f %8.2f %9.2f %5.2f %5.2f %6.2f %5.2f  %-8s %5d  %s\n", l->distance / n, l->entropy / n,
                mean(l, PREVIOUS), mean(l, NEXT), mean(l, SAME), mean(l, FIRST), mean(l, END), kinds[kind], l->head,
                l->name);
        different += met[kind]++ == 0;
    }
    fprintf(out, "%zu heads of %zu kinds:", p->count, different);
    for (size_t k = 0; k < KINDS; k++)
        if (met[k]) fprintf(out, " %s %zu", kinds[k], met[k]);
    fprintf(out, "\n");
    return different;
}
