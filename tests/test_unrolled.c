/* A recurrent network step by step: every number against plain loops, losses that add up to the tape's, learning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "regard/unrolled.h"

#define OK(call) assert_int_equal((call), RG_OK)

static rg_unrolled *unrolled(const char *text, rg_recurrence cell, size_t updates)
{
    rg_unrolled_options o = RG_UNROLLED_OPTIONS_DEFAULT;
    rg_unrolled        *u = NULL;
    o.cell = cell;
    o.updates = updates;
    OK(rg_unrolled_new(&u, text, &o));
    return u;
}

static void words_are_numbered_as_they_come(void **state)
{
    (void)state;
    rg_unrolled *u = unrolled("I am Bond , James\tBond", RG_RNN, 0);
    assert_int_equal(u->words, 5);
    assert_int_equal(u->steps, 5);
    assert_string_equal(u->word[2], "Bond");
    assert_int_equal(u->step[4].word, 4);
    assert_int_equal(u->step[4].next, 2);
    rg_unrolled_free(u);
}

static void losses_of_steps_add_up_to_the_loss_of_the_tape(void **state)
{
    (void)state;
    for (int cell = 0; cell < RG_RECURRENCES; cell++) {
        rg_unrolled *u = unrolled("a b c a b d", (rg_recurrence)cell, 3);
        double       sum = 0;
        for (size_t t = 0; t < u->steps; t++) {
            const rg_unrolled_step *s = &u->step[t];
            double                  all = 0;
            for (size_t i = 0; i < u->words; i++) all += s->y[i];
            assert_true(fabs(all - 1) < 1e-12);
            assert_true(fabs(s->loss + log(s->y[s->next])) < 1e-12);
            assert_true(fabs((sum += s->loss) - s->sum) < 1e-12);
            assert_int_equal(s->c != NULL, cell == RG_LSTM);
        }
        assert_true(fabs(sum - u->loss) < 1e-5 * sum);
        rg_unrolled_free(u);
    }
}

/* W and U are drawn in the order of the header, from the same numbers; one unit makes the loops short. */
static void the_states_of_a_plain_network_are_its_formula(void **state)
{
    (void)state;
    rg_unrolled_options o = RG_UNROLLED_OPTIONS_DEFAULT;
    rg_unrolled        *u = NULL;
    o.units = 1;
    OK(rg_unrolled_new(&u, "x y x x", &o));
    rg_random random = rg_random_new(o.seed, 0);
    double    w[2], h = 0;
    for (size_t i = 0; i < 2; i++) w[i] = (double)(rg_real)(2 * rg_random_uniform(&random) - 1);
    const double again = (double)(rg_real)(2 * rg_random_uniform(&random) - 1);
    for (size_t t = 0; t < u->steps; t++) {
        h = tanh(w[u->step[t].word] + again * h);
        assert_true(fabs(u->step[t].h[0] - h) < 1e-6);
    }
    rg_unrolled_free(u);
}

static void gradient_descent_makes_the_text_likely(void **state)
{
    (void)state;
    for (int cell = 0; cell < RG_RECURRENCES; cell++) {
        rg_unrolled *before = unrolled("I am Bond , James Bond", (rg_recurrence)cell, 0),
                    *after = unrolled("I am Bond , James Bond", (rg_recurrence)cell, 400);
        assert_true(before->loss > 6);
        assert_true(after->loss < 0.25 * before->loss);
        rg_unrolled_free(before);
        rg_unrolled_free(after);
    }
}

static void what_cannot_be_unrolled_is_refused(void **state)
{
    (void)state;
    rg_unrolled_options o = RG_UNROLLED_OPTIONS_DEFAULT;
    rg_unrolled        *u = NULL;
    char                long_text[2 * 300 + 1] = "";
    assert_int_equal(rg_unrolled_new(&u, "alone", &o), RG_EINVAL);
    assert_int_equal(rg_unrolled_new(&u, "  ", &o), RG_EINVAL);
    for (size_t i = 0; i < 300; i++) memcpy(long_text + 2 * i, "a ", 3);
    assert_int_equal(rg_unrolled_new(&u, long_text, &o), RG_EINVAL);
    o.units = 65;
    assert_int_equal(rg_unrolled_new(&u, "a b", &o), RG_EINVAL);
    assert_null(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_numbered_as_they_come),
        cmocka_unit_test(losses_of_steps_add_up_to_the_loss_of_the_tape),
        cmocka_unit_test(the_states_of_a_plain_network_are_its_formula),
        cmocka_unit_test(gradient_descent_makes_the_text_likely),
        cmocka_unit_test(what_cannot_be_unrolled_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
