/* gradient.h - gradients of the tape against central differences, number by number.
 *
 *     (L(x + h) - L(x - h)) / 2h        h = 1e-5, in double: relative error <= 1e-6, or 1e-9 absolute where both vanish
 *
 * A case names a function that computes something from inputs and parameters. What it returns is turned into one
 * number by a fixed random weight for each of its numbers (a 1 x 1 result is taken as it is). Every case is run with
 * its inputs worn in several ways, because ops see all of them: plain, as columns of something wider, as rows of
 * something taller, as pieces of a split, and used twice so that gradients add up. */
#ifndef REGARD_TESTS_GRADIENT_H
#define REGARD_TESTS_GRADIENT_H

#include "regard/ops.h"

enum { RG_GRADIENT_INPUTS = 8 };

typedef rg_tensor *rg_gradient_function(rg_tape *t, rg_tensor *const *x, void *context);

typedef struct rg_gradient_input {
    size_t           rows, cols;
    const rg_layout *layout;
    double           low, high; /* range of its numbers; both 0: -1 .. 1 */
} rg_gradient_input;

typedef struct rg_gradient_case {
    const char           *name;
    rg_gradient_function *function;
    void                 *context;
    rg_gradient_input     input[RG_GRADIENT_INPUTS]; /* ends at the first with no columns */
    rg_params            *params;                    /* built; NULL: none                 */
    bool                  no_learn;                  /* tape without learning             */
    bool                  plain_only;                /* do not wear the inputs otherwise  */
    size_t                most;                      /* numbers of each parameter that are looked at, spread evenly; 0: all */
    double                floor;                     /* absolute error that is fine; 0: 1e-9 */
} rg_gradient_case;

/* Fails the running cmocka test with the name, the place and both numbers. */
void rg_expect_gradient(const rg_gradient_case *c);

/* Numbers that depend on the seed alone, in low .. high. */
void rg_test_fill(rg_real *x, size_t n, uint64_t seed, double low, double high);

#endif
