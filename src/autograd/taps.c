/* taps.c - tables of what windows see: over time inside each group, over pictures. */
#include "autograd/taps.h"

bool rg_taps__time(rg_taps *out, rg_tape *t, const rg_layout *layout, const rg_time_window *window)
{
    if (!layout) return rg_tape_fail(t, RG_EINVAL, "rows without a layout have no neighbours");
    if (window->taps == 0 || window->dilation == 0 || window->taps > INT32_MAX / window->dilation)
        return rg_tape_fail(t, RG_EINVAL, "a window of %zu taps, %zu rows apart", window->taps, window->dilation);
    const size_t  N = (size_t)layout->start[layout->groups], K = window->taps;
    size_t        count, bytes;
    if (!rg_size_mul(&count, N, K) || !rg_size_mul(&bytes, count, sizeof(int32_t)))
        return rg_tape_fail(t, RG_ELIMIT, "%zu rows with %zu taps do not fit in memory", N, K);
    int32_t *at = rg_tape__keep(t, bytes);
    if (!at) return false;
    const int64_t back = (int64_t)((window->causal ? K - 1 : (K - 1) / 2) * window->dilation);
    for (size_t g = 0; g < layout->groups; g++)
        for (int64_t i = layout->start[g]; i < layout->start[g + 1]; i++)
            for (size_t j = 0; j < K; j++) {
                const int64_t row = i - back + (int64_t)(j * window->dilation);
                at[(size_t)i * K + j] = row >= layout->start[g] && row < layout->start[g + 1] ? (int32_t)row : -1;
            }
    *out = (rg_taps){ .K = K, .units = 1, .in = N, .out = N, .at = at, .layout = layout };
    return true;
}

/* Zeros on both sides of an axis by the rule `same`. */
static size_t same_padding(size_t side, size_t taps, const rg_window *w)
{
    const size_t need = ((side + w->stride - 1) / w->stride - 1) * w->stride + w->dilation * (taps - 1) + 1;
    return need > side ? need - side : 0;
}

static size_t padding_before(size_t side, size_t taps, const rg_window *w)
{
    return w->same ? same_padding(side, taps, w) / 2 : w->padding;
}

size_t rg_window_places(size_t side, size_t taps, const rg_window *w)
{
    size_t padded, extent;
    if (w->same && taps && taps <= INT32_MAX && w->stride && w->dilation && w->dilation <= INT32_MAX)
        return side / w->stride + (side % w->stride != 0);
    if (taps == 0 || w->stride == 0 || w->dilation == 0 || w->padding > INT32_MAX || w->end > INT32_MAX) return 0;
    if (!rg_size_add(&padded, side, 2 * w->padding + w->end) || !rg_size_mul(&extent, w->dilation, taps - 1) ||
        padded <= extent)
        return 0;
    const size_t free = padded - extent - 1, whole = free / w->stride + 1;
    return w->ceil && free % w->stride && whole * w->stride < side + w->padding ? whole + 1 : whole;
}

static int32_t *picture_table(rg_tape *t, const rg_layout *layout, const rg_window *w, size_t height, size_t width)
{
    const int64_t H = (int64_t)layout->height, W = (int64_t)layout->width, apart = (int64_t)w->dilation;
    const int64_t above = (int64_t)padding_before(layout->height, w->height, w),
                  before = (int64_t)padding_before(layout->width, w->width, w);
    int32_t      *at = rg_tape__keep(t, height * width * w->height * w->width * sizeof *at), *to = at;
    for (size_t i = 0; at && i < height; i++)
        for (size_t j = 0; j < width; j++) {
            const int64_t top = (int64_t)(i * w->stride) - above, left = (int64_t)(j * w->stride) - before;
            for (int64_t y = top; y < top + (int64_t)w->height * apart; y += apart)
                for (int64_t x = left; x < left + (int64_t)w->width * apart; x += apart)
                    *to++ = y >= 0 && x >= 0 && y < H && x < W ? (int32_t)(y * W + x) : -1;
        }
    return at;
}

static const rg_layout *pictures(rg_tape *t, const rg_layout *from, size_t height, size_t width)
{
    if (from->height == height && from->width == width) return from;
    const size_t size = height * width, was = from->height * from->width;
    if (from->groups && size > INT32_MAX / from->groups)
        return (void *)rg_tape_fail(t, RG_ELIMIT, "%zu pictures of %zu x %zu", from->groups, height, width);
    rg_layout *layout = rg_tape__keep(t, sizeof *layout);
    int32_t   *start = rg_tape__keep(t, (from->groups + 1) * sizeof *start);
    if (!layout || !start) return NULL;
    for (size_t g = 0; g <= from->groups; g++) start[g] = (int32_t)(g * size);
    *layout = (rg_layout){ .groups = from->groups, .start = start, .height = height, .width = width, .first = from->first / was * size };
    return layout;
}

/* The rule `same` as an ordinary border where that is as wide on all sides, which is gathered faster. */
static rg_window plain_border(const rg_window *w, const rg_layout *layout)
{
    rg_window    plain = *w;
    const size_t down = w->same ? same_padding(layout->height, w->height, w) : 0,
                 across = w->same ? same_padding(layout->width, w->width, w) : 0;
    if (!w->same || down != across || down % 2) return plain;
    plain.same = false, plain.end = 0, plain.ceil = false;
    plain.padding = down / 2;
    return plain;
}

bool rg_taps__window(rg_taps *out, rg_tape *t, const rg_layout *layout, const rg_window *w)
{
    if (!layout || !layout->height || !layout->width)
        return rg_tape_fail(t, RG_EINVAL, "rows whose layout has no height and width are no pictures");
    const size_t height = rg_window_places(layout->height, w->height, w),
                 width = rg_window_places(layout->width, w->width, w);
    if (!height || !width || height > INT32_MAX / width || w->height > INT32_MAX / w->width / height / width)
        return rg_tape_fail(t, RG_ESHAPE,
                            "a window of %zu x %zu (stride %zu, padding %zu, dilation %zu) over pictures of %zu x %zu",
                            w->height, w->width, w->stride, w->padding, w->dilation, layout->height, layout->width);
    const int32_t   *at = picture_table(t, layout, w, height, width);
    const rg_layout *result = pictures(t, layout, height, width);
    if (!at || !result) return false;
    *out = (rg_taps){ .K = w->height * w->width,
                      .units = layout->groups,
                      .in = layout->height * layout->width,
                      .out = height * width,
                      .at = at,
                      .layout = result,
                      .window = plain_border(w, layout),
                      .height = layout->height,
                      .width = layout->width };
    return true;
}
