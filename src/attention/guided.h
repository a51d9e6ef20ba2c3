/* guided.h - a loss that draws attention to given keys. */
#ifndef RG_ATTENTION_GUIDED_H
#define RG_ATTENTION_GUIDED_H

#include "regard/attention.h"

/* - sum over queries with a marked key of log (the weights of their marked keys): a (P, H) over `reach`, mark[P] on the
 * tape, of one head or (-1) of the mean of the heads. (1, 1). */
rg_tensor *rg_guided_loss(rg_tape *t, rg_tensor *a, const rg_reach *reach, const unsigned char *mark, int head);

#endif
