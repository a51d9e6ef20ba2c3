/* language_samples.c - texts drawn at each validation, for the log and the report of a training. The same seed every
 * time, so that they can be compared. */
#include "tasks/language.h"

enum { LENGTH = 120 }; /* tokens of each */

typedef struct {
    const rg_run *run;
    uint64_t      step;
} telling;

static rg_status columns(void *context, const char *const *names, size_t count)
{
    (void)context, (void)names, (void)count;
    return RG_OK;
}

/* prompt, sample, text, ... */
static rg_status row(void *context, const rg_value *cells)
{
    const telling *t = context;
    t->run->report->sample(t->run->report->context, t->step, "", "", cells[2].text);
    return RG_OK;
}

rg_status rg_language_samples(const rg_run *run, int64_t count)
{
    char                     *nothing = (char *)"";
    telling                   t = { .run = run };
    const rg_sink             sink = { .context = &t, .columns = columns, .row = row };
    const rg_language_drawing drawn = {
        .prompts = { 1, &nothing }, .n = count, .length = LENGTH, .temperature = 0.8, .top_p = 1, .seed = 1, .batch = 1
    };
    const rg_question q = { .options = &drawn, .threads = 1, .sink = &sink };
    if (!count || !run->report || !run->report->sample || !run->model->system->step) return RG_OK;
    t.step = rg_optimizer_steps(rg_trainer_optimizer(run->trainer));
    return rg_language_generate(run->model, &q);
}
