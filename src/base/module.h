/* module.h - parts of regard that need heavy libraries (figures, server) are opened on use. */
#ifndef RG_BASE_MODULE_H
#define RG_BASE_MODULE_H

#include "regard/base.h"

typedef void rg_module_function(void); /* to be cast to what the symbol is */

/* The folder this library was loaded from, with a slash at its end; false: it is not known. Modules lie there or in its
 * regard/. */
bool rg_module__folder(char *out, size_t room);

/* The function `symbol` of regard-<name>.so, looked for beside the running program, then beside the library. The module
 * stays open for the life of the process. RG_EIO when it is missing, with the reason of the loader. */
rg_status rg_module_open(rg_module_function **out, const char *name, const char *symbol);

#endif
