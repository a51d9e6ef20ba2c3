/* measures.c - perplexity, alignment error rate (Och and Ney 2003), scores of sets. */
#include "regard/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double rg_perplexity(double nats, uint64_t tokens)
{
    return tokens ? exp(nats / (double)tokens) : INFINITY;
}

/* ----------------------------------------------------------------------------------------------------- alignment */

typedef struct link {
    uint32_t source, target;
    bool     sure;
} link;

static int by_place(const void *a, const void *b)
{
    const link *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return (int)y->sure - (int)x->sure; /* sure first, so that it stays of two */
}

static bool read_number(uint32_t *out, const char **at)
{
    uint64_t value = 0;
    size_t   digits = 0;
    for (; **at >= '0' && **at <= '9' && digits < 9; (*at)++, digits++) value = 10 * value + (uint64_t)(**at - '0');
    *out = (uint32_t)value;
    return digits > 0;
}

/* The links of a line, sorted, each once. */
static rg_status read_links(link **out, size_t *out_count, const char *line)
{
    size_t room = strlen(line) / 3 + 1, count = 0, kept = 0;
    link  *links = rg_alloc_array(room, sizeof *links);
    if (!links) return RG_ENOMEM;
    for (const char *at = line; *at;) {
        link now;
        if (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
            continue;
        }
        const char *begin = at;
        bool        good = read_number(&now.source, &at) && (*at == '-' || *at == '?' || *at == 'p');
        if (good) now.sure = *at++ == '-';
        good = good && read_number(&now.target, &at) && (!*at || strchr(" \t\r", *at));
        if (!good || count == room) {
            rg_free(links);
            return rg_fail(RG_EFORMAT, "\"%.*s\" is not a link: they look like 3-4, possible ones like 3?4",
                           (int)strcspn(begin, " \t\r"), begin);
        }
        links[count++] = now;
    }
    qsort(links, count, sizeof *links, by_place);
    for (size_t i = 0; i < count; i++)
        if (!kept || links[i].source != links[kept - 1].source || links[i].target != links[kept - 1].target)
            links[kept++] = links[i];
    *out = links;
    *out_count = kept;
    return RG_OK;
}

rg_status rg_aer_add(rg_aer *aer, const char *links, const char *gold)
{
    link  *a = NULL, *g = NULL;
    size_t a_count = 0, g_count = 0, j = 0;
    rg_status status = read_links(&a, &a_count, links);
    if (status != RG_OK) return rg_fail_in(status, "output: ");
    if ((status = read_links(&g, &g_count, gold)) != RG_OK) rg_fail_in(status, "reference: ");
    else {
        aer->links += a_count;
        for (size_t i = 0; i < g_count; i++) aer->sure += g[i].sure;
        for (size_t i = 0; i < a_count; i++) {
            while (j < g_count &&
                   (g[j].source < a[i].source || (g[j].source == a[i].source && g[j].target < a[i].target)))
                j++;
            bool hit = j < g_count && g[j].source == a[i].source && g[j].target == a[i].target;
            aer->in_possible += hit;
            aer->in_sure += hit && g[j].sure;
        }
    }
    rg_free(a);
    rg_free(g);
    return status;
}

double rg_aer_rate(const rg_aer *aer)
{
    uint64_t all = aer->links + aer->sure;
    return all ? 1 - (double)(aer->in_sure + aer->in_possible) / (double)all : 0;
}

/* ---------------------------------------------------------------------------------------------------------- sets */

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* A sorted copy, each once. */
static int32_t *sorted(const int32_t *ids, size_t *count)
{
    int32_t *copy = rg_alloc_array(*count, sizeof *copy);
    size_t   kept = 0;
    if (!copy) return NULL;
    if (*count) {
        memcpy(copy, ids, *count * sizeof *copy);
        qsort(copy, *count, sizeof *copy, by_id);
    }
    for (size_t i = 0; i < *count; i++)
        if (!kept || copy[i] != copy[kept - 1]) copy[kept++] = copy[i];
    *count = kept;
    return copy;
}

rg_status rg_set_compare(rg_set_counts *out, const int32_t *predicted, size_t predicted_count, const int32_t *gold,
                         size_t gold_count)
{
    int32_t *p = sorted(predicted, &predicted_count), *g = p ? sorted(gold, &gold_count) : NULL;
    if (g) {
        uint64_t hit = 0;
        for (size_t i = 0, j = 0; i < predicted_count; i++) {
            while (j < gold_count && g[j] < p[i]) j++;
            hit += j < gold_count && g[j] == p[i];
        }
        *out = (rg_set_counts){ hit, predicted_count - hit, gold_count - hit };
    }
    rg_status status = g ? RG_OK : RG_ENOMEM;
    rg_free(p);
    rg_free(g);
    return status;
}

double rg_set_f1(rg_set_counts c)
{
    uint64_t all = 2 * c.hit + c.extra + c.missed;
    return all ? 2 * (double)c.hit / (double)all : 1;
}

double rg_set_iou(rg_set_counts c)
{
    uint64_t all = c.hit + c.extra + c.missed;
    return all ? (double)c.hit / (double)all : 1;
}
