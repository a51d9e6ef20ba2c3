/* op_join.c - rows joined to longer ones and split again, and layouts of pictures that live on the tape.
 *
 *   join    (N n, D) -> (N, n D)      row i is rows i n .. i n + n - 1 side by side
 *   split   (N, n D) -> (N n, D)      and back
 *
 * Numbers of dense rows stay where they are: the result is a view with another shape, and its gradient is the
 * whole's. */
#include "autograd/tape.h"

/* Groups of n times the rows, or when they were joined of n times fewer. NULL when a group does not divide, or no
 * memory. */
static const rg_layout *grouped(rg_tape *t, const rg_layout *from, size_t n, bool join)
{
    if (!from) return NULL;
    for (size_t g = 0; join && g < from->groups; g++)
        if ((size_t)(from->start[g + 1] - from->start[g]) % n) return NULL;
    int32_t   *start = rg_tape__keep(t, (from->groups + 1) * sizeof *start);
    rg_layout *layout = rg_tape__keep(t, sizeof *layout);
    if (!start || !layout) return NULL;
    for (size_t g = 0; g <= from->groups; g++)
        start[g] = join ? from->start[g] / (int32_t)n : from->start[g] * (int32_t)n;
    *layout = (rg_layout){ .groups = from->groups, .start = start, .first = join ? from->first / n : from->first * n };
    return layout;
}

/* The same numbers as rows x cols. */
static rg_tensor *reshaped(rg_tape *t, rg_tensor *x, size_t rows, size_t cols, const rg_layout *layout)
{
    rg_tensor *dense = rg_tensor__dense(x) ? x : rg_concat_columns(t, 1, &x),
              *y = dense ? rg_tape__view(t, dense, 0, 0, rows, cols) : NULL;
    if (!y) return NULL;
    y->ld = cols;
    y->layout = layout;
    return rg_tape_status(t) == RG_OK ? y : NULL;
}

rg_tensor *rg_join_rows(rg_tape *t, rg_tensor *x, size_t n)
{
    if (!rg_tape__begin(t, "join_rows", 1, &x)) return NULL;
    if (n == 0 || x->rows % n) return rg_tape_fail(t, RG_ESHAPE, "%zu rows cannot be joined %zu at a time", x->rows, n);
    return reshaped(t, x, x->rows / n, x->cols * n, grouped(t, x->layout, n, true));
}

rg_tensor *rg_split_rows(rg_tape *t, rg_tensor *x, size_t n)
{
    if (!rg_tape__begin(t, "split_rows", 1, &x)) return NULL;
    if (n == 0 || x->cols % n)
        return rg_tape_fail(t, RG_ESHAPE, "rows of %zu columns do not split into %zu", x->cols, n);
    if (x->rows > INT32_MAX / n)
        return rg_tape_fail(t, RG_ELIMIT, "%zu rows split into %zu each are too many", x->rows, n);
    return reshaped(t, x, x->rows * n, x->cols / n, grouped(t, x->layout, n, false));
}

rg_layout *rg_tape_pictures(rg_tape *t, size_t count, size_t height, size_t width)
{
    size_t size, rows;
    if (!rg_tape__begin(t, "pictures", 0, NULL)) return NULL;
    if (!rg_size_mul(&size, height, width) || !rg_size_mul(&rows, size, count) || rows > INT32_MAX || !size)
        return (void *)rg_tape_fail(t, RG_ESHAPE, "%zu pictures of %zu x %zu", count, height, width);
    int32_t   *start = rg_tape__keep(t, (count + 1) * sizeof *start);
    rg_layout *layout = rg_tape__keep(t, sizeof *layout);
    if (!start || !layout) return NULL;
    for (size_t g = 0; g <= count; g++) start[g] = (int32_t)(g * size);
    *layout = (rg_layout){ .groups = count, .start = start, .height = height, .width = width };
    return layout;
}
