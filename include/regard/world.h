/* world.h - worlds that an agent acts in: a state, what it looks like, and what an action does to it.
 *
 *   catch   a ball falls through a screen of 24 x 24 pixels and bounces off its sides; a paddle at the bottom is moved
 *           left, not at all or right, one pixel per step. Reward 1 when the ball comes down on the paddle, at the end
 *           of the episode (after Mnih et al. 2014, section 4.3) */
#ifndef REGARD_WORLD_H
#define REGARD_WORLD_H

#include "regard/tensor.h"

RG_API_BEGIN

typedef struct rg_world {
    const char *name, *summary;
    size_t height, width, actions, steps; /* pixels of what is seen, one channel; steps of an episode, always as many */
    size_t      state_bytes;
    void (*start)(void *state, rg_random *random);
    double (*step)(void *state, size_t action); /* returns the reward */
    void (*draw)(rg_real *pixels, const void *state); /* height * width numbers in 0 .. 1 */
} rg_world;

const rg_world *const *rg_world_all(void);              /* ends with NULL */
const rg_world        *rg_world_find(const char *name); /* NULL: none     */

/* Episodes first .. first + count - 1 of a seed: how they begin depends on these numbers alone. What a system that acts
 * learns from and is judged by. */
typedef struct rg_episodes {
    const rg_world *world;
    size_t          count;
    uint64_t        seed, first;
} rg_episodes;
void rg_episode_start(void *state, const rg_episodes *episodes, size_t i);

/* Mean reward of an agent that draws every action at random. */
rg_status rg_world_random(double *out, const rg_episodes *episodes);

RG_API_END
#endif
