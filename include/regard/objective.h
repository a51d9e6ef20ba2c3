/* objective.h - how a loss is made from a system that answers once.
 *
 *     enter      batch    -> rows that go in (pixels, embeddings of words)
 *     features   rows     -> one row per example
 *     answer     features -> logits
 *     compare    logits   -> the loss of the examples that have labels
 *
 * An *objective* is one file in src/objectives that ends in a constant, and one word in RG_OBJECTIVES. It combines these steps: plain runs them
 * one after another; others change the rows that enter, or teach the features something else besides. It names no system and no task.
 * `regard train --objective NAME...` adds the losses of several. */
#ifndef REGARD_OBJECTIVE_H
#define REGARD_OBJECTIVE_H

#include "regard/model.h"

RG_API_BEGIN

typedef struct rg_objective rg_objective;

/* An objective in one training. */
typedef struct rg_objective_use {
    const rg_objective *objective;
    const rg_model     *model;
    const void         *options; /* filled from its rows; borrowed               */
    void               *parts;   /* objective->parts_bytes, zeroed: for build    */
} rg_objective_use;

struct rg_objective {
    const char *name, *summary, *formula, *paper;
    const rg_option *options; /* ends with RG_OPTION_END; NULL: none */
    size_t           options_bytes, parts_bytes;
    bool             whole; /* its loss contains the plain one; else plain is added */
    bool             any_batch; /* its loss does not look into `batch`, which may then be what the system's task makes (a graph); false: it is an
                                 * rg_batch, and systems of other batches are refused */

    /* Declare parameters of its own; their names begin with "objective.NAME.". They are saved with the model, which does without them when it
     * answers. May be NULL. */
    rg_status (*build)(rg_objective_use *use, rg_params *params);

    /* Sum and count. rg_tape_progress tells how far the run is; rg_tape_mark, rg_tape_gradient and rg_tape_rewind make an inner pass,
     * rg_tape_redraw gives it the same dropout masks, rg_tape_update_statistics(t, false) leaves batch statistics alone. Examples without a label are
     * those whose label field has no row: compare passes over them. */
    rg_loss (*loss)(rg_tape *t, const rg_objective_use *use, const void *batch);
};

const rg_objective *const *rg_objective_all(void);              /* ends with NULL */
const rg_objective        *rg_objective_find(const char *name); /* NULL, with a message that lists what there is */

/* What a training asks for. */
typedef struct rg_objective_choice {
    const rg_objective *objective;
    const void         *options; /* filled from objective->options */
} rg_objective_choice;

/* The objectives of a training: make them ready before the model's parameters are built, and ask for the sum of their losses. */
typedef struct rg_objectives rg_objectives;
/* RG_EINVAL: `system` has no enter, features, answer and compare. Without choices: plain. */
rg_status rg_objectives_new(rg_objectives **out, const rg_system *system, const rg_objective_choice *choices, size_t count);
void      rg_objectives_free(rg_objectives *objectives);
rg_status rg_objectives_build(rg_model *model, void *objectives); /* for rg_model_new_with */
rg_loss   rg_objectives_loss(rg_tape *t, const rg_objectives *objectives, const void *batch);
/* For a checkpoint: "plain vat", and their settings as YAML. New strings for rg_free; NULL: no memory. */
char *rg_objectives_names(const rg_objectives *objectives);
char *rg_objectives_settings(const rg_objectives *objectives);

RG_API_END
#endif
