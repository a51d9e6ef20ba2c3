/* zeroing.c - how far log p falls when nothing is read from an input, though it is looked at as before: its value is
 * zero in every attention over inputs.
 *
 *     s(x) - s(x; v_j = 0)
 *
 * Mohebbi, Zuidema, Chrupala, Alishahi 2023 zero values in one layer and compare what leaves it; here all layers are
 * changed and log p is compared, which is of the same kind as occlusion. One hook serves all systems: rg_mix offers its
 * values. */
#include "explain/explaining.h"

static rg_status explain(rg_real *out, rg_explaining *x)
{
    const size_t n = x->subject->outputs * x->subject->inputs;
    double      *drops = rg_alloc_array(n + 1, sizeof *drops);
    rg_status    status = drops ? rg_explaining__drops(drops, x, RG_CHANGE_ZERO) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) out[i] = (rg_real)drops[i];
    rg_free(drops);
    return status;
}

const rg_method rg_method_zeroing = {
    .name = "zeroing",
    .formula = "s(x) - s(x; v_j = 0)",
    .summary = "how far log p falls when the input's value is zero in every attention",
    .paper = "after Mohebbi, Zuidema, Chrupala, Alishahi 2023",
    .contrasts = true,
    .explain = explain,
};
