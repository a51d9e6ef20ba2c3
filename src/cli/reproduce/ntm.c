/* ntm.c - `regard reproduce ntm`: the copy task, learned on lengths 1 .. 20, tested at 20, 40 and 100, against LSTM layers; mean and
 * deviation over seeds. */
#include "cli/reproduce/experiment.h"
#include "tasks/memory_task.h"

#include <math.h>
#include <string.h>

typedef struct {
    char   *task;
    int64_t sequences, baseline, seed, seeds, baseline_seeds;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "task", offsetof(settings, task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_INT, "sequences", offsetof(settings, sequences), "50000", "sequences the machine learns from", 0, "[1,inf)" },
    { RG_OPTION_INT, "baseline-sequences", offsetof(settings, baseline), "50000", "sequences the LSTM baseline learns from; 0: no baseline", 0, "[0,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "the first seed, of weights and sequences", 0, "[0,inf)" },
    { RG_OPTION_INT, "seeds", offsetof(settings, seeds), "3", "runs of the machine", 0, "[1,inf)" },
    { RG_OPTION_INT, "baseline-seeds", offsetof(settings, baseline_seeds), "1", "runs of the baseline, which takes ten times as long", 0, "[0,inf)" },
    RG_OPTION_END
};

enum { LENGTHS = 3, JUDGED = 50 };
typedef struct {
    size_t length[LENGTHS];
    double bits[LENGTHS], bits_squared[LENGTHS], wrong[LENGTHS], wrong_squared[LENGTHS]; /* sums over seeds */
    double worst_bits, worst_wrong; /* of all seeds: at the first length, at the last */
} results;

static rg_status judge(results *r, const rg_model *model, const rg_puzzle_config *puzzle, uint64_t seed)
{
    for (size_t i = 0; i < LENGTHS; i++) {
        double bits, wrong;
        RG_TRY(rg_memory_judge(&bits, &wrong, model, puzzle, r->length[i], JUDGED, seed, NULL));
        printf("           %s %3zu   %10.4f bits a sequence   %6.2f %% of bits wrong\n",
               strcmp(puzzle->kind, "recall") == 0 ? "items " : "length", r->length[i], bits, 100 * wrong);
        r->bits[i] += bits;
        r->bits_squared[i] += bits * bits;
        r->wrong[i] += 100 * wrong;
        r->wrong_squared[i] += 1e4 * wrong * wrong;
        if (i == 0) r->worst_bits = fmax(r->worst_bits, bits);
        if (i == LENGTHS - 1) r->worst_wrong = fmax(r->worst_wrong, wrong);
    }
    fflush(stdout);
    return RG_OK;
}

static rg_status one_seed(results *r, const rg_system *system, const rg_memory_options *o)
{
    const rg_puzzle_config puzzle = rg_memory_puzzle(o);
    rg_model              *model = NULL;
    void                  *values = rg_alloc_zero(system->options_bytes);
    if (!values) return RG_ENOMEM;
    const double begun = rg_now();
    rg_status    status = rg_options_init(system->options, values);
    if (status == RG_OK) status = rg_memory_train(&model, system, values, o, NULL);
    if (status == RG_OK)
        printf("%-10s seed %lld, %zu parameters, %lld sequences, %.0f a second\n", system->name, (long long)o->seed,
               rg_params_numbers(model->params), (long long)o->sequences, (double)o->sequences / (rg_now() - begun));
    if (status == RG_OK) status = judge(r, model, &puzzle, (uint64_t)o->seed);
    rg_model_free(model);
    rg_options_fini(system->options, values);
    rg_free(values);
    return status;
}

static double deviation(double sum, double squares, double n) { return n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : 0; }

static rg_status several_seeds(results *r, const char *name, rg_memory_options *o, int64_t first, int64_t seeds)
{
    const double n = (double)seeds;
    for (int64_t i = 0; i < seeds; i++) {
        o->seed = first + i;
        RG_TRY(one_seed(r, rg_system_find(name), o));
    }
    for (size_t i = 0; seeds > 1 && i < LENGTHS; i++)
        printf("%-10s %3zu over %lld seeds   %.4f +- %.4f bits a sequence   %.2f +- %.2f %% of bits wrong\n", name, r->length[i],
               (long long)seeds, r->bits[i] / n, deviation(r->bits[i], r->bits_squared[i], n), r->wrong[i] / n,
               deviation(r->wrong[i], r->wrong_squared[i], n));
    fflush(stdout);
    return RG_OK;
}

/* Settings of learning: those of `regard train`, nothing written. */
static rg_status learning(rg_memory_options *o, const settings *s)
{
    const rg_option_group rows = { .rows = rg_memory_rows, .values = o };
    const char           *none = "", *task = s->task, *two = "2", *six = "6";
    RG_TRY(rg_options_set(&rows, 1, "model", 1, &none));
    RG_TRY(rg_options_set(&rows, 1, "task", 1, &task));
    if (strcmp(task, "recall") == 0) { /* two to six items */
        RG_TRY(rg_options_set(&rows, 1, "min-length", 1, &two));
        RG_TRY(rg_options_set(&rows, 1, "max-length", 1, &six));
    }
    o->valid_freq = 0;
    return RG_OK;
}

static rg_status run(rg_call *call, const void *given)
{
    const settings   *s = given;
    const bool        copy = strcmp(s->task, "copy") == 0, recall = strcmp(s->task, "recall") == 0;
    rg_memory_options o = { 0 };
    results           machine = { .length = { 20, 40, 100 } }, lstm;
    if (recall) machine = (results){ .length = { 6, 10, 20 } };
    if (!copy && !recall) machine = (results){ .length = { 10, 20, 40 } };
    lstm = machine;
    RG_TRY(rg_options_init(rg_memory_rows, &o));
    rg_status status = learning(&o, s);
    if (!copy && !recall) o.max_length = 10;
    o.sequences = s->sequences;
    if (status == RG_OK) status = several_seeds(&machine, "ntm", &o, s->seed, s->seeds);
    o.sequences = s->baseline;
    const bool compared = s->baseline && s->baseline_seeds;
    if (status == RG_OK && compared) status = several_seeds(&lstm, "lstm-copy", &o, s->seed, s->baseline_seeds);
    rg_options_fini(rg_memory_rows, &o);
    if (status != RG_OK || !copy) return status;
    printf("published: a machine trained on lengths 1 .. 20 copies lengths up to about 120 almost without error; "
           "LSTM layers fail beyond 20\n");
    if (machine.worst_bits >= 0.1 || machine.worst_wrong >= 0.05 || (compared && machine.worst_wrong >= lstm.worst_wrong))
        call->exit_code = 1;
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
