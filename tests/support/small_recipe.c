#include "small_recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Settings that make any system small; names a system does not have are passed over. */
static const char small_systems[] =
    "dim-emb: 8\ntransformer-dim-ffn: 8\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\ndim-rnn: 6\n"
    "look: attention\nencoder: transformer\nlayers: 1\nwidth: 3\nheads: 2\nunits: 5\nmemory-rows: 6\nmemory-width: 4\n";

rg_recipe *small_recipe(const rg_system *its, const char *folder, const char *more)
{
    rg_recipe  *recipe = NULL;
    rg_text     data = { 0 };
    const char *layers = its->reads && strcmp(its->reads, "pixels") == 0 ? "layers: c3x4 p2 c3x4\n" : ""; /* elsewhere a number */
    char       *type = rg_format("type: %s\n", its->name), *place = rg_format("%s/%s", folder, its->task->name),
         *make = rg_format("mkdir -p '%s'", place);
    assert_int_equal(system(make), 0);
    if (rg_text_print(&data, "%s", type) != RG_OK || its->task->small(&data, place, RG_SMALL_TEST) != RG_OK ||
        rg_recipe_new(&recipe, rg_text_c(&data)) != RG_OK || rg_recipe_read(recipe, small_systems, true) != RG_OK ||
        rg_recipe_read(recipe, layers, true) != RG_OK || rg_recipe_read(recipe, more, false) != RG_OK)
        fail_msg("%s: %s", its->name, rg_message());
    rg_text_free(&data);
    rg_free(type);
    rg_free(place);
    rg_free(make);
    return recipe;
}
