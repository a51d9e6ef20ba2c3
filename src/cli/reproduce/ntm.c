/* ntm.c - `regard reproduce ntm`: the copy task, learned on lengths 1 .. 20, tested at 20, 40 and 100, against LSTM layers. */
#include "cli/reproduce/experiment.h"
#include "tasks/memory_task.h"

#include <string.h>

typedef struct {
    char   *task;
    int64_t sequences, baseline, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "task", offsetof(settings, task), "copy", "the puzzle", 0, "copy|repeat-copy|recall" },
    { RG_OPTION_INT, "sequences", offsetof(settings, sequences), "50000", "sequences the machine learns from", 0, NULL },
    { RG_OPTION_INT, "baseline-sequences", offsetof(settings, baseline), "50000", "sequences the LSTM baseline learns from; 0: no baseline", 0, NULL },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of weights and sequences", 0, NULL },
    RG_OPTION_END
};

static rg_status one_system(double *bits_20, double *wrong_100, const char *name, const settings *s, rg_memory_options *o)
{
    static const size_t lengths[] = { 20, 40, 100 };
    const rg_system    *system = rg_system_find(name);
    const rg_puzzle_config puzzle = rg_memory_puzzle(o);
    rg_model           *model = NULL;
    void               *values = rg_alloc_zero(system->options_bytes);
    if (!values) return RG_ENOMEM;
    const double begun = rg_now();
    rg_status    status = rg_options_init(system->options, values);
    if (status == RG_OK) status = rg_memory_train(&model, system, values, o, NULL);
    if (status == RG_OK) printf("%-10s %zu parameters, %lld sequences, %.0f a second\n", name, rg_params_numbers(model->params), (long long)o->sequences, (double)o->sequences / (rg_now() - begun));
    for (size_t i = 0; status == RG_OK && i < 3; i++) {
        double bits, wrong;
        status = rg_memory_judge(&bits, &wrong, model, &puzzle, lengths[i], 50, (uint64_t)s->seed, NULL);
        if (status != RG_OK) break;
        printf("%-10s length %3zu   %10.4f bits a sequence   %6.2f %% of bits wrong\n", "", lengths[i], bits, 100 * wrong);
        if (i == 0) *bits_20 = bits;
        *wrong_100 = wrong;
    }
    fflush(stdout);
    rg_model_free(model);
    rg_options_fini(system->options, values);
    rg_free(values);
    return status;
}

static rg_status run(rg_call *call, const void *given)
{
    const settings   *s = given;
    rg_memory_options o = { 0 };
    double            bits = 0, wrong = 0, lstm_bits = 0, lstm_wrong = 1;
    if (s->sequences < 1 || s->baseline < 0) return rg_fail(RG_EINVAL, "--sequences counts from 1");
    RG_TRY(rg_options_init(rg_memory_rows, &o));
    const rg_option_group rows = { .rows = rg_memory_rows, .values = &o };
    const char           *none = "", *task = s->task, *two = "2";
    rg_status             status = rg_options_set(&rows, 1, "model", 1, &none);
    if (status == RG_OK) status = rg_options_set(&rows, 1, "task", 1, &task);
    if (status == RG_OK && strcmp(task, "recall") == 0) status = rg_options_set(&rows, 1, "min-length", 1, &two);
    o.seed = s->seed;
    o.valid_freq = 0;
    o.sequences = s->sequences;
    if (status == RG_OK) status = one_system(&bits, &wrong, "ntm", s, &o);
    o.sequences = s->baseline;
    if (status == RG_OK && s->baseline) status = one_system(&lstm_bits, &lstm_wrong, "lstm-copy", s, &o);
    rg_options_fini(rg_memory_rows, &o);
    if (status != RG_OK) return status;
    printf("published: a machine trained on lengths 1 .. 20 copies lengths up to about 120 almost without error; LSTM layers fail beyond 20\n");
    if (strcmp(task, "copy") == 0 && (bits >= 0.1 || wrong >= 0.05 || (s->baseline && wrong >= lstm_wrong))) call->exit_code = 1;
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
