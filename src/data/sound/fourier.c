/* fourier.c - the discrete Fourier transform of N = 2^m numbers (Cooley, Tukey 1965): indices in bit-reversed order,
 * then m passes of N/2 butterflies
 *
 *     a' = a + w b        b' = a - w b        w = exp(-2 pi i k / size)
 *
 * tests/test_sound.c compares it with the sum of the definition. */
#include <math.h>

#include "data/sound/sound.h"

rg_status rg_fourier__init(rg_fourier *out, size_t n)
{
    static const double turn = 6.283185307179586476925286766559;
    rg_fourier          f = { .n = n };
    if (n < 2 || n & (n - 1) || n > (size_t)1 << 24)
        return rg_fail(RG_EINVAL, "a Fourier transform of %zu numbers: a power of two is needed", n);
    f.cosine = rg_alloc_array(n, sizeof *f.cosine);
    f.reversed = rg_alloc_array(n, sizeof *f.reversed);
    if (!f.cosine || !f.reversed) {
        rg_fourier__fini(&f);
        return RG_ENOMEM;
    }
    f.sine = f.cosine + n / 2;
    for (size_t k = 0; k < n / 2; k++) {
        f.cosine[k] = cos(turn * (double)k / (double)n);
        f.sine[k] = sin(turn * (double)k / (double)n);
    }
    f.reversed[0] = 0;
    for (size_t i = 1; i < n; i++)
        f.reversed[i] = f.reversed[i >> 1] >> 1 | (i & 1 ? (uint32_t)(n >> 1) : 0);
    *out = f;
    return RG_OK;
}

void rg_fourier__fini(rg_fourier *f)
{
    rg_free(f->cosine);
    rg_free(f->reversed);
    *f = (rg_fourier){ 0 };
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

void rg_fourier__run(const rg_fourier *f, double *re, double *im)
{
    const size_t n = f->n;
    for (size_t i = 0; i < n; i++) {
        const size_t j = f->reversed[i];
        if (j <= i) continue;
        swap(re + i, re + j);
        swap(im + i, im + j);
    }
    for (size_t half = 1; half < n; half *= 2) {
        const size_t stride = n / (2 * half);
        for (size_t first = 0; first < n; first += 2 * half)
            for (size_t k = 0; k < half; k++) {
                const size_t a = first + k, b = a + half;
                const double c = f->cosine[k * stride], s = -f->sine[k * stride];
                const double x = c * re[b] - s * im[b], y = c * im[b] + s * re[b];
                re[b] = re[a] - x;
                im[b] = im[a] - y;
                re[a] += x;
                im[a] += y;
            }
    }
}

/* The inverse is the transform with real and imaginary parts exchanged, over N. */
void rg_fourier__back(const rg_fourier *f, double *re, double *im)
{
    rg_fourier__run(f, im, re);
    for (size_t i = 0; i < f->n; i++) {
        re[i] /= (double)f->n;
        im[i] /= (double)f->n;
    }
}
