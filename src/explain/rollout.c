/* rollout.c - what was looked at, from the maps of a record:
 *
 *     attention   C = mean of the heads of the last layer whose rows are outputs and whose columns are inputs; where no
 *                 map is, A of the last layer: its row of the output's place, or the mean of its rows
 *     rollout     C R_L        R_l = (A_l + I) / 2 R_{l-1}     R_0 = I     (Abnar, Zuidema 2020)
 *
 * A_l is the mean of the heads of layer l that look from inputs at inputs. */
#include <string.h>

#include "explain/explaining.h"

enum { MOST_INPUTS = 4096 }; /* of rollout: three matrices of so many rows and columns */

/* Maps that belong together: a name, and which lists they stand between. */
typedef struct {
    size_t rows, cols;
    int    hypothesis;
} between;

static bool matches(const rg_record_map *m, between b)
{
    return m->row_labels == b.rows && m->col_labels == b.cols &&
           (m->hypothesis < 0 || b.hypothesis < 0 || m->hypothesis == b.hypothesis) &&
           !(m->head < 0 && rg_method_find(m->name)); /* what was explained is nothing to look with */
}

/* Largest layer of such maps after a name that is not "alignment" where there are others; -2: none. */
static int last_layer(const rg_record *r, between b)
{
    int last = -2;
    for (size_t i = 0; i < r->maps; i++)
        if (matches(&r->map[i], b) && r->map[i].layer > last) last = r->map[i].layer;
    return last;
}

/* The mean of the heads of one layer into out (rows, cols). False: there is none. */
static rg_status mean_of(bool *out_there, double *out, const rg_record *r, between b, int layer)
{
    const size_t n = r->labels[b.rows].count * r->labels[b.cols].count;
    size_t       heads = 0;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < r->maps; i++) {
        float *w;
        if (!matches(&r->map[i], b) || r->map[i].layer != layer) continue;
        RG_TRY(rg_map_dense(&w, &r->map[i], RG_RECORD_MAX_WEIGHTS));
        for (size_t k = 0; k < n; k++) out[k] += (double)w[k];
        rg_free(w);
        heads++;
    }
    for (size_t k = 0; heads && k < n; k++) out[k] /= (double)heads;
    *out_there = heads > 0;
    return RG_OK;
}

static rg_status nothing(const rg_subject *s)
{
    return rg_fail(RG_EMATCH, "attention: %s does not look at what goes in, or shows nobody", s->model->system->name);
}

/* Rows of outputs from a matrix over inputs. */
static void seats(double *out, const rg_subject *s, const double *a)
{
    const size_t n = s->inputs;
    memset(out, 0, s->outputs * n * sizeof *out);
    for (size_t o = 0; o < s->outputs; o++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                if (!s->seat) out[o * n + j] += a[i * n + j] / (double)n;
                else if ((size_t)s->seat[o] == i) out[o * n + j] = a[i * n + j];
            }
}

/* C, and whether it came from maps of outputs. */
static rg_status look(double *out, bool *out_crosses, const rg_explaining *x)
{
    const rg_subject *s = x->subject;
    const rg_record  *r = x->record;
    const between     cross = { s->row_labels, s->col_labels, s->hypothesis },
                  self = { s->col_labels, s->col_labels, s->hypothesis };
    bool there = false;
    *out_crosses = false;
    if (!r) return nothing(s);
    if (cross.rows != cross.cols) {
        const int layer = last_layer(r, cross);
        if (layer > -2) RG_TRY(mean_of(&there, out, r, cross, layer));
        if ((*out_crosses = there)) return RG_OK;
    }
    const int layer = last_layer(r, self);
    if (layer < -1) return nothing(s);
    double *a = rg_alloc_array(s->inputs * s->inputs + 1, sizeof *a);
    if (!a) return RG_ENOMEM;
    const rg_status status = mean_of(&there, a, r, self, layer);
    if (status == RG_OK) seats(out, s, a);
    rg_free(a);
    return status;
}

/* to = (A + I) / 2 from; all (n, n). */
static void roll(double *to, const double *a, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) to[i * n + j] = from[i * n + j] / 2;
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; a[i * n + k] != 0 && j < n; j++)
                to[i * n + j] += a[i * n + k] * from[k * n + j] / 2;
    }
}

/* R_L, or of no layers I. */
static rg_status roll_layers(double *R, const rg_explaining *x)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->inputs;
    const between     self = { s->col_labels, s->col_labels, s->hypothesis };
    const int         last = last_layer(x->record, self);
    double           *a = rg_alloc_array(2 * n * n + 1, sizeof *a), *next = a ? a + n * n : NULL;
    bool              there = false;
    rg_status         status = a ? RG_OK : RG_ENOMEM;
    memset(R, 0, n * n * sizeof *R);
    for (size_t i = 0; i < n; i++) R[i * n + i] = 1;
    for (int l = last < 0 ? last : 0; status == RG_OK && l <= last; l++) {
        if ((status = mean_of(&there, a, x->record, self, l)) != RG_OK || !there) continue;
        roll(next, a, R, n);
        memcpy(R, next, n * n * sizeof *R);
    }
    rg_free(a);
    return status;
}

static void give(rg_real *out, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = (rg_real)from[i];
}

static rg_status attention(rg_real *out, rg_explaining *x)
{
    const size_t n = x->subject->outputs * x->subject->inputs;
    double      *c = rg_alloc_array(n + 1, sizeof *c);
    bool         crosses;
    rg_status    status = c ? look(c, &crosses, x) : RG_ENOMEM;
    if (status == RG_OK) give(out, c, n);
    rg_free(c);
    return status;
}

static rg_status rollout(rg_real *out, rg_explaining *x)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->inputs;
    bool              crosses = false;
    if (n > MOST_INPUTS)
        return rg_fail(RG_ELIMIT, "rollout: %zu inputs; matrices of at most %d are multiplied", n, (int)MOST_INPUTS);
    double *c = rg_alloc_array(s->outputs * n + 1, sizeof *c), *R = rg_alloc_array(n * n + 1, sizeof *R),
           *all = rg_alloc_zero((s->outputs * n + 1) * sizeof *all);
    rg_status status = c && R && all ? look(c, &crosses, x) : RG_ENOMEM;
    if (status == RG_OK) status = roll_layers(R, x);
    if (status == RG_OK && !crosses) seats(all, s, R);
    for (size_t o = 0; status == RG_OK && crosses && o < s->outputs; o++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) all[o * n + j] += c[o * n + k] * R[k * n + j];
    if (status == RG_OK) give(out, all, s->outputs * n);
    rg_free(c);
    rg_free(R);
    rg_free(all);
    return status;
}

const rg_method rg_method_attention = {
    .name = "attention",
    .formula = "mean over heads of a_oj, last layer",
    .summary = "what the output looked at",
    .paper = "Bahdanau, Cho, Bengio 2015",
    .attends = true,
    .explain = attention,
};
const rg_method rg_method_rollout = {
    .name = "rollout",
    .formula = "C prod_l (A_l + I) / 2",
    .summary = "what the output looked at through all layers",
    .paper = "Abnar, Zuidema 2020",
    .attends = true,
    .explain = rollout,
};
