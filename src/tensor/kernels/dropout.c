/* dropout.c - dropout whose mask is drawn anew wherever it is needed, or kept as bits: Philox4x32-10 (Salmon et al.
 * 2011), RG_LANES blocks at a time. Lane l of the four registers is block number base + l; element e of the stream
 * is word e mod 4 of block e / 4. */
#include "tensor/kernels/isa.h"
#include "tensor/kernels/kept.h"

typedef struct words {
    uvec of[4];
} words;

/* Even lanes of x times m: 32 x 32 -> 64 bits. */
INLINE uvec64 times(uvec64 x, uint32_t m)
{
#if RG_LANES == 16 && defined(__AVX512F__)
    return (uvec64)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64((long long)m));
#elif RG_LANES == 8 && defined(__AVX2__)
    return (uvec64)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x((long long)m));
#elif RG_LANES == 4 && defined(__SSE2__)
    return (uvec64)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x((long long)m));
#elif RG_LANES == 4 && defined(__aarch64__)
    return (uvec64)vmull_u32(vmovn_u64((uint64x2_t)x), vdup_n_u32(m));
#else
    return (x & 0xffffffffu) * (uint64_t)m;
#endif
}

INLINE void multiply(uvec *high, uvec *low, uvec x, uint32_t m)
{
    uvec64 even = times((uvec64)x, m), odd = times((uvec64)x >> 32, m);
#if RG_LANES == 8 && defined(__AVX2__)
    *low = (uvec)_mm256_blend_epi32((__m256i)even, (__m256i)(odd << 32), 0xaa);
    *high = (uvec)_mm256_blend_epi32((__m256i)(even >> 32), (__m256i)odd, 0xaa);
#else
    *low = (uvec)((even & 0xffffffffu) | (odd << 32));
    *high = (uvec)((even >> 32) | (odd & 0xffffffff00000000u));
#endif
}

/* Blocks from `block` on, TWINS registers of them: a round waits for its products, so two go side by side. */
enum { TWINS = 2 };

INLINE void philox(words *out, uint64_t block, uint64_t stream, const uint32_t key[2])
{
    static const uint32_t lane[16]
        __attribute__((aligned(64))) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    const uvec zero = {0};
    uvec c0[TWINS], c1[TWINS], c2[TWINS], c3[TWINS];
    UNROLL for (size_t w = 0; w < TWINS; w++)
    {
        const uint64_t first = block + w * LANES;
        c0[w] = *(const uvec *)lane + (uint32_t)first;
        c1[w] = zero + (uint32_t)(first >> 32) - (uvec)(c0[w] < zero + (uint32_t)first); /* carry: a true comparison is -1 */
        c2[w] = zero + (uint32_t)stream;
        c3[w] = zero + (uint32_t)(stream >> 32);
    }
    uvec k0 = zero + key[0], k1 = zero + key[1];
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
        UNROLL for (size_t w = 0; w < TWINS; w++)
        {
            uvec high0, low0, high1, low1;
            multiply(&high0, &low0, c0[w], 0xD2511F53u);
            multiply(&high1, &low1, c2[w], 0xCD9E8D57u);
            c0[w] = high1 ^ c1[w] ^ k0;
            c1[w] = low1;
            c2[w] = high0 ^ c3[w] ^ k1;
            c3[w] = low0;
        }
    UNROLL for (size_t w = 0; w < TWINS; w++) out[w] = (words){{c0[w], c1[w], c2[w], c3[w]}};
}

#if RG_LANES == 8
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 0, 4, 1, 5)
#define HIGH64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 2, 6, 3, 7)
#elif RG_LANES == 4
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 0, 2)
#define HIGH64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 1, 3)
#else
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH64(a, b) (uvec) __builtin_shufflevector((uvec64)(a), (uvec64)(b), 4, 12, 5, 13, 6, 14, 7, 15)
#endif

enum { DRAWS = TWINS * 4 * RG_LANES }; /* of one call */

/* The draws of elements 4 block .. 4 block + DRAWS, in their order. */
static void draw(uint32_t *out, uint64_t block, uint64_t stream, const uint32_t key[2])
{
    words w[TWINS];
    philox(w, block, stream, key);
    UNROLL for (size_t i = 0; i < TWINS; i++, out += 4 * LANES)
    {
        uvec low01 = LOW(w[i].of[0], w[i].of[1]), low23 = LOW(w[i].of[2], w[i].of[3]);
        uvec high01 = HIGH(w[i].of[0], w[i].of[1]), high23 = HIGH(w[i].of[2], w[i].of[3]);
        *(loose_uvec *)(out + 0 * LANES) = LOW64(low01, low23);
        *(loose_uvec *)(out + 1 * LANES) = HIGH64(low01, low23);
        *(loose_uvec *)(out + 2 * LANES) = LOW64(high01, high23);
        *(loose_uvec *)(out + 3 * LANES) = HIGH64(high01, high23);
    }
}

void ISA(dropout)(size_t n, float *y, const float *x, float p, const uint32_t key[2], uint64_t stream,
                  uint64_t position, bool add)
{
    NARROW((n + 7) / 8, dropout, (n, y, x, p, key, stream, position, add)) /* fewer blocks in a turn */
    uint32_t draws[DRAWS + RG_LANES] __attribute__((aligned(64))) = {0}; /* loads at the end may reach over it */
    const uvec least = (uvec){0} + rg_dropout_least(p);
    const vec factor = same(rg_dropout_factor(p));
    for (size_t at = 0; at < n;) {
        uint64_t element = position + at;
        size_t skip = (size_t)(element % 4), count = DRAWS - skip < n - at ? DRAWS - skip : n - at;
        draw(draws, element / 4, stream, key);
        for (size_t i = 0; i < count; i += LANES) {
            size_t c = count - i < LANES ? count - i : LANES;
            ivec keep = (ivec)(*(const loose_uvec *)(draws + skip + i) >= least);
            vec kept = (vec)((ivec)(get(x + at + i, c) * factor) & keep);
            put(y + at + i, add ? get(y + at + i, c) + kept : kept, c);
        }
        at += count;
    }
}

/* Whether eight draws stay: a byte. */
INLINE uint8_t staying(const uint32_t *draws, uint32_t least)
{
#if RG_LANES == 8 && defined(__AVX2__)
    const uvec keep = (uvec)(*(const loose_uvec *)draws >= (uvec){0} + least);
    return (uint8_t)_mm256_movemask_ps((__m256)keep);
#else
    unsigned byte = 0;
    UNROLL for (unsigned b = 0; b < 8; b++) byte |= (unsigned)(draws[b] >= least) << b;
    return (uint8_t)byte;
#endif
}

void ISA(dropout_mask)(size_t n, uint8_t *bits, float p, const uint32_t key[2], uint64_t stream, uint64_t position)
{
    NARROW((n + 7) / 8, dropout_mask, (n, bits, p, key, stream, position))
    enum { ROUND = DRAWS - 8 }; /* bits of a turn: whole bytes, wherever in a block the first of them lies */
    uint32_t draws[DRAWS + 8] __attribute__((aligned(64))) = {0};
    const uint32_t least = rg_dropout_least(p);
    const size_t skip = (size_t)(position % 4), round = skip ? ROUND : DRAWS;
    for (size_t at = 0; at < n; at += round) {
        const size_t count = n - at < round ? n - at : round;
        draw(draws, (position + at) / 4, stream, key);
        for (size_t i = 0; i < count; i += 8) bits[(at + i) / 8] = staying(draws + skip + i, least);
    }
    if (n % 8) bits[n / 8] &= (uint8_t)((1u << n % 8) - 1);
}

void ISA(dropout_by)(size_t n, float *y, const float *x, float p, const uint8_t *bits, bool add)
{
    const vec factor = same(rg_dropout_factor(p));
    for (size_t i = 0; i < n; i += LANES) {
        const size_t c = n - i < LANES ? n - i : LANES;
        const vec kept = (vec)((ivec)(get(x + i, c) * factor) & lanes_kept(bits, i, n));
        put(y + i, add ? get(y + i, c) + kept : kept, c);
    }
}

/* Both halves of a word draw: a block is the eight bits of a byte. */
void ISA(dropout_bits)(size_t bytes, uint8_t *bits, float p, const uint32_t key[2], uint64_t stream, uint64_t position)
{
    NARROW(bytes, dropout_bits, (bytes, bits, p, key, stream, position))
    const uvec least = (uvec){0} + (uint32_t)(((uint64_t)rg_dropout_least(p) + 0x8000u) >> 16);
    for (size_t at = 0; at < bytes; at += TWINS * LANES) {
        const size_t some = bytes - at < TWINS * LANES ? bytes - at : TWINS * LANES;
        uint32_t byte[TWINS * RG_LANES] __attribute__((aligned(64)));
        words w[TWINS];
        philox(w, position + at, stream, key);
        UNROLL for (size_t i = 0; i < TWINS; i++)
        {
            uvec mine = {0};
            UNROLL for (uint32_t k = 0; k < 4; k++) mine |= ((uvec)((w[i].of[k] & 0xffffu) >= least) & (1u << 2 * k)) |
                                                            ((uvec)((w[i].of[k] >> 16) >= least) & (2u << 2 * k));
            *(loose_uvec *)(byte + i * LANES) = mine;
        }
        for (size_t i = 0; i < some; i++) bits[at + i] = (uint8_t)byte[i];
    }
}
