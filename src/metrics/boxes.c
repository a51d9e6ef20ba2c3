/* boxes.c - rectangles in pictures: overlap, and the one around the evidence in a map (Zhou et al. 2016, section
 * 3.2): the bounding box of the largest connected part of what is above a share of the largest value, the map
 * enlarged to the picture between its cells. */
#include "regard/metrics.h"

#include <math.h>

double rg_box_iou(rg_box a, rg_box b)
{
    const double across = fmin(a.x + a.width, b.x + b.width) - fmax(a.x, b.x),
                 down = fmin(a.y + a.height, b.y + b.height) - fmax(a.y, b.y);
    const double both = across > 0 && down > 0 ? across * down : 0,
                 all = a.width * a.height + b.width * b.height - both;
    return all > 0 ? both / all : 0;
}

bool rg_box_has(rg_box b, double x, double y)
{
    return x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height;
}

/* Between the middles of its four cells; outside them as the nearest edge. */
static void enlarge(double *out, size_t height, size_t width, const float *map, size_t down, size_t across)
{
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) {
            const double y = fmin(fmax(((double)i + 0.5) * (double)down / (double)height - 0.5, 0), (double)(down - 1));
            const double x =
                fmin(fmax(((double)j + 0.5) * (double)across / (double)width - 0.5, 0), (double)(across - 1));
            const size_t y0 = (size_t)y, x0 = (size_t)x, y1 = y0 + 1 < down ? y0 + 1 : y0,
                         x1 = x0 + 1 < across ? x0 + 1 : x0;
            const double fy = y - (double)y0, fx = x - (double)x0;
            out[i * width + j] =
                (1 - fy) * ((1 - fx) * (double)map[y0 * across + x0] + fx * (double)map[y0 * across + x1]) +
                fy * ((1 - fx) * (double)map[y1 * across + x0] + fx * (double)map[y1 * across + x1]);
        }
}

typedef struct {
    size_t top, left, bottom, right, count;
} part;

/* All that hangs together with `first` above the limit, which is taken off the map. `stack` has room for every
 * pixel. */
static part grow(double *map, size_t height, size_t width, double limit, size_t first, size_t *stack)
{
    part   p = { first / width, first % width, first / width, first % width, 0 };
    size_t n = 0;
    stack[n++] = first;
    map[first] = -INFINITY;
    while (n) {
        const size_t at = stack[--n], y = at / width, x = at % width;
        const size_t next[4] = { y ? at - width : at, y + 1 < height ? at + width : at, x ? at - 1 : at,
                                 x + 1 < width ? at + 1 : at };
        p.count++;
        if (y < p.top) p.top = y;
        if (y > p.bottom) p.bottom = y;
        if (x < p.left) p.left = x;
        if (x > p.right) p.right = x;
        for (size_t k = 0; k < 4; k++)
            if (map[next[k]] > limit) stack[n++] = next[k], map[next[k]] = -INFINITY;
    }
    return p;
}

rg_status rg_evidence_of(rg_evidence *out, const float *map, size_t down, size_t across, size_t height, size_t width,
                         double share)
{
    const size_t pixels = height * width;
    double      *large = rg_alloc_array(pixels, sizeof *large);
    size_t      *stack = rg_alloc_array(pixels, sizeof *stack), best = 0;
    part         most = { 0, 0, height - 1, width - 1, 0 };
    if (!large || !stack) {
        rg_free(large);
        rg_free(stack);
        return RG_ENOMEM;
    }
    enlarge(large, height, width, map, down, across);
    for (size_t i = 1; i < pixels; i++)
        if (large[i] > large[best]) best = i;
    const double limit = share * large[best];
    for (size_t i = 0; i < pixels && limit > 0; i++) {
        if (!(large[i] > limit)) continue;
        const part p = grow(large, height, width, limit, i, stack);
        if (p.count > most.count) most = p;
    }
    out->box = (rg_box){ (double)most.left, (double)most.top, (double)(most.right - most.left + 1),
                         (double)(most.bottom - most.top + 1) };
    out->x = (double)(best % width) + 0.5;
    out->y = (double)(best / width) + 0.5;
    rg_free(large);
    rg_free(stack);
    return RG_OK;
}
