/* sound.h - what the parts of src/data/sound share: a Fourier transform of a power of two. */
#ifndef REGARD_DATA_SOUND_SOUND_H
#define REGARD_DATA_SOUND_SOUND_H

#include "regard/sound.h"

/* X_k = sum_n x_n exp(-2 pi i n k / N), in place. */
typedef struct rg_fourier {
    size_t    n;
    double   *cosine, *sine; /* of 2 pi k / n, k < n / 2 */
    uint32_t *reversed;      /* bits of the index        */
} rg_fourier;

rg_status rg_fourier__init(rg_fourier *out, size_t n); /* n: a power of two, 2 at least */
void      rg_fourier__fini(rg_fourier *f);
void      rg_fourier__run(const rg_fourier *f, double *re, double *im);
/* x_n = 1/N sum_k X_k exp(2 pi i n k / N), in place. */
void rg_fourier__back(const rg_fourier *f, double *re, double *im);

#endif
