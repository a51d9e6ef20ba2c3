/* learn.h - what the learning run shares inside src/train. */
#ifndef RG_TRAIN_LEARN_H
#define RG_TRAIN_LEARN_H

#include "regard/task.h"

/* Tell which settings of the system differ from those a checkpoint was written with: they may, where the sizes are the same. */
void rg_tell_changed_settings(const rg_train_report *report, const rg_state *state, const rg_model *model);

#endif
