/* plot.c - see plot.h. */
#include "cli/plot.h"

#include <stdio.h>
#include <string.h>

#include "regard/view.h"

static const struct {
    const char      *ending;
    rg_figure_format format;
} figures[] = { { ".png", RG_FIGURE_PNG }, { ".svg", RG_FIGURE_SVG }, { ".pdf", RG_FIGURE_PDF } };
enum { FIGURES = sizeof figures / sizeof *figures };

static bool ends(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

rg_status rg_plot_check(const char *path)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (ends(path, figures[i].ending)) return RG_OK;
    if (ends(path, ".html") || ends(path, ".json")) return RG_OK;
    return rg_fail(RG_EINVAL, "--plot %s: a name that ends in .png, .svg, .pdf, .html or .json", path);
}

rg_status rg_plot_save(const rg_record *r, const char *path)
{
    const rg_page_options page = { .live = false, .dark = false };
    rg_figure_options     o = RG_FIGURE_OPTIONS_DEFAULT;
    rg_figure_result      result = { 0 };

    if (ends(path, ".json")) return rg_record_save(r, path);
    if (ends(path, ".html")) return rg_page_save(path, r, &page);
    if (r->curve_sets) o.style = RG_FIGURE_CURVES;
    o.numbers = true;
    for (size_t i = 0; i < FIGURES; i++)
        if (ends(path, figures[i].ending)) RG_TRY(rg_figure_save(path, figures[i].format, &result, r, &o));
    if (result.missing_glyphs)
        fprintf(stderr, "%s: no installed font has %u of the characters; they are drawn as boxes\n", path,
                result.missing_glyphs);
    return RG_OK;
}
