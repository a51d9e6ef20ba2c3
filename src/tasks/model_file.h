/* model_file.h - models that need no vocabulary, as one file: weights, settings, sizes.
 *
 *   state of the checkpoint      regard.task  graph       regard.system  gat       regard.settings  YAML of the system's options
 *                                sizes.features (at most 2^24), sizes.classes (at most 2^20) */
#ifndef RG_TASKS_MODEL_FILE_H
#define RG_TASKS_MODEL_FILE_H

#include "regard/model.h"
#include "regard/train.h"
#include "tasks/report.h"

/* What a model file says of itself, into `state`. A file that is none is refused with the words "not a model". */
rg_status rg_model_file_state(rg_state *state, const char *path);
/* Does the message of the last failure name this file, or one in this folder? As a word, so that "m" is not found in "model". */
bool rg_message_names(const char *path);
/* How many numbers the file has room for: no model that is loaded from it may have more. */
rg_status rg_model_file_room(size_t *out, const char *path);

rg_status rg_model_describe(rg_state *state, const rg_model *model);
rg_status rg_model_save(const rg_model *model, rg_state *state, const char *path); /* `state` has been described */
/* RG_EMATCH when it is a model for another task. `state` (may be NULL) is cleared and gets what the file says.
 * RG_EMATCH too when its settings ask for more numbers than the file holds, before they are allocated. */
rg_status rg_model_load(rg_model **out, const char *path, const char *task, rg_state *state);

/* Tell which settings of the system differ from those a checkpoint was written with: they may, where the sizes are the same. */
void rg_tell_changed_settings(const rg_train_report *report, const rg_state *state, const rg_model *model);

/* The learned numbers, one after the other, to keep the best of a run in memory. */
size_t    rg_params_kept_size(const rg_params *params);
void      rg_params_keep(rg_real *to, const rg_params *params);
rg_status rg_params_restore(rg_params *params, const rg_real *from, rg_team *team);

#endif
