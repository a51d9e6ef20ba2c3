/* made_scenes.c - two to four coloured shapes in a row or in a column, with a sentence that names them in order:
 *
 *   "a red square left of a blue circle"        "a green cross above a yellow ring above a red circle"
 *
 * The sentence follows from the picture: shapes of a row are named from left to right, of a column from top to
 * bottom. A sentence belongs to one split only. Boxes are those of the shapes, named "red square". */
#include "data/made/examples_made.h"

#include "base/hash.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          fewest, most;
} settings;

enum { SIDE = 60, COLOURS = 6 };

static const struct {
    const char *name;
    rg_ink      ink;
} colours[COLOURS] = { { "red", { { 220, 40, 40 } } },     { "green", { { 40, 180, 60 } } },
                       { "blue", { { 50, 90, 230 } } },    { "yellow", { { 235, 215, 40 } } },
                       { "purple", { { 160, 60, 200 } } }, { "white", { { 240, 240, 240 } } } };

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    (void)split, (void)number;
    if (s->fewest > s->most)
        return rg_fail(RG_EINVAL, "--fewest %lld is larger than --most %lld", (long long)s->fewest, (long long)s->most);
    const size_t count = rg_made__between(random, (size_t)s->fewest, (size_t)s->most),
                 ground = rg_made__between(random, 0, 45);
    const bool   column = rg_random_below(random, 2);
    const double step = (double)SIDE / (double)count;
    rg_text     *text = &out->cell[0];
    RG_TRY(rg_picture_new(&out->picture, SIDE, SIDE, 3));
    for (size_t i = 0; i < (size_t)SIDE * SIDE * 3; i++) out->picture.pixels[i] = (unsigned char)ground;
    for (size_t i = 0; i < count; i++) {
        const int    shape = (int)rg_random_below(random, RG_SHAPES), colour = (int)rg_random_below(random, COLOURS);
        const double size = rg_made__uniform(random, 5, count == 4 ? 6.5 : 8), slack = step / 2 - size - 1;
        const double along = step * ((double)i + 0.5) + rg_made__uniform(random, -slack, slack);
        const double across = SIDE / 2.0 + rg_made__uniform(random, -9, 9);
        const double x = column ? across : along, y = column ? along : across;
        char         name[RG_MADE_NAME];
        (void)snprintf(name, sizeof name, "%s %s", colours[colour].name, rg_draw__shapes[shape]);
        rg_draw__shape(&out->picture, shape, x, y, size, colours[colour].ink);
        RG_TRY(rg_text_print(text, "%sa %s", !i ? "" : column ? " above " : " left of ", name));
        RG_TRY(rg_made__add_box(out, name, x - size, y - size, 2 * size, 2 * size));
    }
    out->identity = rg_hash64_of(text->data, text->length) | 1u << 31;
    return RG_OK;
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "10000"),
    { RG_OPTION_INT, "fewest", offsetof(settings, fewest), "2", "shapes", 0, "[1,4]", NULL },
    { RG_OPTION_INT, "most", offsetof(settings, most), "4", "shapes", 0, "[1,4]", NULL },
    RG_OPTION_END
};

static rg_status write_scenes(const char *out, const void *o) { return rg_made__write(&rg_generator_scenes, out, o); }

const rg_generator rg_generator_scenes = { "scenes",
                                           "coloured shapes in a row or a column with a caption (60 x 60 pixels)",
                                           RG_MADE_WRITES_TAR,
                                           options,
                                           sizeof(settings),
                                           write_scenes,
                                           "caption",
                                           1,
                                           draw };
