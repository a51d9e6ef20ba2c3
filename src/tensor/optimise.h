/* optimise.h - the loops of the optimiser's pass, one table for each instruction set.
 *
 * All arrays are blocks of the same length with the same offsets; a call works on numbers at .. at + n of each of
 * them. Every function is elementwise, or (squares) folds fixed lanes, so how a range is cut into calls is the only
 * thing that shows in a sum of squares and nothing shows in an update. */
#ifndef RG_TENSOR_OPTIMISE_H
#define RG_TENSOR_OPTIMISE_H

#include "tensor/kernels.h"

/* What one step does to a number w with gradient g. */
typedef enum rg_rule {
    RG_RULE_DESCENT,  /* w -= rate g                                                                    */
    RG_RULE_MOMENTUM, /* m = a m + g;                     w -= rate m                                   */
    RG_RULE_NESTEROV, /* m = a m + g;                     w -= rate (g + a m)                           */
    RG_RULE_ADAM,     /* m = a m + (1-a) g;  v = b v + (1-b) g^2;  w -= rate1 m / (sqrt(v) rate2 + eps)  */
    RG_RULE_ADADELTA, /* v = b v + (1-b) g^2;  s = g sqrt(d + eps) / sqrt(v + eps);  d = b d + (1-b) s^2;  w -= rate s */
    RG_RULE_ADAGRAD,  /* v += g^2;                        w -= rate g / (sqrt(v) + eps)                 */
    RG_RULE_RMSPROP,  /* v = b v + (1-b) g^2;  m = a m + g / (sqrt(v) + eps);                 w -= rate m */
    RG_RULE_CENTRED,  /* and d = b d + (1-b) g;  m = a m + g / (sqrt(v - d^2) + eps);         w -= rate m */
    RG_RULE_GRAVES    /* as centred, but m = a m + rate g / sqrt(v - d^2 + eps);              w -= m      */
} rg_rule;

typedef struct rg_update {
    rg_rule  rule;
    rg_real *w;          /* the parameters                                       */
    rg_real *m, *v, *d;  /* state; NULL where the rule has none                  */
    rg_real *average;    /* smoothed parameters, or NULL                         */
    rg_real  scale;      /* of the summed gradient: 1 / count, clipping included */
    rg_real  limit;      /* then each number is cut to +- limit; 0: not          */
    rg_real  decay;      /* then g += decay w                                    */
    rg_real  keep;       /* w is multiplied by this first (decoupled decay)      */
    rg_real  rate, a, b, eps;
    rg_real  rate1, rate2; /* Adam's corrected rate / (1 - a^t) and 1 / sqrt(1 - b^t) */
    rg_real  smooth;     /* average += smooth (w - average)                      */
} rg_update;

typedef struct rg_optimise {
    const char *name;
    /* The workers' gradients are summed in their order; none of them counts as zero. */
    void (*update)(const rg_update *u, const rg_real *const *grads, size_t workers, size_t at, size_t n);
    double (*squares)(const rg_real *const *grads, size_t workers, size_t at, size_t n);
    /* Part of a pack (kernels.h) from rows x cols of w, rows ld apart. `panels` is where the part's first row (first
     * column when transposed) of its first panel goes; K is the pack's. Rows (when transposed) and columns start at
     * multiples of RG_PANEL. `stream`: past the caches, for packs larger than those. */
    void (*pack)(rg_real *panels, size_t K, const rg_real *w, size_t ld, size_t rows, size_t cols, bool stream);
    void (*pack_transposed)(rg_real *panels, size_t K, const rg_real *w, size_t ld, size_t rows, size_t cols,
                            bool stream);
} rg_optimise;

/* The one that goes with the table rg_kernel() gives. */
const rg_optimise *rg_optimise_chosen(void);
/* By the name of an instruction set, for tests that walk rg_kernels_all(); `plain` when there is none of that name. */
const rg_optimise *rg_optimise_find(const char *name);

#endif
