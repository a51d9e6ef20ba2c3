/* packed_keys.h - keys and values of groups of rows in the panels that the fused dot product reads. */
#ifndef RG_ATTENTION_PACKED_KEYS_H
#define RG_ATTENTION_PACKED_KEYS_H

#include "tensor/tensor.h"

/* For group g, head h: K^T (dk, n) in panels, then V (n, dv) in panels. Rows that do not begin a group stand at
 * SIZE_MAX. */
typedef struct rg_packed_keys {
    size_t         H, dk, dv;
    const rg_real *values; /* the numbers of v: whose panels these are */
    size_t        *at;     /* (Nk) where the group that begins at this row starts in `data` */
    size_t        *count;  /* (Nk) and its rows */
    rg_real       *data;
} rg_packed_keys;

/* Panels of keys k0 .. k1 and of their values, or false when these are not packed as one group. */
bool rg_packed_keys__find(const rg_tensor *k, const rg_tensor *v, size_t H, size_t k0, size_t k1, size_t h,
                          rg_real **keys, rg_real **values);

#endif
