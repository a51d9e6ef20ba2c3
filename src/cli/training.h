/* training.h - what a person sees of a training run: a bar or log lines, and JSON lines in a file. Shared by train and demo. */
#ifndef RG_CLI_TRAINING_H
#define RG_CLI_TRAINING_H

#include "tasks/translation.h"

typedef struct rg_console {
    FILE        *json;  /* NULL: none */
    rg_progress *bar;   /* NULL: log lines */
    uint64_t     total; /* updates, for the bar; 0: not known */
    double       started;
    bool         quiet;
    bool         samples; /* print translations at validations */
    struct {
        char *source, *reference, *output;
    } sample[8];
    size_t samples_held;
    char   last_valid[128];
    const char *unit; /* what is counted a second: "words" */
} rg_console;

/* Opens the JSON log for appending (path "" : none), takes over SIGTERM and SIGINT so that a run saves and stops. */
rg_status rg_console_open(rg_console *c, const char *json_path, uint64_t total_updates, bool quiet);
void      rg_console_close(rg_console *c);
rg_train_report rg_console_report(rg_console *c);

#endif
