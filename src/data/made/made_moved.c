/* made_moved.c - digits turned, scaled and placed at random (Jaderberg et al. 2015, "Spatial transformer networks",
 * section 4.1).
 *
 *   rts42      turned by up to 45 degrees, 0.7 to 1.2 times its size, anywhere on 42 x 42; --turn 90 --smallest 1 --largest 1 is the set R,
 *              --project 0.4 bends it in perspective (P), --elastic 3 by smooth noise (E)
 *   addition   two such digits in two channels; the class is their sum, 0 .. 18 (appendix A.1) */
#include "data/made/examples_made.h"

#include <stdlib.h>

#include "data/pictures/pictures.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          size;
    double           turn, smallest, largest, project, elastic;
} settings;

/* Digit `index` as a layer of its own; *out_label its class. */
static rg_status draw_moved(rg_picture *out, int *out_label, const rg_maker *m, rg_made_split split, uint64_t index,
                            rg_random *random)
{
    const settings *s = m->options;
    unsigned char   pixels[RG_DIGIT_SIDE * RG_DIGIT_SIDE];
    rg_picture      digit = { RG_DIGIT_SIDE, RG_DIGIT_SIDE, 1, pixels }, bent = { 0 };
    const double    middle = ((double)s->size - 1) / 2, play = ((double)s->size - RG_DIGIT_SIDE) / 2,
                 own = (RG_DIGIT_SIDE - 1) / 2.0;
    const size_t    side = (size_t)s->size;
    double          map[9];
    *out_label = rg_digits__get(pixels, m->digits, split, index);
    const double x = middle + rg_made__uniform(random, -play, play), y = middle + rg_made__uniform(random, -play, play);
    const double degrees = rg_made__uniform(random, -s->turn, s->turn),
                 scale = rg_made__uniform(random, s->smallest, s->largest);
    rg_picture__turn(map, degrees, scale, x, y, own, own);
    for (int i = 6; i < 8; i++) { /* w = 1 + a (x - x0) + b (y - y0): 1 in the middle of the digit, which stays there */
        const double bend = rg_made__uniform(random, -s->project, s->project) / (double)RG_DIGIT_SIDE,
                     at = i == 6 ? x : y;
        map[i] = bend;
        map[8] -= bend * at;
        for (int row = 0; row < 2; row++) map[3 * row + i - 6] += own * bend, map[3 * row + 2] -= own * bend * at;
    }
    if (s->elastic <= 0) return rg_picture_warp(out, &digit, side, side, map);
    const rg_augment elastic = { .elastic = s->elastic };
    RG_TRY(rg_picture_augment(&bent, &digit, &elastic, (uint64_t)rg_random_u32(random), 0, index));
    rg_status status = rg_picture_warp(out, &bent, side, side, map);
    rg_picture_free(&bent);
    return status;
}

static rg_status check(const settings *s)
{
    if (s->smallest <= s->largest) return RG_OK;
    return rg_fail(RG_EINVAL, "--smallest %g is larger than --largest %g", s->smallest, s->largest);
}

static rg_status draw_one(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    int label;
    RG_TRY(check(m->options));
    RG_TRY(draw_moved(&out->picture, &label, m, split, number, random));
    RG_TRY(rg_text_print(&out->cell[0], "%d", label));
    return rg_made__add_bounds(out, rg_text_c(&out->cell[0]), &out->picture);
}

static rg_status draw_two(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    int sum = 0;
    RG_TRY(check(m->options));
    for (size_t channel = 0; channel < 2; channel++) {
        rg_picture     layer;
        char           name[RG_MADE_NAME];
        int            label;
        const uint64_t index = channel ? rg_random_below(random, rg_digits__count(m->digits, split)) : number;
        RG_TRY(draw_moved(&layer, &label, m, split, index, random));
        sum += label;
        rg_status status = out->picture.pixels ? RG_OK : rg_picture_new(&out->picture, layer.height, layer.width, 2);
        (void)snprintf(name, sizeof name, "%d channel %zu", label, channel + 1);
        if (status == RG_OK) status = rg_made__add_bounds(out, name, &layer);
        for (size_t i = 0; status == RG_OK && i < layer.height * layer.width; i++)
            out->picture.pixels[2 * i + channel] = layer.pixels[i];
        rg_picture_free(&layer);
        RG_TRY(status);
    }
    return rg_text_print(&out->cell[0], "%d", sum);
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "10000"),
    RG_MADE_DIGITS(settings),
    { RG_OPTION_INT, "size", offsetof(settings, size), "42", "pixels of a side", 0, "[28,1000]", NULL },
    { RG_OPTION_REAL, "turn", offsetof(settings, turn), "45", "degrees, each way", 0, "[0,180]", NULL },
    { RG_OPTION_REAL, "smallest", offsetof(settings, smallest), "0.7", "times the digit's size", 0, "[0.1,10]", NULL },
    { RG_OPTION_REAL, "largest", offsetof(settings, largest), "1.2", "times the digit's size", 0, "[0.1,10]", NULL },
    { RG_OPTION_REAL, "project", offsetof(settings, project), "0", "perspective: change of size over the digit", 0,
      "[0,0.9]", NULL },
    { RG_OPTION_REAL, "elastic", offsetof(settings, elastic), "0", "pixels that smooth noise moves a point", 0,
      "[0,10]", NULL },
    RG_OPTION_END
};

static rg_status write_one(const char *out, const void *o) { return rg_made__write(&rg_generator_rts42, out, o); }
static rg_status write_two(const char *out, const void *o) { return rg_made__write(&rg_generator_addition, out, o); }

const rg_generator rg_generator_rts42 = { "rts42",
                                          "a digit turned, scaled and placed at random on 42 x 42 pixels",
                                          RG_MADE_WRITES_IDX,
                                          options,
                                          sizeof(settings),
                                          write_one,
                                          "label",
                                          1,
                                          draw_one };
const rg_generator rg_generator_addition = { "addition",
                                             "two moved digits in two channels; the class is their sum",
                                             RG_MADE_WRITES_IDX,
                                             options,
                                             sizeof(settings),
                                             write_two,
                                             "label",
                                             1,
                                             draw_two };
