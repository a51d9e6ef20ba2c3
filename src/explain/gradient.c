/* gradient.c - how fast log p changes with the rows that go in:
 *
 *     gradient         |ds/dx_j|_2                      saliency: Simonyan, Vedaldi, Zisserman 2014; Li et al. 2016
 *     input-gradient   x_j . ds/dx_j                    Shrikumar, Greenside, Kundaje 2017
 *     integrated       x_j . 1/K sum_k ds/dx_j at a_k x     a_k = (k - 1/2) / K, baseline 0: Sundararajan, Taly, Yan 2017
 *
 * The copies of a pass have one output each: everything else has no loss. Where there are more outputs than the options
 * have flops for, a copy has a group of neighbours, whose mean is what each of them gets. */
#include <math.h>
#include <string.h>

#include "explain/explaining.h"

/* ------------------------------------------------------------------------------------------------------------ passes */

/* A recorded pass over n copies whose inputs are `factor` times what they would be. */
typedef struct {
    double     factor;
    size_t     groups; /* of outputs */
    rg_tensor *in;   /* what went in instead; its gradient is asked for */
    rg_real   *x;    /* (rows, D) as it would have been                 */
    int32_t   *from; /* row i of the batch is row from[i] of x          */
    size_t     rows, D;
} entering;

static bool wants(void *context, const char *name)
{
    const entering *e = context;
    const size_t    n = strlen(name);
    return !e->in && n >= 6 && strcmp(name + n - 6, "inputs") == 0;
}

static rg_tensor *exchange(void *context, rg_tape *t, const char *name, rg_tensor *x, const void *about)
{
    entering      *e = context;
    const int32_t *row = about;
    (void)name;
    e->rows = rg_tensor_rows(x), e->D = rg_tensor_cols(x);
    rg_real *scaled = rg_tape_memory(t, (e->rows * e->D + 1) * sizeof *scaled);
    e->x = rg_tape_memory(t, (e->rows * e->D + 1) * sizeof *e->x);
    e->from = rg_tape_memory(t, (e->rows + 1) * sizeof *e->from);
    if (!scaled || !e->x || !e->from) return NULL;
    for (size_t i = 0; i < e->rows; i++) {
        const size_t of = row ? (size_t)row[i] : i;
        e->from[of] = (int32_t)i;
        memcpy(e->x + i * e->D, rg_tensor_row(x, i), e->D * sizeof *e->x);
    }
    for (size_t i = 0; i < e->rows * e->D; i++) scaled[i] = (rg_real)(e->factor * (double)e->x[i]);
    return e->in = rg_input(t, scaled, e->rows, e->D, rg_tensor_layout(x));
}

/* The outputs of group q are group_begin(q) .. group_begin(q + 1) - 1. */
static size_t group_begin(const rg_subject *s, size_t groups, size_t q) { return q * s->outputs / groups; }

/* ds_o/dlogits of the rows of copy k. */
static void add_output(rg_real *dy, const rg_subject *s, const rg_tensor *y, size_t k, size_t o)
{
    const size_t   C = rg_tensor_cols(y), row = k * s->answers + (s->row ? (size_t)s->row[o] : o);
    const rg_real *x = rg_tensor_row(y, row);
    rg_real       *d = dy + row * C;
    double         most = (double)x[0], sum = 0;
    if (s->bits) { /* d log p = y - sigmoid(x) */
        for (size_t c = 0; c < C; c++) d[c] += (rg_real)((s->bits[o * C + c] > 0) - 1 / (1 + exp(-(double)x[c])));
        return;
    }
    d[s->word[o]] += 1;
    if (s->against >= 0) { /* the softmax's sum is the same in both */
        d[s->against] -= 1;
        return;
    }
    for (size_t c = 1; c < C; c++) most = fmax(most, (double)x[c]);
    for (size_t c = 0; c < C; c++) sum += exp((double)x[c] - most);
    for (size_t c = 0; c < C; c++) d[c] -= (rg_real)(exp((double)x[c] - most) / sum);
}

/* ds/dlogits of the outputs that each copy has. */
static rg_status back_from_answers(rg_tape *t, const rg_subject *s, rg_tensor *y, size_t groups, size_t first, size_t n)
{
    RG_TRY(rg_tape_status(t));
    const size_t C = rg_tensor_cols(y), rows = rg_tensor_rows(y);
    rg_real     *dy = rg_alloc_zero((rows * C + 1) * sizeof *dy);
    if (!dy) return RG_ENOMEM;
    for (size_t k = 0; k < n; k++)
        for (size_t o = group_begin(s, groups, first + k); o < group_begin(s, groups, first + k + 1); o++)
            add_output(dy, s, y, k, o);
    const rg_status status = rg_tape_backward_from(t, y, dy);
    rg_free(dy);
    return status;
}

/* The target of n copies, of which copy k predicts the rows of the outputs of group first + k alone. Other rows have no loss: their id
 * is -1, or, where words can be copied from the source and -1 is no word of it, their weight is 0. */
typedef struct {
    int32_t *ids;
    rg_real *weights;
} alone;

static rg_status one_each(alone *out, const rg_subject *s, const rg_batch *b, size_t groups, size_t first, size_t n,
                          bool against)
{
    const rg_field *target = &b->field[s->target];
    const size_t    rows = rg_field_rows(target), each = rows / n;
    const bool      copying = b->field[RG_SOURCE].copies != NULL;
    out->ids = rg_alloc_array(rows + 1, sizeof *out->ids);
    out->weights = rg_alloc_zero((rows + 1) * sizeof *out->weights);
    if (!out->ids || !out->weights) return RG_ENOMEM;
    for (size_t i = 0; i < rows; i++) out->ids[i] = copying ? target->ids[i] : -1;
    for (size_t k = 0; k < n; k++)
        for (size_t o = group_begin(s, groups, first + k); o < group_begin(s, groups, first + k + 1); o++) {
            const size_t at = k * each + (s->row ? (size_t)s->row[o] : o);
            out->ids[at] = against ? s->against : target->ids[at];
            out->weights[at] = 1;
        }
    return RG_OK;
}

/* One pass, back to its inputs: g += sign ds/dx. */
static rg_status pass(rg_real *g, entering *e, rg_explaining *x, const void *batch, size_t first, size_t n, double sign,
                      bool against)
{
    const rg_subject  *s = x->subject;
    const rg_exchanger exchanger = { e, wants, exchange };
    alone              words = { 0 };
    rg_status          status = RG_OK;
    e->in = NULL;
    rg_tape_reset(x->recording, 0);
    rg_tape_set_exchanger(x->recording, &exchanger);
    if (s->writes) {
        rg_batch b = *(const rg_batch *)batch;
        status = one_each(&words, s, &b, e->groups, first, n, against);
        b.field[s->target].ids = words.ids;
        if (b.field[RG_SOURCE].copies) b.field[s->target].weights = words.weights;
        if (status == RG_OK)
            status = rg_tape_backward(x->recording, s->model->system->loss(x->recording, s->model, &b).sum);
        sign = -sign; /* a loss is -log p */
    } else {
        rg_tensor *y = rg_explaining__answers(x->recording, s, batch);
        status = back_from_answers(x->recording, s, y, e->groups, first, n);
    }
    rg_tape_set_exchanger(x->recording, NULL);
    if (status == RG_OK && !e->in)
        status = rg_fail(RG_EMATCH, "gradient: %s does not offer what goes in", s->model->system->name);
    const rg_real *d = status == RG_OK ? rg_tape_gradient(x->recording, e->in) : NULL;
    const size_t   ld = d ? rg_tensor_ld(e->in) : 0;
    for (size_t i = 0; d && i < e->rows; i++)
        for (size_t c = 0; c < e->D; c++)
            g[i * e->D + c] += (rg_real)(sign * (double)d[(size_t)e->from[i] * ld + c]);
    if (!x->recorded_bytes) x->recorded_bytes = rg_tape_get_cost(x->recording).bytes / n + 1;
    rg_free(words.ids);
    rg_free(words.weights);
    return status;
}

/* How wide the rows are is known after a pass: one without recording says so. */
static rg_status width_of(size_t *out, rg_explaining *x)
{
    const rg_subject  *s = x->subject;
    entering           e = { .factor = 1 };
    const rg_exchanger exchanger = { &e, wants, exchange };
    rg_tape_reset(x->tape, 0);
    rg_tape_set_exchanger(x->tape, &exchanger);
    if (s->writes) s->model->system->loss(x->tape, s->model, s->batch);
    else rg_explaining__answers(x->tape, s, s->batch);
    rg_tape_set_exchanger(x->tape, NULL);
    RG_TRY(rg_tape_status(x->tape));
    if (x->flops <= 0) x->flops = rg_tape_get_cost(x->tape).flops;
    if (!e.in) return rg_fail(RG_EMATCH, "gradient: %s does not offer what goes in", s->model->system->name);
    if (e.rows != s->rows) return rg_fail(RG_ESHAPE, "%zu rows go in, %zu have names", e.rows, s->rows);
    *out = e.D;
    return RG_OK;
}

/* What group q of outputs has, to each of them: a share. */
static void hand_out(const rg_subject *s, size_t groups, size_t q, const rg_real *in, rg_real *g, size_t D,
                     rg_see_gradient *see, void *context)
{
    const size_t begin = group_begin(s, groups, q), end = group_begin(s, groups, q + 1);
    for (size_t i = 0; end - begin > 1 && i < s->rows * D; i++) g[i] = (rg_real)((double)g[i] / (double)(end - begin));
    for (size_t o = begin; o < end; o++) see(context, o, in, g, D);
}

/* Groups first .. first+n-1. */
static rg_status some(rg_explaining *x, size_t steps, size_t groups, size_t first, size_t n, size_t D,
                      rg_see_gradient *see, void *context)
{
    const rg_subject *s = x->subject;
    const size_t      rows = s->rows * (s->copies ? n : 1);
    rg_copies         copies = { 0 };
    entering          e = { .factor = 1, .groups = groups };
    rg_real          *g = rg_alloc_zero((rows * D + 1) * sizeof *g), *in = rg_alloc_array(rows * D + 1, sizeof *in);
    rg_status         status = g && in ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && s->copies) status = rg_copies_make(&copies, s->batch, n, s->input, NULL);
    const void *batch = s->copies ? (const void *)&copies.batch : s->batch;
    for (size_t k = 0; status == RG_OK && k < steps; k++) {
        e.factor = steps == 1 ? 1 : ((double)k + 0.5) / (double)steps;
        status = pass(g, &e, x, batch, first, n, 1, false);
        for (size_t i = 0; status == RG_OK && i < rows; i++)
            memcpy(in + i * D, e.x + (size_t)e.from[i] * D, D * sizeof *in);
        if (status == RG_OK && s->writes && s->against >= 0) status = pass(g, &e, x, batch, first, n, -1, true);
    }
    for (size_t k = 0; status == RG_OK && k < n; k++)
        hand_out(s, groups, first + k, in + k * s->rows * D, g + k * s->rows * D, D, see, context);
    rg_copies_free(&copies);
    rg_free(g);
    rg_free(in);
    return status;
}

rg_status rg_explaining__gradients(rg_explaining *x, size_t steps, rg_see_gradient *see, void *context)
{
    const rg_subject *s = x->subject;
    size_t            D = 0;
    RG_TRY(width_of(&D, x));
    const bool   twice = s->writes && s->against >= 0;
    const size_t most = rg_explaining__passes(x, RG_GRADIENT_PASSES * (double)steps * (twice ? 2 : 1), 1);
    const size_t groups = s->outputs < most ? s->outputs : most;
    for (size_t q = 0; q < groups;) {
        size_t n = s->copies && x->recorded_bytes ? x->options->bytes / x->recorded_bytes : 1;
        if (n < 1) n = 1;
        if (n > groups - q) n = groups - q;
        RG_TRY(some(x, steps, groups, q, n, D, see, context));
        q += n;
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- methods */

typedef struct {
    rg_real          *out;
    const rg_subject *s;
    double            factor; /* of the sum of products; 0: norms */
    double           *sum;    /* of every input                   */
} reducing;

static void reduce(void *context, size_t output, const rg_real *x, const rg_real *g, size_t D)
{
    reducing    *r = context;
    const size_t n = r->s->inputs;
    memset(r->sum, 0, n * sizeof *r->sum);
    for (size_t i = 0; i < r->s->rows; i++) {
        const int32_t j = r->s->unit ? r->s->unit[i] : (int32_t)i;
        for (size_t d = 0; j >= 0 && d < D; d++)
            r->sum[j] += (double)g[i * D + d] * (double)(r->factor > 0 ? x[i * D + d] : g[i * D + d]);
    }
    for (size_t j = 0; j < n; j++)
        r->out[output * n + j] = (rg_real)(r->factor > 0 ? r->factor * r->sum[j] : sqrt(r->sum[j]));
}

static rg_status reduce_all(rg_real *out, rg_explaining *x, size_t steps, double factor)
{
    reducing r = { .out = out, .s = x->subject, .factor = factor };
    if (!(r.sum = rg_alloc_array(x->subject->inputs + 1, sizeof *r.sum))) return RG_ENOMEM;
    const rg_status status = rg_explaining__gradients(x, steps, reduce, &r);
    rg_free(r.sum);
    return status;
}

static rg_status gradient(rg_real *out, rg_explaining *x) { return reduce_all(out, x, 1, 0); }
static rg_status input_gradient(rg_real *out, rg_explaining *x) { return reduce_all(out, x, 1, 1); }
/* Fewer steps before all outputs would be more than one group, but not too few to add up. */
static rg_status integrated(rg_real *out, rg_explaining *x)
{
    enum { LEAST_STEPS = 8 };
    size_t       D, steps = x->options->steps > 1 ? x->options->steps : 2;
    RG_TRY(width_of(&D, x));
    const size_t most = rg_explaining__passes(x, RG_GRADIENT_PASSES, LEAST_STEPS);
    if (steps > most) steps = most;
    return reduce_all(out, x, steps, 1 / (double)steps);
}

const rg_method rg_method_gradient = {
    .name = "gradient",
    .formula = "|ds/dx_j|_2",
    .summary = "how fast log p changes with the input",
    .paper = "Simonyan, Vedaldi, Zisserman 2014; Li, Chen, Hovy, Jurafsky 2016",
    .contrasts = true,
    .explain = gradient,
};
const rg_method rg_method_input_gradient = {
    .name = "input-gradient",
    .formula = "x_j . ds/dx_j",
    .summary = "what the input adds to log p, to first order",
    .paper = "Shrikumar, Greenside, Kundaje 2017; Denil, Demiraj, de Freitas 2014",
    .contrasts = true,
    .explain = input_gradient,
};
const rg_method rg_method_integrated = {
    .name = "integrated",
    .formula = "x_j . mean_k ds/dx_j at (k - 1/2) / K x",
    .summary = "integrated gradients from zeros to the input; they sum to the difference of log p",
    .paper = "Sundararajan, Taly, Yan 2017",
    .contrasts = true,
    .explain = integrated,
};
