/* influence.c - how far back the answer of a trained model depends on what it read: the gradient at its inputs
 * against their distance. See view.h. */
#include "view/gradients.h"

#include <string.h>

struct rg_influence {
    const rg_model  *model;
    rg_tape         *tape;
    rg_grads        *grads; /* of parameters: nobody reads them, but gradients come through */
    size_t           most;
    double          *sum, *count; /* [most + 1] */
    const rg_tensor *inputs;      /* of the pass */
};

rg_status rg_influence_new(rg_influence **out, const rg_model *model, size_t most)
{
    rg_tape_config config = { .record = true };
    *out = NULL;
    rg_influence *x = rg_alloc_zero(sizeof *x);
    if (!x) return RG_ENOMEM;
    x->model = model;
    x->most = most;
    x->sum = rg_alloc_zero((most + 1) * sizeof *x->sum);
    x->count = rg_alloc_zero((most + 1) * sizeof *x->count);
    rg_status status = x->sum && x->count ? rg_grads_new(&x->grads, model->params) : RG_ENOMEM;
    config.grads = x->grads;
    if (status == RG_OK) status = rg_tape_new(&x->tape, &config);
    if (status != RG_OK) rg_influence_free(x);
    else *out = x;
    return status;
}

void rg_influence_free(rg_influence *x)
{
    if (!x) return;
    rg_tape_free(x->tape);
    rg_grads_free(x->grads);
    rg_free(x->sum);
    rg_free(x->count);
    rg_free(x);
}

size_t rg_influence_most(const rg_influence *x) { return x->most; }

static bool wants(void *context, const char *name)
{
    const size_t n = strlen(name), k = strlen("inputs");
    (void)context;
    return n >= k && strcmp(name + n - k, "inputs") == 0;
}

static rg_tensor *remember(void *context, rg_tape *t, const char *name, rg_tensor *x, const void *about)
{
    rg_influence *f = context;
    (void)t, (void)name, (void)about;
    if (!f->inputs) f->inputs = x; /* of several the first: what an encoder reads */
    return x;
}

/* The loss of the batch; what goes in is remembered. */
static rg_loss pass(rg_influence *x, const void *batch)
{
    const rg_system   *s = x->model->system;
    const rg_exchanger reader = { .context = x, .wants = wants, .exchange = remember };
    x->inputs = NULL;
    if (s->enter && s->compare) {
        rg_tensor *in = s->enter(x->tape, x->model, batch);
        x->inputs = in;
        return s->compare(x->tape, batch,
                          s->answer(x->tape, x->model, batch, s->features(x->tape, x->model, batch, in)));
    }
    rg_tape_set_exchanger(x->tape, &reader);
    const rg_loss loss = s->loss(x->tape, x->model, batch);
    rg_tape_set_exchanger(x->tape, NULL);
    return loss;
}

rg_status rg_influence_add(rg_influence *x, const void *batch)
{
    rg_tape_reset(x->tape, 0);
    const rg_loss loss = pass(x, batch);
    RG_TRY(rg_tape_backward(x->tape, loss.sum));
    const rg_layout *layout = x->inputs ? rg_tensor_layout(x->inputs) : NULL;
    const rg_real   *g = x->inputs ? rg_tape_gradient(x->tape, x->inputs) : NULL;
    if (!layout || !g)
        return rg_fail(RG_EMATCH, "%s reads no sequence whose gradient could be taken", x->model->system->name);
    const size_t ld = rg_tensor_ld(x->inputs), cols = rg_tensor_cols(x->inputs);
    for (size_t i = 0; i < layout->groups; i++)
        for (int32_t row = layout->start[i]; row < layout->start[i + 1]; row++) {
            const size_t k = (size_t)(layout->start[i + 1] - 1 - row);
            if (k > x->most) continue;
            x->sum[k] += rg_gradients__norm(g + (size_t)row * ld, cols);
            x->count[k]++;
        }
    return RG_OK;
}

rg_status rg_influence_record(rg_record **out, const rg_influence *x)
{
    size_t n = 0, curves;
    while (n <= x->most && x->count[n] > 0) n++;
    if (n < 2) return rg_fail(RG_EINVAL, "the texts are too short: nothing lies before what is answered");
    char       said[80];
    double    *k = rg_alloc_array(n, sizeof *k), *mean = rg_alloc_array(n, sizeof *mean);
    char      *title = NULL;
    rg_record *r = NULL;
    rg_status  status = k && mean ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        k[i] = (double)i;
        mean[i] = x->sum[i] / x->count[i];
    }
    if (status == RG_OK) {
        rg_gradients__say(said, sizeof said, mean[0], mean[n - 1], n - 1, "step");
        title = rg_format("%s: gradients %s; %.2g left at distance %zu", x->model->system->name, said,
                          mean[0] > 0 ? mean[n - 1] / mean[0] : 0, n - 1);
        status = title ? rg_record_new(&r, title, "gradients") : RG_ENOMEM;
    }
    if (status == RG_OK)
        status = rg_record_add_curves(&curves, r, title, "distance k", "norm of d log p / dx at t - k", false, true);
    if (status == RG_OK) status = rg_record_add_series(r, curves, x->model->system->name, k, mean, n);
    rg_free(k);
    rg_free(mean);
    rg_free(title);
    if (status != RG_OK) rg_record_free(r);
    else *out = r;
    return status;
}
