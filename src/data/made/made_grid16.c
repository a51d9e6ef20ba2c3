/* made_grid16.c - a digit in one cell of a 4 x 4 grid, pieces of digits in the others: soft and hard attention over
 * 16 places. */
#include "data/made/examples_made.h"

#include <string.h>

typedef struct settings {
    rg_made_settings base;
} settings;

enum { CELLS = 4, SIDE = CELLS * RG_DIGIT_SIDE, PIECE = 10, PIECES = 2 };

/* A cell of clutter: parts of two digits, moved away from where they were. */
static void add_clutter(rg_picture *cell, const rg_maker *m, rg_made_split split, rg_random *random)
{
    unsigned char pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
    for (int i = 0; i < PIECES; i++) {
        (void)rg_digits__get(pixels, m->digits, split, rg_random_below(random, rg_digits__count(m->digits, split)));
        const size_t top = rg_made__between(random, 4, 14), left = rg_made__between(random, 4, 14);
        const size_t y = rg_made__between(random, 0, RG_DIGIT_SIDE - PIECE),
                     x = rg_made__between(random, 0, RG_DIGIT_SIDE - PIECE);
        for (size_t j = 0; j < PIECE; j++)
            memcpy(cell->pixels + (y + j) * RG_DIGIT_SIDE + x, pixels + (top + j) * RG_DIGIT_SIDE + left, PIECE);
    }
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const size_t chosen = (size_t)rg_random_below(random, CELLS * CELLS);
    int          label = 0;
    RG_TRY(rg_picture_new(&out->picture, SIDE, SIDE, 1));
    for (size_t i = 0; i < CELLS * CELLS; i++) {
        unsigned char pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE] = { 0 };
        rg_picture    cell = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels };
        if (i == chosen) label = rg_digits__get(pixels, m->digits, split, number);
        else add_clutter(&cell, m, split, random);
        rg_draw__paste(&out->picture, &cell, (ptrdiff_t)(i / CELLS * RG_DIGIT_SIDE),
                       (ptrdiff_t)(i % CELLS * RG_DIGIT_SIDE));
    }
    RG_TRY(rg_text_print(&out->cell[0], "%d", label));
    return rg_made__add_box(out, rg_text_c(&out->cell[0]), (double)(chosen % CELLS * RG_DIGIT_SIDE),
                            (double)(chosen / CELLS * RG_DIGIT_SIDE), RG_DIGIT_SIDE, RG_DIGIT_SIDE);
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "10000"), RG_MADE_DIGITS(settings), RG_OPTION_END };

static rg_status write_grid(const char *out, const void *o) { return rg_made__write(&rg_generator_grid16, out, o); }

const rg_generator rg_generator_grid16 = { "grid16",
                                           "a digit in one of 16 cells, clutter in the others (112 x 112 pixels)",
                                           RG_MADE_WRITES_IDX,
                                           options,
                                           sizeof(settings),
                                           write_grid,
                                           "label",
                                           1,
                                           draw };
