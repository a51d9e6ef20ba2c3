/* made.c - the table of generators. A new one is a constant in this folder and a word in RG_GENERATORS (regard/made.h). */
#include "regard/made.h"

#include <string.h>

#define ENTRY(name) &rg_generator_##name,
static const rg_generator *const table[] = { RG_GENERATORS(ENTRY) NULL };

const rg_generator *const *rg_generator_all(void) { return table; }

const rg_generator *rg_generator_find(const char *name)
{
    for (const rg_generator *const *g = table; name && *g; g++)
        if (strcmp((*g)->name, name) == 0) return *g;
    return NULL;
}
