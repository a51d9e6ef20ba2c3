/* recipe.h - the text that a recipe is learned as. */
#ifndef RG_TASKS_RECIPE_H
#define RG_TASKS_RECIPE_H

#include "regard/text.h"

/* Append "title | step | step"; steps stand between | or end with " . ". */
rg_status rg_recipe_text(rg_text *out, const char *title, const char *directions);

#endif
