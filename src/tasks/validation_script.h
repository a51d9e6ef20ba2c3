/* validation_script.h - metrics that a command of the user's prints, and the file of translations it reads. */
#ifndef RG_TASKS_VALIDATION_SCRIPT_H
#define RG_TASKS_VALIDATION_SCRIPT_H

#include "regard/options.h"
#include "regard/text.h"
#include "regard/trainer.h"

/* The number that `script args... file` prints; file NULL: without one. The script is shell text, the rest are words. */
rg_status rg_script_metric(double *out, const char *script, const rg_list *args, const char *file);
/* {E} the epoch, {B} its batches, {U} updates, {T} target tokens put in their places. */
rg_status rg_script_file_name(rg_text *out, const char *form, const rg_trainer_counts *counts);

#endif
