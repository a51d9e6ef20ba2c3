/* rank.c - what to label next: the examples of which a model is least sure (regard/probe.h).
 *
 *   margin        p of the likeliest class minus p of the next             small first
 *   entropy       - sum p log p                                            large first
 *   adversarial   the length of r, along the direction of rg_perturb (l2), at which the answer changes     small first */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regard/ops.h"
#include "tasks/probe.h"

enum { DOUBLINGS = 12, HALVINGS = 10 };

typedef struct {
    rg_ranked *data;
    size_t     count;
} ranking;

static double margin(const rg_tensor *y, size_t row, double best)
{
    const rg_real *x = rg_tensor_row(y, row);
    const int32_t  top = rg_probe__best(NULL, y, row);
    double         second = 0;
    for (size_t c = 0; c < rg_tensor_cols(y); c++)
        if ((int32_t)c != top) second = fmax(second, best * exp((double)(x[c] - x[top])));
    return best - second;
}

static double entropy(const rg_tensor *y, size_t row, double best)
{
    const rg_real *x = rg_tensor_row(y, row);
    const int32_t  top = rg_probe__best(NULL, y, row);
    double         sum = 0;
    for (size_t c = 0; c < rg_tensor_cols(y); c++) {
        const double p = best * exp((double)(x[c] - x[top]));
        if (p > 0) sum -= p * log(p);
    }
    return sum;
}

/* ------------------------------------------------------------------------------------------------------ adversarial */

/* Answers at rows + length_i d_i, every example with a length of its own. */
static bool answers_at(int32_t *said, rg_tape *t, const rg_pass *p, const rg_tensor *d, const double *length)
{
    const rg_layout *l = rg_tensor_layout(p->rows);
    const size_t     N = rg_tensor_rows(p->rows), D = rg_tensor_cols(p->rows);
    rg_tape_point   *point = rg_tape_mark(t);
    rg_real         *x = point ? rg_tape_memory(t, (N * D + 1) * sizeof *x) : NULL;
    for (size_t g = 0; x && l && g < l->groups; g++)
        for (size_t k = (size_t)l->start[g] * D; k < (size_t)l->start[g + 1] * D; k++)
            x[k] = rg_tensor_at(p->rows, k / D, k % D) + (rg_real)length[g] * rg_tensor_at(d, k / D, k % D);
    const rg_tensor *y = x ? rg_pass_again(t, p, rg_constant(t, x, N, D, l)) : NULL;
    for (size_t i = 0; y && i < rg_tensor_rows(y); i++) said[i] = rg_probe__best(NULL, y, i);
    rg_tape_rewind(t, point);
    return y != NULL;
}

/* Double until the answer changes, then halve the interval. */
static rg_status distances(double *high, rg_tape *t, const rg_pass *p, size_t n)
{
    const rg_perturb_config c = { .ball = RG_BALL_L2, .epsilon = 1, .steps = 1, .towards = RG_TOWARDS_ANSWER };
    const rg_tensor        *d = rg_perturb(t, p, &c);
    int32_t                *said = rg_alloc_zero((n + 1) * sizeof *said);
    double                 *low = rg_alloc_zero((n + 1) * sizeof *low), *at = rg_alloc_zero((n + 1) * sizeof *at);
    bool                    fine = said && low && at && d;
    for (size_t i = 0; fine && i < n; i++) at[i] = 1.0 / 64, high[i] = INFINITY;
    for (size_t k = 0; fine && k < DOUBLINGS + HALVINGS; k++) {
        fine = answers_at(said, t, p, d, at);
        for (size_t i = 0; fine && i < n; i++) {
            const bool changed = said[i] != rg_probe__best(NULL, p->logits, i);
            if (changed) high[i] = at[i];
            else low[i] = at[i];
            at[i] = isinf(high[i]) ? 2 * at[i] : 0.5 * (low[i] + high[i]);
        }
    }
    for (size_t i = 0; fine && i < n; i++)
        if (isinf(high[i])) high[i] = at[i]; /* at least so far */
    rg_free(said);
    rg_free(low);
    rg_free(at);
    RG_TRY(rg_tape_status(t));
    return fine ? RG_OK : RG_ENOMEM;
}

/* ---------------------------------------------------------------------------------------------------------- ranking */

static rg_status add_batch(ranking *r, rg_tape *t, const rg_model *m, const rg_batch *b, rg_rank_by by)
{
    rg_tape_reset(t, 0);
    const rg_pass p = rg_pass_run(t, m, b, false);
    RG_TRY(rg_tape_status(t));
    if (rg_tensor_rows(p.logits) != b->examples)
        return rg_fail(RG_EMATCH, "a %s answers for every word: texts cannot be ranked by it", m->system->name);
    double     *length = rg_alloc_zero((b->examples + 1) * sizeof *length);
    rg_ranked  *data = rg_realloc(r->data, (r->count + b->examples) * sizeof *data);
    rg_status   status = length && data ? RG_OK : RG_ENOMEM;
    if (data) r->data = data;
    if (status == RG_OK && by == RG_RANK_ADVERSARIAL) status = distances(length, t, &p, b->examples);
    for (size_t i = 0; status == RG_OK && i < b->examples; i++) {
        rg_ranked *one = &r->data[r->count++];
        *one = (rg_ranked){ .line = b->lines[i] };
        one->answer = rg_probe__best(&one->confidence, p.logits, i);
        one->score = by == RG_RANK_MARGIN    ? margin(p.logits, i, one->confidence)
                     : by == RG_RANK_ENTROPY ? entropy(p.logits, i, one->confidence)
                                             : length[i];
    }
    rg_free(length);
    return status;
}

static int by_score(const void *x, const void *y)
{
    const rg_ranked *a = x, *b = y;
    return a->score < b->score ? -1 : a->score > b->score ? 1 : (a->line > b->line) - (a->line < b->line);
}

static int by_falling_score(const void *x, const void *y)
{
    const rg_ranked *a = x, *b = y;
    return a->score > b->score ? -1 : a->score < b->score ? 1 : (a->line > b->line) - (a->line < b->line);
}

rg_status rg_rank(rg_ranked **out, size_t *out_count, const rg_model *m, const rg_set_options *sets, rg_rank_by by,
                  int threads)
{
    ranking   r = { 0 };
    rg_probe  p;
    bool      more = true;
    *out = NULL;
    *out_count = 0;
    rg_status status = rg_probe__init(&p, m, sets, threads, 1);
    while (status == RG_OK && more) {
        rg_batch b;
        status = rg_examples_next_in_epoch(&more, &b, p.examples);
        if (status == RG_OK && more) status = add_batch(&r, p.tape, m, &b, by);
    }
    rg_probe__fini(&p);
    if (status == RG_OK && r.count)
        qsort(r.data, r.count, sizeof *r.data, by == RG_RANK_ENTROPY ? by_falling_score : by_score);
    if (status != RG_OK) rg_free(r.data);
    else *out = r.data, *out_count = r.count;
    return status;
}
