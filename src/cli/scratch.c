/* scratch.c - the small training of a system in a folder that goes away again. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "cli/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)at;
    return kind == FTW_DP || kind == FTW_D ? rmdir(path) : unlink(path);
}

static rg_status make_folder(char **out)
{
    const char *parent = getenv("TMPDIR");
    *out = rg_format("%s/regard.XXXXXX", parent && *parent ? parent : "/tmp");
    if (!*out) return RG_ENOMEM;
    if (mkdtemp(*out)) return RG_OK;
    const rg_status status = rg_fail(RG_EIO, "cannot make the folder %s: %s", *out, strerror(errno));
    rg_free(*out);
    *out = NULL;
    return status;
}

/* One option as YAML, read by the recipe. */
static rg_status take_given(rg_recipe *recipe, const rg_call *call, const rg_option *row, void *values)
{
    const rg_option       one[] = { *row, RG_OPTION_END };
    const rg_option_group group = { .rows = one, .values = values };
    if (!rg_call_given(call, row->name)) return RG_OK;
    char     *yaml = rg_options_yaml(&group, 1);
    rg_status status = yaml ? rg_recipe_read(recipe, yaml, false) : RG_ENOMEM;
    rg_free(yaml);
    return status;
}

static rg_status fill_recipe(rg_scratch *s, const rg_call *call, const rg_system *system, const char *preset,
                             rg_small_size size)
{
    rg_text   yaml = { 0 };
    rg_status status = rg_text_print(&yaml, "type: %s\n", system->name);
    if (status == RG_OK) status = system->task->small(&yaml, s->folder, size);
    if (status == RG_OK) status = rg_recipe_new(&s->recipe, rg_text_c(&yaml));
    const rg_preset *named = status == RG_OK && *preset ? rg_preset_find(system, preset) : NULL;
    if (status == RG_OK && *preset) status = named ? rg_recipe_read(s->recipe, named->yaml, true) : RG_EINVAL;
    const rg_option *const groups[] = { system->options, system->task->options, rg_learning_rows };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        void *values = rg_call_values(call, groups[g]);
        for (const rg_option *row = groups[g]; values && row && row->name && status == RG_OK; row++)
            status = take_given(s->recipe, call, row, values);
    }
    rg_text_free(&yaml);
    return status;
}

rg_status rg_scratch_open(rg_scratch *out, const rg_call *call, const rg_system *system, const char *preset,
                          rg_small_size size)
{
    *out = (rg_scratch){ 0 };
    RG_TRY(make_folder(&out->folder));
    return fill_recipe(out, call, system, preset, size);
}

void rg_scratch_close(rg_scratch *s)
{
    rg_recipe_free(s->recipe);
    if (s->folder) (void)nftw(s->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    rg_free(s->folder);
    *s = (rg_scratch){ 0 };
}

rg_status rg_scratch_sizes(rg_sizes *out, int64_t vocabulary)
{
    *out = (rg_sizes){ 0 };
    if (!vocabulary) return RG_OK;
    RG_TRY(rg_sizes_put(out, "source-vocabulary", (size_t)vocabulary));
    RG_TRY(rg_sizes_put(out, "target-vocabulary", (size_t)vocabulary));
    RG_TRY(rg_sizes_put(out, "vocabulary", (size_t)vocabulary));
    return rg_sizes_put(out, "joint-vocabulary", 1);
}
