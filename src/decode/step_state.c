/* step_state.c - rows carried from step to step. */
#include "decode/step_state.h"

#include <string.h>

static rg_status make_room(rg_step_state *b, size_t i, size_t numbers)
{
    if (numbers <= b->block[i].room) return RG_OK;
    rg_real *data = rg_realloc(b->block[i].data, numbers * sizeof *data);
    if (data) b->block[i].data = data;
    rg_real *spare = rg_realloc(b->block[i].spare, numbers * sizeof *spare);
    if (spare) b->block[i].spare = spare;
    if (!data || !spare) return RG_ENOMEM;
    b->block[i].room = numbers;
    return RG_OK;
}

rg_status rg_step_state_put(rg_step_state *b, size_t i, const rg_tensor *x)
{
    if (!x) return RG_OK;
    const size_t rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    RG_TRY(make_room(b, i, rows * cols));
    b->block[i].rows = rows;
    b->block[i].cols = cols;
    for (size_t r = 0; r < rows; r++) memcpy(b->block[i].data + r * cols, rg_tensor_row(x, r), cols * sizeof(rg_real));
    return RG_OK;
}

rg_tensor *rg_step_state_use(rg_tape *t, const rg_step_state *b, size_t i)
{
    return rg_borrow(t, b->block[i].data, b->block[i].rows, b->block[i].cols, b->block[i].cols);
}

rg_status rg_step_state_keep(rg_step_state *b, const int32_t *parents, size_t n)
{
    for (size_t i = 0; i < RG_STEP_STATE_BLOCKS; i++) {
        const size_t cols = b->block[i].cols;
        if (!cols) continue;
        RG_TRY(make_room(b, i, n * cols));
        for (size_t r = 0; r < n; r++)
            memcpy(b->block[i].spare + r * cols, b->block[i].data + (size_t)parents[r] * cols, cols * sizeof(rg_real));
        rg_real *swap = b->block[i].data;
        b->block[i].data = b->block[i].spare;
        b->block[i].spare = swap;
        b->block[i].rows = n;
    }
    return RG_OK;
}

void rg_step_state_fini(rg_step_state *b)
{
    for (size_t i = 0; i < RG_STEP_STATE_BLOCKS; i++) {
        rg_free(b->block[i].data);
        rg_free(b->block[i].spare);
    }
    memset(b, 0, sizeof *b);
}
