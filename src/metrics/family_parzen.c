/* family_parzen.c - `regard evaluate --type parzen SAMPLES TEST --valid VALID`: log-likelihood of test data under
 * samples of a generator. Every file holds rows of numbers or pictures of one size. */
#include <string.h>

#include "regard/metrics.h"
#include "regard/picture.h"

typedef struct {
    char   *valid;
    int64_t most;
} settings;

static const rg_option options[] = { { RG_OPTION_STRING, "valid", offsetof(settings, valid), "",
                                       "data on which the width of the window is chosen", 0, NULL, NULL },
                                     { RG_OPTION_INT, "most", offsetof(settings, most), "10000",
                                       "rows of each file at most; 0: all", 0, "[0,inf)", NULL },
                                     RG_OPTION_END };

typedef struct {
    rg_real *x;
    size_t   n, d;
} table;

static rg_status open(rg_examples **out, const char *path)
{
    rg_reader_config   r = RG_READER_CONFIG_DEFAULT;
    rg_examples_config c = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_field_spec      spec;
    c.shuffle = false;
    c.window = 0;
    RG_TRY(rg_vectors_spec(&spec, &r, path));
    RG_TRY(rg_examples_learn(NULL, &spec.width, &spec, path, &r));
    return rg_examples_open(out, &c, &spec, 1, path, &r);
}

static rg_status load(table *to, const char *path, size_t most)
{
    rg_examples *e = NULL;
    rg_status    status = open(&e, path);
    const size_t all = status == RG_OK ? (size_t)rg_examples_count(e) : 0, n = most && all > most ? most : all;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        rg_batch one;
        status = rg_examples_one(&one, e, i);
        if (status != RG_OK) break;
        const rg_field *f = &one.field[0];
        const size_t    d = rg_field_rows(f) * f->width;
        if (!to->x) {
            to->d = d;
            if (!(to->x = rg_alloc_array(n * d + 1, sizeof *to->x))) status = RG_ENOMEM;
        }
        if (status == RG_OK && d != to->d)
            status = rg_fail(RG_EFORMAT, "%s: example %zu has %zu numbers, those before it %zu", path, i + 1, d, to->d);
        if (status == RG_OK) memcpy(to->x + to->n++ * d, f->values, d * sizeof *to->x);
    }
    rg_examples_free(e);
    return status;
}

static rg_status check_widths(const table *t, const char *const *paths)
{
    for (size_t i = 1; i < 3; i++)
        if (t[i].d != t[0].d)
            return rg_fail(RG_EMATCH, "%s has %zu numbers per example, %s %zu", paths[0], t[0].d, paths[i], t[i].d);
    return RG_OK;
}

static rg_status judge(const rg_judging *j)
{
    const settings *s = j->options;
    table           t[3] = { { 0 }, { 0 }, { 0 } };
    rg_parzen       p;
    if (j->gold_count != 2 || !s->valid[0])
        return rg_fail(RG_EINVAL,
                       "parzen compares samples with data: regard evaluate --type parzen SAMPLES TEST --valid VALID");
    const char *const paths[3] = { j->gold[0], j->gold[1], s->valid };
    rg_status         status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < 3; i++) status = load(&t[i], paths[i], (size_t)s->most);
    if (status == RG_OK) status = check_widths(t, paths);
    if (status == RG_OK) status = rg_parzen_measure(&p, t[0].x, t[0].n, t[1].x, t[1].n, t[2].x, t[2].n, t[0].d);
    if (status == RG_OK)
        status =
            rg_text_print(j->out,
                          j->json ? "{\"parzen\":%.*f,\"error\":%.*f,\"sigma\":%.6g,\"samples\":%zu,\"examples\":%zu}\n"
                                  : "log-likelihood %.*f +- %.*f nats (sigma %.4g, %zu samples, %zu examples)\n",
                          j->digits, p.mean, j->digits, p.error, p.sigma, t[0].n, t[1].n);
    for (size_t i = 0; i < 3; i++) rg_free(t[i].x);
    return status;
}

const rg_metric_family rg_metric_family_parzen = {
    .name = "parzen",
    .summary = "log-likelihood of data under a Parzen window around samples",
    .details = "regard evaluate --type parzen SAMPLES TEST --valid VALID: each a table of numbers or pictures of one "
               "size (a folder, an archive, idx). The "
               "width of the window is chosen on VALID; the mean over TEST and its standard error are in nats, pixels "
               "in 0 .. 1.",
    .options = options,
    .options_bytes = sizeof(settings),
    .judge = judge,
};
