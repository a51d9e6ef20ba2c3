/* explaining.c - s of every output when inputs are changed: copies of the example in a batch, each with a change.
 *
 *     variants   . x . .        copies of the example, in which x is
 *                . . x .          left out       rows of the field are not there
 *                . . . x          blanked        other rows go in where "inputs" are offered
 *                                 zeroed         where "values" of attentions over inputs are
 *
 * How many copies share a pass follows from the memory that the first, alone, took. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain/explaining.h"

rg_status rg_explaining_new(rg_explaining **out, const rg_subject *subject, const rg_explain_options *options,
                            const rg_record *record)
{
    const rg_tape_config plain = { .team = options->team }, recording = { .record = true, .team = options->team };
    *out = NULL;
    rg_explaining *x = rg_alloc_zero(sizeof *x);
    if (!x) return RG_ENOMEM;
    x->subject = subject;
    x->options = options;
    x->record = record;
    rg_status status = rg_tape_new(&x->tape, &plain);
    if (status == RG_OK) status = rg_tape_new(&x->recording, &recording);
    if (status != RG_OK) rg_explaining_free(x);
    else *out = x;
    return status;
}

void rg_explaining_free(rg_explaining *x)
{
    if (!x) return;
    rg_tape_free(x->tape);
    rg_tape_free(x->recording);
    rg_free(x->drops);
    rg_free(x->base);
    rg_free(x->random);
    rg_free(x);
}

/* ---------------------------------------------------------------------------------------------------------- changes */

/* What a pass over n copies exchanges, and where. */
typedef struct {
    const rg_subject    *s;
    rg_change            change;
    size_t               n;
    const unsigned char *gone;  /* (n, inputs)                            */
    const unsigned char *blank; /* of every row of all copies; NULL: none */
    size_t               seen;  /* offers that were taken                 */
} changing;

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0 && (n == k || name[n - k - 1] == '.');
}

/* Is this attention's "values" over the inputs? Its uses speak of "weights". */
static bool over_inputs(const rg_subject *s, const char *name)
{
    char         weights[512];
    const size_t stem = strlen(name) - strlen("values");
    if (!s->keys || stem + sizeof "weights" > sizeof weights) return false;
    snprintf(weights, sizeof weights, "%.*sweights", (int)stem, name);
    const rg_attention_use *use = rg_attention_use_find(s->model->system->uses, weights);
    return use && use->cols && strcmp(use->cols, s->keys) == 0;
}

static bool wants(void *context, const char *name)
{
    const changing *c = context;
    if (c->change == RG_CHANGE_OCCLUDE) return c->blank && ends_in(name, "inputs");
    return ends_in(name, "values") && over_inputs(c->s, name);
}

/* Row `of` of the example: part of which input, -1: none. */
static int32_t unit_of(const rg_subject *s, size_t row) { return s->unit ? s->unit[row] : (int32_t)row; }

static rg_tensor *blanked(changing *c, rg_tape *t, rg_tensor *x, const int32_t *about)
{
    const size_t rows = rg_tensor_rows(x), D = rg_tensor_cols(x), each = rows / c->n;
    rg_real     *data = rg_tape_memory(t, (rows * D + 1) * sizeof *data),
            *mean = rg_tape_memory(t, (D + 1) * sizeof *mean);
    if (!data || !mean) return NULL;
    memset(mean, 0, D * sizeof *mean);
    for (size_t i = 0; c->s->mean && i < each; i++)
        for (size_t d = 0; d < D; d++) mean[d] += rg_tensor_at(x, i, d) / (rg_real)each;
    for (size_t i = 0; i < rows; i++)
        memcpy(data + i * D, c->blank[about ? (size_t)about[i] : i] ? mean : rg_tensor_row(x, i), D * sizeof *data);
    c->seen++;
    return rg_constant(t, data, rows, D, rg_tensor_layout(x));
}

static rg_tensor *zeroed(changing *c, rg_tape *t, rg_tensor *v)
{
    const rg_subject *s = c->s;
    const size_t      rows = rg_tensor_rows(v), D = rg_tensor_cols(v), each = rows / c->n;
    if (rows % c->n || (each != s->rows && each != s->inputs)) return v; /* of something else */
    rg_real *data = rg_tape_memory(t, (rows * D + 1) * sizeof *data);
    if (!data) return NULL;
    for (size_t i = 0; i < rows; i++) {
        const int32_t j = each == s->rows ? unit_of(s, i % each) : (int32_t)(i % each);
        if (j >= 0 && c->gone[i / each * s->inputs + (size_t)j]) memset(data + i * D, 0, D * sizeof *data);
        else memcpy(data + i * D, rg_tensor_row(v, i), D * sizeof *data);
    }
    c->seen++;
    return rg_constant(t, data, rows, D, rg_tensor_layout(v));
}

static rg_tensor *exchange(void *context, rg_tape *t, const char *name, rg_tensor *x, const void *about)
{
    changing *c = context;
    (void)name;
    return c->change == RG_CHANGE_OCCLUDE ? blanked(c, t, x, about) : zeroed(c, t, x);
}

/* ----------------------------------------------------------------------------------------------------------- scores */

static double log_p(const rg_real *x, size_t C, int32_t word)
{
    double most = (double)x[0], sum = 0;
    for (size_t c = 1; c < C; c++) most = fmax(most, (double)x[c]);
    for (size_t c = 0; c < C; c++) sum += exp((double)x[c] - most);
    return (double)x[word] - most - log(sum);
}

/* sum of y log sigmoid(x) + (1 - y) log sigmoid(-x) */
static double log_p_of_bits(const rg_real *x, size_t C, const rg_real *y)
{
    double sum = 0;
    for (size_t c = 0; c < C; c++) {
        const double v = y[c] > 0 ? (double)x[c] : -(double)x[c];
        sum += v < 0 ? v - log1p(exp(v)) : -log1p(exp(-v));
    }
    return sum;
}

static rg_status score_answers(double *out, const rg_subject *s, const rg_tensor *y, size_t n)
{
    const size_t C = rg_tensor_cols(y);
    if (!s->copies ? rg_tensor_rows(y) < s->answers : rg_tensor_rows(y) != n * s->answers)
        return rg_fail(RG_ESHAPE, "%zu rows of answers, %zu copies of %zu", rg_tensor_rows(y), n, s->answers);
    for (size_t i = 0; i < n * s->outputs; i++) {
        const size_t   o = i % s->outputs, row = s->row ? (size_t)s->row[o] : o;
        const rg_real *x = rg_tensor_row(y, i / s->outputs * s->answers + row);
        if (s->bits) out[i] = log_p_of_bits(x, C, s->bits + o * C);
        else if (s->against >= 0) out[i] = (double)x[s->word[o]] - (double)x[s->against];
        else out[i] = log_p(x, C, s->word[o]);
        if (!isfinite(out[i]))
            return rg_fail(RG_ENUMBER, "log p of output %zu is not finite; the model's weights give infinite numbers",
                           o);
    }
    return RG_OK;
}

typedef struct {
    double *out; /* of every row of the target */
    size_t  rows;
    bool    seen;
} losses;

static bool wants_losses(void *context, const char *name)
{
    (void)context;
    return ends_in(name, "losses");
}

static void see_losses(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    losses *l = context;
    (void)name, (void)reach;
    if (rg_tensor_rows(x) != l->rows) return;
    for (size_t i = 0; i < l->rows; i++) l->out[i] = -(double)rg_tensor_at(x, i, 0);
    l->seen = true;
}

/* log p of the target's rows into all[n * rows]. */
static rg_status run_loss(double *all, rg_tape *t, const rg_subject *s, const rg_batch *b)
{
    losses           l = { .out = all, .rows = rg_field_rows(&b->field[s->target]) };
    const rg_watcher watcher = { &l, wants_losses, see_losses };
    rg_tape_reset(t, 0);
    rg_tape_set_watcher(t, &watcher);
    s->model->system->loss(t, s->model, b);
    rg_tape_set_watcher(t, NULL);
    RG_TRY(rg_tape_status(t));
    return l.seen ? RG_OK : rg_fail(RG_EMATCH, "%s does not tell the losses of single words", s->model->system->name);
}

static rg_status score_words(double *out, rg_tape *t, const rg_subject *s, rg_batch *b, size_t n)
{
    const size_t rows = rg_field_rows(&b->field[s->target]), each = rows / n;
    double      *all = rg_alloc_array(2 * rows + 1, sizeof *all), *other = all ? all + rows : NULL;
    int32_t     *ids = rg_alloc_array(rows + 1, sizeof *ids);
    rg_status    status = all && ids ? run_loss(all, t, s, b) : RG_ENOMEM;
    for (size_t i = 0; ids && i < rows; i++) ids[i] = s->against;
    if (status == RG_OK && s->against >= 0) {
        const int32_t *said = b->field[s->target].ids;
        b->field[s->target].ids = ids;
        status = run_loss(other, t, s, b);
        b->field[s->target].ids = said;
    }
    for (size_t i = 0; status == RG_OK && i < n * s->outputs; i++) {
        const size_t o = i % s->outputs, at = i / s->outputs * each + (s->row ? (size_t)s->row[o] : o);
        out[i] = all[at] - (s->against >= 0 ? other[at] : 0);
        if (!isfinite(out[i])) status = rg_fail(RG_ENUMBER, "log p of output %zu is not finite", o);
    }
    rg_free(all);
    rg_free(ids);
    return status;
}

typedef struct {
    const char *name;
    rg_tensor  *seen;
} watched_logits;

static bool wants_logits(void *context, const char *name)
{
    return ends_in(name, ((const watched_logits *)context)->name);
}

static void see_logits(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    (void)name, (void)reach;
    ((watched_logits *)context)->seen = (rg_tensor *)x; /* of the caller's own tape */
}

rg_tensor *rg_explaining__answers(rg_tape *t, const rg_subject *s, const void *batch)
{
    if (!s->pass) return s->model->system->predict(t, s->model, batch);
    watched_logits   w = { .name = s->logits };
    const rg_watcher watcher = { &w, wants_logits, see_logits };
    rg_tape_set_watcher(t, &watcher);
    s->pass(t, s->model, batch);
    rg_tape_set_watcher(t, NULL);
    if (!w.seen)
        return rg_tape_fail(t, RG_EMATCH, "%s does not tell how sure it is of single answers", s->model->system->name);
    return w.seen;
}

rg_status rg_explain_answers(size_t *out_rows, size_t *out_columns, const rg_subject *s, rg_tape *t, const void *batch)
{
    rg_tape_reset(t, 0);
    const rg_tensor *y = rg_explaining__answers(t, s, batch);
    RG_TRY(rg_tape_status(t));
    *out_rows = rg_tensor_rows(y);
    *out_columns = rg_tensor_cols(y);
    return RG_OK;
}

/* One pass; `batch` has n copies, or is the example itself. */
static rg_status run(double *out, rg_explaining *x, const void *batch, changing *c)
{
    const rg_subject  *s = x->subject;
    const rg_exchanger exchanger = { c, wants, exchange };
    rg_tape_set_exchanger(x->tape, &exchanger);
    rg_status status;
    if (s->writes) {
        rg_batch b = *(const rg_batch *)batch;
        status = score_words(out, x->tape, s, &b, c->n);
    } else {
        rg_tape_reset(x->tape, 0);
        const rg_tensor *y = rg_explaining__answers(x->tape, s, batch);
        status = rg_tape_status(x->tape);
        if (status == RG_OK) status = score_answers(out, s, y, c->n);
    }
    rg_tape_set_exchanger(x->tape, NULL);
    if (!x->bytes) x->bytes = rg_tape_get_cost(x->tape).bytes / c->n + 1;
    if (x->flops <= 0) x->flops = rg_tape_get_cost(x->tape).flops / (double)c->n;
    return status;
}

/* Which rows of n copies are left out, and which of those that stay are blanked (of variants that would have none). */
static void mark_rows(unsigned char *left, unsigned char *blank, const rg_subject *s, const unsigned char *gone,
                      size_t n, bool leave_out)
{
    size_t at = 0; /* row of the batch */
    for (size_t k = 0; k < n; k++) {
        size_t stay = 0;
        for (size_t i = 0; i < s->rows; i++) {
            const int32_t j = unit_of(s, i);
            left[k * s->rows + i] = leave_out && j >= 0 && gone[k * s->inputs + (size_t)j];
            stay += !left[k * s->rows + i];
        }
        for (size_t i = 0; i < s->rows; i++) {
            const int32_t j = unit_of(s, i);
            if (!stay) left[k * s->rows + i] = 0;
            if (!left[k * s->rows + i])
                blank[at++] = (!stay || !leave_out) && j >= 0 && gone[k * s->inputs + (size_t)j];
        }
    }
}

static rg_status score_some(double *out, rg_explaining *x, const unsigned char *gone, size_t n, rg_change change)
{
    const rg_subject *s = x->subject;
    changing          c = { .s = s, .change = change, .n = n, .gone = gone };
    unsigned char    *left = rg_alloc_zero(2 * n * s->rows + 1), *blank = left ? left + n * s->rows : NULL;
    rg_copies         copies = { 0 };
    rg_status         status = left ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) {
        mark_rows(left, blank, s, gone, n, s->leave_out && change == RG_CHANGE_OCCLUDE);
        if (change == RG_CHANGE_OCCLUDE) c.blank = blank;
        if (s->copies)
            status = rg_copies_make(&copies, s->batch, n, s->input, change == RG_CHANGE_OCCLUDE ? left : NULL);
    }
    if (status == RG_OK) status = run(out, x, s->copies ? (const void *)&copies.batch : s->batch, &c);
    if (status == RG_OK && change == RG_CHANGE_ZERO && !c.seen)
        status = rg_fail(RG_EMATCH, "zeroing: %s has no attention over what goes in", s->model->system->name);
    rg_copies_free(&copies);
    rg_free(left);
    return status;
}

rg_status rg_explaining_score(double *out, rg_explaining *x, const unsigned char *gone, size_t variants,
                              rg_change change)
{
    const rg_subject *s = x->subject;
    for (size_t v = 0; v < variants;) {
        size_t n = s->copies && x->bytes ? x->options->bytes / x->bytes : 1;
        if (n < 1) n = 1;
        if (n > variants - v) n = variants - v;
        RG_TRY(score_some(out + v * s->outputs, x, gone + v * s->inputs, n, change));
        v += n;
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ drops */

size_t rg_explaining__passes(const rg_explaining *x, double each, size_t least)
{
    if (!(x->options->flops > 0) || !(x->flops > 0)) return SIZE_MAX;
    const double most = x->options->flops / (each * x->flops);
    return most >= 1e9 ? SIZE_MAX : most > (double)least ? (size_t)most : least;
}

size_t rg_explaining__spans(int32_t *span, const rg_explaining *x)
{
    enum { LEAST_SPANS = 8 };
    const size_t n = x->subject->inputs, passes = rg_explaining__passes(x, 1, LEAST_SPANS);
    const size_t wanted = x->options->spans ? x->options->spans : n, most = wanted < passes ? wanted : passes;
    const size_t count = n < most ? n : most;
    for (size_t j = 0; j < n; j++) span[j] = (int32_t)(j * count / n);
    return count;
}

/* s of the example as it is. */
static rg_status base_of(rg_explaining *x)
{
    const rg_subject *s = x->subject;
    if (x->base) return RG_OK;
    unsigned char *none = rg_alloc_zero(s->inputs + 1);
    double        *base = rg_alloc_array(s->outputs + 1, sizeof *base);
    rg_status      status = none && base ? rg_explaining_score(base, x, none, 1, RG_CHANGE_OCCLUDE) : RG_ENOMEM;
    rg_free(none);
    if (status == RG_OK) x->base = base;
    else rg_free(base);
    return status;
}

rg_status rg_explaining__drops(double *out, rg_explaining *x, rg_change change)
{
    const rg_subject *s = x->subject;
    const size_t      n = s->inputs, O = s->outputs;
    RG_TRY(base_of(x));
    int32_t *span = rg_alloc_array(n + 1, sizeof *span);
    if (!span) return RG_ENOMEM;
    const size_t   count = rg_explaining__spans(span, x);
    unsigned char *gone = rg_alloc_zero(count * n + 1);
    double        *score = rg_alloc_array(count * O + 1, sizeof *score), *size = rg_alloc_zero((count + 1) * sizeof *size);
    rg_status      status = gone && score && size ? RG_OK : RG_ENOMEM;
    for (size_t j = 0; status == RG_OK && j < n; j++) gone[(size_t)span[j] * n + j] = 1, size[span[j]]++;
    if (status == RG_OK) status = rg_explaining_score(score, x, gone, count, change);
    for (size_t o = 0; status == RG_OK && o < O; o++)
        for (size_t j = 0; j < n; j++)
            out[o * n + j] = (x->base[o] - score[(size_t)span[j] * O + o]) / size[span[j]];
    rg_free(span);
    rg_free(gone);
    rg_free(score);
    rg_free(size);
    return status;
}

rg_status rg_explaining__occlusion(const double **out, rg_explaining *x)
{
    if (!x->drops) {
        double *drops = rg_alloc_array(x->subject->outputs * x->subject->inputs + 1, sizeof *drops);
        if (!drops) return RG_ENOMEM;
        const rg_status status = rg_explaining__drops(drops, x, RG_CHANGE_OCCLUDE);
        if (status != RG_OK) {
            rg_free(drops);
            return status;
        }
        x->drops = drops;
    }
    *out = x->drops;
    return RG_OK;
}
