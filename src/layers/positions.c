/* positions.c - where a row stands in its group (Vaswani et al. 2017, section 3.5); layers.h has the formulas. */
#include "regard/layers.h"

#include <math.h>

static void code_pairs(rg_real *row, size_t d, size_t place)
{
    for (size_t i = 0; i < d; i += 2) {
        const double angle = (double)place * pow(10000.0, -(double)i / (double)d);
        row[i] = (rg_real)sin(angle);
        if (i + 1 < d) row[i + 1] = (rg_real)cos(angle);
    }
}

/* Column i and column half + i turn equally fast; an odd last column is a sine, or zero where halves are spread. */
static void code_halves(rg_real *row, size_t d, size_t place, bool spread)
{
    const size_t half = spread ? d / 2 : (d + 1) / 2;
    const double steps = spread ? (half > 1 ? (double)half - 1 : 1) : (double)d / 2;
    for (size_t i = 0; i < d; i++) {
        const size_t turn = i < half ? i : i - half;
        const double angle = (double)place * pow(10000.0, -(double)turn / steps);
        row[i] = i == 2 * half ? 0 : (rg_real)(i < half ? sin(angle) : cos(angle));
    }
}

static void code(rg_real *row, size_t d, size_t place, rg_sinusoids form)
{
    if (form == RG_SINUSOIDS) code_pairs(row, d, place);
    else code_halves(row, d, place, form == RG_SINUSOIDS_SPREAD);
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

/* A table of the codes of places 0 .. count-1, whose rows are then gathered: sines are dear, rows of a batch share
 * places. */
static rg_tensor *codes(rg_tape *t, rg_sinusoids form, size_t from, size_t count, size_t d)
{
    rg_real *table = rg_tape_memory(t, count * d * sizeof *table);
    for (size_t p = 0; table && p < count && !rg_tape_dry(t); p++) code(table + p * d, d, from + p, form);
    return table ? rg_constant(t, table, count, d, NULL) : NULL;
}

rg_tensor *rg_add_sinusoids(rg_tape *t, rg_tensor *x, rg_sinusoids form, size_t first)
{
    const rg_layout *layout = rg_tensor_layout(x);
    int32_t         *place = x ? rg_places(t, layout) : NULL;
    if (!place) return NULL;
    int32_t longest = 0;
    for (size_t g = 0; g < layout->groups; g++) {
        const int32_t n = layout->start[g + 1] - layout->start[g];
        if (n > longest) longest = n;
    }
    rg_tensor *table = codes(t, form, first, (size_t)longest, rg_tensor_cols(x));
    return rg_add(t, x, rg_gather(t, table, place, rg_tensor_rows(x), layout));
}

rg_tensor *rg_add_sinusoid(rg_tape *t, rg_tensor *x, rg_sinusoids form, size_t place)
{
    return rg_add(t, x, codes(t, form, place, 1, rg_tensor_cols(x)));
}

rg_tensor *rg_add_positions(rg_tape *t, rg_tensor *x) { return rg_add_sinusoids(t, x, RG_SINUSOIDS, 0); }
rg_tensor *rg_add_position(rg_tape *t, rg_tensor *x, size_t from) { return rg_add_sinusoid(t, x, RG_SINUSOIDS, from); }
