/* validation.h - judging a translator on held-out pairs with the real decoder. */
#ifndef RG_TASKS_VALIDATION_H
#define RG_TASKS_VALIDATION_H

#include "tasks/translation.h"

typedef struct rg_validation rg_validation;

rg_status rg_validation_new(rg_validation **out, rg_translator *translator, const rg_translation_options *options,
                            int threads);
void      rg_validation_free(rg_validation *v);

typedef struct rg_validation_place { /* in the run */
    rg_trainer_counts counts;
    const char       *model; /* its file, "" where there is none */
} rg_validation_place;

/* The metrics of --valid-metrics, in that order, with the weights as they are now; some translations are shown to
 * the report. */
rg_status rg_validation_run(rg_metrics *out, rg_validation *v, const rg_train_report *report,
                            const rg_validation_place *place);

#endif
