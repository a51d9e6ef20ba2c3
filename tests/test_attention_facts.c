/* test_attention_facts.c - worked examples of lectures and papers, and what single scores are known for. */
#include "regard/attention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/gradient.h"

enum { N = 6, D = 4 };

static const int32_t   starts[] = { 0, 2, 6 };
static const rg_layout two_groups = { .groups = 2, .start = starts };

static rg_tape *new_tape(void)
{
    rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    rg_tape       *t = NULL;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    return t;
}

static rg_params *new_attention(rg_attention *att, const rg_attention_config *c)
{
    rg_params *params = NULL;
    assert_int_equal(rg_params_new(&params), RG_OK);
    assert_int_equal(rg_attention_init(att, c, params), RG_OK);
    assert_int_equal(rg_params_build(params, 3), RG_OK);
    return params;
}

static rg_attention_config config_of(const char *score, size_t heads)
{
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    c.score = score;
    c.heads = heads;
    c.q_width = c.k_width = heads * D;
    c.hidden = 5;
    c.positions = N;
    return c;
}

static rg_tensor *random_rows(rg_tape *t, size_t cols, uint64_t seed)
{
    rg_real x[N * 64];
    rg_test_fill(x, N * cols, seed, -1, 1);
    return rg_input(t, x, N, cols, &two_groups);
}

static void near_all(const rg_tensor *a, const rg_tensor *b, double tolerance)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(rg_tensor_rows(a), rg_tensor_rows(b));
    assert_int_equal(rg_tensor_cols(a), rg_tensor_cols(b));
    for (size_t i = 0; i < rg_tensor_rows(a); i++)
        for (size_t c = 0; c < rg_tensor_cols(a); c++)
            if (!(fabs((double)(rg_tensor_at(a, i, c) - rg_tensor_at(b, i, c))) <= tolerance))
                fail_msg("(%zu, %zu): %.9g and %.9g", i, c, (double)rg_tensor_at(a, i, c),
                         (double)rg_tensor_at(b, i, c));
}

/* ------------------------------------------------------------------------------------------------ worked examples */

/* q . k = 112 and 96, d = 64: divided by 8 they are 14 and 12, and the softmax is 0.88 and 0.12 */
static void scores_of_112_and_96_give_weights_of_0_88_and_0_12(void **state)
{
    (void)state;
    rg_attention_config c = RG_ATTENTION_CONFIG_DEFAULT;
    rg_attention        att;
    rg_params          *params = new_attention(&att, &c);
    rg_tape            *t = new_tape();
    rg_real             q[64] = { 1 }, k[128] = { 0 };
    const int32_t       begin = 0, end = 2;
    k[0] = 112, k[64] = 96;
    const rg_reach *reach = rg_reach_intervals(t, 1, 2, &begin, &end);
    rg_tensor      *a = rg_weigh(t, &att, rg_input(t, q, 1, 64, NULL), rg_input(t, k, 2, 64, NULL), reach);
    assert_int_equal(rg_tape_status(t), RG_OK);
    assert_true(fabs((double)rg_tensor_at(a, 0, 0) - 1 / (1 + exp(-2))) < 1e-6);
    assert_int_equal((int)lround(100 * (double)rg_tensor_at(a, 0, 0)), 88);
    assert_int_equal((int)lround(100 * (double)rg_tensor_at(a, 1, 0)), 12);
    rg_tape_free(t);
    rg_params_free(params);
}

static void house_prices_are_0_6_and_0_3_and_0_1_of_the_three_prices(void **state)
{
    (void)state;
    rg_tape        *t = new_tape();
    const rg_real   e[] = { (rg_real)log(0.6), (rg_real)log(0.3), (rg_real)log(0.1) }, price[] = { 500, 300, 200 };
    const int32_t   begin = 0, end = 3;
    const rg_reach *reach = rg_reach_intervals(t, 1, 3, &begin, &end);
    rg_tensor      *a = rg_softmax_over(t, rg_input(t, e, 3, 1, NULL), reach);
    rg_tensor      *out = rg_mix(t, a, rg_input(t, price, 3, 1, NULL), reach);
    assert_int_equal(rg_tape_status(t), RG_OK);
    const double want[] = { 0.6, 0.3, 0.1 };
    for (size_t i = 0; i < 3; i++) assert_true(fabs((double)rg_tensor_at(a, i, 0) - want[i]) < 1e-6);
    assert_true(fabs((double)rg_tensor_at(out, 0, 0) - 410) < 1e-3);
    rg_tape_free(t);
}

static void a_constant_added_to_all_scores_of_a_query_changes_nothing(void **state)
{
    (void)state;
    rg_tape        *t = new_tape();
    rg_real         e[20], moved[20];
    const rg_reach *reach = rg_reach_groups(t, &two_groups, &two_groups); /* 2 x 2 + 4 x 4 pairs */
    rg_test_fill(e, 20, 4, -3, 3);
    for (size_t i = 0; i < N; i++)
        for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++) moved[p] = e[p] + (rg_real)(i * 8) - 16;
    near_all(rg_softmax_over(t, rg_input(t, e, 20, 1, NULL), reach),
             rg_softmax_over(t, rg_input(t, moved, 20, 1, NULL), reach), 1e-6);
    rg_tape_free(t);
}

/* ----------------------------------------------------------------------------------------------- single scores */

static void the_linear_score_without_activation_does_not_see_the_query(void **state)
{
    (void)state;
    rg_attention_config c = config_of("linear", 2);
    rg_attention        att;
    c.activation = RG_IDENTITY;
    rg_params      *params = new_attention(&att, &c);
    rg_tape        *t = new_tape();
    const rg_reach *reach = rg_reach_groups(t, &two_groups, &two_groups);
    rg_tensor      *k = rg_attention_prepare(t, &att, random_rows(t, 2 * D, 1));
    rg_tensor      *a = rg_weigh(t, &att, random_rows(t, 2 * D, 2), k, reach),
              *b = rg_weigh(t, &att, random_rows(t, 2 * D, 3), k, reach);
    near_all(a, b, 1e-6);
    rg_params_free(params);
    c.activation = RG_LEAKY_RELU; /* with one it does */
    params = new_attention(&att, &c);
    k = rg_attention_prepare(t, &att, random_rows(t, 2 * D, 1));
    a = rg_weigh(t, &att, random_rows(t, 2 * D, 2), k, reach),
    b = rg_weigh(t, &att, random_rows(t, 2 * D, 3), k, reach);
    double most = 0;
    for (size_t p = 0; p < reach->P; p++)
        most = fmax(most, fabs((double)(rg_tensor_at(a, p, 0) - rg_tensor_at(b, p, 0))));
    assert_true(most > 1e-3);
    rg_tape_free(t);
    rg_params_free(params);
}

static void the_additive_score_equals_the_concat_form_with_m_of_w_over_u(void **state)
{
    (void)state;
    for (int leaky = 0; leaky < 2; leaky++) {
        rg_attention_config ca = config_of("additive", 2), cc = config_of("concat", 2);
        rg_attention        additive, concat;
        ca.activation = cc.activation = leaky ? RG_LEAKY_RELU : RG_TANH;
        rg_params   *pa = new_attention(&additive, &ca), *pc = new_attention(&concat, &cc);
        const size_t numbers = 2 * D * 2 * 5;
        rg_test_fill(rg_param_data(additive.b), 2 * 5, 8, -1, 1);
        memcpy(rg_param_data(concat.w), rg_param_data(additive.w), numbers * sizeof(rg_real));
        memcpy(rg_param_data(concat.w) + numbers, rg_param_data(additive.u), numbers * sizeof(rg_real));
        memcpy(rg_param_data(concat.b), rg_param_data(additive.b), 2 * 5 * sizeof(rg_real));
        memcpy(rg_param_data(concat.v), rg_param_data(additive.v), 2 * 5 * sizeof(rg_real));
        assert_int_equal(rg_params_repack(pc, NULL), RG_OK);
        rg_tape        *t = new_tape();
        const rg_reach *reach = rg_reach_causal(t, &two_groups);
        rg_tensor      *q = random_rows(t, 2 * D, 1), *k = random_rows(t, 2 * D, 2);
        near_all(rg_scores(t, &additive, q, rg_attention_prepare(t, &additive, k), reach),
                 rg_scores(t, &concat, q, rg_attention_prepare(t, &concat, k), reach), 1e-6);
        rg_tape_free(t);
        rg_params_free(pa);
        rg_params_free(pc);
    }
}

static void the_distance_score_is_what_its_formula_says(void **state)
{
    (void)state;
    for (int learned = 0; learned < 2; learned++) {
        rg_attention_config c = config_of("distance", 2);
        rg_attention        att;
        c.bandwidth = 0.5;
        c.learned = learned;
        rg_params      *params = new_attention(&att, &c);
        rg_tape        *t = new_tape();
        const rg_reach *reach = rg_reach_groups(t, &two_groups, &two_groups);
        rg_tensor *q = random_rows(t, 2 * D, 1), *k = random_rows(t, 2 * D, 2), *e = rg_scores(t, &att, q, k, reach);
        assert_int_equal(rg_tape_status(t), RG_OK);
        for (size_t i = 0; i < N; i++)
            for (size_t p = reach->first[i]; p < reach->first[i + 1]; p++)
                for (size_t h = 0; h < 2; h++) {
                    double square = 0;
                    for (size_t d = 0; d < D; d++) {
                        const double x =
                            (double)rg_tensor_at(q, i, h * D + d) -
                            (double)rg_tensor_at(k, (size_t)reach->begin[i] + p - reach->first[i], h * D + d);
                        square += x * x;
                    }
                    assert_true(fabs((double)rg_tensor_at(e, p, h) + square / (2 * 0.25)) < 1e-5);
                }
        rg_tape_free(t);
        rg_params_free(params);
    }
}

static void cosine_weights_do_not_see_lengths_and_sharpen_with_beta(void **state)
{
    (void)state;
    rg_real top[3];
    for (int sharp = 0; sharp < 3; sharp++) {
        rg_attention_config c = config_of("cosine", 2);
        rg_attention        att;
        c.sharpness = sharp == 0 ? 0 : sharp == 1 ? 1 : 50;
        c.learned = sharp == 1; /* softplus starts where the setting says */
        rg_params      *params = new_attention(&att, &c);
        rg_tape        *t = new_tape();
        const rg_reach *reach = rg_reach_groups(t, &two_groups, &two_groups);
        rg_tensor      *q = random_rows(t, 2 * D, 1), *k = random_rows(t, 2 * D, 2);
        rg_tensor      *e = rg_scores(t, &att, q, rg_attention_prepare(t, &att, k), reach);
        rg_tensor      *longer =
            rg_scores(t, &att, rg_scale(t, q, 30), rg_attention_prepare(t, &att, rg_scale(t, k, 7)), reach);
        near_all(e, longer, 1e-4);
        for (size_t p = 0; p < reach->P; p++)
            assert_true(fabs((double)rg_tensor_at(e, p, 1)) <= c.sharpness * 1.000001);
        rg_tensor *a = rg_softmax_over(t, e, reach);
        top[sharp] = 0;
        for (size_t p = reach->first[2]; p < reach->first[3]; p++)
            top[sharp] = rg_tensor_at(a, p, 0) > top[sharp] ? rg_tensor_at(a, p, 0) : top[sharp];
        rg_tape_free(t);
        rg_params_free(params);
    }
    assert_true(fabs((double)top[0] - 0.25) < 1e-6); /* beta = 0: the mean */
    assert_true(top[1] > top[0] && top[2] > top[1] && top[2] > (rg_real)0.9);
}

static void the_scaled_dot_divides_by_the_root_of_a_heads_width(void **state)
{
    (void)state;
    rg_attention_config cd = config_of("dot", 2), cs = config_of("scaled_dot", 2);
    rg_attention        dot, scaled;
    rg_params          *pd = new_attention(&dot, &cd), *ps = new_attention(&scaled, &cs);
    rg_tape            *t = new_tape();
    const rg_reach     *reach = rg_reach_causal(t, &two_groups);
    rg_tensor          *q = random_rows(t, 2 * D, 1), *k = random_rows(t, 2 * D, 2);
    near_all(rg_scale(t, rg_scores(t, &dot, q, k, reach), 1 / sqrt(D)), rg_scores(t, &scaled, q, k, reach), 1e-6);
    rg_tape_free(t);
    rg_params_free(pd);
    rg_params_free(ps);
}

static void a_location_score_refuses_more_keys_than_it_has_places(void **state)
{
    (void)state;
    rg_attention_config c = config_of("location", 1);
    rg_attention        att;
    c.positions = 3;
    rg_params *params = new_attention(&att, &c);
    rg_tape   *t = new_tape();
    rg_tensor *q = random_rows(t, D, 1);
    assert_null(rg_weigh(t, &att, q, q, rg_reach_groups(t, &two_groups, &two_groups)));
    assert_int_equal(rg_tape_status(t), RG_ELIMIT);
    assert_non_null(strstr(rg_message(), "3 places"));
    rg_tape_free(t);
    rg_params_free(params);
}

/* ------------------------------------------------------------------------------------------------- shared blocks */

static void keys_shared_by_all_heads_equal_keys_repeated_for_each(void **state)
{
    (void)state;
    static const char *const names[] = { "dot", "scaled_dot", "cosine", "distance" };
    for (size_t n = 0; n < 4; n++)
        for (int interval = 0; interval < 2; interval++) {
            rg_attention_config c = config_of(names[n], 3);
            rg_attention        att;
            rg_params          *params = new_attention(&att, &c);
            rg_tape            *t = new_tape();
            rg_tensor          *q = random_rows(t, 3 * D, 1), *k = random_rows(t, D, 2), *v = random_rows(t, 3 * 2, 3),
                      *thrice[] = { k, k, k };
            static const size_t  first[] = { 0, 2, 4, 4, 7, 8, 9 };
            static const int32_t list[] = { 1, 0, 5, 2, 3, 4, 1, 0, 0 };
            const rg_reach *reach = interval ? rg_reach_causal(t, &two_groups) : rg_reach_lists(t, N, N, first, list);
            rg_tensor      *shared = rg_attend(t, &att, q, rg_attention_prepare(t, &att, k), v, reach);
            rg_tensor           *whole =
                rg_attend(t, &att, q, rg_attention_prepare(t, &att, rg_concat_columns(t, 3, thrice)), v, reach);
            if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", names[n], rg_message());
            near_all(shared, whole, 1e-6);
            rg_tape_free(t);
            rg_params_free(params);
        }
}

static void values_shared_by_all_heads_equal_values_repeated_for_each(void **state)
{
    (void)state;
    for (const rg_score *const *s = rg_score_all(); *s; s++) {
        rg_attention_config c = config_of((*s)->name, 2);
        rg_attention        att, sharing;
        rg_params          *params = new_attention(&att, &c);
        sharing = att;
        sharing.config.shared_values = true;
        rg_tape        *t = new_tape();
        rg_tensor      *q = random_rows(t, 2 * D, 1), *k = rg_attention_prepare(t, &att, random_rows(t, 2 * D, 2)),
                  *v = random_rows(t, 6, 3);
        rg_tensor      *twice[] = { v, v };
        const rg_reach *reach = rg_reach_causal(t, &two_groups);
        rg_tensor      *shared = rg_attend(t, &sharing, q, k, v, reach),
                  *whole = rg_attend(t, &att, q, k, rg_concat_columns(t, 2, twice), reach);
        if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
        near_all(shared, whole, 1e-5);
        rg_tape_free(t);
        rg_params_free(params);
    }
}

/* --------------------------------------------------------------------------------------------------------- heads */

static void one_head_with_identity_projections_is_plain_attention(void **state)
{
    (void)state;
    enum { W = 8 };
    rg_heads   h, c;
    rg_params *params = NULL;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_params_push(params, "self");
    assert_int_equal(rg_heads_init(&h, params, W, 1, true, NULL), RG_OK);
    rg_params_pop(params);
    rg_params_push(params, "cross");
    assert_int_equal(rg_heads_init(&c, params, W, 1, false, NULL), RG_OK);
    rg_params_pop(params);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    rg_param *const all[] = { h.wqkv, h.wo, c.wq, c.wkv, c.wo };
    for (size_t i = 0; i < 5; i++)
        for (size_t r = 0; r < W; r++)
            for (size_t col = 0; col < rg_param_cols(all[i]); col++)
                rg_param_data(all[i])[r * rg_param_cols(all[i]) + col] = col % W == r;
    assert_int_equal(rg_params_repack(params, NULL), RG_OK);
    rg_tape        *t = new_tape();
    rg_tensor      *x = random_rows(t, W, 1), *y = random_rows(t, W, 2);
    const rg_reach *causal = rg_reach_causal(t, &two_groups), *groups = rg_reach_groups(t, &two_groups, &two_groups);
    near_all(rg_heads_self(t, &h, x, causal), rg_attend(t, &h.att, x, x, x, causal), 1e-6);
    near_all(rg_heads_cross(t, &c, x, y, groups), rg_attend(t, &c.att, x, y, y, groups), 1e-6);
    rg_tape_free(t);
    rg_params_free(params);
}

static void a_self_attention_equals_a_cross_attention_of_a_sentence_with_itself(void **state)
{
    (void)state;
    enum { W = 8 };
    rg_heads   h, c;
    rg_params *params = NULL;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_params_push(params, "self");
    assert_int_equal(rg_heads_init(&h, params, W, 4, true, NULL), RG_OK);
    rg_params_pop(params);
    rg_params_push(params, "cross");
    assert_int_equal(rg_heads_init(&c, params, W, 4, false, NULL), RG_OK);
    rg_params_pop(params);
    assert_int_equal(rg_params_build(params, 1), RG_OK);
    for (size_t r = 0; r < W; r++) { /* the same projections, standing together or apart */
        memcpy(rg_param_data(c.wq) + r * W, rg_param_data(h.wqkv) + r * 3 * W, W * sizeof(rg_real));
        memcpy(rg_param_data(c.wkv) + r * 2 * W, rg_param_data(h.wqkv) + r * 3 * W + W, 2 * W * sizeof(rg_real));
    }
    memcpy(rg_param_data(c.wo), rg_param_data(h.wo), W * W * sizeof(rg_real));
    assert_int_equal(rg_params_repack(params, NULL), RG_OK);
    rg_tape        *t = new_tape();
    rg_tensor      *x = random_rows(t, W, 1);
    const rg_reach *reach = rg_reach_causal(t, &two_groups);
    near_all(rg_heads_self(t, &h, x, reach), rg_heads_cross(t, &c, x, x, reach), 1e-6);
    rg_tape_free(t);
    rg_params_free(params);
}

/* ------------------------------------------------------------------------------------------------------ failures */

static void shapes_that_do_not_fit_are_named(void **state)
{
    (void)state;
    rg_attention_config c = config_of("dot", 1);
    rg_attention        att;
    rg_params          *params = new_attention(&att, &c);
    rg_tape            *t = new_tape();
    const rg_reach     *reach = rg_reach_causal(t, &two_groups);
    assert_null(rg_attend(t, &att, random_rows(t, D, 1), random_rows(t, D + 1, 2), random_rows(t, 3, 3), reach));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "keys are 5 wide, queries 4"));
    rg_tape_reset(t, 0);
    rg_real few[2 * D] = { 0 };
    reach = rg_reach_causal(t, &two_groups);
    assert_null(rg_attend(t, &att, rg_input(t, few, 2, D, NULL), random_rows(t, D, 2), random_rows(t, 3, 3), reach));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "6 queries"));
    c.score = "telepathy";
    assert_int_equal(rg_attention_init(&att, &c, params), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "telepathy"));
    rg_tape_free(t);
    rg_params_free(params);
}

static void an_edge_given_twice_or_out_of_range_is_refused(void **state)
{
    (void)state;
    const int32_t from[] = { 0, 1, 0 }, to[] = { 1, 2, 1 }, far[] = { 0, 9, 0 };
    rg_reach     *r = NULL;
    assert_int_equal(rg_reach_new_edges(&r, 3, 3, from, to, false), RG_EINVAL);
    assert_null(r);
    assert_int_equal(rg_reach_new_edges(&r, 3, 2, far, to, false), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "edge 2"));
    assert_int_equal(rg_reach_new_edges(&r, 3, 2, from, to, true), RG_OK);
    assert_int_equal(r->P, 5);
    assert_int_equal(r->key[r->first[1]], 1); /* itself first, then whom the edges come from */
    assert_int_equal(r->key[r->first[1] + 1], 0);
    rg_reach_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_112_and_96_give_weights_of_0_88_and_0_12),
        cmocka_unit_test(house_prices_are_0_6_and_0_3_and_0_1_of_the_three_prices),
        cmocka_unit_test(a_constant_added_to_all_scores_of_a_query_changes_nothing),
        cmocka_unit_test(the_linear_score_without_activation_does_not_see_the_query),
        cmocka_unit_test(the_additive_score_equals_the_concat_form_with_m_of_w_over_u),
        cmocka_unit_test(the_distance_score_is_what_its_formula_says),
        cmocka_unit_test(cosine_weights_do_not_see_lengths_and_sharpen_with_beta),
        cmocka_unit_test(the_scaled_dot_divides_by_the_root_of_a_heads_width),
        cmocka_unit_test(a_location_score_refuses_more_keys_than_it_has_places),
        cmocka_unit_test(keys_shared_by_all_heads_equal_keys_repeated_for_each),
        cmocka_unit_test(values_shared_by_all_heads_equal_values_repeated_for_each),
        cmocka_unit_test(one_head_with_identity_projections_is_plain_attention),
        cmocka_unit_test(a_self_attention_equals_a_cross_attention_of_a_sentence_with_itself),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(an_edge_given_twice_or_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
