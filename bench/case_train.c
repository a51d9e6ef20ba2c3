/* case_train.c - a whole training step: forward, label smoothing 0.1, backward, Adam with its packs. One worker a thread.
 *
 * Weights are drawn differently on the two sides, so what must agree is the number of parameters, biases aside, and that the loss is
 * a number. GRUs are of the reset-after form, the one the peer has. */
#include "bench.h"

#include <math.h>

#include "regard/train.h"
#include "system.h"

static const size_t which[] = { BENCH_SMALL_DROPOUT, BENCH_SMALL, BENCH_BASE, BENCH_RNNSEARCH };
enum { ROWS = sizeof which / sizeof *which, MOST = 64 };

typedef struct state {
    rg_model     *model;
    rg_workers   *workers;
    rg_optimizer *opt;
    rg_batch     *batch;
    rg_batch      share[MOST];
    const void   *shares[MOST];
    int32_t      *storage;
    uint64_t      step;
    double        loss;
} state;

static void describe(bench_row *out, size_t row)
{
    const bench_system *s = bench_system_of(which[row]);
    snprintf(out->name, sizeof out->name, "%s %zux%d", s->name, s->batch, BENCH_WORDS);
    snprintf(out->params, sizeof out->params, "\"system\": \"%s\", \"batch\": %zu, \"words\": %d, %s", s->system, s->batch, BENCH_WORDS,
             s->peer);
    out->flops = 3 * 2.0 * s->products * (double)(s->batch * BENCH_WORDS);
    out->items = (double)(s->batch * BENCH_WORDS);
}

static void teardown(void *context)
{
    state *s = context;
    rg_optimizer_free(s->opt);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    bench_batch_free(s->batch);
    rg_free(s->storage);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state              *s = context;
    const bench_system *b = bench_system_of(which[row]);
    const int           threads = rg_team_size(team);
    if (threads > MOST) return rg_fail(RG_EINVAL, "at most %d threads", MOST);
    RG_TRY(bench_model_new(&s->model, b, false));
    RG_TRY(bench_batch_new(&s->batch, b->batch, b->vocabulary, 7));
    const rg_workers_config   workers = { .workers = threads, .threads = 1, .seed = 1 };
    const rg_optimizer_config adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->opt, s->model->params, &adam));
    const size_t room = rg_batch_share_room(s->batch);
    s->storage = rg_alloc_array((size_t)threads * room, sizeof *s->storage);
    if (!s->storage) return RG_ENOMEM;
    for (size_t i = 0; i < (size_t)threads; i++) {
        rg_batch_share(&s->share[i], s->storage + i * room, s->batch, i, (size_t)threads);
        s->shares[i] = &s->share[i];
    }
    return RG_OK;
}

static rg_status run(void *context)
{
    state         *s = context;
    rg_losses      losses;
    rg_step_report report;
    const size_t   n = (size_t)rg_workers_count(s->workers);
    const rg_job   job = { .shares = s->shares, .count = n, .step = ++s->step, .loss = bench_loss, .context = s->model };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    s->loss = losses.sum / losses.count;
    return rg_optimizer_step(&report, s->opt, rg_workers_grads(s->workers), n, losses.count, 1e-4, rg_workers_team(s->workers));
}

static double check(void *context)
{
    state *s = context;
    return isfinite(s->loss) ? round((double)rg_params_numbers(s->model->params) / 1e5) : -1;
}

const bench_case bench_case_train = {
    .name = "train",
    .summary = "a training step of whole models",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
