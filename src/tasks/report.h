/* report.h - what a training run tells while it goes on, beside the trainer's log. */
#ifndef RG_TASKS_REPORT_H
#define RG_TASKS_REPORT_H

#include "regard/text.h"
#include "regard/trainer.h"

typedef struct rg_train_report {
    void *context;
    void (*log)(void *context, const rg_train_log *log);
    void (*say)(void *context, const char *line); /* remarks: counts of the data, sizes */
    void (*sample)(void *context, uint64_t step, const char *source, const char *reference, const char *output);
    bool (*stop)(void *context);
    void (*begin)(
        void       *context,
        const char *doing); /* something that may take a while: "learning a vocabulary from train.en"; "": it is over */
    void (*reading)(void *context, uint64_t lines); /* how far it is                                          */
} rg_train_report;

/* Each does nothing where the report, or what it needs of it, is NULL. */
void rg_tell_log(const rg_train_report *report, const rg_train_log *log);
void rg_tell(const rg_train_report *report, const char *format, ...) RG_PRINTF(2, 3);
bool rg_told_to_stop(const rg_train_report *report);
void rg_tell_begin(const rg_train_report *report, const char *format, ...) RG_PRINTF(2, 3);
void rg_tell_over(const rg_train_report *report); /* what was begun is done */
/* A watch for whoever reads files: shows the lines, and stops when the report says so. Borrows the report. */
rg_read_watch rg_report_watch(const rg_train_report *report);

#endif
