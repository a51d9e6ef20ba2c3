/* made_placed.c - a digit somewhere on a black canvas, between pieces of other digits.
 *
 *   t60     60 x 60, no clutter                          Mnih et al. 2014, "Recurrent models of visual attention"
 *   ct60    60 x 60, 4 pieces of 8 x 8                   the same
 *   ct100   100 x 100, 8 pieces of 8 x 8                 the same
 *   stclut  60 x 60, 16 pieces of 6 x 6                  Jaderberg et al. 2015, "Spatial transformer networks"
 *
 * Pieces are random parts of other digits of the same split. The box is that of the digit's ink. */
#include "data/made/examples_made.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          size, clutter, piece;
} settings;

static rg_status add_piece(rg_made *out, const rg_maker *m, rg_made_split split, size_t side, rg_random *random)
{
    unsigned char pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
    rg_picture    digit = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels }, piece;
    (void)rg_digits__get(pixels, m->digits, split, rg_random_below(random, rg_digits__count(m->digits, split)));
    const size_t top = rg_made__between(random, 0, RG_DIGIT_SIDE - side),
                 left = rg_made__between(random, 0, RG_DIGIT_SIDE - side);
    RG_TRY(rg_picture_crop(&piece, &digit, (ptrdiff_t)top, (ptrdiff_t)left, side, side));
    const size_t y = rg_made__between(random, 0, out->picture.height - side),
                 x = rg_made__between(random, 0, out->picture.width - side);
    rg_draw__paste(&out->picture, &piece, (ptrdiff_t)y, (ptrdiff_t)x);
    rg_picture_free(&piece);
    return RG_OK;
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    unsigned char   pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
    rg_picture      digit = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels };
    const int       label = rg_digits__get(pixels, m->digits, split, number);
    const size_t    side = (size_t)s->size;
    RG_TRY(rg_picture_new(&out->picture, side, side, 1));
    const size_t top = rg_made__between(random, 0, side - RG_DIGIT_SIDE),
                 left = rg_made__between(random, 0, side - RG_DIGIT_SIDE);
    rg_draw__paste(&out->picture, &digit, (ptrdiff_t)top, (ptrdiff_t)left);
    RG_TRY(rg_text_print(&out->cell[0], "%d", label));
    RG_TRY(rg_made__add_bounds(out, rg_text_c(&out->cell[0]), &out->picture));
    for (int64_t i = 0; i < s->clutter; i++) RG_TRY(add_piece(out, m, split, (size_t)s->piece, random));
    return RG_OK;
}

#define GENERATOR(NAME, SUMMARY, SIZE, CLUTTER, PIECE)                                                                                     \
    static const rg_option NAME##_options[] = {                                                                                           \
        RG_MADE_ROWS(settings, "10000"), RG_MADE_DIGITS(settings),                                                                        \
        { RG_OPTION_INT, "size", offsetof(settings, size), SIZE, "pixels of a side", 0, "[28,1000]", NULL },                              \
        { RG_OPTION_INT, "clutter", offsetof(settings, clutter), CLUTTER, "pieces of other digits", 0, "[0,1000]", NULL },                \
        { RG_OPTION_INT, "piece", offsetof(settings, piece), PIECE, "pixels of a side of a piece", 0, "[1,28]", NULL }, RG_OPTION_END      \
    };                                                                                                                                    \
    static rg_status NAME##_write(const char *out, const void *o) { return rg_made__write(&rg_generator_##NAME, out, o); }                 \
    const rg_generator rg_generator_##NAME = { #NAME, SUMMARY, RG_MADE_WRITES_IDX, NAME##_options, sizeof(settings), NAME##_write,          \
                                               "label", 1, draw };

GENERATOR(t60, "a digit at a random place of 60 x 60 pixels", "60", "0", "8")
GENERATOR(ct60, "a digit at a random place of 60 x 60 pixels between 4 pieces of others", "60", "4", "8")
GENERATOR(ct100, "a digit at a random place of 100 x 100 pixels between 8 pieces of others", "100", "8", "8")
GENERATOR(stclut, "a digit at a random place of 60 x 60 pixels between 16 small pieces of others", "60", "16", "6")
