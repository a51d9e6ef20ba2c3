/* spatial.h - places in pictures: grids of spatial transformers, enlarging, glimpses.
 *
 *   theta --rg_affine_grid--> places --rg_sample (conv.h)--> pixels at these places
 *
 * A pixel is a row; a picture is a group of a layout with height and width. Normalised places run from -1 (the
 * middle of the first pixel) to 1 (the middle of the last one), x to the right and y down, so that (0, 0) is the
 * middle of the picture. */
#ifndef REGARD_SPATIAL_H
#define REGARD_SPATIAL_H

#include "regard/conv.h"

RG_API_BEGIN

/* Where each pixel of G pictures of height x width comes from, (G * height * width, 2), in pixels of pictures of `from`
 * (Jaderberg et al. 2015, "Spatial transformer networks"). (u, v) is the normalised place in the result; theta maps it
 * to the input.
 *
 *   affine      theta (G, 6)     x = t0 u + t1 v + t2                  y = t3 u + t4 v + t5
 *   attention   theta (G, 3)     x = t0 u + t1                         y = t0 v + t2
 *   projective  theta (G, 8)     x, y as affine, over t6 u + t7 v + 1, which is kept above 0.1 */
rg_tensor *rg_affine_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width);
rg_tensor *rg_attention_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width);
rg_tensor *rg_projective_grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, size_t height, size_t width);

/* Pictures of another size, each pixel between its four neighbours; pixels are squares (the middle of the first one
 * is at 1/2), and what lies outside is as the nearest edge. */
rg_tensor *rg_upsample(rg_tape *t, rg_tensor *x, size_t height, size_t width);

/* What a retina sees around a place (Mnih et al. 2014, "Recurrent models of visual attention"): `scales` square
 * patches, of `patch` pixels, twice and four times as many, ..., each brought to patch x patch by means; zeros
 * outside the picture. No gradient, neither to the pixels nor to the places. places: (x, y) of each picture in -1 ..
 * 1, where 1 is `unit` pixels from the middle; unit 0: the border. (G, scales * patch * patch * D) */
typedef struct rg_retina {
    size_t patch, scales;
    double unit;
} rg_retina;
rg_tensor *rg_glimpse(rg_tape *t, rg_tensor *pictures, const rg_tensor *places, const rg_retina *retina);

/* A draw from N(mean, deviation^2) for every number, a constant: no gradient. Numbers of row i depend on the seed,
 * the step and the number first + i of the row, not on the rows beside it. */
rg_tensor *rg_normal_around(rg_tape *t, const rg_tensor *mean, double deviation, uint64_t first);

RG_API_END
#endif
