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
static inline int64_t below(rg_real x)
{
    const int64_t n = (int64_t)x;
    return n - (x < (rg_real)n);
}

/* Pictures have few channels: up to so many are not worth a kernel's call. */
enum { FEW = 8 };

#define INLINE static inline __attribute__((always_inline))

INLINE void add_times(size_t n, rg_real *to, rg_real a, const rg_real *x)
{
    if (n > FEW) rg_kernel()->axpy(n, to, a, x);
    else
        for (size_t i = 0; i < n; i++) to[i] += a * x[i];
}

INLINE rg_real meet(size_t n, const rg_real *a, const rg_real *b)
{
    rg_real sum = 0;
    if (n > FEW) return rg_kernel()->dot(n, a, b);
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The pixel left above a place, and how far to the right and below of it the place lies. */
typedef struct spot {
    int64_t left, top;
    rg_real fx, fy;
    bool    near; /* some of the four pixels are in the picture */
} spot;

static spot spot_of(int64_t W, int64_t H, rg_real px, rg_real py)
{
    spot s = { .near = px > -1 && py > -1 && px < (rg_real)W && py < (rg_real)H }; /* false for a NaN too */
    s.left = s.near ? below(px) : 0, s.top = s.near ? below(py) : 0;
    s.fx = px - (rg_real)s.left, s.fy = py - (rg_real)s.top;
    return s;
}

/* What all places of a group share, and the test of whether all four pixels of one are inside. */
typedef struct field {
    const rg_tensor *places;
    const rg_real   *at;
    size_t           ld;    /* of the picture's rows */
    int64_t          W, H;
    rg_real          right, bottom; /* the last pixel */
} field;

static field field_of(const sample_node *n)
{
    const rg_layout *l = n->x->layout;
    return (field){ n->places, n->places->data, n->x->ld, (int64_t)l->width, (int64_t)l->height,
                    (rg_real)l->width - 1, (rg_real)l->height - 1 };
}

INLINE bool inside(const field *f, rg_real px, rg_real py)
{
    return (px >= 0) & (py >= 0) & (px < f->right) & (py < f->bottom);
}

static void corners(corner out[4], int64_t W, int64_t H, const spot *s)
{
    for (int c = 0; c < 4; c++) {
        const int64_t a = s->left + (c & 1), b = s->top + (c >> 1);
        const rg_real sx = c & 1 ? s->fx : 1 - s->fx, sy = c >> 1 ? s->fy : 1 - s->fy;
        const bool    inside = s->near && a >= 0 && b >= 0 && a < W && b < H;
        out[c] = (corner){ inside ? b * W + a : -1, sx * sy, c & 1 ? sy : -sy, c >> 1 ? sx : -sx };
    }
}

static size_t first_row(const rg_tensor *x, size_t g) { return (size_t)x->layout->start[g]; }

/* At the border of a picture of D channels, rows ld apart: the plain way, corner by corner. */
static __attribute__((noinline)) void sample_border(const field *f, size_t D, rg_real *to, const rg_real *x, rg_real px,
                                                    rg_real py)
{
    const spot s = spot_of(f->W, f->H, px, py);
    corner     four[4];
    corners(four, f->W, f->H, &s);
    memset(to, 0, D * sizeof *to);
    for (int c = 0; c < 4; c++)
        if (four[c].row >= 0) add_times(D, to, four[c].share, x + (size_t)four[c].row * f->ld);
}

/* The places of group g, D channels; inside a picture all four pixels are read without asking. */
INLINE void sample_group(const sample_node *n, size_t g, const size_t D)
{
    const field    f = field_of(n);
    const size_t   ld = f.ld, down = (size_t)f.W * ld, step = f.places->ld, next = n->node.out->ld;
    const rg_real *x = n->x->data + first_row(n->x, g) * ld;
    rg_real       *to = n->node.out->data + first_row(f.places, g) * next;
    for (size_t i = first_row(f.places, g); i < first_row(f.places, g + 1); i++, to += next) {
        const rg_real px = f.at[i * step], py = f.at[i * step + 1];
        if (D > FEW || !inside(&f, px, py)) {
            sample_border(&f, D, to, x, px, py);
            continue;
        }
        const int32_t  left = (int32_t)px, top = (int32_t)py;
        const rg_real *above = x + (size_t)top * down + (size_t)left * ld, *under = above + down;
        const rg_real  fx = px - (rg_real)left, fy = py - (rg_real)top, gx = 1 - fx, gy = 1 - fy;
        const rg_real  share[4] = { gx * gy, fx * gy, gx * fy, fx * fy };
        for (size_t d = 0; d < D; d++)
            to[d] = share[0] * above[d] + share[1] * above[ld + d] + share[2] * under[d] + share[3] * under[ld + d];
    }
}

static void sample_groups(void *context, int member, size_t begin, size_t end)
{
    const sample_node *n = context;
    (void)member;
    for (size_t g = begin; g < end; g++) {
        if (n->x->cols == 1) sample_group(n, g, 1);
        else if (n->x->cols == 3) sample_group(n, g, 3);
        else sample_group(n, g, n->x->cols);
    }
}

/* What comes back from one place at the border, corner by corner. */
static __attribute__((noinline)) void back_border(const field *f, size_t D, rg_real *dx, rg_real slope[2],
                                                  const rg_real *x, rg_real px, rg_real py, const rg_real *dy)
{
    const spot s = spot_of(f->W, f->H, px, py);
    corner     four[4];
    corners(four, f->W, f->H, &s);
    slope[0] = slope[1] = 0;
    for (int c = 0; c < 4; c++) {
        if (four[c].row < 0) continue;
        const size_t at = (size_t)four[c].row * f->ld;
        if (dx) add_times(D, dx + at, four[c].share, dy);
        const rg_real met = meet(D, x + at, dy);
        slope[0] += four[c].along_x * met;
        slope[1] += four[c].along_y * met;
    }
}

/* The same of a place inside; dx and slope begin at the pixel left above. */
INLINE void back_inside(const size_t D, size_t ld, size_t down, rg_real *dx, rg_real slope[2], const rg_real *x,
                        rg_real fx, rg_real fy, const rg_real *dy)
{
    const rg_real gx = 1 - fx, gy = 1 - fy;
    rg_real       met[4] = { 0, 0, 0, 0 };
    for (size_t d = 0; d < D; d++) {
        met[0] += x[d] * dy[d], met[1] += x[ld + d] * dy[d];
        met[2] += x[down + d] * dy[d], met[3] += x[down + ld + d] * dy[d];
    }
    slope[0] = gy * (met[1] - met[0]) + fy * (met[3] - met[2]);
    slope[1] = gx * (met[2] - met[0]) + fx * (met[3] - met[1]);
    for (size_t d = 0; dx && d < D; d++) {
        dx[d] += gx * gy * dy[d], dx[ld + d] += fx * gy * dy[d];
        dx[down + d] += gx * fy * dy[d], dx[down + ld + d] += fx * fy * dy[d];
    }
}

INLINE void back_group(const sample_node *n, size_t g, const size_t D)
{
    const field    f = field_of(n);
    const size_t   first = first_row(n->x, g) * f.ld, down = (size_t)f.W * f.ld, step = f.places->ld;
    const rg_real *x = n->x->data + first, *dy = n->dy + first_row(f.places, g) * n->node.out->ld;
    rg_real       *dx = n->dx ? n->dx + first : NULL;
    for (size_t i = first_row(f.places, g); i < first_row(f.places, g + 1); i++, dy += n->node.out->ld) {
        const rg_real px = f.at[i * step], py = f.at[i * step + 1];
        rg_real       slope[2];
        if (D > FEW || !inside(&f, px, py)) {
            back_border(&f, D, dx, slope, x, px, py, dy);
        } else {
            const int32_t left = (int32_t)px, top = (int32_t)py;
            const size_t  at = (size_t)top * down + (size_t)left * f.ld;
            back_inside(D, f.ld, down, dx ? dx + at : NULL, slope, x + at, px - (rg_real)left, py - (rg_real)top, dy);
        }
        if (!n->dplaces) continue;
        rg_real *to = n->dplaces + i * step;
        to[0] = n->add_places ? to[0] + slope[0] : slope[0];
        to[1] = n->add_places ? to[1] + slope[1] : slope[1];
    }
}

/* Groups read different pictures, so threads that share them out never meet. */
static void back_groups(void *context, int member, size_t begin, size_t end)
{
    const sample_node *n = context;
    (void)member;
    for (size_t g = begin; g < end; g++) {
        if (n->x->cols == 1) back_group(n, g, 1);
        else if (n->x->cols == 3) back_group(n, g, 3);
        else back_group(n, g, n->x->cols);
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
