/* plan.h - how rows of the left side are cut into register tiles, and those into blocks; gemm.c and pack.c agree on
 * it. */
#ifndef RG_TENSOR_KERNELS_PLAN_H
#define RG_TENSOR_KERNELS_PLAN_H

#include <stddef.h>

/* The tallest tile of each instruction set, and how many panels wide a tile of R rows is. */
#if RG_LANES == 16
enum { TALLEST = 8 };
#define SHAPES(X) X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(5, 3) X(6, 3) X(7, 3) X(8, 3)
#elif RG_LANES == 8 || defined(__aarch64__)
enum { TALLEST = 6 };
#define SHAPES(X) X(1, 2) X(2, 2) X(3, 1) X(4, 1) X(5, 1) X(6, 1)
#else
enum { TALLEST = 3 };
#define SHAPES(X) X(1, 2) X(2, 1) X(3, 1)
#endif

/* Rows of a block: about equal blocks of at most 72 rows (with 2048 columns of A 576 KiB, half of L2) and of whole
 * tiles. */
static inline size_t block_rows(size_t M)
{
    enum { MOST = 72, WHOLE = 24 }; /* WHOLE: a multiple of every TALLEST */
    size_t blocks = (M + MOST - 1) / MOST;
    return M ? (((M + blocks - 1) / blocks + WHOLE - 1) / WHOLE) * WHOLE : WHOLE;
}

/* Rows as runs of equal tiles: tallest ones, then the rest. One, two or four rows left over join the last tall tile
 * and are cut again in the middle, because low tiles are slow. */
typedef struct run {
    size_t R, count, first;
} run;

static inline size_t plan(run runs[3], size_t M)
{
    size_t tall = M / TALLEST, rest = M % TALLEST, second = 0, used = 0;
    if (TALLEST == 6 && tall > 0 && (rest == 1 || rest == 2 || rest == 4)) {
        tall--;
        second = (rest + TALLEST) / 2;
        rest = rest + TALLEST - second;
    }
    size_t at = tall * TALLEST;
    if (tall) runs[used++] = (run){TALLEST, tall, 0};
    if (rest) runs[used++] = (run){rest, rest == second ? 2 : 1, at};
    if (second && second != rest) runs[used++] = (run){second, 1, at + rest};
    return used;
}

#endif
