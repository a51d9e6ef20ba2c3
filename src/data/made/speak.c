/* speak.c - digits in a voice that is made: a source through resonators (Klatt 1980, of whose synthesiser this is the
 * plainest part).
 *
 *     y_n = A x_n + B y_{n-1} + C y_{n-2}      C = -exp(-2 pi w / r)   B = 2 exp(-pi w / r) cos(2 pi f / r)   A = 1 - B - C
 *
 * for a resonance of f Hz, w Hz wide, at r samples a second. Vowels and voiced consonants are pulses through three of
 * them, one after another; hisses and bursts are noise through one. A digit is a list of sounds, each of which glides
 * from its own formants to the next one's. Coefficients are rounded, so that other C libraries give the same samples. */
#include "data/made/speak.h"

#include <math.h>
#include <string.h>

enum { FORMANTS = 3, MOST_SOUNDS = 8, BLOCK = 32 }; /* samples between two settings of the resonators */

typedef struct {
    const char *name;
    double      ms, voice, hiss;           /* duration and how loud both sources are */
    double      formant[FORMANTS];
    double      hiss_at, hiss_width;       /* Hz */
} phone;

static const phone phones[] = {
    { "z", 70, 0.35, 0.35, { 280, 1700, 2500 }, 3500, 900 },  { "ih", 90, 1, 0, { 400, 1950, 2550 }, 0, 0 },
    { "r", 70, 0.7, 0, { 340, 1150, 1600 }, 0, 0 },           { "oh", 90, 1, 0, { 540, 950, 2450 }, 0, 0 },
    { "u", 80, 0.8, 0, { 330, 850, 2300 }, 0, 0 },            { "w", 70, 0.6, 0, { 300, 620, 2200 }, 0, 0 },
    { "ah", 110, 1, 0, { 640, 1200, 2450 }, 0, 0 },           { "n", 80, 0.45, 0, { 270, 1350, 2300 }, 0, 0 },
    { "gap", 45, 0, 0, { 400, 1500, 2500 }, 0, 0 },           { "t", 25, 0, 0.9, { 350, 1700, 2600 }, 3200, 1500 },
    { "uw", 150, 1, 0, { 320, 950, 2250 }, 0, 0 },            { "th", 80, 0, 0.18, { 350, 1400, 2500 }, 2600, 3000 },
    { "iy", 150, 1, 0, { 290, 2250, 2950 }, 0, 0 },           { "f", 90, 0, 0.22, { 350, 1100, 2300 }, 1800, 3500 },
    { "ao", 140, 1, 0, { 590, 880, 2500 }, 0, 0 },            { "a", 110, 1, 0, { 730, 1150, 2450 }, 0, 0 },
    { "i", 80, 0.9, 0, { 380, 2050, 2600 }, 0, 0 },           { "v", 60, 0.4, 0.12, { 260, 1100, 2300 }, 1800, 3000 },
    { "s", 110, 0, 0.6, { 350, 1700, 2600 }, 3600, 800 },     { "k", 30, 0, 0.7, { 350, 1700, 2300 }, 1900, 700 },
    { "eh", 90, 1, 0, { 540, 1800, 2500 }, 0, 0 },            { "ey", 100, 1, 0, { 480, 2000, 2650 }, 0, 0 },
};

static const char *const words[10][MOST_SOUNDS] = {
    { "z", "ih", "r", "oh", "u" }, { "w", "ah", "n" },           { "gap", "t", "uw" },
    { "th", "r", "iy" },           { "f", "ao", "r" },           { "f", "a", "i", "v" },
    { "s", "ih", "gap", "k", "s" }, { "s", "eh", "v", "ah", "n" }, { "ey", "i", "gap", "t" },
    { "n", "a", "i", "n" },
};

static const phone *find(const char *name)
{
    size_t i = 0;
    while (strcmp(phones[i].name, name) != 0) i++;
    return &phones[i];
}

/* ------------------------------------------------------------------------------------------------------- resonators */

typedef struct {
    double a, b, c, before, before_that;
} resonator;

static double rounded(double x) { return floor(x * 16777216 + 0.5) / 16777216; }

static void tune(resonator *r, double hertz, double wide, double rate)
{
    const double turn = 6.283185307179586;
    r->c = rounded(-exp(-turn * wide / rate));
    r->b = rounded(2 * exp(-turn / 2 * wide / rate) * cos(turn * fmin(hertz, 0.47 * rate) / rate));
    r->a = 1 - r->b - r->c;
}

static double ring(resonator *r, double x)
{
    const double y = r->a * x + r->b * r->before + r->c * r->before_that;
    r->before_that = r->before;
    r->before = y;
    return y;
}

/* ---------------------------------------------------------------------------------------------------------- digits */

static size_t samples_of(const phone *p, const rg_voice *v, size_t rate)
{
    return (size_t)(p->ms * v->pace * (double)rate / 1000 + 0.5);
}

size_t rg_speak__length(int digit, const rg_voice *v, size_t rate)
{
    size_t n = 0;
    for (size_t i = 0; i < MOST_SOUNDS && words[digit][i]; i++) n += samples_of(find(words[digit][i]), v, rate);
    return n;
}

typedef struct {
    resonator formant[FORMANTS], hiss;
    double    until; /* samples until the next pulse */
    double    pulse; /* what is left of the last one */
} throat;

/* Between sound p and the one behind it, `part` of the way: the first half stays, the second glides. */
static void settle(throat *t, const phone *p, const phone *next, double part, const rg_voice *v, double rate)
{
    static const double wide[FORMANTS] = { 70, 100, 140 };
    const double        glide = next ? fmax(0, 2 * part - 1) : 0;
    for (int f = 0; f < FORMANTS; f++) {
        const double to = next ? next->formant[f] : p->formant[f];
        tune(&t->formant[f], v->tract * (p->formant[f] + glide * 0.8 * (to - p->formant[f])), wide[f], rate);
    }
    if (p->hiss > 0) tune(&t->hiss, v->tract * p->hiss_at, p->hiss_width, rate);
}

static double sample(throat *t, double voiced, double hiss, const rg_voice *v, double rate, double pitch, rg_random *random)
{
    const double noise = 2 * rg_random_uniform(random) - 1;
    t->pulse *= 0.7;
    if ((t->until -= 1) <= 0) {
        t->until += rate / pitch * (1 + 0.02 * (2 * rg_random_uniform(random) - 1));
        t->pulse = 1;
    }
    double x = voiced * (t->pulse - 0.1 + v->breath * noise);
    for (int f = 0; f < FORMANTS; f++) x = ring(&t->formant[f], x);
    return x + 0.4 * ring(&t->hiss, hiss * noise);
}

/* So loud that the largest sample is v->loud. */
static void level(float *samples, size_t count, double loud)
{
    double most = 1e-9;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)samples[i]));
    for (size_t i = 0; i < count; i++) samples[i] = (float)((double)samples[i] * loud / most);
}

void rg_speak__digit(rg_sound *to, size_t *at, int digit, const rg_voice *v, rg_random *random)
{
    const double rate = (double)to->rate;
    const size_t first = *at, all = rg_speak__length(digit, v, to->rate);
    throat       t = { .until = 1 };
    double       voiced = 0, hiss = 0;
    tune(&t.hiss, 3000, 1000, rate);
    for (size_t i = 0; i < MOST_SOUNDS && words[digit][i]; i++) {
        const phone *p = find(words[digit][i]),
                    *next = i + 1 < MOST_SOUNDS && words[digit][i + 1] ? find(words[digit][i + 1]) : NULL;
        const size_t n = samples_of(p, v, to->rate);
        for (size_t k = 0; k < n && *at < to->count; k++, (*at)++) {
            if (k % BLOCK == 0) settle(&t, p, next, (double)k / (double)n, v, rate);
            const double pitch = v->pitch * (1.1 - 0.25 * (double)(*at - first) / (double)all);
            voiced += 0.01 * (p->voice - voiced); /* sources do not jump */
            hiss += (p->hiss > hiss && p->ms < 40 ? 0.2 : 0.02) * (p->hiss - hiss);
            to->samples[*at] = (float)sample(&t, voiced, hiss, v, rate, pitch, random);
        }
    }
    level(to->samples + first, *at - first, v->loud);
}
