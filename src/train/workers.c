/* workers.c - data parallel: every worker takes a share of the batch on a tape, a team and a gradient block of its own.
 *
 *     crew      worker 0      worker 1     ...        one thread each (a team whose members are the workers)
 *               tape, grads   tape, grads
 *               team of k     team of k
 *
 * A tape is reset at the end of a run too: an arena that had to grow joins its chunks there, so the second step of a
 * loop that repeats itself allocates nothing. */
#include <math.h>
#include <string.h>

#include "autograd/params.h"
#include "autograd/tape.h"
#include "regard/train.h"
#include "train/trainer.h"

enum { MOST_WORKERS = 256, MESSAGE_ROOM = 512 };

typedef struct worker {
    rg_tape  *tape;
    rg_team  *team; /* NULL: alone */
    double    sum, count;
    rg_status status;
    char      message[MESSAGE_ROOM];
} worker;

struct rg_workers {
    int        count;
    rg_team   *crew; /* NULL with one worker               */
    rg_team   *all;  /* every thread; NULL: the crew or the only worker's team has them */
    worker    *worker;
    rg_grads **grads;
};

/* ------------------------------------------------------------------------------------------------------ life */

static rg_status make_worker(rg_workers *w, int i, rg_params *params, const rg_workers_config *config)
{
    if (config->threads > 1) RG_TRY(rg_team_new(&w->worker[i].team, config->threads));
    RG_TRY(rg_grads_new(&w->grads[i], params));
    rg_tape_config tape = RG_TAPE_CONFIG_DEFAULT;
    tape.seed = config->seed;
    tape.team = w->worker[i].team;
    tape.grads = w->grads[i];
    tape.gather = true;
    tape.bytes = config->bytes;
    return rg_tape_new(&w->worker[i].tape, &tape);
}

rg_status rg_workers_new(rg_workers **out, rg_params *params, const rg_workers_config *config)
{
    *out = NULL;
    if (config->workers < 1 || config->workers > MOST_WORKERS)
        return rg_fail(RG_EINVAL, "there can be 1 to %d workers, not %d", MOST_WORKERS, config->workers);
    if (config->threads < 1) return rg_fail(RG_EINVAL, "a worker has at least one thread, not %d", config->threads);
    rg_workers *w = rg_alloc_zero(sizeof *w);
    if (!w) return RG_ENOMEM;
    const size_t n = (size_t)config->workers;
    rg_status    status = RG_OK;
    w->count = config->workers;
    w->worker = rg_alloc_zero(n * sizeof *w->worker);
    w->grads = rg_alloc_zero(n * sizeof *w->grads);
    if (!w->worker || !w->grads) status = RG_ENOMEM;
    for (int i = 0; i < w->count && status == RG_OK; i++) status = make_worker(w, i, params, config);
    if (status == RG_OK && w->count > 1) status = rg_team_new(&w->crew, w->count);
    if (status == RG_OK && w->count > 1 && config->threads > 1)
        status = rg_team_new(&w->all, w->count * config->threads);
    if (status != RG_OK) rg_workers_free(w);
    else *out = w;
    return status;
}

void rg_workers_free(rg_workers *w)
{
    if (!w) return;
    for (int i = 0; i < w->count && w->worker && w->grads; i++) {
        rg_tape_free(w->worker[i].tape);
        rg_grads_free(w->grads[i]);
        rg_team_free(w->worker[i].team);
    }
    rg_team_free(w->all);
    rg_team_free(w->crew);
    rg_free(w->grads);
    rg_free(w->worker);
    rg_free(w);
}

void rg_workers__loss(const rg_workers *w, size_t i, double *sum, double *count)
{
    *sum = w->worker[i].sum;
    *count = w->worker[i].count;
}

int rg_workers_count(const rg_workers *w) { return w->count; }
rg_tape *rg_workers_tape(const rg_workers *w, int i) { return i >= 0 && i < w->count ? w->worker[i].tape : NULL; }
rg_grads *const *rg_workers_grads(const rg_workers *w) { return w->grads; }
rg_team *rg_workers_team(const rg_workers *w) { return w->all ? w->all : w->crew ? w->crew : w->worker[0].team; }

/* ---------------------------------------------------------------------------------------------------- running */

typedef struct running {
    rg_workers   *workers;
    const rg_job *job;
} running;

static rg_status learn(worker *w, const rg_job *job, size_t i)
{
    rg_tape_reset(w->tape, job->step);
    rg_tape_set_progress(w->tape, job->progress);
    rg_loss loss = job->loss(job->context, w->tape, job->shares[i], (int)i);
    RG_TRY(rg_tape_status(w->tape));
    if (!loss.sum && loss.count == 0) return RG_OK; /* nothing to learn from */
    if (!isfinite(loss.count) || loss.count < 0) return rg_fail(RG_ENUMBER, "the loss counts %g labels", loss.count);
    rg_tape__announce(w->tape);
    RG_TRY(rg_tape_backward(w->tape, loss.sum));
    w->sum = (double)rg_tensor_at(loss.sum, 0, 0);
    w->count = loss.count;
    return RG_OK;
}

/* Whoever waits for gradients gets what there is. */
static void release(rg_grads *grads)
{
    if (grads->final) rg_final_mark_all(grads->final, true);
}

/* The message of a thread stays with the thread: keep a copy where the caller can see it. */
static void run_one(void *context, int member, size_t begin, size_t end)
{
    running *r = context;
    (void)member;
    for (size_t i = begin; i < end; i++) {
        worker *w = &r->workers->worker[i];
        w->sum = w->count = 0;
        w->status = learn(w, r->job, i);
        if (w->status != RG_OK) snprintf(w->message, sizeof w->message, "%s", rg_message());
        rg_tape_reset(w->tape, r->job->step);
        release(r->workers->grads[i]);
    }
}

rg_status rg_workers_run(rg_losses *out, rg_workers *w, const rg_job *job)
{
    *out = (rg_losses){ .failed = job->count };
    if (job->count > (size_t)w->count) return rg_fail(RG_EINVAL, "%zu shares for %d workers", job->count, w->count);
    for (int i = 0; i < w->count && !job->add; i++) rg_grads_reset(w->grads[i]);
    for (int i = 0; i < w->count; i++) w->worker[i].sum = w->worker[i].count = 0;
    for (size_t i = job->count; i < (size_t)w->count; i++) release(w->grads[i]);
    running r = { .workers = w, .job = job };
    rg_team_for(w->crew, job->count, 1, run_one, &r);
    for (size_t i = 0; i < job->count; i++) {
        if (w->worker[i].status != RG_OK) {
            out->failed = i;
            return rg_fail(w->worker[i].status, "worker %zu: %s", i, w->worker[i].message);
        }
        out->sum += w->worker[i].sum;
        out->count += w->worker[i].count;
    }
    return RG_OK;
}
