/* columns.h - what windows see, side by side: row i of the columns of x (N, D) is [ x[at_0] | x[at_1] | ... ], K D
 * wide, zeros outside.
 *
 * `gather` makes them, `spread` adds their gradient back to the rows they came from. Each has a plain version, tap
 * by tap, which says what the fast one must equal bit for bit: a row of dx takes what arrives in the order of the
 * output rows. */
#ifndef RG_AUTOGRAD_COLUMNS_H
#define RG_AUTOGRAD_COLUMNS_H

#include "autograd/taps.h"

/* Numbers behind a block of columns that gather may write. */
enum { RG_COLUMNS_SLACK = 16 };

/* Output rows from .. from + rows - 1 of all units. */
typedef struct rg_columns_block {
    const rg_taps *taps;
    size_t         D, from, rows;
} rg_columns_block;

bool rg_columns__bordered(const rg_taps *taps); /* gathered from pictures with a border; otherwise tap by tap */
/* Numbers of scratch that gathering such a block takes from the tape. */
size_t rg_columns__padded(const rg_taps *taps, size_t D, size_t rows);
/* False: no memory, latched. */
bool   rg_columns__gather(rg_tape *t, const rg_columns_block *b, const rg_tensor *x, rg_real *columns);
void   rg_columns__gather_plain(const rg_columns_block *b, const rg_tensor *x, rg_real *columns);

/* Windows as the left side of a product, without columns: f(windows w + bias) to the rows of y, w in panels, for wide
 * runs. False when this cannot be done so; no memory: latched. */
bool rg_columns__direct(const rg_taps *taps, size_t D);
bool rg_columns__multiply(rg_tape *t, const rg_taps *taps, const rg_tensor *x, const rg_pack *w, const rg_real *bias,
                          rg_activation f, rg_tensor *y);

/* Who reads a row: row p of a unit is tap j of output row i for every i * K + j of item[first[p]] .. item[first[p +
 * 1] - 1], rising. */
typedef struct rg_readers {
    const int32_t *first, *item;
} rg_readers;
bool   rg_columns__readers(rg_readers *out, rg_tape *t, const rg_taps *taps); /* lives in the tape's memory */
size_t rg_columns__readers_bytes(const rg_taps *taps);

/* dx (rows as far apart as x's) += the columns' gradient d (rows, K D). */
bool rg_columns__spread(rg_tape *t, const rg_columns_block *b, const rg_readers *readers, const rg_tensor *x,
                        rg_real *dx, const rg_real *d);
void rg_columns__spread_plain(const rg_columns_block *b, const rg_tensor *x, rg_real *dx, const rg_real *d);

/* The same from d^T (K D, rows), for windows that move by one pixel over pictures of few channels; the block holds
 * whole pictures. `fresh`: dx holds nothing yet and is written. */
bool rg_columns__in_planes(const rg_taps *taps, size_t D);
bool rg_columns__spread_planes(rg_tape *t, const rg_columns_block *b, const rg_tensor *x, rg_real *dx, bool fresh,
                               const rg_real *d);

#endif
