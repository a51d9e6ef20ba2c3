/* columns.c - columns of windows gathered in runs of a window line (columns.h).
 *
 * A picture is copied once with its border of zeros. Then what a window sees of a line of it is one run of consecutive
 * numbers, and the place of every run is known without asking which taps lie outside:
 *
 *      . . . . . . .        the window at (y, x): `height` runs of `width` D numbers,
 *      . [ a b c ] .        a line of the bordered picture apart
 *      . [ d e f ] .
 *
 * A short run is copied as 8 or 16 numbers: what is too much is overwritten by the run after it. */
#include "autograd/columns.h"

#include <string.h>

void rg_columns__gather_plain(const rg_columns_block *b, const rg_tensor *x, rg_real *columns)
{
    const size_t D = b->D, K = b->taps->K;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = 0; j < K; j++, columns += D) {
            const int64_t row = rg_taps__row(b->taps, b->from + i, j);
            if (row < 0) memset(columns, 0, D * sizeof *columns);
            else memcpy(columns, x->data + (size_t)row * x->ld, D * sizeof *columns);
        }
}

/* ------------------------------------------------------------------------------------------------ bordered pictures */

typedef struct border {
    size_t height, width; /* with the border */
    size_t numbers;       /* of one picture */
} border;

static border border_of(const rg_taps *p, size_t D)
{
    const size_t height = p->height + 2 * p->window.padding, width = p->width + 2 * p->window.padding;
    return (border){ height, width, height * width * D };
}

/* Windows that lie in the picture with the same border on all sides. */
bool rg_columns__bordered(const rg_taps *p)
{
    return p->window.height && p->window.dilation == 1 && !p->window.end && !p->window.ceil && !p->window.same;
}

static size_t units_of(const rg_taps *p, size_t from, size_t rows)
{
    return rows ? (from + rows - 1) / p->out - from / p->out + 1 : 0;
}

size_t rg_columns__padded(const rg_taps *p, size_t D, size_t rows)
{
    if (!rg_columns__bordered(p)) return 0;
    return (rows / p->out + 2) * border_of(p, D).numbers + RG_COLUMNS_SLACK;
}

typedef struct gathering {
    const rg_columns_block *b;
    const rg_tensor        *x;
    rg_real                *pictures, *columns; /* pictures: of the block's units, bordered */
    border                  border;
    size_t                  unit; /* the first */
} gathering;

/* Lines of all bordered pictures, counted through. */
static void border_lines(void *context, int member, size_t begin, size_t end)
{
    const gathering *g = context;
    const rg_taps   *p = g->b->taps;
    const rg_tensor *x = g->x;
    const size_t     D = g->b->D, side = p->window.padding * D, wide = g->border.width * D;
    (void)member;
    for (size_t line = begin; line < end; line++) {
        rg_real     *to = g->pictures + line * wide;
        const size_t y = line % g->border.height, unit = g->unit + line / g->border.height;
        if (y < p->window.padding || y >= p->window.padding + p->height) {
            memset(to, 0, wide * sizeof *to);
            continue;
        }
        const rg_real *from = x->data + (unit * p->in + (y - p->window.padding) * p->width) * x->ld;
        memset(to, 0, side * sizeof *to);
        rg_rows__copy(p->width, D, to + side, D, from, x->ld);
        memset(to + wide - side, 0, side * sizeof *to);
    }
}

/* n numbers, written as `whole` where that is more; the surplus is overwritten later. */
static inline void copy_run(rg_real *to, const rg_real *from, size_t n)
{
    if (n <= 8) memcpy(to, from, 8 * sizeof *to);
    else if (n <= 16) memcpy(to, from, 16 * sizeof *to);
    else memcpy(to, from, n * sizeof *to);
}

static void gather_rows(void *context, int member, size_t begin, size_t end)
{
    const gathering *g = context;
    const rg_taps   *p = g->b->taps;
    const size_t     D = g->b->D, run = p->window.width * D, line = g->border.width * D, lines = p->window.height;
    const size_t     width = p->layout->width, at = g->b->from + begin, step = p->window.stride;
    size_t           unit = at / p->out - g->unit, y = at % p->out / width, x = at % width;
    (void)member;
    rg_real *to = g->columns + begin * lines * run;
    for (size_t i = begin; i < end; i++) {
        const rg_real *from = g->pictures + unit * g->border.numbers + y * step * line + x * step * D;
        for (size_t k = 0; k + 1 < lines; k++, to += run, from += line) copy_run(to, from, run);
        if (i + 1 < end) copy_run(to, from, run);
        else memcpy(to, from, run * sizeof *to); /* what comes behind may be another's */
        to += run;
        if (++x < width) continue;
        x = 0;
        if (++y < p->layout->height) continue;
        y = 0, unit++;
    }
}

typedef struct plain_job {
    const rg_columns_block *b;
    const rg_tensor        *x;
    rg_real                *columns;
} plain_job;

static void plain_rows(void *context, int member, size_t begin, size_t end)
{
    const plain_job       *j = context;
    const rg_columns_block some = { j->b->taps, j->b->D, j->b->from + begin, end - begin };
    (void)member;
    rg_columns__gather_plain(&some, j->x, j->columns + begin * some.taps->K * some.D);
}

bool rg_columns__gather(rg_tape *t, const rg_columns_block *b, const rg_tensor *x, rg_real *columns)
{
    const rg_taps *p = b->taps;
    if (!rg_columns__bordered(p)) {
        rg_tape__rows(t, b->rows, p->K * b->D, plain_rows, &(plain_job){ b, x, columns });
        return true;
    }
    gathering      g = { .b = b, .x = x, .columns = columns, .border = border_of(p, b->D), .unit = b->from / p->out };
    const size_t   units = units_of(p, b->from, b->rows);
    rg_arena_point scratch = rg_tape__scratch(t);
    g.pictures = rg_tape__reals(t, units * g.border.numbers + RG_COLUMNS_SLACK);
    if (g.pictures) {
        memset(g.pictures + units * g.border.numbers, 0, RG_COLUMNS_SLACK * sizeof *g.pictures);
        rg_tape__rows(t, units * g.border.height, g.border.width * b->D, border_lines, &g);
        rg_tape__rows(t, b->rows, p->K * b->D, gather_rows, &g);
    }
    rg_tape__release(t, scratch);
    return g.pictures != NULL;
}

/* ---------------------------------------------------------------------------------------------- without any columns */

bool rg_columns__direct(const rg_taps *p, size_t D)
{
    /* every run costs a pass over C; every line of windows has tiles of its own */
    enum { LEAST_RUN = 64, LEAST_ACROSS = 6 };
    return rg_columns__bordered(p) && p->window.width * D >= LEAST_RUN && p->layout->width >= LEAST_ACROSS;
}

typedef struct direct {
    gathering      g; /* pictures: bordered, or x itself */
    const rg_pack *w;
    const rg_real *bias;
    rg_activation  f;
    rg_tensor     *y;
} direct;

/* Lines of output pixels of the block's pictures, counted through. */
static void multiply_lines(void *context, int member, size_t begin, size_t end)
{
    const direct  *d = context;
    const rg_taps *p = d->g.b->taps;
    const size_t   D = d->g.b->D, width = p->layout->width, height = p->layout->height;
    (void)member;
    for (size_t line = begin, next; line < end; line = next) {
        const size_t unit = line / height, y = line % height, wide = d->g.border.width * D;
        next = (unit + 1) * height < end ? (unit + 1) * height : end;
        const rg_windows rows = { .a = d->g.pictures + unit * d->g.border.numbers + y * p->window.stride * wide,
                                  .across = width,
                                  .down = next - line,
                                  .step = p->window.stride * D,
                                  .fall = p->window.stride * wide,
                                  .lines = p->window.height,
                                  .run = p->window.width * D,
                                  .line = wide };
        rg_kernel()->gemm_windows(&rows, d->w->N, d->w->data,
                                  d->y->data + (d->g.unit * p->out + line * width) * d->y->ld, d->y->ld, d->bias, d->f);
    }
}

bool rg_columns__multiply(rg_tape *t, const rg_taps *p, const rg_tensor *x, const rg_pack *w, const rg_real *bias,
                          rg_activation f, rg_tensor *y)
{
    enum { NUMBERS = 1 << 17 };
    const size_t D = x->cols, height = p->layout->height;
    if (!w->data || !rg_columns__direct(p, D)) return false;
    rg_columns_block b = { .taps = p, .D = D };
    direct           d = { .g = { .b = &b, .x = x, .border = border_of(p, D) }, .w = w, .bias = bias, .f = f, .y = y };
    const bool       there = p->window.padding == 0 && x->ld == D; /* no border, no gaps: x itself will do */
    const size_t     fit = NUMBERS / d.g.border.numbers, few = fit ? fit : 1;
    const size_t     many = there || few > p->units ? p->units : few;
    rg_arena_point   scratch = rg_tape__scratch(t);
    d.g.pictures = there ? x->data : rg_tape__reals(t, many * d.g.border.numbers);
    for (size_t unit = 0; d.g.pictures && unit < p->units; unit += many) {
        const size_t units = p->units - unit < many ? p->units - unit : many;
        d.g.unit = unit;
        if (!there) rg_tape__rows(t, units * d.g.border.height, d.g.border.width * D, border_lines, &d.g);
        rg_tape__rows(t, units * height, p->layout->width * p->K * D * w->N / 8, multiply_lines, &d);
    }
    rg_tape__release(t, scratch);
    return true;
}
