/* random.c - Philox4x32-10, a random number generator without state, and streams made of it.
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Ten rounds of
 *
 *     (c0, c1, c2, c3)  ->  (hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0))
 *
 * with the key stepped by two Weyl constants between rounds. */
#include "regard/base.h"

#include <math.h>

void rg_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    const uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u, weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)m0 * c0, p1 = (uint64_t)m1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += weyl0;
        k1 += weyl1;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The four draws position/4*4 .. +3 of a stream. */
static void block_at(uint32_t out[4], const rg_random *random)
{
    uint64_t block = random->position / 4;
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)random->stream,
                                  (uint32_t)(random->stream >> 32) };
    const uint32_t key[2] = { (uint32_t)random->seed, (uint32_t)(random->seed >> 32) };
    rg_philox(out, counter, key);
}

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* 64 bits from two draws of one block; an odd position skips one draw. */
static uint64_t next_u64(rg_random *random)
{
    uint32_t draws[4];
    random->position += random->position & 1;
    block_at(draws, random);
    unsigned lane = (unsigned)(random->position & 3);
    random->position += 2;
    return join(draws[lane], draws[lane + 1]);
}

rg_random rg_random_new(uint64_t seed, uint64_t stream)
{
    return (rg_random){ .seed = seed, .stream = stream, .position = 0 };
}

uint32_t rg_random_u32(rg_random *random)
{
    uint32_t draws[4];
    block_at(draws, random);
    return draws[random->position++ & 3];
}

uint64_t rg_random_below(rg_random *random, uint64_t bound)
{
    if (bound <= 1) return 0;
    uint64_t uneven = (UINT64_MAX - bound + 1) % bound; /* 2^64 mod bound: the lowest draws to throw away */
    uint64_t draw;
    do draw = next_u64(random);
    while (draw < uneven);
    return draw % bound;
}

double rg_random_uniform(rg_random *random)
{
    return (double)(next_u64(random) >> 11) * 0x1p-53;
}

/* Box and Muller 1958: one block gives one number, so a stream needs no memory of a second one. */
double rg_random_normal(rg_random *random)
{
    const double two_pi = 6.283185307179586476925;
    uint32_t draws[4];
    random->position = (random->position + 3) & ~(uint64_t)3;
    block_at(draws, random);
    random->position += 4;
    double radius = (double)((join(draws[0], draws[1]) >> 11) + 1) * 0x1p-53; /* (0, 1] */
    double angle = (double)(join(draws[2], draws[3]) >> 11) * 0x1p-53;        /* [0, 1) */
    return sqrt(-2.0 * log(radius)) * cos(two_pi * angle);
}
