/* cache.c - a decoder's past: keys and values as rows, and for each hypothesis the list of rows that are its tokens.
 *
 *     rows      0 1 2 | 3 4 5 | 6 7 8          three hypotheses, three steps; the last beam kept 4, 4, 3
 *     lists     1 4 6 | 1 4 7 | 0 3 8          what each of them sees: only these numbers move
 *
 * Rows of dropped hypotheses stay until the cache is cleared: a beam of b over n steps takes b n rows. */
#include "attention/reach.h"
#include "autograd/tape.h"

#include <string.h>

typedef struct {
    rg_real *k, *v;
    size_t   k_cols, v_cols, k_room, v_room; /* rooms in numbers */
} store;

struct rg_cache {
    size_t   layers;
    store   *store;
    size_t   n, steps, rows; /* hypotheses now, rows of each, rows in all */
    int32_t *past, *spare;   /* (n, steps) row numbers, and room for the next */
    size_t   room;           /* numbers of each */
    size_t  *first;          /* of the reach */
    size_t   first_room;
};

rg_status rg_cache_new(rg_cache **out, size_t layers)
{
    *out = NULL;
    rg_cache *c = rg_alloc_zero(sizeof *c);
    store    *s = rg_alloc_array(layers, sizeof *s);
    if (!c || !s) {
        rg_free(c);
        rg_free(s);
        return RG_ENOMEM;
    }
    memset(s, 0, layers * sizeof *s);
    c->layers = layers;
    c->store = s;
    *out = c;
    return RG_OK;
}

void rg_cache_free(rg_cache *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->layers; i++) {
        rg_free(c->store[i].k);
        rg_free(c->store[i].v);
    }
    rg_free(c->store);
    rg_free(c->past);
    rg_free(c->spare);
    rg_free(c->first);
    rg_free(c);
}

void   rg_cache_clear(rg_cache *c) { c->n = c->steps = c->rows = 0; }
size_t rg_cache_steps(const rg_cache *c) { return c->steps; }

/* Lists of `steps` rows for n hypotheses have room in `past` and in `spare`. */
static rg_status grow_lists(rg_cache *c, size_t n, size_t steps)
{
    size_t numbers, bytes;
    if (!rg_size_mul(&numbers, n, steps) || !rg_size_mul(&bytes, numbers, 2 * sizeof *c->past))
        return rg_fail(RG_ELIMIT, "%zu hypotheses of %zu tokens do not fit in memory", n, steps);
    if (numbers > c->room) {
        int32_t *past = rg_realloc(c->past, bytes);
        if (past) c->past = past;
        int32_t *spare = rg_realloc(c->spare, bytes);
        if (spare) c->spare = spare;
        if (!past || !spare) return RG_ENOMEM;
        c->room = 2 * numbers;
    }
    if (n + 1 > c->first_room) {
        size_t *first = rg_realloc(c->first, (n + 1) * sizeof *first);
        if (!first) return RG_ENOMEM;
        c->first = first;
        c->first_room = n + 1;
    }
    return RG_OK;
}

static void swap_lists(rg_cache *c)
{
    int32_t *swap = c->past;
    c->past = c->spare;
    c->spare = swap;
}

/* Every list grows by the row its token will have. */
static rg_status extend(rg_cache *c, size_t n)
{
    const size_t steps = c->steps;
    RG_TRY(grow_lists(c, n, steps + 1));
    if (c->rows + n > INT32_MAX) return rg_fail(RG_ELIMIT, "more than %d cached rows", INT32_MAX);
    for (size_t i = 0; i < n; i++) {
        if (steps) memcpy(c->spare + i * (steps + 1), c->past + i * steps, steps * sizeof *c->past);
        c->spare[i * (steps + 1) + steps] = (int32_t)(c->rows + i);
    }
    swap_lists(c);
    c->n = n;
    c->steps++;
    c->rows += n;
    return RG_OK;
}

/* Of each list the rows whose positions the last one sees, gathered in `spare`; their number is the same for all
 * lists. */
static size_t choose(rg_cache *c, rg_reach_choice past)
{
    const size_t steps = c->steps, last = steps - 1;
    size_t       seen = 0;
    for (size_t j = 0; j < steps; j++) seen += past.kind->sees(last, j, past.size);
    for (size_t i = 0; seen < steps && i < c->n; i++)
        for (size_t j = 0, at = i * seen; j < steps; j++)
            if (past.kind->sees(last, j, past.size)) c->spare[at++] = c->past[i * steps + j];
    return seen;
}

const rg_reach *rg_cache_step(rg_tape *t, rg_cache *c, size_t n, rg_reach_choice past)
{
    if (!rg_tape__begin(t, "cache", 0, NULL)) return NULL;
    if (c->steps && n != c->n) {
        rg_tape_fail(t, RG_EINVAL, "a step of %zu hypotheses after %zu were kept", n, c->n);
        return NULL;
    }
    const rg_status status = extend(c, n);
    rg_tape__check(t, status);
    if (status != RG_OK) return NULL;
    const size_t seen = choose(c, past);
    for (size_t i = 0; i <= n; i++) c->first[i] = i * seen;
    return rg_reach_lists(t, n, c->rows, c->first, seen < c->steps ? c->spare : c->past);
}

/* x's rows become the last of the store; all of them come out. */
static rg_tensor *put(rg_tape *t, const rg_cache *c, rg_real **data, size_t *cols, size_t *room, rg_tensor *x)
{
    const size_t first = c->rows - c->n;
    if (x->rows != c->n) return rg_tape_fail(t, RG_ESHAPE, "%zu rows for %zu hypotheses", x->rows, c->n);
    if (first && x->cols != *cols)
        return rg_tape_fail(t, RG_ESHAPE, "rows of %zu columns after rows of %zu", x->cols, *cols);
    *cols = x->cols;
    size_t numbers, bytes;
    if (!rg_size_mul(&numbers, c->rows, x->cols) || !rg_size_mul(&bytes, numbers, 2 * sizeof **data))
        return rg_tape_fail(t, RG_ELIMIT, "%zu cached rows do not fit in memory", c->rows);
    if (numbers > *room) {
        const size_t wanted = numbers + (c->steps < 8 ? numbers : numbers / 4); /* doubled at first, then by a quarter */
        rg_real     *larger = rg_realloc(*data, wanted * sizeof **data);
        if (!larger) return rg_tape_fail(t, RG_ENOMEM, "no memory for %zu cached rows", c->rows);
        *data = larger;
        *room = wanted;
    }
    if (rg_tape__live(t)) rg_rows__copy(x->rows, x->cols, *data + first * x->cols, x->cols, x->data, x->ld);
    return rg_borrow(t, *data, c->rows, x->cols, x->cols);
}

void rg_cache_put(rg_tape *t, rg_cache *c, size_t layer, rg_tensor **k, rg_tensor **v)
{
    rg_tensor *in[] = { *k, *v }, *out_k = NULL, *out_v = NULL;
    if (rg_tape__begin(t, "cache", 2, in)) {
        if (layer >= c->layers) rg_tape_fail(t, RG_EINVAL, "layer %zu of a cache of %zu", layer, c->layers);
        else {
            store *s = &c->store[layer];
            out_k = put(t, c, &s->k, &s->k_cols, &s->k_room, *k);
            out_v = out_k ? put(t, c, &s->v, &s->v_cols, &s->v_room, *v) : NULL;
        }
    }
    *k = out_k;
    *v = out_v;
}

rg_status rg_cache_keep(rg_cache *c, const int32_t *parents, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (parents[i] < 0 || (size_t)parents[i] >= c->n)
            return rg_fail(RG_EINVAL, "row %zu continues row %d; there were %zu", i, parents[i], c->n);
    RG_TRY(grow_lists(c, n, c->steps ? c->steps : 1));
    for (size_t i = 0; c->steps && i < n; i++)
        memcpy(c->spare + i * c->steps, c->past + (size_t)parents[i] * c->steps, c->steps * sizeof *c->past);
    swap_lists(c);
    c->n = n;
    return RG_OK;
}
