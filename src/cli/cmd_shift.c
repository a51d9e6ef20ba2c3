/* cmd_shift.c - do two sets differ, as a model sees them? */
#include <stdio.h>

#include "cli/answers.h"
#include "cli/probing.h"

typedef struct {
    rg_probing probing;
    int64_t    most, seed;
} settings;

static const rg_option options[] = { RG_PROBING_ROWS(settings),
                                     { RG_OPTION_INT, "most", offsetof(settings, most), "2000",
                                       "examples of each set at most; 0: all", 'n', "[0,inf)", NULL },
                                     { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the comparison", 0,
                                       "[0,inf)", NULL },
                                     RG_OPTION_END };

static rg_status print_classes(const rg_sink *sink, const rg_shift_report *x, const rg_names *names)
{
    static const char *const columns[] = { "class", "share-first", "share-second", "moved" };
    RG_TRY(sink->columns(sink->context, columns, 4));
    for (size_t i = 0; i < x->count; i++) {
        const rg_shift_class *c = &x->classes[i];
        const rg_value        cells[] = { { .text = rg_names_get(names, c->id) },
                                          { .number = c->first, .digits = 4 },
                                          { .number = c->second, .digits = 4 },
                                          { .number = c->distance, .digits = 4 } };
        RG_TRY(sink->row(sink->context, cells));
    }
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    const settings   *s = call->options;
    rg_answer_printer printer = { .json = s->probing.json };
    rg_set_options    a = s->probing.sets, b = s->probing.sets;
    rg_model         *model;
    rg_shift_report   x;
    if (call->words.count != 2)
        return rg_fail(RG_EINVAL, "shift compares two sets: regard shift -m MODEL FIRST SECOND");
    a.train = (rg_list){ 1, &call->words.items[0] };
    b.train = (rg_list){ 1, &call->words.items[1] };
    RG_TRY(rg_model_load(&model, s->probing.model, NULL));
    rg_status status = rg_shift_measure(&x, model, &a, &b, (size_t)s->most, (int)s->probing.threads, (uint64_t)s->seed);
    if (status == RG_OK) {
        fprintf(stderr,
                "%llu and %llu examples: a linear classifier tells them apart with error %.4f; proxy A-distance %.4f "
                "(0: alike, 2: disjoint)\n",
                (unsigned long long)x.first, (unsigned long long)x.second, x.error, x.distance);
        if (x.count) status = print_classes(rg_answer_printer_sink(&printer), &x, model->system->task->classes(model));
        else printf("proxy-A-distance\t%.4f\n", x.distance);
    }
    rg_answer_printer_fini(&printer);
    rg_free(x.classes);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_shift = {
    .name = "shift",
    .summary = "do two sets of examples differ, as a model sees them? which classes moved?",
    .arguments = "FIRST SECOND",
    .details = "The model's features stay as they are; a logistic regression learns on one half of both sets which set "
               "an example is of and is tested on "
               "the other half. The proxy A-distance 2 (1 - 2 error) is 0 where the sets look alike and 2 where they "
               "are disjoint: then labels learned "
               "on one may not hold on the other, and regard train --objective domain may help. The table has each "
               "class with its share of the answers "
               "in both sets and how far the mean of its features moved, in deviations, those that moved most first.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
