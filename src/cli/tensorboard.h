/* tensorboard.h - event files that TensorBoard reads. */
#ifndef RG_CLI_TENSORBOARD_H
#define RG_CLI_TENSORBOARD_H

#include <stdint.h>

#include "regard/base.h"

typedef struct rg_events rg_events;

/* A new file events.out.tfevents.TIME.HOST.PID in the folder, which is made where it is missing. */
rg_status rg_events_open(rg_events **out, const char *folder);
void      rg_events_close(rg_events *events); /* NULL is fine */

/* A run begins, or goes on, behind `step`: what older files say of later steps counts no more. */
void rg_events_start(rg_events *events, uint64_t step);
/* One number. What cannot be written is lost and told by rg_events_failed(). */
void rg_events_scalar(rg_events *events, uint64_t step, const char *tag, double value);
bool rg_events_failed(const rg_events *events);

#endif
