/* op_random.c - random numbers on the tape: noise of a generator, first directions of a power iteration, random starts
 * of an attack.
 *
 * A number follows from seed, step, op, its row in the whole batch and its column, so neither worker nor thread
 * changes it; rg_tape_redraw gives the same numbers again. */
#include <math.h>

#include "autograd/tape.h"
#include "regard/ops.h"

typedef struct {
    uint32_t key[2];
    uint64_t stream, first;
} drawing;

/* Two uniform numbers inside (0, 1). */
static void two(double u[2], const drawing *d, size_t row, size_t pair)
{
    const uint64_t at = d->first + row;
    const uint32_t counter[4] = { (uint32_t)at, (uint32_t)(at >> 32) ^ (uint32_t)d->stream, (uint32_t)pair,
                                  (uint32_t)((uint64_t)pair >> 32) };
    uint32_t       out[4];
    rg_philox(out, counter, d->key);
    for (size_t i = 0; i < 2; i++)
        u[i] = ((double)(((uint64_t)out[2 * i] << 21) ^ (uint64_t)(out[2 * i + 1] >> 11)) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958 makes two normal numbers of two uniform ones. */
static rg_tensor *draw(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout, bool normal)
{
    drawing    d = { .first = layout ? layout->first : 0 };
    rg_tensor *y = rg_zeros(t, rows, cols, layout);
    d.stream = rg_tape__draw(t, d.key);
    if (!y || rg_tape_dry(t)) return y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j += 2) {
            double u[2];
            two(u, &d, i, j / 2);
            if (normal) {
                const double r = sqrt(-2 * log(u[0])), a = 6.283185307179586477 * u[1];
                u[0] = r * cos(a);
                u[1] = r * sin(a);
            }
            for (size_t k = 0; k < 2 && j + k < cols; k++) y->data[i * y->ld + j + k] = (rg_real)u[k];
        }
    return y;
}

rg_tensor *rg_normal(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    return draw(t, rows, cols, layout, true);
}
rg_tensor *rg_uniform(rg_tape *t, size_t rows, size_t cols, const rg_layout *layout)
{
    return draw(t, rows, cols, layout, false);
}
