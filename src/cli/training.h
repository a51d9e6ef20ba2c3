/* training.h - what a person sees of a training run: a bar or log lines, and JSON lines in a file. Shared by train
 * and demo. */
#ifndef RG_CLI_TRAINING_H
#define RG_CLI_TRAINING_H

#include <pthread.h>
#include <signal.h>

#include "regard/learning.h"

enum { RG_CONSOLE_SAMPLES = 8, RG_CONSOLE_SIGNALS = 3 };

typedef struct rg_console {
    FILE        *json; /* NULL: none                       */
    struct rg_events *events; /* for TensorBoard; NULL: none */
    FILE        *log, *valid_log; /* lines for people, with the time; NULL: none */
    rg_progress *bar;  /* NULL: no terminal, or not now    */
    bool         terminal, quiet;
    bool         samples; /* print translations at validations */
    const char  *unit;    /* what is counted a second: "words" */
    struct {
        char *source, *reference, *output;
    } sample[RG_CONSOLE_SAMPLES];
    size_t samples_held;

    /* what the bar shows */
    double part;
    char   title[64], note[200], last_valid[64];
    double loss, speed, phase_began;

    /* without a bar */
    bool     spoken, silent; /* a line has come; updates are never to have one */
    uint64_t first;  /* the update that had the first line; 0: none yet */

    /* what a summary needs */
    double     started;
    uint64_t   steps;
    char      *reason, *model; /* why it ended; the file that validated best, NULL: none */
    rg_metrics metrics;        /* of the last validation                                */
    bool       best;           /* the file is the best of a validation, not the last     */
    bool       averaged;       /* the model is a mean, which validated at `mean`        */
    double     mean;

    /* a thread that keeps the clock going, and ends the program when it was asked to stop before anything can be
     * lost */
    pthread_mutex_t  lock; /* of everything above while a report is under way */
    pthread_cond_t   wake;
    pthread_t        ticker;
    bool             open, ticking, closing, preparing;
    double           asked_at; /* when the stop was noticed; below 0: not */
    struct sigaction old[RG_CONSOLE_SIGNALS];
} rg_console;

/* Opens the JSON log ("": none), for appending or as a new one, and takes over SIGTERM, SIGINT and SIGHUP (unless it
 * is ignored, as under nohup) so that a run saves and stops. The console stays where it is until it is closed. */
rg_status       rg_console_open(rg_console *c, const char *json_path, bool new_log, bool quiet);
void            rg_console_close(rg_console *c);
/* Append log lines, and those of validations, to these files too ("": to none). */
rg_status rg_console_log_to(rg_console *c, const char *log, const char *valid_log);
/* Write event files for TensorBoard into the folder too. */
rg_status rg_console_events_to(rg_console *c, const char *folder);
rg_train_report rg_console_report(rg_console *c);

/* What came of the run: its best metric, the file to use. After the run, before the console is closed. */
void rg_console_summary(rg_console *c);
/* Lines at the end: folded at 80 columns; and a command as it can be typed, on a line of its own. Quiet when the
 * console is. */
void rg_console_say(rg_console *c, const char *format, ...) RG_PRINTF(2, 3);
void rg_console_command(rg_console *c, const char *format, ...) RG_PRINTF(2, 3);

#endif
