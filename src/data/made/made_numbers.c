/* made_numbers.c - numbers to learn from.
 *
 *   adding   T numbers in [0, 1), two of them marked, one in each half; the target is the sum of the two (Hochreiter, Schmidhuber 1997).
 *            A step is a number and its mark. Guessing 1 has a mean square error of 1/6.
 *   ring8    points around eight places of a circle: what a generator must learn to cover (the usual toy of adversarial networks) */
#include "data/made/examples_made.h"

#include <math.h>

typedef struct settings {
    rg_made_settings base;
    int64_t          length;
    double           radius, deviation;
} settings;

static rg_status draw_adding(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    const size_t    T = (size_t)s->length, half = T / 2;
    const size_t    first = (size_t)rg_random_below(random, half),
                 second = half + (size_t)rg_random_below(random, T - half);
    double          sum = 0;
    (void)split, (void)number;
    for (size_t t = 0; t < T; t++) {
        const double value = floor(rg_random_uniform(random) * 1e6) / 1e6;
        const bool   marked = t == first || t == second;
        if (marked) sum += value;
        RG_TRY(rg_text_print(&out->cell[1], "%s%.6f %d", t ? "; " : "", value, marked));
    }
    return rg_text_print(&out->cell[0], "%.6f", sum);
}

static rg_status draw_ring(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    static const double at[8][2] = { { 1, 0 },  { 0.70710678, 0.70710678 },   { 0, 1 },  { -0.70710678, 0.70710678 },
                                     { -1, 0 }, { -0.70710678, -0.70710678 }, { 0, -1 }, { 0.70710678, -0.70710678 } };
    const settings     *s = m->options;
    const size_t        mode = (size_t)rg_random_below(random, 8);
    const double        x = s->radius * at[mode][0] + s->deviation * rg_random_normal(random);
    const double        y = s->radius * at[mode][1] + s->deviation * rg_random_normal(random);
    (void)split, (void)number;
    RG_TRY(rg_text_print(&out->cell[0], "%zu", mode));
    return rg_text_print(&out->cell[1], "%.6f %.6f", x, y);
}

static const rg_option adding_options[] = { RG_MADE_ROWS(settings, "10000"),
                                            { RG_OPTION_INT, "length", offsetof(settings, length), "100",
                                              "numbers of a sequence", 0, "[2,100000]", NULL },
                                            RG_OPTION_END };
static const rg_option ring_options[] = {
    RG_MADE_ROWS(settings, "10000"),
    { RG_OPTION_REAL, "radius", offsetof(settings, radius), "2", "of the circle", 0, "(0,1000]", NULL },
    { RG_OPTION_REAL, "deviation", offsetof(settings, deviation), "0.02", "around each place", 0, "[0,1000]", NULL },
    RG_OPTION_END
};

static rg_status write_adding(const char *out, const void *o) { return rg_made__write(&rg_generator_adding, out, o); }
static rg_status write_ring(const char *out, const void *o) { return rg_made__write(&rg_generator_ring8, out, o); }

const rg_generator rg_generator_adding = {
    "adding",           "the adding problem: the sum of two marked numbers of a sequence",
    RG_MADE_WRITES_TSV, adding_options,
    sizeof(settings),   write_adding,
    "label sequence",   1,
    draw_adding
};
const rg_generator rg_generator_ring8 = { "ring8",
                                          "points around eight places of a circle",
                                          RG_MADE_WRITES_TSV,
                                          ring_options,
                                          sizeof(settings),
                                          write_ring,
                                          "mode numbers",
                                          1,
                                          draw_ring };
