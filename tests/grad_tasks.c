/* Every system of every task: the gradient of its training loss, on a batch of its task's small instance, with
 * respect to numbers of everything it learns. The batch is caught where the learning run takes it, so whatever a
 * task does to get there is part of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/task.h"
#include "support/gradient.h"

#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/grad_tasks.XXXXXX";

/* Small enough to differentiate number by number; names a system does not have are passed over. Gelu and tanh: relu
 * has kinks that differences trip over. */
static const char small[] =
    "dim-emb: 4\ntransformer-dim-ffn: 3\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\ndim-rnn: 3\nwidth: 2\n"
    "heads: 2\nunits: 3\nmemory-rows: 4\nmemory-width: 3\nmini-batch: 2\nmini-batch-words: 0\nbatch: 2\n"
    "max-length: 12\ntransformer-ffn-activation: gelu\nactivation: tanh\ncpu-threads: 1\nlocations: centre\nbaseline: "
    "none\ndivide-gradient: false\nsets: 1\ndilation: 2\nmodel: ''\nseed: 5\n";

typedef struct {
    const rg_model *model;
    const void     *share;
} caught;

static rg_tensor *training_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    const caught *c = context;
    (void)x;
    const rg_system_phase *last = c->model->system->phases; /* of several losses the last, which learns from all parameters */
    while (last && last[1].name) last++;
    return (last ? last->loss(t, c->model, c->share) : rg_model_loss(t, c->model, c->share)).sum;
}

/* Biases start at zero, and what was dropped is zero: moved a little, no unit stands on the kink of its activation. */
static void move_parameters(rg_params *params)
{
    for (size_t i = 0; i < rg_params_count(params); i++) {
        const rg_param *p = rg_params_at(params, i);
        rg_real         noise[64];
        if (rg_param_get_kind(p) == RG_KEPT) continue;
        rg_test_fill(noise, 64, i + 1, -0.1, 0.1);
        for (size_t j = 0; j < rg_param_rows(p) * rg_param_cols(p); j++) rg_param_data(p)[j] += noise[j % 64];
    }
    assert_int_equal(rg_params_repack(params, NULL), RG_OK);
}

static const rg_task *walked; /* the task whose `next` is watched */

static rg_status differentiate(rg_run *run, rg_shares *out)
{
    RG_TRY(walked->next(run, out));
    move_parameters(run->model->params);
    (void)rg_params_freeze(run->model->params, "*", false); /* a phase freezes what it does not learn; `loss` is of everything */
    caught                 c = { run->model, out->share[0] };
    const rg_gradient_case gradient = { .name = run->system->name,
                                        .function = training_loss,
                                        .context = &c,
                                        .params = run->model->params,
                                        .plain_only = true,
                                        .most = 12,
                                        .floor = 1e-8 }; /* differences of sums over a whole batch have fewer digits */
    rg_expect_gradient(&gradient);
    return rg_fail(RG_ESTOP, "seen enough");
}

static void check(const rg_system *its)
{
    rg_task    task = *its->task;
    rg_system  copy = *its;
    rg_recipe *recipe = NULL;
    rg_text    data = { 0 };
    char      *type = rg_format("type: %s\n", its->name), *place = rg_format("%s/%s", folder, task.name),
         *make = rg_format("mkdir -p '%s'", place);
    assert_int_equal(system(make), 0);
    if (rg_text_print(&data, "%s", type) != RG_OK || task.small(&data, place, RG_SMALL_TEST) != RG_OK ||
        rg_recipe_new(&recipe, rg_text_c(&data)) != RG_OK || rg_recipe_read(recipe, small, true) != RG_OK ||
        (its->reads && strcmp(its->reads, "pixels") == 0 && rg_recipe_read(recipe, "layers: c3x3 p2\n", true) != RG_OK))
        fail_msg("%s: %s", its->name, rg_message());
    rg_training training = rg_recipe_training(recipe, NULL);
    walked = its->task;
    task.next = differentiate;
    copy.task = &task;
    training.system = &copy;
    if (rg_learn(NULL, NULL, &training) != RG_ESTOP) fail_msg("%s: %s", its->name, rg_message());
    rg_recipe_free(recipe);
    rg_text_free(&data);
    rg_free(type);
    rg_free(place);
    rg_free(make);
}

static void every_system_of_every_task_has_a_correct_gradient(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) check(*s);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char     *command = rg_format("rm -rf '%s'", folder);
    const int code = system(command);
    rg_free(command);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_system_of_every_task_has_a_correct_gradient) };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
