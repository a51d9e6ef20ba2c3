/* state.h - the inside of a state: keys with a text or with bytes. Numbers are texts. */
#ifndef RG_TRAIN_STATE_H
#define RG_TRAIN_STATE_H

#include "regard/train.h"

typedef struct rg_state_entry {
    char  *key;
    void  *value; /* a text ends with 0, which `bytes` does not count */
    size_t bytes;
    bool   text;
} rg_state_entry;

struct rg_state {
    rg_state_entry *entry;
    size_t          count, room;
};

rg_status rg_state__add(rg_state *state, const rg_state *from); /* everything another one holds */

#endif
