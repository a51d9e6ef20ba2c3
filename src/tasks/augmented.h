/* augmented.h - --augment: training pictures that are new in every epoch.
 *
 *   "shift:2 rotate:10 flip"    small changes of each picture (picture.h); validation sees them as they are
 *   "ct60 clutter:8"            a generator that places each picture of 28 x 28 anew (made.h) and its options; validation pictures are placed once, between
 *                               pieces of their own kind, so that training and validation share nothing
 *
 * What is drawn depends on seed, epoch and line alone: neither batch mates nor threads nor resuming change it. */
#ifndef RG_TASKS_AUGMENTED_H
#define RG_TASKS_AUGMENTED_H

#include "regard/examples.h"

typedef struct rg_augmented rg_augmented;

rg_status rg_augmented_new(rg_augmented **out, const char *text, uint64_t seed); /* RG_EINVAL names the word */
void      rg_augmented_free(rg_augmented *augmented);
/* The change and its context, for the spec of a field of pixels. */
void      rg_augmented_on(rg_field_spec *spec, rg_augmented *augmented);
/* Once the stores are there (valid NULL: none): generators cut clutter from the pictures of `field`. */
rg_status rg_augmented_fill(rg_augmented *augmented, rg_examples *train, rg_examples *valid, size_t field);

/* All pictures come out in one size. */
bool rg_augmented_alike(const rg_augmented *augmented);

#endif
