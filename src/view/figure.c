/* figure.c - the library's side of figures: opens the module that draws with cairo and pango, on first use. */
#include "base/module.h"
#include "view/figure.h"

static const char *const style_names[RG_FIGURE_STYLES] = { "auto",    "matrix", "grid",   "links",
                                                           "picture", "graph",  "curves", "memory",
                                                           "panels",  "parts",  "beam" };

const char *rg_figure_style_name(rg_figure_style style)
{
    return (unsigned)style < RG_FIGURE_STYLES ? style_names[style] : "auto";
}

rg_status rg_figure_render(void **out, size_t *out_bytes, rg_figure_result *out_result, const rg_record *record,
                           rg_figure_format format, const rg_figure_options *options)
{
    rg_module_function *function = NULL;

    RG_TRY(rg_module_open(&function, "figures", "rg_figure__render"));
    return ((rg_figure_renderer *)function)(out, out_bytes, out_result, record, format, options);
}

rg_status rg_figure_save(const char *path, rg_figure_format format, rg_figure_result *out_result,
                         const rg_record *record, const rg_figure_options *options)
{
    rg_status status;
    void     *bytes = NULL;
    size_t    count = 0;

    RG_TRY(rg_figure_render(&bytes, &count, out_result, record, format, options));
    status = rg_file_replace(path, bytes, count);
    rg_free(bytes);
    return status;
}
