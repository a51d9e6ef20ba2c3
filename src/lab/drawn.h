/* drawn.h - what an experiment draws beside its table. */
#ifndef RG_LAB_DRAWN_H
#define RG_LAB_DRAWN_H

#include "lab/rows.h"
#include "regard/record.h"

/* FOLDER/NAME.json, the record, and its first set of curves as .png and .svg. Without a figures module the record is all,
 * and a note says so: the table has the numbers. */
rg_status rg_lab_draw(const rg_lab *lab, const char *folder, const char *name, const rg_record *record);

/* The mean of a result for every finished row, with its 95 % interval by Student's t where there are several seeds. */
rg_status rg_lab_draw_means(const rg_grid_job *job, const rg_outcome *lines, size_t count, const char *result,
                            const char *title, const char *unit, const char *name);

/* Half of that interval; NAN: less than two runs. */
double rg_summary_interval(rg_summary summary);

#endif
