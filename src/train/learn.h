/* learn.h - what the learning run shares inside src/train. */
#ifndef RG_TRAIN_LEARN_H
#define RG_TRAIN_LEARN_H

#include "regard/task.h"

/* Tell which settings of the system differ from those a checkpoint was written with: they may, where the sizes are
 * the same. */
void rg_tell_changed_settings(const rg_train_report *report, const rg_state *state, const rg_model *model);
/* The same of any two texts of settings; `earlier` (may be NULL) are those of before a setting was there. */
void rg_tell_differences(const rg_train_report *report, const char *before, const char *now, const char *earlier);

/* What a checkpoint holds of the objectives. Other ones than it was trained with: RG_EMATCH; other settings are
 * told. */
rg_status rg_learn__put_objectives(rg_state *state, const rg_objectives *objectives);
rg_status rg_learn__same_objectives(const rg_train_report *report, const rg_state *state,
                                    const rg_objectives *objectives);

#endif
