/* drawn.c - records of an experiment, and their figures. */
#include "lab/drawn.h"

#include <math.h>

#include "regard/view.h"

/* 97.5 % of Student's t with n - 1 degrees of freedom. */
static double student(size_t n)
{
    static const double t[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131 };
    return n < 2 ? (double)NAN : t[n - 2 < 15 ? n - 2 : 14];
}

double rg_summary_interval(rg_summary s) { return student(s.count) * s.deviation / sqrt((double)s.count); }

static rg_status draw_as(const char *folder, const char *name, const rg_record *r, rg_figure_format format)
{
    rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
    f.style = RG_FIGURE_CURVES;
    char           *path = rg_format("%s/%s.%s", folder, name, format == RG_FIGURE_SVG ? "svg" : "png");
    const rg_status status = path ? rg_figure_save(path, format, NULL, r, &f) : RG_ENOMEM;
    rg_free(path);
    return status;
}

rg_status rg_lab_draw(const rg_lab *lab, const char *folder, const char *name, const rg_record *r)
{
    char *path = rg_format("%s/%s.json", folder, name);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_record_save(r, path);
    if (status == RG_OK) fprintf(lab->out, "\n%s", path);
    rg_free(path);
    RG_TRY(status);
    status = draw_as(folder, name, r, RG_FIGURE_PNG);
    if (status == RG_OK) status = draw_as(folder, name, r, RG_FIGURE_SVG);
    fprintf(lab->out, status == RG_OK ? ", .png, .svg\n" : "\n");
    if (status != RG_OK) fprintf(lab->notes, "no figure: %s\n", rg_message());
    return RG_OK;
}

static rg_status add_means(rg_record *r, size_t curves, const rg_outcome *lines, size_t count, const char *result)
{
    const char **bar = rg_alloc_array(count, sizeof *bar);
    double      *x = rg_alloc_array(4 * count, sizeof *x), *y = x + count, *low = y + count, *high = low + count;
    size_t       n = 0;
    rg_status    status = bar && x ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const rg_summary s = rg_outcome_summary(&lines[i], result);
        if (!s.count) continue;
        const double half = s.count > 1 ? rg_summary_interval(s) : 0;
        bar[n] = lines[i].row->name;
        x[n] = (double)n;
        y[n] = s.mean;
        low[n] = s.mean - half;
        high[n++] = s.mean + half;
    }
    if (status == RG_OK && n) status = rg_record_set_bars(r, curves, bar, n);
    if (status == RG_OK && n) status = rg_record_add_series(r, curves, result, x, y, n);
    if (status == RG_OK && n) status = rg_record_set_interval(r, curves, low, high);
    rg_free(bar);
    rg_free(x);
    return status;
}

rg_status rg_lab_draw_means(const rg_grid_job *job, const rg_outcome *lines, size_t count, const char *result,
                            const char *title, const char *unit, const char *name)
{
    rg_record *r = NULL;
    size_t     curves;
    RG_TRY(rg_record_new(&r, title, "evaluation"));
    rg_status status = rg_record_add_curves(&curves, r, title, "row", unit, false, false);
    if (status == RG_OK) status = add_means(r, curves, lines, count, result);
    if (status == RG_OK && r->curves[curves].count) status = rg_lab_draw(job->lab, job->out, name, r);
    rg_record_free(r);
    return status;
}
