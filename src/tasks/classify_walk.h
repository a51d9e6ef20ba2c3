/* classify_walk.h - the walk of a model that looks at pictures in glimpses, drawn: a numbered path over the picture,
 * and below it what the retina saw. */
#ifndef RG_TASKS_CLASSIFY_WALK_H
#define RG_TASKS_CLASSIFY_WALK_H

#include "regard/record.h"
#include "tasks/classify.h"

/* Adds the picture with its path, a region per glimpse, and the map "glimpses" to a record. Nothing where the model
 * takes no glimpses. */
rg_status rg_walk_add(rg_record *record, const rg_model *model, const rg_asked *asked);
/* The same for a spatial transformer (classify_front.c): the picture before and after it. Nothing where the model
 * has none. */
rg_status rg_front_add(rg_record *record, const rg_model *model, const rg_asked *asked);

#endif
