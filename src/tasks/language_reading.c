/* language_reading.c - the likelihood of a text, by the pass that training uses. */
#include <math.h>
#include <string.h>

#include "tasks/language.h"

enum { AT_ONCE = 256 }; /* rows of a pass over a stream: enough for products to run at full speed */

struct rg_text_reading {
    const rg_model *model;
    rg_tape        *tape;
    rg_carry       *carry;          /* NULL: windows */
    size_t          room;           /* rows of a pass */
    int32_t        *ids, *previous; /* of the pass, or of the window so far */
    size_t          at;             /* rows of the window that were read    */
    int32_t         last;           /* the piece before the next            */
    double         *out;            /* of the first new row                 */
    bool            seen;
};

static bool wants(void *context, const char *name)
{
    const size_t n = strlen(name);
    (void)context;
    return n >= 6 && strcmp(name + n - 6, "losses") == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_text_reading *r = context;
    (void)name;
    (void)reach;
    for (size_t i = r->at; i < rg_tensor_rows(x); i++) r->out[i - r->at] = -(double)rg_tensor_at(x, i, 0);
    r->seen = true;
}

rg_status rg_language_carry(rg_carry **out, const rg_model *model, size_t streams)
{
    enum { MOST = 64 };
    size_t width[MOST], blocks = 0;
    for (size_t w; (w = model->system->carries(model, blocks)) > 0;) {
        if (blocks == MOST) return rg_fail(RG_ELIMIT, "%s carries more than %d blocks", model->system->name, MOST);
        width[blocks++] = w;
    }
    return rg_carry_new(out, streams, width, blocks);
}

rg_status rg_text_reading_new(rg_text_reading **out, const rg_model *model, rg_team *team)
{
    const rg_tape_config config = { .record = false, .team = team };
    const size_t         context = rg_model_size(model, "context");
    *out = NULL;
    rg_text_reading *r = rg_alloc_zero(sizeof *r);
    if (!r) return RG_ENOMEM;
    r->model = model;
    r->room = context ? context : AT_ONCE;
    r->ids = rg_alloc_array(r->room, sizeof *r->ids);
    r->previous = rg_alloc_array(r->room, sizeof *r->previous);
    rg_status status = r->ids && r->previous ? rg_tape_new(&r->tape, &config) : RG_ENOMEM;
    if (status == RG_OK && !context && model->system->carries) status = rg_language_carry(&r->carry, model, 1);
    if (status != RG_OK) rg_text_reading_free(r);
    else rg_text_reading_begin(*out = r);
    return status;
}

void rg_text_reading_free(rg_text_reading *r)
{
    if (!r) return;
    rg_tape_free(r->tape);
    rg_carry_free(r->carry);
    rg_free(r->ids);
    rg_free(r->previous);
    rg_free(r);
}

void rg_text_reading_begin(rg_text_reading *r)
{
    r->at = 0;
    r->last = (int32_t)rg_model_size(r->model, "bos");
    if (r->carry) rg_carry_zero(r->carry);
}

/* Rows 0 .. rows-1 of the pass, of which those before r->at were answered before: a window is read again when only part
 * of it came. */
static rg_status pass(rg_text_reading *r, size_t rows)
{
    const int32_t    start[] = { 0, (int32_t)rows }, none[] = { 0, 0 };
    const rg_watcher watcher = { .context = r, .wants = wants, .see = see };
    const rg_batch   batch = { .examples = 1,
                               .fields = 2,
                               .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = none } },
                                          [RG_TARGET] = { .layout = { .groups = 1, .start = start },
                                                          .ids = r->ids,
                                                          .previous = r->previous } },
                               .carry = r->carry };
    if (r->carry) rg_carry_turn(r->carry);
    rg_tape_reset(r->tape, 0);
    rg_tape_set_watcher(r->tape, &watcher);
    r->seen = false;
    r->model->system->loss(r->tape, r->model, &batch);
    rg_tape_set_watcher(r->tape, NULL);
    RG_TRY(rg_tape_status(r->tape));
    return r->seen ? RG_OK : rg_fail(RG_EINVAL, "%s does not say how likely each token is", r->model->system->name);
}

rg_status rg_text_reading_feed(double *log_p, rg_text_reading *r, const int32_t *ids, size_t n)
{
    for (size_t done = 0; done < n;) {
        const size_t left = n - done, free = r->room - r->at, m = left < free ? left : free;
        for (size_t i = 0; i < m; i++) {
            r->ids[r->at + i] = ids[done + i];
            r->previous[r->at + i] = i ? ids[done + i - 1] : r->last;
        }
        r->out = log_p + done;
        RG_TRY(pass(r, r->at + m));
        for (size_t i = 0; i < m; i++)
            if (!isfinite(r->out[i]))
                return rg_fail(RG_ENUMBER,
                               "log p of token %zu is not finite; the model's weights give infinite numbers",
                               done + i + 1);
        r->last = ids[done + m - 1];
        done += m;
        r->at = r->carry || r->at + m == r->room ? 0 : r->at + m;
    }
    return RG_OK;
}
