/* made_mnist_m.c - digits on photographs: abs(photograph - digit) per channel (Ganin et al. 2016, section 5.2.4:
 * patches of BSDS500).
 *
 * Without photographs the ground is a texture of smooth noise; such data are like MNIST-M, not MNIST-M: published
 * figures do not apply. */
#include "data/made/examples_made.h"

#include <stdlib.h>

typedef struct settings {
    rg_made_settings base;
} settings;

/* A part of a photograph of this split: one in ten is for tests, one for validation. */
static rg_status draw_ground(rg_picture *out, const rg_maker *m, rg_made_split split, rg_random *random)
{
    if (!m->picture_count) return rg_draw__texture(out, RG_DIGIT_SIDE, RG_DIGIT_SIDE, random);
    size_t index;
    do index = (size_t)rg_random_below(random, m->picture_count);
    while ((index % 10 == 0 ? RG_MADE_TEST : index % 10 == 1 ? RG_MADE_VALID : RG_MADE_TRAIN) != split);
    const rg_picture *p = &m->pictures[index];
    if (p->height < RG_DIGIT_SIDE || p->width < RG_DIGIT_SIDE)
        return rg_fail(RG_EFORMAT, "photograph %zu has %zu x %zu pixels; 28 x 28 are needed", index + 1, p->width,
                       p->height);
    const size_t top = rg_made__between(random, 0, p->height - RG_DIGIT_SIDE),
                 left = rg_made__between(random, 0, p->width - RG_DIGIT_SIDE);
    return rg_picture_crop(out, p, (ptrdiff_t)top, (ptrdiff_t)left, RG_DIGIT_SIDE, RG_DIGIT_SIDE);
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    unsigned char pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
    rg_picture    digit = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels };
    const int     label = rg_digits__get(pixels, m->digits, split, number);
    RG_TRY(draw_ground(&out->picture, m, split, random));
    for (size_t i = 0; i < 3 * sizeof pixels; i++)
        out->picture.pixels[i] = (unsigned char)abs(out->picture.pixels[i] - pixels[i / 3]);
    RG_TRY(rg_text_print(&out->cell[0], "%d", label));
    return rg_made__add_bounds(out, rg_text_c(&out->cell[0]), &digit);
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "10000"),
                                     RG_MADE_DIGITS(settings),
                                     { RG_OPTION_STRING, "pictures", offsetof(settings, base.pictures), "",
                                       "folder or tar of photographs (BSDS500); without it smooth noise", 0, NULL,
                                       NULL },
                                     RG_OPTION_END };

static rg_status write_blended(const char *out, const void *o) { return rg_made__write(&rg_generator_mnist_m, out, o); }

const rg_generator rg_generator_mnist_m = { "mnist-m",
                                            "digits on patches of photographs, in colour (28 x 28 pixels)",
                                            RG_MADE_WRITES_IDX,
                                            options,
                                            sizeof(settings),
                                            write_blended,
                                            "label",
                                            1,
                                            draw };
