/* pictured_small.c - tiny data for every task about pictures, from nothing; larger ones from a generator.
 *
 *     picture TAB caption TAB question TAB answer TAB tags TAB title TAB ingredients TAB directions        one file serves all tasks */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/made.h"
#include "tasks/pictured.h"

enum { SIDE = 8, KINDS = 3, PLACES = 4, COLOURS = 2, PICTURES = KINDS * PLACES * COLOURS };

static const char *const kinds[KINDS] = { "bar", "pole", "spot" }, *const colours[COLOURS] = { "red", "green" };

/* A bar lies, a pole stands, a spot is small: in one of four places. Frees the path. */
static rg_status write_picture(char *path, size_t i)
{
    unsigned char pixels[SIDE * SIDE * 3] = { 0 };
    rg_picture    p = { SIDE, SIDE, 3, pixels };
    const size_t  kind = i / (PLACES * COLOURS), place = i / COLOURS % PLACES, colour = i % COLOURS;
    const size_t  x0 = 1 + place % 2 * 3, y0 = 1 + place / 2 * 3, wide = kind == 0 ? 4 : 2, high = kind == 1 ? 4 : 2;
    if (!path) return RG_ENOMEM;
    for (size_t y = y0; y < y0 + high && y < SIDE; y++)
        for (size_t x = x0; x < x0 + wide && x < SIDE; x++) pixels[(y * SIDE + x) * 3 + colour] = 255;
    rg_status status = rg_picture_save(path, &p);
    rg_free(path);
    return status;
}

static rg_status write_pictures(const char *folder)
{
    char *place = rg_format("%s/pictures", folder);
    if (!place) return RG_ENOMEM;
    rg_status status =
        mkdir(place, 0777) == 0 || errno == EEXIST ? RG_OK : rg_fail(RG_EIO, "%s: %s", place, strerror(errno));
    for (size_t i = 0; status == RG_OK && i < PICTURES; i++)
        status = write_picture(rg_format("%s/%zu-%zu.png", place, i / (PLACES * COLOURS), i % (PLACES * COLOURS)), i);
    if (status == RG_OK) status = write_picture(rg_format("%s/ask.png", folder), 1);
    rg_free(place);
    return status;
}

/* Two rows per picture: its kind, its colour. */
static rg_status write_table(const char *path, size_t from, size_t step)
{
    rg_text   text = { 0 };
    rg_status status =
        rg_text_print(&text, "picture\tcaption\tquestion\tanswer\ttags\ttitle\tingredients\tdirections\n");
    for (size_t i = from; status == RG_OK && i < PICTURES; i += step) {
        const char *kind = kinds[i / (PLACES * COLOURS)], *colour = colours[i % COLOURS];
        for (size_t row = 0; status == RG_OK && row < 2; row++)
            status = rg_text_print(&text, "%zu-%zu.png\t%s %s %s\t%s\t%s\t%s|%s\t%s %s\t%s|%s\tdraw a %s|paint it %s\n",
                                   i / (PLACES * COLOURS), i % (PLACES * COLOURS), row ? "a" : "the", colour, kind,
                                   row ? "what is it" : "what colour is it", row ? kind : colour, kind, colour, colour,
                                   kind, kind, colour, kind, colour);
    }
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_pictured_small(rg_text *yaml, const char *folder, rg_small_size size)
{
    char     *train = rg_format("%s/train.tsv", folder), *valid = rg_format("%s/valid.tsv", folder);
    rg_status status = train && valid ? write_pictures(folder) : RG_ENOMEM;
    (void)size;
    if (status == RG_OK) status = write_table(train, 0, 1);
    if (status == RG_OK) status = write_table(valid, 1, 3);
    if (status == RG_OK)
        status = rg_text_print(yaml,
                               "train-sets: [%s]\nvalid-sets: [%s]\npictures: %s/pictures\nmini-batch: 6\nlearn-rate: "
                               "0.01\nafter-epochs: 2\n",
                               train, valid, folder);
    rg_free(train);
    rg_free(valid);
    return status;
}

/* One picture or recording of the validation data, to be asked about: FOLDER/ask.png, ask.wav */
static rg_status write_asked(const char *folder, const rg_generator *g, const void *options)
{
    rg_maker *maker = NULL;
    rg_made   made = { 0 };
    char     *path = NULL;
    rg_status status = rg_maker_new(&maker, g, options);
    if (status == RG_OK) status = rg_maker_draw(&made, maker, RG_MADE_VALID, 0);
    if (status == RG_OK && !(path = rg_format("%s/ask.%s", folder, made.sound.length ? "wav" : "png"))) status = RG_ENOMEM;
    if (status == RG_OK)
        status = made.sound.length ? rg_file_replace(path, made.sound.data, made.sound.length)
                                   : rg_picture_save(path, &made.picture);
    rg_made_free(&made);
    rg_maker_free(maker);
    rg_free(path);
    return status;
}

rg_status rg_pictured_make(rg_text *yaml, const char *folder, const char *generator, const char *settings,
                           uint64_t train, uint64_t valid)
{
    const rg_generator   *g = rg_generator_find(generator);
    void                 *options = g ? rg_alloc_zero(g->options_bytes) : NULL;
    char *all = rg_format("count: %llu\nvalid: %llu\ntest: 0\n%s", (unsigned long long)train, (unsigned long long)valid,
                          settings);
    const rg_option_group group = { .title = generator, .rows = g ? g->options : NULL, .values = options };
    rg_status             status = options && all ? rg_options_init(g->options, options) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, all, strlen(all), "demo", false);
    if (status == RG_OK) status = g->write(folder, options);
    if (status == RG_OK) status = write_asked(folder, g, options);
    if (status == RG_OK)
        status = rg_text_print(yaml, "train-sets: [%s/train.tsv]\nvalid-sets: [%s/valid.tsv]\n", folder, folder);
    if (options) rg_options_fini(g->options, options);
    rg_free(options);
    rg_free(all);
    return status;
}
