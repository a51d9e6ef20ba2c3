/* families.c - the table of metric families. A new one is a constant in this folder and a word in RG_METRIC_FAMILIES
 * (regard/metrics.h). */
#include "regard/metrics.h"

#include <string.h>

#define ENTRY(name) &rg_metric_family_##name,
static const rg_metric_family *const table[] = { RG_METRIC_FAMILIES(ENTRY) NULL };

const rg_metric_family *const *rg_metric_family_all(void) { return table; }

const rg_metric_family *rg_metric_family_find(const char *name)
{
    for (const rg_metric_family *const *f = table; name && *f; f++)
        if (strcmp((*f)->name, name) == 0) return *f;
    return NULL;
}
