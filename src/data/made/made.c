/* made.c - the table of generators. A new one is a constant in this folder and a word in RG_GENERATORS
 * (regard/made.h). */
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

rg_status rg_generator_write(const rg_generator *g, const char *out, const char *yaml)
{
    void                 *values = rg_alloc_zero(g->options_bytes + 1);
    const rg_option_group group = { .rows = g->options, .values = values };
    rg_status             status = values ? rg_options_init(g->options, values) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), g->name, false);
    if (status == RG_OK) status = g->write(out, values);
    if (values) rg_options_fini(g->options, values);
    rg_free(values);
    return status;
}

rg_status rg_generator_write_in(const rg_generator *g, const char *folder, const char *name, const char *yaml)
{
    char     *path = rg_format("%s/%s", folder, name);
    rg_status status = path ? rg_generator_write(g, path, yaml) : RG_ENOMEM;
    rg_free(path);
    return status;
}
