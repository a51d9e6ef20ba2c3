/* Learning from a reward: GLEU by hand, rewards that teach nothing, runs that resume. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/metrics.h"
#include "regard/objective.h"
#include "regard/task.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_reward.XXXXXX";

/* ------------------------------------------------------------------------------------------------------------ GLEU */

static double gleu(const char *output, const char *reference)
{
    rg_scorer *s;
    assert_int_equal(rg_scorer_new(&s, "gleu", NULL), RG_OK);
    assert_int_equal(rg_scorer_add(s, output, &reference, 1), RG_OK);
    const double score = rg_scorer_score(s);
    assert_true(score == rg_scorer_sentence(s, 0));
    rg_scorer_free(s);
    return score;
}

static void gleu_is_the_smaller_of_precision_and_recall(void **state)
{
    (void)state;
    assert_float_equal(gleu("a b c d e", "a b c d e"), 100, 1e-9);
    assert_float_equal(gleu("a b c d e", "a b c d f"), 100.0 * 10 / 14, 1e-9); /* 4 + 3 + 2 + 1 of 5 + 4 + 3 + 2 */
    assert_float_equal(gleu("a b", "a b c"), 100.0 * 3 / 6, 1e-9);             /* recall: a, b, a b of six        */
    assert_float_equal(gleu("a b c", "a b"), 100.0 * 3 / 6, 1e-9);             /* precision                       */
    assert_float_equal(gleu("a a a", "a"), 100.0 * 1 / 6, 1e-9);               /* a word counts once              */
    assert_float_equal(gleu("x", "a"), 0, 1e-9);
    assert_float_equal(gleu("", "a"), 0, 1e-9);
    assert_float_equal(gleu("", ""), 0, 1e-9);
}

static void a_corpus_sums_before_it_divides(void **state)
{
    (void)state;
    static const char *const pairs[][2] = { { "a b c d e", "a b c d f" }, { "a b", "a b c" } };
    rg_scorer               *s;
    assert_int_equal(rg_scorer_new(&s, "gleu", NULL), RG_OK);
    for (size_t i = 0; i < 2; i++) assert_int_equal(rg_scorer_add(s, pairs[i][0], &pairs[i][1], 1), RG_OK);
    assert_float_equal(rg_scorer_score(s), 100.0 * 13 / 20, 1e-9); /* 14 + 3 of the output, 14 + 6 of the references */
    rg_scorer_free(s);
}

static void rewards_have_names(void **state)
{
    (void)state;
    static const char *const names[] = { "gleu", "bleu-sentence", "rouge-l", "chrf" };
    rg_scorer               *s;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rg_scorer_new_reward(&s, names[i]), RG_OK);
        rg_scorer_free(s);
    }
    assert_int_equal(rg_scorer_new_reward(&s, "ter"), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "bleu-sentence"));
}

/* -------------------------------------------------------------------------------------------------------- gradients */

static rg_status spell(rg_text *out, const void *assets, const int32_t *ids, size_t count)
{
    (void)assets;
    for (size_t i = 0; i < count; i++) RG_TRY(rg_text_print(out, "%sw%d", i ? " " : "", (int)ids[i]));
    return RG_OK;
}

static rg_model *make(const char *system)
{
    const rg_system  *s = rg_system_find(system);
    void             *options = rg_alloc_zero(s->options_bytes);
    static const char small[] = "dim-emb: 8\ndim-rnn: 5\nenc-depth: 1\ndec-depth: 1\ndropout-rnn: 0\n";
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    const rg_option_group group = { .rows = s->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
    const rg_sizes sizes = { { { "source-vocabulary", 9 },
                               { "target-vocabulary", 9 },
                               { "joint-vocabulary", true },
                               { "bos", 1 },
                               { "eos", 2 } } };
    rg_model      *m;
    assert_int_equal(rg_model_new(&m, s, options, &sizes, 9), RG_OK);
    rg_options_fini(s->options, options);
    rg_free(options);
    m->spell = spell;
    return m;
}

/* The largest gradient of any parameter after a step of reward alone, and how many parameters got one at all. */
static double largest_gradient(const rg_model *m, const int32_t *target, const int32_t *previous, int32_t words)
{
    static const int32_t  from[] = { 0, 4 }, source[] = { 5, 6, 7, 2 };
    static const uint64_t line[] = { 3 };
    const int32_t         to[] = { 0, words };
    const rg_batch        batch = {
               .examples = 1,
               .fields = 2,
               .lines = line,
               .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = from }, .ids = source },
                          [RG_TARGET] = { .layout = { .groups = 1, .start = to }, .ids = target, .previous = previous } }
    };
    const rg_objective   *o = rg_objective_find("reward");
    void                 *options = rg_alloc_zero(o->options_bytes);
    static const char     alone[] = "likelihood: 0\nsamples: 6\n";
    assert_int_equal(rg_options_init(o->options, options), RG_OK);
    const rg_option_group group = { .rows = o->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, alone, strlen(alone), "test", false), RG_OK);
    const rg_objective_use use = { .objective = o, .model = m, .options = options };
    rg_grads              *grads;
    rg_tape               *t;
    double                 most = 0;
    assert_int_equal(rg_grads_new(&grads, m->params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = true, .grads = grads };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_pass pass = { .model = m, .batch = &batch };
    const rg_loss loss = o->loss(t, &use, &pass);
    if (rg_tape_status(t) != RG_OK || rg_tape_backward(t, loss.sum) != RG_OK) fail_msg("%s", rg_message());
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        const rg_param *p = rg_params_at(m->params, i);
        const rg_real  *g = rg_grads_of(grads, p);
        for (size_t k = 0; g && k < rg_param_rows(p) * rg_param_cols(p); k++) {
            const double v = (double)(g[k] < 0 ? -g[k] : g[k]);
            if (v > most) most = v;
        }
    }
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_options_fini(o->options, options);
    rg_free(options);
    return most;
}

static void a_constant_reward_has_no_gradient(void **state)
{
    (void)state;
    static const int32_t nothing[] = { 2 }, begin[] = { 1 }, target[] = { 3, 4, 5, 6, 7, 8, 2 },
                         previous[] = { 1, 3, 4, 5, 6, 7, 8 };
    static const char *const systems[] = { "rnnsearch", "transformer", "convs2s", "gnmt" };
    for (size_t i = 0; i < 4; i++) {
        rg_model *m = make(systems[i]);
        assert_true(largest_gradient(m, nothing, begin, 1) == 0); /* no answer has a word of an empty reference */
        assert_true(largest_gradient(m, target, previous, 7) > 0);
        rg_model_free(m);
    }
}

/* --------------------------------------------------------------------------------------------------------- training */

typedef struct {
    size_t asked, stop_at;
} asking;

static bool stop(void *context)
{
    asking *a = context;
    return ++a->asked == a->stop_at;
}

static rg_status learn(const char *model, size_t stop_at, size_t *asked)
{
    asking                a = { .stop_at = stop_at };
    const rg_train_report report = { .context = &a, .stop = stop };
    rg_recipe            *recipe = NULL;
    rg_text               data = { 0 };
    char                 *more = rg_format(
                        "model: %s/%s\ncpu-threads: 1\ndim-emb: 6\ndim-rnn: 5\nsamples: 3\nlikelihood: 0.1\nvalid-metrics: [gleu]\n",
                        folder, model);
    assert_int_equal(rg_task_translation.small(&data, folder, RG_SMALL_TEST), RG_OK);
    if (rg_recipe_new(&recipe, "type: rnnsearch\nobjective: [reward]\n") != RG_OK ||
        rg_recipe_read(recipe, rg_text_c(&data), false) != RG_OK || rg_recipe_read(recipe, more, false) != RG_OK)
        fail_msg("%s", rg_message());
    const rg_training training = rg_recipe_training(recipe, &report);
    const rg_status   status = rg_learn(NULL, NULL, &training);
    rg_recipe_free(recipe);
    rg_text_free(&data);
    rg_free(more);
    if (asked) *asked = a.asked;
    return status;
}

static bool same_files(const char *a, const char *b)
{
    char     *command = rg_format("cd '%s' && cmp '%s' '%s'", folder, a, b);
    const int code = system(command);
    rg_free(command);
    return code == 0;
}

static void a_stopped_run_resumes_to_the_same_bytes(void **state)
{
    (void)state;
    size_t asked;
    if (learn("one", 0, &asked) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(learn("half", asked / 2 + 1, NULL), RG_ESTOP);
    if (learn("half", 0, NULL) != RG_OK) fail_msg("%s", rg_message());
    assert_true(same_files("one", "half"));
    assert_true(same_files("one.checkpoint", "half.checkpoint"));
}

/* A system that writes nothing has nothing to reward, and one that writes does not answer once. */
static void objectives_know_their_systems(void **state)
{
    (void)state;
    rg_objectives            *o;
    const rg_objective_choice reward = { .objective = rg_objective_find("reward") },
                              plain = { .objective = rg_objective_find("plain") };
    assert_int_equal(rg_objectives_new(&o, rg_system_find("words"), &reward, 1), RG_EINVAL);
    assert_int_equal(rg_objectives_new(&o, rg_system_find("luong"), &plain, 1), RG_EINVAL);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    char     *command = rg_format("rm -r '%s'", folder);
    const int code = system(command);
    rg_free(command);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gleu_is_the_smaller_of_precision_and_recall),
        cmocka_unit_test(a_corpus_sums_before_it_divides),
        cmocka_unit_test(rewards_have_names),
        cmocka_unit_test(a_constant_reward_has_no_gradient),
        cmocka_unit_test(a_stopped_run_resumes_to_the_same_bytes),
        cmocka_unit_test(objectives_know_their_systems),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
