/* scores.c - the table of scores. A new one is a file in scores/ and a word here. */
#include "regard/attention.h"

#include <string.h>

#define RG_SCORES(X) X(dot) X(scaled_dot) X(distance) X(cosine) X(general) X(linear) X(additive) X(concat) X(location) X(neural) X(vector)
#define DECLARE(name) extern const rg_score rg_score_##name;
#define ENTRY(name)   &rg_score_##name,
RG_SCORES(DECLARE)
static const rg_score *const table[] = { RG_SCORES(ENTRY) NULL };

const rg_score *const *rg_score_all(void) { return table; }

const rg_score *rg_score_find(const char *name)
{
    for (const rg_score *const *s = table; name && *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}
