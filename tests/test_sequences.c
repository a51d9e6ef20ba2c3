/* What the sequence systems promise beyond what every system does: reordered beams, causality, how far a convolution
 * sees, which state asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "layers/fast_forward.h"
#include "regard/model.h"
#include "regard/trail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { V = 11 };

static rg_model *make(const char *system, const char *yaml)
{
    const rg_system *s = rg_system_find(system);
    void            *options = rg_alloc_zero(s->options_bytes);
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    const rg_option_group group = { .rows = s->options, .values = options };
    static const char     small[] =
        "dim-emb: 8\ntransformer-dim-ffn: 12\ntransformer-heads: 2\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 8\nwidth: 4\n"
        "label-smoothing: 0\n";
    assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
    if (yaml && rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK)
        fail_msg("%s", rg_message());
    const rg_sizes sizes = { { { "source-vocabulary", V },
                               { "target-vocabulary", V },
                               { "joint-vocabulary", true },
                               { "bos", 1 },
                               { "eos", 2 } } };
    rg_model      *m;
    if (rg_model_new(&m, s, options, &sizes, 9) != RG_OK) fail_msg("%s: %s", system, rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

/* ------------------------------------------------------------------------------------------------------ reordering */

enum { STEPS = 44,
       MOST = 5 };

/* Two sources, up to five hypotheses that are dropped, copied and moved at every step: each ends with the bits that
 * its tokens, one after another and alone, give. */
static void beams_may_be_reordered_at_every_step(void **state)
{
    (void)state;
    static const int32_t start[] = { 0, 5, 8 }, ids[] = { 5, 6, 7, 9, 2, 8, 4, 2 };
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if ((*s)->task != &rg_task_translation) continue;
        rg_model      *m = make((*s)->name, NULL);
        rg_decoding   *beam, *alone;
        const rg_field sources = { .layout = { .groups = 2, .start = start }, .ids = ids };
        rg_random      random = rg_random_new(4, 0);
        int32_t        history[MOST][STEPS] = { { 0 } }, next[MOST][STEPS], tokens[MOST], parents[MOST],
                source_of[MOST] = { 0, 1 }, moved[MOST];
        const rg_real *logits, *own;
        size_t         n = 2, ld, own_ld;
        assert_int_equal(rg_decoding_new(&beam, m, NULL), RG_OK);
        assert_int_equal(rg_decoding_new(&alone, m, NULL), RG_OK);
        assert_int_equal(rg_decoding_start(beam, &sources), RG_OK);
        for (size_t step = 0; step < STEPS; step++) {
            for (size_t i = 0; i < n; i++)
                history[i][step] = tokens[i] = step ? 3 + (int32_t)rg_random_below(&random, V - 3) : 1;
            if (rg_decoding_step(&logits, &ld, beam, tokens) != RG_OK) fail_msg("%s: %s", (*s)->name, rg_message());
            if (step + 1 == STEPS) break;
            const size_t kept = 1 + (size_t)rg_random_below(&random, MOST);
            for (size_t i = 0; i < kept; i++) {
                parents[i] = (int32_t)rg_random_below(&random, n);
                memcpy(next[i], history[parents[i]], sizeof next[i]);
                moved[i] = source_of[parents[i]];
            }
            assert_int_equal(rg_decoding_keep(beam, parents, kept), RG_OK);
            memcpy(history, next, sizeof history);
            memcpy(source_of, moved, sizeof source_of);
            n = kept;
        }
        for (size_t i = 0; i < n; i++) {
            const int32_t  one[] = { 0, start[source_of[i] + 1] - start[source_of[i]] };
            const rg_field source = { .layout = { .groups = 1, .start = one }, .ids = ids + start[source_of[i]] };
            assert_int_equal(rg_decoding_start(alone, &source), RG_OK);
            for (size_t step = 0; step < STEPS; step++)
                assert_int_equal(rg_decoding_step(&own, &own_ld, alone, &history[i][step]), RG_OK);
            if (memcmp(own, logits + i * ld, V * sizeof *own) != 0)
                fail_msg("%s: hypothesis %zu of %zu", (*s)->name, i, n);
        }
        rg_decoding_free(beam);
        rg_decoding_free(alone);
        rg_model_free(m);
    }
}

static void a_trail_refuses_what_it_cannot_hold(void **state)
{
    (void)state;
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    rg_trail            *trail;
    const int32_t        wrong[] = { 3 };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    assert_int_equal(rg_trail_new(&trail, 2, 3), RG_OK);
    rg_trail_step(t, trail, 2);
    assert_null(rg_trail_window(t, trail, 0, rg_zeros(t, 2, 4, NULL), 3, 2)); /* reaches five back */
    assert_int_equal(rg_tape_status(t), RG_EINVAL);
    rg_tape_reset(t, 0);
    assert_null(rg_trail_window(t, trail, 0, rg_zeros(t, 3, 4, NULL), 2, 1)); /* three rows for two */
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    assert_int_equal(rg_trail_keep(trail, wrong, 1), RG_EINVAL);
    rg_trail_free(trail);
    rg_tape_free(t);
}

/* ---------------------------------------------------------------------------------------------- causality and reach */

/* Losses of every target word. */
typedef struct {
    double loss[64];
    size_t count;
} losses;

static bool wants_losses(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "losses") == 0;
}

static void see_losses(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    losses *l = context;
    (void)name;
    (void)reach;
    l->count = rg_tensor_rows(x);
    for (size_t i = 0; i < l->count; i++) l->loss[i] = (double)rg_tensor_at(x, i, 0);
}

static losses losses_of(const rg_model *m, const int32_t *source, int32_t sources, const int32_t *target,
                        const int32_t *previous, int32_t targets)
{
    const int32_t        from[] = { 0, sources }, to[] = { 0, targets };
    const rg_batch       batch = {
              .examples = 1,
              .fields = 2,
              .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = from }, .ids = source },
                         [RG_TARGET] = { .layout = { .groups = 1, .start = to }, .ids = target, .previous = previous } }
    };
    const rg_tape_config config = { .record = false };
    losses               l = { .count = 0 };
    const rg_watcher     watcher = { &l, wants_losses, see_losses };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, &watcher);
    m->system->loss(t, m, &batch);
    if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    rg_tape_free(t);
    return l;
}

static void later_words_change_no_earlier_loss(void **state)
{
    (void)state;
    enum { N = 12 };
    static const int32_t source[] = { 5, 6, 7, 9, 2 }, target[N] = { 3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5, 2 };
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if ((*s)->task != &rg_task_translation) continue;
        rg_model    *m = make((*s)->name, NULL);
        int32_t      previous[N] = { 1, 3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5 };
        const losses before = losses_of(m, source, 5, target, previous, N);
        previous[7] = 10;
        const losses after = losses_of(m, source, 5, target, previous, N);
        assert_int_equal(before.count, N);
        for (size_t i = 0; i < 7; i++) assert_true(before.loss[i] == after.loss[i]);
        assert_true(before.loss[7] != after.loss[7]);
        rg_model_free(m);
    }
}

/* ByteNet without stretching: target step i sees the source within half of 1 + (k-1) sum of dilations around column
 * i, and its own past as far as that sum. */
static void bytenet_sees_as_far_as_the_formula_says(void **state)
{
    (void)state;
    enum { N = 24,
           AT = 11 };
    rg_model *m = make("bytenet", "unfold-scale: 1\nsets: 1\ndilation: 4\nkernel: 3\nwidth: 6");
    const int reach = (3 - 1) * (1 + 2 + 4), side = reach / 2;
    int32_t   source[N], target[N], previous[N];
    for (int i = 0; i < N; i++) source[i] = target[i] = 3 + i % 7, previous[i] = 4 + i % 5;
    const losses before = losses_of(m, source, N, target, previous, N);
    source[AT] = 10;
    const losses after = losses_of(m, source, N, target, previous, N);
    for (int i = 0; i < N; i++) /* the decoder looks back too: from column AT - side on, as far as both together */
        assert_int_equal(before.loss[i] != after.loss[i], i >= AT - side && i <= AT + side + reach);
    source[AT] = 3 + AT % 7;
    previous[AT] = 10;
    const losses words = losses_of(m, source, N, target, previous, N);
    for (int i = 0; i < N; i++) assert_int_equal(before.loss[i] != words.loss[i], i >= AT && i <= AT + reach);
    rg_model_free(m);
}

/* -------------------------------------------------------------------------------------------------- fast-forward */

/* Without the connections and with one direction it is the stack that luong has. */
static void without_connections_it_is_an_ordinary_stack(void **state)
{
    (void)state;
    static const int32_t start[] = { 0, 4, 6 };
    const rg_layout      layout = { .groups = 2, .start = start };
    rg_recurrent_config  c = RG_RECURRENT_CONFIG_DEFAULT;
    c.in = 5;
    c.width = 4;
    c.depth = 3;
    for (int kind = 0; kind < RG_RECURRENCES; kind++) {
        rg_params *a, *b;
        c.kind = (rg_recurrence)kind;
        assert_int_equal(rg_params_new(&a), RG_OK);
        assert_int_equal(rg_params_new(&b), RG_OK);
        rg_recurrent_stack stack;
        rg_fast_forward    deep = { .config = c };
        rg_recurrent_stack_init(&stack, a, "stack", &c);
        rg_fast_forward_init(&deep, b, "stack");
        assert_int_equal(rg_params_build(a, 3), RG_OK);
        assert_int_equal(rg_params_build(b, 3), RG_OK);
        const rg_tape_config config = { .record = false };
        rg_tape             *t;
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        static const int32_t as_is[] = { 0, 1, 2, 3, 4, 5 };
        rg_real              numbers[30];
        for (size_t i = 0; i < 30; i++) numbers[i] = (rg_real)sin((double)i);
        rg_tensor          *x = rg_gather(t, rg_borrow(t, numbers, 6, 5, 5), as_is, 6, &layout);
        rg_recurrent_states one = { .after = 0 }, two = { .after = 0 };
        const rg_tensor    *y = rg_recurrent_stack_run(t, &stack, x, &one),
                        *z = rg_fast_forward_run(t, &deep, NULL, x, &two);
        assert_int_equal(rg_tape_status(t), RG_OK);
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < 4; j++) assert_float_equal(rg_tensor_at(y, i, j), rg_tensor_at(z, i, j), 1e-6);
        for (size_t l = 0; l < 3; l++)
            assert_float_equal(rg_tensor_at(one.h[l], 1, 2), rg_tensor_at(two.h[l], 1, 2), 1e-6);
        rg_tape_free(t);
        rg_params_free(a);
        rg_params_free(b);
    }
}

/* ----------------------------------------------------------------------------------------------------------- gnmt */

/* Losses of three words as PyTorch has them (tests/reference/make_gnmt.py): the same numbers in every parameter, the
 * context asked for by the bottom layer's state of the word before. */
static void gnmt_asks_with_the_bottom_state_of_the_word_before(void **state)
{
    (void)state;
    static const int32_t source[] = { 4, 5, 6, 2 }, target[] = { 3, 4, 2 }, previous[] = { 1, 3, 4 };
    rg_model            *m = make("gnmt", "dim-emb: 4\ndim-rnn: 3\nenc-depth: 3\ndec-depth: 3\n");
    double               expected[3];
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        const rg_param *p = rg_params_at(m->params, i);
        double          seed = 0;
        for (const char *c = rg_param_name(p); *c; c++) seed += 0.1 * (double)*c;
        rg_real *x = rg_param_data(p);
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++)
            x[k] = (rg_real)(0.8 * sin(seed + 0.7 * (double)k));
    }
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
    FILE *f = fopen(SOURCE_DIR "/tests/reference/gnmt.txt", "r");
    assert_non_null(f);
    for (size_t i = 0; i < 3; i++) assert_int_equal(fscanf(f, "%lf", &expected[i]), 1);
    fclose(f);
    const losses l = losses_of(m, source, 4, target, previous, 3);
    for (size_t i = 0; i < 3; i++) assert_float_equal(l.loss[i], expected[i], 2e-5);
    rg_model_free(m);
}

/* ------------------------------------------------------------------------------------------------------------ ops */

static void a_scaled_gradient_is_the_gradient_times_the_factor(void **state)
{
    (void)state;
    const rg_tape_config config = { .record = true };
    rg_params           *params;
    rg_grads            *grads;
    assert_int_equal(rg_params_new(&params), RG_OK);
    rg_param *w = rg_params_add(params, "w", RG_WEIGHT, 1, 4, RG_INIT_NORMAL, 1);
    assert_int_equal(rg_params_build(params, 3), RG_OK);
    assert_int_equal(rg_grads_new(&grads, params), RG_OK);
    rg_tape_config with = config;
    with.grads = grads;
    rg_tape *t;
    assert_int_equal(rg_tape_new(&t, &with), RG_OK);
    rg_tensor *x = rg_scale_gradient(t, rg_use(t, w), 0.25);
    for (size_t i = 0; i < 4; i++) assert_true(rg_tensor_at(x, 0, i) == rg_param_data(w)[i]);
    assert_int_equal(rg_tape_backward(t, rg_sum(t, x)), RG_OK);
    for (size_t i = 0; i < 4; i++) assert_true(rg_grads_of(grads, w)[i] == (rg_real)0.25);
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beams_may_be_reordered_at_every_step),
        cmocka_unit_test(a_trail_refuses_what_it_cannot_hold),
        cmocka_unit_test(later_words_change_no_earlier_loss),
        cmocka_unit_test(bytenet_sees_as_far_as_the_formula_says),
        cmocka_unit_test(without_connections_it_is_an_ordinary_stack),
        cmocka_unit_test(gnmt_asks_with_the_bottom_state_of_the_word_before),
        cmocka_unit_test(a_scaled_gradient_is_the_gradient_times_the_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
