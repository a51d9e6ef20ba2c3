/* learn.c - one training for every kind of data: open the data, make the model, run the trainer, finish.
 *
 * It knows a task by its struct alone. What a task does not say, rg_learning decides. */
#include "train/learn.h"
#include "train/trainer.h"

#include <string.h>

typedef struct learning {
    rg_run     run;
    rg_learned learned;
    rg_trainer_phase phase[RG_PHASES_MAX];
    rg_objectives   *objectives; /* NULL: the system's own loss */
} learning;

/* ------------------------------------------------------------------------------------------------------- hooks */

static rg_status next(void *context, rg_shares *out)
{
    rg_run *r = &((learning *)context)->run;
    return r->task->next(r, out);
}

static rg_loss share_loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const learning *l = context;
    const rg_run   *r = &l->run;
    (void)worker;
    if (l->objectives) return rg_objectives_loss(tape, l->objectives, share);
    if (r->system->phases) return r->system->phases[rg_tape_progress(tape).phase].loss(tape, r->model, share);
    return r->loss ? r->loss(r, tape, share) : r->system->loss(tape, r->model, share);
}

static rg_status judge(void *context, rg_metrics *out)
{
    learning    *l = context;
    const double begun = rg_now();
    rg_status    status = l->run.task->judge(&l->run, out);
    l->learned.valid_seconds += rg_now() - begun;
    l->learned.validations++;
    return status;
}

static rg_status describe(void *context, rg_state *state)
{
    return rg_model_describe(state, ((const learning *)context)->run.model);
}

static rg_status tell(void *context, rg_state *state)
{
    const learning *l = context;
    if (l->objectives) RG_TRY(rg_learn__put_objectives(state, l->objectives));
    return l->run.task->tell ? l->run.task->tell(&l->run, state) : RG_OK;
}

static rg_status seek(void *context, const rg_state *state)
{
    const learning *l = context;
    rg_run         *r = &((learning *)context)->run;
    if (l->objectives) RG_TRY(rg_learn__same_objectives(r->report, state, l->objectives));
    if (r->task->seek) RG_TRY(r->task->seek(r, state));
    rg_tell_changed_settings(r->report, state, r->model);
    return RG_OK;
}

static void blame(void *context, const void *share, char *out, size_t room)
{
    const rg_run *r = &((const learning *)context)->run;
    if (r->task->blame) r->task->blame(r, share, out, room);
}

enum { OUT_OF_REACH = 100000 }; /* so many epochs are no limit to show progress by: patience ends the run */

/* A line for every epoch's validation would be two lines per update of a small graph: where an epoch has fewer than
 * disp-freq updates, people see only those of every disp-freq-th update. */
static void take_notes(rg_metrics *out, const learning *l, const rg_train_log *log)
{
    rg_objective_note notes[RG_OBJECTIVE_NOTES];
    const size_t n = rg_objectives_notes(notes, l->objectives, (rg_progress){ .part = log->part, .step = log->step });
    for (size_t i = 0; i < n; i++) (void)rg_metrics_add(out, notes[i].name, notes[i].value, true); /* one too many is left out of the log */
}

static void forward_log(void *context, const rg_train_log *log)
{
    const rg_run  *r = &((const learning *)context)->run;
    const uint64_t every = (uint64_t)r->learning->disp_freq;
    const bool     often =
        r->learning->valid_epochs && every && log->step % every != 0 && log->step < (log->epoch - 1) * every;
    rg_train_log   shown = *log;
    if (log->event == RG_TRAIN_VALID && often) return;
    if (r->learning->patience && r->learning->epochs >= OUT_OF_REACH) shown.part = -1;
    if (r->task->loss_factor > 0) shown.loss *= r->task->loss_factor;
    rg_metrics notes = { 0 };
    if (log->event == RG_TRAIN_LOG && ((const learning *)context)->objectives) {
        take_notes(&notes, context, log);
        shown.notes = notes.count ? &notes : NULL;
    }
    rg_tell_log(r->report, &shown);
}

static double epoch_part(void *context)
{
    const rg_run *r = &((const learning *)context)->run;
    return r->task->epoch_part(r);
}

static void *carried(void *context, size_t *out_bytes)
{
    rg_run *r = &((learning *)context)->run;
    return r->task->carried(r, out_bytes);
}

static bool forward_stop(void *context) { return rg_told_to_stop(((const learning *)context)->run.report); }

/* ------------------------------------------------------------------------------------------------------- model */

/* --init-from: what has the same name and shape is taken; the lists are told. */
static rg_status start_from(const rg_run *r)
{
    const char *path = r->learning->init_from;
    rg_text     taken = { 0 }, fresh = { 0 };
    size_t      count = 0;
    rg_status   status = rg_model_take(&count, &taken, &fresh, r->model, path);
    if (status == RG_OK && !fresh.length) rg_tell(r->report, "all %zu parameters from %s", count, path);
    else if (status == RG_OK)
        rg_tell(r->report, "%zu of %zu parameters from %s: %s", count, rg_params_count(r->model->params), path,
                rg_text_c(&taken));
    if (status == RG_OK && fresh.length) rg_tell(r->report, "fresh: %s", rg_text_c(&fresh));
    rg_text_free(&taken);
    rg_text_free(&fresh);
    return status;
}

static rg_status freeze(const rg_run *r)
{
    const rg_list *patterns = &r->learning->freeze;
    for (size_t i = 0; i < patterns->count; i++) {
        const size_t n = rg_params_freeze(r->model->params, patterns->items[i], true);
        if (!n) return rg_fail(RG_EINVAL, "--freeze %s: no parameter has such a name", patterns->items[i]);
        rg_tell(r->report, "%zu parameters frozen by %s", n, patterns->items[i]);
    }
    return RG_OK;
}

static rg_status make_model(learning *l, const rg_training *t, bool empty)
{
    rg_run *r = &l->run;
    if (empty)
        RG_TRY(rg_model_new_empty(&r->model, r->system, t->system_options, &r->sizes, SIZE_MAX, RG_WEIGHT_STORED));
    else
        RG_TRY(rg_model_new_with(&r->model, r->system, t->system_options, &r->sizes, (uint64_t)r->learning->seed,
                                 l->objectives ? rg_objectives_build : NULL, l->objectives));
    rg_model_own(r->model, r->assets, r->task->drop);
    r->assets = NULL;
    if (r->learning->init_from[0]) RG_TRY(start_from(r));
    RG_TRY(freeze(r));
    return r->task->ready ? r->task->ready(r) : RG_OK;
}

/* Width of the model's rows, for the schedule of the Transformer: its --dim-emb. */
static double width_of(const rg_system *system, const void *options)
{
    for (const rg_option *row = system->options; row->name; row++)
        if (strcmp(row->name, "dim-emb") == 0 && row->kind == RG_OPTION_INT)
            return (double)*(const int64_t *)((const char *)options + row->offset);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- run */

static rg_status plan_phases(learning *l, rg_trainer_config *config)
{
    const rg_run *r = &l->run;
    size_t        n = 0;
    for (const rg_system_phase *p = r->system->phases; p && p->name; p++, n++) {
        if (n == RG_PHASES_MAX)
            return rg_fail(RG_ELIMIT, "%s learns in more than %d phases", r->system->name, RG_PHASES_MAX);
        const int64_t every = p->every ? p->every(r->model) : 1;
        if (every < 1)
            return rg_fail(RG_EINVAL, "%s: phase %s comes every %lld rounds", r->system->name, p->name,
                           (long long)every);
        l->phase[n] =
            (rg_trainer_phase){ .name = p->name, .learns = p->learns, .every = (uint64_t)every, .rate = p->rate };
        if (p->share) l->phase[n].share = p->share(r->model);
    }
    config->phases = l->phase;
    config->phase_count = n;
    return RG_OK;
}

static bool validates(const rg_run *r) { return r->task->judge && (!r->task->judges || r->task->judges(r)); }

static rg_status plan(learning *l, rg_trainer_config *config, const void *options)
{
    rg_run *r = &l->run;
    *config = rg_learning_config(r->learning, validates(r), width_of(r->system, options));
    config->processes = r->processes;
    config->workers.workers *= rg_processes_count(r->processes);
    RG_TRY(plan_phases(l, config));
    if (r->task->plan) RG_TRY(r->task->plan(r, config));
    return rg_learning_check(r->learning, config);
}

static rg_status train(learning *l, char *checkpoint, const void *options)
{
    rg_run           *r = &l->run;
    rg_trainer_config config;
    RG_TRY(plan(l, &config, options));
    config.checkpoint = checkpoint;
    const rg_trainer_hooks hooks = { .context = l,
                                     .next = next,
                                     .loss = share_loss,
                                     .validate = validates(r) ? judge : NULL,
                                     .describe = describe,
                                     .save = tell,
                                     .load = seek,
                                     .blame = blame,
                                     .log = forward_log,
                                     .stop = forward_stop,
                                     .carried = r->task->carried ? carried : NULL,
                                     .epoch_part = r->task->epoch_part ? epoch_part : NULL };
    if (r->processes) rg_processes_set_stop(r->processes, forward_stop, l);
    RG_TRY(rg_trainer_new(&r->trainer, r->model->params, &config, &hooks));
    uint64_t step = 0;
    if (!r->learning->overwrite && checkpoint) RG_TRY(rg_trainer_resume(&step, r->trainer));
    const double begun = rg_now();
    rg_status    status = rg_trainer_run(r->trainer);
    l->learned.seconds = rg_now() - begun;
    l->learned.updates = rg_optimizer_steps(rg_trainer_optimizer(r->trainer));
    l->learned.epochs = rg_trainer_epochs(r->trainer);
    return status;
}

/* A run that came to its end leaves in memory what its file holds. */
static rg_status train_whole(learning *l, char *checkpoint, const void *options)
{
    RG_TRY(train(l, checkpoint, options));
    if (rg_processes_rank(l->run.processes)) return RG_OK;
    return rg_trainer__take_final(l->run.trainer);
}

/* Asked to stop counts as done for the task; the status is kept. */
static rg_status finish(rg_run *r, rg_status status)
{
    if ((status != RG_OK && status != RG_ESTOP) || !r->task->finish || rg_processes_rank(r->processes)) return status;
    char     *message = status == RG_OK ? NULL : rg_strdup(rg_message());
    rg_status finished = r->task->finish(r);
    if ((finished == RG_OK || finished == RG_ESTOP) && message) rg_fail(status, "%s", message);
    rg_free(message);
    return finished != RG_OK ? finished : status;
}

/* How the loss is made, for systems that have none of their own. */
static rg_status make_objectives(learning *l, const rg_training *t)
{
    if (!t->objective_count && (t->system->loss || t->system->phases)) return RG_OK;
    for (size_t i = 0; i < t->objective_count; i++)
        if (t->objectives[i].objective->refines && !l->run.learning->init_from[0])
            rg_tell(l->run.report,
                    "warning: --objective %s makes a model better that has learned already: give one with --init-from",
                    t->objectives[i].objective->name);
    RG_TRY(rg_objectives_new(&l->objectives, t->system, t->objectives, t->objective_count));
    return rg_objectives_column(&l->run.column, l->objectives);
}

static rg_status start(learning *l, const rg_training *t)
{
    const rg_task *task = t->system->task;
    l->run = (rg_run){ .task = task,
                       .system = t->system,
                       .options = t->task_options,
                       .learning = t->learning,
                       .report = t->report,
                       .threads = rg_learning_threads(t->learning) * rg_processes_count(t->processes),
                       .own_threads = rg_learning_threads(t->learning),
                       .processes = t->processes,
                       .data = rg_alloc_zero(task->data_bytes + 1),
                       .assets = rg_alloc_zero(task->assets_bytes + sizeof(rg_model *)) };
    return l->run.data && l->run.assets ? make_objectives(l, t) : RG_ENOMEM;
}

static void end(rg_run *r)
{
    if (r->data) r->task->close(r);
    rg_trainer_free(r->trainer);
    if (r->assets && r->task->drop) r->task->drop(r->assets);
    rg_free(r->assets);
    rg_free(r->data);
}

rg_status rg_learn(rg_model **out_model, rg_learned *out_learned, const rg_training *t)
{
    learning  l = { 0 };
    char     *checkpoint = NULL;
    rg_status status = start(&l, t);
    if (out_model) *out_model = NULL;
    if (t->learning->model[0] && !(checkpoint = rg_format("%s.checkpoint", t->learning->model))) status = RG_ENOMEM;
    if (status == RG_OK) status = l.run.task->open(&l.run);
    if (status == RG_OK) status = make_model(&l, t, false);
    if (status == RG_OK) status = finish(&l.run, train_whole(&l, checkpoint, t->system_options));
    end(&l.run);
    rg_objectives_free(l.objectives);
    rg_free(checkpoint);
    l.learned.final = l.run.final;
    if (out_learned) *out_learned = l.learned;
    if (out_model && status == RG_OK) *out_model = l.run.model;
    else rg_model_free(l.run.model);
    return status;
}

/* ----------------------------------------------------------------------------------------------- without learning */

static rg_status change_sizes(rg_run *r, const rg_sizes *sizes)
{
    size_t ignored;
    for (size_t i = 0; sizes && i < RG_SIZES_MAX && sizes->size[i].name[0]; i++)
        if (rg_sizes_get(&ignored, &r->sizes, sizes->size[i].name))
            RG_TRY(rg_sizes_put(&r->sizes, sizes->size[i].name, sizes->size[i].value));
    return RG_OK;
}

rg_status rg_learn_prepare(const rg_training *t, const rg_sizes *sizes, bool empty,
                           rg_status (*with)(void *context, const rg_prepared *prepared), void *context)
{
    learning  l = { 0 };
    rg_status status = start(&l, t);
    if (status == RG_OK) status = l.run.task->open(&l.run);
    if (status == RG_OK) status = change_sizes(&l.run, sizes);
    if (status == RG_OK) status = make_model(&l, t, empty && !l.objectives); /* they may have parameters of their own */
    rg_prepared prepared = { .run = &l.run,
                             .hooks = { .context = &l,
                                        .next = next,
                                        .loss = share_loss,
                                        .blame = blame,
                                        .carried = l.run.task->carried ? carried : NULL,
                                        .epoch_part = l.run.task->epoch_part ? epoch_part : NULL } };
    if (status == RG_OK) status = plan(&l, &prepared.config, t->system_options);
    if (status == RG_OK) status = with(context, &prepared);
    end(&l.run);
    rg_objectives_free(l.objectives);
    rg_model_free(l.run.model);
    return status;
}
