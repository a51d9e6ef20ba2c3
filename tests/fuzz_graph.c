/* fuzz_graph.c - any bytes as the files of a graph, cut at form feeds: read without harm, and what was read holds
 * together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "regard/graph.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

static void check(const rg_graph *g)
{
    must(g->nodes && g->features && g->reach->Nq == g->nodes && g->words->Nk == g->features && g->reach->P >= g->nodes);
    for (size_t p = 0; p < g->reach->P; p++) must((size_t)g->reach->key[p] < g->nodes && g->even[p] > 0);
    for (int s = 0; s < RG_GRAPH_SPLITS; s++)
        for (size_t i = 0; i < g->set[s].count; i++) {
            must((size_t)g->set[s].node[i] < g->nodes);
            must(!g->set[s].label || (g->set[s].label[i] >= 0 && (size_t)g->set[s].label[i] < g->classes));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_lines        *part[4] = { NULL };
    const uint8_t   *at = bytes, *end = bytes + count;
    rg_graph_config  config = RG_GRAPH_CONFIG_DEFAULT;
    rg_graph        *g = NULL;
    config.directed = count % 2;
    for (int i = 0; i < 4; i++) {
        const uint8_t *cut = at < end && i < 3 ? memchr(at, '\f', (size_t)(end - at)) : NULL;
        const size_t   n = (size_t)((cut ? cut : end) - at);
        if (i < 2 || n) must(rg_lines_open_bytes(&part[i], n ? (const char *)at : "", n, NULL) == RG_OK);
        at = cut ? cut + 1 : end;
    }
    const rg_graph_sources s = {
        .edges = part[0], .features = part[1], .labels = part[2], .split = part[3], .dense = count % 3 == 0
    };
    rg_status              status = rg_graph_read(&g, "fuzz", &s, &config);
    must((status == RG_OK) == (g != NULL));
    must(status == RG_OK || rg_message()[0]);
    if (g && g->features < 100000) check(g);
    rg_graph_free(g);
    for (int i = 0; i < 4; i++) rg_lines_close(part[i]);
    return 0;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char *const seeds[] = { "0\t1\n1\t2\n\f0 2\n1\n0:0.5 1\n\f0\n1\n-1\n\ftrain\t0\nval\t1\n",
                                         "0 1 2.5\n1 1 3\n\f1 0\n0 2\n\f0 1\n\n\f", "0\t1\n0\t1\n\f0\n1\n", "\f\f\f" };
    if (index >= sizeof seeds / sizeof *seeds || strlen(seeds[index]) > room) return 0;
    memcpy(bytes, seeds[index], strlen(seeds[index]));
    return strlen(seeds[index]);
}
