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

typedef struct {
    size_t         rows, ldx;
    rg_real       *y;
    const rg_real *x;
    bool           add;
} summing;

static void some_columns(void *context, int member, size_t begin, size_t end)
{
    const summing *s = context;
    (void)member;
    rg_rows__column_sums(s->rows, end - begin, s->y + begin, s->x + begin, s->ldx, s->add);
}

void rg_tape__column_sums(rg_tape *t, size_t rows, size_t cols, rg_real *y, const rg_real *x, size_t ldx, bool add)
{
    enum { WORTH = 1 << 15, LEAST = 64 }; /* numbers a share should have; columns of the narrowest share */
    const size_t grain = rows ? WORTH / rows / LEAST * LEAST + LEAST : cols;
    rg_team_for(rg_tape_team(t), cols, grain, some_columns, &(summing){ rows, ldx, y, x, add });
}
