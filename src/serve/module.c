/* module.c - the library's side of the server: opens the module that holds it, and the HTTP library it needs, on
 * first use. */
#include "serve/module.h"

#include "base/module.h"

rg_status rg_serve_models(const rg_serve_config *config, const rg_serve_direction *models, size_t count, int stop,
                          void (*ready)(void *context, const char *address), void *context)
{
    rg_module_function *function = NULL;

    RG_TRY(rg_module_open(&function, "serve", "rg_serve__models"));
    return ((rg_serve_runner *)function)(config, models, count, stop, ready, context);
}

rg_status rg_serve_model(const rg_serve_config *config, rg_model *model, int stop,
                         void (*ready)(void *context, const char *address), void *context)
{
    const rg_serve_direction only = { .model = model, .source = config->source, .target = config->target };
    return rg_serve_models(config, &only, 1, stop, ready, context);
}

rg_status rg_serve_run(const rg_serve_config *config, rg_translator *translator, int stop,
                       void (*ready)(void *context, const char *address), void *context)
{
    return rg_serve_model(config, translator->model, stop, ready, context);
}
