/* module.h - what the library and its module regard-serve.so agree on. */
#ifndef RG_SERVE_MODULE_H
#define RG_SERVE_MODULE_H

#include "regard/serve.h"

RG_API_BEGIN

/* rg_serve_models() of the module. */
typedef rg_status rg_serve_runner(const rg_serve_config *config, const rg_serve_direction *models, size_t count,
                                  int stop, void (*ready)(void *context, const char *address), void *context);
rg_serve_runner rg_serve__models;

RG_API_END
#endif
