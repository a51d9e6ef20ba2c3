/* grams.c - counts of the n-grams of one hypothesis; references only look theirs up, for no other can match. */
#include "metrics/metric.h"

#include <string.h>

void rg_grams_fini(rg_grams *g)
{
    rg_free(g->grams);
    rg_free(g->slots);
    *g = (rg_grams){ 0 };
}

void rg_grams_clear(rg_grams *g)
{
    g->count = 0;
    if (g->slots) memset(g->slots, 0, g->slot_count * sizeof *g->slots);
}

static size_t slot_of(const rg_grams *g, const int32_t *ids, uint32_t n, uint32_t kind)
{
    uint64_t hash = kind * 31u + n;
    for (uint32_t i = 0; i < n; i++) {
        hash = (hash ^ (uint32_t)ids[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    size_t mask = g->slot_count - 1, s = (size_t)hash & mask;
    for (; g->slots[s]; s = (s + 1) & mask) {
        const rg_gram *gram = &g->grams[g->slots[s] - 1];
        if (gram->n == n && gram->kind == kind && memcmp(gram->ids, ids, n * sizeof *ids) == 0) break;
    }
    return s;
}

static rg_status make_room(rg_grams *g)
{
    if (2 * (g->count + 1) <= g->slot_count) return RG_OK;
    size_t   slots = g->slot_count ? 2 * g->slot_count : 1024;
    rg_gram *grams = rg_realloc(g->grams, slots / 2 * sizeof *grams);
    if (!grams) return RG_ENOMEM;
    g->grams = grams;
    uint32_t *table = rg_alloc_zero(slots * sizeof *table);
    if (!table) return RG_ENOMEM;
    rg_free(g->slots);
    g->slots = table;
    g->slot_count = slots;
    for (size_t i = 0; i < g->count; i++) table[slot_of(g, grams[i].ids, grams[i].n, grams[i].kind)] = (uint32_t)i + 1;
    return RG_OK;
}

rg_status rg_grams_get(rg_gram **out, rg_grams *g, const int32_t *ids, uint32_t n, uint32_t kind)
{
    RG_TRY(make_room(g));
    size_t s = slot_of(g, ids, n, kind);
    if (!g->slots[s]) {
        g->grams[g->count++] = (rg_gram){ .ids = ids, .n = n, .kind = kind };
        g->slots[s] = (uint32_t)g->count;
    }
    *out = &g->grams[g->slots[s] - 1];
    return RG_OK;
}

rg_gram *rg_grams_find(const rg_grams *g, const int32_t *ids, uint32_t n, uint32_t kind)
{
    if (!g->slot_count) return NULL;
    uint32_t number = g->slots[slot_of(g, ids, n, kind)];
    return number ? &g->grams[number - 1] : NULL;
}
