/* calibrate.c - the range of activations, which integer arithmetic with fixed scales needs to know beforehand.
 *
 * Lines are translated greedily, and each answer goes through the model once more as if it were the reference: that
 * pass sees the left side of every product there is while translating. Marian's multiplier of a product is 127 / max |x|. */
#include "import/export.h"

#include <math.h>
#include <string.h>

#include "autograd/params.h"
#include "tasks/translation.h"
#include "tensor/tensor.h"

typedef struct {
    const rg_model *model;
    rg_tape        *tape;
    float          *most;
} calibration;

/* Of ops with a weight, or a table that is not looked up, on their right: products. */
static void see(void *context, const rg_traced *op)
{
    const calibration *c = context;
    const rg_param    *right = op->count > 1 ? rg_tensor_param(op->inputs[1]) : NULL;
    const rg_tensor   *left = op->inputs[0];
    if (!right || (right->kind != RG_WEIGHT && right->kind != RG_TIED)) return;
    float most = c->most[right->index];
    for (size_t i = 0; i < left->rows; i++)
        for (size_t k = 0; k < left->cols; k++) most = fmaxf(most, fabsf((float)left->data[i * left->ld + k]));
    c->most[right->index] = most;
}

static rg_status pass(void *context, const rg_batch *batch, size_t k)
{
    const calibration *c = context;
    const rg_tracer    tracer = { context, see };
    (void)k;
    rg_tape_reset(c->tape, 0);
    rg_tape_set_tracer(c->tape, &tracer);
    c->model->system->loss(c->tape, c->model, batch);
    rg_tape_set_tracer(c->tape, NULL);
    return rg_tape_status(c->tape);
}

static rg_status measure(calibration *c, const rg_exporting *e, rg_session *session, const rg_line_list *lines,
                         size_t n)
{
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *done;
    config.search.beam = 1;
    config.whole = true;
    for (size_t i = 0; i < n; i += config.batch) {
        const size_t some = n - i < config.batch ? n - i : config.batch;
        RG_TRY(rg_session_run(&done, session, &config, (const char *const *)lines->line + i, some, i, NULL));
        for (size_t k = 0; k < some; k++)
            if (done[k].count && done[k].source_length)
                RG_TRY(rg_translated_forced(e->translator, &done[k], 0, pass, c));
    }
    return RG_OK;
}

rg_status rg_export_calibrate(float **out, const rg_exporting *e)
{
    const rg_export_options *o = e->options;
    const rg_tape_config     config = { .record = false };
    rg_translator           *translator = e->model->assets;
    rg_line_list             lines = { 0 };
    rg_session              *session = NULL;
    calibration              c = { .model = e->model };
    *out = NULL;
    if (!o->calibrate || !*o->calibrate)
        return rg_fail(RG_EINVAL, "8-bit products have fixed scales of activations, which are measured on text: "
                                  "--calibrate FILE of source lines");
    rg_status status = rg_line_list_read(&lines, o->calibrate, -1);
    if (status == RG_OK && !lines.count) status = rg_fail(RG_EINVAL, "%s has no lines", o->calibrate);
    if (status == RG_OK && !(c.most = rg_alloc_zero((rg_params_count(e->model->params) + 1) * sizeof *c.most)))
        status = RG_ENOMEM;
    if (status == RG_OK) status = rg_tape_new(&c.tape, &config);
    if (status == RG_OK) status = rg_session_new(&session, &translator, 1, o->threads > 0 ? o->threads : 1);
    const size_t most = o->lines ? o->lines : 500;
    if (status == RG_OK) status = measure(&c, e, session, &lines, lines.count < most ? lines.count : most);
    rg_session_free(session);
    rg_tape_free(c.tape);
    rg_line_list_free(&lines);
    if (status != RG_OK) rg_free(c.most);
    else *out = c.most;
    return status;
}
