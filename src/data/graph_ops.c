/* graph_ops.c - what systems on graphs share: sparse features times weights, the loss of labelled nodes, the score.
 *
 *     (X w)_i = sum over the features j of node i of  x_ij w_j          a mix with given weights: rows of w are the values */
#include "autograd/tape.h"
#include "regard/graph.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------- dropped features */

typedef struct {
    const rg_real *value;
    rg_real       *out;
    size_t         heads;
    double         p;
    uint32_t       key[2];
    uint64_t       stream;
} spread;

static void spread_rows(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    const spread *s = context;
    const size_t  H = s->heads;
    enum { ROWS = 512 }; /* filled and dropped while they are in the nearest cache */
    for (size_t at = begin; at < end; at += ROWS) {
        const size_t n = end - at < ROWS ? end - at : ROWS;
        rg_real     *out = s->out + at * H;
        for (size_t i = 0; i < n; i++)
            for (size_t h = 0; h < H; h++) out[i * H + h] = s->value[at + i];
        rg_kernel()->dropout(n * H, out, out, (rg_real)s->p, s->key, s->stream, at * H, false);
    }
}

/* (pairs, heads): the value of each pair in every column, each number dropped on its own. Features are given: no gradient. */
static rg_tensor *dropped_values(rg_tape *t, const rg_graph *g, size_t heads, double p)
{
    if (!rg_tape__begin(t, "features", 0, NULL)) return NULL;
    rg_tensor *a = rg_tape__tensor(t, g->words->P, heads, NULL);
    if (!a) return NULL;
    spread s = { .value = g->value, .out = a->data, .heads = heads, .p = p };
    s.stream = rg_tape__draw(t, s.key);
    if (rg_tape__live(t)) rg_tape__rows(t, g->words->P, 8 * heads, spread_rows, &s);
    return a;
}

rg_tensor *rg_graph_product(rg_tape *t, const rg_graph *g, rg_tensor *w, size_t heads, double dropout)
{
    if (rg_tape_learning(t) && dropout > 0) return rg_mix(t, dropped_values(t, g, heads, dropout), w, g->words);
    return rg_mix(t, rg_borrow(t, g->value, g->words->P, 1, 1), w, g->words);
}

/* ------------------------------------------------------------------------------------------------------- loss, score */

rg_loss rg_graph_loss(rg_tape *t, const rg_graph_batch *batch, rg_tensor *logits)
{
    const rg_graph_set *s = &batch->graph->set[batch->split];
    rg_tensor          *rows = rg_gather(t, logits, s->node, s->count, NULL);
    return (rg_loss){ s->targets ? rg_binary_cross_entropy(t, rows, s->targets) : rg_cross_entropy(t, rows, s->label, 0), (double)s->count };
}

static size_t largest(const rg_real *x, size_t n)
{
    size_t best = 0;
    for (size_t j = 1; j < n; j++)
        if (x[j] > x[best]) best = j;
    return best;
}

void rg_graph_count(rg_graph_counts *counts, const rg_graph *g, rg_graph_split split, const rg_real *logits, size_t ld)
{
    const rg_graph_set *s = &g->set[split];
    for (size_t n = 0; n < s->count; n++) {
        const rg_real *x = logits + (size_t)s->node[n] * ld;
        if (!s->targets) {
            counts->hit += largest(x, g->classes) == (size_t)s->label[n];
            counts->said++;
            counts->gold++;
            continue;
        }
        for (size_t c = 0; c < g->classes; c++) {
            const bool yes = s->targets[n * g->classes + c] > 0, says = x[c] > 0;
            counts->hit += yes && says;
            counts->said += says;
            counts->gold += yes;
        }
    }
}

/* F1 pooled over all answers; with one answer a node that is the accuracy. */
double rg_graph_score(const rg_graph_counts *c) { return c->said + c->gold ? 2 * (double)c->hit / (double)(c->said + c->gold) : 0; }
