/* reaches.c - the table of reaches, and a reach chosen by its name and size. A new one is a file in reaches/ and a
 * word in RG_REACHES. */
#include "regard/attention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &rg_reach_kind_##name,
static const rg_reach_kind *const table[] = { RG_REACHES(ENTRY) NULL };

const rg_reach_kind *const *rg_reach_kinds(void) { return table; }

const rg_reach_kind *rg_reach_kind_find(const char *name)
{
    for (const rg_reach_kind *const *k = table; name && *k; k++)
        if (strcmp((*k)->name, name) == 0) return *k;
    return NULL;
}

static rg_status unknown(const char *name)
{
    char   list[256] = "";
    size_t at = 0;
    for (const rg_reach_kind *const *k = table; *k && at < sizeof list; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s%s", at ? ", " : "", (*k)->name,
                               (*k)->sized ? ":R" : "");
    return rg_fail(RG_EINVAL, "there is no reach '%s'; there are %s", name, list);
}

rg_status rg_reach_choose(rg_reach_choice *out, const char *text)
{
    const char *colon = strchr(text, ':');
    char        name[32], *end = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
    const rg_reach_kind *kind = rg_reach_kind_find(name);
    if (!kind) return unknown(name);
    if (kind->sized != (colon != NULL))
        return rg_fail(RG_EINVAL, kind->sized ? "reach %s: give its size, as in %s:3" : "reach %s: %s has no size",
                       text, name);
    const long long size = colon ? strtoll(colon + 1, &end, 10) : 0;
    if (colon && (*end || end == colon + 1 || size < 1 || size > INT32_MAX))
        return rg_fail(RG_EINVAL, "reach %s: the size is a whole number from 1 to %d", text, INT32_MAX);
    *out = (rg_reach_choice){ kind, (size_t)size };
    return RG_OK;
}

rg_reach_choice rg_reach_past(rg_reach_choice c)
{
    return (rg_reach_choice){ rg_reach_kind_find(c.kind->past), c.size };
}

const rg_reach *rg_reach_within(rg_tape *t, rg_reach_choice c, const rg_layout *rows)
{
    return c.kind->make(t, rows, rows, c.size);
}
