/* test_fused.c - the fused paths in float: equal to the pair path, and which bits may change (none). */
#include "attention/fused.h"
#include "attention/pairs.h"
#include "support/gradient.h"
#include "tensor/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --------------------------------------------------------------------------------------------------------- kernels */

static void ranged_products_of_every_table_equal_the_plain_one(void **state)
{
    (void)state;
    enum { M = 23, K = 300, N = 37, LD = 40 };
    static rg_real a[M * K], at[K * M], b[K * N], panels[K * 48], c[2][M * LD];
    size_t         low[M], high[M];
    rg_test_fill(a, M * K, 1, -1, 1);
    rg_test_fill(b, K * N, 2, -1, 1);
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < K; k++) at[k * M + m] = a[m * K + k];
    for (size_t shape = 0; shape < 4; shape++) {
        for (size_t m = 0; m < M; m++) { /* everything; causal; a band; nothing in common */
            low[m] = shape == 2 ? m * 7 : shape == 3 ? (m % 2) * 200 : 0;
            high[m] = shape == 1 ? m + 1 : shape == 2 ? m * 7 + 33 : shape == 3 ? low[m] + (m % 5) * 20 : K;
        }
        for (const rg_kernels *const *table = rg_kernels_all(); *table; table++)
            for (int add = 0; add < 2; add++)
                for (int turned = 0; turned < 2; turned++) {
                    rg_test_fill(c[0], M * LD, 3, -1, 1);
                    memcpy(c[1], c[0], sizeof c[0]);
                    (*table)->pack(panels, b, N, K, N);
                    rg_kernels_all()[0]->gemm_ranges(M, N, a, K, 1, low, high, panels, K * RG_PANEL, c[0], LD, add);
                    (*table)->gemm_ranges(M, N, turned ? at : a, turned ? 1 : K, turned ? M : 1, low, high, panels,
                                          K * RG_PANEL, c[1], LD, add);
                    for (size_t i = 0; i < M * LD; i++)
                        if (fabsf(c[0][i] - c[1][i]) > 1e-5f)
                            fail_msg("%s: shape %zu, number %zu: %g is not %g", (*table)->name, shape, i,
                                     (double)c[1][i], (double)c[0][i]);
                }
    }
}

static void near(const char *table, const char *what, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 2e-6f * fmaxf(1, fabsf(b[i]))))
            fail_msg("%s: %s: number %zu is %.8g, plain gives %.8g", table, what, i, (double)a[i], (double)b[i]);
}

static void rows_of_heads_and_additive_scores_of_every_table_equal_the_plain_ones(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 4, 7, 8, 16, 20, 64 };
    static const rg_activation functions[] = { RG_TANH, RG_LEAKY_RELU, RG_SIGMOID, RG_GELU };
    enum { HEADS = 9, MOST_NUMBERS = HEADS * 64 };
    static const int32_t list[HEADS] = { 3, 0, 0, 8, 5, 1, 7, 2, 6 };
    const rg_kernels *plain = rg_kernels_all()[0];
    rg_real x[MOST_NUMBERS], y[MOST_NUMBERS], v[MOST_NUMBERS], a[4][MOST_NUMBERS], b[4][MOST_NUMBERS];
    rg_test_fill(x, MOST_NUMBERS, 1, -3, 3);
    rg_test_fill(y, MOST_NUMBERS, 2, -3, 3);
    rg_test_fill(v, MOST_NUMBERS, 3, -0.2, 0.2);
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const size_t d = widths[w], n = HEADS * d;
            for (size_t i = 0; i < 4; i++) memcpy(a[i], v, sizeof v), memcpy(b[i], v, sizeof v);
            (*k)->heads_dot(HEADS, d, a[0], 1, 0.1f, x, d, v, d), plain->heads_dot(HEADS, d, b[0], 1, 0.1f, x, d, v, d);
            (*k)->heads_axpy(HEADS, d, a[1], d, y, 1, x, d), plain->heads_axpy(HEADS, d, b[1], d, y, 1, x, d);
            (*k)->columns_softmax(d, HEADS, a[2], x), plain->columns_softmax(d, HEADS, b[2], x);
            (*k)->columns_softmax_backward(d, HEADS, a[3], b[2], y, true),
                plain->columns_softmax_backward(d, HEADS, b[3], b[2], y, true);
            near((*k)->name, "dots", a[0], b[0], HEADS);
            near((*k)->name, "sums", a[1], b[1], n);
            near((*k)->name, "softmax", a[2], b[2], n);
            near((*k)->name, "softmax backward", a[3], b[3], n);
            (*k)->rows_dot(HEADS, d, a[0], 0.1f, y, x, d, list), plain->rows_dot(HEADS, d, b[0], 0.1f, y, x, d, list);
            (*k)->rows_sum(HEADS, d, a[1], y, x, d, list), plain->rows_sum(HEADS, d, b[1], y, x, d, list);
            near((*k)->name, "dots of a list", a[0], b[0], HEADS);
            near((*k)->name, "sum of a list", a[1], b[1], d);
            for (size_t f = 0; f < 4; f++) {
                for (size_t i = 0; i < 3; i++) memcpy(a[i], v, sizeof v), memcpy(b[i], v, sizeof v);
                a[3][0] = (*k)->additive(functions[f], n, x, y, v), b[3][0] = plain->additive(functions[f], n, x, y, v);
                (*k)->additive_backward(functions[f], n, a[0], a[1], a[2], x, y, v, 0.7f);
                plain->additive_backward(functions[f], n, b[0], b[1], b[2], x, y, v, 0.7f);
                near((*k)->name, "additive", a[3], b[3], 1);
                for (size_t i = 0; i < 3; i++) near((*k)->name, "additive backward", a[i], b[i], n);
            }
        }
}

/* ---------------------------------------------------------------------------------------------------- one attention */

enum { MOST = 1400, H = 3, DK = 20, DV = 12 };

typedef enum { GROUPS, CAUSAL, WINDOW, KINDS } kind;

typedef struct {
    rg_real x[3][MOST * H * DK]; /* q, k, v */
    rg_real dout[MOST * H * DV];
    rg_real out[MOST * H * DV], d[3][MOST * H * DK];
} attention;

static const size_t width[3] = { H * DK, H * DK, H * DV };

static void fill(attention *a)
{
    for (uint64_t i = 0; i < 3; i++) rg_test_fill(a->x[i], MOST * width[i], i, -2, 2);
    rg_test_fill(a->dout, MOST * H * DV, 9, -1, 1);
}

static const rg_reach *reach_of(rg_tape *t, kind which, const rg_layout *l)
{
    return which == GROUPS   ? rg_reach_groups(t, l, l)
           : which == CAUSAL ? rg_reach_causal(t, l)
                             : rg_reach_window(t, l, 9);
}

/* The rows of `layout` from row `first` of a's numbers on. */
static void run(attention *a, size_t first, const rg_layout *layout, kind which, bool general, int members)
{
    const size_t N = (size_t)layout->start[layout->groups];
    rg_team     *team = NULL;
    rg_tape     *t = NULL;
    assert_int_equal(rg_team_new(&team, members), RG_OK);
    rg_tape_config config = { .record = true, .learn = true, .team = team };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *x[3];
    for (size_t i = 0; i < 3; i++) x[i] = rg_input(t, a->x[i] + first * width[i], N, width[i], layout);
    const rg_reach *r = reach_of(t, which, layout);
    rg_tensor      *out = general ? rg_mix(t, rg_softmax_over(t, rg_pairs_dot(t, x[0], x[1], r, H, 0.3), r), x[2], r)
                                  : rg_fused_dot(t, x[0], x[1], x[2], r, H, 0.3);
    assert_non_null(out);
    assert_int_equal(rg_tape_backward_from(t, out, a->dout + first * H * DV), RG_OK);
    memcpy(a->out + first * H * DV, rg_tensor_data(out), N * H * DV * sizeof(rg_real));
    for (size_t i = 0; i < 3; i++)
        memcpy(a->d[i] + first * width[i], rg_tape_gradient(t, x[i]), N * width[i] * sizeof(rg_real));
    rg_tape_free(t);
    rg_team_free(team);
}

static void agree(const char *name, kind which, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f * fmaxf(1, fabsf(b[i]))))
            fail_msg("%s of reach %d: number %zu is %.8g, the pair path gives %.8g", name, (int)which, i, (double)a[i],
                     (double)b[i]);
}

static const int32_t   sizes[] = { 0, 5, 6, 106, 106, 639 };
static const rg_layout layout = { .groups = 5, .start = sizes };

static void the_fused_dot_equals_the_pair_path(void **state)
{
    (void)state;
    static attention a, b;
    for (kind which = 0; which < KINDS; which++) {
        fill(&a), fill(&b);
        run(&a, 0, &layout, which, false, 2);
        run(&b, 0, &layout, which, true, 1);
        agree("out", which, a.out, b.out, 639 * H * DV);
        for (size_t i = 0; i < 3; i++) agree("gradient", which, a.d[i], b.d[i], 639 * width[i]);
    }
}

static void a_sentence_has_the_same_bits_alone_and_in_a_batch_and_for_every_team(void **state)
{
    (void)state;
    static attention a, b;
    for (kind which = 0; which < KINDS; which++) {
        fill(&a), fill(&b);
        run(&a, 0, &layout, which, false, 1);
        for (size_t g = 0; g < layout.groups; g++) {
            const int32_t   alone[] = { 0, sizes[g + 1] - sizes[g] };
            const rg_layout one = { .groups = 1, .start = alone };
            if (alone[1]) run(&b, (size_t)sizes[g], &one, which, false, 3);
        }
        assert_memory_equal(a.out, b.out, 639 * H * DV * sizeof(rg_real));
        for (size_t i = 0; i < 2; i++) assert_memory_equal(a.d[i], b.d[i], 639 * width[i] * sizeof(rg_real));
        assert_memory_equal(a.d[2], b.d[2], 639 * width[2] * sizeof(rg_real));
    }
}

static void what_comes_later_changes_no_bit_of_a_causal_past(void **state)
{
    (void)state;
    static attention a, b;
    static const int32_t long_one[] = { 0, 700 }, short_one[] = { 0, 333 };
    fill(&a), fill(&b);
    for (size_t i = 0; i < 3; i++) rg_test_fill(b.x[i] + 333 * width[i], 300 * width[i], 77, -3, 3);
    for (size_t i = 0; i < 3; i++) b.x[i][500 * width[i]] = NAN;
    run(&a, 0, &(rg_layout){ .groups = 1, .start = short_one }, CAUSAL, false, 1);
    run(&b, 0, &(rg_layout){ .groups = 1, .start = long_one }, CAUSAL, false, 2);
    assert_memory_equal(a.out, b.out, 333 * H * DV * sizeof(rg_real));
}

static void closed_pairs_never_matter_even_if_they_are_not_numbers(void **state)
{
    (void)state;
    static attention a, b;
    static const int32_t one[] = { 0, 200 };
    const rg_layout      l = { .groups = 1, .start = one };
    const size_t         bad = 100; /* its query, key and value are NaN: rows out of its sight keep their bits, gradients too */
    for (kind which = CAUSAL; which < KINDS; which++) {
        fill(&a), fill(&b);
        for (size_t i = 0; i < 3; i++)
            for (size_t c = 0; c < width[i]; c++) b.x[i][bad * width[i] + c] = NAN;
        run(&a, 0, &l, which, false, 1);
        run(&b, 0, &l, which, false, 1);
        for (size_t r = 0; r < 200; r++) {
            const bool before = r < bad, far = r + 9 < bad || r > bad + 9;
            if (which == CAUSAL ? before : far)
                assert_memory_equal(a.out + r * H * DV, b.out + r * H * DV, H * DV * sizeof(rg_real));
            if (which == CAUSAL ? before : far)
                assert_memory_equal(a.d[0] + r * width[0], b.d[0] + r * width[0], width[0] * sizeof(rg_real));
            if (which == WINDOW && far)
                for (size_t i = 1; i < 3; i++)
                    assert_memory_equal(a.d[i] + r * width[i], b.d[i] + r * width[i], width[i] * sizeof(rg_real));
        }
    }
}

static void lists_without_gradients_equal_the_pair_path(void **state)
{
    (void)state;
    static attention a;
    enum { NQ = 7, NK = 90 };
    size_t  first[NQ + 1] = { 0 };
    int32_t list[NQ * NK];
    for (size_t i = 0; i < NQ; i++) {
        first[i + 1] = first[i] + i * 12;
        for (size_t p = first[i]; p < first[i + 1]; p++) list[p] = (int32_t)((p * 37 + i) % NK);
    }
    fill(&a);
    rg_team *team = NULL;
    rg_tape *t = NULL;
    assert_int_equal(rg_team_new(&team, 2), RG_OK);
    rg_tape_config config = { .team = team };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *q = rg_constant(t, a.x[0], NQ, width[0], NULL), *k = rg_constant(t, a.x[1], NK, width[1], NULL),
              *v = rg_constant(t, a.x[2], NK, width[2], NULL);
    const rg_reach *r = rg_reach_lists(t, NQ, NK, first, list);
    rg_tensor      *one = rg_fused_dot(t, q, k, v, r, H, 0.3),
              *two = rg_mix(t, rg_softmax_over(t, rg_pairs_dot(t, q, k, r, H, 0.3), r), v, r);
    assert_non_null(one);
    assert_non_null(two);
    agree("out", KINDS, rg_tensor_data(one), rg_tensor_data(two), NQ * H * DV);
    rg_tape_free(t);
    rg_team_free(team);
}

/* Bytes beyond q, k, v, out and their gradients. */
static void memory_is_linear_in_the_length(void **state)
{
    (void)state;
    enum { N = 2048, WIDE = 64 };
    static const int32_t one[] = { 0, N };
    const rg_layout      l = { .groups = 1, .start = one };
    static rg_real       x[N * WIDE];
    rg_tape_config       config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape             *t = NULL;
    rg_test_fill(x, N * WIDE, 1, -1, 1);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *q = rg_input(t, x, N, WIDE, &l);
    rg_tensor *out = rg_fused_dot(t, q, q, q, rg_reach_groups(t, &l, &l), 4, 0.25);
    assert_int_equal(rg_tape_backward_from(t, out, x), RG_OK);
    assert_true(rg_tape_get_cost(t).bytes < 8 * sizeof x);
    rg_tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranged_products_of_every_table_equal_the_plain_one),
        cmocka_unit_test(rows_of_heads_and_additive_scores_of_every_table_equal_the_plain_ones),
        cmocka_unit_test(the_fused_dot_equals_the_pair_path),
        cmocka_unit_test(a_sentence_has_the_same_bits_alone_and_in_a_batch_and_for_every_team),
        cmocka_unit_test(what_comes_later_changes_no_bit_of_a_causal_past),
        cmocka_unit_test(closed_pairs_never_matter_even_if_they_are_not_numbers),
        cmocka_unit_test(lists_without_gradients_equal_the_pair_path),
        cmocka_unit_test(memory_is_linear_in_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
