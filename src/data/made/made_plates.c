/* made_plates.c - plates of food with their recipes. Twenty ingredients are five shapes in four colours.
 *
 *   picture       a plate on a table with two to five ingredients; the colour of the plate is how the dish is made
 *   title         method, then the first ingredient by the alphabet (and the last): "baked basil and tomato"
 *   ingredients   names by the alphabet, between |
 *   directions    one step per ingredient, its verb one of two at random, then the step of the method
 *   nats          entropy of the directions given the picture: ln 2 for each ingredient, nothing else is left to chance
 *
 * The method cannot be known from the ingredients, everything can be seen in the picture. */
#include "data/made/examples_made.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          fewest, most;
} settings;

enum { SIDE = 64, COLOURS = 4, METHODS = 3, INGREDIENTS = RG_SHAPES * COLOURS, SPOTS = 7 };

static const rg_ink inks[COLOURS] = {
    { { 210, 45, 40 } }, { { 60, 160, 60 } }, { { 240, 200, 50 } }, { { 130, 80, 45 } }
};

/* By shape, then by colour: red, green, yellow, brown; and which of the two kinds of verbs. */
static const struct {
    const char *name;
    int         kind;
} ingredients[INGREDIENTS] = {
    { "tomato", 0 },   { "pea", 2 },    { "lemon", 1 },  { "nut", 2 },     { "ham", 0 },
    { "spinach", 0 },  { "cheese", 1 }, { "bread", 0 },  { "radish", 0 },  { "basil", 2 },
    { "corn", 1 },     { "potato", 1 }, { "crab", 1 },   { "parsley", 2 }, { "pasta", 1 },
    { "mushroom", 0 }, { "chili", 0 },  { "pepper", 0 }, { "onion", 2 },   { "olive", 2 },
};
static const char *const verbs[3][2] = { { "slice", "dice" }, { "peel", "wash" }, { "chop", "crush" } };
static const struct {
    const char *name, *last;
    rg_ink      plate;
} methods[METHODS] = { { "raw", "serve it cold", { { 245, 245, 245 } } },
                       { "baked", "bake it in the oven", { { 165, 195, 235 } } },
                       { "fried", "fry it in the pan", { { 225, 185, 205 } } } };

static int by_name(const void *a, const void *b)
{
    return strcmp(ingredients[*(const int *)a].name, ingredients[*(const int *)b].name);
}

static rg_status write_recipe(rg_made *out, const int *chosen, size_t count, int method, rg_random *random)
{
    int sorted[SPOTS];
    memcpy(sorted, chosen, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    RG_TRY(rg_text_print(&out->cell[0], "%s %s and %s", methods[method].name, ingredients[sorted[0]].name,
                         ingredients[sorted[count - 1]].name));
    for (size_t i = 0; i < count; i++) {
        RG_TRY(rg_text_print(&out->cell[1], "%s%s", i ? "|" : "", ingredients[sorted[i]].name));
        RG_TRY(rg_text_print(&out->cell[2], "%s the %s . ",
                             verbs[ingredients[sorted[i]].kind][rg_random_below(random, 2)],
                             ingredients[sorted[i]].name));
    }
    RG_TRY(rg_text_print(&out->cell[2], "%s .", methods[method].last));
    return rg_text_print(&out->cell[3], "%.4f", 0.69314718056 * (double)count);
}

/* Seven spots of a plate: the middle and six around it. */
static void spot(double *x, double *y, size_t i)
{
    static const double at[SPOTS][2] = { { 0, 0 },   { 16, 0 },     { 8, 13.9 }, { -8, 13.9 },
                                         { -16, 0 }, { -8, -13.9 }, { 8, -13.9 } };
    *x = SIDE / 2.0 - 0.5 + at[i][0];
    *y = SIDE / 2.0 - 0.5 + at[i][1];
}

static rg_status serve(rg_made *out, const int *chosen, size_t count, rg_random *random)
{
    size_t spots[SPOTS], left = SPOTS;
    for (size_t i = 0; i < SPOTS; i++) spots[i] = i;
    for (size_t i = 0; i < count; i++) {
        const size_t at = (size_t)rg_random_below(random, left), here = spots[at];
        double       x, y;
        spot(&x, &y, here);
        spots[at] = spots[--left];
        x += rg_made__uniform(random, -1.5, 1.5), y += rg_made__uniform(random, -1.5, 1.5);
        const double size = rg_made__uniform(random, 5, 6.3);
        rg_draw__shape(&out->picture, chosen[i] / COLOURS, x, y, size, inks[chosen[i] % COLOURS]);
        RG_TRY(rg_made__add_box(out, ingredients[chosen[i]].name, x - size, y - size, 2 * size, 2 * size));
    }
    return RG_OK;
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    int             chosen[SPOTS];
    bool            in[INGREDIENTS] = { false };
    (void)split, (void)number;
    if (s->fewest > s->most)
        return rg_fail(RG_EINVAL, "--fewest %lld is larger than --most %lld", (long long)s->fewest, (long long)s->most);
    const size_t count = rg_made__between(random, (size_t)s->fewest, (size_t)s->most);
    const int    method = (int)rg_random_below(random, METHODS);
    for (size_t i = 0; i < count; i++) {
        do chosen[i] = (int)rg_random_below(random, INGREDIENTS);
        while (in[chosen[i]]);
        in[chosen[i]] = true;
    }
    RG_TRY(rg_picture_new(&out->picture, SIDE, SIDE, 3));
    const unsigned char wood[3] = { (unsigned char)rg_made__between(random, 90, 130),
                                    (unsigned char)rg_made__between(random, 65, 90), 50 };
    for (size_t i = 0; i < (size_t)SIDE * SIDE * 3; i++) out->picture.pixels[i] = wood[i % 3];
    rg_draw__shape(&out->picture, RG_SHAPE_CIRCLE, SIDE / 2.0 - 0.5, SIDE / 2.0 - 0.5, 30, methods[method].plate);
    RG_TRY(serve(out, chosen, count, random));
    out->identity = rg_hash64_of(out->picture.pixels, (size_t)SIDE * SIDE * 3) | 1u << 31;
    return write_recipe(out, chosen, count, method, random);
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "10000"),
    { RG_OPTION_INT, "fewest", offsetof(settings, fewest), "2", "ingredients", 0, "[1,7]", NULL },
    { RG_OPTION_INT, "most", offsetof(settings, most), "5", "ingredients", 0, "[1,7]", NULL },
    RG_OPTION_END
};

static rg_status write_plates(const char *out, const void *o) { return rg_made__write(&rg_generator_plates, out, o); }

const rg_generator rg_generator_plates = {
    "plates",
    "plates of ingredients with title, ingredients and directions (64 x 64 pixels)",
    RG_MADE_WRITES_TAR,
    options,
    sizeof(settings),
    write_plates,
    "title ingredients directions nats",
    1,
    draw
};
