/* train.h - learning: optimisers, schedules, workers, checkpoints and the loop that joins them.
 *
 *   rg_workers_run(&losses, workers, &job)       every worker: its share of the batch -> loss -> gradients
 *   rg_optimizer_step(&report, opt, grads, ...)  one pass: sum, scale, clip, update, pack
 *
 * Gradients are summed in the order of workers, ranges are fixed, so the number of threads never changes a bit: same
 * seed and same number of workers, same numbers. */
#ifndef REGARD_TRAIN_H
#define REGARD_TRAIN_H

#include "regard/autograd.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------------ optimisers */

typedef struct rg_optimizer_kind { /* one row of the table */
    const char *name, *summary, *paper;
    double      rate, a, b, eps; /* what RG_OPTIMIZER_DEFAULT fields become */
} rg_optimizer_kind;

/* All rows, ended by one without a name: sgd, nesterov, adam, adamw, adadelta, adagrad, rmsprop, rmsprop-centred,
 * graves. */
const rg_optimizer_kind *rg_optimizer_kinds(void);

typedef struct rg_optimizer_config {
    const char *name;       /* of the row                                                                       */
    double      a, b, eps;  /* momentum or first beta, second beta or decay of averages, epsilon; < 0: the row's */
    double      decay;      /* of every learned entry, on top of the entry's own; adamw: decoupled, others: L2   */
    double      clip_norm;  /* the whole gradient is scaled down to this norm; 0: not                           */
    double      clip_value; /* then each number is cut to +- this; 0: not                                       */
    double      smoothing;  /* average += smoothing (w - average) after each step, faster in the first; 0: not  */
    double      start;      /* adagrad: what the sum of squares starts from                                     */
} rg_optimizer_config;
#define RG_OPTIMIZER_CONFIG_DEFAULT { .name = "adam", .a = -1, .b = -1, .eps = -1 }

typedef struct rg_optimizer rg_optimizer;

/* For built parameters, which it borrows; the state is allocated here. RG_EINVAL names what makes no sense. */
rg_status rg_optimizer_new(rg_optimizer **out, rg_params *params, const rg_optimizer_config *config);
void      rg_optimizer_free(rg_optimizer *opt);

typedef struct rg_step_report {
    double norm;    /* of the gradient after division by count, before clipping */
    bool   clipped; /* by norm                                                 */
} rg_step_report;

/* One pass over every learned parameter that is not frozen: sum the gradients of `workers` in their order (what a
 * worker did not write counts as zero), divide by `count`, clip, update with learning rate `rate` times the entry's
 * factor, and write both packs. A gradient that is not finite is RG_ENUMBER with the tensor's name, and nothing has
 * changed. `team` may be NULL; its size changes no bit. Allocates nothing. */
rg_status rg_optimizer_step(rg_step_report *out, rg_optimizer *opt, rg_grads *const *grads, size_t workers,
                            double count, double rate, rg_team *team);

uint64_t rg_optimizer_steps(const rg_optimizer *opt); /* taken so far */
double   rg_optimizer_rate(const rg_optimizer *opt);  /* the row's default learning rate */

/* Exchange parameters and their smoothed averages (and pack again), to validate or save the averages; once more to
 * go on training. Nothing happens without smoothing. */
rg_status rg_optimizer_swap(rg_optimizer *opt, rg_team *team);

/* ------------------------------------------------------------------------------------------------- schedules */

typedef struct rg_schedule {
    const char *name;   /* of a row: constant, transformer, inverse-sqrt, exponential, step, cosine, linear, epochs, dann */
    double      rate;   /* highest rate; transformer: the factor in front                                          */
    double      warmup; /* the rate rises linearly for so many steps (transformer: up to its peak)                   */
    double      start;  /* steps (epochs: passes over the data) before it begins to fall                          */
    double      every;  /* steps between two cuts; cosine and linear: until `least`, 0: by `part`, the whole run    */
    double      decay;  /* factor of one cut                                                                       */
    double      least;  /* never below this                                                                        */
    double      width;  /* of the model, for transformer                                                           */
    double      part;   /* dann, cosine, linear: of the run that is done, 0 to 1; the trainer keeps it           */
    double      end, cooldown; /* any kind: over the last `cooldown` steps up to `end` the rate falls to 0 along a line; 0: it does not */
} rg_schedule;
#define RG_SCHEDULE_DEFAULT { .name = "constant", .rate = 1e-3, .every = 1, .decay = 0.5 }

typedef struct rg_schedule_kind {
    const char *name, *formula;
    double (*rate)(const rg_schedule *s, double step);
    bool by_epochs; /* `step` is the number of the pass over the data, from 1 */
    bool by_part;   /* it goes by `part`: the run needs a limit */
} rg_schedule_kind;

const rg_schedule_kind *rg_schedule_kinds(void); /* ended by one without a name */
rg_status rg_schedule_check(const rg_schedule *s);
bool      rg_schedule_by_epochs(const rg_schedule *s);
double    rg_schedule_rate(const rg_schedule *s, uint64_t step); /* of step (or epoch) 1, 2, ...; s was checked */

/* --------------------------------------------------------------------------------------------------- workers */

/* Worker i: a thread with a tape, a team and a gradient block of its own. */
typedef struct rg_workers rg_workers;

typedef struct rg_workers_config {
    int      workers; /* gradient blocks; part of what decides the bits           */
    int      threads; /* of each worker's team; changes no bits                   */
    uint64_t seed;    /* of everything random on the tapes                        */
    size_t   bytes;   /* first chunk of each tape's arena; 0: a default           */
} rg_workers_config;
#define RG_WORKERS_CONFIG_DEFAULT { .workers = 1, .threads = 1 }

rg_status rg_workers_new(rg_workers **out, rg_params *params, const rg_workers_config *config);
void      rg_workers_free(rg_workers *workers);
int       rg_workers_count(const rg_workers *workers);
rg_team  *rg_workers_team(const rg_workers *workers);          /* all threads together, for what happens between runs */
rg_tape  *rg_workers_tape(const rg_workers *workers, int i);   /* of worker i, for what happens between runs          */
rg_grads *const *rg_workers_grads(const rg_workers *workers);  /* rg_workers_count of them                             */

/* The loss of one share on one worker's tape, called on the worker's thread. May return a loss without a sum when
 * the share has nothing to learn from. */
typedef rg_loss rg_loss_function(void *context, rg_tape *tape, const void *share, int worker);

typedef struct rg_job {
    const void *const *shares; /* share i goes to worker i                                             */
    size_t             count;  /* at most one for each worker; the others rest                          */
    uint64_t           step;   /* numbers the random draws; different for each run                      */
    bool               add;    /* to the gradients that are there: a later part of a larger batch        */
    rg_progress        progress; /* what losses see by rg_tape_progress                                */
    rg_loss_function  *loss;
    void              *context;
} rg_job;

typedef struct rg_losses {
    double sum, count; /* of all shares, added in worker order                        */
    size_t failed;     /* which share, when the run failed; the number of shares otherwise */
} rg_losses;

/* Loss and gradients of every share at the same time; returns when all are done. Of several failures the one of the
 * first worker is reported, with its share in out->failed: RG_ENUMBER for a loss that is not finite. The tapes are
 * empty afterwards. Once the largest batch has been seen, nothing is allocated. */
rg_status rg_workers_run(rg_losses *out, rg_workers *workers, const rg_job *job);

/* ----------------------------------------------------------------------------------------------------- state */

/* Named numbers, texts and bytes that must survive: step, epoch, data position, patience, configuration. */
typedef struct rg_state rg_state;

rg_status rg_state_new(rg_state **out);
void      rg_state_free(rg_state *state);
void      rg_state_clear(rg_state *state);

/* A key that is there is replaced. Keys are printable ASCII without spaces, at most 200 characters. On failure the old
 * value is still there. */
rg_status rg_state_put_count(rg_state *state, const char *key, uint64_t value);
rg_status rg_state_put_number(rg_state *state, const char *key, double value); /* kept exactly; may be infinite */
rg_status rg_state_put_text(rg_state *state, const char *key, const char *value);
rg_status rg_state_put_bytes(rg_state *state, const char *key, const void *bytes, size_t count);

/* RG_EMATCH names the key that is missing or of another kind. Texts and bytes are borrowed until the key is put
 * again. */
rg_status rg_state_get_count(uint64_t *out, const rg_state *state, const char *key);
rg_status rg_state_get_number(double *out, const rg_state *state, const char *key);
rg_status rg_state_get_text(const char **out, const rg_state *state, const char *key);
rg_status rg_state_get_bytes(const void **out, size_t *out_count, const rg_state *state, const char *key);
bool      rg_state_has(const rg_state *state, const char *key);
bool      rg_state_same_bytes(const rg_state *a, const rg_state *b); /* the same keys with bytes, and the same bytes */

/* ----------------------------------------------------------------------------------------------- checkpoints */

/* A checkpoint is one safetensors file: parameters and kept values under their names, row-major F32; with an
 * optimiser its arrays as optimizer.<array>.<name>; every text and number of `state` in the metadata, every bytes as
 * the U8 tensor state.<key>. Each array carries a checksum. `opt` and `state` may be NULL: a model for inference has
 * no optimiser. A value that is not finite is RG_ENUMBER with the tensor's name. The file appears whole or not at
 * all. */
rg_status rg_checkpoint_save(const char *path, const rg_params *params, const rg_optimizer *opt, const rg_state *state);

/* The same, and the file that was at `path` stays as `path`.prev: at any moment one of the two is whole. */
rg_status rg_checkpoint_rotate(const char *path, const rg_params *params, const rg_optimizer *opt,
                               const rg_state *state);

/* Read it back into parameters of the same names and shapes and pack them. `opt` NULL: only weights. `state` (may be
 * NULL) is cleared and gets what is there. RG_EMATCH names the tensor that is missing, unknown or of another shape
 * before anything has changed; RG_ENUMBER names one with a value that is infinite or not a number. After a failed
 * read (RG_EIO, RG_EFORMAT, RG_ENUMBER) the values are unspecified: load another file or free. */
rg_status rg_checkpoint_load(const char *path, rg_params *params, rg_optimizer *opt, rg_state *state, rg_team *team);

/* Only the state, to build the model from its configuration before loading. */
rg_status rg_checkpoint_state(const char *path, rg_state *state);

/* Which file to resume from: `path` when it is whole (every checksum is verified), else `path`.prev. *out_path is
 * freed by the caller; NULL and RG_OK when there is neither. RG_EFORMAT when files are there but none is whole. */
rg_status rg_checkpoint_find(char **out_path, const char *path);

/* The mean of the parameters of several checkpoints of one model, summed in the order given. Kept values are the
 * last file's. */
rg_status rg_checkpoint_average(rg_params *params, const char *const *paths, size_t count, rg_team *team);

RG_API_END
#endif
