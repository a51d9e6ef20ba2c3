/* puzzles.h - sequences with an answer to be given from memory (Graves, Wayne, Danihelka 2014): made, not read.
 *
 *   copy          x x x x |          then the same vectors, without any input
 *   repeat-copy   x x x r            then the same r times, and an end mark
 *   recall        : a a a : b b b : c c c ; b b b ;      then c c c: the item after the one that is asked for
 *
 * Vectors are random bits; | : ; and r are two further input columns. All sequences of a batch have one shape.
 *
 * In the paper's coding every input is 0 at the steps of the answer, so that a vector of zeros looks like one of them.
 * With an answer mark these steps have an input that no other step has, in the two columns that are there already:
 *
 *                  |, r     :      ;      answer, paper   answer, marked
 *   copy           1 0      -      -      0 0             0 1
 *   repeat-copy    1 r      -      -      0 0             0 1
 *   recall         -        1 0    0 1    0 0             1 1 */
#ifndef REGARD_PUZZLES_H
#define REGARD_PUZZLES_H

#include "regard/tensor.h"

RG_API_BEGIN

typedef struct rg_puzzle_config {
    const char *kind;                    /* "copy" "repeat-copy" "recall"              */
    size_t      bits;                    /* of a vector                                */
    size_t      min_length, max_length;  /* vectors; recall: items of three vectors    */
    size_t      max_repeats;             /* repeat-copy                                */
    bool        answer_mark;             /* false: the paper's coding                  */
    double      zero_vectors;            /* share of vectors set to 0, beside those that random bits make so */
    size_t      zero_run;                /* copies, to test with: so many in a row, at a random place        */
} rg_puzzle_config;
#define RG_PUZZLE_CONFIG_DEFAULT { .kind = "copy", .bits = 8, .min_length = 1, .max_length = 20, .max_repeats = 10, \
                                   .answer_mark = true, .zero_vectors = 1.0 / 64 }

/* Limits, so that neither flags nor a model's file can ask for a sequence that takes minutes or gigabytes. */
enum {
    RG_PUZZLE_MOST_BITS = 1024,
    RG_PUZZLE_MOST_LENGTH = 10000,
    RG_PUZZLE_MOST_REPEATS = 1000,
    RG_PUZZLE_MOST_STEPS = 1 << 15,  /* of the longest sequence                            */
    RG_PUZZLE_MOST_NUMBERS = 1 << 24 /* its inputs and targets                             */
};

typedef struct rg_puzzle_batch {
    size_t    sequences, steps, answers; /* the last `answers` steps are the answer           */
    size_t    in, out;                   /* columns                                           */
    rg_layout layout;                    /* of input: a group a sequence                      */
    rg_real  *input, *target;            /* (sequences * steps, in), (sequences * answers, out) */
    int32_t  *start;
    size_t    room;
} rg_puzzle_batch;

rg_status rg_puzzle_check(const rg_puzzle_config *config); /* RG_EINVAL: what makes no sense, RG_ELIMIT: too long */
size_t    rg_puzzle_in(const rg_puzzle_config *config);
size_t    rg_puzzle_out(const rg_puzzle_config *config);

/* Fill `batch` (zeroed before its first use) with sequences that depend on seed and number alone. Lengths are drawn
 * once a number: batches first .. first + sequences - 1 of the same number share them. */
rg_status rg_puzzle_draw(rg_puzzle_batch *batch, const rg_puzzle_config *config, uint64_t seed, uint64_t number,
                         size_t first, size_t sequences);
void      rg_puzzle_free(rg_puzzle_batch *batch); /* and zero it */

RG_API_END
#endif
