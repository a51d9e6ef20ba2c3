/* step_attention.c - what each hypothesis of a step looked at, taken from a watch point and folded over heads. */
#include "decode/beam.h"

#include <string.h>

void rg_step_attention_init(rg_step_attention *g, const rg_decoding *d, const rg_search_config *c)
{
    g->decoding = d;
    g->name = c->attention_name;
    g->head = c->attention_head;
    g->rows = 0;
    g->out_of_memory = false;
}

void rg_step_attention_fini(rg_step_attention *g)
{
    rg_free(g->weights);
    rg_free(g->first);
}

void rg_step_attention_clear(rg_step_attention *g) { g->rows = 0; }

/* Attention over the sources, as the system's uses say: not of the encoder, not over the decoder's own past. */
static bool wants(void *context, const char *name)
{
    const rg_step_attention *g = context;
    if (g->name && *g->name) return strcmp(g->name, name) == 0;
    return rg_attention_use_crosses(rg_attention_use_find(g->decoding->model->system->uses, name));
}

static bool make_room(rg_step_attention *g, size_t rows, size_t pairs)
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

/* Key rows of query i within its source, from *from: false when it looks at something else. A local window is part
 * of its source. */
static bool part_of_source(size_t *from, const rg_step_attention *g, const rg_reach *reach, size_t i)
{
    const rg_decoding *d = g->decoding;
    const size_t       source = (size_t)d->source_of[i], count = reach->first[i + 1] - reach->first[i];
    if (!reach->begin || reach->begin[i] < d->sources.start[source]) return false;
    *from = (size_t)(reach->begin[i] - d->sources.start[source]);
    return *from + count <= (size_t)(d->sources.start[source + 1] - d->sources.start[source]);
}

static void fold(rg_step_attention *g, rg_real *to, const rg_tensor *x, size_t from, size_t count)
{
    const size_t H = rg_tensor_cols(x);
    for (size_t p = 0; p < count; p++) {
        const rg_real *a = rg_tensor_row(x, from + p);
        rg_real        sum = 0;
        for (size_t h = 0; h < H; h++) sum += a[h];
        to[p] = g->head >= 0 && (size_t)g->head < H ? a[g->head] : sum / (rg_real)H;
    }
}

/* The last watch point of a step that fits is the one kept: the top layer. What was out of reach has weight 0. */
static void see(void *context, const char *name, const rg_tensor *x, const void *data)
{
    (void)name;
    rg_step_attention           *g = context;
    const rg_reach    *reach = data;
    const rg_decoding *d = g->decoding;
    if (!reach || reach->Nq != d->n || reach->P != rg_tensor_rows(x) ||
        reach->Nk != (size_t)d->sources.start[d->sources.groups])
        return;
    size_t all = 0, from = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (!part_of_source(&from, g, reach, i)) return;
        all += (size_t)(d->sources.start[d->source_of[i] + 1] - d->sources.start[d->source_of[i]]);
    }
    if (!make_room(g, d->n, all)) {
        g->out_of_memory = true;
        return;
    }
    memset(g->weights, 0, all * sizeof *g->weights);
    g->first[0] = 0;
    for (size_t i = 0; i < d->n; i++) {
        part_of_source(&from, g, reach, i);
        fold(g, g->weights + g->first[i] + from, x, reach->first[i], reach->first[i + 1] - reach->first[i]);
        g->first[i + 1] =
            g->first[i] + (size_t)(d->sources.start[d->source_of[i] + 1] - d->sources.start[d->source_of[i]]);
    }
    g->rows = d->n;
}

rg_watcher rg_step_attention_watcher(rg_step_attention *g)
{
    return (rg_watcher){ .context = g, .wants = wants, .see = see };
}
