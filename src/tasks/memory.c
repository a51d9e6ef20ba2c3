/* memory.c - sequence -> the answer to a puzzle that needs a memory: drawn at random, not read; the loss is in bits per
 * sequence.
 *
 * RMSProp as in Graves 2013, momentum 0.9, every component of the gradient clipped to +- 10, as in the paper. Ours:
 * the learning rate is 3e-4 (theirs 1e-4), stays so for 10,000 sequences and then falls to 0, and the norm of the
 * gradient is clipped to 1: once a puzzle is solved gradients are tiny, and without that one surprise undoes what
 * was learned. The steps of an answer are marked and some more vectors are zeros (puzzles.h): a reading head that
 * takes a vector of zeros for a step of the answer moves on too early, and nothing brings it back. */
#include <math.h>
#include <string.h>

#include "tasks/batches.h"
#include "tasks/memory_task.h"

#define AT(field) offsetof(rg_memory_options, field)

const rg_option rg_memory_rows[] = {
    { RG_OPTION_STRING, "task", AT(task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_STRING, "coding", AT(coding), "answer-mark",
      "input at the steps of the answer: a mark of their own, or nothing (the paper's)", 0, "answer-mark|paper" },
    { RG_OPTION_INT, "bits", AT(bits), "8", "bits of a vector (at most 1024)", 0, "[1,1024]" },
    { RG_OPTION_INT, "min-length", AT(min_length), "1", "shortest sequence; recall: items", 0, "[1,10000]" },
    { RG_OPTION_INT, "max-length", AT(max_length), "20", "longest sequence to learn from (at most 10000)", 0,
      "[1,10000]" },
    { RG_OPTION_INT, "max-repeats", AT(max_repeats), "10", "repeat-copy: most repeats (at most 1000)", 0, "[1,1000]" },
    { RG_OPTION_REAL, "zero-vectors", AT(zero_vectors), "0.015625",
      "share of vectors set to zero, beside what random bits give", 0, "[0,1)" },
    { RG_OPTION_INT, "sequences", AT(sequences), "50000", "sequences to learn from", 0, "[1,1e12]" },
    { RG_OPTION_INT, "lr-hold", AT(hold), "10000", "sequences before the learning rate begins to fall", 0, "[0,1e12]" },
    { RG_OPTION_INT, "mini-batch", AT(mini_batch), "1", "sequences per update, all of one length", 0, "[1,65536]" },
    { RG_OPTION_INT, "valid-length", AT(valid_length), "100",
      "length of the second validation: longer than any that was learned from", 0, "[1,10000]" },
    { RG_OPTION_INT, "valid-count", AT(valid_count), "20", "sequences of a validation", 0, "[1,1000000]" },
    { RG_OPTION_INT, "test-count", AT(test_count), "1000", "sequences the last validation judges the final weights on",
      0, "[1,1000000]" },
    RG_OPTION_END
};

enum { MOST_WORKERS = 64 };

typedef struct {
    rg_puzzle_config puzzle;
    size_t           workers;
    uint64_t         number; /* of the next batch */
    rg_puzzle_batch  batch[MOST_WORKERS];
    const void      *share[MOST_WORKERS];
} data;

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

static uint64_t updates_of(const rg_memory_options *o)
{
    return (uint64_t)((o->sequences + o->mini_batch - 1) / o->mini_batch);
}

/* ----------------------------------------------------------------------------------------------------------- assets */

static const char settings_key[] = "memory.settings";

/* Files from before there was a choice say nothing of coding and zero vectors: theirs are the paper's, and none
 * beside the random ones. */
static rg_status read_options(rg_memory_options *o, const rg_state *state)
{
    const rg_option_group group = { .rows = rg_memory_rows, .values = o };
    const char *const     paper = "paper";
    RG_TRY(rg_options_init(rg_memory_rows, o));
    RG_TRY(rg_options_set(&group, 1, "coding", 1, &paper));
    o->zero_vectors = 0;
    return rg_get_settings(o, state, settings_key, rg_memory_rows);
}

static rg_status check_widths(const rg_sizes *sizes, const rg_puzzle_config *puzzle)
{
    size_t       features = 0, classes = 0;
    const size_t in = rg_puzzle_in(puzzle), out = rg_puzzle_out(puzzle);
    if (rg_sizes_get(&features, sizes, "features") && rg_sizes_get(&classes, sizes, "classes") && in == features &&
        out == classes)
        return RG_OK;
    return rg_fail(RG_EMATCH,
                   "the model takes %zu numbers and gives %zu, its puzzle has %zu and %zu (sizes.features is %zu, "
                   "sizes.classes is %zu)",
                   features, classes, in, out, features, classes);
}

static rg_status adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    rg_memory_assets *a = assets;
    RG_TRY(read_options(&a->options, state));
    const rg_puzzle_config puzzle = rg_memory_puzzle(&a->options);
    RG_TRY(rg_puzzle_check(&puzzle));
    return check_widths(sizes, &puzzle);
}

static rg_status describe(rg_state *state, const void *assets)
{
    return rg_put_settings(state, settings_key, rg_memory_rows, &((const rg_memory_assets *)assets)->options);
}

static void drop(void *assets) { rg_options_fini(rg_memory_rows, &((rg_memory_assets *)assets)->options); }

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_status check(const rg_memory_options *o)
{
    if (o->max_length < o->min_length)
        return rg_fail(RG_EINVAL, "--max-length is %lld; the least is --min-length, %lld", (long long)o->max_length,
                       (long long)o->min_length);
    if (strcmp(o->task, "recall") == 0 && o->min_length < 2)
        return rg_fail(RG_EINVAL, "recall needs two items, the one asked for and the one after it: --min-length 2 (and "
                                  "--max-length 6 for the paper's)");
    const rg_puzzle_config puzzle = rg_memory_puzzle(o);
    return rg_puzzle_check(&puzzle);
}

static rg_status open(rg_run *run)
{
    const rg_memory_options *o = run->options;
    data                    *d = run->data;
    RG_TRY(check(o));
    RG_TRY(rg_options_copy(rg_memory_rows, &((rg_memory_assets *)run->assets)->options, o));
    d->puzzle = rg_memory_puzzle(o);
    d->workers = (size_t)run->threads < (size_t)o->mini_batch ? (size_t)run->threads : (size_t)o->mini_batch;
    if (d->workers > MOST_WORKERS) d->workers = MOST_WORKERS;
    RG_TRY(rg_sizes_put(&run->sizes, "features", rg_puzzle_in(&d->puzzle)));
    return rg_sizes_put(&run->sizes, "classes", rg_puzzle_out(&d->puzzle));
}

/* The learning rate holds for --lr-hold sequences, then falls to 0 at the last update; in a shorter run it does not
 * fall. */
static rg_status plan(rg_run *run, rg_trainer_config *config)
{
    const rg_memory_options *o = run->options;
    const double             updates = (double)updates_of(o), hold = floor((double)o->hold / (double)o->mini_batch);
    config->workers.workers = (int)((data *)run->data)->workers;
    config->steps = updates_of(o);
    config->schedule.start = hold;
    config->schedule.every = fmax(1, updates - hold);
    return RG_OK;
}

static rg_status next(rg_run *run, rg_shares *out)
{
    const rg_memory_options *o = run->options;
    data                    *d = run->data;
    const size_t             B = (size_t)o->mini_batch;
    *out = (rg_shares){ .share = d->share, .cost = (double)B };
    for (size_t w = 0; w < d->workers; w++) {
        const size_t from = B * w / d->workers, to = B * (w + 1) / d->workers;
        if (from == to) continue;
        RG_TRY(rg_puzzle_draw(&d->batch[w], &d->puzzle, (uint64_t)run->learning->seed, d->number, from, to - from));
        d->share[out->count++] = &d->batch[w];
    }
    d->number++;
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    return rg_state_put_count(state, "puzzle.number", ((const data *)run->data)->number);
}

/* A machine that learned one puzzle or coding does not resume with another. */
static rg_status same_puzzle(const rg_memory_options *now, const rg_state *state)
{
    rg_memory_options then = { 0 };
    rg_status         status = read_options(&then, state);
    if (status == RG_OK && (strcmp(then.task, now->task) != 0 || strcmp(then.coding, now->coding) != 0))
        status = rg_fail(RG_EMATCH,
                         "it learned --task %s --coding %s, this run asks for --task %s --coding %s: resume with the "
                         "former, or start again with --overwrite",
                         then.task, then.coding, now->task, now->coding);
    rg_options_fini(rg_memory_rows, &then);
    return status;
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    RG_TRY(same_puzzle(run->options, state));
    return rg_state_get_count(&((data *)run->data)->number, state, "puzzle.number");
}

static rg_status add_judgement(rg_metrics *out, rg_run *run, size_t length, size_t count)
{
    rg_memory_judgement j;
    RG_TRY(rg_memory_judge(&j, run->model, &((data *)run->data)->puzzle, length, count, (uint64_t)run->learning->seed,
                           rg_workers_team(rg_trainer_workers(run->trainer)), run->report));
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
static rg_status judge(rg_run *run, rg_metrics *out)
{
    const rg_memory_options *o = run->options;
    const bool               last = ((data *)run->data)->number >= updates_of(o);
    const size_t             count = (size_t)(last ? o->test_count : o->valid_count);
    RG_TRY(add_judgement(out, run, (size_t)o->max_length, count));
    return o->valid_length > o->max_length ? add_judgement(out, run, (size_t)o->valid_length, count) : RG_OK;
}

static void close(rg_run *run)
{
    for (size_t w = 0; w < MOST_WORKERS; w++) rg_puzzle_free(&((data *)run->data)->batch[w]);
}

static rg_status hint(rg_text *out, const void *options, const char *program, const char *model)
{
    return (void)options, rg_text_print(out, "%s predict -m %s", program, model);
}

static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    (void)folder;
    return rg_text_print(
        yaml, size == RG_SMALL_DEMO
                  ? "bits: 4\nmax-length: 8\nsequences: 6000\nlr-hold: 4000\nvalid-length: 16\nvalid-freq: 1000\n"
                  : "bits: 2\nmax-length: 3\nsequences: 12\nvalid-length: 4\nvalid-freq: 6\ntest-count: 2\n");
}

static const rg_demo demos[] = {
    { .name = "ntm",
      .summary = "a neural Turing machine learns to copy sequences from its memory",
      .type = "ntm",
      .settings = "max-length: 5\nvalid-length: 10\nmemory-rows: 16\nmemory-width: 8\nunits: 32\nlearn-rate: 0.001\n",
      .metric = "lost",
      .below = true,
      .expected = 0.1 },
    { 0 },
};

const rg_task rg_task_memory = {
    .name = "memory",
    .in = "sequence",
    .out = "sequence from memory",
    .unit = "sequences",
    .summary = "puzzles that need a memory: copy, repeat copy, associative recall",
    .options = rg_memory_rows,
    .options_bytes = sizeof(rg_memory_options),
    .learning = "optimizer: graves\nlearn-rate: 0.0003\nlr-schedule: linear\nbeta1: 0.9\nclip-value: 10\nclip-norm: "
                "1\nvalid-freq: 2000\n"
                "early-stopping: 0\nkeep-best: false\nsave-freq: 2000\ndisp-freq: 500\n",
    .loss_factor = 1.4426950408889634, /* bits, as the paper's curves: 1 / ln 2 */
    .assets_bytes = sizeof(rg_memory_assets),
    .adopt = adopt,
    .describe = describe,
    .drop = drop,
    .data_bytes = sizeof(data),
    .open = open,
    .plan = plan,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judge = judge,
    .close = close,
    .hint = hint,
    .asking = rg_memory_asking_rows,
    .asking_bytes = sizeof(rg_memory_asking),
    .answer = rg_memory_answer,
    .small = small,
    .demos = demos,
};
