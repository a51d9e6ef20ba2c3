/* report.h - what a training run tells while it goes on, beside the trainer's log. */
#ifndef RG_TASKS_REPORT_H
#define RG_TASKS_REPORT_H

#include "regard/trainer.h"

typedef struct rg_train_report {
    void *context;
    void (*log)(void *context, const rg_train_log *log);
    void (*say)(void *context, const char *line); /* remarks: counts of the data, sizes */
    void (*sample)(void *context, uint64_t step, const char *source, const char *reference, const char *output);
    bool (*stop)(void *context);
} rg_train_report;

/* Each does nothing where the report, or what it needs of it, is NULL. */
void rg_tell_log(const rg_train_report *report, const rg_train_log *log);
void rg_tell(const rg_train_report *report, const char *format, ...) RG_PRINTF(2, 3);
bool rg_told_to_stop(const rg_train_report *report);

#endif
