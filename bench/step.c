/* step.c - see step.h. */
#include "step.h"

#include <math.h>

#include "system.h"

rg_status bench_step_init(bench_step *s, const char *optimizer, double rate, rg_team *team)
{
    const int threads = rg_team_size(team);
    if (threads > BENCH_STEP_THREADS) return rg_fail(RG_EINVAL, "at most %d threads", BENCH_STEP_THREADS);
    const rg_workers_config workers = { .workers = threads, .threads = 1, .seed = 1 };
    rg_optimizer_config     config = RG_OPTIMIZER_CONFIG_DEFAULT;
    config.name = optimizer;
    s->rate = rate;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->opt, s->model->params, &config));
    const size_t room = rg_batch_share_room(s->batch);
    s->storage = rg_alloc_array((size_t)threads * room, sizeof *s->storage);
    if (!s->storage) return RG_ENOMEM;
    for (size_t i = 0; i < (size_t)threads; i++) {
        rg_batch_share(&s->share[i], s->storage + i * room, s->batch, i, (size_t)threads);
        s->shares[i] = &s->share[i];
    }
    return RG_OK;
}

static rg_loss loss_by(void *context, rg_tape *t, const void *share, int worker)
{
    const bench_step *s = context;
    (void)worker;
    return s->by ? s->by(t, s->model, share) : rg_model_loss(t, s->model, share);
}

rg_status bench_step_run(void *context)
{
    bench_step    *s = context;
    rg_losses      losses;
    rg_step_report report;
    const size_t   n = (size_t)rg_workers_count(s->workers);
    const rg_job job = { .shares = s->shares, .count = n, .step = ++s->step, .loss = loss_by, .context = s };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    s->loss = losses.sum / losses.count;
    return rg_optimizer_step(&report, s->opt, rg_workers_grads(s->workers), n, losses.count, s->rate,
                             rg_workers_team(s->workers));
}

rg_status bench_step_run_loss(bench_step *s, bench_loss_of *loss)
{
    s->by = loss;
    return bench_step_run(s);
}

double bench_step_check(void *context)
{
    const bench_step *s = context;
    return isfinite(s->loss) ? round((double)rg_params_numbers(s->model->params) / 1e5) : -1;
}

void bench_step_fini(void *context)
{
    bench_step *s = context;
    rg_optimizer_free(s->opt);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    rg_free(s->batch);
    rg_free(s->storage);
}
