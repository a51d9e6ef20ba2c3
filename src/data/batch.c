/* batch.c - a batch cut into shares for workers. */
#include "regard/batch.h"

size_t rg_field_rows(const rg_field *field)
{
    return (size_t)field->layout.start[field->layout.groups];
}

/* Rows of all fields before example g. */
static uint64_t rows_before(const rg_batch *b, size_t g)
{
    uint64_t rows = 0;
    for (size_t f = 0; f < b->fields; f++) rows += (uint64_t)b->field[f].layout.start[g];
    return rows;
}

/* The first example at or past k of n equal parts of the rows. */
static size_t boundary(const rg_batch *b, size_t k, size_t n)
{
    if (k == 0) return 0;
    if (k >= n) return b->examples;
    const uint64_t total = rows_before(b, b->examples);
    size_t         g = 0;
    while (g < b->examples && rows_before(b, g) * n < total * k) g++;
    return g;
}

static rg_field share_field(const rg_field *whole, int32_t *start, size_t begin, size_t end)
{
    const size_t first = (size_t)whole->layout.start[begin];
    rg_field     f = *whole;
    for (size_t g = begin; g <= end; g++) start[g - begin] = whole->layout.start[g] - whole->layout.start[begin];
    f.layout.groups = end - begin;
    f.layout.start = start;
    f.layout.first = whole->layout.first + first;
    if (f.ids) f.ids += first;
    if (f.previous) f.previous += first;
    if (f.values) f.values += first * f.width;
    if (f.size) f.size += 2 * begin;
    if (f.box) f.box += 4 * begin;
    if (f.weights) f.weights += first;
    if (f.copies) f.copies += first;
    return f;
}

void rg_batch_share(rg_batch *out, int32_t *storage, const rg_batch *batch, size_t share, size_t shares)
{
    const size_t begin = boundary(batch, share, shares), end = boundary(batch, share + 1, shares);
    *out = (rg_batch){ .examples = end - begin, .fields = batch->fields, .lines = batch->lines ? batch->lines + begin : NULL,
                       .carry = batch->carry, .stream = batch->stream + begin, .carry_after = batch->carry_after };
    for (size_t f = 0; f < batch->fields; f++)
        out->field[f] = share_field(&batch->field[f], storage + f * (batch->examples + 1), begin, end);
}

size_t rg_batch_share_room(const rg_batch *batch)
{
    return batch->fields * (batch->examples + 1);
}
