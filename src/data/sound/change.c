/* change.c - log-mel rows of training recordings changed in every epoch.
 *
 *     r'(t, m) = r(t exp(v), m exp(u)) + noise         u, v uniform in -warp .. warp, -stretch .. stretch; between
 *                                                      neighbours, the last one beyond the end
 *     r'(t, m) = 0 for a run of bands and a run of frames     up to so many, anywhere
 *
 * What is drawn follows from seed, epoch and line alone. A row of several frames is these frames one after another, so
 * that frames are what is changed; the last row is filled up by repeating the last frame. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "data/sound/sound.h"

rg_status rg_frames_change_parse(rg_frames_change *c, const char *text)
{
    for (const char *at = text; *(at += strspn(at, " ,"));) {
        const size_t bytes = strcspn(at, " ,");
        char         word[40], *end;
        double       value = -1;
        struct {
            const char *name;
            double     *real, most;
            size_t     *whole;
        } rows[] = { { "warp", &c->warp, 1, NULL },     { "stretch", &c->stretch, 2, NULL }, { "noise", &c->noise, 100, NULL },
                     { "bands", NULL, 256, &c->bands }, { "frames", NULL, 10000, &c->frames } };
        const size_t known = sizeof rows / sizeof *rows;
        size_t       i = 0;
        snprintf(word, sizeof word, "%.*s", (int)bytes, at);
        char *colon = strchr(word, ':');
        if (colon) *colon = '\0', value = rg_real_parse(colon + 1, &end);
        while (i < known && strcmp(rows[i].name, word) != 0) i++;
        if (!colon || bytes >= sizeof word || i == known || end == colon + 1 || *end || !(value >= 0 && value <= rows[i].most))
            return rg_fail(RG_EINVAL, "'%.*s': changes of sound are warp:0.1 stretch:0.2 noise:0.1 bands:6 frames:8",
                           (int)bytes, at);
        if (rows[i].real) *rows[i].real = value;
        else *rows[i].whole = (size_t)value;
        at += bytes;
    }
    return RG_OK;
}

/* Between two neighbours of `count` numbers that stand `apart` from each other. */
static double between(const float *x, size_t count, size_t apart, double place)
{
    const double last = (double)(count - 1), at = fmin(fmax(place, 0), last);
    const size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return (double)x[low * apart] + (at - (double)low) * ((double)x[high * apart] - (double)x[low * apart]);
}

/* Time first, then bands: `line` has room for M numbers. */
static void resample(float *out, float *line, const float *x, size_t T, size_t to, size_t M, double pace, double warp)
{
    for (size_t t = 0; t < to; t++) {
        for (size_t m = 0; m < M; m++) line[m] = (float)between(x + m, T, M, (double)t * pace);
        for (size_t m = 0; m < M; m++) out[t * M + m] = (float)between(line, M, 1, (double)m * warp);
    }
}

/* A run of up to `most` of n: where it begins and ends. */
static void run_of(size_t *from, size_t *end, size_t n, size_t most, rg_random *random)
{
    const size_t some = (size_t)rg_random_below(random, (most < n ? most : n) + 1);
    *from = (size_t)rg_random_below(random, n - some + 1);
    *end = *from + some;
}

static void cover(float *x, size_t T, size_t M, const rg_frames_change *c, rg_random *random)
{
    size_t from, end;
    run_of(&from, &end, M, c->bands, random);
    for (size_t t = 0; t < T; t++)
        for (size_t m = from; m < end; m++) x[t * M + m] = 0;
    run_of(&from, &end, T, c->frames < T / 2 ? c->frames : T / 2, random);
    memset(x + from * M, 0, (end - from) * M * sizeof *x);
}

rg_status rg_frames_change_rows(rg_text *out, const float *rows, size_t count, size_t width, uint64_t epoch,
                                uint64_t line, void *context)
{
    const rg_frames_change *c = context;
    const uint64_t          about[] = { c->seed, epoch, 0x6672616D6573u };
    rg_random               random = rg_random_new(rg_hash64_of(about, sizeof about), line);
    const size_t            M = c->mels && width % c->mels == 0 ? c->mels : width, stack = width / M, T = count * stack;
    const double            warp = exp(c->warp * (2 * rg_random_uniform(&random) - 1)),
                 pace = exp(c->stretch * (2 * rg_random_uniform(&random) - 1));
    const size_t            to = (size_t)fmax(1, floor((double)T / pace)),
                 whole = (to + stack - 1) / stack * stack;
    float                  *x = rg_alloc_array((whole + 1) * M, sizeof *x);
    if (!x) return RG_ENOMEM;
    resample(x, x + whole * M, rows, T, to, M, pace, warp);
    for (size_t i = 0; i < to * M && c->noise > 0; i++) x[i] = (float)((double)x[i] + c->noise * rg_random_normal(&random));
    cover(x, to, M, c, &random);
    for (size_t t = to; t < whole; t++) memcpy(x + t * M, x + (to - 1) * M, M * sizeof *x);
    const rg_status status = rg_text_add(out, x, whole * M * sizeof *x);
    rg_free(x);
    return status;
}
