/* occlusion.c - how far log p falls without an input: left out of a text, replaced in a picture or graph.
 *
 *     s(x) - s(x without x_j)
 *
 * All inputs in one batch. Zeiler, Fergus 2014 (pictures); Li, Monroe, Jurafsky 2016 (words). */
#include "explain/explaining.h"

static rg_status explain(rg_real *out, rg_explaining *x)
{
    const double *drops;
    RG_TRY(rg_explaining__occlusion(&drops, x));
    for (size_t i = 0; i < x->subject->outputs * x->subject->inputs; i++) out[i] = (rg_real)drops[i];
    return RG_OK;
}

const rg_method rg_method_occlusion = {
    .name = "occlusion",
    .formula = "s(x) - s(x without x_j)",
    .summary = "how far log p falls without the input",
    .paper = "Zeiler, Fergus 2014; Li, Monroe, Jurafsky 2016",
    .contrasts = true,
    .explain = explain,
};
