/* example_copies.c - copies of one example as a batch: every field so many times, rows of one of them left out. */
#include <string.h>

#include "explain/explaining.h"

static void *own(rg_copies *c, size_t count, size_t each)
{
    void *p = rg_alloc_array(count + 1, each);
    if (p) c->owned[c->count++] = p;
    return p;
}

static bool kept(const unsigned char *gone, size_t rows, size_t copy, size_t row)
{
    return !gone || !gone[copy * rows + row];
}

/* Rows of `row` bytes, those that are kept. */
static rg_status copy_rows(const void **out, rg_copies *c, const void *from, size_t rows, size_t row, size_t n,
                           const unsigned char *gone)
{
    size_t         all, bytes;
    unsigned char *to;
    *out = NULL;
    if (!from) return RG_OK;
    if (!rg_size_mul(&all, rows, n) || !rg_size_mul(&bytes, all, row)) return RG_ENOMEM;
    if (!(to = own(c, bytes, 1))) return RG_ENOMEM;
    *out = to;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows; i++)
            if (kept(gone, rows, k, i)) {
                memcpy(to, (const unsigned char *)from + i * row, row);
                to += row;
            }
    return RG_OK;
}

static rg_status copy_field(rg_field *f, rg_copies *c, size_t n, const unsigned char *gone)
{
    const size_t rows = rg_field_rows(f);
    const void  *p;
    int32_t     *start = own(c, n + 1, sizeof *start);
    if (!start) return RG_ENOMEM;
    start[0] = 0;
    for (size_t k = 0; k < n; k++) {
        start[k + 1] = start[k];
        for (size_t i = 0; i < rows; i++) start[k + 1] += kept(gone, rows, k, i);
    }
    f->layout.groups = n;
    f->layout.start = start;
    RG_TRY(copy_rows(&p, c, f->ids, rows, sizeof *f->ids, n, gone));
    f->ids = p;
    RG_TRY(copy_rows(&p, c, f->values, rows, f->width * sizeof *f->values, n, gone));
    f->values = p;
    RG_TRY(copy_rows(&p, c, f->copies, rows, sizeof *f->copies, n, gone));
    f->copies = p;
    /* a field has either `previous` (texts to be predicted) or `size` (pictures) */
    if (f->previous) {
        RG_TRY(copy_rows(&p, c, f->previous, rows, sizeof *f->previous, n, gone));
        f->previous = p;
    } else {
        RG_TRY(copy_rows(&p, c, f->size, 1, 2 * sizeof *f->size, n, NULL));
        f->size = p;
    }
    f->weights = NULL;
    return RG_OK;
}

rg_status rg_copies_make(rg_copies *out, const rg_batch *one, size_t n, size_t input, const unsigned char *gone)
{
    *out = (rg_copies){ .batch = *one };
    rg_batch *b = &out->batch;
    uint64_t *lines = own(out, n, sizeof *lines);
    if (!lines) return RG_ENOMEM;
    for (size_t k = 0; k < n; k++) lines[k] = one->lines ? one->lines[0] : 1;
    b->examples = n;
    b->lines = lines;
    b->carry = NULL;
    b->beside = NULL;
    for (size_t f = 0; f < b->fields; f++)
        RG_TRY(copy_field(&b->field[f], out, n, f == input ? gone : NULL));
    return RG_OK;
}

void rg_copies_free(rg_copies *c)
{
    for (size_t i = 0; i < c->count; i++) rg_free(c->owned[i]);
    *c = (rg_copies){ 0 };
}
