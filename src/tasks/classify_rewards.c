/* classify_rewards.c - systems that learn where to look from rewards (ram): what a baseline takes off the variance of
 * the policy gradient (Williams 1992).
 *
 *     g = -(R - b) (l - mu) / sigma^2        of a draw l ~ N(mu, sigma^2) with reward R and baseline b
 *     variance = E |g|^2 - |E g|^2           over draws for pictures that are validated, or else learned from
 *
 * The same draws are counted with b and with b = 0. */
#include <string.h>

#include "tasks/classify.h"

enum { PICTURES = 1000 };

typedef struct {
    double sum[4], square[2], draws; /* two columns with the baseline, two without */
} moments;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "policy") == 0;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    moments *m = context;
    (void)name, (void)reach;
    for (size_t i = 0; rg_tensor_cols(x) == 4 && i < rg_tensor_rows(x); i++, m->draws++)
        for (size_t c = 0; c < 4; c++) {
            const double g = (double)rg_tensor_at(x, i, c);
            m->sum[c] += g, m->square[c / 2] += g * g;
        }
}

/* One walk over each picture, as in learning; no weight and no kept value moves. */
static rg_status walk(rg_run *run, rg_examples *store, const rg_watcher *watcher)
{
    const rg_tape_config config = { .learn = true,
                                    .seed = (uint64_t)run->learning->seed,
                                    .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    rg_tape             *t = NULL;
    RG_TRY(rg_tape_new(&t, &config));
    rg_tape_set_progress(t, (rg_progress){ .part = 1 });
    rg_tape_set_watcher(t, watcher);
    rg_status status = rg_examples_seek(store, (rg_place){ 0 });
    bool      more = true;
    for (size_t seen = 0; status == RG_OK && more && seen < PICTURES;) {
        rg_batch b;
        status = rg_examples_next_in_epoch(&more, &b, store);
        if (status != RG_OK || !more) break;
        rg_tape_reset(t, seen);
        (void)rg_tape_update_statistics(t, false);
        (void)run->system->loss(t, run->model, &b);
        status = rg_tape_status(t);
        seen += b.examples;
    }
    rg_tape_set_watcher(t, NULL);
    rg_tape_free(t);
    return status;
}

rg_status rg_classify_tell_rewards(rg_run *run)
{
    const rg_supervised *d = run->data;
    const rg_param      *p = rg_params_find(run->model->params, "advantage");
    moments              m = { 0 };
    double               variance[2];
    const rg_watcher     watcher = { &m, wants, see };
    if (!p || rg_param_cols(p) != 2) return RG_OK;
    rg_tell(run->report, "mean square of the reward %.4f, of the reward minus its baseline %.4f",
            (double)rg_param_data(p)[0], (double)rg_param_data(p)[1]);
    const rg_place before = rg_examples_tell(d->train);
    RG_TRY(walk(run, d->valid ? d->valid : d->train, &watcher));
    RG_TRY(rg_examples_seek(d->train, before));
    if (m.draws <= 0) return RG_OK; /* places are not learned */
    for (size_t k = 0; k < 2; k++) {
        const double x = m.sum[2 * k] / m.draws, y = m.sum[2 * k + 1] / m.draws;
        variance[k] = m.square[k] / m.draws - x * x - y * y;
    }
    if (m.square[0] == m.square[1]) /* b = 0 */
        rg_tell(run->report, "variance of the policy gradient %.4g, no baseline (%.0f draws)", variance[1], m.draws);
    else
        rg_tell(run->report, "variance of the policy gradient %.4g, without its baseline %.4g (%.0f draws)",
                variance[0], variance[1], m.draws);
    RG_TRY(rg_metrics_add(&run->final, "policy-variance", variance[0], false));
    return rg_metrics_add(&run->final, "policy-variance-plain", variance[1], false);
}
