/* checkpoint.h - what saving and loading share: where each array of a checkpoint lives in memory. */
#ifndef RG_TRAIN_CHECKPOINT_H
#define RG_TRAIN_CHECKPOINT_H

#include "train/optimizer.h"

/* Called for every array: the parameters under their names, then the optimiser's arrays. Stops at the first failure. */
typedef rg_status rg_checkpoint_visit(void *context, const char *name, const rg_param *e, rg_real *data);
rg_status         rg_checkpoint__walk(const rg_params *params, const rg_optimizer *opt, rg_checkpoint_visit *visit,
                                      void *context);

/* checkpoint_small.c: weights of 8 and 16 bits. */
typedef struct rg_safetensors rg_safetensors;
typedef struct rg_safetensors_entry rg_safetensors_entry;
typedef struct rg_safetensors_writer rg_safetensors_writer;
/* Has the I8 tensor `a` of parameter e the right shape, and scales beside it? */
rg_status rg_checkpoint__integers(const rg_safetensors *file, const rg_safetensors_entry *a, const rg_param *e,
                                  bool learns);
/* Is this the scale of an I8 tensor? */
bool rg_checkpoint__is_scale(const rg_safetensors *file, const rg_params *params, const char *name);
/* From any type a file may have to any that the parameter is kept in. */
rg_status rg_checkpoint__copy_small(rg_safetensors *file, const rg_safetensors_entry *a, rg_param *e);
/* Adds an entry that is kept small; its numbers are copied to the arena. */
rg_status rg_checkpoint__add_small(rg_safetensors_writer *writer, rg_arena *arena, const rg_param *e);

#define RG_CHECKPOINT_STATE "state."         /* tensors of bytes           */
#define RG_CHECKPOINT_WEIGHTS "regard.weights" /* metadata: how weights are stored; absent: f32 */
#define RG_CHECKPOINT_SCALE ".scale"           /* NAME.scale stands beside an I8 tensor NAME */
#define RG_CHECKPOINT_OPTIMIZER "optimizer." /* tensors and metadata of it */

#endif
