/* ntm.c - `regard reproduce ntm`: the copy task, learned on lengths 1 .. 20, judged at 20, 40 and 100, and with two
 * vectors of zeros in a row, against LSTM layers: mean and deviation over seeds, and how many sequences were lost. */
#include "regard/lab.h"
#include "tasks/memory_task.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct {
    char   *task, *coding;
    double  zeros;
    int64_t sequences, baseline, seed, seeds, baseline_seeds, judged;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "task", offsetof(settings, task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_STRING, "coding", offsetof(settings, coding), "answer-mark",
      "input at the steps of the answer: a mark of their own, or nothing (the paper's)", 0, "answer-mark|paper" },
    { RG_OPTION_REAL, "zero-vectors", offsetof(settings, zeros), "0.015625",
      "share of vectors that are set to zero while learning", 0, "[0,1)" },
    { RG_OPTION_INT, "sequences", offsetof(settings, sequences), "50000", "sequences the machine learns from", 0,
      "[1,inf)" },
    { RG_OPTION_INT, "baseline-sequences", offsetof(settings, baseline), "50000",
      "sequences the LSTM baseline learns from; 0: no baseline", 0, "[0,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "the first seed, of weights and sequences", 0, "[0,inf)" },
    { RG_OPTION_INT, "seeds", offsetof(settings, seeds), "10", "runs of the machine", 0, "[1,inf)" },
    { RG_OPTION_INT, "baseline-seeds", offsetof(settings, baseline_seeds), "1",
      "runs of the baseline, which takes ten times as long", 0, "[0,inf)" },
    { RG_OPTION_INT, "judged", offsetof(settings, judged), "1000", "new sequences each length is judged on", 0,
      "[1,1000000]" },
    RG_OPTION_END
};

/* Judged at three lengths; then, but for recall, at the first of them with two vectors of zeros in a row. Vectors of
 * zeros are as frequent here whatever was learned from: codings are compared on the same sequences. */
enum { LENGTHS = 3, SETS = LENGTHS + 1, PAIR = LENGTHS };
#define JUDGED_ZEROS (1.0 / 64)
#define SETTLED      0.01 /* a machine that loses fewer sequences of the length it learned from has settled */

typedef struct {
    double sum, squares, most;
} figure;

typedef struct {
    size_t length[LENGTHS];
    figure bits[SETS], wrong[SETS], lost[SETS]; /* over seeds; wrong and lost in percent */
    size_t settled;
} results;

static void add(figure *f, double x)
{
    f->sum += x;
    f->squares += x * x;
    f->most = fmax(f->most, x);
}

static rg_status judge(results *r, FILE *out, const rg_model *model, const rg_puzzle_config *learned, size_t judged,
                       uint64_t seed)
{
    const bool recall = strcmp(learned->kind, "recall") == 0;
    for (size_t i = 0; i < (recall ? LENGTHS : SETS); i++) {
        rg_memory_judgement j;
        rg_puzzle_config    puzzle = *learned;
        const size_t        length = r->length[i < LENGTHS ? i : 0];
        puzzle.zero_vectors = JUDGED_ZEROS;
        if (i == PAIR) puzzle.zero_run = 2;
        RG_TRY(rg_memory_judge(&j, model, &puzzle, length, judged, seed, NULL, NULL));
        fprintf(out, "    %s %3zu %s  %10.4f bits per sequence  %6.2f %% of bits wrong  %4.0f of %zu sequences lost",
               recall ? "items " : "length", length, i == PAIR ? "00" : "  ", j.bits, 100 * j.wrong,
               j.lost * (double)j.sequences, j.sequences);
        fprintf(out, i == PAIR ? "\n" : ", %zu of %zu with zeros\n", j.zeros_lost, j.with_zeros);
        add(&r->bits[i], j.bits);
        add(&r->wrong[i], 100 * j.wrong);
        add(&r->lost[i], 100 * j.lost);
        if (i == 0) r->settled += j.lost < SETTLED;
    }
    fflush(out);
    return RG_OK;
}

/* The mean loss of the worst stretch of --disp-freq sequences after the first WARM: does what was learned last? */
enum { WARM = 10000 };
typedef struct {
    double worst;
} curve;

static void watch(void *context, const rg_train_log *log)
{
    curve *c = context;
    if (log->event == RG_TRAIN_LOG && log->step > WARM) c->worst = fmax(c->worst, log->loss);
}

static rg_status one_seed(results *r, FILE *out, const char *yaml, int64_t sequences, size_t judged, int64_t seed)
{
    curve                 c = { 0 };
    const rg_train_report report = { .context = &c, .log = watch };
    rg_recipe            *recipe = NULL;
    rg_model             *model = NULL;
    rg_learned            learned;
    char                 *more = rg_format("sequences: %lld\nseed: %lld\n", (long long)sequences, (long long)seed);
    rg_status             status = more ? rg_recipe_new(&recipe, yaml) : RG_ENOMEM;
    if (status == RG_OK) status = rg_recipe_read(recipe, more, false);
    rg_free(more);
    if (status == RG_OK) {
        const rg_training t = rg_recipe_training(recipe, &report);
        status = rg_learn(&model, &learned, &t);
    }
    if (status == RG_OK) {
        const rg_puzzle_config puzzle = rg_memory_puzzle(&((const rg_memory_assets *)model->assets)->options);
        fprintf(out, "%-9s seed %lld, %zu parameters, %lld sequences, %.0f per second", model->system->name,
                (long long)seed, rg_params_numbers(model->params), (long long)sequences,
                (double)sequences / learned.seconds);
        if (sequences > WARM) fprintf(out, ", worst %d after %d: %.4f bits", 500, WARM, c.worst);
        fprintf(out, "\n");
        status = judge(r, out, model, &puzzle, judged, (uint64_t)seed);
    }
    rg_model_free(model);
    rg_recipe_free(recipe);
    return status;
}

static double deviation(const figure *f, double n)
{
    return n > 1 ? sqrt(fmax(0, (f->squares - f->sum * f->sum / n) / (n - 1))) : 0;
}

/* Settings of `regard train`; nothing is written, nothing validated on the way. */
static char *learning(const char *system, const settings *s)
{
    const char *lengths = strcmp(s->task, "recall") == 0 ? "min-length: 2\nmax-length: 6\n"
                          : strcmp(s->task, "copy") == 0 ? ""
                                                         : "max-length: 10\n";
    return rg_format("type: %s\ntask: %s\ncoding: %s\nzero-vectors: %.17g\nmodel: ''\nvalid-freq: 0\n%s", system,
                     s->task, s->coding, s->zeros, lengths);
}

static rg_status several_seeds(results *r, FILE *out, const char *name, const settings *s, int64_t sequences,
                               int64_t seeds)
{
    const double n = (double)seeds;
    const size_t sets = strcmp(s->task, "recall") == 0 ? LENGTHS : SETS;
    char        *yaml = learning(name, s);
    rg_status    status = yaml ? RG_OK : RG_ENOMEM;
    for (int64_t i = 0; status == RG_OK && i < seeds; i++)
        status = one_seed(r, out, yaml, sequences, (size_t)s->judged, s->seed + i);
    rg_free(yaml);
    RG_TRY(status);
    fprintf(out, "%s: %zu of %lld seeds settled\n", name, r->settled, (long long)seeds);
    for (size_t i = 0; seeds > 1 && i < sets; i++)
        fprintf(out,
                "%-9s %3zu %s  %.4f +- %.4f bits per sequence, %.2f +- %.2f %% of bits wrong, %.2f +- %.2f %% lost, at "
                "most %.2f %%\n",
                name, r->length[i < LENGTHS ? i : 0], i == PAIR ? "00" : "  ", r->bits[i].sum / n,
                deviation(&r->bits[i], n), r->wrong[i].sum / n, deviation(&r->wrong[i], n), r->lost[i].sum / n,
                deviation(&r->lost[i], n), r->lost[i].most);
    fflush(out);
    return RG_OK;
}

enum { LONG_RUN = 50000 }; /* from so many sequences on, what is lost is judged */

static void verdict(bool *holds, FILE *out, bool good, const char *format, ...) RG_PRINTF(4, 5);
static void verdict(bool *holds, FILE *out, bool good, const char *format, ...)
{
    va_list args;
    fprintf(out, "  %-14s ", good ? "holds" : "does not hold");
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fprintf(out, "\n");
    *holds = *holds && good;
}

static rg_status run(bool *holds, const rg_lab *lab, const void *given)
{
    FILE             *out = lab->out;
    const settings   *s = given;
    const bool        copy = strcmp(s->task, "copy") == 0, recall = strcmp(s->task, "recall") == 0;
    results           machine = { .length = { 20, 40, 100 } }, lstm;
    if (recall) machine = (results){ .length = { 6, 10, 20 } };
    if (!copy && !recall) machine = (results){ .length = { 10, 20, 40 } };
    lstm = machine;
    const bool compared = s->baseline && s->baseline_seeds;
    RG_TRY(several_seeds(&machine, out, "ntm", s, s->sequences, s->seeds));
    if (compared) RG_TRY(several_seeds(&lstm, out, "lstm-copy", s, s->baseline, s->baseline_seeds));
    if (!copy) return RG_OK;
    fprintf(out, "published: a machine trained on lengths 1 .. 20 copies lengths up to about 120 almost without error; "
           "LSTM layers fail beyond 20\n");
    const double far = machine.wrong[LENGTHS - 1].most, lost = machine.lost[0].most, pair = machine.lost[PAIR].most;
    verdict(holds, out, machine.settled == (size_t)s->seeds, "%zu of %lld seeds settled", machine.settled,
            (long long)s->seeds);
    verdict(holds, out, far < 5, "at length 100 at most %.2f %% of bits wrong, less than 5 asked", far);
    if (compared)
        verdict(holds, out, far < lstm.wrong[LENGTHS - 1].most, "fewer than the %.2f %% of the LSTM layers",
                lstm.wrong[LENGTHS - 1].most);
    if (s->sequences < LONG_RUN) return RG_OK;
    verdict(holds, out, lost <= 0, "at length 20 at most %.2f %% of sequences lost, 0 asked", lost);
    verdict(holds, out, pair <= 0.5, "at length 20 with two vectors of zeros in a row at most %.2f %% lost, 0.5 asked",
            pair);
    return RG_OK;
}

const rg_experiment rg_experiment_ntm = {
    .name = "ntm",
    .summary = "copying with a neural Turing machine and with LSTM layers, at lengths never trained on",
    .source = "Graves, Wayne, Danihelka 2014, Neural Turing Machines, section 4.1",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
