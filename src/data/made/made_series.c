/* made_series.c - `regard make series`: temperatures, hour by hour; the number to be told is that of the next hour.
 *
 *     x_t = m + a sin(2 pi t / 24 + p) + u_t          u_t = 0.8 u_{t-1} + noise N(0, s)
 *
 * Mean, swing and phase are others in every example, and have to be read off the hours that are given. Nobody can tell
 * the noise of the next hour: the least mean square error is s^2. */
#include "data/made/examples_made.h"

#include <math.h>

typedef struct settings {
    rg_made_settings base;
    int64_t          length;
    double           noise;
} settings;

static rg_status draw_series(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    const size_t    T = (size_t)s->length;
    const double    mean = 20 * rg_random_uniform(random) - 5, swing = 2 + 6 * rg_random_uniform(random),
                 phase = 2 * 3.14159265358979 * rg_random_uniform(random);
    double u = s->noise / 0.6 * rg_random_normal(random); /* its deviation in the long run: sqrt(1 - 0.8^2) = 0.6 */
    (void)split, (void)number;
    for (size_t t = 0; t <= T; t++) {
        const double x = mean + swing * sin(2 * 3.14159265358979 * (double)t / 24 + phase) + u;
        RG_TRY(t < T ? rg_text_print(&out->cell[1], "%s%.2f", t ? "; " : "", x) : rg_text_print(&out->cell[0], "%.2f", x));
        u = 0.8 * u + s->noise * rg_random_normal(random);
    }
    return RG_OK;
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "10000"),
    { RG_OPTION_INT, "length", offsetof(settings, length), "48", "hours that are given", 0, "[1,100000]", NULL },
    { RG_OPTION_REAL, "noise", offsetof(settings, noise), "0.5", "deviation of what cannot be foretold (s)", 0,
      "[0,1000]", NULL },
    RG_OPTION_END
};

static rg_status write_series(const char *out, const void *o) { return rg_made__write(&rg_generator_series, out, o); }

const rg_generator rg_generator_series = { "series",
                                           "temperatures by the hour; the number is that of the next hour",
                                           RG_MADE_WRITES_TSV,
                                           options,
                                           sizeof(settings),
                                           write_series,
                                           "label sequence",
                                           1,
                                           draw_series };
