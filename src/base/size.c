/* size.c - sums and products of sizes that came from outside. */
#include "regard/base.h"

bool rg_size_add(size_t *out, size_t a, size_t b)
{
    if (a > SIZE_MAX - b) return false;
    *out = a + b;
    return true;
}

bool rg_size_mul(size_t *out, size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    *out = a * b;
    return true;
}

bool rg_size_align(size_t *out, size_t a, size_t align)
{
    size_t sum;
    if (align == 0 || (align & (align - 1)) != 0 || !rg_size_add(&sum, a, align - 1)) return false;
    *out = sum & ~(align - 1);
    return true;
}
