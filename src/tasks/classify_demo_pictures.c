/* classify_demo_pictures.c - pictures of the demos, made from digits of strokes, so that nothing has to be
 * downloaded. */
#include "regard/made.h"
#include "tasks/classify_demo_pictures.h"

/* Pictures of a generator: files for training and validation, and one test picture that is shown. */
static rg_status made(rg_text *yaml, const char *folder, rg_small_size size, const char *name, const char *count)
{
    static const char *const few[] = { "60" }, *const some[] = { "300" }, *const none[] = { "0" };
    const bool               demo = size == RG_SMALL_DEMO;
    const rg_generator      *g = rg_generator_find(name);
    void                    *options = rg_alloc_zero(g->options_bytes);
    const rg_option_group    group = { g->name, g->options, options };
    char                    *shown = rg_format("%s/shown.png", folder);
    rg_maker                *maker = NULL;
    rg_made                  one = { 0 };
    rg_status                status = options && shown ? rg_options_init(g->options, options) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_set(&group, 1, "count", 1, demo ? &count : few);
    if (status == RG_OK) status = rg_options_set(&group, 1, "valid", 1, demo ? some : few);
    if (status == RG_OK) status = rg_options_set(&group, 1, "test", 1, none);
    if (status == RG_OK) status = g->write(folder, options);
    if (status == RG_OK) status = rg_maker_new(&maker, g, options);
    if (status == RG_OK) status = rg_maker_draw(&one, maker, RG_MADE_TEST, 4);
    if (status == RG_OK) status = rg_picture_save(shown, &one.picture);
    if (status == RG_OK)
        status = rg_text_print(yaml,
                               "train-sets: [%s/train-images-idx3-ubyte, %s/train-labels-idx1-ubyte]\nvalid-sets: "
                               "[%s/valid-images-idx3-ubyte, "
                               "%s/valid-labels-idx1-ubyte]\nmini-batch: 32\nlearn-rate: 0.002\nafter-epochs: %d\n",
                               folder, folder, folder, folder, demo ? 6 : 1);
    rg_made_free(&one);
    rg_maker_free(maker);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    rg_free(shown);
    return status;
}

rg_status rg_demo_cam(rg_text *yaml, const char *folder, rg_small_size size)
{
    return made(yaml, folder, size, "t60", "4000");
}
rg_status rg_demo_stn(rg_text *yaml, const char *folder, rg_small_size size)
{
    return made(yaml, folder, size, "rts42", "6000");
}
rg_status rg_demo_grid(rg_text *yaml, const char *folder, rg_small_size size)
{
    return made(yaml, folder, size, "grid16", "5000");
}
rg_status rg_demo_ram(rg_text *yaml, const char *folder, rg_small_size size)
{
    return made(yaml, folder, size, "t60", "8000");
}
