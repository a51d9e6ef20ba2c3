/* finite.h - is every number of an array finite? */
#ifndef RG_BASE_FINITE_H
#define RG_BASE_FINITE_H

#include "regard/safetensors.h"

/* The place of the first of `count` numbers that is infinite or not a number; `count` when all are finite. Types
 * without such values (integers, bool) are finite. F8_E4M3 has no infinity: seven set bits are its not-a-number. */
size_t rg_finite_until(rg_dtype dtype, const void *data, size_t count);

#endif
