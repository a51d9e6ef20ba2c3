/* final.h - which gradients of parameters are final while the backward pass still runs.
 *
 *     nodes   1   2   3   4   5   6      w is first used behind node 2: only nodes 3 to 6 can add to its gradient,
 *     w             |--------------      which is final once the walk back has passed node 3
 *
 * This holds by construction: an op reaches a parameter only through a tensor that rg_use made before the op. The tape
 * notes first uses; the walk back marks; whoever sends gradients away meanwhile reads the marks from another thread. */
#ifndef RG_AUTOGRAD_FINAL_H
#define RG_AUTOGRAD_FINAL_H

#include <stdatomic.h>

#include "regard/base.h"

typedef struct rg_final {
    size_t       entries, used;
    size_t      *entry, *nodes; /* in the order of first use: which one, and how many nodes there were */
    bool        *is_used;       /* of each entry */
    atomic_bool *mark;          /* of each entry: nothing will be added any more */
} rg_final;

rg_status rg_final_new(rg_final **out, size_t entries);
void      rg_final_free(rg_final *f); /* NULL is fine */

void rg_final_forget_uses(rg_final *f); /* a new recording begins */
void rg_final_note_use(rg_final *f, size_t entry, size_t nodes);

/* Backward: the next entry that is final when `nodes` are left to walk; false: no more. It leaves the uses; the caller
 * marks it. */
bool rg_final_next(size_t *out_entry, rg_final *f, size_t nodes);

void rg_final_mark(rg_final *f, size_t entry);
void rg_final_mark_unused(rg_final *f);
void rg_final_mark_all(rg_final *f, bool final);
bool rg_final_is(const rg_final *f, size_t entry); /* from any thread: then its numbers can be read */

#endif
