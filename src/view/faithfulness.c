/* faithfulness.c - how faithful a map is, in words: the line under it. */
#include "regard/view.h"

char *rg_faithfulness_text(const rg_faithfulness *f)
{
    if (!f->measured) return rg_strdup("");
    if (!f->k) return rg_format("faithfulness: rank correlation with occlusion %.2f", (double)f->rank);
    return rg_format("faithfulness: rank correlation with occlusion %.2f; log p falls by %.2f without the %zu strongest "
                     "%s, by %.2f without %s",
                     (double)f->rank, (double)f->drop, f->k, f->k == 1 ? "input" : "inputs", (double)f->random,
                     f->k == 1 ? "a random one" : "random ones");
}
