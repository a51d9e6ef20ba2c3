/* estimate.c - what a training will cost, before it is begun: operations of a batch on a dry tape, and the time of a few
 * updates of the real one, whose weights are thrown away.
 *
 *     seconds of an update = a words + b        a: forward and backward pass, b: the optimiser's step
 *
 * The two are told apart by updates of one batch and of several. */
#include <math.h>

#include "regard/task.h"

enum { LEAST_UPDATES = 2, DRY_BATCHES = 8, TIMES = 3 };

typedef struct stopwatch {
    const rg_prepared *prepared;
    double   budget;           /* seconds */
    double   begun, warm;      /* when; when the first update was done, which also fills caches and arenas */
    double   words, warm_words, last;
    double   cpu, warm_cpu;    /* of all threads */
    uint64_t updates, batches;
} stopwatch;

typedef struct timing {
    double words, seconds, cpu; /* means of an update */
    uint64_t updates;
} timing;

static void on_log(void *context, const rg_train_log *log)
{
    stopwatch *w = context;
    if (log->event != RG_TRAIN_UPDATE) return;
    w->last = rg_now();
    w->words = log->cost;
    w->cpu = log->cpu_seconds;
    if (++w->updates == 1) w->warm = w->last, w->warm_words = log->cost, w->warm_cpu = log->cpu_seconds;
}

static bool enough(void *context)
{
    const stopwatch *w = context;
    return w->updates > LEAST_UPDATES && rg_now() - w->begun >= w->budget;
}

/* The data may stand at the end of an epoch when a measurement begins. */
static rg_status next(void *context, rg_shares *out)
{
    stopwatch *w = context;
    RG_TRY(w->prepared->hooks.next(w->prepared->hooks.context, out));
    if (!out->count && !w->batches) RG_TRY(w->prepared->hooks.next(w->prepared->hooks.context, out));
    w->batches += out->count > 0;
    return RG_OK;
}

static rg_loss loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const stopwatch *w = context;
    return w->prepared->hooks.loss(w->prepared->hooks.context, tape, share, worker);
}

static void *carried(void *context, size_t *out_bytes)
{
    const stopwatch *w = context;
    return w->prepared->hooks.carried(w->prepared->hooks.context, out_bytes);
}

/* Updates of `delay` batches for so many seconds, at least three. */
static rg_status time_updates(timing *out, const rg_prepared *prepared, uint64_t delay, double seconds)
{
    stopwatch              w = { .prepared = prepared, .budget = seconds, .begun = rg_now() };
    const rg_trainer_hooks hooks = { .context = &w,
                                     .next = next,
                                     .loss = loss,
                                     .log = on_log,
                                     .stop = enough,
                                     .carried = prepared->hooks.carried ? carried : NULL };
    rg_trainer_config      c = prepared->config;
    rg_trainer            *trainer = NULL;
    c.delay = delay;
    c.validate_every = c.validate_epochs = c.save_every = c.save_epochs = c.log_every = c.epochs = c.patience = 0;
    c.save_seconds = 0;
    c.steps = (uint64_t)1 << 40;
    c.checkpoint = c.model = NULL;
    c.keep_best = c.restore_best = false;
    c.average = 0;
    RG_TRY(rg_trainer_new(&trainer, prepared->run->model->params, &c, &hooks));
    rg_status status = rg_trainer_run(trainer);
    rg_trainer_free(trainer);
    if (status != RG_ESTOP) return status == RG_OK ? rg_fail(RG_EINVAL, "the data ended") : status;
    *out = (timing){ .updates = w.updates - 1,
                     .words = (w.words - w.warm_words) / (double)(w.updates - 1),
                     .seconds = (w.last - w.warm) / (double)(w.updates - 1),
                     .cpu = (w.cpu - w.warm_cpu) / (double)(w.updates - 1) };
    return RG_OK;
}

/* Forward operations and words of the first batches; how many batches an epoch has, where the task can tell. */
static rg_status count_batches(rg_estimate *e, const rg_prepared *prepared)
{
    const rg_trainer_hooks *h = &prepared->hooks;
    const rg_tape_config    config = { .record = true, .learn = true, .dry = true };
    rg_tape                *tape;
    size_t                  batches = 0;
    RG_TRY(rg_tape_new(&tape, &config));
    rg_status status = RG_OK;
    for (; status == RG_OK && batches < DRY_BATCHES; batches++) {
        rg_shares shares = { 0 };
        status = h->next(h->context, &shares);
        if (status != RG_OK || !shares.count) break;
        for (size_t i = 0; status == RG_OK && i < shares.count; i++) {
            rg_tape_reset(tape, 0);
            rg_tape_set_progress(tape, (rg_progress){ .step = 1 });
            (void)h->loss(h->context, tape, shares.share[i], 0);
            status = rg_tape_status(tape);
            e->flops +=
                TIMES *
                rg_tape_get_cost(tape).flops; /* the backward pass has two products for each of the forward pass */
            e->bytes = fmax(e->bytes, (double)rg_tape_get_cost(tape).bytes);
        }
        e->words += shares.cost;
    }
    const double part = h->epoch_part ? h->epoch_part(h->context) : 0;
    rg_tape_free(tape);
    if (status == RG_OK && !batches) status = rg_fail(RG_EINVAL, "there is no batch to measure");
    if (status != RG_OK) return status;
    if (batches < DRY_BATCHES) e->epoch_batches = (double)batches; /* the epoch ended */
    else if (part > 0 && part < 1) e->epoch_batches = (double)batches / part;
    e->flops /= (double)batches;
    e->words /= (double)batches;
    return RG_OK;
}

static rg_status measure(void *context, const rg_prepared *prepared)
{
    rg_estimate *e = context;
    timing       one, several;
    e->parameters = rg_params_numbers(prepared->run->model->params);
    e->threads = prepared->run->own_threads;
    e->schedule = prepared->config.schedule;
    e->delay = prepared->config.delay;
    RG_TRY(count_batches(e, prepared));
    e->updates = prepared->config.steps;
    if (prepared->config.epochs && e->epoch_batches > 0) {
        const double by_epochs = ceil(e->epoch_batches / (double)e->delay) * (double)prepared->config.epochs;
        if (!e->updates || by_epochs < (double)e->updates) e->updates = (uint64_t)by_epochs;
    }
    RG_TRY(time_updates(&one, prepared, 1, e->budget / 2));
    RG_TRY(time_updates(&several, prepared, 4, e->budget / 2));
    e->measured = one.updates + several.updates;
    e->share = several.cpu / fmax(1e-9, several.seconds * e->threads);
    e->word_seconds = several.words > one.words ? (several.seconds - one.seconds) / (several.words - one.words) : 0;
    if (!(e->word_seconds > 0 && e->word_seconds * one.words <= one.seconds)) e->word_seconds = one.seconds / one.words;
    e->step_seconds = fmax(0, one.seconds - e->word_seconds * one.words);
    return RG_OK;
}

rg_status rg_estimate_training(rg_estimate *out, const rg_training *training, const rg_sizes *sizes, double seconds)
{
    *out = (rg_estimate){ .budget = seconds };
    return rg_learn_prepare(training, sizes, false, measure, out);
}

double rg_estimate_seconds(const rg_estimate *e, double updates, double words)
{
    return updates * (words * e->word_seconds + e->step_seconds);
}
