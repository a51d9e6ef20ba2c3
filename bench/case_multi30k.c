/* case_multi30k.c - training Transformer-Tiny on real sentences: forward, label smoothing 0.1, dropout 0.3, backward,
 * Adam over some batches of about 2,000 target words. Ours has no padding; the peer pads its batches, which hold
 * sentences of nearly the same length. One worker a thread.
 *
 * Needs the corpus: REGARD_MULTI30K names the folder of train.en.gz and train.de.gz. Without it there are no rows. */
#include "bench.h"

#include <math.h>

#include "corpus.h"
#include "regard/train.h"
#include "system.h"

enum { MOST = 64 };

typedef struct state {
    bench_corpus  corpus;
    rg_model     *model;
    rg_workers   *workers;
    rg_optimizer *opt;
    rg_batch      share[MOST];
    int32_t      *storage;
    size_t        room; /* numbers of a share */
    uint64_t      step;
    double        loss;
} state;

static void describe(bench_row *out, size_t row)
{
    (void)row;
    bench_corpus c;
    if (!bench_corpus_folder() || bench_corpus_open(&c, bench_corpus_folder()) != RG_OK) return; /* no name: no row */
    const bench_system *s = bench_system_of(BENCH_TINY);
    snprintf(out->name, sizeof out->name, "tiny, %zu batches", c.batches);
    snprintf(out->params, sizeof out->params, "\"folder\": \"%.100s\", \"most\": %d, \"every\": %d, %s",
             bench_corpus_folder(), BENCH_CORPUS_WORDS, BENCH_CORPUS_EVERY, s->peer);
    out->items = (double)c.words;
    out->flops = 3 * 2.0 * s->products * (double)c.words;
    bench_corpus_close(&c);
}

static void teardown(void *context)
{
    state *s = context;
    rg_optimizer_free(s->opt);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    bench_corpus_close(&s->corpus);
    rg_free(s->storage);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    (void)row;
    state    *s = context;
    const int threads = rg_team_size(team);
    if (threads > MOST) return rg_fail(RG_EINVAL, "at most %d threads", MOST);
    if (!bench_corpus_folder()) return rg_fail(RG_EINVAL, "REGARD_MULTI30K names no folder");
    RG_TRY(bench_corpus_open(&s->corpus, bench_corpus_folder()));
    RG_TRY(bench_model_new(&s->model, bench_system_of(BENCH_TINY), false));
    const rg_workers_config   workers = { .workers = threads, .threads = 1, .seed = 1 };
    const rg_optimizer_config adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->opt, s->model->params, &adam));
    for (size_t i = 0; i < s->corpus.batches; i++)
        if (rg_batch_share_room(&s->corpus.batch[i]) > s->room) s->room = rg_batch_share_room(&s->corpus.batch[i]);
    s->storage = rg_alloc_array((size_t)threads * s->room, sizeof *s->storage);
    return s->storage ? RG_OK : RG_ENOMEM;
}

static rg_status train_on(state *s, const rg_batch *batch)
{
    rg_losses      losses;
    rg_step_report report;
    const void    *shares[MOST];
    const size_t   n = (size_t)rg_workers_count(s->workers);
    for (size_t i = 0; i < n; i++) {
        rg_batch_share(&s->share[i], s->storage + i * s->room, batch, i, n);
        shares[i] = &s->share[i];
    }
    const rg_job job = { .shares = shares, .count = n, .step = ++s->step, .loss = bench_loss, .context = s->model };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    s->loss = losses.sum / losses.count;
    return rg_optimizer_step(&report, s->opt, rg_workers_grads(s->workers), n, losses.count, 1e-4,
                             rg_workers_team(s->workers));
}

static rg_status run(void *context)
{
    state *s = context;
    for (size_t i = 0; i < s->corpus.batches; i++) RG_TRY(train_on(s, &s->corpus.batch[i]));
    return RG_OK;
}

/* Words of all batches, and parameters: both sides trained the same model on the same sentences. */
static double check(void *context)
{
    state *s = context;
    return isfinite(s->loss) ? (double)s->corpus.words + round((double)rg_params_numbers(s->model->params) / 1e5) * 1e6
                             : -1;
}

const bench_case bench_case_multi30k = {
    .name = "multi30k",
    .summary = "training Transformer-Tiny on real sentences",
    .rows = 1,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
