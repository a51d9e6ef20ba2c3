/* pictured_stores.c - stores of pictures with what is said of them, what a model file holds, and passes over
 * validation data. */
#include <string.h>

#include "tasks/pictured.h"

/* ----------------------------------------------------------------------------------------------------------- assets */

const rg_asset rg_pictured_asset_rows[] = {
    { RG_ASSET_VOCAB, "vocab.text", offsetof(rg_pictured_assets, vocab), "vocabulary", 0, true },
    { RG_ASSET_NAMES, "classes", offsetof(rg_pictured_assets, names), "classes", 2, true },
    { RG_ASSET_COUNTS, "classes.counts", offsetof(rg_pictured_assets, counts), NULL, 0, true },
    { RG_ASSET_FEATURES, "features", offsetof(rg_pictured_assets, features), NULL, 0, true },
    { RG_ASSET_TEXT, "sound", offsetof(rg_pictured_assets, heard.settings), NULL, 0, true },
    { 0 },
};

static rg_status put_text_sizes(rg_sizes *sizes, const rg_vocab *vocab)
{
    if (!vocab) return RG_OK;
    RG_TRY(rg_sizes_put(sizes, "target-vocabulary", rg_vocab_size(vocab)));
    RG_TRY(rg_sizes_put(sizes, "bos", (size_t)rg_vocab_bos(vocab)));
    return rg_sizes_put(sizes, "eos", (size_t)rg_vocab_eos(vocab));
}

rg_status rg_pictured_adopt(void *its, rg_sizes *sizes, const rg_state *state)
{
    rg_pictured_assets *a = its;
    RG_TRY(rg_assets_adopt(rg_pictured_asset_rows, its, sizes, state));
    if (a->heard.settings) RG_TRY(rg_heard_adopt(&a->heard));
    if (!a->vocab && !a->names) return rg_fail(RG_EMATCH, "neither vocab.text nor classes is there");
    return put_text_sizes(sizes, a->vocab);
}
rg_status rg_pictured_describe(rg_state *state, const void *its)
{
    return rg_assets_describe(rg_pictured_asset_rows, state, its);
}
void      rg_pictured_drop(void *its)
{
    rg_heard_drop(&((rg_pictured_assets *)its)->heard);
    rg_assets_drop(rg_pictured_asset_rows, its);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static const char *pictures_for(const rg_pictured_options *o, size_t part)
{
    const char *own = part == 1 ? o->valid_pictures : part == 2 ? o->test_pictures : o->sets.pictures;
    return own;
}

rg_status rg_pictured_open_tables(rg_run *run, const rg_pictured_options *o, const char *what, const char *first,
                                  const char *const *wanted, size_t columns)
{
    const rg_list *const list[] = { &o->sets.train, &o->sets.valid, &o->sets.test };
    rg_pictured_data    *d = run->data;
    RG_TRY(rg_supervised_check(&o->sets, what, false));
    for (size_t part = 0; part < 3; part++) {
        if (!list[part]->count) continue;
        const char *path = list[part]->items[0], *pictures = pictures_for(o, part);
        if (!*pictures && part && strcmp(path, o->sets.train.items[0]) == 0) /* one table, as of all captions of a collection */
            return rg_fail(RG_EINVAL, "%s is also what is learned from: give --%s-pictures", path,
                           part == 1 ? "valid" : "test");
        if (!*pictures && part && *o->sets.pictures) pictures = o->sets.pictures;
        if (strcmp(first, "sequence") == 0) pictures = NULL; /* the cells themselves */
        rg_tell_begin(run->report, "reading %s", path);
        const rg_status status = rg_pictured_read(&d->table[part], &o->sets, path, pictures, first, wanted, columns);
        rg_tell_over(run->report);
        RG_TRY(status);
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- stores */

/* Pictures of one size: the first one's. */
static rg_status decode_same(rg_text *out, size_t *out_height, size_t *out_width, size_t channels, const rg_cell *cell,
                             void *context)
{
    rg_pictured_assets *a = context;
    RG_TRY(rg_pixels_decode(out, out_height, out_width, channels, cell, &a->pixels));
    if (!a->height) a->height = *out_height, a->width = *out_width;
    if (*out_height == a->height && *out_width == a->width) return RG_OK;
    return rg_fail(RG_EFORMAT, "%zu x %zu pixels, those before it %zu x %zu: give --size N", *out_height, *out_width,
                   a->height, a->width);
}

/* By its name, or by its name without the ending of picture files. */
static rg_status read_picture(bool *out_there, rg_text *out, rg_files *files, const char *name)
{
    static const char *const endings[] = { "", ".jpg", ".png", ".jpeg", ".wav" };
    *out_there = false;
    for (size_t i = 0; !*out_there && i < sizeof endings / sizeof *endings; i++) {
        char *path = rg_format("%s%s", name, endings[i]);
        if (!path) return RG_ENOMEM;
        rg_text_clear(out);
        const rg_status status = rg_files_read(out_there, out, files, path, (size_t)256 << 20);
        rg_free(path);
        RG_TRY(status);
    }
    return RG_OK;
}

/* Colour when one of the first pictures is. */
static rg_status learn_channels(size_t *out, const rg_pictured_table *x)
{
    enum { LOOKED_AT = 64 };
    rg_files *files = NULL;
    rg_text   bytes = { 0 };
    *out = 1;
    rg_status status = rg_files_open(&files, x->files);
    for (size_t i = 0, seen = 0; status == RG_OK && i < x->names.count && seen < LOOKED_AT; i++) {
        size_t height, width, channels = 1;
        bool   there;
        status = read_picture(&there, &bytes, files, rg_words_get(&x->names, i));
        if (status != RG_OK || !there) continue;
        const rg_cell cell = { .bytes = rg_text_c(&bytes), .count = bytes.length };
        status = rg_pixels_measure(&height, &width, &channels, &cell);
        if (status != RG_OK) status = rg_fail_in(status, "%s: %s: ", x->files, rg_words_get(&x->names, i));
        if (status == RG_OK && channels > 1) *out = 3;
        seen++;
    }
    rg_files_close(files);
    rg_text_free(&bytes);
    return status;
}

static rg_status add_picture(rg_examples *store, const rg_pictured_table *x, size_t i, const rg_text *bytes)
{
    rg_cell cells[RG_PICTURED_COLUMNS + 1] = { { .bytes = rg_text_c(bytes), .count = bytes->length } };
    if (!bytes->length) return rg_fail(RG_EFORMAT, "%s: %s: the file is empty", x->files, rg_words_get(&x->names, i));
    for (size_t c = 0; c < x->columns; c++)
        cells[c + 1] = (rg_cell){ .bytes = rg_text_c(&x->cell[c][i]), .count = x->cell[c][i].length };
    const rg_status status = rg_examples_add(store, cells, i + 1);
    if (status == RG_OK) return RG_OK;
    return x->files ? rg_fail_in(status, "%s: %s: ", x->files, rg_words_get(&x->names, i))
                    : rg_fail_in(status, "row %zu: ", i + 1);
}

/* Where the names themselves are rows of numbers. */
static rg_status fill_rows(rg_examples *store, const rg_run *run, const rg_pictured_table *x)
{
    rg_text   bytes = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < x->names.count; i++) {
        status = rg_check_stop(run->report);
        rg_text_clear(&bytes);
        if (status == RG_OK) status = rg_text_add_string(&bytes, rg_words_get(&x->names, i));
        if (status == RG_OK) status = add_picture(store, x, i, &bytes);
    }
    rg_text_free(&bytes);
    return status;
}

static rg_status fill(rg_examples *store, const rg_run *run, const rg_pictured_table *x)
{
    enum { NAMED = 5 };
    rg_files *files = NULL;
    rg_text   bytes = { 0 }, absent = { 0 };
    size_t    missing = 0;
    if (!x->files) return fill_rows(store, run, x);
    rg_status status = rg_files_open(&files, x->files);
    for (size_t i = 0; status == RG_OK && i < x->names.count; i++) {
        bool there = false;
        status = rg_check_stop(run->report);
        if (status == RG_OK) status = read_picture(&there, &bytes, files, rg_words_get(&x->names, i));
        if (status == RG_OK && there) status = add_picture(store, x, i, &bytes);
        if (status != RG_OK || there) continue;
        if (missing++ < NAMED)
            status = rg_text_print(&absent, "%s%s", missing > 1 ? ", " : "", rg_words_get(&x->names, i));
    }
    if (status == RG_OK && missing == x->names.count)
        status = rg_fail(RG_EINVAL, "%s has none of the %zu pictures that are named (%s%s): give --pictures", x->files,
                         missing, rg_text_c(&absent), missing > NAMED ? ", ..." : "");
    else if (status == RG_OK && missing)
        rg_tell(run->report, "%zu of %zu pictures are not in %s: %s%s", missing, x->names.count, x->files,
                rg_text_c(&absent), missing > NAMED ? ", ..." : "");
    rg_files_close(files);
    rg_text_free(&bytes);
    rg_text_free(&absent);
    return status;
}

static rg_status open_store(rg_examples **out, const rg_run *run, const rg_pictured_options *o,
                            const rg_pictured_table *x, const rg_field_spec *specs, bool train)
{
    rg_examples_config c = RG_EXAMPLES_CONFIG_DEFAULT;
    rg_field_spec      own[RG_PICTURED_COLUMNS + 1];
    rg_text            text = { 0 };
    c.batch = (size_t)o->sets.batch;
    c.window = (size_t)o->sets.window;
    c.shuffle = train;
    c.seed = (uint64_t)run->learning->seed;
    memcpy(own, specs, (x->columns + 1) * sizeof *own);
    own[0].still = !train;
    RG_TRY(rg_examples_new(out, &c, own, x->columns + 1));
    rg_tell_begin(run->report, "reading %s of %s", specs[0].kind == RG_FIELD_PIXELS ? "pictures" : "rows",
                  x->files ? x->files : "a table");
    rg_status status = fill(*out, run, x);
    rg_tell_over(run->report);
    if (status == RG_OK) status = rg_examples_seal(*out);
    if (status == RG_OK) status = rg_examples_describe(&text, *out);
    if (status == RG_OK) rg_tell(run->report, "%s%s", train ? "" : "validation or test: ", rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

/* The field of pictures: pixels, or what a frozen network makes of them. */
static rg_status picture_spec(rg_field_spec *out, rg_run *run, const rg_pictured_options *o)
{
    const rg_pictured_data *d = run->data;
    rg_pictured_assets     *a = run->assets;
    a->pixels = (rg_pixels_config)RG_PIXELS_CONFIG_DEFAULT;
    a->pixels.height = a->pixels.width = (size_t)o->size;
    a->height = a->width = 0;
    RG_TRY(rg_fit_find(&a->pixels.fit, o->fit));
    if (o->features.file[0]) {
        RG_TRY(rg_features_start(&a->features, &o->features, &a->pixels, run->own_threads));
        *out = rg_features_spec(a->features, "picture");
        rg_tell(run->report, "features of %s: %zu x %zu cells of %zu numbers", o->features.file,
                rg_features_down(a->features), rg_features_across(a->features), rg_features_width(a->features));
        return RG_OK;
    }
    *out = (rg_field_spec){ .name = "picture", .kind = RG_FIELD_PIXELS, .decode = decode_same, .context = a, .batch_rows = (size_t)o->sets.batch_rows };
    return learn_channels(&out->width, &d->table[0]);
}

static rg_status open_all(rg_run *run, const rg_pictured_options *o, const rg_field_spec *specs)
{
    rg_pictured_data   *d = run->data;
    rg_examples **const store[] = { &d->base.train, &d->base.valid, &d->base.test };
    for (size_t part = 0; part < 3; part++)
        if (d->table[part].names.count) RG_TRY(open_store(store[part], run, o, &d->table[part], specs, part == 0));
    return RG_OK;
}

rg_status rg_pictured_open_rows(rg_run *run, const rg_pictured_options *o, const rg_field_spec *specs)
{
    const rg_pictured_assets *a = run->assets;
    RG_TRY(open_all(run, o, specs));
    RG_TRY(rg_sizes_put(&run->sizes, "features", specs[0].width));
    RG_TRY(rg_assets_sizes(rg_pictured_asset_rows, &run->sizes, a));
    return put_text_sizes(&run->sizes, a->vocab);
}

rg_status rg_pictured_open_stores(rg_run *run, const rg_pictured_options *o, rg_field_spec *specs)
{
    rg_pictured_assets *a = run->assets;
    RG_TRY(picture_spec(&specs[0], run, o));
    RG_TRY(open_all(run, o, specs));
    if (a->features) {
        RG_TRY(rg_features_save(a->features));
        RG_TRY(rg_features_sizes(&run->sizes, a->features));
    } else {
        RG_TRY(rg_sizes_put(&run->sizes, "channels", specs[0].width));
        RG_TRY(rg_sizes_put(&run->sizes, "height", a->height));
        RG_TRY(rg_sizes_put(&run->sizes, "width", a->width));
        RG_TRY(rg_sizes_put(&run->sizes, "fit", (size_t)a->pixels.fit));
    }
    RG_TRY(rg_assets_sizes(rg_pictured_asset_rows, &run->sizes, a));
    return put_text_sizes(&run->sizes, a->vocab);
}

void rg_pictured_close(rg_run *run)
{
    rg_pictured_data *d = run->data;
    for (size_t part = 0; part < 3; part++) rg_pictured_table_free(&d->table[part]);
    rg_supervised_close(run);
}

rg_status rg_pictured_pass(rg_run *run, rg_examples *store, rg_pictured_batch *each, void *context)
{
    rg_supervised       *d = run->data;
    const rg_tape_config config = { .record = false,
                                    .team = run->trainer ? rg_workers_team(rg_trainer_workers(run->trainer)) : NULL };
    if (!d->judge) RG_TRY(rg_tape_new(&d->judge, &config));
    RG_TRY(rg_examples_seek(store, (rg_place){ 0 })); /* a pass that was stopped may have left it in the middle */
    for (bool more;;) {
        rg_batch b;
        RG_TRY(rg_check_stop(run->report));
        RG_TRY(rg_examples_next_in_epoch(&more, &b, store));
        if (!more) return RG_OK;
        rg_tape_reset(d->judge, 0);
        RG_TRY(each(context, d->judge, &b));
    }
}
