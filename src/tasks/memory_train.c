/* memory_train.c - learning puzzles that need a memory: sequences drawn at random, loss in bits a sequence.
 *
 * RMSProp as in Graves 2013, momentum 0.9, every component of the gradient cut to +- 10, as in the paper. Ours: the rate is 3e-4 (theirs
 * 1e-4) and falls to 0, and the norm of the gradient is cut to 1: once a puzzle is solved gradients are tiny, and without that one surprise
 * undoes what was learned. */
#include "tasks/memory_task.h"
#include "tasks/model_file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(rg_memory_options, field)

const rg_option rg_memory_rows[] = {
    { RG_OPTION_STRING, "task", AT(task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_INT, "bits", AT(bits), "8", "of a vector", 0, "[1,inf)" },
    { RG_OPTION_INT, "min-length", AT(min_length), "1", "shortest sequence; recall: items", 0, "[1,inf)" },
    { RG_OPTION_INT, "max-length", AT(max_length), "20", "longest sequence to learn from", 0, "[1,inf)" },
    { RG_OPTION_INT, "max-repeats", AT(max_repeats), "10", "repeat-copy: most repeats", 0, "[1,inf)" },
    { RG_OPTION_STRING, "model", AT(model), "model.safetensors", "file to write; MODEL.checkpoint beside it is resumed from", 'm', NULL },
    { RG_OPTION_BOOL, "overwrite", AT(overwrite), "false", "begin anew although a checkpoint is there", 0, NULL },
    { RG_OPTION_STRING, "optimizer", AT(optimizer), "graves", "graves (RMSProp of Graves 2013), adam, ...", 'o', NULL },
    { RG_OPTION_REAL, "learn-rate", AT(rate), "0.0003", "step size (the paper: 0.0001)", 'l', "(0,inf)" },
    { RG_OPTION_STRING, "lr-schedule", AT(schedule), "linear", "the step size falls to 0 over --sequences, or stays", 0, "linear|cosine|constant" },
    { RG_OPTION_REAL, "momentum", AT(momentum), "0.9", "momentum or first beta; -1: the optimiser's own", 0, "[-1,1)" },
    { RG_OPTION_REAL, "clip-value", AT(clip_value), "10", "largest component of the gradient; 0: not cut", 0, "[0,inf)" },
    { RG_OPTION_REAL, "clip-norm", AT(clip_norm), "1", "largest norm of the gradient; 0: not cut", 0, "[0,inf)" },
    { RG_OPTION_INT, "sequences", AT(sequences), "50000", "sequences to learn from", 0, "[1,inf)" },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "1", "sequences to an update, all of one length", 0, "[1,inf)" },
    { RG_OPTION_INT, "valid-freq", AT(valid_freq), "2000", "updates between validations; 0: none", 0, "[0,inf)" },
    { RG_OPTION_INT, "valid-length", AT(valid_length), "100", "length of the second validation: longer than any that was learned from", 0, "[1,inf)" },
    { RG_OPTION_INT, "valid-count", AT(valid_count), "20", "sequences of a validation", 0, "[1,inf)" },
    { RG_OPTION_INT, "save-freq", AT(save_freq), "2000", "updates between checkpoints", 0, "[0,inf)" },
    { RG_OPTION_REAL, "save-minutes", AT(save_minutes), "5", "most minutes between checkpoints; 0: save by updates only", 0, "[0,inf)" },
    { RG_OPTION_INT, "disp-freq", AT(disp_freq), "500", "updates between log lines", 0, "[0,inf)" },
    { RG_OPTION_STRING, "log-json", AT(log_json), "", "log as JSON lines; empty: MODEL.jsonl", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", AT(threads), "0", "threads, each with a share of the batch; 0: one a core", 0, "[0,1024]" },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of weights and sequences", 0, "[0,inf)" },
    RG_OPTION_END
};

enum { MOST_WORKERS = 64 };

typedef struct {
    const rg_memory_options *o;
    const rg_train_report   *report;
    rg_puzzle_config         puzzle;
    rg_model                *model;
    rg_trainer              *trainer;
    char                    *checkpoint;
    size_t                   workers;
    uint64_t                 number; /* of the next batch */
    rg_puzzle_batch          batch[MOST_WORKERS];
    const void              *share[MOST_WORKERS];
} training;

rg_puzzle_config rg_memory_puzzle(const rg_memory_options *o)
{
    return (rg_puzzle_config){ .kind = o->task,
                               .bits = (size_t)o->bits,
                               .min_length = (size_t)o->min_length,
                               .max_length = (size_t)o->max_length,
                               .max_repeats = (size_t)o->max_repeats };
}

/* ------------------------------------------------------------------------------------------------------------- judging */

static rg_status judge_one(double *bits, double *wrong, double *all, rg_tape *t, const rg_model *m, const rg_puzzle_batch *b)
{
    rg_tape_reset(t, 0);
    const rg_tensor *y = m->system->predict(t, m, b);
    rg_tensor       *loss = rg_binary_cross_entropy(t, (rg_tensor *)y, b->target);
    RG_TRY(rg_tape_status(t));
    *bits += (double)rg_tensor_at(loss, 0, 0) / log(2);
    for (size_t i = 0; i < b->sequences * b->answers; i++)
        for (size_t j = 0; j < b->out; j++) *wrong += (rg_tensor_at(y, i, j) > 0) != (b->target[i * b->out + j] > 0);
    *all += (double)(b->sequences * b->answers * b->out);
    return RG_OK;
}

rg_status rg_memory_judge(double *out_bits, double *out_wrong, const rg_model *m, const rg_puzzle_config *puzzle, size_t length,
                          size_t count, uint64_t seed, rg_team *team)
{
    rg_puzzle_config     config = *puzzle;
    const rg_tape_config judging = { .record = false, .team = team };
    rg_puzzle_batch      batch = { 0 };
    rg_tape             *t;
    double               bits = 0, wrong = 0, all = 0;
    config.min_length = config.max_length = length;
    RG_TRY(rg_puzzle_check(&config));
    RG_TRY(rg_tape_new(&t, &judging));
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        status = rg_puzzle_draw(&batch, &config, seed, UINT64_MAX / 4 + i, 0, 1); /* numbers that training never reaches */
        if (status == RG_OK) status = judge_one(&bits, &wrong, &all, t, m, &batch);
    }
    *out_bits = count ? bits / (double)count : 0;
    *out_wrong = all > 0 ? wrong / all : 0;
    rg_puzzle_free(&batch);
    rg_tape_free(t);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- hooks */

static rg_status next_batch(void *context, rg_shares *out)
{
    training    *t = context;
    const size_t B = (size_t)t->o->mini_batch;
    *out = (rg_shares){ .share = t->share, .cost = (double)B };
    for (size_t w = 0; w < t->workers; w++) {
        const size_t from = B * w / t->workers, to = B * (w + 1) / t->workers;
        if (from == to) continue;
        RG_TRY(rg_puzzle_draw(&t->batch[w], &t->puzzle, (uint64_t)t->o->seed, t->number, from, to - from));
        t->share[out->count++] = &t->batch[w];
    }
    t->number++;
    return RG_OK;
}

static rg_loss puzzle_loss(void *context, rg_tape *tape, const void *share, int worker)
{
    const training *t = context;
    (void)worker;
    return t->model->system->loss(tape, t->model, share);
}

static rg_status add_judgement(rg_metrics *out, training *t, size_t length)
{
    double bits, wrong;
    char   name[RG_METRIC_NAME];
    RG_TRY(rg_memory_judge(&bits, &wrong, t->model, &t->puzzle, length, (size_t)t->o->valid_count, (uint64_t)t->o->seed,
                           rg_workers_team(rg_trainer_workers(t->trainer))));
    snprintf(name, sizeof name, "bits-%zu", length);
    RG_TRY(rg_metrics_add(out, name, bits, false));
    snprintf(name, sizeof name, "wrong-%zu", length);
    return rg_metrics_add(out, name, wrong, false);
}

static rg_status validate(void *context, rg_metrics *out)
{
    training *t = context;
    RG_TRY(add_judgement(out, t, (size_t)t->o->max_length));
    return t->o->valid_length > t->o->max_length ? add_judgement(out, t, (size_t)t->o->valid_length) : RG_OK;
}

static rg_status describe(void *context, rg_state *state)
{
    const training       *t = context;
    const rg_option_group group = { .rows = rg_memory_rows, .values = (void *)t->o };
    char                 *yaml = rg_options_yaml(&group, 1);
    rg_status             status = yaml ? rg_state_put_text(state, "memory.settings", yaml) : RG_ENOMEM;
    rg_free(yaml);
    return status == RG_OK ? rg_model_describe(state, t->model) : status;
}

static rg_status save_place(void *context, rg_state *state)
{
    return rg_state_put_count(state, "puzzle.number", ((const training *)context)->number);
}
static rg_status load_place(void *context, const rg_state *state)
{
    training *t = context;
    RG_TRY(rg_state_get_count(&t->number, state, "puzzle.number"));
    rg_tell_changed_settings(t->report, state, t->model);
    return RG_OK;
}

/* Losses in bits, as the paper's curves. */
static void forward_log(void *context, const rg_train_log *log)
{
    const training *t = context;
    if (log->event == RG_TRAIN_SAVED) return;
    rg_train_log in_bits = *log;
    in_bits.loss /= 0.69314718055994531; /* ln 2 */
    rg_tell_log(t->report, &in_bits);
}

static bool forward_stop(void *context)
{
    const training *t = context;
    return rg_told_to_stop(t->report);
}

/* ----------------------------------------------------------------------------------------------------------------- run */

static rg_status check(const rg_memory_options *o)
{
    if (o->max_length < o->min_length)
        return rg_fail(RG_EINVAL, "--max-length is %lld; the least is --min-length, %lld", (long long)o->max_length, (long long)o->min_length);
    if (strcmp(o->task, "recall") == 0 && o->min_length < 2)
        return rg_fail(
            RG_EINVAL,
            "recall needs two items, the one asked for and the one after it: --min-length 2 (and --max-length 6 for the paper's)");
    const rg_puzzle_config puzzle = rg_memory_puzzle(o);
    return rg_puzzle_check(&puzzle);
}

static rg_status train(training *t, const rg_system *system, const void *options)
{
    const rg_memory_options *o = t->o;
    const rg_sizes     sizes = { { { "features", rg_puzzle_in(&t->puzzle) }, { "classes", rg_puzzle_out(&t->puzzle) } } };
    RG_TRY(rg_model_new(&t->model, system, options, &sizes, (uint64_t)o->seed));
    if (o->model[0] && !(t->checkpoint = rg_format("%s.checkpoint", o->model))) return RG_ENOMEM;
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.workers = (int)t->workers;
    c.workers.seed = (uint64_t)o->seed;
    c.optimizer.name = o->optimizer;
    c.optimizer.a = o->momentum;
    c.optimizer.clip_value = o->clip_value;
    c.optimizer.clip_norm = o->clip_norm;
    c.steps = (uint64_t)((o->sequences + o->mini_batch - 1) / o->mini_batch);
    c.schedule.name = o->schedule;
    c.schedule.rate = o->rate;
    c.schedule.every = (double)c.steps;
    c.validate_every = (uint64_t)o->valid_freq;
    c.save_every = o->model[0] ? (uint64_t)o->save_freq : 0;
    c.save_seconds = o->model[0] ? 60 * o->save_minutes : 0;
    c.log_every = (uint64_t)o->disp_freq;
    c.checkpoint = t->checkpoint;
    c.model = o->model[0] ? o->model : NULL;
    const rg_trainer_hooks hooks = { .context = t,
                                     .next = next_batch,
                                     .loss = puzzle_loss,
                                     .validate = validate,
                                     .describe = describe,
                                     .save = save_place,
                                     .load = load_place,
                                     .log = forward_log,
                                     .stop = forward_stop };
    RG_TRY(rg_trainer_new(&t->trainer, t->model->params, &c, &hooks));
    uint64_t step = 0;
    if (!o->overwrite && t->checkpoint) RG_TRY(rg_trainer_resume(&step, t->trainer));
    return rg_trainer_run(t->trainer);
}

rg_status rg_memory_train(rg_model **out_model, const rg_system *system, const void *system_options, const rg_memory_options *options,
                          const rg_train_report *report)
{
    if (out_model) *out_model = NULL;
    RG_TRY(check(options));
    const long   cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t threads = options->threads ? (size_t)options->threads : cores > 0 ? (size_t)cores : 1, most = (size_t)options->mini_batch;
    training    *t = rg_alloc_zero(sizeof *t);
    if (!t) return RG_ENOMEM;
    t->o = options;
    t->report = report;
    t->puzzle = rg_memory_puzzle(options);
    t->workers = threads < most ? threads : most;
    if (t->workers > MOST_WORKERS) t->workers = MOST_WORKERS;
    rg_status status = train(t, system, system_options);
    rg_trainer_free(t->trainer);
    for (size_t w = 0; w < MOST_WORKERS; w++) rg_puzzle_free(&t->batch[w]);
    rg_free(t->checkpoint);
    if (out_model && status == RG_OK) *out_model = t->model;
    else rg_model_free(t->model);
    rg_free(t);
    return status;
}
