/* probe.c - see regard/probe.h. */
#include "tasks/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_steps(const rg_system *s) { return s->enter && s->features && s->answer && s->compare && !s->batches; }

rg_status rg_probe_open(rg_examples **out, const rg_model *m, const rg_set_options *sets)
{
    const rg_system *s = m->system;
    rg_text          can = { 0 };
    *out = NULL;
    if (!sets->train.count) return rg_fail(RG_EINVAL, "which examples? give a file or folder");
    if (s->task->examples && has_steps(s)) return s->task->examples(out, m, sets);
    for (const rg_system *const *x = rg_system_all(); *x; x++)
        if ((*x)->task->examples && has_steps(*x) &&
            rg_text_print(&can, "%s%s", can.length ? ", " : "", (*x)->name) != RG_OK)
            break;
    rg_fail(RG_EMATCH, "a %s (task %s) cannot be probed; these can: %s", s->name, s->task->name, rg_text_c(&can));
    rg_text_free(&can);
    return RG_EMATCH;
}

rg_status rg_probe_number(double *out, const char *text)
{
    char  *end;
    double n = strtod(text, &end), d = 1;
    if (end != text && *end == '/') {
        const char *below = end + 1;
        d = strtod(below, &end);
        if (end == below) d = 0;
    }
    if (end == text || *end || !(d > 0) || !(n > 0) || !isfinite(n / d))
        return rg_fail(RG_EINVAL, "'%s' is no size of a change: a number above 0, such as 0.25 or 1/256", text);
    *out = n / d;
    return RG_OK;
}

/* Pictures are probed few at a time: what a deep network keeps of each for the gradient is hundreds of times as large
 * (MobileNet v2: 230 MB for one of 224 x 224). */
enum { MOST_PIXELS = 1 << 19 };

static int64_t batch_of(const rg_model *m, int64_t asked)
{
    const size_t each = rg_model_size(m, "height") * rg_model_size(m, "width") * rg_model_size(m, "channels");
    const size_t most = each ? MOST_PIXELS / each : 0;
    return !each || (asked && asked <= (int64_t)most) ? asked : most ? (int64_t)most : 1;
}

rg_status rg_probe__init(rg_probe *p, const rg_model *m, const rg_set_options *sets, int threads, uint64_t seed)
{
    rg_set_options few = *sets;
    few.batch = batch_of(m, sets->batch);
    *p = (rg_probe){ .model = m };
    RG_TRY(rg_probe_open(&p->examples, m, &few));
    RG_TRY(rg_team_new(&p->team, threads < 1 ? 1 : threads));
    const rg_tape_config c = { .record = true, .seed = seed, .team = p->team };
    return rg_tape_new(&p->tape, &c);
}

void rg_probe__fini(rg_probe *p)
{
    rg_tape_free(p->tape);
    rg_team_free(p->team);
    rg_examples_free(p->examples);
}

int32_t rg_probe__label(const rg_batch *b, size_t rows, size_t i)
{
    const rg_field *label = &b->field[RG_LABEL];
    if (b->fields <= RG_LABEL || !label->ids) return -1;
    if (rows != b->examples) return i < rg_field_rows(label) ? label->ids[i] : -1; /* a class per word */
    return label->layout.start[i] < label->layout.start[i + 1] ? label->ids[label->layout.start[i]] : -1;
}

int32_t rg_probe__best(double *out, const rg_tensor *y, size_t row)
{
    const rg_real *x = rg_tensor_row(y, row);
    size_t         best = 0;
    double         sum = 0;
    for (size_t c = 1; c < rg_tensor_cols(y); c++)
        if (x[c] > x[best]) best = c;
    for (size_t c = 0; c < rg_tensor_cols(y); c++) sum += exp((double)(x[c] - x[best]));
    if (out) *out = 1 / sum;
    return (int32_t)best;
}
