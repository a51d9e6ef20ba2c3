/* rows.h - an experiment as a table of trainings.
 *
 * Each row is a training with ordinary words of `regard train` into a folder of its own, once per seed; a finished run
 * is read back, a stopped one is resumed. So a table can be made in pieces, by several processes with different --only:
 *
 *     OUT/NAME.sSEED/options               what it is trained with, written first
 *                    model.safetensors     and what else `regard train` writes
 *                    failed                the message of a run that did not converge
 *                    result.json           written last: the run is finished
 *     OUT/comparison.tsv, .json            one line per run; means, deviations and claims
 *
 * An experiment gives rows, columns and claims as data; how a trained run is judged where its task does not say enough.
 */
#ifndef RG_LAB_ROWS_H
#define RG_LAB_ROWS_H

#include "regard/lab.h"
#include "lab/results.h"
#include "lab/rows_words.h"
#include "regard/text.h"

enum { RG_GRID_ROWS = 128, RG_GRID_SEEDS = 16 };

typedef struct rg_row {
    const char *name;
    const char *options;   /* words of `regard train`; inside them {data} and {out} are the folders of --data and --out, {seed} the seed, {ROW}
                              the folder of row ROW's first seed */
    int64_t     seeds;     /* 0: one */
    double      published; /* of the first column, as it is printed; 0: none */
    const char *about;     /* for judge() and data(): "en de"; may be NULL */
    const char *of;        /* nothing is trained: judged from the runs of that row once all its seeds are finished (an
                              ensemble); "": of nothing, the judge does all; or NULL */
} rg_row;

/* A column of the printed table: a result times a factor (0: 1). */
typedef struct rg_column {
    const char *result, *title;
    int         digits;
    double      factor;
} rg_column;

/* What should come out. Differences of less than two standard errors are undecided. */
typedef enum rg_claim_kind {
    RG_CLAIM_LEAST,  /* the mean of row a is at least `by`          */
    RG_CLAIM_MOST,   /* at most                                     */
    RG_CLAIM_ABOVE,  /* row a lies above row b (times `times`) by at least `by`; below 0: it is not below by more than
                        -by */
    RG_CLAIM_SPREAD, /* the means of the rows named in a (separated by blanks) lie within `by` */
    RG_CLAIM_HALFWAY,  /* the mean of row a lies at or above the middle of the two rows named in b */
    RG_CLAIM_UNSTEADY, /* the seeds of row a differ more than those of row b, or the lowest of them lies below theirs */
} rg_claim_kind;

typedef struct rg_claim {
    rg_claim_kind kind;
    const char   *a, *b;
    double        by;
    const char   *result; /* which number; NULL: the first column */
    const char   *text;   /* what it means, for people; may be NULL */
    double        times;  /* RG_CLAIM_ABOVE: row b counts so often; 0: once */
} rg_claim;

/* What the user asked for. */
typedef struct rg_grid_settings {
    char   *data, *out, *extra, *audit;
    rg_list only;
    int64_t epochs, seed, seeds, threads;
    bool    quick, overwrite, judge, report, list;
} rg_grid_settings;
extern const rg_option rg_grid_options[];
/* Their rows, also for an experiment with settings of its own: S is its struct, m the path to its rg_grid_settings
 * ("grid."). */
#define RG_GRID_OPTION_ROWS(S, m) \
    { RG_OPTION_STRING, "data", offsetof(S, m data), "", "folder of the data", 0, NULL }, \
    { RG_OPTION_STRING, "out", offsetof(S, m out), "", "folder for the runs and the table; \"\": NAME-runs", 'o', NULL }, \
    { RG_OPTION_LIST, "only", offsetof(S, m only), "", "train these rows only: names or their beginnings, separated by blanks or commas", 0, NULL }, \
    { RG_OPTION_INT, "epochs", offsetof(S, m epochs), "0", "most passes over the data; 0: the row's own", 'e', "[0,inf)" }, \
    { RG_OPTION_INT, "seed", offsetof(S, m seed), "1", "first seed", 0, "[0,inf)" }, \
    { RG_OPTION_INT, "seeds", offsetof(S, m seeds), "0", "runs of each row; 0: the row's own number", 0, "[0,16]" }, \
    { RG_OPTION_INT, "cpu-threads", offsetof(S, m threads), "0", "threads; 0: one per core", 0, "[0,1024]" }, \
    { RG_OPTION_STRING, "options", offsetof(S, m extra), "", "words of `regard train` appended to every row: --options='--dim-emb 64'", 0, NULL }, \
    { RG_OPTION_BOOL, "quick", offsetof(S, m quick), "false", "a few updates per row, to see it work; no claim is judged", 0, NULL }, \
    { RG_OPTION_BOOL, "overwrite", offsetof(S, m overwrite), "false", "train again what was trained with other options", 0, NULL }, \
    { RG_OPTION_BOOL, "judge", offsetof(S, m judge), "false", "judge rows that are still in training by their weights so far; the same command without it resumes", 0, NULL }, \
    { RG_OPTION_BOOL, "report", offsetof(S, m report), "false", "train nothing: the table of what is finished", 0, NULL }, \
    { RG_OPTION_STRING, "audit", offsetof(S, m audit), "", "run a part again, from the checkpoint beside this log (OUT/NAME.sSEED/model.safetensors.jsonl), and compare the weights", 0, NULL }, \
    { RG_OPTION_BOOL, "list", offsetof(S, m list), "false", "print the rows as commands of `regard train`", 0, NULL }

typedef struct rg_grid_job {
    const rg_lab           *lab;
    const rg_grid          *grid;
    const rg_grid_settings *settings;
    const char             *out; /* the folder of all runs */
} rg_grid_job;

/* One run while it is trained and judged. */
typedef struct rg_row_run {
    const rg_grid_job *job;
    const rg_row      *row;
    int64_t            seed;
    const char        *folder;
    const rg_training *training; /* as its words say */
} rg_row_run;

/* One row with all its seeds. */
typedef struct rg_outcome {
    const rg_row *row;
    rg_results    result[RG_GRID_SEEDS];
    int64_t       seed[RG_GRID_SEEDS];
    size_t        runs;
} rg_outcome;

/* A resampled comparison of two rows: what chance in the test data, not in the seeds, may do to the difference. */
typedef struct rg_resampled {
    bool   known;
    double error; /* standard error of the difference */
    double share; /* of the resamples whose difference is at least what is claimed */
} rg_resampled;

struct rg_grid {
    const char      *name, *heading; /* of the experiment; above the table */
    const char      *needs;          /* what --data names; NULL: no data are needed */
    const rg_row    *rows;           /* each ends with an empty one */
    const rg_column *columns;
    const rg_claim  *claims;
    const char      *quick; /* words that --quick appends */

    /* Further words of a run: its data. NULL: the row says all. */
    rg_status (*data)(rg_words *out, const rg_grid_job *job, const rg_row *row);
    /* Results of a trained run. NULL: what its task measured at the end of learning, by the task's names. Results of
     * the training itself (updates, epochs, seconds, ...) are added by the grid; flops_unit, if set, is multiplied by
     * what was learned from: flops_training. */
    rg_status (*judge)(rg_results *out, const rg_row_run *run);
    /* For RG_CLAIM_ABOVE; NULL: not known. */
    rg_status (*resample)(rg_resampled *out, const rg_grid_job *job, const rg_claim *claim, const rg_outcome *a,
                          const rg_outcome *b);
    /* After the table: more of it, pictures. May be NULL. */
    rg_status (*after)(const rg_grid_job *job, const rg_outcome *lines, size_t count);
};

/* Train what is chosen, print the table. */
rg_status rg_grid_run(bool *holds, const rg_lab *lab, const rg_grid *grid, const rg_grid_settings *settings);

/* --- rows_run.c: one run */

char     *rg_row_folder(const rg_grid_job *job, const rg_row *row, int64_t seed); /* a new string */
rg_status rg_row_save(const char *folder, const char *name, const char *text);    /* FOLDER/NAME, replaced whole */
/* Train (or resume, or nothing when it is finished) and judge. RG_ESTOP: asked to stop, everything is saved.
 * *out_failed: it did not converge, which was noted. */
rg_status rg_row_train(rg_results *out, bool *out_failed, const rg_grid_job *job, const rg_row *row, int64_t seed);
/* What a finished run came to; *found is false when there is none with these options. */
rg_status rg_row_read(bool *found, rg_results *out, const rg_grid_job *job, const rg_row *row, int64_t seed);
/* What is known of a run that has no result: "after 1200 updates", or its failure. "": it was never begun. A new
 * string. */
rg_status rg_row_state(char **out, const rg_grid_job *job, const rg_row *row, int64_t seed);

/* The training of a run, from its row's words: *out is freed by the caller. `folder` is where it writes. */
rg_status rg_row_recipe(rg_recipe **out, const rg_row_run *run, const char *folder);

/* --- rows_audit.c */

/* Part of a finished or stopped run again, from the checkpoint beside its log: are the weights those that the log says?
 * Nothing of the run is changed. RG_EINVAL: there is nothing to be compared. */
rg_status rg_grid_audit(bool *holds, const rg_grid_job *job, const char *log);

/* --- rows_log.c: the JSON lines of a training */

/* updates, epochs, seconds, units_second (median); *units: what was learned from (words). */
rg_status rg_row_log(rg_results *out, double *units, const char *folder);
/* The least and the last of what validations said of a metric; *there is false when none did. */
rg_status rg_row_validations(bool *there, double *least, double *last, const char *folder, const char *metric);
/* After how many updates a validation first had at least `bound` of a metric; *there is false when none had. */
rg_status rg_row_reached(bool *there, double *updates, const char *folder, const char *metric, double bound);

/* --- rows_claims.c */

typedef struct rg_verdict {
    const char *word; /* "holds", "does not hold", "undecided", "not measured" */
    char        text[320];
} rg_verdict;
rg_status rg_claim_judge(rg_verdict *out, const rg_grid_job *job, const rg_claim *claim, const rg_outcome *lines,
                         size_t count);
const rg_outcome *rg_outcome_find(const rg_outcome *lines, size_t count, const char *name); /* NULL: no finished run */
rg_summary        rg_outcome_summary(const rg_outcome *line, const char *result);

/* --- rows_table.c */

rg_status rg_grid_table(bool *holds, const rg_grid_job *job, const rg_outcome *lines, size_t count);

#endif
