/* asked_explain.h - why a model answered an input as it did: the example as a subject of explain.h. */
#ifndef RG_TASKS_ASKED_EXPLAIN_H
#define RG_TASKS_ASKED_EXPLAIN_H

#include "regard/explain.h"
#include "regard/supervised.h"

/* Maps from the rows of answers to the record's labels "words" or "cells". The rows are called as the labels `outputs`
 * where there are as many, else by their classes. */
rg_status rg_asked__explain(rg_record *record, const rg_model *model, const rg_asked *asked, const char *outputs);

/* The list of that name, or RG_RECORD_MAX_LISTS. */
size_t rg_labels__named(const rg_record *record, const char *name);
/* Which of down x across cells every pixel of a picture of height x width is part of; for rg_free. NULL: no memory. */
int32_t *rg_cells__of_pixels(size_t height, size_t width, size_t down, size_t across);
/* The classes with the largest logits, one per row; for rg_free. NULL: no memory. */
int32_t *rg_rows__best(const rg_tensor *logits);

#endif
