/* grad_fused.c - the fused paths in double: gradients against central differences, and both directions against the
 * general pair path. */
#include "support/gradient.h"

#include "attention/fused.h"
#include "attention/pairs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int32_t   ragged[] = { 0, 3, 3, 4, 9, 11 }; /* groups of 3, 0, 1, 5 and 2 rows */
static const int32_t   other[] = { 0, 2, 5, 9, 10, 17 };  /* their keys */
static const rg_layout rows = { .groups = 5, .start = ragged };
static const rg_layout keys = { .groups = 5, .start = other };

typedef const rg_reach *make_reach(rg_tape *t);

static const rg_reach *groups(rg_tape *t) { return rg_reach_groups(t, &rows, &keys); }
static const rg_reach *causal(rg_tape *t) { return rg_reach_causal(t, &rows); }
static const rg_reach *window(rg_tape *t) { return rg_reach_window(t, &rows, 3); }
static const rg_reach *before(rg_tape *t) { return rg_reach_before(t, &rows, 2); }
static const rg_reach *shared(rg_tape *t) /* queries far apart look at the same keys; one looks at none; some keys are never seen */
{
    static const int32_t begin[] = { 0, 0, 5, 1, 4, 4, 0, 9 }, end[] = { 4, 6, 5, 3, 9, 9, 4, 10 };
    return rg_reach_intervals(t, 8, 17, begin, end);
}

typedef struct {
    const char *name;
    make_reach *make;
    size_t      Nq, Nk;
} reach_case;

static const reach_case reaches[] = { { "groups", groups, 11, 17 },
                                      { "causal", causal, 11, 11 },
                                      { "window", window, 11, 11 },
                                      { "before", before, 11, 11 },
                                      { "shared", shared, 8, 17 } };
enum { REACHES = sizeof reaches / sizeof *reaches };

typedef struct {
    make_reach *make;
    size_t      heads;
} context;

static rg_tensor *fused(rg_tape *t, rg_tensor *const *x, void *c)
{
    const context *g = c;
    return rg_fused_dot(t, x[0], x[1], x[2], g->make(t), g->heads, 0.7);
}

static void the_fused_dot_has_a_correct_gradient_for_every_reach(void **state)
{
    (void)state;
    for (size_t i = 0; i < REACHES; i++)
        for (size_t heads = 1; heads <= 3; heads += 2) {
            context c = { reaches[i].make, heads };
            rg_expect_gradient(&(rg_gradient_case){ .name = reaches[i].name,
                                                    .function = fused,
                                                    .context = &c,
                                                    .input = { { reaches[i].Nq, 5 * heads },
                                                               { reaches[i].Nk, 5 * heads },
                                                               { reaches[i].Nk, 3 * heads } } });
        }
}

/* ---------------------------------------------------------------------------------------------------- the pair path */

static const rg_reach *edges(rg_tape *t)
{
    static const size_t  first[] = { 0, 3, 3, 5, 9, 10 };
    static const int32_t list[] = { 4, 0, 2, 1, 1, 5, 0, 3, 2, 4 };
    return rg_reach_lists(t, 5, 7, first, list);
}

static rg_tensor *pairs_dot(rg_tape *t, rg_tensor *const *x, void *c)
{
    const context  *g = c;
    const rg_reach *r = g->make(t);
    return rg_mix(t, rg_softmax_over(t, rg_pairs_dot(t, x[0], x[1], r, g->heads, 0.7), r), x[2], r);
}

static rg_tensor *pairs_linear(rg_tape *t, rg_tensor *const *x, void *c)
{
    const context  *g = c;
    const rg_reach *r = g->make(t);
    return rg_mix_shared(t, rg_softmax_over(t, rg_pairs_add(t, x[0], x[1], r), r), x[2], r);
}

static rg_tensor *pairs_additive(rg_tape *t, rg_tensor *const *x, void *c)
{
    const context *g = c;
    return rg_pairs_additive(t, x[0], x[1], x[2], g->make(t), RG_TANH);
}

static void the_pair_path_has_a_correct_gradient_for_every_reach(void **state)
{
    (void)state;
    static const reach_case all[] = { { "groups", groups, 11, 17 },
                                      { "window", window, 11, 11 },
                                      { "shared", shared, 8, 17 },
                                      { "edges", edges, 5, 7 } };
    for (size_t i = 0; i < 4; i++)
        for (size_t heads = 1; heads <= 3; heads += 2) {
            context      c = { all[i].make, heads };
            const size_t Nq = all[i].Nq, Nk = all[i].Nk;
            rg_expect_gradient(
                &(rg_gradient_case){ .name = all[i].name,
                                     .function = pairs_dot,
                                     .context = &c,
                                     .plain_only = true,
                                     .input = { { Nq, 5 * heads }, { Nk, 5 * heads }, { Nk, 3 * heads } } });
            rg_expect_gradient(&(rg_gradient_case){ .name = all[i].name,
                                                    .function = pairs_linear,
                                                    .context = &c,
                                                    .plain_only = true,
                                                    .input = { { Nq, heads }, { Nk, heads }, { Nk, 3 } } });
            rg_expect_gradient(&(rg_gradient_case){ .name = all[i].name,
                                                    .function = pairs_additive,
                                                    .context = &c,
                                                    .plain_only = true,
                                                    .input = { { Nq, 4 * heads }, { Nk, 4 * heads }, { heads, 4 } } });
        }
}

/* ------------------------------------------------------------------------------------------ against the pair path */

enum { MOST = 1400, WIDTH = 24 };

typedef struct {
    rg_real out[MOST * WIDTH], dq[MOST * WIDTH], dk[MOST * WIDTH], dv[MOST * WIDTH];
} result;

static void attend(result *r, bool general, const rg_layout *layout, bool is_causal, size_t heads)
{
    static rg_real x[4][MOST * WIDTH];
    const size_t   N = (size_t)layout->start[layout->groups], bytes = N * WIDTH * sizeof(rg_real);
    for (size_t i = 0; i < 4; i++) rg_test_fill(x[i], N * WIDTH, i, -1, 1);
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tensor *q = rg_input(t, x[0], N, WIDTH, layout), *k = rg_input(t, x[1], N, WIDTH, layout),
              *v = rg_input(t, x[2], N, WIDTH, layout);
    const rg_reach *reach = is_causal ? rg_reach_causal(t, layout) : rg_reach_groups(t, layout, layout);
    rg_tensor *out = general ? rg_mix(t, rg_softmax_over(t, rg_pairs_dot(t, q, k, reach, heads, 0.5), reach), v, reach)
                             : rg_fused_dot(t, q, k, v, reach, heads, 0.5);
    assert_non_null(out);
    assert_int_equal(rg_tape_backward_from(t, out, x[3]), RG_OK);
    memcpy(r->out, rg_tensor_data(out), bytes);
    memcpy(r->dq, rg_tape_gradient(t, q), bytes);
    memcpy(r->dk, rg_tape_gradient(t, k), bytes);
    memcpy(r->dv, rg_tape_gradient(t, v), bytes);
    rg_tape_free(t);
}

static void agree(const char *name, const rg_real *a, const rg_real *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)(a[i] - b[i])) <= 1e-10))
            fail_msg("%s: number %zu is %.12g, the pair path gives %.12g", name, i, (double)a[i], (double)b[i]);
}

static void the_fused_dot_equals_the_pair_path_for_kept_and_for_recomputed_weights(void **state)
{
    (void)state;
    static const int32_t sizes[][4] = { { 0, 96, 97, 297 }, { 0, 512, 514, 515 }, { 0, 700, 704, 1300 } };
    static result        a, b;
    for (size_t i = 0; i < 3; i++)
        for (int is_causal = 0; is_causal < 2; is_causal++) {
            const rg_layout layout = { .groups = 3, .start = sizes[i] };
            const size_t    n = (size_t)sizes[i][3] * WIDTH;
            attend(&a, false, &layout, is_causal, 2);
            attend(&b, true, &layout, is_causal, 2);
            agree("out", a.out, b.out, n);
            agree("dq", a.dq, b.dq, n);
            agree("dk", a.dk, b.dk, n);
            agree("dv", a.dv, b.dv, n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fused_dot_has_a_correct_gradient_for_every_reach),
        cmocka_unit_test(the_pair_path_has_a_correct_gradient_for_every_reach),
        cmocka_unit_test(the_fused_dot_equals_the_pair_path_for_kept_and_for_recomputed_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
