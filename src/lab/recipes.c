/* recipes.c - `regard reproduce recipes`: plates of food. The directions of made plates are left to chance in part:
 * their perplexity stands beside that of the grammar which writes them, below which nobody can be on average. */
#include <math.h>
#include <string.h>

#include "lab/mnist_parts.h"
#include "lab/pictured.h"
#include "lab/recipe_judge.h"

#define PLATES "--type recipe --layers c3x32s2,c3x64s2,c3x64s2 --dropout 0 --mini-batch 16 --learn-rate 0.001 --after-batches 12000 --valid-freq 2000 --early-stopping 0 "

static const rg_row rows[] = {
    { "concat", PLATES "--fusion concat", 1, 0, "plates count=20000", NULL },
    { "independent", PLATES "--fusion independent", 1, 0, "plates count=20000", NULL },
    { "image-first", PLATES "--fusion image-first", 1, 0, "plates count=20000", NULL },
    { "ingredients-first", PLATES "--fusion ingredients-first", 1, 0, "plates count=20000", NULL },
    { "image", PLATES "--fusion image", 1, 0, "plates count=20000", NULL },
    { "ingredients", PLATES "--fusion ingredients", 1, 0, "plates count=20000", NULL },
    { "recipes",
      "--type recipe --features {data}/mobilenet_v2/mobilenet_v2_1.0_224.safetensors --dropout 0.3 --mini-batch 8 "
      "--learn-rate 0.0005 --label-min-count 2 --max-length 300 --after-epochs 60 --valid-freq 0 --valid-epochs 5 "
      "--early-stopping 0",
      1, 0, "recipes", NULL },
    { NULL, NULL, 0, 0, NULL, NULL },
};

static const rg_column columns[] = {
    { "test-perplexity", "ppl", 4, 0 },
    { "grammar-perplexity", "grammar", 4, 0 },
    { "over-grammar", "ratio", 3, 0 },
    { "test-title", "titles %", 2, 100 },
    { "test-f1", "F1 %", 2, 100 },
    { "parameters", "param.M", 3, 1e-6 },
    { "epochs", "epochs", 1, 0 },
    { "seconds", "min", 1, 1.0 / 60 },
    { NULL, NULL, 0, 0 },
};

static const rg_claim claims[] = {
    { RG_CLAIM_LEAST, "concat", NULL, 0.95, "test-f1", "ingredients", 0 },
    { RG_CLAIM_LEAST, "concat", NULL, 0.95, "test-title", "titles", 0 },
    { RG_CLAIM_MOST, "concat", NULL, 1.1, "over-grammar", "perplexity against that of the grammar's entropy", 0 },
    { RG_CLAIM_ABOVE, "image", "concat", 0, "test-perplexity", "picture and ingredients against the picture", 0 },
    { RG_CLAIM_ABOVE, "ingredients", "image", 0, "test-perplexity", "the picture against ingredients", 0 },
    { RG_CLAIM_LEAST, NULL, NULL, 0, NULL, NULL, 0 },
};

static rg_status judge(rg_results *out, const rg_row_run *run)
{
    double grammar = 0;
    if (strncmp(run->row->about, "plates", 6) != 0) return RG_OK; /* nobody knows the entropy of real ones */
    char     *folder = rg_pictured_folder(run->job, run->row->about),
         *table = folder ? rg_format("%s/test.tsv", folder) : NULL;
    rg_model *model = NULL;
    rg_status status = table ? rg_lab_model(&model, run->folder) : RG_ENOMEM;
    if (status == RG_OK) status = rg_recipe_grammar(&grammar, model, table);
    rg_model_free(model);
    rg_free(folder);
    rg_free(table);
    if (status == RG_OK) status = rg_results_set(out, "grammar-perplexity", grammar);
    const double perplexity = rg_results_get(out, "test-perplexity");
    return status == RG_OK && isfinite(perplexity) ? rg_results_set(out, "over-grammar", perplexity / grammar) : status;
}

static const rg_grid grid = {
    .name = "recipes",
    .heading = "plates: ingredients and text; the true ingredients are given to the text",
    .needs = "the folder with recipes/ and mobilenet_v2/; for plates any: they are drawn",
    .rows = rows,
    .columns = columns,
    .claims = claims,
    .quick = "--after-batches 10 --valid-freq 10 --early-stopping 0",
    .data = rg_pictured_data,
    .judge = judge,
};

const rg_experiment rg_experiment_recipes = {
    .name = "recipes",
    .summary = "plates of food to ingredients, title and directions",
    .source = "Salvador et al. 2019",
    .options = rg_grid_options,
    .size = sizeof(rg_grid_settings),
    .grid = &grid,
};
