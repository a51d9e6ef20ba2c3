/* carry.c - state that streams carry from batch to batch: two copies of every block, one that is read, one that is
 * written. */
#include "regard/carry.h"

#include <string.h>

struct rg_carry {
    size_t   streams, blocks, numbers;
    size_t  *width, *first; /* of block i: its columns, its first number */
    rg_real *now, *next;
};

rg_status rg_carry_new(rg_carry **out, size_t streams, const size_t *width, size_t blocks)
{
    *out = NULL;
    rg_carry *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    rg_status status = RG_OK;
    c->streams = streams;
    c->blocks = blocks;
    c->width = rg_alloc_zero((blocks + 1) * sizeof *c->width);
    c->first = rg_alloc_zero((blocks + 1) * sizeof *c->first);
    if (!c->width || !c->first) status = RG_ENOMEM;
    for (size_t i = 0, n; status == RG_OK && i < blocks; i++) {
        c->width[i] = width[i];
        c->first[i] = c->numbers;
        if (!rg_size_mul(&n, streams, width[i]) || !rg_size_add(&c->numbers, c->numbers, n) ||
            c->numbers > SIZE_MAX / sizeof(rg_real))
            status = rg_fail(RG_ELIMIT, "%zu streams carry %zu numbers: too many", streams, width[i]);
    }
    if (status == RG_OK) {
        c->now = rg_alloc_zero((c->numbers + 1) * sizeof *c->now);
        c->next = rg_alloc_zero((c->numbers + 1) * sizeof *c->next);
        if (!c->now || !c->next) status = RG_ENOMEM;
    }
    if (status != RG_OK) rg_carry_free(c);
    else *out = c;
    return status;
}

void rg_carry_free(rg_carry *c)
{
    if (!c) return;
    rg_free(c->width);
    rg_free(c->first);
    rg_free(c->now);
    rg_free(c->next);
    rg_free(c);
}

void rg_carry_zero(rg_carry *c)
{
    memset(c->now, 0, c->numbers * sizeof *c->now);
    memset(c->next, 0, c->numbers * sizeof *c->next);
}

void rg_carry_turn(rg_carry *c) { memcpy(c->now, c->next, c->numbers * sizeof *c->now); }

const void *rg_carry_bytes(const rg_carry *c, size_t *out_count)
{
    *out_count = c->numbers * sizeof *c->next;
    return c->next;
}

rg_status rg_carry_set(rg_carry *c, const void *bytes, size_t count)
{
    if (count != c->numbers * sizeof *c->next)
        return rg_fail(RG_EMATCH,
                       "the carried state has %zu bytes, %zu streams need %zu: was it saved with other streams?", count,
                       c->streams, c->numbers * sizeof *c->next);
    memcpy(c->next, bytes, count);
    rg_carry_turn(c);
    return RG_OK;
}

/* The numbers of the batch's streams in a block of either copy; NULL and a latched failure when they do not fit. */
static rg_real *rows_of(rg_tape *t, const rg_batch *b, size_t block, size_t width, rg_real *copy)
{
    const rg_carry *c = b->carry;
    if (block >= c->blocks || width != c->width[block] || b->stream + b->examples > c->streams) {
        rg_tape_fail(
            t, RG_ESHAPE,
            "block %zu, %zu wide, of streams %zu .. %zu; there are %zu blocks of %zu streams, this one %zu wide", block,
            width, b->stream, b->stream + b->examples, c->blocks, c->streams, block < c->blocks ? c->width[block] : 0);
        return NULL;
    }
    return copy + c->first[block] + b->stream * width;
}

rg_tensor *rg_carry_read(rg_tape *t, const rg_batch *b, size_t block, size_t width)
{
    if (!b->carry) return rg_zeros(t, b->examples, width, NULL);
    const rg_real *from = rows_of(t, b, block, width, b->carry->now);
    return from ? rg_constant(t, from, b->examples, width, NULL) : NULL;
}

void rg_carry_write(rg_tape *t, const rg_batch *b, size_t block, const rg_tensor *x)
{
    if (!b->carry || !x || rg_tape_dry(t)) return;
    const size_t width = rg_tensor_cols(x);
    if (rg_tensor_rows(x) != b->examples) {
        rg_tape_fail(t, RG_ESHAPE, "%zu rows carried on for %zu streams", rg_tensor_rows(x), b->examples);
        return;
    }
    rg_real *to = rows_of(t, b, block, width, b->carry->next);
    for (size_t i = 0; to && i < b->examples; i++) memcpy(to + i * width, rg_tensor_row(x, i), width * sizeof *to);
}
