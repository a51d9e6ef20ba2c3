/* made_captcha.c - strings of symbols, each turned, moved and scaled, crossed by lines, with speckles: 32 x 96 pixels,
 * dark on light.
 *
 * A string belongs to one split only. With --symbols all, zero has a stroke through it, so that it is not the letter
 * O. */
#include "data/made/examples_made.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "data/pictures/pictures.h"

typedef struct settings {
    rg_made_settings base;
    char            *symbols;
    int64_t          shortest, longest, lines;
    double           speckle;
} settings;

enum { HIGH = 32, WIDE = 96, MOST = 8 };

static rg_ink grey(double value)
{
    return (rg_ink){ { (unsigned char)value, (unsigned char)value, (unsigned char)value } };
}

/* One symbol around x; its box. */
static rg_status draw_symbol(rg_made *out, char symbol, double x, double step, bool letters, rg_random *random)
{
    const double wide = fmin(step * 0.68, 12) * rg_made__uniform(random, 0.85, 1.1),
                 high = rg_made__uniform(random, 15, 19);
    const double y = HIGH / 2.0 + rg_made__uniform(random, -3.5, 3.5), thick = rg_made__uniform(random, 1.6, 2.6);
    double       turn[9];
    rg_picture__turn(turn, rg_made__uniform(random, -18, 18), 1, 0, 0, 0, 0);
    /* the box around (x, y), turned: columns of the map are the box's sides */
    const double m[6] = { turn[0] * wide, turn[1] * high, x - (turn[0] * wide + turn[1] * high) / 2,
                          turn[3] * wide, turn[4] * high, y - (turn[3] * wide + turn[4] * high) / 2 };
    const rg_ink ink = grey(rg_made__uniform(random, 10, 70));
    const char   name[2] = { symbol, '\0' };
    rg_draw__symbol(&out->picture, symbol, m, thick, ink, 0.03, random);
    if (letters && symbol == '0')
        rg_draw__line(&out->picture, m[0] * 0.75 + m[1] * 0.3 + m[2], m[3] * 0.75 + m[4] * 0.3 + m[5],
                      m[0] * 0.25 + m[1] * 0.7 + m[2], m[3] * 0.25 + m[4] * 0.7 + m[5], 1.2, ink);
    return rg_made__add_box(out, name, x - wide / 2 - 1, y - high / 2 - 1, wide + 2, high + 2);
}

static void draw_lines(rg_picture *p, int64_t lines, rg_random *random)
{
    for (int64_t i = 0; i < lines; i++) {
        const double y0 = rg_made__uniform(random, 4, HIGH - 4), y1 = rg_made__uniform(random, 4, HIGH - 4),
                     bend = rg_made__uniform(random, -6, 6);
        const rg_ink ink = grey(rg_made__uniform(random, 40, 120));
        for (int k = 0; k < 8; k++) { /* a bow in eight parts */
            const double a = k / 8.0, b = (k + 1) / 8.0;
            rg_draw__line(p, a * WIDE, y0 + (y1 - y0) * a + bend * 4 * a * (1 - a), b * WIDE,
                          y0 + (y1 - y0) * b + bend * 4 * b * (1 - b), 0.7, ink);
        }
    }
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    static const char known[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const settings   *s = m->options;
    const bool        letters = strcmp(s->symbols, "all") == 0;
    char              text[MOST + 1] = "";
    (void)split, (void)number;
    if (s->shortest > s->longest)
        return rg_fail(RG_EINVAL, "--shortest %lld is larger than --longest %lld", (long long)s->shortest,
                       (long long)s->longest);
    const size_t length = rg_made__between(random, (size_t)s->shortest, (size_t)s->longest);
    for (size_t i = 0; i < length; i++) text[i] = known[rg_random_below(random, letters ? 36 : 10)];
    out->identity = rg_hash64_of(text, length) | 1u << 31;
    RG_TRY(rg_text_add(&out->cell[0], text, length));
    RG_TRY(rg_picture_new(&out->picture, HIGH, WIDE, 1));
    memset(out->picture.pixels, (int)rg_made__between(random, 205, 250), (size_t)HIGH * WIDE);
    const double step = fmin((double)(WIDE - 8) / (double)length, 17) * rg_made__uniform(random, 0.92, 1);
    double       x = rg_made__uniform(random, 4, WIDE - 4 - step * (double)length) + step / 2;
    for (size_t i = 0; i < length; i++, x += step)
        RG_TRY(draw_symbol(out, text[i], x + rg_made__uniform(random, -1, 1), step, letters, random));
    draw_lines(&out->picture,
               s->lines ? (int64_t)rg_made__between(random, 2, (size_t)s->lines < 2 ? 2 : (size_t)s->lines) : 0,
               random);
    for (size_t i = 0; i < (size_t)HIGH * WIDE; i++)
        if (rg_random_uniform(random) < s->speckle)
            out->picture.pixels[i] = (unsigned char)rg_random_below(random, 256);
    return RG_OK;
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "10000"),
    { RG_OPTION_STRING, "symbols", offsetof(settings, symbols), "digits", "digits, or all 36", 0, "digits|all", NULL },
    { RG_OPTION_INT, "shortest", offsetof(settings, shortest), "4", "symbols", 0, "[1,8]", NULL },
    { RG_OPTION_INT, "longest", offsetof(settings, longest), "6", "symbols", 0, "[1,8]", NULL },
    { RG_OPTION_INT, "lines", offsetof(settings, lines), "4", "lines across: 2 up to so many; 0: none", 0, "[0,20]",
      NULL },
    { RG_OPTION_REAL, "speckle", offsetof(settings, speckle), "0.02", "share of pixels that are noise", 0, "[0,1]",
      NULL },
    RG_OPTION_END
};

static rg_status write_strings(const char *out, const void *o) { return rg_made__write(&rg_generator_captcha, out, o); }

const rg_generator rg_generator_captcha = {
    "captcha",
    "strings of warped digits, or of 36 symbols, with lines and speckles (96 x 32 pixels)",
    RG_MADE_WRITES_TAR,
    options,
    sizeof(settings),
    write_strings,
    "text",
    1,
    draw
};
