/* pictured_tables.h - tables of real pictures cut into training, validation and test data, and what simple means make
 * of them. */
#ifndef RG_LAB_PICTURED_TABLES_H
#define RG_LAB_PICTURED_TABLES_H

#include "regard/base.h"

/* FOLDER/{train,valid,test}.tsv of DATA/emoji/emoji.tsv.gz: picture, and of its English tags those of at least ten
 * emoji; those without one are left out. Of ten in a row one is for the test and one for validation. */
rg_status pictured_emoji(const char *folder, const char *data);
/* The same of DATA/recipes/recipes.tsv.gz, by its column `split`: recipes that have a picture. */
rg_status pictured_recipes(const char *folder, const char *data);

/* F1 of all labels of FOLDER/test.tsv together when every picture gets
 *   frequent   the most frequent labels of the training data, so many as do best there
 *   nearest    the labels of the training picture whose 16 x 16 pixels are nearest */
typedef struct rg_set_controls {
    double frequent, nearest;
} rg_set_controls;
rg_status rg_set_controls_of(rg_set_controls *out, const char *folder, const char *archive);

#endif
