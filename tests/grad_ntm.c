/* The Turing machine: gradients of every step of addressing, of erasing and writing, and of the whole machine with
 * every controller and number of heads, once as the chain of ordinary ops that runs when heads are watched, once
 * with the fused step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "attention/memory_fused.h"
#include "attention/memory.h"
#include "regard/model.h"
#include "regard/puzzles.h"
#include "support/gradient.h"

#include <string.h>

static const int32_t   one_start[] = { 0, 1, 2 }, rows_start[] = { 0, 5, 9 };
static const rg_layout ones = { .groups = 2, .start = one_start }, rows = { .groups = 2, .start = rows_start };

static rg_tensor *roll_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return (void)context, rg_roll(t, x[0], x[1], rg_reach_groups(t, &ones, &rows));
}
static rg_tensor *erase_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return (void)context, rg_erase(t, x[0], x[1], x[2], rg_reach_groups(t, &ones, &rows));
}
static rg_tensor *write_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return (void)context, rg_write(t, x[0], x[1], x[2], rg_reach_groups(t, &ones, &rows));
}

/* interpolation and sharpening as the machine does them */
static rg_tensor *gate_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return (void)context, rg_add(t, x[1], rg_mul(t, rg_sub(t, x[0], x[1]), x[2]));
}
static rg_tensor *sharpen_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)context;
    return rg_softmax_over(t, rg_mul(t, rg_map(t, rg_shift(t, x[0], 1e-16), RG_LOG), x[1]),
                           rg_reach_groups(t, &ones, &rows));
}
/* content: cosine times beta, softmax */
static rg_tensor *content_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    const rg_reach *reach = rg_reach_groups(t, &ones, &rows);
    return rg_softmax_over(
        t, rg_mul(t, rg_scores(t, context, x[0], rg_attention_prepare(t, context, x[1]), reach), x[2]), reach);
}

/* two fused steps, and the machines they start from */
static rg_tensor *steps_it(rg_tape *t, rg_tensor *const *x, void *context)
{
    return rg_ntm_step(t, context, x[0],
                       rg_ntm_step(t, context, x[1], rg_ntm_start(t, context, 2, x[2], x[3], 0.1, 1)));
}

static void the_fused_step_has_a_correct_gradient(void **state)
{
    (void)state;
    rg_ntm_sizes sizes[] = { { 5, 3, 1, 1 }, { 3, 2, 2, 2 }, { 17, 1, 1, 3 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const rg_ntm_sizes    *s = &sizes[i];
        const rg_ntm_columns   c = rg_ntm_columns_of(s);
        const rg_gradient_case both = { .name = "ntm_step",
                                        .function = steps_it,
                                        .context = &sizes[i],
                                        .input = { { 2, c.all, NULL, 0, 0 },
                                                   { 2, c.all, NULL, 0, 0 },
                                                   { s->rows, c.H, NULL, 0, 0 },
                                                   { 1, s->readers * s->width, NULL, 0, 0 } } };
        rg_expect_gradient(&both);
    }
}

static void every_step_of_addressing_has_a_correct_gradient(void **state)
{
    (void)state;
    rg_attention        cosine;
    rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
    rg_params          *none;
    config.score = "cosine";
    config.heads = 2;
    config.q_width = 8;
    config.k_width = 4;
    assert_int_equal(rg_params_new(&none), RG_OK);
    assert_int_equal(rg_attention_init(&cosine, &config, none), RG_OK);
    const rg_gradient_case cases[] = {
        { .name = "content",
          .function = content_it,
          .context = &cosine,
          .input = { { 2, 8, NULL, 0, 0 }, { 9, 4, NULL, 0, 0 }, { 9, 2, NULL, 0.5, 3 } } },
        { .name = "gate",
          .function = gate_it,
          .input = { { 9, 2, NULL, 0, 1 }, { 9, 2, NULL, 0, 1 }, { 9, 2, NULL, 0, 1 } } },
        { .name = "roll", .function = roll_it, .input = { { 9, 2, NULL, 0, 1 }, { 2, 6, NULL, 0, 1 } } },
        { .name = "roll by up to two", .function = roll_it, .input = { { 9, 1, NULL, 0, 1 }, { 2, 5, NULL, 0, 1 } } },
        { .name = "sharpen", .function = sharpen_it, .input = { { 9, 2, NULL, 0.1, 1 }, { 9, 2, NULL, 1, 4 } } },
        { .name = "erase",
          .function = erase_it,
          .input = { { 9, 4, NULL, 0, 0 }, { 9, 1, NULL, 0, 1 }, { 2, 4, NULL, 0, 1 } } },
        { .name = "write",
          .function = write_it,
          .input = { { 9, 4, NULL, 0, 0 }, { 9, 1, NULL, 0, 1 }, { 2, 4, NULL, 0, 0 } } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) rg_expect_gradient(&cases[i]);
    rg_params_free(none);
}

typedef struct {
    rg_model        *model;
    rg_puzzle_batch batch;
    bool            watched;
    size_t          seen;
} work;

static bool wants(void *context, const char *name) { return (void)context, strcmp(name, "heads") == 0; }
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    (void)name, (void)x, (void)reach, ((work *)context)->seen++;
}

static rg_tensor *model_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    work            *w = context;
    const rg_watcher watcher = { w, wants, see };
    if (w->watched) rg_tape_set_watcher(t, &watcher);
    rg_tensor *sum = w->model->system->loss(t, w->model, &w->batch).sum;
    rg_tape_set_watcher(t, NULL);
    return sum;
}

static void check_either(const char *name, const char *yaml, const char *kind, bool watched)
{
    const rg_system       *system = rg_system_find(name);
    void                  *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group  group = { .rows = system->options, .values = options };
    const rg_puzzle_config puzzle = { .kind = kind, .bits = 2, .min_length = 2, .max_length = 2, .max_repeats = 2 };
    const rg_sizes   sizes = { { { "features", rg_puzzle_in(&puzzle) }, { "classes", rg_puzzle_out(&puzzle) } } };
    work                   w = { .watched = watched };
    assert_int_equal(rg_puzzle_draw(&w.batch, &puzzle, 1, 2, 0, 2), RG_OK);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (rg_model_new(&w.model, system, options, &sizes, 3) != RG_OK) fail_msg("%s: %s", name, rg_message());
    const rg_gradient_case c = {
        .name = yaml, .function = model_loss, .context = &w, .params = w.model->params, .plain_only = true
    };
    rg_expect_gradient(&c);
    assert_int_equal(w.seen > 0, watched); /* the path that was meant is the one that ran */
    rg_model_free(w.model);
    rg_puzzle_free(&w.batch);
    rg_options_fini(system->options, options);
    rg_free(options);
}

static void check(const char *name, const char *yaml, const char *kind)
{
    check_either(name, yaml, kind, false);
    if (strcmp(name, "ntm") == 0) check_either(name, yaml, kind, true);
}

static void the_whole_machine_has_a_correct_gradient(void **state)
{
    (void)state;
    check("ntm", "units: 3\nmemory-rows: 5\nmemory-width: 3\n", "copy");
    check("ntm", "controller: feed-forward\nunits: 3\nmemory-rows: 4\nmemory-width: 2\n", "copy");
    check("ntm", "units: 3\nmemory-rows: 4\nmemory-width: 2\nwrite-heads: 2\n", "copy");
    check("ntm", "units: 2\nmemory-rows: 3\nmemory-width: 1\nwrite-heads: 3\n", "copy");
    check("ntm", "units: 3\nmemory-rows: 4\nmemory-width: 2\nread-heads: 2\n", "copy");
    check("ntm", "controller: feed-forward\nunits: 3\nmemory-rows: 4\nmemory-width: 2\nread-heads: 2\nwrite-heads: 2\n",
          "repeat-copy");
    check("lstm-copy", "layers: 2\nunits: 3\n", "recall");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_addressing_has_a_correct_gradient),
        cmocka_unit_test(the_fused_step_has_a_correct_gradient),
        cmocka_unit_test(the_whole_machine_has_a_correct_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
