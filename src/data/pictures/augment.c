/* augment.c - random changes of training pictures, drawn from a counter: seed, epoch and example say everything.
 *
 * All movements (shift, turn, scale, shear, mirror, crop, elastic) are one map from places of the result to places
 * of the input, sampled once: nothing is blurred twice. */
#include "data/pictures/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

static const struct word {
    const char *name;
    size_t      offset;
    double      alone, most; /* value of the word without a number; largest */
} words[] = {
    { "shift", offsetof(rg_augment, shift), 2, 1000 },      { "rotate", offsetof(rg_augment, rotate), 10, 180 },
    { "scale", offsetof(rg_augment, scale), 0.1, 10 },      { "shear", offsetof(rg_augment, shear), 0.1, 10 },
    { "flip", offsetof(rg_augment, flip), 0.5, 1 },         { "elastic", offsetof(rg_augment, elastic), 2, 100 },
    { "light", offsetof(rg_augment, light), 0.1, 1 },       { "contrast", offsetof(rg_augment, contrast), 0.2, 1 },
    { "noise", offsetof(rg_augment, noise), 0.05, 1 },      { "erase", offsetof(rg_augment, erase), 0.3, 1 },
    { "crop", offsetof(rg_augment, crop), 0.2, 0.9 },
};
enum { WORDS = sizeof words / sizeof *words, BUMPS = 4 };

static rg_status unknown(const char *word, size_t bytes)
{
    rg_text list = { 0 };
    for (size_t i = 0; i < WORDS; i++) RG_TRY(rg_text_print(&list, "%s%s", i ? ", " : "", words[i].name));
    rg_status status = rg_fail(RG_EINVAL, "'%.*s' is no way to change pictures: %s", (int)(bytes < 40 ? bytes : 40),
                               word, rg_text_c(&list));
    rg_text_free(&list);
    return status;
}

static rg_status parse_word(rg_augment *out, const char *word, size_t bytes)
{
    const char  *colon = memchr(word, ':', bytes);
    const size_t name = colon ? (size_t)(colon - word) : bytes;
    for (size_t i = 0; i < WORDS; i++) {
        if (strlen(words[i].name) != name || memcmp(words[i].name, word, name) != 0) continue;
        double value = words[i].alone;
        char   copy[32], *end = copy;
        if (colon) {
            const size_t digits = bytes - name - 1;
            if (digits >= sizeof copy) return unknown(word, bytes);
            memcpy(copy, colon + 1, digits);
            copy[digits] = '\0';
            value = rg_real_parse(copy, &end);
            if (!digits || *end || !(value >= 0 && value <= words[i].most))
                return rg_fail(RG_EINVAL, "%s:%s: the number must be 0 .. %g", words[i].name, copy, words[i].most);
        }
        memcpy((char *)out + words[i].offset, &value, sizeof value);
        return RG_OK;
    }
    return unknown(word, bytes);
}

rg_status rg_augment_parse(rg_augment *out, const char *text)
{
    rg_augment made = { 0 };
    while (*text) {
        const size_t blanks = strspn(text, " ,\t"), bytes = strcspn(text + blanks, " ,\t");
        if (bytes) RG_TRY(parse_word(&made, text + blanks, bytes));
        text += blanks + bytes;
    }
    *out = made;
    return RG_OK;
}

bool rg_augment_is_off(const rg_augment *a)
{
    return a->shift == 0 && a->rotate == 0 && a->scale == 0 && a->shear == 0 && a->flip == 0 && a->elastic == 0 &&
           a->light == 0 && a->contrast == 0 && a->noise == 0 && a->erase == 0 && a->crop == 0;
}

static double either(rg_random *r, double most) { return most * (2 * rg_random_uniform(r) - 1); }

/* Map of the result's places to the input's: shear and mirror after turn, scale and shift. */
static void draw_map(double m[9], const rg_picture *p, const rg_augment *a, rg_random *r)
{
    const double x = ((double)p->width - 1) / 2, y = ((double)p->height - 1) / 2;
    const double degrees = either(r, a->rotate), grow = 1 + a->scale * rg_random_uniform(r),
                 shrink = rg_random_uniform(r);
    const double shear = either(r, a->shear), keep = 1 - a->crop * rg_random_uniform(r);
    const bool   mirror = rg_random_uniform(r) < a->flip;
    const double dx = either(r, a->shift) + either(r, (1 - keep) * x),
                 dy = either(r, a->shift) + either(r, (1 - keep) * y);
    rg_picture__turn(m, degrees, (shrink < 0.5 ? 1 / grow : grow) / keep, x, y, x + dx, y + dy);
    for (int i = 0; i < 2; i++) { /* x' = x + shear (y - middle), as a product from the right */
        m[3 * i + 1] += shear * m[3 * i];
        m[3 * i + 2] -= shear * y * m[3 * i];
    }
    if (mirror) { /* x' = width - 1 - x */
        m[2] += m[0] * 2 * x, m[5] += m[3] * 2 * x;
        m[0] = -m[0], m[3] = -m[3];
    }
}

/* Smooth movement of every place: bumps on a coarse lattice. */
typedef struct bumps {
    double x[BUMPS + 2][BUMPS + 2], y[BUMPS + 2][BUMPS + 2];
} bumps;

static double bump(double at[BUMPS + 2][BUMPS + 2], double u, double v)
{
    const int    i = (int)u, j = (int)v;
    const double a = (u - i) * (u - i) * (3 - 2 * (u - i)), b = (v - j) * (v - j) * (3 - 2 * (v - j));
    return (1 - b) * ((1 - a) * at[j][i] + a * at[j][i + 1]) + b * ((1 - a) * at[j + 1][i] + a * at[j + 1][i + 1]);
}

static void move(rg_picture *made, const rg_picture *p, const rg_augment *a, rg_random *r)
{
    double m[9];
    bumps  e;
    draw_map(m, p, a, r);
    for (int j = 0; j < BUMPS + 2; j++)
        for (int i = 0; i < BUMPS + 2; i++) e.x[j][i] = either(r, a->elastic), e.y[j][i] = either(r, a->elastic);
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            const double u = (double)x, v = (double)y;
            double       sx = m[0] * u + m[1] * v + m[2], sy = m[3] * u + m[4] * v + m[5];
            if (a->elastic > 0) {
                const double s = u * BUMPS / (double)p->width, t = v * BUMPS / (double)p->height;
                sx += bump(e.x, s, t), sy += bump(e.y, s, t);
            }
            rg_picture__sample(made->pixels + (y * p->width + x) * p->channels, p, sx, sy);
        }
}

static void colour(rg_picture *p, const rg_augment *a, rg_random *r)
{
    const size_t bytes = p->height * p->width * p->channels;
    const double light = either(r, a->light) * 255, gain = 1 + either(r, a->contrast);
    double       mean = 0;
    if (a->light <= 0 && a->contrast <= 0 && a->noise <= 0) return;
    for (size_t i = 0; i < bytes; i++) mean += p->pixels[i];
    mean /= (double)bytes;
    for (size_t i = 0; i < bytes; i++) {
        const double noise = a->noise > 0 ? either(r, a->noise) * 255 : 0;
        p->pixels[i] = rg_picture__byte(mean + gain * (p->pixels[i] - mean) + light + noise);
    }
}

static void erase(rg_picture *p, double most, rg_random *r)
{
    const size_t side = p->height < p->width ? p->height : p->width,
                 hole = (size_t)(most * rg_random_uniform(r) * (double)side);
    if (!hole) return;
    const size_t top = (size_t)rg_random_below(r, p->height - hole + 1),
                 left = (size_t)rg_random_below(r, p->width - hole + 1);
    for (size_t y = top; y < top + hole; y++)
        memset(p->pixels + (y * p->width + left) * p->channels, 127, hole * p->channels);
}

rg_status rg_picture_augment(rg_picture *out, const rg_picture *p, const rg_augment *a, uint64_t seed, uint64_t epoch,
                             uint64_t number)
{
    const uint64_t about[] = { seed, epoch, 0x61756768656e74 };
    rg_random      r = rg_random_new(rg_hash64_of(about, sizeof about), number);
    rg_picture     made;
    RG_TRY(rg_picture_copy(&made, p));
    const bool moves =
        a->shift > 0 || a->rotate > 0 || a->scale > 0 || a->shear > 0 || a->flip > 0 || a->elastic > 0 || a->crop > 0;
    if (moves) move(&made, p, a, &r);
    colour(&made, a, &r);
    if (a->erase > 0) erase(&made, a->erase, &r);
    *out = made;
    return RG_OK;
}
