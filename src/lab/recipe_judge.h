/* recipe_judge.h - what chance there is in the texts of made recipes. */
#ifndef RG_LAB_RECIPE_JUDGE_H
#define RG_LAB_RECIPE_JUDGE_H

#include "regard/model.h"

/* The perplexity per token that nobody can be below: exp(entropy / tokens) over the recipes of a table that the
 * generator `plates` wrote, whose column `nats` says how much of each is left to chance when its picture is seen.
 * Tokens are those of the model's vocabulary, the end of each text among them, as validation counts them.
 * RG_EFORMAT: a line has no such number. */
rg_status rg_recipe_grammar(double *out, const rg_model *model, const char *table);

#endif
