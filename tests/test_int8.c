/* Weights of one and two bytes: the integer products of every instruction set against plain loops, bit for bit, at
 * all shapes and at the ends of the range; what becomes of rows that cannot be quantised; and weights into packs and
 * out of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/faults.h"
#include "tensor/int8.h"
#include "tensor/product.h"

#ifdef EMULATED
enum { LARGEST = 200000 };
#else
enum { LARGEST = 3000000 };
#endif

static float *numbers(size_t n, uint64_t seed, double size)
{
    float    *x = rg_alloc((n + 1) * sizeof *x);
    rg_random random = rg_random_new(seed, 3);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (float)(size * (2 * rg_random_uniform(&random) - 1));
    return x;
}

/* The definition, in 64 bits and by libm's rounding: what int8.h says, and nothing of its code. */
static void quantize(size_t n, size_t step, int *q, float *scale, const float *x)
{
    float most = 0;
    for (size_t i = 0; i < n; i++) most = fabsf(x[i * step]) > most ? fabsf(x[i * step]) : most;
    *scale = most < 0x1p-100f ? 0 : most / 127.0f;
    const float inverse = 127.0f / most;
    for (size_t i = 0; i < n; i++) {
        volatile float product = *scale > 0 ? x[i * step] * inverse : 0;
        q[i] = (int)lrintf(product);
        assert_in_range(q[i] + 127, 0, 254);
    }
}

static void by_definition(size_t M, size_t N, size_t K, const float *a, size_t lda, const float *b, float *c,
                          size_t ldc, bool add, const float *bias)
{
    int   *p = rg_alloc((K + 1) * sizeof *p), *q = rg_alloc((N * K + 1) * sizeof *q);
    float *scale = rg_alloc(N * sizeof *scale), row;
    for (size_t n = 0; n < N; n++) quantize(K, N, q + n * K, scale + n, b + n);
    for (size_t m = 0; m < M; m++) {
        quantize(K, 1, p, &row, a + m * lda);
        for (size_t n = 0; n < N; n++) {
            int64_t sum = 0;
            for (size_t k = 0; k < K; k++) sum += (int64_t)p[k] * q[n * K + k];
            volatile float factor = row * scale[n], y = (float)sum * factor;
            float         *to = c + m * ldc + n;
            *to = add ? *to + y : bias ? y + bias[n] : y;
        }
    }
    rg_free(p);
    rg_free(q);
    rg_free(scale);
}

/* What rg_small_set makes, for the loops of any instruction set. */
typedef struct {
    int8_t       *panels;
    float        *scale;
    int32_t      *start;
    rg_int8_right right;
} packed;

static packed pack_for(const rg_int8_loops *l, size_t K, size_t N, const float *b)
{
    const size_t columns = (N + RG_PANEL - 1) / RG_PANEL * RG_PANEL, panel = rg_int8_panel_bytes(l, K);
    packed       p = { rg_alloc_zero(columns / RG_PANEL * panel + 1),
                       rg_alloc_zero(columns * sizeof(float)),
                       rg_alloc_zero(columns * sizeof(int32_t)),
                       { 0 } };
    int         *q = rg_alloc((K + 1) * sizeof *q);
    for (size_t n = 0; n < N; n++) {
        quantize(K, N, q, p.scale + n, b + n);
        for (size_t k = 0; k < K; k++) {
            p.panels[n / RG_PANEL * panel + k / l->group * l->group * RG_PANEL + n % RG_PANEL * l->group +
                     k % l->group] = (int8_t)q[k];
            p.start[n] -= l->offset * q[k];
        }
    }
    rg_free(q);
    p.right = (rg_int8_right){ p.panels, p.scale, p.start };
    return p;
}

static void drop(packed *p)
{
    rg_free(p->panels);
    rg_free(p->scale);
    rg_free(p->start);
}

static void multiply(const rg_int8_loops *l, size_t M, size_t N, size_t K, const float *a, size_t lda,
                     const rg_int8_right *right, float *c, size_t ldc, bool add, const float *bias)
{
    const size_t row = rg_int8_left_bytes(l, K);
    char        *left = rg_alloc(M * row + 64);
    float       *scale = rg_alloc(M * sizeof *scale);
    memset(left, 77, M * row);
    for (size_t m = 0; m < M; m++) l->quantize(K, left + m * row, scale + m, a + m * lda);
    l->gemm(M, N, K, left, scale, right, c, ldc, add, bias);
    rg_free(left);
    rg_free(scale);
}

#define EACH_LOOPS(l) for (const rg_int8_loops *const *all_ = rg_int8_all(), *l; (l = *all_) != NULL; all_++)

static void compare(size_t M, size_t N, size_t K, const float *a, const float *b, const char *what)
{
    const size_t lda = K + 3, ldc = N + 5, size = (M - 1) * ldc + N;
    float       *bias = numbers(N, 4, 1);
    EACH_LOOPS(l)
    {
        packed p = pack_for(l, K, N, b);
        for (int form = 0; form < 3; form++) {
            float *want = numbers(size, 5, 1), *got = numbers(size, 5, 1);
            by_definition(M, N, K, a, lda, b, want, ldc, form == 1, form == 2 ? bias : NULL);
            multiply(l, M, N, K, a, lda, &p.right, got, ldc, form == 1, form == 2 ? bias : NULL);
            if (memcmp(got, want, size * sizeof *got) != 0)
                for (size_t i = 0; i < size; i++)
                    if (got[i] != want[i])
                        fail_msg("%s, %s, form %d, %zu x %zu x %zu: (%zu, %zu) is %.9g, not %.9g", what, l->name, form,
                                 M, N, K, i / ldc, i % ldc, (double)got[i], (double)want[i]);
            rg_free(want);
            rg_free(got);
        }
        drop(&p);
    }
    rg_free(bias);
}

static void every_instruction_set_gives_the_bits_of_the_definition(void **state)
{
    (void)state;
    static const size_t Ms[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 70 }, Ns[] = { 1, 3, 15, 16, 17, 31, 48, 49, 100 },
                        Ks[] = { 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 33, 64, 255, 1024 };
    for (size_t i = 0; i < sizeof Ms / sizeof *Ms; i++)
        for (size_t j = 0; j < sizeof Ns / sizeof *Ns; j++)
            for (size_t k = 0; k < sizeof Ks / sizeof *Ks; k++) {
                const size_t M = Ms[i], N = Ns[j], K = Ks[k];
                if (M * N * K > LARGEST) continue;
                float *a = numbers(M * (K + 3), 1 + i, 3), *b = numbers(K * N, 2 + j, 0.1);
                compare(M, N, K, a, b, "random");
                rg_free(a);
                rg_free(b);
            }
}

/* 127 * 127 everywhere: 16-bit sums of products of bytes would be clamped, and a sum that is one off is seen. */
static void the_ends_of_the_range_are_exact(void **state)
{
    (void)state;
    static const size_t Ks[] = { 2, 64, 511, 4096, 20000 };
    for (size_t i = 0; i < sizeof Ks / sizeof *Ks; i++)
        for (int signs = 0; signs < 5; signs++) {
            const size_t M = 3, N = 17, K = Ks[i];
            float       *a = numbers(M * (K + 3), 1, 1), *b = numbers(K * N, 2, 1);
            for (size_t j = 0; j < M * (K + 3); j++) a[j] = signs & 1 || (signs == 4 && j % 2) ? -5.0f : 5.0f;
            for (size_t j = 0; j < K * N; j++) b[j] = signs & 2 || (signs == 4 && j / N % 2) ? -0.25f : 0.25f;
            compare(M, N, K, a, b, "extreme");
            rg_free(a);
            rg_free(b);
        }
}

static void ties_go_to_even_and_small_rows_to_zero(void **state)
{
    (void)state;
    const size_t M = 6, N = 20, K = 40;
    float       *a = numbers(M * (K + 3), 1, 1), *b = numbers(K * N, 2, 1);
    for (size_t k = 0; k < K; k++) {
        a[k] = (float)k - 0.5f;
        a[K + 3 + k] = 0;
        a[2 * (K + 3) + k] = k == 7 ? 1e-38f : 0;       /* not enough to divide by */
        a[3 * (K + 3) + k] = k == 9 ? 0x1p-100f : 0;    /* just enough */
        a[4 * (K + 3) + k] = k == 11 ? 3.4e38f : -1.7e38f;
        a[5 * (K + 3) + k] = k % 2 ? -0.0f : 0.0f;
    }
    a[0] = 127;
    compare(M, N, K, a, b, "ties");
    for (size_t k = 0; k < K; k++) b[k * N] = 0; /* a column of zeros */
    compare(M, N, K, a, b, "zeros");
    rg_free(a);
    rg_free(b);
}

static void a_row_with_what_is_no_number_gives_no_numbers_and_no_other_row_does(void **state)
{
    (void)state;
    static const float bad[] = { INFINITY, -INFINITY, NAN };
    const size_t       M = 9, N = 33, K = 50;
    for (size_t i = 0; i < 3; i++)
        EACH_LOOPS(l)
        {
            float *a = numbers(M * K, 1, 1), *b = numbers(K * N, 2, 1), *c = numbers(M * N, 3, 1);
            packed p = pack_for(l, K, N, b);
            a[4 * K + 49] = bad[i];
            multiply(l, M, N, K, a, K, &p.right, c, N, false, NULL);
            for (size_t m = 0; m < M; m++)
                for (size_t n = 0; n < N; n++) assert_int_equal(isnan(c[m * N + n]) != 0, m == 4);
            drop(&p);
            rg_free(a);
            rg_free(b);
            rg_free(c);
        }
}

/* ------------------------------------------------------------------------------------------------------- packs */

static void weights_come_out_of_a_pack_as_they_went_in(void **state)
{
    (void)state;
    const size_t K = 37, N = 21;
    for (int turned = 0; turned < 2; turned++) {
        rg_small     s, again;
        float       *w = numbers(K * N, 2, 1), scale[21], other[21], column[37], row[21];
        int8_t       q[37 * 21], back[37 * 21];
        const size_t r = turned ? 1 : N, step = turned ? K : 1;
        assert_int_equal(rg_small_init(&s, RG_SMALL_INT8, K, N), RG_OK);
        assert_int_equal(rg_small_init(&again, RG_SMALL_INT8, K, N), RG_OK);
        rg_small_set(&s, 0, 10, w, r, step);
        rg_small_set(&s, 10, N - 10, w + 10 * step, r, step);
        rg_small_get_int8(&s, q, r, step, scale);
        rg_small_put_int8(&again, q, r, step, scale);
        rg_small_get_int8(&again, back, r, step, other);
        assert_memory_equal(q, back, sizeof q);
        assert_memory_equal(scale, other, sizeof scale);
        for (size_t n = 0; n < N; n++) {
            assert_int_equal(s.right.start[n], again.right.start[n]);
            rg_small_column(&s, n, column);
            for (size_t k = 0; k < K; k++) {
                assert_true(column[k] == (float)q[k * r + n * step] * scale[n]);
                assert_true(fabsf(column[k] - w[k * r + n * step]) <= scale[n] * 0.501f);
                rg_small_row(&s, k, row);
                assert_true(row[n] == column[k]);
            }
        }
        rg_small_fini(&s);
        rg_small_fini(&again);
        rg_free(w);
    }
}

static void too_large_packs_are_refused_before_they_are_made(void **state)
{
    (void)state;
    rg_small s;
    assert_int_equal(rg_small_init(&s, RG_SMALL_INT8, RG_INT8_MOST_K + 1, 16), RG_ELIMIT);
    assert_int_equal(rg_small_init(&s, RG_SMALL_INT8, 1000, SIZE_MAX / 100), RG_ELIMIT);
    assert_int_equal(rg_small_init(&s, RG_SMALL_BF16, SIZE_MAX / 8, 3), RG_ELIMIT);
    rg_small_fini(&s);
    faults_fail_alloc(1, false);
    assert_int_equal(rg_small_init(&s, RG_SMALL_INT8, 10, 10), RG_ENOMEM);
    faults_off();
    rg_small_fini(&s);
}

static void bfloat16_rounds_to_the_nearest(void **state)
{
    (void)state;
    assert_true(rg_bf16_float(rg_bf16_round(1.0f)) == 1.0f);
    assert_true(rg_bf16_float(rg_bf16_round(1.0f + 0x1p-8f)) == 1.0f);                 /* a tie, to even */
    assert_true(rg_bf16_float(rg_bf16_round(1.0f + 0x1.8p-7f)) == 1.0f + 0x1p-6f);     /* a tie, to even */
    assert_true(rg_bf16_float(rg_bf16_round(-(1.0f + 0x1.02p-8f))) == -(1.0f + 0x1p-7f));
    assert_true(isfinite(rg_bf16_float(rg_bf16_round(3.4028235e38f))));
    assert_true(rg_bf16_float(rg_bf16_round(1e-40f)) >= 0);
}

/* The chain of fused multiply-adds that gemm_packed makes of the rounded weights. */
static void bfloat16_products_have_the_bits_of_float_on_rounded_weights(void **state)
{
    (void)state;
    static const size_t Ms[] = { 1, 2, 3, 4, 5, 9 }, Ns[] = { 1, 16, 33, 64, 70 }, Ks[] = { 0, 1, 33, 200 };
    for (const rg_kernels *const *all = rg_kernels_all(); *all; all++)
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < 5; j++)
                for (size_t l = 0; l < 4; l++)
                    for (int add = 0; add < 2; add++) {
                        const rg_kernels *k = *all;
                        const size_t      M = Ms[i], N = Ns[j], K = Ks[l], size = rg_pack_size(K, N);
                        float *a = numbers(M * K, 1, 1), *panels = numbers(size, 2, 1), *c = numbers(M * N, 3, 1),
                              *want = numbers(M * N, 3, 1), *bias = numbers(N, 4, 1);
                        uint16_t *halves = rg_alloc((size + 1) * sizeof *halves);
                        for (size_t n = 0; n < size; n++)
                            panels[n] = rg_bf16_float(halves[n] = rg_bf16_round(panels[n]));
                        k->gemm_packed(M, N, K, a, K, panels, want, N, add, add ? NULL : bias, RG_IDENTITY);
                        k->gemm_bf16(M, N, K, a, K, halves, c, N, add, add ? NULL : bias);
                        for (size_t n = 0; n < M * N; n++)
                            if (c[n] != want[n])
                                fail_msg("%s %zu x %zu x %zu: %zu is %.9g, not %.9g", k->name, M, N, K, n, (double)c[n],
                                         (double)want[n]);
                        rg_free(a);
                        rg_free(panels);
                        rg_free(c);
                        rg_free(want);
                        rg_free(bias);
                        rg_free(halves);
                    }
}

/* ---------------------------------------------------------------------------------------------------- over a team */

static void neither_batch_mates_nor_teams_change_a_row(void **state)
{
    (void)state;
    const size_t M = 300, N = 200, K = 96;
    rg_team     *team;
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    for (int kind = 0; kind < 2; kind++) {
        rg_small      s;
        float        *a = numbers(M * K, 1, 1), *w = numbers(K * N, 2, 1), *bias = numbers(N, 4, 1),
              *all = numbers(M * N, 3, 1), one[200];
        const rg_pack pack = { K, N, NULL, &s };
        assert_int_equal(rg_small_init(&s, kind ? RG_SMALL_BF16 : RG_SMALL_INT8, K, N), RG_OK);
        rg_small_set(&s, 0, N, w, N, 1);
        assert_int_equal(rg_product_packed(team, M, a, K, &pack, all, N, false, bias, RG_TANH), RG_OK);
        for (size_t m = 0; m < M; m += 7) {
            assert_int_equal(rg_product_packed(NULL, 1, a + m * K, K, &pack, one, N, false, bias, RG_TANH), RG_OK);
            assert_memory_equal(one, all + m * N, sizeof one);
        }
        if (!kind) { /* no room for all rows as integers: few at a time */
            float *again = numbers(M * N, 5, 1);
            faults_fail_alloc(1, true);
            assert_int_equal(rg_product_packed(team, M, a, K, &pack, again, N, false, bias, RG_TANH), RG_OK);
            faults_off();
            assert_memory_equal(again, all, M * N * sizeof *all);
            rg_free(again);
        }
        rg_small_fini(&s);
        rg_free(a);
        rg_free(w);
        rg_free(bias);
        rg_free(all);
    }
    rg_team_free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_bits_of_the_definition),
        cmocka_unit_test(the_ends_of_the_range_are_exact),
        cmocka_unit_test(ties_go_to_even_and_small_rows_to_zero),
        cmocka_unit_test(a_row_with_what_is_no_number_gives_no_numbers_and_no_other_row_does),
        cmocka_unit_test(weights_come_out_of_a_pack_as_they_went_in),
        cmocka_unit_test(too_large_packs_are_refused_before_they_are_made),
        cmocka_unit_test(bfloat16_rounds_to_the_nearest),
        cmocka_unit_test(bfloat16_products_have_the_bits_of_float_on_rounded_weights),
        cmocka_unit_test(neither_batch_mates_nor_teams_change_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
