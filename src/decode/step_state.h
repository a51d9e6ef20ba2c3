/* step_state.h - rows that a decoder carries from one step to the next, one row per hypothesis: states, cells,
 * attention vectors. */
#ifndef RG_DECODE_STEP_STATE_H
#define RG_DECODE_STEP_STATE_H

#include "regard/model.h"

enum { RG_STEP_STATE_BLOCKS = 40 };

typedef struct rg_step_state {
    struct {
        rg_real *data, *spare;
        size_t   rows, cols, room; /* room in numbers */
    } block[RG_STEP_STATE_BLOCKS];
} rg_step_state;

/* Take the numbers of x, which stay when its tape is reset. NULL x is passed over (its op has failed). */
rg_status  rg_step_state_put(rg_step_state *carried, size_t block, const rg_tensor *x);
rg_tensor *rg_step_state_use(rg_tape *t, const rg_step_state *carried, size_t block); /* borrowed, until the next put or keep */
rg_status  rg_step_state_keep(rg_step_state *carried, const int32_t *parents, size_t n); /* every block: row i becomes row parents[i] */
void       rg_step_state_fini(rg_step_state *carried);

#endif
