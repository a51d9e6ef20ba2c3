/* conv.h - convolution and pooling over the rows of groups: words of a sentence, pixels of a picture.
 *
 *   y[i] = f(b + sum_j x[i + offset_j] w_j)        tap j has the rows j D .. (j+1) D of w (taps * D, E)
 *
 * A tap that falls outside the group reads zeros: no sentence or picture sees another one. Pictures are layouts with
 * height and width, row y * width + x being pixel (x, y); their taps go line by line. */
#ifndef REGARD_CONV_H
#define REGARD_CONV_H

#include "regard/ops.h"

RG_API_BEGIN

/* A window over time. Causal: it ends at the row itself. Centred: it reaches (taps - 1) / 2 rows back. */
typedef struct rg_time_window {
    size_t taps, dilation;
    bool   causal;
} rg_time_window;
#define RG_TIME_WINDOW_DEFAULT { .taps = 3, .dilation = 1 }

/* f(x * w + b): (N, D) -> (N, E); w (taps * D, E), b (1, E) or NULL. */
rg_tensor *rg_conv1d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f,
                     const rg_time_window *window);
/* Each column by itself: w (taps, D), b (1, D) or NULL. With rg_linear after it: a separable convolution, k n d + n
 * d^2. */
rg_tensor *rg_depthwise1d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_time_window *window);

/* A window over a picture; `padding` lines and columns of zeros on every side, and `end` more below and to the right
 * (other programs pad a stride of two so). ceil: a last window that is not whole is taken too, if it begins before
 * the zeros of that end. same: instead of `padding` and `end`, as many zeros on each axis as ceil(side / stride)
 * places need, the smaller half before the picture (TensorFlow's SAME). */
typedef struct rg_window {
    size_t height, width, stride, padding, dilation, end;
    bool   ceil, same;
} rg_window;
#define RG_WINDOW_DEFAULT { .height = 3, .width = 3, .stride = 1, .padding = 1, .dilation = 1 }

/* (G * H * W, D) -> (G * H' * W', E) with H' = (H + 2 padding + end - dilation (height - 1) - 1) / stride + 1, W'
 * alike; w (height * width * D, E). rg_window_places gives H' of H, or 0 when the window does not fit. */
size_t     rg_window_places(size_t side, size_t taps, const rg_window *window);
rg_tensor *rg_conv2d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, rg_activation f, const rg_window *window);
rg_tensor *rg_depthwise2d(rg_tape *t, rg_tensor *x, rg_tensor *w, rg_tensor *b, const rg_window *window); /* w (height * width, D) */

/* The largest, and the mean, of each column in the window; what lies outside the picture does not count. The mean of
 * a whole picture is rg_mean_groups. */
rg_tensor *rg_max_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window);
rg_tensor *rg_average_pool2d(rg_tape *t, rg_tensor *x, const rg_window *window);

/* Bilinear sampling: pictures x (G * H * W, D) read at places (N, 2), (x, y) in pixels with (0, 0) the middle of the
 * first pixel; group g of the places reads picture g. (N, D), with the layout of the places; zeros outside.
 * Gradients to the pixels and to the places. */
rg_tensor *rg_sample(rg_tape *t, rg_tensor *x, rg_tensor *places);

RG_API_END
#endif
