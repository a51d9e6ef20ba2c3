/* tensor.c - accessors. NULL is the result of an op that failed; it has no rows. */
#include "tensor/tensor.h"

size_t rg_tensor_rows(const rg_tensor *x) { return x ? x->rows : 0; }
size_t rg_tensor_cols(const rg_tensor *x) { return x ? x->cols : 0; }
size_t rg_tensor_ld(const rg_tensor *x) { return x ? x->ld : 0; }
const rg_layout *rg_tensor_layout(const rg_tensor *x) { return x ? x->layout : NULL; }
const rg_real *rg_tensor_data(const rg_tensor *x) { return x ? x->data : NULL; }

const rg_real *rg_tensor_row(const rg_tensor *x, size_t row)
{
    return x && x->data && row < x->rows ? x->data + row * x->ld : NULL;
}

rg_real rg_tensor_at(const rg_tensor *x, size_t row, size_t col)
{
    return x && x->data && row < x->rows && col < x->cols ? x->data[row * x->ld + col] : 0;
}
