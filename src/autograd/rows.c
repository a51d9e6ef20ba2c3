/* rows.c - small loops over strided rows that ops share. */
#include "autograd/tape.h"

#include <string.h>

void rg_rows__copy(size_t rows, size_t cols, rg_real *y, size_t ldy, const rg_real *x, size_t ldx)
{
    if (ldy == cols && ldx == cols) {
        if (rows && cols) memcpy(y, x, rows * cols * sizeof *y);
        return;
    }
    for (size_t i = 0; i < rows; i++) memcpy(y + i * ldy, x + i * ldx, cols * sizeof *y);
}

void rg_rows__axpy(size_t rows, size_t cols, rg_real *y, size_t ldy, rg_real a, const rg_real *x, size_t ldx, bool add)
{
    const rg_kernels *k = rg_kernel();
    if (!add && a == 1) {
        rg_rows__copy(rows, cols, y, ldy, x, ldx);
        return;
    }
    if (ldy == cols && ldx == cols) {
        cols *= rows;
        rows = rows ? 1 : 0;
    }
    for (size_t i = 0; i < rows; i++) (add ? k->axpy : k->scale)(cols, y + i * ldy, a, x + i * ldx);
}

void rg_rows__zero(size_t rows, size_t cols, rg_real *y, size_t ldy)
{
    if (ldy == cols) {
        if (rows && cols) memset(y, 0, rows * cols * sizeof *y);
        return;
    }
    for (size_t i = 0; i < rows; i++) memset(y + i * ldy, 0, cols * sizeof *y);
}

void rg_rows__column_sums(size_t rows, size_t cols, rg_real *y, const rg_real *x, size_t ldx, bool add)
{
    const rg_kernels *k = rg_kernel();
    if (!add) memset(y, 0, cols * sizeof *y);
    for (size_t i = 0; i < rows; i++) k->axpy(cols, y, 1, x + i * ldx);
}
