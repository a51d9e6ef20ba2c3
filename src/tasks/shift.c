/* shift.c - do two sets look alike to a model? Its features are frozen; a logistic regression learns to tell the
 * sets apart on one half of each and is tested on the other. See regard/probe.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/probe.h"

enum { ROUNDS = 300 };

typedef struct {
    double  *x;      /* (n, F) features, one row after another */
    int32_t *answer; /* of each row                            */
    size_t   n, F;
} features;

static void free_features(features *f)
{
    rg_free(f->x);
    rg_free(f->answer);
}

static rg_status grow(features *f, size_t rows, size_t F)
{
    double  *x = rg_realloc(f->x, (f->n + rows) * F * sizeof *x + 1);
    if (x) f->x = x;
    int32_t *answer = x ? rg_realloc(f->answer, (f->n + rows) * sizeof *answer + 1) : NULL;
    if (answer) f->answer = answer;
    f->F = F;
    return x && answer ? RG_OK : RG_ENOMEM;
}

static rg_status collect(features *f, const rg_model *m, const rg_set_options *sets, size_t most, int threads,
                         uint64_t seed)
{
    rg_probe  p;
    bool      more = true;
    rg_status status = rg_probe__init(&p, m, sets, threads, seed);
    if (status == RG_OK) rg_tape_record(p.tape, false);
    while (status == RG_OK && more && (!most || f->n < most)) {
        rg_batch b;
        status = rg_examples_next_in_epoch(&more, &b, p.examples);
        if (status != RG_OK || !more) break;
        rg_tape_reset(p.tape, 0);
        const rg_pass pass = rg_pass_run(p.tape, m, &b, false);
        status = rg_tape_status(p.tape);
        const size_t N = rg_tensor_rows(pass.features), F = rg_tensor_cols(pass.features);
        if (status == RG_OK) status = grow(f, N, F);
        for (size_t i = 0; status == RG_OK && i < N; i++, f->n++) {
            for (size_t j = 0; j < F; j++) f->x[f->n * F + j] = (double)rg_tensor_at(pass.features, i, j);
            f->answer[f->n] = rg_probe__best(NULL, pass.logits, i);
        }
    }
    rg_probe__fini(&p);
    if (status == RG_OK && f->n < 4)
        status = rg_fail(RG_EFORMAT, "%s: %zu examples are too few to compare", sets->train.items[0], f->n);
    return status;
}

/* ----------------------------------------------------------------------------------------------- telling them apart */

static void standardize(features *a, features *b)
{
    const size_t F = a->F;
    for (size_t j = 0; j < F; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < a->n + b->n; i++) {
            const double v = i < a->n ? a->x[i * F + j] : b->x[(i - a->n) * F + j];
            sum += v;
            squares += v * v;
        }
        const double n = (double)(a->n + b->n), mean = sum / n, deviation = sqrt(fmax(0, squares / n - mean * mean));
        for (size_t i = 0; i < a->n + b->n; i++) {
            double *v = i < a->n ? &a->x[i * F + j] : &b->x[(i - a->n) * F + j];
            *v = deviation > 1e-12 ? (*v - mean) / deviation : 0;
        }
    }
}

static double score(const double *w, const double *x, size_t F)
{
    double s = w[F];
    for (size_t j = 0; j < F; j++) s += w[j] * x[j];
    return s;
}

/* Rows of one parity learn: sets count equally. Gradient descent with momentum and a little weight decay. */
static void learn(double *w, double *v, double *g, const features *a, const features *b, size_t parity)
{
    const size_t F = a->F;
    for (size_t round = 0; round < ROUNDS; round++) {
        memset(g, 0, (F + 1) * sizeof *g);
        for (size_t set = 0; set < 2; set++) {
            const features *f = set ? b : a;
            const double    each = 2 / (double)f->n;
            for (size_t i = parity; i < f->n; i += 2) {
                const double error = (1 / (1 + exp(-score(w, f->x + i * F, F))) - (double)set) * each * 0.5;
                for (size_t j = 0; j < F; j++) g[j] += error * f->x[i * F + j];
                g[F] += error;
            }
        }
        for (size_t j = 0; j <= F; j++) {
            v[j] = 0.9 * v[j] - 0.5 / sqrt((double)F + 1) * (g[j] + 1e-4 * w[j]);
            w[j] += v[j];
        }
    }
}

static double error_of(const double *w, const features *a, const features *b, size_t parity)
{
    double error = 0;
    for (size_t set = 0; set < 2; set++) {
        const features *f = set ? b : a;
        size_t          wrong = 0, asked = 0;
        for (size_t i = parity; i < f->n; i += 2, asked++) wrong += (score(w, f->x + i * f->F, f->F) > 0) != (set == 1);
        error += asked ? 0.5 * (double)wrong / (double)asked : 0.25;
    }
    return error;
}

static rg_status tell_apart(double *out, const features *a, const features *b)
{
    const size_t F = a->F;
    double      *w = rg_alloc_zero(3 * (F + 1) * sizeof *w);
    *out = 0;
    if (!w) return RG_ENOMEM;
    for (size_t parity = 0; parity < 2; parity++) { /* both halves learn once and are tested once */
        memset(w, 0, 3 * (F + 1) * sizeof *w);
        learn(w, w + F + 1, w + 2 * (F + 1), a, b, parity);
        *out += 0.5 * error_of(w, a, b, 1 - parity);
    }
    rg_free(w);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- classes */

/* Features are standardised: the distance of two means is one in deviations, per root of their number. */
static void move_of(rg_shift_class *c, const features *a, const features *b)
{
    const size_t F = a->F;
    size_t       n[2] = { 0, 0 };
    double       squares = 0;
    for (size_t i = 0; i < a->n; i++) n[0] += a->answer[i] == c->id;
    for (size_t i = 0; i < b->n; i++) n[1] += b->answer[i] == c->id;
    c->first = (double)n[0] / (double)a->n;
    c->second = (double)n[1] / (double)b->n;
    for (size_t j = 0; n[0] && n[1] && j < F; j++) {
        double mean[2] = { 0, 0 };
        for (size_t i = 0; i < a->n; i++) mean[0] += a->answer[i] == c->id ? a->x[i * F + j] : 0;
        for (size_t i = 0; i < b->n; i++) mean[1] += b->answer[i] == c->id ? b->x[i * F + j] : 0;
        const double d = mean[0] / (double)n[0] - mean[1] / (double)n[1];
        squares += d * d;
    }
    c->distance = sqrt(squares / (double)(F ? F : 1));
}

static int further(const void *x, const void *y)
{
    const rg_shift_class *a = x, *b = y;
    const double          da = fabs(a->first - a->second) + a->distance, db = fabs(b->first - b->second) + b->distance;
    return da > db ? -1 : da < db ? 1 : (a->id > b->id) - (a->id < b->id);
}

rg_status rg_shift_measure(rg_shift_report *out, const rg_model *m, const rg_set_options *first,
                           const rg_set_options *second, size_t most, int threads, uint64_t seed)
{
    const rg_names *names = m->system->task->classes ? m->system->task->classes(m) : NULL;
    features        a = { 0 }, b = { 0 };
    *out = (rg_shift_report){ 0 };
    rg_status status = collect(&a, m, first, most, threads, seed);
    if (status == RG_OK) status = collect(&b, m, second, most, threads, seed);
    if (status == RG_OK && a.F != b.F)
        status = rg_fail(RG_ESHAPE, "the features of the first set are %zu wide, those of the second %zu", a.F, b.F);
    if (status == RG_OK) {
        standardize(&a, &b);
        status = tell_apart(&out->error, &a, &b);
        out->distance = 2 * (1 - 2 * fmin(0.5, out->error));
        out->first = a.n;
        out->second = b.n;
    }
    if (status == RG_OK && names && (out->classes = rg_alloc_zero(rg_names_count(names) * sizeof *out->classes + 1)))
        out->count = rg_names_count(names);
    for (size_t c = 0; c < out->count; c++) {
        out->classes[c].id = (int32_t)c;
        move_of(&out->classes[c], &a, &b);
    }
    if (out->count) qsort(out->classes, out->count, sizeof *out->classes, further);
    free_features(&a);
    free_features(&b);
    return status;
}
