/* grid.h - places of a spatial transformer from its parameters, in one pass. */
#ifndef RG_AUTOGRAD_GRID_H
#define RG_AUTOGRAD_GRID_H

#include "autograd/tape.h"

/* Row (g, v, u) of the result (rows of `layout`, 2) is where pixel (u, v) of picture g comes from, in pixels of pictures
 * of `from`. theta (G, 6) is affine, (G, 8) projective; u and v run from -1 to 1 (regard/spatial.h):
 *
 *   x = (t0 u + t1 v + t2) / w      y = (t3 u + t4 v + t5) / w      w = 1, or t6 u + t7 v + 1 kept in 0.1 .. 1e6
 *   px = (x + 1) (width - 1) / 2    py = (y + 1) (height - 1) / 2 */
rg_tensor *rg_tape__grid(rg_tape *t, rg_tensor *theta, const rg_layout *from, const rg_layout *layout);

#endif
