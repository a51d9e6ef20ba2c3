/* pictured_make.c - see pictured_make.h. Rows of readers and rows of experiments are both called rg_row: they do not
 * meet in one file. */
#include "lab/pictured_make.h"

#include <string.h>

#include "regard/made.h"

/* "count=50000 symbols=all" as YAML. */
static rg_status settings_of(rg_text *out, const char *words, const char *data)
{
    for (const char *at = words; *(at += strspn(at, " "));) {
        const size_t bytes = strcspn(at, " "), name = strcspn(at, "= ");
        if (name == bytes) return rg_fail(RG_EINVAL, "'%.*s': NAME=VALUE", (int)bytes, at);
        const char *value = at + name + 1, *end = at + bytes, *where = strstr(value, "{data}");
        RG_TRY(rg_text_print(out, "%.*s: ", (int)name, at));
        if (where && where < end) RG_TRY(rg_text_print(out, "%s%.*s\n", data, (int)(end - where - 6), where + 6));
        else RG_TRY(rg_text_print(out, "%.*s\n", (int)(end - value), value));
        at = end;
    }
    return RG_OK;
}

rg_status pictured_options(const rg_generator **out, void **options, const char *about, const char *data)
{
    char               *name = rg_format("%.*s", (int)strcspn(about, " "), about);
    const rg_generator *g = name ? rg_generator_find(name) : NULL;
    rg_text             yaml = { 0 };
    rg_status           status = !name ? RG_ENOMEM : !g ? rg_fail(RG_EINVAL, "no generator is called '%s'", name) : RG_OK;
    *out = g;
    if (status == RG_OK && !(*options = rg_alloc_zero(g->options_bytes))) status = RG_ENOMEM;
    if (status == RG_OK) status = rg_options_init(g->options, *options);
    if (status == RG_OK) status = settings_of(&yaml, about + strlen(name), data);
    const rg_option_group group = { .title = name, .rows = g ? g->options : NULL, .values = *options };
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, rg_text_c(&yaml), yaml.length, "row", false);
    rg_free(name);
    rg_text_free(&yaml);
    return status;
}

bool pictured_is_idx(const char *about)
{
    char                name[32];
    const rg_generator *g;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(about, " "), about);
    return (g = rg_generator_find(name)) != NULL && strstr(g->writes, "-images-idx3-ubyte") != NULL;
}

rg_status pictured_make(const char *folder, const char *about, const char *data)
{
    const rg_generator *g = NULL;
    void               *options = NULL;
    rg_status           status = pictured_options(&g, &options, about, data);
    if (status == RG_OK) status = g->write(folder, options);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    return status;
}

/* Tables of the pictures of an archive: every tenth, by name, is for the test. */
rg_status pictured_split(const char *folder, const char *archive)
{
    static const char *const wanted[] = { "path", "name" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_names                *names = NULL;
    rg_text                  text[2] = { { 0 }, { 0 } }, all = { 0 };
    rg_reader               *r;
    size_t                   count = 0;
    c.wanted = wanted;
    c.wanted_count = 2;
    RG_TRY(rg_reader_open(&r, archive, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = rg_text_add(&all, row.cell[0].bytes, row.cell[0].count + 1), count++;
    }
    rg_reader_close(r);
    const char **name = status == RG_OK ? rg_alloc_array(count + 1, sizeof *name) : NULL;
    if (status == RG_OK && !name) status = RG_ENOMEM;
    for (size_t i = 0, at = 0; status == RG_OK && i < count; i++, at += strlen(all.data + at) + 1)
        name[i] = all.data + at;
    if (status == RG_OK) status = rg_names_new(&names, name, count); /* sorted */
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        const char *path = rg_names_get(names, (int32_t)i), *slash = strrchr(path, '/'),
                   *base = slash ? slash + 1 : path;
        status = rg_text_print(&text[i % 10 == 0], "%s\t%.*s\n", path, (int)strcspn(base, "."), base);
    }
    for (size_t k = 0; status == RG_OK && k < 2; k++) {
        char *path = rg_format("%s/%s.tsv", folder, k ? "test" : "train");
        status = path ? rg_file_replace(path, text[k].data, text[k].length) : RG_ENOMEM;
        rg_free(path);
    }
    rg_names_free(names);
    rg_free(name);
    rg_text_free(&all);
    rg_text_free(&text[0]);
    rg_text_free(&text[1]);
    return status;
}
