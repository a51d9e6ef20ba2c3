/* gaze.c - what each hypothesis of a step looked at, taken from a watch point and folded over heads. */
#include "decode/beam.h"

#include <string.h>

void rg_gaze_init(rg_gaze *g, const rg_decoding *d, const rg_search_config *c)
{
    g->decoding = d;
    g->name = c->attention_name;
    g->head = c->attention_head;
    g->rows = 0;
    g->out_of_memory = false;
}

void rg_gaze_fini(rg_gaze *g)
{
    rg_free(g->weights);
    rg_free(g->first);
}

void rg_gaze_clear(rg_gaze *g) { g->rows = 0; }

/* Attention over the sources: of the decoder, not over its own past. */
static bool wants(void *context, const char *name)
{
    const rg_gaze *g = context;
    if (g->name && *g->name) return strcmp(g->name, name) == 0;
    return strstr(name, "self") == NULL;
}

static bool make_room(rg_gaze *g, size_t rows, size_t pairs)
{
    if (rows + 1 > g->first_room) {
        size_t *first = rg_realloc(g->first, (rows + 1) * sizeof *first);
        if (!first) return false;
        g->first = first;
        g->first_room = rows + 1;
    }
    if (pairs > g->room) {
        rg_real *weights = rg_realloc(g->weights, pairs * sizeof *weights);
        if (!weights) return false;
        g->weights = weights;
        g->room = pairs;
    }
    return true;
}

/* The last watch point of a step that fits is the one kept: the top layer. */
static void see(void *context, const char *name, const rg_tensor *x, const void *data)
{
    (void)name;
    rg_gaze        *g = context;
    const rg_reach *reach = data;
    const size_t    H = rg_tensor_cols(x);
    if (!reach || reach->Nq != g->decoding->n || reach->P != rg_tensor_rows(x)) return;
    if (!make_room(g, reach->Nq, reach->P)) {
        g->out_of_memory = true;
        return;
    }
    memcpy(g->first, reach->first, (reach->Nq + 1) * sizeof *g->first);
    for (size_t p = 0; p < reach->P; p++) {
        const rg_real *a = rg_tensor_row(x, p);
        rg_real        sum = 0;
        for (size_t h = 0; h < H; h++) sum += a[h];
        g->weights[p] = g->head >= 0 && (size_t)g->head < H ? a[g->head] : sum / (rg_real)H;
    }
    g->rows = reach->Nq;
}

rg_watcher rg_gaze_watcher(rg_gaze *g) { return (rg_watcher){ .context = g, .wants = wants, .see = see }; }
