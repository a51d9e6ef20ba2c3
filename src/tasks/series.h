/* series.h - running numbers: rows of files as one sequence, for language models that predict the next row (--numbers).
 *
 *   a row per line, its numbers apart by blanks, tabs, commas or semicolons; .gz allowed; a first line without numbers
 *   names the columns; empty lines are passed over */
#ifndef RG_TASKS_SERIES_H
#define RG_TASKS_SERIES_H

#include "regard/carry.h"
#include "regard/model.h"
#include "regard/options.h"

typedef struct rg_series {
    rg_real *value; /* (rows, width) */
    size_t   rows, width;
    uint64_t checksum;
} rg_series;

/* width 0: as many as the first row has. RG_EFORMAT names file and line: another number of columns, what is no number,
 * none at all. */
rg_status rg_series_read(rg_series *out, const rg_list *files, size_t width);
void      rg_series_free(rg_series *numbers);
/* One line as a row of `width` numbers (0: any number up to `room`). RG_EFORMAT: it is none. */
rg_status rg_series_parse(rg_real *row, size_t *out_count, const char *line, size_t width, size_t room);

/* Means and deviations of rows 0 .. rows - 1 as the parameters input.shift and input.scale of a model. */
void rg_series_standardize(const rg_model *model, const rg_series *numbers, size_t rows);

/* Fill a batch whose target ids are numbers of rows, -1: not predicted, and `previous` the rows before them, -1: before
 * the first, which goes in as the means. `room` grows and is the caller's to free. */
typedef struct rg_series_room {
    rg_real *in, *to;
    size_t   rows;
} rg_series_room;
rg_status rg_series_fill(rg_batch *batch, rg_series_room *room, const rg_series *numbers, const rg_model *model);
void      rg_series_room_free(rg_series_room *room);

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Rows go in from the beginning of a sequence, in any portions; what is expected behind each comes out. */
typedef struct rg_series_reading rg_series_reading;
rg_status rg_series_reading_new(rg_series_reading **out, const rg_model *model, rg_team *team);
void      rg_series_reading_free(rg_series_reading *reading);
void      rg_series_reading_begin(rg_series_reading *reading); /* another sequence */
/* out[i] (n rows): the row expected behind rows[i]. RG_ENUMBER when one is not finite. */
rg_status rg_series_feed(rg_real *out, rg_series_reading *reading, const rg_real *rows, size_t n);

/* Mean square errors of rows from + 1 .. from + count - 1, each predicted from all before it, and of saying that the
 * next row is as the last. Means over rows and columns, in the scale of the data. */
typedef struct rg_series_errors {
    double mse, as_now;
} rg_series_errors;
rg_status rg_series_judge(rg_series_errors *out, rg_series_reading *reading, const rg_series *numbers, size_t from,
                           size_t count);

#endif
