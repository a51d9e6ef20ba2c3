/* memory_train.c - learning puzzles that need a memory: sequences drawn at random, loss in bits a sequence.
 *
 * RMSProp as in Graves 2013, momentum 0.9, every component of the gradient cut to +- 10, as in the paper. Ours: the
 * learning rate is 3e-4 (theirs 1e-4), stays so for 10,000 sequences and then falls to 0, and the norm of the gradient
 * is cut to 1: once a puzzle is solved gradients are tiny, and without that one surprise undoes what was learned. The
 * steps of an answer are marked and some more vectors are zeros (puzzles.h): a reading head that takes a vector of
 * zeros for a step of the answer moves on too early, and nothing brings it back. */
#include "tasks/memory_task.h"
#include "tasks/model_file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(rg_memory_options, field)

const rg_option rg_memory_rows[] = {
    { RG_OPTION_STRING, "task", AT(task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_STRING, "coding", AT(coding), "answer-mark", "input at the steps of the answer: a mark of their own, or nothing (the paper's)", 0, "answer-mark|paper" },
    { RG_OPTION_INT, "bits", AT(bits), "8", "bits of a vector (at most 1024)", 0, "[1,1024]" },
    { RG_OPTION_INT, "min-length", AT(min_length), "1", "shortest sequence; recall: items", 0, "[1,10000]" },
    { RG_OPTION_INT, "max-length", AT(max_length), "20", "longest sequence to learn from (at most 10000)", 0, "[1,10000]" },
    { RG_OPTION_INT, "max-repeats", AT(max_repeats), "10", "repeat-copy: most repeats (at most 1000)", 0, "[1,1000]" },
    { RG_OPTION_REAL, "zero-vectors", AT(zero_vectors), "0.015625", "share of vectors set to zero, beside what random bits give", 0, "[0,1)" },
    { RG_OPTION_STRING, "model", AT(model), "model.safetensors", "file to write; MODEL.checkpoint beside it is resumed from", 'm', NULL },
    { RG_OPTION_BOOL, "overwrite", AT(overwrite), "false", "begin anew although a checkpoint is there", 0, NULL },
    { RG_OPTION_STRING, "optimizer", AT(optimizer), "graves", "graves (RMSProp of Graves 2013), adam, ...", 'o', NULL },
    { RG_OPTION_REAL, "learn-rate", AT(rate), "0.0003", "learning rate (the paper: 0.0001)", 'l', "(0,inf)" },
    { RG_OPTION_STRING, "lr-schedule", AT(schedule), "linear", "how the learning rate falls to 0 by the end of --sequences, or stays", 0, "linear|cosine|constant" },
    { RG_OPTION_INT, "lr-hold", AT(hold), "10000", "sequences before the learning rate begins to fall", 0, "[0,1e12]" },
    { RG_OPTION_REAL, "momentum", AT(momentum), "0.9", "momentum or first beta; -1: the optimiser's own", 0, "[-1,1)" },
    { RG_OPTION_REAL, "clip-value", AT(clip_value), "10", "largest component of the gradient; 0: not cut", 0, "[0,inf)" },
    { RG_OPTION_REAL, "clip-norm", AT(clip_norm), "1", "largest norm of the gradient; 0: not cut", 0, "[0,inf)" },
    { RG_OPTION_INT, "sequences", AT(sequences), "50000", "sequences to learn from", 0, "[1,1e12]" },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "1", "sequences per update, all of one length", 0, "[1,65536]" },
    { RG_OPTION_INT, "valid-freq", AT(valid_freq), "2000", "updates between validations; 0: none", 0, "[0,1e12]" },
    { RG_OPTION_INT, "valid-length", AT(valid_length), "100", "length of the second validation: longer than any that was learned from", 0, "[1,10000]" },
    { RG_OPTION_INT, "valid-count", AT(valid_count), "20", "sequences of a validation", 0, "[1,1000000]" },
    { RG_OPTION_INT, "test-count", AT(test_count), "1000", "sequences the last validation judges the final weights on", 0, "[1,1000000]" },
    { RG_OPTION_INT, "save-freq", AT(save_freq), "2000", "updates between checkpoints", 0, "[0,1e12]" },
    { RG_OPTION_REAL, "save-minutes", AT(save_minutes), "5", "most minutes between checkpoints; 0: save by updates only", 0, "[0,1e9]" },
    { RG_OPTION_INT, "disp-freq", AT(disp_freq), "500", "updates between log lines", 0, "[0,1e12]" },
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
                               .max_repeats = (size_t)o->max_repeats,
                               .answer_mark = strcmp(o->coding, "paper") != 0,
                               .zero_vectors = o->zero_vectors };
}

rg_status rg_memory_read(rg_memory_options *o, const rg_state *state)
{
    const rg_option_group group = { .rows = rg_memory_rows, .values = o };
    const char           *yaml, *const paper = "paper";
    RG_TRY(rg_state_get_text(&yaml, state, "memory.settings"));
    RG_TRY(rg_options_set(&group, 1, "coding", 1, &paper));
    o->zero_vectors = 0;
    rg_status status = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "memory.settings", true);
    return status == RG_EINVAL ? rg_fail_in(RG_EFORMAT, "its ") : status; /* the file is wrong, not the command */
}

static uint64_t updates_of(const rg_memory_options *o)
{
    return (uint64_t)((o->sequences + o->mini_batch - 1) / o->mini_batch);
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

static rg_status add_judgement(rg_metrics *out, training *t, size_t length, size_t count)
{
    rg_memory_judgement j;
    RG_TRY(rg_memory_judge(&j, t->model, &t->puzzle, length, count, (uint64_t)t->o->seed,
                           rg_workers_team(rg_trainer_workers(t->trainer))));
    const struct {
        const char *name;
        double      value;
    } rows[] = { { "bits", j.bits }, { "wrong", j.wrong }, { "lost", j.lost } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[RG_METRIC_NAME];
        snprintf(name, sizeof name, "%s-%zu", rows[i].name, length);
        RG_TRY(rg_metrics_add(out, name, rows[i].value, false));
    }
    return RG_OK;
}

/* The last weights are judged on more sequences than those on the way. */
static rg_status validate(void *context, rg_metrics *out)
{
    training    *t = context;
    const bool   last = t->number >= updates_of(t->o);
    const size_t count = (size_t)(last ? t->o->test_count : t->o->valid_count);
    RG_TRY(add_judgement(out, t, (size_t)t->o->max_length, count));
    return t->o->valid_length > t->o->max_length ? add_judgement(out, t, (size_t)t->o->valid_length, count) : RG_OK;
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

/* A machine that learned one puzzle or coding does not go on with another. */
static rg_status same_puzzle(const rg_memory_options *now, const rg_state *state)
{
    rg_memory_options then = { 0 };
    RG_TRY(rg_options_init(rg_memory_rows, &then));
    rg_status status = rg_memory_read(&then, state);
    if (status == RG_OK && (strcmp(then.task, now->task) != 0 || strcmp(then.coding, now->coding) != 0))
        status = rg_fail(RG_EMATCH,
                         "it learned --task %s --coding %s, this run asks for --task %s --coding %s: resume with the "
                         "former, or begin anew with --overwrite",
                         then.task, then.coding, now->task, now->coding);
    rg_options_fini(rg_memory_rows, &then);
    return status;
}

static rg_status load_place(void *context, const rg_state *state)
{
    training *t = context;
    RG_TRY(same_puzzle(t->o, state));
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

/* The rate holds for --lr-hold sequences, then falls to 0 at the last update; in a shorter run it does not fall. */
static rg_schedule schedule_of(const rg_memory_options *o)
{
    rg_schedule  s = RG_SCHEDULE_DEFAULT;
    const double updates = (double)updates_of(o), hold = floor((double)o->hold / (double)o->mini_batch);
    s.name = o->schedule;
    s.rate = o->rate;
    s.start = hold;
    s.every = fmax(1, updates - hold);
    return s;
}

static rg_status train(training *t, const rg_system *system, const void *options)
{
    const rg_memory_options *o = t->o;
    const rg_sizes     sizes = { { { "features", rg_puzzle_in(&t->puzzle) }, { "classes", rg_puzzle_out(&t->puzzle) } } };
    RG_TRY(rg_model_new(&t->model, system, options, &sizes, (uint64_t)o->seed));
    if (o->model[0] && !(t->checkpoint = rg_format("%s.checkpoint", o->model))) return RG_ENOMEM;
    rg_tell(t->report, "learning %s from %lld sequences; %zu parameters", o->task, (long long)o->sequences, rg_params_numbers(t->model->params));
    rg_trainer_config c = RG_TRAINER_CONFIG_DEFAULT;
    c.workers.workers = (int)t->workers;
    c.workers.seed = (uint64_t)o->seed;
    c.optimizer.name = o->optimizer;
    c.optimizer.a = o->momentum;
    c.optimizer.clip_value = o->clip_value;
    c.optimizer.clip_norm = o->clip_norm;
    c.steps = updates_of(o);
    c.schedule = schedule_of(o);
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
