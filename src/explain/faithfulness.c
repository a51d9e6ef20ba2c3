/* faithfulness.c - does a map say what the answer rests on? Its order against that of occlusion, and what happens
 * without the inputs it points at (Jain, Wallace 2019; DeYoung et al. 2020: comprehensiveness). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explaining.h"

enum { DRAWS = 20,
       MOST_OUTPUTS = 64,
       LEAST = 4 }; /* of either, however expensive */

/* Rank of every number, from 1; equal ones have the mean of theirs. */
typedef struct {
    double value;
    size_t at;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at; /* of equals the first */
}

static bool ranks(double *out, const double *x, size_t n)
{
    ranked *r = rg_alloc_array(n + 1, sizeof *r);
    if (!r) return false;
    for (size_t i = 0; i < n; i++) r[i] = (ranked){ x[i], i };
    qsort(r, n, sizeof *r, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].value == r[i].value;) end++;
        for (size_t k = i; k < end; k++) out[r[k].at] = (double)(i + end + 1) / 2;
    }
    rg_free(r);
    return true;
}

double rg_rank_correlation(const double *x, const double *y, size_t n)
{
    double *a = rg_alloc_array(2 * n + 1, sizeof *a), *b = a ? a + n : NULL;
    double  mean = (double)(n + 1) / 2, xy = 0, xx = 0, yy = 0;
    if (a && ranks(a, x, n) && ranks(b, y, n))
        for (size_t i = 0; i < n; i++) {
            xy += (a[i] - mean) * (b[i] - mean);
            xx += (a[i] - mean) * (a[i] - mean);
            yy += (b[i] - mean) * (b[i] - mean);
        }
    rg_free(a);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* ------------------------------------------------------------------------------------------------------------- of maps */

/* How many inputs an output can depend on. */
static size_t seen_by(const rg_subject *s, size_t o)
{
    return s->causal && s->seat ? (size_t)s->seat[o] + 1 : s->inputs;
}

static size_t fifth(size_t n)
{
    const size_t k = (n + 2) / 5;
    return k ? k : 1;
}

/* Mark the k largest of n; of equals the first. */
static bool mark_top(unsigned char *gone, const rg_real *w, size_t n, size_t k)
{
    ranked *r = rg_alloc_array(n + 1, sizeof *r);
    if (!r) return false;
    for (size_t i = 0; i < n; i++) r[i] = (ranked){ -(double)w[i], i };
    qsort(r, n, sizeof *r, by_value);
    for (size_t i = 0; i < k; i++) gone[r[i].at] = 1;
    rg_free(r);
    return true;
}

static bool mark_random(unsigned char *gone, rg_random *random, size_t n, size_t k)
{
    for (size_t left = k; left;) {
        const size_t j = (size_t)rg_random_below(random, n);
        left -= !gone[j];
        gone[j] = 1;
    }
    return true;
}

/* Outputs that are measured: all, or so many spread evenly. */
static size_t chosen(const rg_explaining *x, size_t *out)
{
    const rg_subject *s = x->subject;
    const size_t      passes = rg_explaining__passes(x, 2, LEAST);
    const size_t      all = s->outputs < MOST_OUTPUTS ? s->outputs : MOST_OUTPUTS;
    const size_t      most = all < passes ? all : passes;
    size_t            n = 0;
    for (size_t i = 0; i < most; i++) {
        const size_t o = i * s->outputs / most;
        if (seen_by(s, o) >= 3) out[n++] = o;
    }
    return n;
}

/* Variants: for each chosen output the top ones of its row; then random ones, of each output where they differ. */
static rg_status drops_of(rg_faithfulness *f, rg_explaining *x, const rg_real *map, const size_t *output, size_t count)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->inputs, O = s->outputs, passes = rg_explaining__passes(x, 2, LEAST);
    const size_t      draws = s->causal ? count : DRAWS < passes ? DRAWS : passes;
    const size_t      variants = count + (x->random ? 0 : draws); /* the same ones of every map are scored once */
    unsigned char    *gone = rg_alloc_zero(variants * n + 1);
    double           *score = rg_alloc_array(variants * O + 1, sizeof *score), top = 0, random = 0;
    rg_random         numbers = rg_random_new(1, 24);
    bool              room = gone && score;
    for (size_t i = 0; room && i < count; i++) {
        const size_t seen = seen_by(s, output[i]);
        room = mark_top(gone + i * n, map + output[i] * n, seen, fifth(seen));
    }
    for (size_t i = 0; room && i < variants - count; i++) {
        const size_t seen = s->causal ? seen_by(s, output[i]) : n;
        mark_random(gone + (count + i) * n, &numbers, seen, fifth(seen));
    }
    rg_status status = room ? rg_explaining_score(score, x, gone, variants, RG_CHANGE_OCCLUDE) : RG_ENOMEM;
    if (status == RG_OK && !s->causal && !x->random) {
        if ((x->random = rg_alloc_array(draws * O + 1, sizeof *x->random)))
            memcpy(x->random, score + count * O, draws * O * sizeof *x->random);
        else status = RG_ENOMEM;
    }
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const size_t o = output[i];
        top += x->base[o] - score[i * O + o];
        for (size_t d = 0; d < (s->causal ? 1 : draws); d++)
            random += s->causal ? x->base[o] - score[(count + i) * O + o]
                                : (x->base[o] - x->random[d * O + o]) / (double)draws;
    }
    f->k = fifth(n);
    f->drop = (float)(top / (double)count);
    f->random = (float)(random / (double)count);
    rg_free(gone);
    rg_free(score);
    return status;
}

rg_status rg_explaining_faithfulness(rg_faithfulness *out, rg_explaining *x, const rg_real *map, bool drop)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->inputs;
    const double     *drops;
    *out = (rg_faithfulness){ 0 };
    RG_TRY(rg_explaining__occlusion(&drops, x));
    size_t       output[MOST_OUTPUTS];
    double      *row = rg_alloc_array(n + 1, sizeof *row), sum = 0;
    rg_status    status = row ? RG_OK : RG_ENOMEM;
    const size_t count = chosen(x, output);
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        for (size_t j = 0; j < n; j++) row[j] = (double)map[output[i] * n + j];
        sum += rg_rank_correlation(row, drops + output[i] * n, seen_by(s, output[i]));
    }
    if (status == RG_OK && count && drop) status = drops_of(out, x, map, output, count);
    if (status == RG_OK && count) {
        out->rank = (float)(sum / (double)count);
        out->measured = true;
    }
    rg_free(row);
    return status;
}
