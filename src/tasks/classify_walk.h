/* classify_walk.h - the walk of a model that looks at pictures in glimpses, drawn: a numbered path over the picture,
 * and below it what the retina saw. */
#ifndef RG_TASKS_CLASSIFY_WALK_H
#define RG_TASKS_CLASSIFY_WALK_H

#include "regard/record.h"
#include "tasks/classify.h"

/* Glimpses: where they were, and what the retina saw, scales * patch * patch * channels numbers, the finest first. */
enum { RG_WALK_MOST = 64 };
typedef struct rg_walk {
    size_t count, patch, scales, channels;
    double x[RG_WALK_MOST], y[RG_WALK_MOST]; /* the middle, in pixels */
    float *seen[RG_WALK_MOST];
} rg_walk;

/* `see` of a watcher: takes "walk.I.place" (1, 2) and "walk.I.seen" of the first picture. */
void rg_walk_see(void *walk, const char *name, const rg_tensor *x, const void *reach);
void rg_walk_fini(rg_walk *walk);
/* The frame of glimpse i with its number and a line from the one before, on a picture enlarged `by`; what was seen, in a
 * square of `side` pixels. */
void rg_walk_draw_glimpse(rg_picture *picture, const rg_walk *walk, size_t i, double by);
void rg_walk_draw_seen(rg_picture *picture, size_t top, size_t left, size_t side, const rg_walk *walk, size_t i);

/* Adds the picture with its path, a region per glimpse, and the map "glimpses" to a record. Nothing where the model
 * takes no glimpses. */
rg_status rg_walk_add(rg_record *record, const rg_model *model, const rg_asked *asked);
/* The same for a spatial transformer (classify_front.c): the picture before and after it. Nothing where the model
 * has none. */
rg_status rg_front_add(rg_record *record, const rg_model *model, const rg_asked *asked);

#endif
