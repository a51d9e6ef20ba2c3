/* Generative adversarial networks: gradients of the two players, what a discriminator learns, samples that follow
 * from seed and number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "regard/metrics.h"
#include "regard/ops.h"
#include "regard/task.h"
#include "support/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, F = 3 };

typedef struct {
    rg_recipe *recipe;
    rg_model  *model;
    rg_grads  *grads;
    rg_tape   *tape;
    rg_batch   batch;
    int32_t    start[4001];
} fixture;

static void make(fixture *f, const char *settings, size_t features)
{
    const rg_sizes sizes = { { { "features", features } } };
    if (rg_recipe_new(&f->recipe, settings) != RG_OK) fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(f->recipe, NULL);
    if (rg_model_new(&f->model, t.system, t.system_options, &sizes, 3) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(rg_grads_new(&f->grads, f->model->params), RG_OK);
    const rg_tape_config c = { .record = true, .learn = true, .seed = 5, .grads = f->grads };
    assert_int_equal(rg_tape_new(&f->tape, &c), RG_OK);
}

static void give(fixture *f, const rg_real *x, size_t n, size_t width)
{
    for (size_t i = 0; i <= n; i++) f->start[i] = (int32_t)i;
    f->batch = (rg_batch){ .examples = n, .fields = 1 };
    f->batch.field[RG_INPUT] = (rg_field){
        .kind = RG_FIELD_NUMBERS, .layout = { .groups = n, .start = f->start }, .values = x, .width = width
    };
}

static void drop(fixture *f)
{
    rg_tape_free(f->tape);
    rg_grads_free(f->grads);
    rg_model_free(f->model);
    rg_recipe_free(f->recipe);
}

static rg_tensor *use(fixture *f, const char *name) { return rg_use(f->tape, rg_params_find(f->model->params, name)); }

/* d(x): one hidden layer, as the settings say. */
static rg_tensor *verdict(fixture *f, rg_tensor *x)
{
    rg_tensor *h = rg_linear(f->tape, x, use(f, "discriminator.net.0.w"), use(f, "discriminator.net.0.b"), RG_RELU);
    return rg_linear(f->tape, h, use(f, "discriminator.verdict.w"), use(f, "discriminator.verdict.b"), RG_IDENTITY);
}

/* The generator of the minimax game learns by the discriminator's own loss with the gradient reversed, as features
 * do from a domain head: "a more general case". */
static void the_minimax_generator_learns_through_a_reversed_gradient(void **state)
{
    (void)state;
    rg_real x[N * F], zeros[N] = { 0 }, direct[1000];
    fixture f;
    for (size_t i = 0; i < N * F; i++) x[i] = (rg_real)cos((double)i);
    make(&f, "type: gan\nnoise: 4\ngenerator-layers: ''\ndiscriminator-layers: f6\ngan-loss: minimax\n", F);
    give(&f, x, N, F);
    const rg_param *w = rg_params_find(f.model->params, "generator.sample.w");
    const size_t    count = rg_param_rows(w) * rg_param_cols(w);
    rg_tape_reset(f.tape, 7);
    assert_int_equal(rg_tape_backward(f.tape, f.model->system->phases[1].loss(f.tape, f.model, &f.batch).sum), RG_OK);
    memcpy(direct, rg_grads_of(f.grads, w), count * sizeof *direct);
    rg_tape_reset(f.tape, 7);
    rg_tensor *z = rg_shift(f.tape, rg_scale(f.tape, rg_uniform(f.tape, N, 4, NULL), 2), -1);
    rg_tensor *fake = rg_linear(f.tape, z, use(&f, "generator.sample.w"), use(&f, "generator.sample.b"), RG_IDENTITY);
    rg_tensor *loss = rg_binary_cross_entropy(f.tape, verdict(&f, rg_reverse_gradient(f.tape, fake, 1)), zeros);
    assert_int_equal(rg_tape_backward(f.tape, loss), RG_OK);
    const rg_real *reversed = rg_grads_of(f.grads, w);
    double         size = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs((double)(direct[i] - reversed[i])) <= 1e-6 * (1 + fabs((double)direct[i])));
        size += fabs((double)direct[i]);
    }
    assert_true(size > 1e-3);
    drop(&f);
}

/* Data of N(1, 1) against samples of N(0, 1): the best verdict is p / (p + q) = sigmoid(x - 1/2). */
static void the_discriminator_learns_the_share_of_the_data(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    static rg_real x[MANY];
    fixture        f;
    rg_random      random = rg_random_new(4, 1);
    make(&f, "type: gan\nnoise: 1\nnoise-kind: normal\ngenerator-layers: ''\ndiscriminator-layers: ''\n", 1);
    rg_param_data(rg_params_find(f.model->params, "generator.sample.w"))[0] = 1;
    rg_param_data(rg_params_find(f.model->params, "generator.sample.b"))[0] = 0;
    assert_int_equal(rg_params_repack(f.model->params, NULL), RG_OK);
    rg_param *w = rg_params_find(f.model->params, "discriminator.verdict.w"),
             *b = rg_params_find(f.model->params, "discriminator.verdict.b");
    double    mean_w = 0, mean_b = 0;
    for (size_t step = 0; step < 400; step++) {
        for (size_t i = 0; i < MANY; i++) x[i] = (rg_real)(1 + rg_random_normal(&random));
        give(&f, x, MANY, 1);
        rg_tape_reset(f.tape, step);
        const rg_loss loss = f.model->system->phases[0].loss(f.tape, f.model, &f.batch);
        assert_int_equal(rg_tape_backward(f.tape, loss.sum), RG_OK);
        rg_param_data(w)[0] -= (rg_real)(0.5 / MANY) * rg_grads_of(f.grads, w)[0];
        rg_param_data(b)[0] -= (rg_real)(0.5 / MANY) * rg_grads_of(f.grads, b)[0];
        assert_int_equal(rg_params_repack(f.model->params, NULL), RG_OK);
        if (step >= 200) mean_w += (double)rg_param_data(w)[0] / 200, mean_b += (double)rg_param_data(b)[0] / 200;
    }
    for (double at = -2; at <= 3; at += 0.5)
        assert_true(fabs(1 / (1 + exp(-(mean_w * at + mean_b))) - 1 / (1 + exp(0.5 - at))) < 0.02);
    drop(&f);
}

typedef struct {
    char   lines[64][200];
    size_t count;
} heard;

static rg_status take_columns(void *context, const char *const *names, size_t count)
{
    (void)context;
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "numbers");
    return RG_OK;
}

static rg_status take_row(void *context, const rg_value *cells)
{
    heard *h = context;
    snprintf(h->lines[h->count++], sizeof h->lines[0], "%s", cells[0].text);
    return RG_OK;
}

static void ask(heard *h, const rg_model *m, const char *count)
{
    const rg_task *task = m->system->task;
    void          *values = rg_alloc_zero(task->drawing_bytes);
    const rg_sink  sink = { .context = h, .columns = take_columns, .row = take_row };
    const rg_option_group group = { .rows = task->drawing, .values = values };
    assert_int_equal(rg_options_init(task->drawing, values), RG_OK);
    assert_int_equal(rg_options_set(&group, 1, "samples", 1, &count), RG_OK);
    const rg_question q = { .options = values, .sink = &sink };
    h->count = 0;
    if (task->generate(m, &q) != RG_OK) fail_msg("%s", rg_message());
    rg_options_fini(task->drawing, values);
    rg_free(values);
}

static void a_sample_follows_from_seed_and_number_alone(void **state)
{
    (void)state;
    static heard few, many;
    rg_text      yaml = { 0 };
    rg_recipe   *recipe;
    rg_model    *m, *loaded;
    faults_no_sync();
    assert_int_equal(rg_text_print(&yaml, "type: gan\nmodel: gan.safetensors\ncpu-threads: 1\n"), RG_OK);
    assert_int_equal(rg_task_find("sample")->small(&yaml, ".", RG_SMALL_TEST), RG_OK);
    if (rg_recipe_new(&recipe, rg_text_c(&yaml)) != RG_OK) fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(recipe, NULL);
    if (rg_learn(&m, NULL, &t) != RG_OK) fail_msg("%s", rg_message());
    if (rg_model_load(&loaded, "gan.safetensors", NULL) != RG_OK) fail_msg("%s", rg_message());
    ask(&few, loaded, "3");
    ask(&many, m, "60");
    for (size_t i = 0; i < 3; i++) assert_string_equal(few.lines[i], many.lines[i]);
    assert_string_not_equal(many.lines[0], many.lines[1]);
    rg_model_free(m);
    rg_model_free(loaded);
    rg_recipe_free(recipe);
    rg_text_free(&yaml);
    faults_off();
}

/* One sample at 0 and sigma known: the density of a normal distribution. */
static void parzen_windows_are_normal_densities(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static rg_real samples[MANY], x[MANY], valid[MANY];
    rg_random      r = rg_random_new(9, 1);
    rg_parzen      p;
    for (size_t i = 0; i < MANY; i++) {
        samples[i] = (rg_real)rg_random_normal(&r);
        x[i] = (rg_real)rg_random_normal(&r);
        valid[i] = (rg_real)rg_random_normal(&r);
    }
    assert_int_equal(rg_parzen_measure(&p, samples, MANY, x, MANY, valid, MANY, 1), RG_OK);
    assert_true(fabs(p.mean + 1.4189) < 0.05 && p.sigma > 0.05 && p.sigma < 0.8); /* the entropy of N(0, 1) in nats */
    assert_true(p.error > 0.005 && p.error < 0.03);
    const rg_real zero = 0, one = 1;
    assert_int_equal(rg_parzen_measure(&p, &zero, 1, &one, 1, &one, 1, 1), RG_OK);
    assert_true(fabs(p.mean + 0.5 / (p.sigma * p.sigma) + 0.5 * log(6.283185307 * p.sigma * p.sigma)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimax_generator_learns_through_a_reversed_gradient),
        cmocka_unit_test(the_discriminator_learns_the_share_of_the_data),
        cmocka_unit_test(a_sample_follows_from_seed_and_number_alone),
        cmocka_unit_test(parzen_windows_are_normal_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
