/* op_sample.c - bilinear sampling (Jaderberg et al. 2015): pictures read at places between their pixels.
 *
 *   y_i = sum over the four pixels (a, b) around (px, py) of  (1 - |px - a|) (1 - |py - b|) x[b][a]        outside the picture: 0
 *
 *   dx[b][a] += (1 - |px - a|) (1 - |py - b|) dy_i
 *   dpx_i     = sum of sign(a - px) (1 - |py - b|) x[b][a] . dy_i          dpy_i alike: slopes to the right and below on a pixel itself
 *
 * Group g of the places reads picture g. */
#include "autograd/tape.h"
#include "regard/conv.h"

#include <string.h>

typedef struct {
    rg_node        node;
    rg_tensor     *x, *places;
    bool           add_places; /* while backward runs */
    rg_real       *dx, *dplaces;
    const rg_real *dy;
} sample_node;

/* One of the four pixels: its row of the picture, -1 outside; its share; and how that changes with px and py. */
typedef struct corner {
    int64_t row;
    rg_real share, along_x, along_y;
} corner;

/* floor of what an int64_t can hold, without a call. */
static int64_t below(rg_real x)
{
    const int64_t n = (int64_t)x;
    return n - (x < (rg_real)n);
}

/* Pictures have few channels: up to so many are not worth a kernel's call. */
enum { FEW = 8 };

static void add_times(size_t n, rg_real *to, rg_real a, const rg_real *x)
{
    if (n > FEW) rg_kernel()->axpy(n, to, a, x);
    else
        for (size_t i = 0; i < n; i++) to[i] += a * x[i];
}

static rg_real meet(size_t n, const rg_real *a, const rg_real *b)
{
    rg_real sum = 0;
    if (n > FEW) return rg_kernel()->dot(n, a, b);
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void corners(corner out[4], const rg_layout *pictures, rg_real px, rg_real py)
{
    const int64_t W = (int64_t)pictures->width, H = (int64_t)pictures->height;
    const bool    near = px > -1 && py > -1 && px < (rg_real)W && py < (rg_real)H; /* false for a NaN too */
    const int64_t left = near ? below(px) : 0, top = near ? below(py) : 0;
    const rg_real fx = px - (rg_real)left, fy = py - (rg_real)top;
    for (int c = 0; c < 4; c++) {
        const int64_t a = left + (c & 1), b = top + (c >> 1);
        const rg_real sx = c & 1 ? fx : 1 - fx, sy = c >> 1 ? fy : 1 - fy;
        const bool    inside = near && a >= 0 && b >= 0 && a < W && b < H;
        out[c] = (corner){ inside ? b * W + a : -1, sx * sy, c & 1 ? sy : -sy, c >> 1 ? sx : -sx };
    }
}

static size_t first_row(const rg_tensor *x, size_t g) { return (size_t)x->layout->start[g]; }

static void sample_groups(void *context, int member, size_t begin, size_t end)
{
    const sample_node *n = context;
    const rg_tensor   *x = n->x, *p = n->places, *y = n->node.out;
    (void)member;
    for (size_t g = begin; g < end; g++)
        for (size_t i = first_row(p, g); i < first_row(p, g + 1); i++) {
            corner   four[4];
            rg_real *to = y->data + i * y->ld;
            corners(four, x->layout, p->data[i * p->ld], p->data[i * p->ld + 1]);
            memset(to, 0, y->cols * sizeof *to);
            for (int c = 0; c < 4; c++)
                if (four[c].row >= 0)
                    add_times(y->cols, to, four[c].share,
                              x->data + (first_row(x, g) + (size_t)four[c].row) * x->ld);
        }
}

/* Groups read different pictures, so threads that share them out never meet. */
static void back_groups(void *context, int member, size_t begin, size_t end)
{
    const sample_node *n = context;
    const rg_tensor   *x = n->x, *p = n->places, *y = n->node.out;
    (void)member;
    for (size_t g = begin; g < end; g++)
        for (size_t i = first_row(p, g); i < first_row(p, g + 1); i++) {
            const rg_real *dy = n->dy + i * y->ld;
            corner         four[4];
            rg_real        dpx = 0, dpy = 0;
            corners(four, x->layout, p->data[i * p->ld], p->data[i * p->ld + 1]);
            for (int c = 0; c < 4; c++) {
                if (four[c].row < 0) continue;
                const size_t row = first_row(x, g) + (size_t)four[c].row;
                if (n->dx) add_times(y->cols, n->dx + row * x->ld, four[c].share, dy);
                if (!n->dplaces) continue;
                const rg_real met = meet(y->cols, x->data + row * x->ld, dy);
                dpx += four[c].along_x * met;
                dpy += four[c].along_y * met;
            }
            if (!n->dplaces) continue;
            rg_real *to = n->dplaces + i * p->ld;
            to[0] = n->add_places ? to[0] + dpx : dpx;
            to[1] = n->add_places ? to[1] + dpy : dpy;
        }
}

static void sample_backward(rg_tape *t, rg_node *node)
{
    sample_node *n = (sample_node *)node;
    n->dy = rg_tape__arrived(t, node->out);
    n->dx = rg_tape__grad_add(t, n->x);
    n->dplaces = rg_tape__grad(t, n->places, &n->add_places);
    const size_t groups = n->x->layout->groups, rows = groups ? node->out->rows / groups + 1 : 1;
    if (rg_tape_status(t) == RG_OK) rg_tape__rows(t, groups, rows * node->out->cols * 8, back_groups, n);
}

rg_tensor *rg_sample(rg_tape *t, rg_tensor *x, rg_tensor *places)
{
    rg_tensor *in[] = { x, places };
    if (!rg_tape__begin(t, "sample", 2, in)) return NULL;
    if (!x->layout || !x->layout->height || !x->layout->width)
        return rg_tape_fail(t, RG_EINVAL, "rows whose layout has no height and width are no pictures");
    if (places->cols != 2)
        return rg_tape_fail(t, RG_ESHAPE, "places have %zu columns; they are x and y, two", places->cols);
    if (!places->layout || places->layout->groups != x->layout->groups)
        return rg_tape_fail(t, RG_ESHAPE, "places are in %zu groups, there are %zu pictures",
                            places->layout ? places->layout->groups : 0, x->layout->groups);
    rg_tensor *y = rg_tape__tensor(t, places->rows, x->cols, places->layout);
    if (!y) return NULL;
    sample_node  now = { .node.out = y, .x = x, .places = places };
    const size_t groups = x->layout->groups, rows = groups ? y->rows / groups + 1 : 1;
    if (rg_tape__live(t)) rg_tape__rows(t, groups, rows * y->cols * 4, sample_groups, &now);
    rg_tape__count(t, 8.0 * (double)(y->rows * y->cols));
    sample_node *n = rg_tape__node(t, sizeof *n, y, sample_backward, 2, in);
    if (n) n->x = x, n->places = places;
    return y;
}
