/* trainer.c - the training loop.
 *
 *     batch -> shares -> gradients ]  x delay   -> update -> log? validate? save? stop?
 *
 * Everything that decides what comes next is saved at the end of an update, never in the middle of one: the
 * parameters, the optimiser, the place in the epoch, the number of batches (which numbers the random draws), bests
 * and patience, and what the task says about its data. So a run that was killed and resumed equals one that was not,
 * bit for bit. */
#include "base/clock.h"
#include "base/hash.h"
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "train/optimizer.h"

/* ------------------------------------------------------------------------------------------------------ life */

static rg_status check(const rg_trainer_config *c, const rg_trainer_hooks *hooks)
{
    if (!hooks->next || !hooks->loss) return rg_fail(RG_EINVAL, "a task must give batches and a loss");
    if (c->delay == 0) return rg_fail(RG_EINVAL, "an update takes at least one batch");
    if (c->average > RG_AVERAGE_MAX)
        return rg_fail(RG_ELIMIT, "at most %d models are averaged, not %zu", RG_AVERAGE_MAX, c->average);
    if (c->average > 1 && c->restore_best)
        return rg_fail(RG_EINVAL,
                       "the final model is the mean of several or the best one, not both: average %zu and restore-best",
                       c->average);
    if (!(c->stalled_decay >= 0 && c->stalled_decay <= 1))
        return rg_fail(RG_EINVAL, "the factor for a stalled learning rate is %g, it must be from 0 to 1",
                       c->stalled_decay);
    if ((c->patience || c->keep_best || c->restore_best) && !hooks->validate)
        return rg_fail(RG_EINVAL, "patience and best models need validation data");
    return rg_schedule_check(&c->schedule);
}

rg_status rg_trainer_new(rg_trainer **out, rg_params *params, const rg_trainer_config *config,
                         const rg_trainer_hooks *hooks)
{
    *out = NULL;
    RG_TRY(check(config, hooks));
    rg_trainer *t = rg_alloc_zero(sizeof *t);
    if (!t) return RG_ENOMEM;
    t->params = params;
    t->config = *config;
    t->hooks = *hooks;
    t->at.epoch = 1;
    t->at.rate_factor = 1;
    t->at.part = config->steps || config->epochs || config->labels ? 0 : -1;
    t->processes = config->processes;
    rg_workers_config own = config->workers; /* of the workers of all processes this one's part */
    const int         ranks = rg_processes_count(t->processes);
    own.workers = (own.workers + ranks - 1) / ranks;
    rg_status status = RG_OK;
    if (ranks > 1 && own.workers > RG_PROCESS_WORKERS)
        status = rg_fail(RG_ELIMIT, "%d workers in one of %d processes; at most %d", own.workers, ranks, RG_PROCESS_WORKERS);
    if (status == RG_OK && t->processes) status = rg_state_new(&t->before);
    if (status == RG_OK) status = rg_workers_new(&t->workers, params, &own);
    if (status == RG_OK) status = rg_trainer__sums_new(t);
    if (status == RG_OK) status = rg_optimizer_new(&t->opt, params, &config->optimizer);
    if (status == RG_OK) status = rg_trainer__keep_new(t);
    if (status == RG_OK) status = rg_trainer__phases_new(t);
    if (status != RG_OK) rg_trainer_free(t);
    else *out = t;
    return status;
}

void rg_trainer_free(rg_trainer *t)
{
    if (!t) return;
    rg_trainer__sums_free(t);
    rg_free(t->kept);
    rg_free(t->carried);
    rg_state_free(t->before);
    rg_free(t->frozen);
    rg_optimizer_free(t->opt);
    rg_workers_free(t->workers);
    rg_free(t);
}

rg_workers *rg_trainer_workers(const rg_trainer *t) { return t->workers; }
rg_optimizer *rg_trainer_optimizer(const rg_trainer *t) { return t->opt; }
uint64_t rg_trainer_epochs(const rg_trainer *t) { return t->at.epoch - 1; }

rg_trainer_counts rg_trainer_count(const rg_trainer *t)
{
    return (rg_trainer_counts){ .updates = rg_optimizer_steps(t->opt), .epoch = t->at.epoch,
                                .epoch_batches = t->at.epoch_batches, .labels = (uint64_t)t->at.labels };
}

/* --------------------------------------------------------------------------------------------------- logging */

static void forget(rg_trainer *t)
{
    t->loss = t->labels = t->cost = t->norm = t->exchange = 0;
    t->clipped = t->updates = 0;
    t->since = rg_now();
    t->cpu_since = rg_cpu_now();
    rg_trainer__phase_clear(t);
}

/* How much of the run is done, by the limit that will be reached first; below 0 when it has none. */
double rg_trainer__part(const rg_trainer *t)
{
    const rg_trainer_config *c = &t->config;
    const double             in_epoch = t->hooks.epoch_part ? t->hooks.epoch_part(t->hooks.context) : 0;
    const double             by_steps = c->steps ? (double)rg_optimizer_steps(t->opt) / (double)c->steps : -1;
    const double             by_epochs = c->epochs ? ((double)(t->at.epoch - 1) + in_epoch) / (double)c->epochs : -1;
    const double             by_labels = c->labels ? t->at.labels / (double)c->labels : -1;
    return fmin(1, fmax(by_labels, fmax(by_steps, by_epochs)));
}

static rg_train_log log_of(rg_trainer *t, rg_train_event event)
{
    const double n = t->updates ? (double)t->updates : 1;
    for (size_t i = 0; i < t->config.phase_count; i++) {
        t->phase[i].steps = t->at.phase_steps[i];
        t->phase_mean[i] = t->phase[i];
        if (t->phase[i].labels > 0) t->phase_mean[i].loss /= t->phase[i].labels;
    }
    return (rg_train_log){
        .event = event,
        .step = rg_optimizer_steps(t->opt),
        .epoch = t->at.epoch,
        .batches = t->at.epoch_batches,
        .loss = t->labels > 0 ? t->loss / t->labels : 0,
        .labels = t->labels,
        .cost = t->cost,
        .seconds = rg_now() - t->since,
        .cpu_seconds = rg_cpu_now() - t->cpu_since,
        .exchange = t->exchange,
        .rate = t->rate,
        .norm = t->norm / n,
        .clipped = (double)t->clipped / n,
        .part = rg_trainer__part(t),
        .phases = t->phase_mean,
        .phase_count = t->config.phase_count,
    };
}

/* Of all entries, in their order. */
uint64_t rg_trainer__hash(const rg_params *params)
{
    rg_hash64 hash;
    rg_hash64_begin(&hash);
    for (size_t i = 0; i < rg_params_count(params); i++) {
        const rg_param *p = rg_params_at(params, i);
        rg_hash64_add(&hash, rg_param_data(p), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real));
    }
    return rg_hash64_end(&hash);
}

void rg_trainer__log(rg_trainer *t, rg_train_event event, const char *path, const char *reason)
{
    if (t->hooks.log) {
        rg_train_log log = log_of(t, event);
        log.path = path;
        log.reason = reason;
        if (event == RG_TRAIN_VALID) log.metrics = &t->at.metrics;
        if (event == RG_TRAIN_LOG) log.weights = rg_trainer__hash(t->params);
        t->hooks.log(t->hooks.context, &log);
    }
    if (event == RG_TRAIN_LOG) forget(t);
}

void rg_trainer__log_average(rg_trainer *t, const rg_metrics *mean, const rg_metrics *last, bool chosen)
{
    if (!t->hooks.log) return;
    rg_train_log log = log_of(t, RG_TRAIN_AVERAGED);
    log.metrics = mean->count ? mean : NULL;
    log.last = last->count ? last : NULL;
    log.averaged = t->at.saved_count;
    log.chosen = chosen;
    log.path = t->config.model;
    t->hooks.log(t->hooks.context, &log);
}

/* --------------------------------------------------------------------------------------------------- updates */

typedef struct update { /* the batches of one update */
    uint64_t batches;
    double   labels;
    double   divide; /* the gradient by this: the labels, unless the task says otherwise */
    bool     epoch_over;
} update;

static rg_status blame(rg_trainer *t, rg_status status, const rg_shares *shares, size_t failed)
{
    char        words[256] = "";
    const char *phase = rg_trainer__phase_name(t);
    if (t->hooks.blame && failed < shares->count)
        t->hooks.blame(t->hooks.context, shares->share[failed], words, sizeof words);
    return rg_fail_in(status,
                      "step %llu, epoch %llu, batch %llu%s%s%s%s: ", (unsigned long long)rg_optimizer_steps(t->opt) + 1,
                      (unsigned long long)t->at.epoch, (unsigned long long)t->at.epoch_batches + 1, phase ? ", " : "",
                      phase ? phase : "", *words ? ", " : "", words);
}

static rg_status one_batch(rg_trainer *t, update *u, const rg_shares *shares)
{
    rg_losses losses;
    size_t       first;
    const size_t own = rg_trainer__own_shares(t, shares, &first);
    rg_job    job = { .shares = shares->share + first, .count = own, .step = t->at.batches + 1, .add = u->batches > 0,
                      .loss = t->hooks.loss, .context = t->hooks.context,
                      .progress = { t->at.part, rg_optimizer_steps(t->opt) + 1, t->at.phase } };
    RG_TRY(rg_trainer__carry_before(t));
    rg_status status = rg_trainer__run(&losses, t, &job, u->batches + 1 == t->config.delay);
    if (rg_processes_lost(t->processes)) return status;
    if (status != RG_OK) status = blame(t, status, shares, losses.failed < own ? first + losses.failed : shares->count);
    RG_TRY(rg_trainer__share_losses(t, &losses, status));
    RG_TRY(rg_trainer__carry_after(t));
    t->at.batches++;
    t->at.epoch_batches++;
    u->batches++;
    u->labels += losses.count;
    u->divide += shares->divide > 0 ? shares->divide : losses.count;
    t->loss += losses.sum;
    t->phase[t->at.phase].loss += losses.sum;
    t->phase[t->at.phase].labels += losses.count;
    t->labels += losses.count;
    t->cost += shares->cost;
    return RG_OK;
}

/* Gradients of `delay` batches, or of what the epoch still had. */
static rg_status gather(rg_trainer *t, update *u)
{
    while (u->batches < t->config.delay) {
        rg_shares shares = {0};
        RG_TRY(t->hooks.next(t->hooks.context, &shares));
        if (shares.count == 0) {
            u->epoch_over = true;
            return RG_OK;
        }
        RG_TRY(one_batch(t, u, &shares));
    }
    return RG_OK;
}

static rg_status apply(rg_trainer *t, const update *u)
{
    rg_step_report report;
    const uint64_t number = (t->config.phase_count ? t->at.phase_steps[t->at.phase] : rg_optimizer_steps(t->opt)) + 1;
    t->config.schedule.part = t->at.part > 0 ? t->at.part : 0;
    const uint64_t when = rg_schedule_by_epochs(&t->config.schedule) ? t->at.epoch : number;
    t->rate = t->at.rate_factor * rg_schedule_rate(&t->config.schedule, when) * rg_trainer__phase_factor(t);
    size_t blocks;
    RG_TRY(rg_trainer__share_gradients(t, &blocks));
    t->interrupted = false; /* from here on nobody else is needed */
    rg_status status = rg_optimizer__step(&report, t->opt, rg_workers_grads(t->workers), blocks, u->divide, t->rate,
                                          number, rg_workers_team(t->workers));
    if (status != RG_OK) return blame(t, status, &(rg_shares){0}, 0);
    t->updates++;
    t->at.labels += u->labels;
    t->at.last_labels = u->labels;
    t->norm += report.norm;
    t->clipped += report.clipped;
    t->phase[t->at.phase].rate = t->rate;
    t->at.phase_steps[t->at.phase]++;
    return RG_OK;
}

static rg_status end_epoch(rg_trainer *t)
{
    if (t->at.epoch_batches == 0)
        return rg_fail(RG_EINVAL, "epoch %llu has no batch: is the training data empty?",
                       (unsigned long long)t->at.epoch);
    rg_trainer__log(t, RG_TRAIN_EPOCH, NULL, NULL);
    t->at.epoch++;
    t->at.epoch_batches = 0;
    return RG_OK;
}

/* One update; whose turn is next, and what part of the run is done, is settled before anything can be saved. */
static rg_status learn(rg_trainer *t, update *u)
{
    RG_TRY(rg_trainer__remember(t));
    rg_trainer__phase_begin(t);
    rg_status status = gather(t, u);
    if (status == RG_OK && u->labels > 0) status = apply(t, u);
    rg_trainer__phase_end(t);
    RG_TRY(status);
    t->interrupted = false;
    if (u->epoch_over) RG_TRY(end_epoch(t));
    t->at.part = rg_trainer__part(t);
    if (u->labels > 0) rg_trainer__phase_turn(t);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ loop */

static bool due(uint64_t now, uint64_t every) { return every && now % every == 0; }

/* Did the last update pass a multiple of `every` labels? */
static bool passed(const rg_trainer *t, uint64_t every)
{
    return every && floor(t->at.labels / (double)every) > floor((t->at.labels - t->at.last_labels) / (double)every);
}

/* Why there is nothing left to do, or NULL. */
static const char *over(const rg_trainer *t)
{
    const rg_trainer_config *c = &t->config;
    if (rg_trainer__out_of_patience(t)) return "validation stopped getting better";
    if (c->steps && rg_optimizer_steps(t->opt) >= c->steps) return "all steps are done";
    if (c->epochs && t->at.epoch > c->epochs) return "all epochs are done";
    if (c->labels && t->at.labels >= (double)c->labels) return "all target tokens are done";
    return NULL;
}

/* A validation that is cut short (RG_ESTOP) counts for nothing: it is owed, and the run that resumes begins with it. */
static rg_status validate(rg_trainer *t, uint64_t after)
{
    t->at.owed = 0;
    const rg_status status = rg_trainer__validate(t);
    if (status == RG_ESTOP) t->at.owed = after;
    return status;
}

/* What is due after an update, the end of an epoch or both. *out_saved: the checkpoint is that of this step. */
static rg_status validate_and_save(rg_trainer *t, uint64_t after, bool *out_saved)
{
    const rg_trainer_config *c = &t->config;
    const uint64_t           step = rg_optimizer_steps(t->opt), ended = t->at.epoch - 1;
    const bool               updated = after & RG_OWED_UPDATE, epoch_over = after & RG_OWED_EPOCH;
    *out_saved = false;
    const bool by_updates = updated && (due(step, c->validate_every) || passed(t, c->validate_labels));
    const bool asked = by_updates || (epoch_over && due(ended, c->validate_epochs));
    const bool fresh = c->validate_every ? !due(step, c->validate_every) : c->validate_epochs || c->validate_labels;
    const bool last = over(t) && fresh && !asked; /* what the run came to may be its best */
    if (asked || last) RG_TRY(validate(t, after));
    const bool save = updated && (due(step, c->save_every) || passed(t, c->save_labels));
    const bool now = save || (epoch_over && due(ended, c->save_epochs)) || over(t);
    const bool late = c->save_seconds > 0 && rg_now() - t->saved_at >= c->save_seconds;
    if (now) RG_TRY(rg_trainer__save_due(t));
    else if (late) RG_TRY(rg_trainer_save(t));
    *out_saved = now || late;
    return RG_OK;
}

/* What comes after an update. */
static rg_status follow_up(rg_trainer *t, const update *u, bool *out_saved)
{
    const bool updated = u->labels > 0;
    if (updated) rg_trainer__log(t, RG_TRAIN_UPDATE, NULL, NULL);
    if (updated && (due(rg_optimizer_steps(t->opt), t->config.log_every) || passed(t, t->config.log_labels))) {
        RG_TRY(rg_trainer__same_everywhere(t));
        rg_trainer__log(t, RG_TRAIN_LOG, NULL, NULL);
    }
    return validate_and_save(t, (updated ? RG_OWED_UPDATE : 0u) | (u->epoch_over ? RG_OWED_EPOCH : 0u), out_saved);
}

static rg_status stop(rg_trainer *t, bool saved)
{
    const char *path = t->config.checkpoint;
    t->stopped = true;
    if (!saved) RG_TRY(rg_trainer_save(t));
    rg_trainer__log(t, RG_TRAIN_DONE, t->config.model, "asked to stop");
    return rg_fail(RG_ESTOP, "stopped after step %llu%s%s", (unsigned long long)rg_optimizer_steps(t->opt),
                   path ? "; to resume, run the same command again: everything is in " : "", path ? path : "");
}

/* The model file and its relatives, as they validated: which one to use? */
static rg_status done(rg_trainer *t)
{
    const rg_metric *model = t->model.count ? &t->model.metric[0] : NULL,
                    *run = t->at.metrics.count ? &t->at.metrics.metric[0] : NULL;
    const bool       better = model && run && (run->higher ? run->best > model->value : run->best < model->value);
    char *best = better && t->config.keep_best && t->config.model ? rg_trainer__best_name(t, run->name) : NULL;
    if (better && t->config.keep_best && t->config.model && !best) return RG_ENOMEM;
    rg_train_log log = log_of(t, RG_TRAIN_DONE);
    log.path = best ? best : t->config.model;
    log.chosen = best != NULL;
    log.reason = over(t);
    log.metrics = t->config.restore_best && t->at.kept.count ? &t->at.kept : run ? &t->at.metrics : NULL;
    if (t->hooks.log) t->hooks.log(t->hooks.context, &log);
    rg_free(best);
    return RG_OK;
}

/* A process is gone: what there was before the update that cannot be ended is saved, by rank 0 or, for it, by rank 1. */
static rg_status save_the_rest(rg_trainer *t, rg_status status, bool saved)
{
    const bool mine = rg_processes_rank(t->processes) == 0 || strstr(rg_message(), "rank 0") != NULL;
    char       message[512];
    snprintf(message, sizeof message, "%s", rg_message());
    if (rg_processes_rank(t->processes) > 1 || !mine) return status;
    t->saves_for_rank_0 = true;
    if (t->interrupted) t->at = t->at_before;
    if ((!saved || t->interrupted) && rg_trainer_save(t) != RG_OK)
        return rg_fail_in(status, "%s; and saving failed: ", message);
    const char *path = t->config.checkpoint;
    return rg_fail(status, "%s; ended after step %llu%s%s", message, (unsigned long long)rg_optimizer_steps(t->opt),
                   path ? ", and the same command resumes, with any number of ranks, from " : "", path ? path : "");
}

static rg_status loop(rg_trainer *t, bool *saved)
{
    rg_status status = t->at.owed ? validate_and_save(t, t->at.owed, saved) : RG_OK;
    while (status == RG_OK && !over(t)) {
        update u = { 0 };
        *saved = false;
        RG_TRY(learn(t, &u));
        status = follow_up(t, &u, saved);
        bool asked = status == RG_OK && !over(t) && t->hooks.stop && t->hooks.stop(t->hooks.context);
        if (status == RG_OK && !over(t)) RG_TRY(rg_trainer__share_stop(t, &asked));
        if (asked) return stop(t, *saved);
    }
    return status;
}

rg_status rg_trainer_run(rg_trainer *t)
{
    rg_trainer__log(t, RG_TRAIN_START, NULL, NULL);
    t->saved_at = rg_now();
    forget(t);
    bool      saved = false;
    RG_TRY(rg_trainer__same_everywhere(t));
    rg_status status = loop(t, &saved);
    if (rg_processes_lost(t->processes)) return save_the_rest(t, status, saved);
    if (status == RG_ESTOP && t->stopped) return status;
    if (status == RG_ESTOP) return stop(t, false); /* in the middle of a validation */
    RG_TRY(status);
    if (!rg_trainer__writes(t)) return RG_OK;
    t->processes = NULL; /* rank 0 averages and chooses, alone */
    RG_TRY(rg_trainer__finish_model(t)); /* a run that was over already may have been killed before it did */
    return done(t);
}
