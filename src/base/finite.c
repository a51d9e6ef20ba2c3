/* finite.c - the search for a number that is not finite.
 *
 *     infinite or not a number   <=>   all bits of the exponent are set   <=>   (bits & mask) == mask
 *
 * No early exit inside a block, so that compilers turn the loop into vector instructions and it runs at memory
 * speed. */
#include "base/finite.h"

#include <string.h>

enum { BLOCK = 4096 };

#define ALL_FINITE(name, type)                                                   \
    static bool name(const unsigned char *bytes, size_t count, uint64_t mask_of) \
    {                                                                            \
        const type mask = (type)mask_of;                                         \
        type       bits, odd = 0;                                                \
        for (size_t i = 0; i < count; i++) {                                     \
            memcpy(&bits, bytes + i * sizeof bits, sizeof bits);                 \
            odd = (type)(odd | (type)((bits & mask) == mask));                   \
        }                                                                        \
        return odd == 0;                                                         \
    }
ALL_FINITE(finite8, uint8_t)
ALL_FINITE(finite16, uint16_t)
ALL_FINITE(finite32, uint32_t)
ALL_FINITE(finite64, uint64_t)

static const struct {
    rg_dtype dtype;
    bool (*all)(const unsigned char *bytes, size_t count, uint64_t mask);
    uint64_t mask;
} kinds[] = {
    { RG_DTYPE_F32, finite32, 0x7F800000 }, { RG_DTYPE_F64, finite64, (uint64_t)0x7FF << 52 },
    { RG_DTYPE_F16, finite16, 0x7C00 },     { RG_DTYPE_BF16, finite16, 0x7F80 },
    { RG_DTYPE_F8_E5M2, finite8, 0x7C },    { RG_DTYPE_F8_E4M3, finite8, 0x7F },
};

size_t rg_finite_until(rg_dtype dtype, const void *data, size_t count)
{
    const unsigned char *bytes = data;
    const size_t         width = rg_dtype_bytes(dtype);
    size_t               k = 0;
    while (k < sizeof kinds / sizeof *kinds && kinds[k].dtype != dtype) k++;
    if (k == sizeof kinds / sizeof *kinds) return count;
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t n = count - begin < BLOCK ? count - begin : BLOCK;
        if (kinds[k].all(bytes + begin * width, n, kinds[k].mask)) continue;
        while (kinds[k].all(bytes + begin * width, 1, kinds[k].mask)) begin++;
        return begin;
    }
    return count;
}
