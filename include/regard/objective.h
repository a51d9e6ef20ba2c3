/* objective.h - how a loss is made from a system that answers once, or from the answers that a system writes.
 *
 *     enter      batch    -> rows that go in (pixels, embeddings of words)
 *     features   rows     -> one row per example
 *     answer     features -> logits
 *     compare    logits   -> the loss of the examples that have labels
 *
 * An *objective* is one file in src/objectives that ends in a constant, and one word in RG_OBJECTIVES. It combines
 * these steps: plain runs them one after another; others change the rows that enter, or teach the features something
 * else besides. It names no system and no task. `regard train --objective NAME...` adds the losses of several. */
#ifndef REGARD_OBJECTIVE_H
#define REGARD_OBJECTIVE_H

#include "regard/batch.h"
#include "regard/model.h"

RG_API_BEGIN

/* ----------------------------------------------------------------------------------------------------------- a pass */

/* The steps of a system over one batch, on a tape. */
typedef struct rg_pass {
    const rg_model *model;
    const void     *batch;  /* as the system takes it                                            */
    const rg_batch *fields; /* the same, where batches are fields of examples; NULL: they are not */
    uint64_t        draws;  /* random ops before `features`                                      */
    rg_tensor      *rows, *features, *logits;
    rg_loss         loss;   /* of the examples that have labels                                  */
} rg_pass;

/* enter, features, answer; and compare, where `labels`. */
rg_pass    rg_pass_run(rg_tape *t, const rg_model *model, const void *batch, bool labels);
/* Logits of other rows of the same examples: with the same dropout masks; batch statistics are used, the kept ones
 * do not move. */
rg_tensor *rg_pass_again(rg_tape *t, const rg_pass *pass, rg_tensor *rows);

typedef struct rg_objective rg_objective;

/* An objective in one training. */
typedef struct rg_objective_use {
    const rg_objective *objective;
    const rg_model     *model;
    const void         *options; /* filled from its rows; borrowed               */
    void               *parts;   /* objective->parts_bytes, zeroed: for build    */
} rg_objective_use;

/* A named number of a log line. */
typedef struct rg_objective_note {
    const char *name;
    double      value;
} rg_objective_note;
enum { RG_OBJECTIVE_NOTES = 8 };

struct rg_objective {
    const char *name, *summary, *formula, *paper;
    const rg_option *options; /* ends with RG_OPTION_END; NULL: none */
    size_t           options_bytes, parts_bytes;
    bool             whole; /* its loss contains the plain one; else plain is added */
    bool             decodes;   /* for systems that decode: there is no pass, only its batch. Not beside objectives of systems that answer once */
    bool             refines;   /* it starts from a model that has learned: without --init-from people are warned                          */
    bool             any_batch; /* its loss does not look into `batch`, which may then be what the system's task makes (a graph); false: it is an
                                 * rg_batch, and systems of other batches are refused */

    /* Declare parameters of its own; their names begin with "objective.NAME.". They are saved with the model, which
     * does without them when it answers. May be NULL. */
    rg_status (*build)(rg_objective_use *use, rg_params *params);

    /* RG_EINVAL: options that make no sense together. May be NULL. */
    rg_status (*check)(const void *options);
    /* Another column of the files that it needs as classes, by name or number: the task adds it as a further field,
     * and how many classes there are is the model's size "adversary-classes". NULL: none. */
    const char *(*column)(const void *options);

    /* Sum and count. The clean pass is there; several objectives share it. rg_tape_progress tells how far the run
     * is; rg_perturb (perturb.h) and rg_tape_mark, rg_tape_gradient and rg_tape_rewind make inner passes. Examples
     * without a label are those whose label field has no row, which compare passes over, and those of
     * pass->fields->beside. */
    rg_loss (*loss)(rg_tape *t, const rg_objective_use *use, const rg_pass *pass);

    /* What it says of itself beside the loss, for logs: "lambda", "domain-accuracy" since it was last asked. May be
     * NULL. */
    size_t (*tells)(const rg_objective_use *use, rg_progress progress, rg_objective_note notes[RG_OBJECTIVE_NOTES]);
};

const rg_objective *const *rg_objective_all(void);              /* ends with NULL */
const rg_objective        *rg_objective_find(const char *name); /* NULL, with a message that lists what there is */

/* What a training asks for. */
typedef struct rg_objective_choice {
    const rg_objective *objective;
    const void         *options; /* filled from objective->options */
} rg_objective_choice;

/* The objectives of a training: make them ready before the model's parameters are built, and ask for the sum of
 * their losses. */
typedef struct rg_objectives rg_objectives;
/* RG_EINVAL: `system` has no enter, features, answer and compare; two objectives have an option of one name. Without
 * choices: plain. */
rg_status rg_objectives_new(rg_objectives **out, const rg_system *system, const rg_objective_choice *choices,
                            size_t count);
void      rg_objectives_free(rg_objectives *objectives);
rg_status rg_objectives_build(rg_model *model, void *objectives); /* for rg_model_new_with */
rg_loss   rg_objectives_loss(rg_tape *t, const rg_objectives *objectives, const void *batch);
/* For a checkpoint: "plain vat", and their settings as YAML. New strings for rg_free; NULL: no memory. */
char *rg_objectives_names(const rg_objectives *objectives);
char *rg_objectives_settings(const rg_objectives *objectives);
/* The column that one of them needs; NULL: none. RG_EINVAL when two need different ones. */
rg_status rg_objectives_column(const char **out, const rg_objectives *objectives);
/* Their notes; how many. */
size_t rg_objectives_notes(rg_objective_note notes[RG_OBJECTIVE_NOTES], const rg_objectives *objectives,
                           rg_progress progress);

RG_API_END
#endif
