/* grad_series.c - language models of numbers, in double: gradients of every cell and look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "regard/model.h"
#include "regard/options.h"
#include "support/gradient.h"

enum { STREAMS = 2, STEPS = 4, ROWS = STREAMS * STEPS, W = 2 };
static const int32_t start[] = { 0, STEPS, ROWS };
/* the first row of the second stream is input alone */
static const int32_t ids[] = { 1, 2, 3, 4, -1, 6, 7, 8 }, previous[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static rg_real       in[ROWS * W], to[ROWS * W];

static rg_tensor *loss_of(rg_tape *t, rg_tensor *const *x, void *context)
{
    static rg_batch b; /* layouts are borrowed until the tape has gone back */
    const rg_layout layout = { .groups = STREAMS, .start = start };
    (void)x;
    b = (rg_batch){ .examples = STREAMS,
                    .fields = 2,
                    .field = { [RG_SOURCE] = { .kind = RG_FIELD_NUMBERS, .layout = layout, .values = in, .width = W },
                               [RG_TARGET] = { .layout = layout,
                                               .ids = ids,
                                               .previous = previous,
                                               .values = to,
                                               .width = W } } };
    const rg_loss loss = rg_model_loss(t, context, &b);
    assert_true(loss.count == (ROWS - 1) * W);
    return loss.sum;
}

static void every_cell_and_look_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const ways[] = { "cell: rnn\n", "cell: lstm\n", "cell: gru\n", "cell: gru-reset-after\n",
                                        "look: attention\nwindow: 2\n", "look: key-value\nwindow: 2\n",
                                        "look: key-value-predict\nwindow: 2\n", "look: n-gram\nwindow: 3\n" };
    rg_test_fill(in, ROWS * W, 1, -1, 1);
    rg_test_fill(to, ROWS * W, 2, -1, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const rg_system      *s = rg_system_find("lm");
        const rg_sizes        sizes = { { { "numbers", W }, { "context", 0 } } };
        void                 *options = rg_alloc_zero(s->options_bytes);
        const rg_option_group group = { "lm", s->options, options };
        rg_model             *m = NULL;
        char                  yaml[200];
        snprintf(yaml, sizeof yaml, "dim-emb: 3\ndim-rnn: 6\nlayers: 2\n%s", ways[i]);
        assert_int_equal(rg_options_init(s->options, options), RG_OK);
        if (rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK ||
            rg_model_new(&m, s, options, &sizes, 5) != RG_OK)
            fail_msg("%s: %s", ways[i], rg_message());
        rg_options_fini(s->options, options);
        rg_free(options);
        const rg_gradient_case c = {
            .name = ways[i], .function = loss_of, .context = m, .params = m->params, .plain_only = true, .floor = 1e-8
        };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_cell_and_look_has_a_correct_gradient) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
