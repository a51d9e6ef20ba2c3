/* spatial.c - grids of spatial transformers, enlarging and the glimpses of a retina. */
#include "regard/spatial.h"

#include <math.h>

#include "autograd/grid.h"

/* ------------------------------------------------------------------------------------------------------------ grids */

static bool are_pictures(rg_tape *t, const rg_layout *from)
{
    if (from && from->height && from->width) return true;
    return rg_tape_fail(t, RG_EINVAL, "rows whose layout has no height and width are no pictures");
}

static rg_tensor *grid(rg_tape *t, rg_tensor *theta, size_t columns, const rg_layout *from, size_t height, size_t width)
{
    if (!theta || !are_pictures(t, from)) return NULL;
    if (rg_tensor_cols(theta) != columns || rg_tensor_rows(theta) != from->groups)
        return rg_tape_fail(t, RG_ESHAPE, "theta is %zu x %zu; %zu pictures need %zu x %zu", rg_tensor_rows(theta),
                            rg_tensor_cols(theta), from->groups, from->groups, columns);
    const rg_layout *layout = rg_tape_pictures(t, from->groups, height, width);
    return layout ? rg_tape__grid(t, theta, from, layout) : NULL;
}

rg_tensor *rg_affine_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width)
{
    return grid(t, theta, 6, from, height, width);
}

rg_tensor *rg_projective_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width)
{
    return grid(t, theta, 8, from, height, width);
}

/* (s, x, y) -> (s, 0, x, 0, s, y) */
rg_tensor *rg_attention_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width)
{
    static const rg_real spread[18] = { 1, 0, 0, 0, 1, 0, /* s */ 0, 0, 1, 0, 0, 0, /* x */ 0, 0, 0, 0, 0, 1 /* y */ };
    if (theta && rg_tensor_cols(theta) != 3)
        return rg_tape_fail(t, RG_ESHAPE, "theta has %zu columns; scale, x and y are 3", rg_tensor_cols(theta));
    return grid(t, rg_matmul(t, theta, rg_constant(t, spread, 3, 6, NULL)), 6, from, height, width);
}

/* -------------------------------------------------------------------------------------------------------- enlarging */

static rg_real place_in(size_t i, size_t n, size_t of) /* pixel i of n as a place among `of` pixels */
{
    const double at = ((double)i + 0.5) * (double)of / (double)n - 0.5, last = (double)of - 1;
    return (rg_real)(at < 0 ? 0 : at > last ? last : at);
}

rg_tensor *rg_upsample(rg_tape *t, rg_tensor *x, size_t height, size_t width)
{
    const rg_layout *from = rg_tensor_layout(x);
    if (!x || !are_pictures(t, from)) return NULL;
    const rg_layout *layout = rg_tape_pictures(t, from->groups, height, width);
    if (!layout) return NULL;
    const size_t rows = layout->groups * height * width;
    rg_real     *places = rg_tape_memory(t, 2 * rows * sizeof *places);
    if (!places) return NULL;
    for (size_t i = 0; i < rows && !rg_tape_dry(t); i++) {
        places[2 * i] = place_in(i % width, width, from->width);
        places[2 * i + 1] = place_in(i / width % height, height, from->height);
    }
    return rg_sample(t, x, rg_constant(t, places, rows, 2, layout));
}

/* --------------------------------------------------------------------------------------------------------- glimpses */

/* Mean of the step x step pixels whose first is (x, y); what lies outside counts as 0. */
static void mean_of(rg_real *out, const rg_tensor *pictures, size_t first, ptrdiff_t x, ptrdiff_t y, ptrdiff_t step)
{
    const rg_layout *layout = rg_tensor_layout(pictures);
    const size_t     D = rg_tensor_cols(pictures);
    const ptrdiff_t  H = (ptrdiff_t)layout->height, W = (ptrdiff_t)layout->width;
    const rg_real    share = (rg_real)(1.0 / (double)(step * step));
    for (size_t d = 0; d < D; d++) out[d] = 0;
    for (ptrdiff_t j = y < 0 ? 0 : y; j < y + step && j < H; j++)
        for (ptrdiff_t i = x < 0 ? 0 : x; i < x + step && i < W; i++) {
            const rg_real *pixel = rg_tensor_row(pictures, first + (size_t)(j * W + i));
            for (size_t d = 0; d < D; d++) out[d] += share * pixel[d];
        }
}

rg_tensor *rg_glimpse(rg_tape *t, rg_tensor *pictures, const rg_tensor *places, const rg_retina *retina)
{
    const rg_layout *layout = rg_tensor_layout(pictures);
    const size_t     D = rg_tensor_cols(pictures), patch = retina->patch, wide = retina->scales * patch * patch * D;
    if (!pictures || !places || !are_pictures(t, layout)) return NULL;
    if (rg_tensor_rows(places) != layout->groups || rg_tensor_cols(places) != 2)
        return rg_tape_fail(t, RG_ESHAPE, "places are %zu x %zu; %zu pictures need %zu x 2", rg_tensor_rows(places),
                            rg_tensor_cols(places), layout->groups, layout->groups);
    if (!patch || patch > 4096 || !retina->scales || retina->scales > 8)
        return rg_tape_fail(t, RG_EINVAL, "a retina of %zu pixels at %zu scales: 1 .. 4096 and 1 .. 8 are possible",
                            patch, retina->scales);
    rg_real *seen = rg_tape_memory(t, layout->groups * wide * sizeof *seen);
    if (!seen) return NULL;
    for (size_t g = 0; g < layout->groups && !rg_tape_dry(t); g++) {
        const double x = ((double)layout->width - 1) / 2, y = ((double)layout->height - 1) / 2;
        const double at_x = x + (double)rg_tensor_at(places, g, 0) * (retina->unit > 0 ? retina->unit : x);
        const double at_y = y + (double)rg_tensor_at(places, g, 1) * (retina->unit > 0 ? retina->unit : y);
        rg_real     *to = seen + g * wide;
        ptrdiff_t    step = 1;
        for (size_t s = 0; s < retina->scales; s++, step *= 2) {
            const double    half = ((double)patch * (double)step - 1) / 2;
            const ptrdiff_t left = (ptrdiff_t)floor(at_x - half + 0.5), top = (ptrdiff_t)floor(at_y - half + 0.5);
            for (size_t i = 0; i < patch * patch; i++, to += D)
                mean_of(to, pictures, (size_t)layout->start[g], left + (ptrdiff_t)(i % patch) * step,
                        top + (ptrdiff_t)(i / patch) * step, step);
        }
    }
    return rg_constant(t, seen, layout->groups, wide, NULL);
}

rg_tensor *rg_normal_around(rg_tape *t, const rg_tensor *mean, double deviation, uint64_t first)
{
    const size_t rows = rg_tensor_rows(mean), cols = rg_tensor_cols(mean);
    uint32_t     key[2];
    if (!mean) return NULL;
    const uint64_t stream = rg_tape__draw(t, key);
    rg_real       *drawn = rg_tape_memory(t, rows * cols * sizeof *drawn);
    if (!drawn) return NULL;
    for (size_t i = 0; i < rows && !rg_tape_dry(t); i++) {
        rg_random random = rg_random_new((uint64_t)key[0] << 32 | key[1], (first + i) ^ stream << 40);
        for (size_t j = 0; j < cols; j++)
            drawn[i * cols + j] = rg_tensor_at(mean, i, j) + (rg_real)(deviation * rg_random_normal(&random));
    }
    return rg_constant(t, drawn, rows, cols, NULL);
}
