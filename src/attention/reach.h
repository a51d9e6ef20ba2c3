/* reach.h - walking the pairs of a reach. */
#ifndef RG_ATTENTION_REACH_H
#define RG_ATTENTION_REACH_H

#include "regard/attention.h"

/* The key row of pair p of query i. */
static inline size_t rg_reach__key(const rg_reach *r, size_t i, size_t p)
{
    return r->key ? (size_t)r->key[p] : (size_t)r->begin[i] + (p - r->first[i]);
}

#endif
