/* op_grid.c - grids of spatial transformers (Jaderberg et al. 2015), without a copy of theta for each pixel (grid.h).
 *
 * With s the scale to pixels, r = 1 / w, n = (nx, ny) the numerators:
 *
 *   dn_x = s_x r dpx       dt0 += u dn_x   dt1 += v dn_x   dt2 += dn_x          t3 .. t5 alike from dn_y
 *   dw   = -r (x dn_x + y dn_y) where w is not held at a bound       dt6 += u dw   dt7 += v dw
 *
 * A line of pixels is summed first: v is the same for all of it. */
#include "autograd/grid.h"

typedef struct {
    rg_node          node;
    rg_tensor       *theta;
    rg_real          sx, sy; /* to pixels */
    const rg_real   *u; /* of the pixels of a line, then v of the lines */
    const rg_real   *dy;
    rg_real         *dtheta;
    bool             add;
} grid_node;

static const double LEAST_W = 0.1, MOST_W = 1e6;

static double normal(size_t i, size_t n) { return n > 1 ? 2.0 * (double)i / (double)(n - 1) - 1 : 0; }
static rg_real half(size_t n) { return (rg_real)(((double)n - 1) / 2); }

/* w of a pixel; *open: it is not held at a bound. */
static inline rg_real divisor(rg_real w, bool *open)
{
    *open = w >= (rg_real)LEAST_W && w <= (rg_real)MOST_W;
    return w < (rg_real)LEAST_W ? (rg_real)LEAST_W : w > (rg_real)MOST_W ? (rg_real)MOST_W : w;
}

static void grid_pictures(void *context, int member, size_t begin, size_t end)
{
    const grid_node *n = context;
    const rg_tensor *y = n->node.out;
    const size_t     W = y->layout->width, H = y->layout->height;
    const rg_real   *u = n->u, *v = u + W, sx = n->sx, sy = n->sy;
    (void)member;
    for (size_t g = begin; g < end; g++) {
        const rg_real *t = n->theta->data + g * n->theta->ld;
        for (size_t j = 0; j < H; j++) {
            const rg_real x1 = t[1] * v[j], y1 = t[4] * v[j];
            rg_real      *to = y->data + (g * H + j) * W * y->ld;
            if (n->theta->cols == 6) {
                for (size_t i = 0; i < W; i++) {
                    to[i * y->ld] = (t[0] * u[i] + x1 + t[2]) * sx + sx;
                    to[i * y->ld + 1] = (t[3] * u[i] + y1 + t[5]) * sy + sy;
                }
                continue;
            }
            const rg_real w0 = t[7] * v[j] + 1;
            for (size_t i = 0; i < W; i++) {
                bool          open;
                const rg_real w = divisor(t[6] * u[i] + w0, &open);
                to[i * y->ld] = (t[0] * u[i] + x1 + t[2]) / w * sx + sx;
                to[i * y->ld + 1] = (t[3] * u[i] + y1 + t[5]) / w * sy + sy;
            }
        }
    }
}

/* One line: sums of dn_x, u dn_x, dn_y, u dn_y, dw, u dw. */
static void line_sums(rg_real sum[6], const grid_node *n, const rg_real *t, rg_real v, const rg_real *dy, size_t ld)
{
    const size_t   W = n->node.out->layout->width;
    const rg_real *u = n->u, sx = n->sx, sy = n->sy;
    const bool     bent = n->theta->cols == 8;
    for (int k = 0; k < 6; k++) sum[k] = 0;
    for (size_t i = 0; i < W; i++) {
        bool          open = false;
        const rg_real w = bent ? divisor(t[6] * u[i] + (t[7] * v + 1), &open) : 1;
        const rg_real dx = sx * dy[i * ld] / w, dyy = sy * dy[i * ld + 1] / w;
        sum[0] += dx, sum[1] += u[i] * dx;
        sum[2] += dyy, sum[3] += u[i] * dyy;
        if (!open) continue;
        const rg_real x = (t[0] * u[i] + t[1] * v + t[2]) / w, y = (t[3] * u[i] + t[4] * v + t[5]) / w;
        const rg_real dw = -(x * dx + y * dyy);
        sum[4] += dw, sum[5] += u[i] * dw;
    }
}

/* The same of a line of affine places. */
static void affine_line_sums(rg_real sum[6], const grid_node *n, const rg_real *dy, size_t ld)
{
    const size_t   W = n->node.out->layout->width;
    const rg_real *u = n->u;
    rg_real        x = 0, ux = 0, y = 0, uy = 0;
    for (size_t i = 0; i < W; i++) {
        x += dy[i * ld], ux += u[i] * dy[i * ld];
        y += dy[i * ld + 1], uy += u[i] * dy[i * ld + 1];
    }
    sum[0] = n->sx * x, sum[1] = n->sx * ux, sum[2] = n->sy * y, sum[3] = n->sy * uy, sum[4] = sum[5] = 0;
}

static void back_pictures(void *context, int member, size_t begin, size_t end)
{
    const grid_node *n = context;
    const rg_tensor *y = n->node.out, *theta = n->theta;
    const size_t     W = y->layout->width, H = y->layout->height;
    const rg_real   *v = n->u + W;
    (void)member;
    for (size_t g = begin; g < end; g++) {
        const rg_real *t = theta->data + g * theta->ld;
        rg_real        d[8] = { 0 }, sum[6];
        for (size_t j = 0; j < H; j++) {
            const rg_real *dy = n->dy + (g * H + j) * W * y->ld;
            if (theta->cols == 6) affine_line_sums(sum, n, dy, y->ld);
            else line_sums(sum, n, t, v[j], dy, y->ld);
            d[0] += sum[1], d[1] += v[j] * sum[0], d[2] += sum[0];
            d[3] += sum[3], d[4] += v[j] * sum[2], d[5] += sum[2];
            d[6] += sum[5], d[7] += v[j] * sum[4];
        }
        rg_real *to = n->dtheta + g * theta->ld;
        for (size_t k = 0; k < theta->cols; k++) to[k] = n->add ? to[k] + d[k] : d[k];
    }
}

static void grid_backward(rg_tape *t, rg_node *node)
{
    grid_node   *n = (grid_node *)node;
    const size_t groups = node->out->layout->groups;
    n->dy = rg_tape__arrived(t, node->out);
    n->dtheta = rg_tape__grad(t, n->theta, &n->add);
    if (n->dtheta) rg_tape__rows(t, groups, groups ? 2 * node->out->rows / groups : 1, back_pictures, n);
}

rg_tensor *rg_tape__grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, const rg_layout *layout)
{
    if (!rg_tape__begin(t, "grid", 1, &theta)) return NULL;
    const size_t W = layout->width, H = layout->height, groups = layout->groups;
    rg_tensor   *y = rg_tape__tensor(t, groups * H * W, 2, layout);
    rg_real     *u = rg_tape__reals(t, W + H);
    if (!y || !u) return NULL;
    if (rg_tape__live(t)) {
        for (size_t i = 0; i < W; i++) u[i] = (rg_real)normal(i, W);
        for (size_t j = 0; j < H; j++) u[W + j] = (rg_real)normal(j, H);
        grid_node now = { .node.out = y, .theta = theta, .sx = half(from->width), .sy = half(from->height), .u = u };
        rg_tape__rows(t, groups, 2 * H * W, grid_pictures, &now);
    }
    rg_tape__count(t, 8.0 * (double)y->rows);
    grid_node *n = rg_tape__node(t, sizeof *n, y, grid_backward, 1, &theta);
    if (n) n->theta = theta, n->sx = half(from->width), n->sy = half(from->height), n->u = u;
    return y;
}
