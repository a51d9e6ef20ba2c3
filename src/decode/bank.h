/* bank.h - rows that a decoder carries from one step to the next, a row a hypothesis: states, cells, attention vectors. */
#ifndef RG_DECODE_BANK_H
#define RG_DECODE_BANK_H

#include "regard/model.h"

enum { RG_BANK_BLOCKS = 40 };

typedef struct rg_bank {
    struct {
        rg_real *data, *spare;
        size_t   rows, cols, room; /* room in numbers */
    } block[RG_BANK_BLOCKS];
} rg_bank;

/* Take the numbers of x, which stay when its tape is reset. NULL x is passed over (its op has failed). */
rg_status  rg_bank_put(rg_bank *bank, size_t block, const rg_tensor *x);
rg_tensor *rg_bank_use(rg_tape *t, const rg_bank *bank, size_t block); /* borrowed, until the next put or keep */
rg_status  rg_bank_keep(rg_bank *bank, const int32_t *parents, size_t n); /* every block: row i becomes row parents[i] */
void       rg_bank_fini(rg_bank *bank);

#endif
