/* test_classify.c - classifiers of every kind of input, and taggers: an input is answered the same alone and among
 * others, two threads repeat themselves, allocations that fail while one learns, loads and answers leave nothing
 * behind, and what a model file says is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/layers.h"
#include "regard/task.h"
#include "support/faults.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_classify.XXXXXX";

/* A system on sequences of numbers, which no system of the table reads yet: the mean of the rows, one layer. */
typedef struct {
    rg_dense output;
} mean_parts;

static rg_status mean_build(rg_model *m)
{
    rg_dense_init(&((mean_parts *)m->parts)->output, m->params, "output", rg_model_size(m, "features"),
                  rg_model_size(m, "classes"), RG_IDENTITY);
    return RG_OK;
}

static rg_tensor *mean_predict(rg_tape *t, const rg_model *m, const void *data)
{
    const rg_field *x = &((const rg_batch *)data)->field[RG_INPUT];
    rg_tensor      *rows = rg_constant(t, x->values, rg_field_rows(x), x->width, &x->layout);
    return rg_dense_run(t, &((const mean_parts *)m->parts)->output, rg_mean_groups(t, rows));
}

static rg_loss mean_loss(rg_tape *t, const rg_model *m, const void *data)
{
    return rg_compare_classes(t, data, mean_predict(t, m, data));
}

static const rg_option no_options[] = { RG_OPTION_END };
static const rg_system mean = { .name = "mean",
                                .task = &rg_task_classify,
                                .reads = "sequence",
                                .options = no_options,
                                .options_bytes = 1,
                                .parts_bytes = sizeof(mean_parts),
                                .build = mean_build,
                                .loss = mean_loss,
                                .predict = mean_predict };

enum { INPUTS = 4 };

/* A way to learn: a system, its files (NULL: the small instance) and inputs to ask about. */
static const struct way {
    const char *name, *system, *more, *input[INPUTS];
} ways[] = {
    { "text", "words", "width: 4\n", { "ba mau de", "mau", "", "fi pio go ku la" } },
    { "numbers", "mlp", "layers: 3\n", { "0.5 1", "-1 2", "0,0", "" } },
    { "number out",
      "mlp",
      "out: number\ntrain-sets: [numbers.csv]\nvalid-sets: [numbers.csv]\nheader: yes\n",
      { "1 2", "0 1", "3 4", "1 1" } },
    { "counts",
      "mlp",
      "train-sets: [counts.svmlight]\nvalid-sets: [counts.svmlight]\n",
      { "1:1", "2:2 3:1", "", "1:0.5 9:4" } },
    { "no layers",
      "mlp",
      "train-sets: [counts.svmlight]\nvalid-sets: []\nlayers: ''\n",
      { "1:1", "2:2 3:1", "", "1:0.5 9:4" } },
    { "text, a classifier", "classifier", "width: 4\ndim-emb: 3\n", { "ba mau de", "mau", "", "fi pio go ku la" } },
    { "text, windows",
      "classifier",
      "encoder: cnn\npool: max\nmaps: 3\ndim-emb: 3\n",
      { "ba mau de", "mau", "", "fi pio go ku la" } },
    { "text between ends",
      "classifier",
      "encoder: transformer\nends: true\ntransformer-heads: 1\ndim-emb: 4\nattention-rows: 2\n",
      { "ba mau de", "mau", "", "fi pio go ku la" } },
    { "a sequence's class",
      "classifier",
      "in: sequence\nencoder: gru\npool: last\nwidth: 4\ndim-emb: 3\n",
      { "0.1 1; 0.4 0", "0 1", "1 0; 1 1; 1 0", "" } },
    { "a sequence's number",
      "classifier",
      "out: number\ntrain-sets: [sums.tsv]\nvalid-sets: [sums.tsv]\nencoder: lstm\npool: last\nwidth: 4\ndim-emb: 3\n",
      { "0.1 1; 0.4 0", "0 1", "1 0; 1 1; 1 0", "0 0" } },
    { "tags, transformer",
      "tagger",
      "encoder: transformer\ntransformer-heads: 1\ndim-emb: 4\n",
      { "anna met omar", "paris", "", "ford hired kim lee in new york" } },
    { "tags", "tagger", "dim-emb: 3\nwidth: 4\n", { "anna met omar", "paris", "", "ford hired kim lee in new york" } },
    { "sequence", NULL, "", { "0.1 1; 0.4 0", "0 1", "1 0; 1 1; 1 0", "" } },
};
enum { WAYS = sizeof ways / sizeof *ways };

static rg_recipe *recipe_of(const struct way *w, int threads)
{
    rg_recipe       *recipe;
    rg_text          yaml = { 0 };
    const rg_system *its = w->system ? rg_system_find(w->system) : rg_system_find("words"); /* the data of `mean` are those of words */
    assert_int_equal(rg_text_print(&yaml, "type: %s\nmodel: ''\ncpu-threads: %d\n", its->name, threads), RG_OK);
    assert_int_equal(its->task->small(&yaml, ".", RG_SMALL_TEST), RG_OK);
    if (rg_recipe_new(&recipe, rg_text_c(&yaml)) != RG_OK || rg_recipe_read(recipe, w->more, false) != RG_OK)
        fail_msg("%s: %s", w->name, rg_message());
    rg_text_free(&yaml);
    return recipe;
}

static rg_status learn(rg_model **out, const struct way *w, const rg_recipe *recipe)
{
    static const char none = 0;
    rg_training       training = rg_recipe_training(recipe, NULL);
    if (!w->system) training.system = &mean, training.system_options = &none;
    return rg_learn(out, NULL, &training);
}

static rg_model *learned(const struct way *w, int threads)
{
    rg_recipe *recipe = recipe_of(w, threads);
    rg_model  *m;
    if (learn(&m, w, recipe) != RG_OK) fail_msg("%s: %s", w->name, rg_message());
    rg_recipe_free(recipe);
    return m;
}

static void each_way(void (*check)(const struct way *w))
{
    for (size_t i = 0; i < WAYS; i++) check(&ways[i]);
}

/* ------------------------------------------------------------------------------------------------------ answers */

typedef struct {
    rg_text text;
    size_t  columns;
} answers;

static rg_status columns(void *context, const char *const *names, size_t count)
{
    (void)names;
    ((answers *)context)->columns = count;
    return RG_OK;
}

static rg_status row(void *context, const rg_value *cells)
{
    answers *a = context;
    for (size_t i = 0; i < a->columns; i++)
        if (cells[i].text) RG_TRY(rg_text_print(&a->text, "%s\t", cells[i].text));
        else RG_TRY(rg_text_add(&a->text, &cells[i].number, sizeof cells[i].number));
    return rg_text_add_string(&a->text, "\n");
}

static rg_status ignore_record(void *context, const rg_record *record) { return (void)context, (void)record, RG_OK; }

/* Ask about the lines of a file, with everything that can be asked for. */
static rg_status ask(answers *out, const rg_model *m, const char *path, bool record)
{
    const rg_task        *task = m->system->task;
    const rg_sink sink = { .context = out, .columns = columns, .row = row, .record = record ? ignore_record : NULL };
    const rg_option      *rows = task->asking ? task->asking : no_options;
    void                 *options = rg_alloc_zero(task->asking_bytes + 1);
    const rg_option_group group = { .rows = rows, .values = options };
    static const char     all[] = "top: 2\nprobabilities: true\nlogits: true\n", words[] = "words: true\n";
    const bool            text = m->system->reads && strcmp(m->system->reads, "text") == 0;
    rg_status             status = options ? rg_options_init(rows, options) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, all, strlen(all), "test", true);
    if (status == RG_OK && text) status = rg_options_read_yaml(&group, 1, words, strlen(words), "test", true);
    const rg_question q = { .options = options, .input = path, .threads = 2, .sink = &sink };
    if (status == RG_OK) status = task->answer(m, &q);
    if (options) rg_options_fini(rows, options);
    rg_free(options);
    return status;
}

static void write_inputs(const char *path, const char *const *input, size_t count)
{
    rg_text text = { 0 };
    for (size_t i = 0; i < count; i++) assert_int_equal(rg_text_print(&text, "%s\n", input[i]), RG_OK);
    assert_int_equal(rg_file_replace(path, text.data, text.length), RG_OK);
    rg_text_free(&text);
}

static void same_alone(const struct way *w)
{
    rg_model *m = learned(w, 1);
    answers   together = { 0 }, alone = { 0 };
    size_t inputs = m->system->task == &rg_task_classify && !w->input[INPUTS - 1][0] && rg_model_size(m, "regression")
                        ? INPUTS - 1
                        : INPUTS;
    write_inputs("all", w->input, inputs);
    if (ask(&together, m, "all", true) != RG_OK) fail_msg("%s: %s", w->name, rg_message());
    for (size_t i = 0; i < inputs; i++) {
        write_inputs("one", w->input + i, 1);
        if (ask(&alone, m, "one", false) != RG_OK) fail_msg("%s: %s", w->name, rg_message());
    }
    if (together.text.length != alone.text.length ||
        memcmp(together.text.data, alone.text.data, alone.text.length) != 0)
        fail_msg("%s: %s\nalone: %s", w->name, rg_text_c(&together.text), rg_text_c(&alone.text));
    rg_text_free(&together.text);
    rg_text_free(&alone.text);
    rg_model_free(m);
}

static void an_input_is_answered_the_same_alone_and_among_others(void **state)
{
    (void)state;
    each_way(same_alone);
}

static void repeats_with_two_threads(const struct way *w)
{
    rg_model *a = learned(w, 2), *b = learned(w, 2);
    for (size_t i = 0; i < rg_params_count(a->params); i++) {
        const rg_param *p = rg_params_at(a->params, i), *q = rg_params_at(b->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s: %s differs", w->name, rg_param_name(p));
    }
    rg_model_free(a);
    rg_model_free(b);
}

static void two_threads_repeat_themselves(void **state)
{
    (void)state;
    each_way(repeats_with_two_threads);
}

/* Three clouds are told apart; what is linear is learned as such. */
static void numbers_are_learned(void **state)
{
    (void)state;
    static const struct {
        size_t      way;
        const char *input;
        const char *label;
    } asked[] = {
        { 1, "2 0", "low" }, { 1, "-1 1.7", "middle" }, { 1, "-1 -1.7", "high" }, { 3, "1:1", "a" }, { 3, "2:1", "b" }
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        rg_recipe        *recipe = recipe_of(&ways[asked[i].way], 1);
        rg_model         *m;
        answers           a = { 0 };
        assert_int_equal(rg_recipe_read(recipe, "after-epochs: 40\nlearn-rate: 0.05\nearly-stopping: 0\n", false),
                         RG_OK);
        assert_int_equal(learn(&m, &ways[asked[i].way], recipe), RG_OK);
        write_inputs("one", &asked[i].input, 1);
        assert_int_equal(ask(&a, m, "one", false), RG_OK);
        if (strncmp(rg_text_c(&a.text), asked[i].label, strlen(asked[i].label)) != 0)
            fail_msg("%s: %s", asked[i].input, rg_text_c(&a.text));
        rg_text_free(&a.text);
        rg_recipe_free(recipe);
        rg_model_free(m);
    }
}

/* ---------------------------------------------------------------------------------------------- allocation failures */

typedef struct {
    const struct way *way;
    rg_recipe        *recipe;
} learning;

static rg_status learn_once(void *context)
{
    return learn(NULL, ((learning *)context)->way, ((learning *)context)->recipe);
}

static void survives_learning(const struct way *w)
{
    learning l = { w, recipe_of(w, 1) };
    faults_every_alloc(learn_once, &l, NULL, false);
    rg_recipe_free(l.recipe);
}

static rg_status load_and_answer(void *context)
{
    rg_model *m;
    answers   a = { 0 };
    RG_TRY(rg_model_load(&m, context, NULL));
    rg_status status = ask(&a, m, "all", true);
    rg_text_free(&a.text);
    rg_model_free(m);
    return status;
}

static void survives_answering(const struct way *w)
{
    if (!w->system) return; /* not in the table, so that no file of it is loaded */
    rg_model *m = learned(w, 1);
    write_inputs("all", w->input, rg_model_size(m, "regression") ? INPUTS - 1 : INPUTS);
    assert_int_equal(rg_model_save(m, "model"), RG_OK);
    rg_model_free(m);
    faults_every_alloc(load_and_answer, (void *)"model", NULL, false);
}

static void allocations_that_fail_while_it_learns_leave_nothing_behind(void **state)
{
    (void)state;
    const bool all = getenv("CAMPAIGN") != NULL;
    for (size_t i = 0; i < WAYS; i++)
        if (all || i == 0 || i == 2 || i == 5) survives_learning(&ways[i]);
}

static void allocations_that_fail_while_it_answers_leave_nothing_behind(void **state)
{
    (void)state;
    const bool all = getenv("CAMPAIGN") != NULL;
    for (size_t i = 0; i < WAYS; i++)
        if (all || i == 0 || i == 5) survives_answering(&ways[i]);
}

/* ----------------------------------------------------------------------------------------------------------- assets */

static void what_a_file_says_of_its_classes_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *counts, *words; /* of the message; NULL: accepted */
    } cases[] = { { "20 19 21", NULL },
                  { "0 0 0", NULL },
                  { "20 19", "classes.counts" },
                  { "20 19 21 4", "classes.counts" },
                  { "20 x 21", "classes.counts" },
                  { "", "classes.counts" },
                  { "20 -1 4", "classes.counts" } };
    rg_model *m = learned(&ways[0], 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void     *assets = rg_alloc_zero(rg_task_classify.assets_bytes);
        rg_sizes  sizes = { 0 };
        rg_state *file;
        assert_int_equal(rg_state_new(&file), RG_OK);
        assert_int_equal(rg_task_classify.describe(file, m->assets), RG_OK);
        assert_int_equal(rg_state_put_text(file, "classes.counts", cases[i].counts), RG_OK);
        const rg_status status = rg_task_classify.adopt(assets, &sizes, file);
        if (status != (cases[i].words ? RG_EFORMAT : RG_OK)) fail_msg("'%s': %s", cases[i].counts, rg_message());
        if (cases[i].words && !strstr(rg_message(), cases[i].words)) fail_msg("%s", rg_message());
        rg_task_classify.drop(assets);
        rg_free(assets);
        rg_state_free(file);
    }
    rg_model_free(m);
}

static int make_folder(void **state)
{
    (void)state;
    faults_no_sync();
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    rg_text counts = { 0 }, numbers = { 0 }, sums = { 0 };
    for (int i = 0; i < 24; i++) {
        if (rg_text_print(&counts, "%c %d:1 %d:2\n", "ab"[i % 2], 1 + i % 2, 3 + i % 5) != RG_OK) return -1;
        if (rg_text_print(&numbers, "%s%d,%d,%d\n", i ? "" : "price,size,rooms\n", 3 * (i % 5) + i % 3, i % 5, i % 3) !=
            RG_OK)
            return -1;
        if (rg_text_print(&sums, "%s%d\t%d 1; %d 0; %d 1\n", i ? "" : "label\tsequence\n", i % 5 + i % 3, i % 5, i,
                          i % 3) != RG_OK)
            return -1;
    }
    const bool written = rg_file_replace("sums.tsv", sums.data, sums.length) == RG_OK &&
                         rg_file_replace("counts.svmlight", counts.data, counts.length) == RG_OK &&
                         rg_file_replace("numbers.csv", numbers.data, numbers.length) == RG_OK;
    rg_text_free(&counts);
    rg_text_free(&numbers);
    rg_text_free(&sums);
    return written ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    faults_off();
    char     *command = rg_format("rm -rf '%s'", folder);
    const int code = system(command);
    rg_free(command);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_is_answered_the_same_alone_and_among_others),
        cmocka_unit_test(two_threads_repeat_themselves),
        cmocka_unit_test(numbers_are_learned),
        cmocka_unit_test(what_a_file_says_of_its_classes_is_checked),
        cmocka_unit_test(allocations_that_fail_while_it_learns_leave_nothing_behind),
        cmocka_unit_test(allocations_that_fail_while_it_answers_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
