/* grad_attention.c - gradients of every score over every reach in double: of queries, keys, values and all that the
 * score learns. */
#include "support/gradient.h"

#include "regard/attention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { N = 7, DK = 2, DV = 2 };

static const int32_t   ragged[] = { 0, 3, 3, 4, 7 }; /* groups of 3, 0, 1 and 3 rows */
static const rg_layout layout = { .groups = 4, .start = ragged };

typedef struct {
    rg_attention         att;
    const rg_reach_kind *kind;
    bool                 lists;
} context;

static const rg_reach *reach_of(rg_tape *t, const context *c)
{
    static const size_t  first[] = { 0, 3, 4, 4, 6, 9, 10, 10 }; /* two queries reach nothing, key 6 is seen by nobody */
    static const int32_t list[] = { 4, 0, 2, 1, 5, 3, 2, 5, 1, 0 };
    static const int32_t begin[] = { 0, 5, 1, 1, 3, 0, 2 }, end[] = { 4, 5, 3, 6, 4, 2, 6 };
    if (c->kind) return c->kind->make(t, &layout, &layout, 2);
    return c->lists ? rg_reach_lists(t, N, N, first, list) : rg_reach_intervals(t, N, N, begin, end);
}

/* The fused path where the score has one, and the two halves where something could come between them. */
static rg_tensor *attend(rg_tape *t, rg_tensor *const *x, void *at)
{
    const context *c = at;
    return rg_attend(t, &c->att, x[0], rg_attention_prepare(t, &c->att, x[1]), x[2], reach_of(t, c));
}

static rg_tensor *in_halves(rg_tape *t, rg_tensor *const *x, void *at)
{
    const context  *c = at;
    const rg_reach *reach = reach_of(t, c);
    return rg_mix(t, rg_weigh(t, &c->att, x[0], rg_attention_prepare(t, &c->att, x[1]), reach), x[2], reach);
}

static void expect(const rg_attention_config *config, context *c, const char *reach, rg_gradient_function *function,
                   bool plain)
{
    rg_params *params = NULL;
    char       name[96];
    snprintf(name, sizeof name, "%s%s, %s, over %s, %zu heads", config->score, config->learned ? " (learned)" : "",
             rg_activation_name(config->activation), reach, config->heads);
    assert_int_equal(rg_params_new(&params), RG_OK);
    assert_int_equal(rg_attention_init(&c->att, config, params), RG_OK);
    assert_int_equal(rg_params_build(params, 11), RG_OK);
    const size_t H = config->heads;
    rg_expect_gradient(&(rg_gradient_case){
        .name = name,
        .function = function,
        .context = c,
        .params = params,
        .plain_only = plain,
        .input = { { N, H * DK, &layout, 0, 0 }, { N, H * DK, &layout, 0, 0 }, { N, H * DV, &layout, 0, 0 } } });
    rg_params_free(params);
}

static void over_every_reach(rg_attention_config config)
{
    for (config.heads = 1; config.heads <= 2; config.heads++) {
        const bool plain = config.heads == 1;
        config.q_width = config.k_width = config.heads * DK;
        for (const rg_reach_kind *const *k = rg_reach_kinds(); *k; k++) {
            expect(&config, &(context){ .kind = *k }, (*k)->name, attend, plain);
            expect(&config, &(context){ .kind = *k }, (*k)->name, in_halves, true);
        }
        expect(&config, &(context){ .lists = true }, "lists", attend, plain);
        expect(&config, &(context){ .lists = false }, "intervals", attend, plain);
    }
}

static rg_attention_config config_of(const char *score)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = score;
    c.hidden = 3;
    c.positions = N;
    c.bandwidth = 0.8;
    c.sharpness = 2;
    return c;
}

static void every_score_has_a_correct_gradient_over_every_reach(void **state)
{
    (void)state;
    for (const rg_score *const *s = rg_score_all(); *s; s++) over_every_reach(config_of((*s)->name));
}

static void learned_bandwidth_and_sharpness_have_correct_gradients(void **state)
{
    (void)state;
    rg_attention_config distance = config_of("distance"), cosine = config_of("cosine");
    distance.learned = cosine.learned = true;
    over_every_reach(distance);
    over_every_reach(cosine);
}

static void other_activations_have_correct_gradients(void **state)
{
    (void)state;
    rg_attention_config gat = config_of("linear"), gat2 = config_of("additive"), plain = config_of("linear");
    gat.activation = gat2.activation = RG_LEAKY_RELU;
    plain.activation = RG_IDENTITY;
    over_every_reach(gat);
    over_every_reach(gat2);
    over_every_reach(plain);
}

/* ---------------------------------------------------------------------------------------------------- shared blocks */

static rg_tensor *shared(rg_tape *t, rg_tensor *const *x, void *at)
{
    const context  *c = at;
    const rg_reach *reach = reach_of(t, c);
    return rg_attend(t, &c->att, x[0], rg_attention_prepare(t, &c->att, x[1]), x[2], reach);
}

static void keys_and_values_shared_by_the_heads_have_correct_gradients(void **state)
{
    (void)state;
    static const char *const names[] = { "dot", "scaled_dot", "cosine", "distance" };
    for (size_t n = 0; n < 4; n++)
        for (int lists = 0; lists < 2; lists++) {
            rg_attention_config config = config_of(names[n]);
            context             c = { .kind = lists ? NULL : rg_reach_kind_find("causal"), .lists = lists };
            rg_params          *params = NULL;
            config.heads = 2;
            config.q_width = config.k_width = 2 * DK;
            config.shared_values = true;
            assert_int_equal(rg_params_new(&params), RG_OK);
            assert_int_equal(rg_attention_init(&c.att, &config, params), RG_OK);
            assert_int_equal(rg_params_build(params, 11), RG_OK);
            rg_expect_gradient(&(rg_gradient_case){
                .name = names[n],
                .function = shared,
                .context = &c,
                .params = params,
                .input = { { N, 2 * DK, &layout, 0, 0 }, { N, DK, &layout, 0, 0 }, { N, DV, &layout, 0, 0 } } });
            rg_params_free(params);
        }
}

/* ----------------------------------------------------------------------------------------------------------- heads */

static rg_tensor *self_heads(rg_tape *t, rg_tensor *const *x, void *h)
{
    return rg_heads_self(t, h, x[0], rg_reach_causal(t, &layout));
}
static rg_tensor *cross_heads(rg_tape *t, rg_tensor *const *x, void *h)
{
    return rg_heads_cross(t, h, x[0], x[1], rg_reach_groups(t, &layout, &layout));
}

static void multi_head_attention_has_a_correct_gradient(void **state)
{
    (void)state;
    for (int self = 0; self < 2; self++) {
        rg_heads   h;
        rg_params *params = NULL;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_heads_init(&h, params, 4, 2, self, NULL), RG_OK);
        assert_int_equal(rg_params_build(params, 5), RG_OK);
        rg_gradient_case c = { .name = self ? "self" : "cross",
                               .function = self ? self_heads : cross_heads,
                               .context = &h,
                               .params = params,
                               .input = { { N, 4, &layout, 0, 0 }, { self ? 0 : N, self ? 0 : 4, &layout, 0, 0 } } };
        rg_expect_gradient(&c);
        rg_params_free(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_score_has_a_correct_gradient_over_every_reach),
        cmocka_unit_test(learned_bandwidth_and_sharpness_have_correct_gradients),
        cmocka_unit_test(other_activations_have_correct_gradients),
        cmocka_unit_test(keys_and_values_shared_by_the_heads_have_correct_gradients),
        cmocka_unit_test(multi_head_attention_has_a_correct_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
