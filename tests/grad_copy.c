/* Copying: the gradient of the whole loss, of the mixture and of the switch, with words beyond the vocabulary among
 * the targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/model.h"
#include "support/gradient.h"

#include <string.h>

enum { V = 7 };

/* Two pairs: a known word twice, an unknown one, </s>; and one with two unknown ones. */
static const int32_t source_start[] = { 0, 4, 7 }, source_ids[] = { 4, 0, 4, 2, 0, 0, 2 },
                     copies[] = { 4, V, 4, -1, V, V + 1, -1 };
static const int32_t target_start[] = { 0, 4, 6 }, target_ids[] = { V, 4, 5, 2, V + 1, 2 },
                     previous[] = { 1, 0, 4, 5, 1, 0 };
static const rg_real weights[] = { 1, -0.5, 0.25, 1, 2, 1 };

static rg_tensor *loss_of(rg_tape *t, const rg_model *m, const rg_real *weight)
{
    const rg_batch batch = { .examples = 2,
                             .fields = 2,
                             .field = { [RG_SOURCE] = { .layout = { .groups = 2, .start = source_start },
                                                        .ids = source_ids,
                                                        .copies = copies,
                                                        .extra = 2 },
                                        [RG_TARGET] = { .layout = { .groups = 2, .start = target_start },
                                                        .ids = target_ids,
                                                        .previous = previous,
                                                        .weights = weight } } };
    return m->system->loss(t, m, &batch).sum;
}

static rg_tensor *plain_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    return loss_of(t, context, NULL);
}

static rg_tensor *weighted_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    return loss_of(t, context, weights);
}

static void copying_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const systems[] = { "rnnsearch", "luong", "transformer" }, *const kinds[] = {
        "copy: true", "copy: true\ncopy-switch: true"
    };
    static const char small[] = "dim-emb: 4\ntransformer-dim-ffn: 3\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: "
                                "1\ndim-rnn: 3\ntransformer-ffn-activation: gelu\n"
                                "transformer-dropout: 0.2\ndropout-rnn: 0.2\n";
    for (size_t i = 0; i < 6; i++) {
        const rg_system      *s = rg_system_find(systems[i / 2]);
        void                 *options = rg_alloc_zero(s->options_bytes);
        const char           *kind = kinds[i % 2];
        const rg_option_group group = { .rows = s->options, .values = options };
        const rg_sizes        sizes = { { { "source-vocabulary", V },
                                          { "target-vocabulary", V },
                                          { "joint-vocabulary", true },
                                          { "bos", 1 },
                                          { "eos", 2 } } };
        rg_model             *m;
        assert_int_equal(rg_options_init(s->options, options), RG_OK);
        assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
        assert_int_equal(rg_options_read_yaml(&group, 1, kind, strlen(kind), "test", false), RG_OK);
        if (rg_model_new(&m, s, options, &sizes, 3) != RG_OK) fail_msg("%s", rg_message());
        const rg_gradient_case
            plain = { .name = s->name, .function = plain_loss, .context = m, .params = m->params, .plain_only = true },
            weighted = {
                .name = s->name, .function = weighted_loss, .context = m, .params = m->params, .plain_only = true
            };
        rg_expect_gradient(&plain);
        rg_expect_gradient(&weighted);
        rg_model_free(m);
        rg_options_fini(s->options, options);
        rg_free(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(copying_has_a_correct_gradient) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
