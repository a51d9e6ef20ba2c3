/* draw.c - lines, shapes, symbols of strokes and smooth noise in pictures, with soft edges of a pixel.
 *
 * Sines of the machine's library are rounded to 2^-24, so that the same seed gives the same pixels everywhere. */
#include "data/made/examples_made.h"

#include <math.h>
#include <string.h>

#include "data/pictures/pictures.h"

static void blend(rg_picture *p, size_t x, size_t y, double share, rg_ink ink)
{
    unsigned char *at = p->pixels + (y * p->width + x) * p->channels;
    for (size_t c = 0; c < p->channels; c++)
        at[c] = rg_picture__byte((1 - share) * at[c] + share * ink.c[c < 3 ? c : 0]);
}

/* The pixels of a box that lie in the picture: first and one past the last. */
typedef struct area {
    size_t x0, x1, y0, y1;
} area;

static size_t clamp(double value, size_t most) { return value <= 0 ? 0 : value >= (double)most ? most : (size_t)value; }

static area area_of(const rg_picture *p, double x0, double y0, double x1, double y1)
{
    return (area){ clamp(floor(x0), p->width), clamp(ceil(x1) + 1, p->width), clamp(floor(y0), p->height),
                   clamp(ceil(y1) + 1, p->height) };
}

/* ----------------------------------------------------------------------------------------------------------- lines */

static double distance(double px, double py, double x0, double y0, double x1, double y1)
{
    const double dx = x1 - x0, dy = y1 - y0, long2 = dx * dx + dy * dy;
    double       at = long2 > 0 ? ((px - x0) * dx + (py - y0) * dy) / long2 : 0;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    const double ex = px - x0 - at * dx, ey = py - y0 - at * dy;
    return sqrt(ex * ex + ey * ey);
}

void rg_draw__line(rg_picture *p, double x0, double y0, double x1, double y1, double thick, rg_ink ink)
{
    const double reach = thick / 2 + 1;
    const area   a = area_of(p, fmin(x0, x1) - reach, fmin(y0, y1) - reach, fmax(x0, x1) + reach, fmax(y0, y1) + reach);
    for (size_t y = a.y0; y < a.y1; y++)
        for (size_t x = a.x0; x < a.x1; x++) {
            const double in = thick / 2 + 0.5 - distance((double)x, (double)y, x0, y0, x1, y1);
            if (in > 0) blend(p, x, y, in < 1 ? in : 1, ink);
        }
}

/* ---------------------------------------------------------------------------------------------------------- shapes */

const char *const rg_draw__shapes[RG_SHAPES] = { "circle", "square", "triangle", "cross", "ring" };

/* How deep (x, y) lies inside a shape of size s around 0, negative outside. */
static double depth(int shape, double x, double y, double s)
{
    const double r = sqrt(x * x + y * y);
    switch (shape) {
    case RG_SHAPE_CIRCLE: return s - r;
    case RG_SHAPE_SQUARE: return 0.88 * s - fmax(fabs(x), fabs(y));
    case RG_SHAPE_TRIANGLE: return fmin(0.8 * s - y, (y + s) * 0.4472 - fabs(x) * 0.8944); /* sides of slope 2, one below */
    case RG_SHAPE_CROSS: return fmin(s - fmax(fabs(x), fabs(y)), 0.34 * s - fmin(fabs(x), fabs(y)));
    default: return 0.25 * s - fabs(r - 0.75 * s);
    }
}

void rg_draw__shape(rg_picture *p, int shape, double x, double y, double size, rg_ink ink)
{
    const area a = area_of(p, x - size - 1, y - size - 1, x + size + 1, y + size + 1);
    for (size_t j = a.y0; j < a.y1; j++)
        for (size_t i = a.x0; i < a.x1; i++) {
            const double in = depth(shape, (double)i - x, (double)j - y, size) + 0.5;
            if (in > 0) blend(p, i, j, in < 1 ? in : 1, ink);
        }
}

/* --------------------------------------------------------------------------------------------------------- symbols */

/* Strokes between semicolons, points "xy" on a grid of 7 x 10; a stroke of more than two points is rounded. */
static const char *const symbols[36] = { "30 51 63 66 58 39 18 06 03 11 30",
                                         "12 30;30 39",
                                         "02 10 40 62 63 45 09;09 69",
                                         "01 20 50 62 54 34;34 64 67 59 29 08",
                                         "40 06;06 66;43 49",
                                         "60 10;10 04;04 24 54 66 67 59 29 08",
                                         "50 20 03 06 19 49 66 65 44 24 06",
                                         "00 60;60 29",
                                         "34 03 01 20 40 61 63 34 66 68 49 29 08 06 34",
                                         "63 45 25 04 03 20 40 63 66 49 19",
                                         "09 30;30 69;16 56",
                                         "00 09;00 40 61 63 44 04;04 44 66 68 49 09",
                                         "61 40 20 02 07 29 49 68",
                                         "00 09;00 30 62 67 39 09",
                                         "00 09;00 60;04 54;09 69",
                                         "00 09;00 60;04 54",
                                         "61 40 20 02 07 29 49 67;67 65;65 35",
                                         "00 09;60 69;04 64",
                                         "10 50;30 39;19 59",
                                         "60 66 59 29 07",
                                         "00 09;60 05;24 69",
                                         "00 09;09 69",
                                         "09 00;00 35;35 60;60 69",
                                         "09 00;00 69;69 60",
                                         "20 40 62 67 49 29 07 02 20",
                                         "09 00;00 40 61 63 45 05",
                                         "20 40 62 67 49 29 07 02 20;46 69",
                                         "09 00;00 40 61 63 45 05;25 69",
                                         "62 50 20 02 24 45 66 49 19 07",
                                         "00 60;30 39",
                                         "00 06 29 49 66 60",
                                         "00 39;39 60",
                                         "00 19;19 33;33 59;59 60",
                                         "00 69;60 09",
                                         "00 34;60 34;34 39",
                                         "00 60;60 09;09 69" };

typedef struct point {
    double x, y;
} point;
enum { MOST_POINTS = 96 };

/* Chaikin's rule: every corner is cut at a quarter of its sides; ends stay. */
static size_t round_off(point *out, const point *in, size_t n)
{
    size_t m = 0;
    out[m++] = in[0];
    for (size_t i = 0; i + 1 < n; i++) {
        if (i) out[m++] = (point){ 0.75 * in[i].x + 0.25 * in[i + 1].x, 0.75 * in[i].y + 0.25 * in[i + 1].y };
        if (i + 2 < n) out[m++] = (point){ 0.25 * in[i].x + 0.75 * in[i + 1].x, 0.25 * in[i].y + 0.75 * in[i + 1].y };
    }
    out[m++] = in[n - 1];
    return m;
}

/* Points that lie on one place of the grid move together, so that strokes stay joined. */
typedef struct moves {
    double x[70], y[70];
} moves;

static size_t read_stroke(point *out, const char **text, const moves *move)
{
    size_t n = 0;
    while (**text && **text != ';') {
        const int gx = (*text)[0] - '0', gy = (*text)[1] - '0', at = 10 * gx + gy;
        out[n++] = (point){ (gx + 0.0) / 6 + move->x[at], (gy + 0.0) / 9 + move->y[at] };
        *text += 2;
        if (**text == ' ') ++*text;
    }
    if (**text == ';') ++*text;
    return n;
}

void rg_draw__symbol(rg_picture *p, char symbol, const double m[6], double thick, rg_ink ink, double jitter,
                     rg_random *random)
{
    const int   index = symbol >= 'A' && symbol <= 'Z'   ? symbol - 'A' + 10
                        : symbol >= '0' && symbol <= '9' ? symbol - '0'
                                                         : 0;
    const char *text = symbols[index];
    moves       move;
    for (size_t i = 0; i < 70; i++) {
        move.x[i] = jitter > 0 ? rg_made__uniform(random, -jitter, jitter) : 0;
        move.y[i] = jitter > 0 ? rg_made__uniform(random, -jitter, jitter) : 0;
    }
    while (*text) {
        point  a[MOST_POINTS], b[MOST_POINTS];
        size_t n = read_stroke(a, &text, &move);
        if (n > 2) {
            n = round_off(b, a, n);
            n = round_off(a, b, n);
        }
        for (size_t i = 0; i < n; i++)
            a[i] = (point){ m[0] * a[i].x + m[1] * a[i].y + m[2], m[3] * a[i].x + m[4] * a[i].y + m[5] };
        for (size_t i = 0; i + 1 < n; i++) rg_draw__line(p, a[i].x, a[i].y, a[i + 1].x, a[i + 1].y, thick, ink);
    }
}

/* ----------------------------------------------------------------------------------------------------------- noise */

void rg_draw__paste(rg_picture *p, const rg_picture *from, ptrdiff_t top, ptrdiff_t left)
{
    for (ptrdiff_t y = 0; y < (ptrdiff_t)from->height; y++)
        for (ptrdiff_t x = 0; x < (ptrdiff_t)from->width; x++) {
            const ptrdiff_t a = y + top, b = x + left;
            if (a < 0 || b < 0 || a >= (ptrdiff_t)p->height || b >= (ptrdiff_t)p->width) continue;
            unsigned char       *to = p->pixels + ((size_t)a * p->width + (size_t)b) * p->channels;
            const unsigned char *of = from->pixels + ((size_t)y * from->width + (size_t)x) * from->channels;
            for (size_t c = 0; c < p->channels && c < from->channels; c++)
                if (of[c] > to[c]) to[c] = of[c];
        }
}

static double smooth(double x) { return x * x * (3 - 2 * x); }

/* Random numbers at the corners of a lattice, joined by smooth steps (value noise). */
rg_status rg_draw__noise(float *out, size_t height, size_t width, size_t cells, rg_random *random)
{
    const size_t side = height > width ? height : width, corners = cells + 2;
    float       *at = rg_alloc_array(corners * corners, sizeof *at);
    if (!at) return RG_ENOMEM;
    for (size_t i = 0; i < corners * corners; i++) at[i] = (float)rg_random_uniform(random);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const double u = (double)(x * cells) / (double)side, v = (double)(y * cells) / (double)side;
            const size_t i = (size_t)u, j = (size_t)v;
            const double a = smooth(u - (double)i), b = smooth(v - (double)j);
            const float *c = at + j * corners + i;
            out[y * width + x] = (float)((1 - b) * ((1 - a) * (double)c[0] + a * (double)c[1]) +
                                         b * ((1 - a) * (double)c[corners] + a * (double)c[corners + 1]));
        }
    rg_free(at);
    return RG_OK;
}

/* Three layers of noise, coarse to fine, of a colour each. */
rg_status rg_draw__texture(rg_picture *out, size_t height, size_t width, rg_random *random)
{
    static const size_t cells[] = { 2, 5, 11 };
    rg_picture          p;
    RG_TRY(rg_picture_new(&p, height, width, 3));
    float    *noise = rg_alloc_array(height * width, sizeof *noise);
    rg_status status = noise ? RG_OK : RG_ENOMEM;
    for (size_t c = 0; c < 3; c++) {
        const unsigned char ground = (unsigned char)rg_random_below(random, 256);
        for (size_t i = 0; i < height * width; i++) p.pixels[3 * i + c] = ground;
    }
    for (size_t layer = 0; status == RG_OK && layer < 3; layer++) {
        rg_ink ink;
        for (size_t c = 0; c < 3; c++) ink.c[c] = (unsigned char)rg_random_below(random, 256);
        status = rg_draw__noise(noise, height, width, cells[layer], random);
        for (size_t i = 0; status == RG_OK && i < height * width; i++)
            for (size_t c = 0; c < 3; c++) {
                const double share = layer == 2 ? 0.5 * (double)noise[i] : smooth((double)noise[i]);
                p.pixels[3 * i + c] = rg_picture__byte((1 - share) * p.pixels[3 * i + c] + share * ink.c[c]);
            }
    }
    rg_free(noise);
    if (status == RG_OK) *out = p;
    else rg_picture_free(&p);
    return status;
}
