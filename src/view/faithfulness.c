/* faithfulness.c - how faithful a map is, in words: the line under it. */
#include "regard/view.h"

char *rg_faithfulness_text(const rg_faithfulness *f)
{
    if (!f->measured) return rg_strdup("");
    if (!f->k) return rg_format("faithfulness: rank correlation with occlusion %.2f", (double)f->rank);
    if (f->k == 1)
        return rg_format("faithfulness: rank correlation with occlusion %.2f; log p falls by %.2f without the strongest "
                         "input, by %.2f without a random one",
                         (double)f->rank, (double)f->drop, (double)f->random);
    return rg_format("faithfulness: rank correlation with occlusion %.2f; log p falls by %.2f without the %zu strongest "
                     "inputs, by %.2f without random ones",
                     (double)f->rank, (double)f->drop, f->k, (double)f->random);
}
