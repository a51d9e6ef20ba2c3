/* kept.h - bits of dropout's masks as lanes. */
#ifndef RG_TENSOR_KERNELS_KEPT_H
#define RG_TENSOR_KERNELS_KEPT_H

#include "tensor/kernels/vec.h"

INLINE ivec lanes_of_bits(uint32_t some) /* lane l: all ones where bit l is set, else 0 */
{
    static const int32_t one[16]
        __attribute__((aligned(64))) = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 };
    const ivec mine = *(const ivec *)one;
    return (mine & same_int((int32_t)some)) == mine;
}

/* Numbers `at` .. at + LANES - 1 of a mask of n bits, as lanes of all ones (kept) or zeros; `at` a multiple of
 * LANES. */
INLINE ivec lanes_kept(const uint8_t *bits, size_t at, size_t n)
{
    uint32_t some = (uint32_t)bits[at / 8] >> at % 8;
    if (LANES > 8 && at + 8 < n) some |= (uint32_t)bits[at / 8 + 1] << 8;
    return lanes_of_bits(some);
}

/* The same of c <= LANES bits that start anywhere; lanes from c on are anything. No byte is read that has none of
 * them. */
INLINE ivec lanes_kept_from(const uint8_t *bits, size_t at, size_t c)
{
    const uint8_t *byte = bits + at / 8, *last = bits + (at + c - 1) / 8;
    uint32_t some = byte[0];
    if (last > byte) some |= (uint32_t)byte[1] << 8;
    if (LANES > 8 && last > byte + 1) some |= (uint32_t)byte[2] << 16;
    return lanes_of_bits(some >> at % 8);
}

#endif
