/* positions.c - where a row stands in its group (Vaswani et al. 2017, section 3.5):
 *
 *     PE(pos, 2i) = sin(pos / 10000^(2i/d))      PE(pos, 2i+1) = cos(pos / 10000^(2i/d)) */
#include "regard/layers.h"

#include <math.h>

static void code(rg_real *row, size_t d, size_t place)
{
    for (size_t i = 0; i < d; i += 2) {
        const double angle = (double)place * pow(10000.0, -(double)i / (double)d);
        row[i] = (rg_real)sin(angle);
        if (i + 1 < d) row[i + 1] = (rg_real)cos(angle);
    }
}

int32_t *rg_places(rg_tape *t, const rg_layout *layout)
{
    if (!layout) {
        rg_tape_fail(t, RG_EINVAL, "rows without layout have no place in a group");
        return NULL;
    }
    const size_t N = (size_t)layout->start[layout->groups];
    int32_t     *place = rg_tape_memory(t, N * sizeof *place);
    for (size_t g = 0; place && g < layout->groups; g++)
        for (int32_t i = layout->start[g]; i < layout->start[g + 1]; i++) place[i] = i - layout->start[g];
    return place;
}

/* A table of the codes of places 0 .. count-1, whose rows are then gathered: sines are dear, rows of a batch share places. */
static rg_tensor *codes(rg_tape *t, size_t from, size_t count, size_t d)
{
    rg_real *table = rg_tape_memory(t, count * d * sizeof *table);
    for (size_t p = 0; table && p < count && !rg_tape_dry(t); p++) code(table + p * d, d, from + p);
    return table ? rg_constant(t, table, count, d, NULL) : NULL;
}

rg_tensor *rg_add_positions(rg_tape *t, rg_tensor *x)
{
    const rg_layout *layout = rg_tensor_layout(x);
    int32_t         *place = x ? rg_places(t, layout) : NULL;
    if (!place) return NULL;
    int32_t longest = 0;
    for (size_t g = 0; g < layout->groups; g++) {
        const int32_t n = layout->start[g + 1] - layout->start[g];
        if (n > longest) longest = n;
    }
    rg_tensor *table = codes(t, 0, (size_t)longest, rg_tensor_cols(x));
    return rg_add(t, x, rg_gather(t, table, place, rg_tensor_rows(x), layout));
}

rg_tensor *rg_add_position(rg_tape *t, rg_tensor *x, size_t from)
{
    return rg_add(t, x, codes(t, from, 1, rg_tensor_cols(x)));
}
