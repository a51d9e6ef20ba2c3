/* reach.c - who may look at whom (an attention mask, a sparsity pattern): intervals and lists of key rows. The kinds
 * are in reaches/. */
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------- intervals */

/* Room for Nq intervals on the tape; the caller fills begin and, through first[i+1], the counts. */
rg_reach *rg_reach__new_intervals(rg_tape *t, size_t Nq, size_t Nk, size_t **first, int32_t **begin)
{
    rg_reach *r = rg_tape__keep(t, sizeof *r);
    *first = rg_tape__keep(t, (Nq + 1) * sizeof **first);
    *begin = rg_tape__keep(t, Nq * sizeof **begin);
    if (!r || !*first || !*begin) return NULL;
    *r = (rg_reach){ .Nq = Nq, .Nk = Nk, .first = *first, .begin = *begin };
    (*first)[0] = 0;
    return r;
}

const rg_reach *rg_reach_intervals(rg_tape *t, size_t Nq, size_t Nk, const int32_t *begin, const int32_t *end)
{
    if (!rg_tape__begin(t, "reach", 0, NULL)) return NULL;
    size_t   *first;
    int32_t  *from;
    rg_reach *r = rg_reach__new_intervals(t, Nq, Nk, &first, &from);
    for (size_t i = 0; r && i < Nq; i++) {
        if (begin[i] < 0 || end[i] < begin[i] || (size_t)end[i] > Nk) {
            rg_tape_fail(t, RG_EINVAL, "query %zu reaches keys %d .. %d of %zu", i, begin[i], end[i], Nk);
            return NULL;
        }
        from[i] = begin[i];
        first[i + 1] = first[i] + (size_t)(end[i] - begin[i]);
    }
    if (r) r->P = first[Nq];
    return r;
}

/* Row i of a group sees the rows from i - back to i + ahead that the group has. */
const rg_reach *rg_reach__band(rg_tape *t, const rg_layout *rows, int64_t back, int64_t ahead)
{
    if (!rg_tape__begin(t, "reach", 0, NULL)) return NULL;
    if (!rows) {
        rg_tape_fail(t, RG_EINVAL, "rows without layout have no order to look back in");
        return NULL;
    }
    const size_t N = (size_t)rows->start[rows->groups];
    size_t      *first;
    int32_t     *begin;
    rg_reach    *r = rg_reach__new_intervals(t, N, N, &first, &begin);
    if (r) r->rows = rows;
    for (size_t g = 0; r && g < rows->groups; g++)
        for (int64_t i = rows->start[g]; i < rows->start[g + 1]; i++) {
            int64_t from = i - back, to = i + ahead + 1;
            if (from < rows->start[g]) from = rows->start[g];
            if (to > rows->start[g + 1]) to = rows->start[g + 1];
            begin[i] = (int32_t)from;
            first[i + 1] = first[i] + (size_t)(to > from ? to - from : 0);
        }
    if (r) r->P = first[N];
    return r;
}

/* ------------------------------------------------------------------------------------------------------ lists */

/* Bytes a list with its transpose takes, laid out one array after another. */
static bool list_bytes(size_t *out, size_t Nq, size_t Nk, size_t P)
{
    size_t words, pairs;
    return rg_size_add(&words, Nq + 1, Nk + 1) && rg_size_add(&words, words, P) &&
           rg_size_mul(&words, words, sizeof(size_t)) && rg_size_mul(&pairs, P, 3 * sizeof(int32_t)) &&
           rg_size_add(out, words, pairs);
}

/* Copies the lists and counts their transpose: for each key row, its pairs in rising order. */
static rg_status fill_lists(rg_reach *r, void *memory, size_t Nq, size_t Nk, const size_t *first, const int32_t *list)
{
    const size_t P = first[Nq];
    size_t      *f = memory, *back = f + Nq + 1, *pair = back + Nk + 1;
    int32_t     *key = (int32_t *)(pair + P), *query = key + P, *asker = query + P;
    memcpy(f, first, (Nq + 1) * sizeof *f);
    memset(back, 0, (Nk + 1) * sizeof *back);
    for (size_t i = 0; i < Nq; i++)
        for (size_t p = first[i]; p < first[i + 1]; p++) {
            if (list[p] < 0 || (size_t)list[p] >= Nk)
                return rg_fail(RG_EINVAL, "query %zu reaches key %d; there are keys 0 .. %zu", i, list[p], Nk - 1);
            key[p] = list[p];
            query[p] = (int32_t)i;
            back[list[p] + 1]++;
        }
    for (size_t j = 0; j < Nk; j++) back[j + 1] += back[j];
    for (size_t p = 0; p < P; p++) {
        const size_t t = back[key[p]]++;
        pair[t] = p;
        asker[t] = query[p];
    }
    for (size_t j = Nk; j > 0; j--) back[j] = back[j - 1]; /* filling moved every start to its end */
    back[0] = 0;
    *r = (rg_reach){ .Nq = Nq, .Nk = Nk, .P = P, .first = f, .key = key, .back = back, .pair = pair, .query = query, .asker = asker };
    return RG_OK;
}

/* Without recording nobody asks for the transpose, and nobody changes the lists: they are borrowed. */
static const rg_reach *borrow_lists(rg_tape *t, size_t Nq, size_t Nk, const size_t *first, const int32_t *list)
{
    for (size_t p = 0; p < first[Nq]; p++)
        if (list[p] < 0 || (size_t)list[p] >= Nk) {
            rg_tape_fail(t, RG_EINVAL, "pair %zu reaches key %d; there are %zu keys", p, list[p], Nk);
            return NULL;
        }
    rg_reach *r = rg_tape__keep(t, sizeof *r);
    if (r) *r = (rg_reach){ .Nq = Nq, .Nk = Nk, .P = first[Nq], .first = first, .key = list };
    return r;
}

const rg_reach *rg_reach_lists(rg_tape *t, size_t Nq, size_t Nk, const size_t *first, const int32_t *list)
{
    if (!rg_tape__begin(t, "reach", 0, NULL)) return NULL;
    if (!rg_tape__recording(t)) return borrow_lists(t, Nq, Nk, first, list);
    size_t bytes = 0;
    if (!list_bytes(&bytes, Nq, Nk, first[Nq])) {
        rg_tape_fail(t, RG_ELIMIT, "%zu pairs do not fit in memory", first[Nq]);
        return NULL;
    }
    rg_reach *r = rg_tape__keep(t, sizeof *r);
    void     *memory = rg_tape__keep(t, bytes);
    if (!r || !memory) return NULL;
    rg_status status = fill_lists(r, memory, Nq, Nk, first, list);
    rg_tape__check(t, status);
    return status == RG_OK ? r : NULL;
}

/* Pairs of a group whose positions the rule lets through, as lists. */
const rg_reach *rg_reach__where(rg_tape *t, const rg_layout *rows, const rg_reach_kind *kind, size_t size)
{
    if (!rg_tape__begin(t, "reach", 0, NULL)) return NULL;
    if (!rows) {
        rg_tape_fail(t, RG_EINVAL, "rows without layout have no positions");
        return NULL;
    }
    const size_t N = (size_t)rows->start[rows->groups];
    size_t      *first = rg_tape__keep(t, (N + 1) * sizeof *first), P = 0;
    for (int pass = 0; first && pass < 2; pass++) { /* count, then fill */
        int32_t *list = pass ? rg_tape__keep(t, (P + 1) * sizeof *list) : NULL;
        if (pass && !list) return NULL;
        P = first[0] = 0;
        for (size_t g = 0; g < rows->groups; g++)
            for (int32_t begin = rows->start[g], i = begin; i < rows->start[g + 1]; i++) {
                for (int32_t j = begin; j < rows->start[g + 1]; j++) {
                    if (!kind->sees((size_t)(i - begin), (size_t)(j - begin), size)) continue;
                    if (list) list[P] = j;
                    P++;
                }
                first[i + 1] = P;
            }
        if (pass) return rg_reach_lists(t, N, N, first, list);
    }
    return NULL;
}

rg_status rg_reach_new_lists(rg_reach **out, size_t Nq, size_t Nk, const size_t *first, const int32_t *list)
{
    *out = NULL;
    size_t bytes = 0;
    if (!list_bytes(&bytes, Nq, Nk, first[Nq])) return rg_fail(RG_ELIMIT, "%zu pairs do not fit in memory", first[Nq]);
    rg_reach *r = rg_alloc_zero(sizeof *r);
    void     *memory = rg_alloc(bytes);
    rg_status status = r && memory ? fill_lists(r, memory, Nq, Nk, first, list) : RG_ENOMEM;
    if (status != RG_OK) {
        rg_free(memory);
        rg_free(r);
        return status;
    }
    r->owned = memory;
    *out = r;
    return RG_OK;
}

void rg_reach_free(rg_reach *r)
{
    if (!r) return;
    rg_free(r->owned);
    rg_free(r);
}

/* Counting sort of edges by the node that looks; within a node by the order given, itself first. */
rg_status rg_reach_new_edges(rg_reach **out, size_t nodes, size_t P, const int32_t *from, const int32_t *to, bool self)
{
    *out = NULL;
    rg_status status = RG_OK;
    size_t   *first = rg_alloc_zero((nodes + 1) * sizeof *first), *next = rg_alloc_array(nodes + 1, sizeof *next);
    int32_t  *list = rg_alloc_array(P + nodes, sizeof *list);
    size_t   *seen = rg_alloc_zero(nodes * sizeof *seen); /* edge number + 1 that last led here */
    if (!first || !next || !list || !seen) {
        status = RG_ENOMEM;
        goto done;
    }
    for (size_t p = 0; p < P; p++) {
        if (from[p] < 0 || to[p] < 0 || (size_t)from[p] >= nodes || (size_t)to[p] >= nodes) {
            status = rg_fail(RG_EINVAL, "edge %zu joins %d and %d; there are nodes 0 .. %zu", p + 1, from[p], to[p],
                             nodes - 1);
            goto done;
        }
        first[to[p] + 1]++;
    }
    for (size_t i = 0; i < nodes; i++) first[i + 1] += first[i] + (self ? 1 : 0);
    memcpy(next, first, (nodes + 1) * sizeof *next);
    for (size_t i = 0; self && i < nodes; i++) list[next[i]++] = (int32_t)i;
    for (size_t p = 0; p < P; p++) list[next[to[p]]++] = from[p];
    for (size_t i = 0; i < nodes; i++)
        for (size_t p = first[i]; p < first[i + 1]; p++) {
            if (seen[list[p]] > first[i]) {
                status = rg_fail(
                    RG_EINVAL,
                    "node %zu looks at node %d twice: the edge, or a loop beside the added one, is there two times", i,
                    list[p]);
                goto done;
            }
            seen[list[p]] = p + 1;
        }
    status = rg_reach_new_lists(out, nodes, nodes, first, list);
done:
    rg_free(seen);
    rg_free(list);
    rg_free(next);
    rg_free(first);
    return status;
}
