/* A mixture of experts with the noise that was drawn: gradients of what it makes and of the losses that balance it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/experts.h"
#include "support/gradient.h"

#include <math.h>

static rg_tensor *mixed(rg_tape *t, rg_tensor *const *x, void *context)
{
    rg_tensor *balance = NULL, *y = rg_experts_mix(t, context, x[0], &balance),
              *sum = y ? rg_sum(t, rg_mul(t, y, y)) : NULL;
    return balance ? rg_add(t, sum, balance) : sum;
}

static void mixtures_and_their_balance_have_correct_gradients(void **state)
{
    (void)state;
    for (size_t top = 1; top <= 3; top++) {
        const rg_experts_config c = { .width = 4, .hidden = 3, .experts = 3, .top = top, .activation = RG_TANH };
        rg_params              *params;
        rg_experts              e;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_experts_init(&e, params, &c), RG_OK);
        assert_int_equal(rg_params_build(params, 3), RG_OK);
        for (size_t i = 0; i < 12; i++)
            rg_param_data(e.gate)[i] = (rg_real)(0.4 * sin((double)i)),
            rg_param_data(e.noise)[i] = (rg_real)(0.3 * cos((double)i));
        assert_int_equal(rg_params_repack(params, NULL), RG_OK);
        const rg_gradient_case gradient = { .name = "experts",
                                            .function = mixed,
                                            .context = &e,
                                            .params = params,
                                            .input = { { 6, 4 } },
                                            .plain_only = true };
        rg_expect_gradient(&gradient);
        rg_params_free(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(mixtures_and_their_balance_have_correct_gradients) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
