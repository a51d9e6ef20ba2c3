/* table1.c - Table 1 of Vaswani et al. 2017 as an experiment: operations, time, sequential operations and longest
 * paths of layers, measured beside what theory says. Operations and depth come from dry passes; exponents are least
 * squares on logarithms over all n and d. */
#include "regard/lab.h"
#include "lab/table1.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regard/view.h"

enum { MOST = 8, PATHS = 4 };

typedef struct table1_options {
    int64_t largest, widest, repeat;
    char   *figures, *output;
    rg_list heads;
} table1_options;

static const rg_option rows[] = {
    { RG_OPTION_INT, "largest", offsetof(table1_options, largest), "4096", "most rows n (from 32, doubling)", 0,
      "[64,4096]" },
    { RG_OPTION_INT, "widest", offsetof(table1_options, widest), "512", "most columns d (from 32, doubling)", 0,
      "[64,4096]" },
    { RG_OPTION_INT, "repeat", offsetof(table1_options, repeat), "3",
      "runs of which the fastest counts, more of short ones; 0: time is not measured", 0, "[0,inf)" },
    { RG_OPTION_LIST, "heads", offsetof(table1_options, heads), "",
      "also attention cut into so many heads, such as 1,2,4,8,16, at the middle n and the widest d", 0, NULL },
    { RG_OPTION_STRING, "figures", offsetof(table1_options, figures), "",
      "draw the curves as PREFIX-operations.png, .svg and so on", 0, NULL },
    { RG_OPTION_STRING, "output", offsetof(table1_options, output), "", "write the curves as a record for regard show",
      'o', NULL },
    RG_OPTION_END,
};

typedef struct {
    const table1_options *o;
    FILE                 *out;
    size_t                ns, ds;
    double                n[MOST], d[MOST];
    double                operations[TABLE1_LAYERS][MOST][MOST], depth[TABLE1_LAYERS][MOST]; /* [layer][n][d], [layer][n] */
    double                seconds_n[TABLE1_LAYERS][MOST], seconds_d[TABLE1_LAYERS][MOST];    /* at a middle d, a middle n  */
    size_t                path[TABLE1_LAYERS][PATHS];
    size_t                middle_n, middle_d; /* indices */
} measures;

static const size_t path_rows[PATHS] = { 16, 32, 64, 128 };

/* --------------------------------------------------------------------------------------------------- regression */

/* Slope of log y over log x. */
static double slope(const double *x, const double *y, size_t from, size_t count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    const double m = (double)(count - from);
    for (size_t i = from; i < count; i++) {
        const double u = log(x[i]), v = log(y[i]);
        sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return (m * sxy - sx * sy) / (m * sxx - sx * sx);
}

/* log y = c + a log n + b log d on the grid: on a full grid the two slopes are independent, the means of the single
 * ones. */
static void fit(double out[2], const measures *m, const double y[MOST][MOST])
{
    out[0] = out[1] = 0;
    for (size_t j = 0; j < m->ds; j++) {
        double column[MOST];
        for (size_t i = 0; i < m->ns; i++) column[i] = y[i][j];
        out[0] += slope(m->n, column, 0, m->ns) / (double)m->ds;
    }
    for (size_t i = 0; i < m->ns; i++) out[1] += slope(m->d, y[i], 0, m->ds) / (double)m->ns;
}

/* ----------------------------------------------------------------------------------------------------- measuring */

static rg_status pass(rg_tape *t, const table1_layer *layer, const table1_weights *w, const rg_real *x, size_t n,
                      size_t d)
{
    const int32_t   start[] = { 0, (int32_t)n };
    const rg_layout one = { .groups = 1, .start = start };
    layer->run(t, w, rg_input(t, x, n, d, &one), &one, 1);
    return rg_tape_status(t);
}

static rg_status count_all(measures *m)
{
    rg_tape_config config = { .record = false, .dry = true };
    rg_tape       *t = NULL;
    rg_status      status = rg_tape_new(&t, &config);
    for (size_t j = 0; status == RG_OK && j < m->ds; j++) {
        table1_weights w;
        if ((status = table1_weights_new(&w, (size_t)m->d[j])) != RG_OK) break;
        for (size_t l = 0; status == RG_OK && l < TABLE1_LAYERS; l++)
            for (size_t i = 0; status == RG_OK && i < m->ns; i++) {
                rg_tape_reset(t, 0);
                const rg_tape_cost before = rg_tape_get_cost(t);
                status = pass(t, &table1_layers[l], &w, NULL, (size_t)m->n[i], (size_t)m->d[j]);
                const rg_tape_cost after = rg_tape_get_cost(t);
                m->operations[l][i][j] = after.flops - before.flops;
                m->depth[l][i] = (double)after.depth;
            }
        table1_weights_free(&w);
    }
    rg_tape_free(t);
    return status;
}

#define TIME_ENOUGH 0.05 /* seconds: short passes are repeated more often */

/* The fastest of several passes, by processor time: what other programs do meanwhile counts little. */
static rg_status time_one(double *out, const measures *m, const table1_layer *layer, const table1_weights *w, size_t n,
                          size_t d)
{
    rg_tape_config config = { .record = false };
    rg_tape       *t = NULL;
    rg_real       *x = rg_alloc_array(n, d * sizeof *x);
    rg_status      status = x ? rg_tape_new(&t, &config) : RG_ENOMEM;
    rg_random      random = rg_random_new(1, 2);
    for (size_t i = 0; x && i < n * d; i++) x[i] = (rg_real)(rg_random_uniform(&random) - 0.5);
    *out = INFINITY;
    double spent = 0;
    for (int64_t i = 0; status == RG_OK && (i <= m->o->repeat || spent < TIME_ENOUGH); i++) { /* the first finds memory and is not counted */
        rg_tape_reset(t, 0);
        const double start = rg_cpu_now();
        status = pass(t, layer, w, x, n, d);
        const double seconds = rg_cpu_now() - start;
        spent += seconds;
        if (i) *out = fmin(*out, seconds);
    }
    rg_tape_free(t);
    rg_free(x);
    return status;
}

static rg_status time_width(measures *m, size_t j)
{
    table1_weights w;
    RG_TRY(table1_weights_new(&w, (size_t)m->d[j]));
    rg_status status = RG_OK;
    for (size_t l = 0; status == RG_OK && l < TABLE1_LAYERS; l++) {
        status = time_one(&m->seconds_d[l][j], m, &table1_layers[l], &w, (size_t)m->n[m->middle_n], (size_t)m->d[j]);
        for (size_t i = 0; status == RG_OK && j == m->middle_d && i < m->ns; i++)
            status = time_one(&m->seconds_n[l][i], m, &table1_layers[l], &w, (size_t)m->n[i], (size_t)m->d[j]);
    }
    table1_weights_free(&w);
    return status;
}

static rg_status measure(measures *m)
{
    RG_TRY(count_all(m));
    for (size_t j = 0; m->o->repeat && j < m->ds; j++) RG_TRY(time_width(m, j));
    for (size_t l = 0; l < TABLE1_LAYERS; l++)
        for (size_t i = 0; i < PATHS; i++) RG_TRY(table1_path(&m->path[l][i], &table1_layers[l], path_rows[i]));
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ printing */

/* Fitted exponents of n and d beside those of the formula on the same grid. True when both are within 0.1. */
static bool print_operations(const measures *m)
{
    bool right = true;
    fprintf(m->out, "operations of one layer, counted for n = %g .. %g and d = %g .. %g (k = %d, r = %d)\n", m->n[0],
            m->n[m->ns - 1], m->d[0], m->d[m->ds - 1], TABLE1_KERNEL, TABLE1_WINDOW);
    fprintf(m->out, "  %-22s %-16s %-18s %s\n", "layer", "theory", "its exponents", "measured");
    for (size_t l = 0; l < TABLE1_LAYERS; l++) {
        double theory[MOST][MOST], want[2], got[2];
        for (size_t i = 0; i < m->ns; i++)
            for (size_t j = 0; j < m->ds; j++) theory[i][j] = table1_layers[l].operations(m->n[i], m->d[j]);
        fit(want, m, (const double(*)[MOST])theory);
        fit(got, m, (const double(*)[MOST])m->operations[l]);
        const bool fits = fabs(want[0] - got[0]) <= 0.1 && fabs(want[1] - got[1]) <= 0.1;
        fprintf(m->out, "  %-22s %-16s n^%.2f d^%.2f      n^%.2f d^%.2f%s\n", table1_layers[l].name,
                table1_layers[l].work, want[0], want[1], got[0], got[1], fits ? "" : "   more than 0.1 off");
        right = right && fits;
    }
    return right;
}

enum { LONG_ROWS = 256 };      /* below, other costs than the counted ones decide */
#define TIME_TOLERANCE 0.25 /* of the exponent of n, on a busy machine too; that of d rises with the use of vectors and is reported */

/* Exponents over the largest sizes; true when those of n are as the operations over the same n say. */
static bool print_time(const measures *m)
{
    const size_t n0 = m->ns > 4 ? m->ns - 4 : 0, d0 = m->ds > 3 ? m->ds - 3 : 0;
    const bool   judged = m->n[n0] >= LONG_ROWS;
    bool         right = true;
    fprintf(m->out,
            "\nprocessor time, the fastest of %lld: exponents over the largest sizes (n = %g .. %g at d = %g; d = %g "
            ".. %g at n = %g)\n",
            (long long)m->o->repeat, m->n[n0], m->n[m->ns - 1], m->d[m->middle_d], m->d[d0], m->d[m->ds - 1],
            m->n[m->middle_n]);
    fprintf(m->out, "  %-22s %-16s %-10s %-18s %s\n", "layer", "theory", "its n", "measured",
            "milliseconds at the largest n");
    for (size_t l = 0; l < TABLE1_LAYERS; l++) {
        double theory[MOST];
        for (size_t i = 0; i < m->ns; i++) theory[i] = table1_layers[l].operations(m->n[i], m->d[m->middle_d]);
        const double want = slope(m->n, theory, n0, m->ns), got = slope(m->n, m->seconds_n[l], n0, m->ns);
        const bool   fits = fabs(want - got) <= TIME_TOLERANCE;
        fprintf(m->out, "  %-22s %-16s n^%-8.2f n^%.2f d^%.2f      %.3f%s\n", table1_layers[l].name,
                table1_layers[l].work, want, got, slope(m->d, m->seconds_d[l], d0, m->ds),
                1e3 * m->seconds_n[l][m->ns - 1], judged && !fits ? "   more than 0.25 off" : "");
        right = right && fits;
    }
    return right || !judged;
}

static bool print_depth(const measures *m)
{
    bool right = true;
    fprintf(m->out, "\nsequential operations: the longest chain of ops that wait for each other\n  %-22s %-8s", "layer",
            "theory");
    for (size_t i = 0; i < m->ns; i += m->ns > 4 ? 2 : 1) fprintf(m->out, "  n = %-5g", m->n[i]);
    fprintf(m->out, "  exponent\n");
    for (size_t l = 0; l < TABLE1_LAYERS; l++) {
        const double e = slope(m->n, m->depth[l], m->ns > 4 ? m->ns - 4 : 0, m->ns);
        fprintf(m->out, "  %-22s %-8s", table1_layers[l].name, table1_layers[l].sequential);
        for (size_t i = 0; i < m->ns; i += m->ns > 4 ? 2 : 1) fprintf(m->out, "  %-9g", m->depth[l][i]);
        fprintf(m->out, "  %.2f\n", e);
        right = right && fabs(e - table1_layers[l].depth_exponent) <= 0.1;
    }
    return right;
}

static bool print_paths(const measures *m)
{
    bool right = true;
    fprintf(m->out,
            "\nlongest path: layers (or steps of time) until the two ends see each other, by the support of "
            "gradients\n  %-22s %-8s",
            "layer", "theory");
    for (size_t i = 0; i < PATHS; i++) fprintf(m->out, "  n = %-5zu", path_rows[i]);
    fprintf(m->out, "\n");
    for (size_t l = 0; l < TABLE1_LAYERS; l++) {
        fprintf(m->out, "  %-22s %-8s", table1_layers[l].name, table1_layers[l].path);
        for (size_t i = 0; i < PATHS; i++) {
            const size_t want = table1_layers[l].layers(path_rows[i]);
            if (m->path[l][i] == want) fprintf(m->out, "  %-9zu", want);
            else fprintf(m->out, "  %zu, not %zu", m->path[l][i], want);
            right = right && m->path[l][i] == want;
        }
        fprintf(m->out, "\n");
    }
    return right;
}

/* Where two curves over n cross, between grid points on logarithms; 0: they do not. */
static double crossing(const double *n, const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const double here = log(a[i] / b[i]), next = log(a[i + 1] / b[i + 1]);
        if (here < 0 && next >= 0) return exp(log(n[i]) + here / (here - next) * log(n[i + 1] / n[i]));
    }
    return 0;
}

static void print_crossover(const measures *m)
{
    double self[MOST], recurrent[MOST];
    fprintf(m->out, "\nself-attention costs more than recurrence from about (theory: n = d)\n");
    for (size_t j = 0; j < m->ds; j++) {
        for (size_t i = 0; i < m->ns; i++) self[i] = m->operations[0][i][j], recurrent[i] = m->operations[2][i][j];
        const double at = crossing(m->n, self, recurrent, m->ns);
        if (at > 0) fprintf(m->out, "  n = %-6.0f by operations at d = %g\n", at, m->d[j]);
    }
    const double at = m->o->repeat ? crossing(m->n, m->seconds_n[0], m->seconds_n[2], m->ns) : 0;
    if (at > 0) fprintf(m->out, "  n = %-6.0f by time at d = %g\n", at, m->d[m->middle_d]);
    else if (m->o->repeat && m->seconds_n[0][0] < m->seconds_n[2][0])
        fprintf(m->out, "  never by time up to n = %g at d = %g\n", m->n[m->ns - 1], m->d[m->middle_d]);
}

/* ------------------------------------------------------------------------------------------------------- drawing */

static rg_status make_record(rg_record **out, const measures *m)
{
    static const char *const titles[] = { "Operations of one layer", "Longest chain of ops",
                                          "Layers until the ends see each other", "Time of one layer" };
    static const char *const units[] = { "operations", "ops", "layers", "seconds" };
    const size_t             sets = m->o->repeat ? 4 : 3;
    RG_TRY(rg_record_new(out, "Table 1, measured", "training"));
    for (size_t s = 0; s < sets; s++) {
        size_t set;
        RG_TRY(rg_record_add_curves(&set, *out, titles[s], "rows n", units[s], true, true));
        for (size_t l = 0; l < TABLE1_LAYERS; l++) {
            double x[MOST], y[MOST];
            size_t count = s == 2 ? PATHS : m->ns;
            for (size_t i = 0; i < count; i++) {
                x[i] = s == 2 ? (double)path_rows[i] : m->n[i];
                y[i] = s == 0   ? m->operations[l][i][m->middle_d]
                       : s == 1 ? m->depth[l][i]
                       : s == 2 ? (double)m->path[l][i]
                                : m->seconds_n[l][i];
            }
            const char *name = table1_layers[l].name;
            RG_TRY(rg_record_add_series(*out, set, name + strspn(name, " "), x, y, count));
        }
    }
    return RG_OK;
}

static rg_status draw(const rg_record *r, const char *prefix)
{
    static const char *const names[] = { "operations", "depth", "path", "seconds" };
    for (size_t s = 0; s < r->curve_sets; s++)
        for (int svg = 0; svg < 2; svg++) {
            rg_figure_options f = RG_FIGURE_OPTIONS_DEFAULT;
            f.style = RG_FIGURE_CURVES;
            f.curves = s;
            char     *path = rg_format("%s-%s.%s", prefix, names[s], svg ? "svg" : "png");
            rg_status status =
                path ? rg_figure_save(path, svg ? RG_FIGURE_SVG : RG_FIGURE_PNG, NULL, r, &f) : RG_ENOMEM;
            rg_free(path);
            RG_TRY(status);
        }
    return RG_OK;
}

static rg_status keep(const measures *m)
{
    rg_record *r = NULL;
    rg_status  status = make_record(&r, m);
    if (status == RG_OK && *m->o->output) status = rg_record_save(r, m->o->output);
    if (status == RG_OK && *m->o->figures) status = draw(r, m->o->figures);
    rg_record_free(r);
    return status;
}

/* "1,2,4" or 1 2 4. */
static rg_status by_heads(bool *holds, const measures *m)
{
    size_t heads[16], count = 0;
    for (size_t i = 0; i < m->o->heads.count; i++)
        for (const char *at = m->o->heads.items[i]; *at;) {
            char           *end;
            const long long n = strtoll(at, &end, 10);
            if (end == at || (*end && *end != ',') || n < 1 || n > 4096 || count == 16)
                return rg_fail(RG_EINVAL, "--heads %s: at most 16 numbers, such as 1,2,4,8", m->o->heads.items[i]);
            heads[count++] = (size_t)n;
            at = *end ? end + 1 : end;
        }
    return count ? table1_heads(holds, m->out, heads, count, (size_t)m->n[m->middle_n], (size_t)m->d[m->ds - 1],
                                m->o->repeat)
                 : RG_OK;
}

static rg_status run(bool *holds, const rg_lab *lab, const void *options)
{
    measures *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    const table1_options *o = m->o = options;
    m->out = lab->out;
    for (int64_t n = 32; n <= o->largest && m->ns < MOST; n *= 2) m->n[m->ns++] = (double)n;
    for (int64_t d = 32; d <= o->widest && m->ds < MOST; d *= 2) m->d[m->ds++] = (double)d;
    m->middle_n = m->ns > 2 ? m->ns - 3 : 0;
    m->middle_d = m->ds > 1 ? 1 : 0;
    rg_status status = measure(m);
    if (status == RG_OK) {
        bool right = print_operations(m);
        if (o->repeat) right = print_time(m) & right;
        right = print_depth(m) & right;
        right = print_paths(m) & right;
        print_crossover(m);
        bool alike = true;
        status = by_heads(&alike, m);
        right = right && alike;
        if (status != RG_OK) {
            rg_free(m);
            return status;
        }
        fprintf(m->out, "\n%s\n",
                right ? "operations within 0.1 of theory, depth and paths as predicted"
                      : "some figures are not what theory says");
        *holds = right;
        status = *o->output || *o->figures ? keep(m) : RG_OK;
    }
    rg_free(m);
    return status;
}

const rg_experiment rg_experiment_table1 = {
    .name = "table1",
    .summary = "operations, time, sequential operations and path lengths of layers, with fitted exponents",
    .source = "Vaswani et al. 2017, Attention Is All You Need, Table 1",
    .options = rows,
    .size = sizeof(table1_options),
    .run = run,
};
