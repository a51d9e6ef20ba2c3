/* evaluate.h - what `regard evaluate` has for every kind of answer, and the metrics of text. */
#ifndef RG_CLI_EVALUATE_H
#define RG_CLI_EVALUATE_H

#include "cli/command.h"

typedef struct rg_evaluation {
    char   *type, *hypothesis, *plot;
    bool    json;
    int64_t width;
    bool    faithfulness; /* of maps, instead of answers */
    char   *model, *by;
    int64_t most;
} rg_evaluation;

/* evaluate_text.c: its rows, and the comparison. */
rg_status rg_evaluate_text_extend(rg_call *call);
rg_status rg_evaluate_text(rg_call *call, const rg_evaluation *shared);

/* How faithful maps are, mean over the inputs of a file. */
rg_status rg_evaluate_faithfulness(rg_call *call, const rg_evaluation *evaluation);

#endif
