/* grad_attention_between.c - gradients in double of what comes between weighing and mixing. */
#include "support/gradient.h"

#include "regard/between.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int32_t   target_start[] = { 0, 3, 4, 4 }, source_start[] = { 0, 5, 5, 8 }; /* the second sentence has no source */
static const rg_layout target = { .groups = 3, .start = target_start }, source = { .groups = 3, .start = source_start };
enum { PAIRS = 3 * 5 }; /* of rg_reach_groups */

static const rg_reach *whole(rg_tape *t) { return rg_reach_groups(t, &target, &source); }

static rg_tensor *gaussian(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_local_gaussian(t, x[0], x[1], whole(t), whole(t), 3);
}
static rg_tensor *gaussian_normalised(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_normalise_over(t, rg_local_gaussian(t, x[0], x[1], whole(t), whole(t), 3), whole(t));
}
static rg_tensor *normalise(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_normalise_over(t, x[0], whole(t));
}
static rg_tensor *overlap(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_overlap_penalty(t, x[0], whole(t));
}
static rg_tensor *entropy(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_entropy_over(t, x[0], whole(t));
}
static rg_tensor *gumbel(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_gumbel_over(t, x[0], whole(t), 0.7);
}
static rg_tensor *log_picked(rg_tape *t, rg_tensor *const *x, void *c)
{
    return (void)c, rg_log_picked(t, x[0], rg_hard_argmax(t, x[0], whole(t)), whole(t)); /* the pick does not change nearby */
}

static void every_op_between_the_halves_has_a_correct_gradient(void **state)
{
    (void)state;
    rg_expect_gradient(&(rg_gradient_case){
        .name = "gaussian", .function = gaussian, .input = { { PAIRS, 2, NULL, 0, 0 }, { 4, 1, NULL, 0, 5 } } });
    rg_expect_gradient(&(rg_gradient_case){ .name = "gaussian, normalised", .function = gaussian_normalised,
                                            .input = { { PAIRS, 2, NULL, 0.1, 1 }, { 4, 1, NULL, 0, 5 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "normalise", .function = normalise, .input = { { PAIRS, 3, NULL, 0.1, 1 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "overlap", .function = overlap, .input = { { PAIRS, 3, NULL, 0, 1 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "entropy", .function = entropy, .input = { { PAIRS, 2, NULL, 0.1, 1 } } });
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "log_picked", .function = log_picked, .input = { { PAIRS, 2, NULL, 0.1, 1 } } });
    rg_expect_gradient(&(rg_gradient_case){
        .name = "gumbel", .function = gumbel, .plain_only = true, .input = { { PAIRS, 2, NULL, -1, 1 } } });
}

/* A whole attention with a predicted centre: window and rounding are constants, p learns through the Gaussian. */
typedef struct {
    rg_local     local;
    rg_attention att;
} local_context;

static rg_tensor *local_p(rg_tape *t, rg_tensor *const *x, void *at)
{
    const local_context *c = at;
    rg_tensor           *p = rg_local_centres(t, &c->local, x[0], whole(t));
    const rg_reach      *near = rg_reach_local_p(t, whole(t), p, 1);
    rg_tensor           *a = rg_weigh(t, &c->att, x[0], x[1], near);
    return rg_mix(t, rg_local_gaussian(t, a, p, near, whole(t), 1), x[2], near);
}

static void attention_with_a_predicted_centre_has_a_correct_gradient(void **state)
{
    (void)state;
    rg_params          *params = NULL;
    local_context       c;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
    config.score = "dot";
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_local_init(&c.local, params, 3, 4);
    assert_int_equal(rg_attention_init(&c.att, &config, params), RG_OK);
    assert_int_equal(rg_params_build(params, 3), RG_OK);
    rg_expect_gradient(
        &(rg_gradient_case){ .name = "local-p",
                             .function = local_p,
                             .context = &c,
                             .params = params,
                             .input = { { 4, 3, NULL, 0, 0 }, { 8, 3, NULL, 0, 0 }, { 8, 2, NULL, 0, 0 } } });
    rg_params_free(params);
}

static rg_tensor *key_value(rg_tape *t, rg_tensor *const *x, void *kv)
{
    return rg_key_value_run(t, kv, rg_with_layout(t, x[0], &source));
}

static void key_value_attention_has_a_correct_gradient(void **state)
{
    (void)state;
    for (size_t parts = 1; parts <= 3; parts++) {
        rg_params   *params = NULL;
        rg_key_value kv;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_key_value_init(&kv, params, 6, parts, 2), RG_OK);
        assert_int_equal(rg_params_build(params, 3), RG_OK);
        rg_expect_gradient(&(rg_gradient_case){ .name = "key-value",
                                                .function = key_value,
                                                .context = &kv,
                                                .params = params,
                                                .input = { { 8, 6, &source, 0, 0 } } });
        rg_params_free(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_between_the_halves_has_a_correct_gradient),
        cmocka_unit_test(attention_with_a_predicted_centre_has_a_correct_gradient),
        cmocka_unit_test(key_value_attention_has_a_correct_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
