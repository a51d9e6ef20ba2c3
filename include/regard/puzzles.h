/* puzzles.h - sequences with an answer to be given from memory (Graves, Wayne, Danihelka 2014): made, not read.
 *
 *   copy          x x x x |          then the same vectors, without any input
 *   repeat-copy   x x x r            then the same r times, and an end mark
 *   recall        : a a a : b b b : c c c ; b b b ;      then c c c: the item after the one that is asked for
 *
 * Vectors are random bits; | : ; and r are two further input columns. All sequences of a batch have one shape. */
#ifndef REGARD_PUZZLES_H
#define REGARD_PUZZLES_H

#include "regard/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_puzzle_config {
    const char *kind;                    /* "copy" "repeat-copy" "recall"              */
    size_t      bits;                    /* of a vector                                */
    size_t      min_length, max_length;  /* vectors; recall: items of three vectors    */
    size_t      max_repeats;             /* repeat-copy                                */
} rg_puzzle_config;
#define RG_PUZZLE_CONFIG_DEFAULT { .kind = "copy", .bits = 8, .min_length = 1, .max_length = 20, .max_repeats = 10 }

typedef struct rg_puzzle_batch {
    size_t    sequences, steps, answers; /* the last `answers` steps are the answer           */
    size_t    in, out;                   /* columns                                           */
    rg_layout layout;                    /* of input: a group a sequence                      */
    rg_real  *input, *target;            /* (sequences * steps, in), (sequences * answers, out) */
    int32_t  *start;
    size_t    room;
} rg_puzzle_batch;

rg_status rg_puzzle_check(const rg_puzzle_config *config); /* RG_EINVAL names what makes no sense */
size_t    rg_puzzle_in(const rg_puzzle_config *config);
size_t    rg_puzzle_out(const rg_puzzle_config *config);

/* Fill `batch` (zeroed before its first use) with sequences that depend on seed and number alone. Lengths are drawn once a number:
 * batches first .. first + sequences - 1 of the same number share them. */
rg_status rg_puzzle_draw(rg_puzzle_batch *batch, const rg_puzzle_config *config, uint64_t seed, uint64_t number, size_t first,
                         size_t sequences);
void      rg_puzzle_free(rg_puzzle_batch *batch); /* and zero it */

#ifdef __cplusplus
}
#endif
#endif
