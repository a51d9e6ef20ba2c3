/* Distance score: attention as kernel regression (Nadaraya 1964, Watson 1964):
 *
 *     e(q,k) = - |q - k|^2 / (2 h^2)        the softmax of it is the Gaussian kernel smoother with bandwidth h
 *
 * |q - k|^2 = |q|^2 + |k|^2 - 2 q.k, and |q|^2 is the same for all keys of a query: the softmax does not see it. The op keeps it,
 * so that the score itself is what the formula says. */
#include "attention/pairs.h"

#include <math.h>

static rg_status distance_init(rg_attention *att, rg_params *params)
{
    if (att->config.learned) /* log h: h stays positive */
        att->b = rg_params_add(params, "log_bandwidth", RG_VECTOR, 1, 1, RG_INIT_ZERO, 0);
    return RG_OK;
}

/* 1/h^2 as a tensor (1, 1): exp(-2 log h), h starting at config.bandwidth. */
static rg_tensor *precision(rg_tape *t, const rg_attention *att)
{
    rg_tensor *log_h = rg_shift(t, rg_use(t, att->b), log(att->config.bandwidth));
    return rg_map(t, rg_scale(t, log_h, -2), RG_EXP);
}

/* -|x|^2/2 of each head's block of each row: (N, H). One block of `width` columns serves all heads. */
static rg_tensor *minus_half_square(rg_tape *t, rg_tensor *x, size_t heads, size_t width)
{
    rg_tensor *part[64];
    if (heads > 64) return rg_tape_fail(t, RG_ELIMIT, "%zu heads; the distance score takes at most 64", heads);
    for (size_t h = 0; h < heads; h++) {
        if (h && rg_tensor_cols(x) == width) {
            part[h] = part[0];
            continue;
        }
        rg_tensor *block = rg_columns(t, x, h * width, width);
        part[h] = rg_scale(t, rg_dot_rows(t, block, block), -0.5);
    }
    return rg_concat_columns(t, heads, part);
}

static rg_tensor *distance_pairs(rg_tape *t, const rg_attention *att, rg_tensor *q, rg_tensor *k, const rg_reach *reach)
{
    const size_t H = att->config.heads, width = rg_tensor_cols(q) / H;
    rg_tensor   *product = rg_pairs_dot(t, q, k, reach, H, 1); /* refuses widths that do not fit */
    if (!product) return NULL;
    rg_tensor *squares = rg_pairs_add(t, minus_half_square(t, q, H, width), minus_half_square(t, k, H, width), reach);
    rg_tensor   *e = rg_add(t, product, squares); /* q.k - |q|^2/2 - |k|^2/2 = -|q-k|^2/2 */
    if (att->b) return rg_mul(t, e, precision(t, att));
    return rg_scale(t, e, 1 / (att->config.bandwidth * att->config.bandwidth));
}

const rg_score rg_score_distance = {
    .name = "distance",
    .formula = "-|q - k|^2 / (2 h^2)",
    .paper = "Nadaraya 1964, Watson 1964 (kernel regression)",
    .cost = "O(n d)",
    .note = "standardise the columns first; h can be learned",
    .init = distance_init,
    .pairs = distance_pairs,
    .one_width = true,
};
