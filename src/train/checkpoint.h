/* checkpoint.h - what saving and loading share: where each array of a checkpoint lives in memory. */
#ifndef RG_TRAIN_CHECKPOINT_H
#define RG_TRAIN_CHECKPOINT_H

#include "train/optimizer.h"

/* Called for every array: the parameters under their names, then the optimiser's arrays. Stops at the first failure. */
typedef rg_status rg_checkpoint_visit(void *context, const char *name, const rg_param *e, rg_real *data);
rg_status rg_checkpoint__walk(const rg_params *params, const rg_optimizer *opt, rg_checkpoint_visit *visit, void *context);

#define RG_CHECKPOINT_STATE "state."         /* tensors of bytes           */
#define RG_CHECKPOINT_OPTIMIZER "optimizer." /* tensors and metadata of it */

#endif
