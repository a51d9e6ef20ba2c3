/* columns_spread.c - the gradient of columns added to the rows they were gathered from (columns.h).
 *
 *   dx[at_ij] += d_ij        output rows i in rising order, taps j
 *
 * Row by row of dx instead, so that threads split it and a row is summed in registers: the pairs (i, j) that read row p
 * are a list, made once. Where D is small that would be a list for each few numbers; there d^T is asked for, in which
 * tap j of a line of output pixels is a run of numbers, and lines of a channel of dx are added up:
 *
 *   dx[y][x] += d^T[j][y + padding - j_y][x + padding - j_x]       j_y and j_x falling, which is i rising */
#include "autograd/columns.h"

#include <string.h>

void rg_columns__spread_plain(const rg_columns_block *b, const rg_tensor *x, rg_real *dx, const rg_real *d)
{
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = 0; j < b->taps->K; j++, d += b->D) {
            const int64_t row = rg_taps__row(b->taps, b->from + i, j);
            if (row >= 0) rg_kernel()->axpy(b->D, dx + (size_t)row * x->ld, 1, d);
        }
}

/* ------------------------------------------------------------------------------------------------- lists of readers */

size_t rg_columns__readers_bytes(const rg_taps *p) { return (p->in + 1 + p->out * p->K) * sizeof(int32_t); }

bool rg_columns__readers(rg_readers *out, rg_tape *t, const rg_taps *p)
{
    int32_t *first = rg_tape__keep(t, rg_columns__readers_bytes(p)), *item = first ? first + p->in + 1 : NULL;
    if (!first) return false;
    memset(first, 0, (p->in + 1) * sizeof *first);
    for (size_t k = 0; k < p->out * p->K; k++)
        if (p->at[k] >= 0) first[p->at[k] + 1]++;
    for (size_t r = 0; r < p->in; r++) first[r + 1] += first[r];
    for (size_t k = 0; k < p->out * p->K; k++)
        if (p->at[k] >= 0) item[first[p->at[k]]++] = (int32_t)k;
    for (size_t r = p->in; r > 0; r--) first[r] = first[r - 1]; /* each had moved to the end of its list */
    first[0] = 0;
    *out = (rg_readers){ first, item };
    return true;
}

typedef struct spreading {
    const rg_columns_block *b;
    const rg_readers       *readers;
    const rg_tensor        *x;
    rg_real                *dx;
    const rg_real          *d;
    size_t                  unit;   /* the first */
    size_t                 *lists;  /* K for each member */
    rg_real                *planes; /* a channel of a picture for each member */
    bool                    fresh;  /* nothing is in dx yet */
} spreading;

static void spread_rows(void *context, int member, size_t begin, size_t end)
{
    const spreading *s = context;
    const rg_taps   *p = s->b->taps;
    size_t          *list = s->lists + (size_t)member * p->K;
    for (size_t row = begin; row < end; row++) {
        const size_t  unit = s->unit + row / p->in, r = row % p->in;
        const int64_t skip = ((int64_t)s->b->from - (int64_t)(unit * p->out)) * (int64_t)p->K; /* from item 0 to d's first row */
        size_t        n = 0;
        for (int32_t k = s->readers->first[r]; k < s->readers->first[r + 1]; k++) {
            const int64_t at = s->readers->item[k] - skip;
            if (at >= 0 && (size_t)at < s->b->rows * p->K) list[n++] = (size_t)at;
        }
        if (n) rg_kernel()->lists_sum(n, s->b->D, s->dx + (unit * p->in + r) * s->x->ld, true, s->d, list);
    }
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t units_of(const rg_columns_block *b)
{
    return b->rows ? (b->from + b->rows - 1) / b->taps->out - b->from / b->taps->out + 1 : 0;
}

bool rg_columns__spread(rg_tape *t, const rg_columns_block *b, const rg_readers *readers, const rg_tensor *x,
                        rg_real *dx, const rg_real *d)
{
    const rg_taps *p = b->taps;
    rg_arena_point scratch = rg_tape__scratch(t);
    spreading      s = { .b = b, .readers = readers, .x = x, .dx = dx, .d = d, .unit = b->from / p->out };
    s.lists = rg_tape__keep(t, (size_t)rg_team_size(rg_tape_team(t)) * p->K * sizeof *s.lists);
    if (s.lists) rg_tape__rows(t, units_of(b) * p->in, p->K * b->D, spread_rows, &s);
    rg_tape__release(t, scratch);
    return s.lists != NULL;
}

/* ----------------------------------------------------------------------------------------------- channel by channel */

bool rg_columns__in_planes(const rg_taps *p, size_t D)
{
    enum { FEW = 8 };
    return rg_columns__bordered(p) && p->window.stride == 1 && D < FEW;
}

/* One channel of a picture: `from` is where d^T holds output pixel (0, 0) for tap 0 of the channel. A tap goes over
 * all lines before the next one, because what was just stored cannot be loaded yet. */
static void spread_plane(const spreading *s, rg_real *plane, const rg_real *from)
{
    const rg_taps  *p = s->b->taps;
    const rg_window w = p->window;
    const size_t    width = p->layout->width, height = p->layout->height, step = s->b->D * s->b->rows;
    for (size_t jy = w.height; jy-- > 0;)
        for (size_t jx = w.width; jx-- > 0;) {
            /* the first pixel that the tap reaches along both sides, where that comes from, and how many there are */
            const size_t   left = jx > w.padding ? jx - w.padding : 0, x = left + w.padding - jx;
            const size_t   top = jy > w.padding ? jy - w.padding : 0, y = top + w.padding - jy;
            const size_t   across = least(p->width - least(left, p->width), width - least(x, width));
            const size_t   down = least(p->height - least(top, p->height), height - least(y, height));
            const rg_real *run = from + (jy * w.width + jx) * step + y * width + x;
            rg_real       *to = plane + top * p->width + left;
            for (size_t line = 0; line < down; line++, to += p->width, run += width)
                rg_kernel()->add(across, to, to, run);
        }
}

static void spread_pictures(void *context, int member, size_t begin, size_t end)
{
    const spreading *s = context;
    const rg_taps   *p = s->b->taps;
    rg_real         *plane = s->planes + (size_t)member * p->in;
    for (size_t unit = begin; unit < end; unit++)
        for (size_t c = 0; c < s->b->D; c++) {
            rg_real *to = s->dx + (s->unit + unit) * p->in * s->x->ld + c;
            if (s->fresh) memset(plane, 0, p->in * sizeof *plane);
            else
                for (size_t i = 0; i < p->in; i++) plane[i] = to[i * s->x->ld];
            spread_plane(s, plane, s->d + c * s->b->rows + unit * p->out);
            for (size_t i = 0; i < p->in; i++) to[i * s->x->ld] = plane[i];
        }
}

bool rg_columns__spread_planes(rg_tape *t, const rg_columns_block *b, const rg_tensor *x, rg_real *dx, bool fresh,
                               const rg_real *d)
{
    const rg_taps *p = b->taps;
    rg_arena_point scratch = rg_tape__scratch(t);
    spreading      s = { .b = b, .x = x, .dx = dx, .d = d, .unit = b->from / p->out, .fresh = fresh };
    s.planes = rg_tape__reals(t, (size_t)rg_team_size(rg_tape_team(t)) * p->in);
    if (s.planes) rg_tape__rows(t, units_of(b), p->in * p->K * b->D, spread_pictures, &s);
    rg_tape__release(t, scratch);
    return s.planes != NULL;
}
