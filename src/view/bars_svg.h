/* bars_svg.h - curves that have bars, as an <svg> element; it is as high as they need. */
#ifndef RG_VIEW_BARS_SVG_H
#define RG_VIEW_BARS_SVG_H

#include "regard/view.h"

rg_status rg_bars_svg(char **out, const rg_curves *curves, int width);

#endif
