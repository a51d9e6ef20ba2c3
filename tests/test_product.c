/* Products: against a chain of fmaf in plain loops (bit for bit where the table has FMA), against BLAS, and the
 * promise that a row's bits depend on nothing but the row: not on batch mates, strides, blocks, tiles or the team. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/faults.h"

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif

#include "tensor/product.h"

/* Under an emulator (-DEMULATED) a product costs a hundred times as much: the same shapes, fewer of the large ones. */
#ifdef EMULATED
enum { LARGEST = 200000, ROW_STEP = 9 };
#else
enum { LARGEST = 1500000, ROW_STEP = 1 };
#endif

#define EACH_TABLE(k) for (const rg_kernels *const *all_ = rg_kernels_all(), *k; (k = *all_) != NULL; all_++)

static float *numbers(size_t n, uint64_t seed)
{
    float *x = rg_alloc(n * sizeof *x);
    rg_random random = rg_random_new(seed, 3);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (float)(2 * rg_random_uniform(&random) - 1);
    return x;
}

static bool has_fma(const rg_kernels *k)
{
    return strcmp(k->name, "plain") != 0 && strcmp(k->name, "baseline") != 0;
}

/* The definition: one chain over k in rising order. Element (m, k) of A is a[m * row + k * step]. */
static void by_definition(size_t M, size_t N, size_t K, const float *a, size_t row, size_t step, const float *b,
                          float *c, size_t ldc, bool add)
{
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float sum = add ? c[m * ldc + n] : 0;
            for (size_t k = 0; k < K; k++) sum = fmaf(a[m * row + k * step], b[k * N + n], sum);
            c[m * ldc + n] = sum;
        }
}

/* Equal bits for tables with FMA, else nearly equal; the gaps between rows of C must hold what they held. */
static void expect(const rg_kernels *k, size_t M, size_t N, size_t K, const float *got, const float *want, size_t ldc)
{
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < ldc && m * ldc + n < (M - 1) * ldc + N; n++) {
            float g = got[m * ldc + n], w = want[m * ldc + n], room = n < N && !has_fma(k) ? 1e-6f * (float)(K + 1) : 0;
            if (!(fabsf(g - w) <= room))
                fail_msg("%s %zu x %zu x %zu: (%zu, %zu) is %.9g, not %.9g", k->name, M, N, K, m, n, (double)g,
                         (double)w);
        }
}

static void every_table_multiplies_in_one_chain(void **state)
{
    (void)state;
    static const size_t Ms[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17, 31, 250 }, Ns[] = { 1, 3, 9, 16, 17, 33, 100, 112 },
                        Ks[] = { 0, 1, 7, 33, 300 };
    EACH_TABLE(k)
    for (size_t i = 0; i < sizeof Ms / sizeof *Ms; i++)
        for (size_t j = 0; j < sizeof Ns / sizeof *Ns; j++)
            for (size_t l = 0; l < sizeof Ks / sizeof *Ks; l++) {
                size_t M = Ms[i], N = Ns[j], K = Ks[l], lda = K + l, ldc = N + j, size = (M - 1) * ldc + N;
                if (M * N * K > LARGEST) continue;
                float *a = numbers((M - 1) * lda + K, 1), *b = numbers(K * N, 2), *turned = numbers(N * K, 2),
                      *c = numbers(size, 3);
                float *want = numbers(size, 3), *panels = numbers(rg_pack_size(K, N), 4),
                      *again = numbers(rg_pack_size(K, N), 5);
                for (size_t n = 0; n < N; n++)
                    for (size_t x = 0; x < K; x++) turned[n * K + x] = b[x * N + n];
                k->pack(panels, b, N, K, N);
                k->pack_transposed(again, turned, K, K, N);
                assert_memory_equal(panels, again, rg_pack_size(K, N) * sizeof *panels);
                bool add = (i + j + l) % 2;
                k->gemm_packed(M, N, K, a, lda, panels, c, ldc, add, NULL, RG_IDENTITY);
                by_definition(M, N, K, a, lda, 1, b, want, ldc, add);
                expect(k, M, N, K, c, want, ldc);
                rg_free(a), rg_free(b), rg_free(turned), rg_free(c), rg_free(want), rg_free(panels), rg_free(again);
            }
}

static void tiles_give_the_same_bits(void **state)
{
    (void)state;
    static const size_t Ms[] = {1, 2, 5, 6, 7, 8, 13, 29, 247}, Ks[] = {1, 2, 7, 8, 9, 65};
    EACH_TABLE(k)
    for (size_t i = 0; i < sizeof Ms / sizeof *Ms; i++)
        for (size_t l = 0; l < sizeof Ks / sizeof *Ks; l++)
            for (int turned = 0; turned < 2; turned++) {
                size_t M = Ms[i], K = Ks[l], N = 37, wide = turned ? M : K, high = turned ? K : M, lda = wide + l % 3;
                float *a = numbers((high - 1) * lda + wide, 1), *b = numbers(K * N, 2), *c = numbers(M * N, 3),
                      *want = numbers(M * N, 3);
                float *panels = numbers(rg_pack_size(K, N), 4), *tiles = numbers(M * K, 5);
                k->pack(panels, b, N, K, N);
                k->pack_tiles(tiles, a, turned ? 1 : lda, turned ? lda : 1, M, K);
                k->gemm_tiles(M, N, K, tiles, panels, c, N, true);
                by_definition(M, N, K, a, turned ? 1 : lda, turned ? lda : 1, b, want, N, true);
                expect(k, M, N, K, c, want, N);
                rg_free(a), rg_free(b), rg_free(c), rg_free(want), rg_free(panels), rg_free(tiles);
            }
}

static void bias_and_activation_follow_the_product(void **state)
{
    (void)state;
    enum { M = 11, N = 45, K = 300 };
    EACH_TABLE(k)
    for (int f = 0; f < RG_ACTIVATIONS; f++) {
        float *a = numbers(M * K, 1), *b = numbers(K * N, 2), *bias = numbers(N, 9), *c = numbers(M * N, 3),
              *want = numbers(M * N, 3);
        float *panels = numbers(rg_pack_size(K, N), 4);
        for (size_t i = 0; i < N; i++) bias[i] += f == RG_LOG ? 60.0f : 0.0f;
        k->pack(panels, b, N, K, N);
        k->gemm_packed(M, N, K, a, K, panels, c, N, false, bias, (rg_activation)f);
        k->gemm_packed(M, N, K, a, K, panels, want, N, false, NULL, RG_IDENTITY);
        for (size_t m = 0; m < M; m++) k->add(N, want + m * N, want + m * N, bias);
        k->map((rg_activation)f, M * N, want, want);
        assert_memory_equal(c, want, M * N * sizeof *c);
        rg_free(a), rg_free(b), rg_free(bias), rg_free(c), rg_free(want), rg_free(panels);
    }
}

static void windows_give_the_bits_of_their_columns(void **state)
{
    (void)state;
    enum { LINES = 3, DOWN = 3, STEP = 7, WIDE = 400, MOST = 17 };
    static const size_t across[] = { 1, 5, 6, 8, 12, MOST }, runs[] = { 1, 20, 64 }, Ns[] = { 7, 32, 64, 119, 128 };
    EACH_TABLE(k)
    for (size_t i = 0; i < 6 * 3 * 5; i++) {
        const size_t M = across[i % 6], run = runs[i / 6 % 3], N = Ns[i / 18], K = LINES * run;
        float *a = numbers(WIDE * (LINES + DOWN), 1), *b = numbers(K * N, 2), *bias = numbers(N, 9);
        float *panels = numbers(rg_pack_size(K, N), 4), *columns = numbers(DOWN * MOST * K, 5);
        float *c = numbers(DOWN * MOST * N, 3), *want = numbers(DOWN * MOST * N, 3);
        const rg_windows windows = { .a = a, .across = M, .down = DOWN, .step = STEP, .fall = WIDE, .lines = LINES,
                                     .run = run, .line = WIDE };
        const rg_activation f = i % 2 ? RG_RELU : RG_TANH;
        for (size_t m = 0; m < DOWN * M; m++)
            for (size_t l = 0; l < LINES; l++)
                memcpy(columns + m * K + l * run, a + (m / M + l) * WIDE + m % M * STEP, run * sizeof *a);
        k->pack(panels, b, N, K, N);
        k->gemm_windows(&windows, N, panels, c, N, bias, f);
        k->gemm_packed(DOWN * M, N, K, columns, K, panels, want, N, false, bias, f);
        assert_memory_equal(c, want, DOWN * M * N * sizeof *c);
        rg_free(a), rg_free(b), rg_free(bias), rg_free(panels), rg_free(columns), rg_free(c), rg_free(want);
    }
}

static void a_row_does_not_see_its_batch(void **state)
{
    (void)state;
    enum { ROWS = 130, N = 83, K = 290, LDA = 301 };
    EACH_TABLE(k)
    {
        float *a = numbers(ROWS * LDA, 1), *b = numbers(K * N, 2), *panels = numbers(rg_pack_size(K, N), 4);
        float *all = numbers(ROWS * N, 3), *some = numbers(ROWS * (N + 5), 3), *dense = numbers(ROWS * K, 8);
        for (size_t m = 0; m < ROWS; m++) memcpy(dense + m * K, a + m * LDA, K * sizeof *a);
        k->pack(panels, b, N, K, N);
        k->gemm_packed(ROWS, N, K, a, LDA, panels, all, N, false, NULL, RG_TANH);
        for (size_t M = 1; M <= ROWS; M += ROW_STEP) {
            size_t first = (M * 7) % (ROWS - M + 1);
            k->gemm_packed(M, N, K, dense + first * K, K, panels, some, N + 5, false, NULL, RG_TANH);
            for (size_t m = 0; m < M; m++)
                assert_memory_equal(some + m * (N + 5), all + (first + m) * N, N * sizeof *some);
        }
        rg_free(a), rg_free(b), rg_free(panels), rg_free(all), rg_free(some), rg_free(dense);
    }
}

/* -------------------------------------------------------------------------------------------------- over teams */

static void reference(rg_product_form form, size_t M, size_t N, size_t K, const float *a, const float *b, float *c,
                      bool add)
{
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            double sum = add ? (double)c[m * N + n] : 0;
            for (size_t k = 0; k < K; k++)
                sum += (double)(form == RG_TN ? a[k * M + m] : a[m * K + k]) *
                       (double)(form == RG_NT ? b[n * K + k] : b[k * N + n]);
            c[m * N + n] = (float)sum;
        }
}

static void check_form(rg_product_form form, size_t M, size_t N, size_t K, bool add)
{
    float *a = numbers(M * K, 1), *b = numbers(K * N, 2), *want = numbers(M * N, 3), *first = NULL;
    reference(form, M, N, K, a, b, want, add);
    size_t lda = form == RG_TN ? M : K, ldb = form == RG_NT ? K : N;
    for (int members = 0; members <= 3; members++) { /* 0: no team */
        rg_team *team = NULL;
        if (members) assert_int_equal(rg_team_new(&team, members), RG_OK);
        float *c = numbers(M * N, 3);
        assert_int_equal(rg_product(team, form, M, N, K, a, lda, b, ldb, c, N, add), RG_OK);
        for (size_t i = 0; i < M * N; i++)
            if (!(fabsf(c[i] - want[i]) <= 3e-6f * sqrtf((float)K + 1)))
                fail_msg("form %d %zu x %zu x %zu", form, M, N, K);
        if (first) assert_memory_equal(c, first, M * N * sizeof *c);
        else first = numbers(M * N, 0), memcpy(first, c, M * N * sizeof *c);
        rg_free(c);
        rg_team_free(team);
    }
    rg_free(a), rg_free(b), rg_free(want), rg_free(first);
}

static void every_form_is_right_and_no_team_changes_it(void **state)
{
    (void)state;
    static const size_t shapes[][3] = { { 1, 1, 1 },      { 3, 7, 9 },       { 17, 33, 31 },
                                        { 130, 100, 70 }, { 64, 64, 64 },    { 5, 400, 600 },
                                        { 300, 40, 520 }, { 200, 2100, 20 }, { 33, 17, 0 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int form = RG_NN; form <= RG_TN; form++)
            for (int add = 0; add < 2; add++) {
                const size_t *n = shapes[s];
                if (n[0] * n[1] * n[2] > 8 * LARGEST && !(add && (size_t)form == s % 3)) continue; /* one form of each */
                check_form((rg_product_form)form, n[0], n[1], n[2], add);
            }
}

static void packed_and_unpacked_products_have_the_same_bits_on_any_team(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 700, 900}, {1, 256, 256}, {3, 300, 250},
                                       {40, 333, 700}, {600, 90, 300}, {260, 1000, 64}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t M = shapes[s][0], N = shapes[s][1], K = shapes[s][2];
        float *a = numbers(M * K, 1), *b = numbers(K * N, 2), *panels = numbers(rg_pack_size(K, N), 4),
              *want = numbers(M * N, 5);
        rg_kernel()->pack(panels, b, N, K, N);
        rg_pack pack = {K, N, panels, NULL};
        assert_int_equal(rg_product(NULL, RG_NN, M, N, K, a, K, b, N, want, N, false), RG_OK);
        for (int members = 1; members <= 3; members++) {
            rg_team *team = NULL;
            float *c = numbers(M * N, 6);
            assert_int_equal(rg_team_new(&team, members), RG_OK);
            assert_int_equal(rg_product_packed(team, M, a, K, &pack, c, N, false, NULL, RG_IDENTITY), RG_OK);
            assert_memory_equal(c, want, M * N * sizeof *c);
            rg_team_free(team);
            rg_free(c);
        }
        rg_free(a), rg_free(b), rg_free(panels), rg_free(want);
    }
}

static void one_row_is_shared_out_where_its_weights_are_worth_it(void **state)
{
    (void)state;
    rg_team *team;
    assert_int_equal(rg_product__panels_each(NULL, 1, 512, 100), 100);
    assert_int_equal(rg_team_new(&team, 3), RG_OK);
    assert_int_equal(rg_product__panels_each(team, 1, 256, 16), 8);     /* two members: 256 x 256 of a small model */
    assert_int_equal(rg_product__panels_each(team, 1, 256, 500), 167);  /* all three: its vocabulary */
    assert_int_equal(rg_product__panels_each(team, 1, 64, 4), 4);       /* a tiny model is not worth a helper */
    assert_int_equal(rg_product__panels_each(team, 200, 64, 4), 2);     /* by many rows it is */
    assert_int_equal(rg_product__panels_each(team, 4000, 4000, 2), 1);  /* no more members than panels */
    rg_team_free(team);
}

static void products_equal_those_of_blas(void **state)
{
    (void)state;
#ifdef HAVE_CBLAS
    enum { M = 190, N = 270, K = 310 };
    float *a = numbers(M * K, 1), *b = numbers(K * N, 2), *c = numbers(M * N, 3), *want = numbers(M * N, 3);
    for (int form = RG_NN; form <= RG_TN; form++) {
        int lda = form == RG_TN ? M : K, ldb = form == RG_NT ? K : N;
        cblas_sgemm(CblasRowMajor, form == RG_TN ? CblasTrans : CblasNoTrans, form == RG_NT ? CblasTrans : CblasNoTrans,
                    M, N, K, 1, a, lda, b, ldb, 1, want, N);
        assert_int_equal(rg_product(NULL, (rg_product_form)form, M, N, K, a, (size_t)lda, b, (size_t)ldb, c, N, true),
                         RG_OK);
        for (size_t i = 0; i < M * N; i++) assert_true(fabsf(c[i] - want[i]) <= 1e-4f);
    }
    rg_free(a), rg_free(b), rg_free(c), rg_free(want);
#else
    skip();
#endif
}

static void wrong_strides_are_refused_with_their_numbers(void **state)
{
    (void)state;
    float x[64] = {0};
    rg_pack pack = {8, 8, x, NULL};
    assert_int_equal(rg_product(NULL, RG_NN, 2, 8, 8, x, 7, x, 8, x, 8, false), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "7"));
    assert_int_equal(rg_product_packed(NULL, 2, x, 8, &pack, x, 5, false, NULL, RG_IDENTITY), RG_ESHAPE);
    assert_int_equal(rg_product_packed(NULL, 2, x, 8, &pack, x, 8, true, x, RG_IDENTITY), RG_EINVAL);
    assert_int_equal(rg_product(NULL, RG_NN, 0, 8, 8, x, 8, x, 8, x, 8, false), RG_OK);
}

typedef struct {
    int     members; /* 0: no team */
    float  *a, *b, *c;
} scarce;

/* A team of its own, one product of each form that packs, and everything given back. */
static rg_status multiply_once(void *context)
{
    scarce   *s = context;
    rg_team  *team = NULL;
    rg_status status = s->members ? rg_team_new(&team, s->members) : RG_OK;
    for (rg_product_form form = RG_NN; form <= RG_TN && status == RG_OK; form++)
        status = rg_product(team, form, 130, 130, 130, s->a, 130, s->b, 130, s->c, 130, false);
    rg_team_free(team);
    return status;
}

static void memory_that_runs_out_is_reported_and_c_is_left_alone(void **state)
{
    (void)state;
    for (int members = 0; members < 3; members++) {
        scarce s = { members, numbers(130 * 130, 1), numbers(130 * 130, 2), numbers(130 * 130, 3) };
        float *before = numbers(130 * 130, 3);
        faults_every_alloc(multiply_once, &s, NULL, false);
        rg_team *team = NULL;
        if (members) assert_int_equal(rg_team_new(&team, members), RG_OK);
        memcpy(s.c, before, 130 * 130 * sizeof *s.c);
        faults_fail_alloc(1, true);
        assert_int_equal(rg_product(team, RG_TN, 130, 130, 130, s.a, 130, s.b, 130, s.c, 130, false), RG_ENOMEM);
        faults_off();
        assert_memory_equal(s.c, before, 130 * 130 * sizeof *s.c);
        assert_int_equal(rg_product(team, RG_TN, 130, 130, 130, s.a, 130, s.b, 130, s.c, 130, false), RG_OK);
        rg_team_free(team);
        rg_free(s.a), rg_free(s.b), rg_free(s.c), rg_free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_multiplies_in_one_chain),
        cmocka_unit_test(tiles_give_the_same_bits),
        cmocka_unit_test(bias_and_activation_follow_the_product),
        cmocka_unit_test(windows_give_the_bits_of_their_columns),
        cmocka_unit_test(a_row_does_not_see_its_batch),
        cmocka_unit_test(every_form_is_right_and_no_team_changes_it),
        cmocka_unit_test(packed_and_unpacked_products_have_the_same_bits_on_any_team),
        cmocka_unit_test(one_row_is_shared_out_where_its_weights_are_worth_it),
        cmocka_unit_test(products_equal_those_of_blas),
        cmocka_unit_test(wrong_strides_are_refused_with_their_numbers),
        cmocka_unit_test(memory_that_runs_out_is_reported_and_c_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
