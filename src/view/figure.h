/* figure.h - what the library and its module regard-figures.so agree on. */
#ifndef RG_VIEW_FIGURE_H
#define RG_VIEW_FIGURE_H

#include "regard/view.h"

RG_API_BEGIN

/* rg_figure_render() of the module. A record, sizes and formats as there. */
typedef rg_status  rg_figure_renderer(void **out, size_t *out_bytes, rg_figure_result *out_result,
                                      const rg_record *record, rg_figure_format format,
                                      const rg_figure_options *options);
rg_figure_renderer rg_figure__render;

RG_API_END
#endif
