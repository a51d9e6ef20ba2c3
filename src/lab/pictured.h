/* pictured.h - data of experiments about pictures: made once into the folder of the runs. */
#ifndef RG_LAB_PICTURED_H
#define RG_LAB_PICTURED_H

#include "lab/rows.h"

/* `about` of a row is a generator and its settings, "captcha count=50000 symbols=all"; {data} in a value is the
 * folder of --data. They are written to OUT/data-..., once (200 of them with --quick), and given as --train-sets,
 * --valid-sets and --test-sets; of pictures with classes (idx files) the training data alone.
 * "real-captchas": tables of DATA/captcha/images.tar, every tenth picture by name for the test; "emoji", "recipes": of
 * DATA/emoji and DATA/recipes (pictured_tables.h). NULL: the row's words say where its data are. */
rg_status rg_pictured_data(rg_words *out, const rg_grid_job *job, const rg_row *row);
/* The folder of the data of `about`; the caller's to free. */
char *rg_pictured_folder(const rg_grid_job *job, const char *about);

/* Results `ordered` and `pointing` of a caption model of generated pictures (caption_judge.h); of other rows nothing. */
rg_status rg_pictured_looks(rg_results *out, const rg_row_run *run);

#endif
