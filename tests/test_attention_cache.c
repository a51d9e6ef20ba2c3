/* test_attention_cache.c - a decoder's past: steps through the cache equal one causal pass, whatever a beam does to
 * the rows. */
#include "regard/attention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/gradient.h"

enum { W = 8, HEADS = 2, STEPS = 6, BEAM = 3 };

typedef struct {
    rg_params *params;
    rg_heads   heads;
} layer;

static void open_layer(layer *l, const char *score)
{
    assert_int_equal(rg_params_new(&l->params), RG_OK);
    assert_int_equal(rg_heads_init(&l->heads, l->params, W, HEADS, true, score), RG_OK);
    assert_int_equal(rg_params_build(l->params, 6), RG_OK);
}

static rg_tape *new_tape(void)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    config.record = false;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

/* The row that a token of one number stands for. */
static void embed(rg_real *row, int token) { rg_test_fill(row, W, 1000 + (uint64_t)token, -1, 1); }

/* The whole history in one causal pass; the last row. */
static void full_pass(rg_real *out, const layer *l, const int *token, size_t n, rg_reach_choice past)
{
    rg_real         x[STEPS * W];
    const int32_t   start[] = { 0, (int32_t)n };
    const rg_layout rows = { .groups = 1, .start = start };
    rg_tape        *t = new_tape();
    for (size_t i = 0; i < n; i++) embed(x + i * W, token[i]);
    const rg_reach *reach = rg_reach_within(t, past, &rows);
    rg_tensor      *y = rg_heads_self(t, &l->heads, rg_input(t, x, n, W, &rows), reach);
    assert_int_equal(rg_tape_status(t), RG_OK);
    memcpy(out, rg_tensor_row(y, n - 1), W * sizeof *out);
    rg_tape_free(t);
}

/* Random beams: each step every hypothesis continues some other. Every step of every hypothesis must equal its full
 * pass. */
static void run_beam(const char *score, rg_reach_choice past)
{
    layer     l;
    rg_cache *cache = NULL;
    rg_tape  *t = new_tape();
    open_layer(&l, score);
    assert_int_equal(rg_cache_new(&cache, 1), RG_OK);
    for (int round = 0; round < 3; round++) {
        int       history[BEAM + 2][STEPS], next[BEAM + 2][STEPS];
        size_t    n = 1;
        rg_random random = rg_random_new((uint64_t)round, 5);
        rg_cache_clear(cache);
        for (size_t step = 0; step < STEPS; step++) {
            rg_real x[(BEAM + 2) * W], want[W];
            for (size_t i = 0; i < n; i++) {
                history[i][step] = (int)rg_random_below(&random, 50);
                embed(x + i * W, history[i][step]);
            }
            rg_tape_reset(t, step);
            const rg_reach *reach = rg_cache_step(t, cache, n, past);
            rg_tensor      *q, *k, *v;
            rg_heads_project(t, &l.heads, rg_input(t, x, n, W, NULL), &q, &k, &v);
            rg_cache_put(t, cache, 0, &k, &v);
            rg_tensor *y = rg_heads_read(t, &l.heads, q, k, v, reach);
            if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", score, rg_message());
            assert_int_equal(rg_cache_steps(cache), step + 1);
            for (size_t i = 0; i < n; i++) {
                full_pass(want, &l, history[i], step + 1, past);
                for (size_t c = 0; c < W; c++)
                    if (!(fabs((double)(rg_tensor_at(y, i, c) - want[c])) <= 1e-5))
                        fail_msg("%s, %s:%zu, step %zu, row %zu: %g, the full pass gives %g", score, past.kind->name,
                                 past.size, step, i, (double)rg_tensor_at(y, i, c), (double)want[c]);
            }
            const size_t m = 1 + (size_t)rg_random_below(&random, BEAM + 2);
            int32_t      parent[BEAM + 2];
            for (size_t i = 0; i < m; i++) {
                parent[i] = (int32_t)rg_random_below(&random, n);
                memcpy(next[i], history[parent[i]], sizeof next[i]);
            }
            memcpy(history, next, m * sizeof next[0]);
            assert_int_equal(rg_cache_keep(cache, parent, m), RG_OK);
            n = m;
        }
    }
    rg_cache_free(cache);
    rg_params_free(l.params);
    rg_tape_free(t);
}

static void stepping_through_the_cache_equals_the_full_pass_for_every_score_and_reach(void **state)
{
    (void)state;
    for (const rg_score *const *s = rg_score_all(); *s; s++)
        for (const rg_reach_kind *const *k = rg_reach_kinds(); *k; k++)
            run_beam((*s)->name, rg_reach_past((rg_reach_choice){ *k, 2 }));
}

static const rg_reach_choice all = { &rg_reach_kind_causal, 0 };

static void steps_and_parents_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rg_cache *c = NULL;
    rg_tape  *t = new_tape();
    rg_real   x[2 * W] = { 0 };
    assert_int_equal(rg_cache_new(&c, 1), RG_OK);
    assert_non_null(rg_cache_step(t, c, 2, all));
    rg_tensor *k = rg_input(t, x, 2, W, NULL), *v = rg_input(t, x, 2, W, NULL);
    rg_cache_put(t, c, 3, &k, &v);
    assert_null(k);
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_reset(t, 1);
    assert_null(rg_cache_step(t, c, 3, all));
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    const int32_t parents[] = { 0, 2 };
    assert_int_equal(rg_cache_keep(c, parents, 2), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "row 1 continues row 2"));
    rg_cache_free(c);
    rg_cache_free(NULL);
    rg_tape_free(t);
}

static rg_status three_steps(void *context)
{
    (void)context;
    rg_cache      *c = NULL;
    rg_tape       *t = NULL;
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_real        x[3 * W] = { 0 };
    config.record = false;
    rg_status status = rg_cache_new(&c, 2);
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    for (size_t step = 0; status == RG_OK && step < 3; step++) {
        rg_tape_reset(t, step);
        rg_cache_step(t, c, step + 1, all);
        for (size_t i = 0; i < 2; i++) {
            rg_tensor *k = rg_input(t, x, step + 1, W, NULL), *v = rg_input(t, x, step + 1, W, NULL);
            rg_cache_put(t, c, i, &k, &v);
        }
        const int32_t parents[] = { 0, 0, 0, 0 };
        status = rg_tape_status(t);
        if (status == RG_OK) status = rg_cache_keep(c, parents, step + 2);
    }
    rg_cache_free(c);
    rg_tape_free(t);
    return status;
}

static void a_cache_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    faults_every_alloc(three_steps, NULL, NULL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_through_the_cache_equals_the_full_pass_for_every_score_and_reach),
        cmocka_unit_test(steps_and_parents_that_do_not_fit_are_refused),
        cmocka_unit_test(a_cache_without_memory_says_so_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
