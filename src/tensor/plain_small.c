/* plain_small.c - products with weights of one or two bytes in ordinary loops: the reference of the tests, and the
 * only ones of the library in double. Formulas in int8.h. */
#include "tensor/plain_small.h"

#include "tensor/int8.h"

static void quantize(size_t K, void *left, float *scale, const rg_real *x)
{
    int16_t *to = left;
    uint32_t most = 0;
    for (size_t k = 0; k < K; k++) {
        const uint32_t size = rg_int8_magnitude((float)x[k]);
        if (size > most) most = size;
    }
    const float inverse = rg_int8_inverse(scale, most);
    for (size_t k = 0; k < K; k++) to[k] = inverse > 0 ? (int16_t)rg_int8_round((float)x[k] * inverse) : 0;
    if (K % 2) to[K] = 0;
}

static void gemm(size_t M, size_t N, size_t K, const void *left, const float *left_scale, const rg_int8_right *right,
                 rg_real *c, size_t ldc, bool add, const rg_real *bias)
{
    const size_t row = ((K + 1) / 2 * 4 + 63) / 64 * 64;
    for (size_t m = 0; m < M; m++) {
        const int16_t *x = (const int16_t *)(const void *)((const char *)left + m * row);
        for (size_t n = 0; n < N; n++) {
            const int8_t *w = right->panels + n / RG_PANEL * ((K + 1) / 2 * 2 * RG_PANEL) + n % RG_PANEL * 2;
            int32_t       sum = right->start[n];
            for (size_t k = 0; k < K; k++) sum += x[k] * w[k / 2 * 2 * RG_PANEL + k % 2];
            const float factor = left_scale[m] * right->scale[n], y = (float)sum * factor;
            rg_real    *to = c + m * ldc + n;
            *to = add ? *to + (rg_real)y : bias ? (rg_real)y + bias[n] : (rg_real)y;
        }
    }
}

extern const rg_int8_loops rg_plain_int8;
const rg_int8_loops rg_plain_int8 = { "plain", 2, 0, quantize, gemm };

/* --------------------------------------------------------------------------------------------------------- bfloat16 */

void rg_plain__gemm_bf16(size_t M, size_t N, size_t K, const rg_real *a, size_t lda, const uint16_t *panels, rg_real *c,
                         size_t ldc, bool add, const rg_real *bias)
{
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            const uint16_t *w = panels + n / RG_PANEL * K * RG_PANEL + n % RG_PANEL;
            rg_real         sum = add ? c[m * ldc + n] : 0;
            for (size_t k = 0; k < K; k++) sum += a[m * lda + k] * (rg_real)rg_bf16_float(w[k * RG_PANEL]);
            c[m * ldc + n] = bias ? sum + bias[n] : sum;
        }
}
