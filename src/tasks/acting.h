/* acting.h - learning to act in a world: settings, what can be asked, and an episode as a record. */
#ifndef RG_TASKS_ACTING_H
#define RG_TASKS_ACTING_H

#include "regard/record.h"
#include "regard/task.h"
#include "regard/world.h"

typedef struct rg_world_options {
    char   *world;
    int64_t mini_batch, episodes, valid_count, test_count;
} rg_world_options;
extern const rg_option rg_world_rows[];

/* What a model of this task needs beside weights: the world it learned. */
typedef struct rg_world_assets {
    rg_model        *model;
    rg_world_options options; /* strings are its own */
} rg_world_assets;

/* Mean reward of episodes that a model plays without trying; episodes of training have other numbers. */
rg_status rg_world_judge(double *out, const rg_model *model, const rg_episodes *episodes, rg_team *team);

/* world_record.c: an episode frame by frame, where the retina was and what it saw. */
rg_status rg_world_record(rg_record **out, const rg_model *model, const rg_episodes *one);

#endif
