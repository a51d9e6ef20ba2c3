/* made_sets.c - one to five different digits on 60 x 60 pixels; the answer is their set. Three pairs are planted: 1
 * brings 7 along, 2 brings 5, 3 brings 8, each with probability --together. */
#include "data/made/examples_made.h"

#include <string.h>

typedef struct settings {
    rg_made_settings base;
    int64_t          most;
    double           together;
} settings;

enum { SIDE = 60, CELLS = 3, CELL = SIDE / CELLS, DIGIT = 20 };

static size_t draw_set(bool in[10], const settings *s, rg_random *random)
{
    static const int partner[10] = { -1, 7, 5, 8, -1, -1, -1, -1, -1, -1 };
    const size_t     wanted = rg_made__between(random, 1, (size_t)s->most);
    size_t           count = 0;
    memset(in, 0, 10 * sizeof *in);
    while (count < wanted) {
        const int d = (int)rg_random_below(random, 10), p = partner[d];
        if (in[d]) continue;
        in[d] = true;
        count++;
        if (p >= 0 && !in[p] && count < (size_t)s->most && rg_random_uniform(random) < s->together) {
            in[p] = true;
            count++;
        }
    }
    return count;
}

/* Any digit of this class, looked for from a random place on. */
static void find_digit(unsigned char *pixels, const rg_maker *m, rg_made_split split, int digit, rg_random *random)
{
    const uint64_t count = rg_digits__count(m->digits, split);
    uint64_t       at = rg_random_below(random, count);
    for (uint64_t tried = 0; tried < count && rg_digits__get(pixels, m->digits, split, at) != digit; tried++) at++;
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    size_t place[CELLS * CELLS], left = CELLS * CELLS;
    bool   in[10];
    (void)number, (void)draw_set(in, m->options, random);
    for (size_t i = 0; i < left; i++) place[i] = i;
    RG_TRY(rg_picture_new(&out->picture, SIDE, SIDE, 1));
    for (int d = 0; d < 10; d++) {
        unsigned char pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
        rg_picture    digit = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels }, small, layer;
        char          name[2] = { (char)('0' + d), '\0' };
        if (!in[d]) continue;
        find_digit(pixels, m, split, d, random);
        const size_t chosen = (size_t)rg_random_below(random, left), cell = place[chosen];
        place[chosen] = place[--left];
        RG_TRY(rg_picture_resize(&small, &digit, DIGIT + 2, DIGIT + 2, RG_RESIZE_BILINEAR));
        const ptrdiff_t top = (ptrdiff_t)(cell / CELLS * CELL) - 1, side = (ptrdiff_t)(cell % CELLS * CELL) - 1;
        rg_status       status = rg_picture_crop(&layer, &small, -top - (ptrdiff_t)rg_made__between(random, 0, 2) + 1,
                                                 -side - (ptrdiff_t)rg_made__between(random, 0, 2) + 1, SIDE, SIDE);
        rg_picture_free(&small);
        RG_TRY(status);
        rg_draw__paste(&out->picture, &layer, 0, 0);
        status = rg_made__add_bounds(out, name, &layer);
        rg_picture_free(&layer);
        RG_TRY(status);
        RG_TRY(rg_text_print(&out->cell[0], "%s%s", out->cell[0].length ? "|" : "", name));
    }
    return RG_OK;
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "10000"),
                                     RG_MADE_DIGITS(settings),
                                     { RG_OPTION_INT, "most", offsetof(settings, most), "5", "digits of a picture", 0,
                                       "[1,9]", NULL },
                                     { RG_OPTION_REAL, "together", offsetof(settings, together), "0.8",
                                       "probability that a planted pair comes together", 0, "[0,1]", NULL },
                                     RG_OPTION_END };

static rg_status write_sets(const char *out, const void *o) { return rg_made__write(&rg_generator_sets, out, o); }

const rg_generator rg_generator_sets = { "sets",
                                         "one to five different digits, with planted pairs (60 x 60 pixels)",
                                         RG_MADE_WRITES_TAR,
                                         options,
                                         sizeof(settings),
                                         write_sets,
                                         "tags",
                                         1,
                                         draw };
