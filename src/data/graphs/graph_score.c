/* graph_score.c - how good answers about nodes are: accuracy, or micro-F1 with several labels per node. */
#include "regard/graph.h"

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
double rg_graph_score(const rg_graph_counts *c)
{
    return c->said + c->gold ? 2 * (double)c->hit / (double)(c->said + c->gold) : 0;
}
