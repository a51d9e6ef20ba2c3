/* test_tasks.c - walks the table of tasks, and of each the systems: every one learns its small instance, the same
 * seed gives the same bytes, a run that was stopped resumes to the same bytes, its model file loads, is averaged and
 * answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/record.h"
#include "regard/task.h"
#include "support/faults.h"
#include "support/small_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_tasks.XXXXXX";

typedef struct {
    size_t asked, stop_at;
} asking;

static bool stop(void *context)
{
    asking *a = context;
    return ++a->asked == a->stop_at;
}

/* A recipe for the small instance of the system's task, with its model in the folder. */
static rg_recipe *recipe_of(const rg_system *its, const char *model, int threads)
{
    char      *more = rg_format("model: %s/%s\ncpu-threads: %d\n", folder, model, threads);
    rg_recipe *recipe = small_recipe(its, folder, more);
    assert_ptr_equal(rg_recipe_training(recipe, NULL).system, its);
    rg_free(more);
    return recipe;
}

static rg_status learn(rg_model **out, const rg_system *system, const char *model, int threads, size_t stop_at,
                       size_t *asked)
{
    asking                a = { .stop_at = stop_at };
    const rg_train_report report = { .context = &a, .stop = stop };
    rg_recipe            *recipe = recipe_of(system, model, threads);
    const rg_training     training = rg_recipe_training(recipe, &report);
    const rg_status       status = rg_learn(out, NULL, &training);
    rg_recipe_free(recipe);
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

static void in_folder(const char *what)
{
    char *command = rg_format("cd '%s' && %s", folder, what);
    assert_int_equal(system(command), 0);
    rg_free(command);
}

static void each_system(void (*check)(const rg_system *system))
{
    for (const rg_task *const *t = rg_task_all(); *t; t++) {
        size_t systems = 0;
        for (const rg_system *const *s = rg_system_all(); *s; s++)
            if ((*s)->task == *t) check(*s), systems++;
        if (!systems) fail_msg("no system learns '%s'", (*t)->name);
    }
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static void repeats_and_resumes(const rg_system *system)
{
    size_t asked;
    in_folder("rm -rf one* two* half*");
    if (learn(NULL, system, "one", 1, 0, &asked) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    if (learn(NULL, system, "two", 1, 0, NULL) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    if (!same_files("one", "two") || !same_files("one.checkpoint", "two.checkpoint"))
        fail_msg("%s: the same seed, other bytes", system->name);
    assert_true(asked >= 3);
    /* Wherever it is asked: between updates, or in the middle of a validation. */
    for (size_t part = 1; part < 4; part++) {
        in_folder("rm -rf half*");
        if (learn(NULL, system, "half", 1, part * asked / 4 + 1, NULL) != RG_ESTOP)
            fail_msg("%s was not stopped", system->name);
        if (learn(NULL, system, "half", 1, 0, NULL) != RG_OK) fail_msg("%s: resumed: %s", system->name, rg_message());
        if (!same_files("one", "half") || !same_files("one.checkpoint", "half.checkpoint"))
            fail_msg("%s: resumed to other bytes", system->name);
    }
}

static void every_system_of_every_task_repeats_and_resumes_bit_for_bit(void **state)
{
    (void)state;
    each_system(repeats_and_resumes);
}

typedef struct {
    const rg_system *system;
    size_t           columns, rows, records;
    size_t           number_column; /* which says the number of the input; columns: none */
    rg_text          printed;
} answers;

static rg_status columns(void *context, const char *const *names, size_t count)
{
    answers *a = context;
    a->columns = a->number_column = count;
    for (size_t i = 0; i < count; i++) {
        assert_true(names[i] && *names[i]);
        if (strcmp(names[i], "line") == 0) a->number_column = i;
    }
    return RG_OK;
}

static rg_status row(void *context, const rg_value *cells)
{
    answers *a = context;
    assert_true(a->columns > 0 && cells);
    a->rows++;
    return RG_OK;
}

/* Every attention a system says can be watched is in the record, with the labels it names, of the lengths they have. */
static void check_maps(const rg_system *s, const rg_record *r)
{
    for (const rg_attention_use *u = s->uses; u && u->where; u++) {
        size_t maps = 0;
        if (!u->watch) continue;
        assert_true(u->rows && u->cols);
        for (size_t i = 0; i < r->maps; i++) {
            const rg_labels *rows = &r->labels[r->map[i].row_labels], *cols = &r->labels[r->map[i].col_labels];
            if (strcmp(rows->name, u->rows) != 0 || strcmp(cols->name, u->cols) != 0) continue;
            if (r->map[i].rows != rows->count || r->map[i].cols != cols->count)
                fail_msg("%s: a map of other sizes than its labels", s->name);
            maps++;
        }
        if (!maps) fail_msg("%s: no map from %s to %s, which %s promises", s->name, u->rows, u->cols, u->watch);
    }
}

static rg_status record(void *context, const rg_record *r)
{
    assert_non_null(r);
    check_maps(((answers *)context)->system, r);
    ((answers *)context)->records++;
    return RG_OK;
}

/* What it is asked about: its own training data, by whatever name the task gives them. */
static void ask(const rg_model *m, answers *a)
{
    static const rg_option nothing[] = { RG_OPTION_END };
    const rg_task        *task = m->system->task;
    const bool            draws = !task->answer; /* it gives samples */
    const rg_option      *rows = draws ? task->drawing : task->asking ? task->asking : nothing;
    void                 *options = rg_alloc_zero((draws ? task->drawing_bytes : task->asking_bytes) + 1);
    const rg_option_group group = { .rows = rows, .values = options };
    const char           *reads = m->system->reads ? m->system->reads : "text";
    char                  *place = rg_format("%s/%s", folder, task->name),
         *picture = rg_format("%s/pictures/1-0.png%s", place, strcmp(task->name, "vqa") == 0 ? "\twhat is it" : ""),
         *recording = rg_format("%s/ask.wav", place);
    char                 *word = strncmp(reads, "numbers", 7) == 0 ? (char *)"0.5 1"
                                 : strcmp(reads, "pixels") == 0    ? picture
                                 : strncmp(reads, "sound", 5) == 0 ? recording
                                                                   : (char *)"ba de";
    const rg_sink         sink = { .context = a, .columns = columns, .row = row, .record = record };
    const rg_list         words = { 1, &word };
    size_t                at;
    assert_int_equal(rg_options_init(rows, options), RG_OK);
    if (rg_option_find(&group, 1, "graph", &at))
        assert_int_equal(rg_options_set(&group, 1, "graph", 1, (const char *const *)&place), RG_OK);
    const rg_question q = { .options = options, .words = &words, .input = "/dev/null", .threads = 1, .sink = &sink };
    if ((draws ? task->generate : task->answer)(m, &q) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    rg_options_fini(rows, options);
    rg_free(options);
    rg_free(place);
    rg_free(picture);
    rg_free(recording);
}

static void loads_and_answers(const rg_system *system)
{
    rg_model *learned, *loaded, *mean;
    answers   a = { .system = system };
    in_folder("rm -rf one* again*");
    if (learn(&learned, system, "one", 2, 0, NULL) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    char *path = rg_format("%s/one", folder), *again = rg_format("%s/again", folder),
         *more = rg_format("%s/more", folder);
    if (rg_model_load(&loaded, path, system->task) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    assert_int_equal(rg_model_save(loaded, again), RG_OK);
    if (rg_model_load(&mean, again, NULL) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    assert_int_equal(rg_model_save(mean, more), RG_OK);
    if (!same_files("again", "more")) fail_msg("%s: saved, loaded and saved again is another file", system->name);
    const char *const both[] = { path, again };
    assert_int_equal(rg_checkpoint_average(mean->params, both, 2, NULL), RG_OK);
    for (size_t i = 0; i < rg_params_count(mean->params); i++) {
        const rg_param *p = rg_params_at(mean->params, i), *q = rg_params_at(loaded->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s: the mean of twice the same is another %s", system->name, rg_param_name(p));
    }
    ask(loaded, &a);
    if (!a.rows || a.records != (system->task->answer ? 1 : 0))
        fail_msg("%s: %zu rows and %zu records", system->name, a.rows, a.records);
    rg_model_free(learned);
    rg_model_free(loaded);
    rg_model_free(mean);
    rg_free(path);
    rg_free(again);
    rg_free(more);
}

static void every_system_of_every_task_loads_averages_and_answers(void **state)
{
    (void)state;
    each_system(loads_and_answers);
}

/* In 8 and 16 bits: what is saved is loaded as it was, answers, and is neither learned nor averaged. */
static void quantises_and_answers(const rg_system *system)
{
    rg_model *learned;
    in_folder("rm -rf one* eight* again*");
    if (learn(&learned, system, "one", 1, 0, NULL) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    rg_model_free(learned);
    char *path = rg_format("%s/one", folder), *eight = rg_format("%s/eight", folder),
         *again = rg_format("%s/again", folder);
    for (rg_weights w = RG_WEIGHT_BF16; w <= RG_WEIGHT_INT8; w++) {
        rg_model         *m, *loaded, *wide;
        rg_grads         *grads;
        const char *const paths[] = { eight };
        answers           a = { .system = system };
        if (rg_model_load_as(&m, path, system->task, w) != RG_OK || rg_model_save(m, eight) != RG_OK)
            fail_msg("%s: %s", system->name, rg_message());
        if (rg_model_load(&loaded, eight, NULL) != RG_OK || rg_model_save(loaded, again) != RG_OK)
            fail_msg("%s: %s", system->name, rg_message());
        if (!same_files("eight", "again"))
            fail_msg("%s: %s, saved, loaded and saved again is another file", system->name, rg_weights_name(w));
        assert_int_equal(rg_params_get_weights(loaded->params), w);
        ask(loaded, &a);
        if (!a.rows || a.records != (system->task->answer ? 1 : 0))
            fail_msg("%s: %zu rows and %zu records", system->name, a.rows, a.records);
        assert_int_equal(rg_grads_new(&grads, loaded->params), RG_EINVAL);
        assert_non_null(strstr(rg_message(), "float32 model"));
        assert_int_equal(rg_checkpoint_average(loaded->params, paths, 1, NULL), RG_EMATCH);
        if (rg_model_load_as(&wide, eight, NULL, RG_WEIGHT_F32) != RG_OK)
            fail_msg("%s: %s", system->name, rg_message());
        assert_int_equal(rg_params_get_weights(wide->params), RG_WEIGHT_F32);
        rg_model_free(m);
        rg_model_free(loaded);
        rg_model_free(wide);
    }
    rg_free(path);
    rg_free(eight);
    rg_free(again);
}

static void every_system_of_every_task_answers_in_8_and_16_bits(void **state)
{
    (void)state;
    each_system(quantises_and_answers);
}

/* ----------------------------------------------------------------------------------------- memory, and other inputs */

typedef struct {
    const rg_system *system;
    rg_recipe       *recipe;
    const char      *path;
} attempt;

/* Learn, save, load. */
static rg_status learn_and_load(void *context)
{
    const attempt    *a = context;
    const rg_training training = rg_recipe_training(a->recipe, NULL);
    rg_model         *loaded = NULL;
    rg_status         status = rg_learn(NULL, NULL, &training);
    if (status == RG_OK) status = rg_model_load(&loaded, a->path, NULL);
    rg_model_free(loaded);
    return status;
}

/* Some of the allocations of a whole run fail, one at a time: the run says so and leaves no block behind, or did not
 * need that one. */
static void survives_failing_allocations(const rg_system *system)
{
    enum { POINTS = 10 };
    char   *path = rg_format("%s/one", folder);
    attempt a = { system, recipe_of(system, "one", 1), path };
    in_folder("rm -rf one*");
    faults_fail_alloc(0, false);
    if (learn_and_load(&a) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    const size_t all = faults_allocs(), before = rg_base__live_blocks();
    for (size_t i = 0; i < POINTS; i++) {
        const size_t nth = 1 + i * all / POINTS + i % 3;
        in_folder("rm -rf one*");
        faults_fail_alloc(nth, false);
        const rg_status status = learn_and_load(&a);
        faults_fail_alloc(0, false);
        if (status != RG_OK && status != RG_ENOMEM)
            fail_msg("%s: allocation %zu of %zu: %s", system->name, nth, all, rg_message());
        if (rg_base__live_blocks() != before)
            fail_msg("%s: allocation %zu of %zu: %zu blocks before, %zu after", system->name, nth, all, before,
                     rg_base__live_blocks());
    }
    faults_off();
    faults_no_sync();
    rg_recipe_free(a.recipe);
    rg_free(path);
}

static void every_system_of_every_task_survives_failing_allocations(void **state)
{
    (void)state;
    each_system(survives_failing_allocations);
}

static rg_status print_row(void *context, const rg_value *cells)
{
    answers *a = context;
    for (size_t i = 0; i < a->columns; i++) {
        if (i == a->number_column) continue;
        const rg_status status = cells[i].text ? rg_text_print(&a->printed, "%s\t", cells[i].text)
                                               : rg_text_print(&a->printed, "%.17g\t", cells[i].number);
        if (status != RG_OK) return status;
    }
    return rg_text_print(&a->printed, "\n");
}

/* What the model answers to the lines of a file, as text. */
static void ask_lines(rg_text *out, const rg_model *m, const char *lines, int threads)
{
    const rg_task *task = m->system->task;
    void          *options = rg_alloc_zero(task->asking_bytes + 1);
    char          *path = rg_format("%s/lines", folder);
    answers        a = { .system = m->system };
    const rg_sink  sink = { .context = &a, .columns = columns, .row = print_row };
    const rg_question q = { .options = options, .input = path, .threads = threads, .sink = &sink };
    assert_int_equal(rg_file_replace(path, lines, strlen(lines)), RG_OK);
    if (task->asking) assert_int_equal(rg_options_init(task->asking, options), RG_OK);
    if (task->answer(m, &q) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    *out = a.printed;
    if (task->asking) rg_options_fini(task->asking, options);
    rg_free(options);
    rg_free(path);
}

/* Texts together, each alone, and with two threads: the same answers to the last bit. */
static void alone_as_among_others(const rg_model *m)
{
    const rg_system         *system = m->system;
    static const char *const line[] = { "ba de\n", "fi\n", "go ku la ba de\n", "ku\n" };
    rg_text                  together = { 0 }, threads = { 0 }, alone = { 0 };
    char                     all[200] = "";
    if (system->task->texts && system->task->texts(m) && (!system->reads || strcmp(system->reads, "text") == 0)) {
        for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
            rg_text one;
            strcat(all, line[i]);
            ask_lines(&one, m, line[i], 1);
            assert_int_equal(rg_text_add(&alone, one.data, one.length), RG_OK);
            rg_text_free(&one);
        }
        ask_lines(&together, m, all, 1);
        ask_lines(&threads, m, all, 2);
        if (strcmp(rg_text_c(&alone), rg_text_c(&together)) != 0)
            fail_msg("%s alone:\n%s\namong others:\n%s", system->name, rg_text_c(&alone), rg_text_c(&together));
        if (strcmp(rg_text_c(&threads), rg_text_c(&together)) != 0)
            fail_msg("%s: two threads answer otherwise", system->name);
        assert_true(together.length > 0);
    }
    rg_text_free(&alone);
    rg_text_free(&together);
    rg_text_free(&threads);
}

static void answers_alone_as_among_others(const rg_system *system)
{
    rg_model *m;
    char     *path = rg_format("%s/one", folder);
    in_folder("rm -rf one*");
    if (learn(&m, system, "one", 1, 0, NULL) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    alone_as_among_others(m);
    rg_model_free(m);
    for (rg_weights w = RG_WEIGHT_BF16; w <= RG_WEIGHT_INT8; w++) {
        if (rg_model_load_as(&m, path, NULL, w) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
        alone_as_among_others(m);
        rg_model_free(m);
    }
    rg_free(path);
}

static void every_system_that_reads_texts_answers_alone_as_among_others(void **state)
{
    (void)state;
    each_system(answers_alone_as_among_others);
}

static void a_run_that_smooths_returns_what_it_saved(void **state)
{
    (void)state;
    rg_model  *learned, *loaded;
    rg_recipe *recipe = recipe_of(rg_system_find("luong"), "one", 1);
    in_folder("rm -rf one*");
    assert_int_equal(rg_recipe_read(recipe, "exponential-smoothing: 0.1\n", false), RG_OK);
    const rg_training training = rg_recipe_training(recipe, NULL);
    if (rg_learn(&learned, NULL, &training) != RG_OK) fail_msg("%s", rg_message());
    char *path = rg_format("%s/one", folder);
    assert_int_equal(rg_model_load(&loaded, path, NULL), RG_OK);
    for (size_t i = 0; i < rg_params_count(loaded->params); i++) {
        const rg_param *p = rg_params_at(learned->params, i), *q = rg_params_at(loaded->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s in memory is not that of the file", rg_param_name(p));
    }
    rg_model_free(learned);
    rg_model_free(loaded);
    rg_recipe_free(recipe);
    rg_free(path);
}

/* The weights of the model file and of the checkpoint: the same when nothing else was better. */
static void expect_last_weights(const char *model)
{
    rg_model   *saved, *last;
    char       *path = rg_format("%s/%s", folder, model), *checkpoint = rg_format("%s.checkpoint", path);
    const char *one[] = { checkpoint };
    assert_int_equal(rg_model_load(&saved, path, NULL), RG_OK);
    assert_int_equal(rg_model_load(&last, path, NULL), RG_OK);
    assert_int_equal(rg_checkpoint_average(last->params, one, 1, NULL), RG_OK);
    for (size_t i = 0; i < rg_params_count(last->params); i++) {
        const rg_param *p = rg_params_at(saved->params, i), *q = rg_params_at(last->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s of the model file is not what was learned", rg_param_name(p));
    }
    rg_model_free(saved);
    rg_model_free(last);
    rg_free(path);
    rg_free(checkpoint);
}

/* `classify` keeps the best weights and validates after each epoch. */
static void a_run_that_ends_within_its_first_epoch_is_validated_and_saves_what_it_learned(void **state)
{
    (void)state;
    rg_recipe *recipe = recipe_of(rg_system_find("words"), "one", 1);
    rg_learned learned;
    in_folder("rm -rf one*");
    assert_int_equal(rg_recipe_read(recipe, "after-batches: 2\n", false), RG_OK);
    const rg_training training = rg_recipe_training(recipe, NULL);
    if (rg_learn(NULL, &learned, &training) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(learned.updates, 2);
    assert_int_equal(learned.validations, 1);
    expect_last_weights("one");
    rg_recipe_free(recipe);
}

static void a_run_that_is_stopped_before_its_first_validation_saves_what_it_learned(void **state)
{
    (void)state;
    in_folder("rm -rf one*");
    assert_int_equal(learn(NULL, rg_system_find("words"), "one", 1, 2, NULL), RG_ESTOP);
    expect_last_weights("one");
}

/* --init-from takes what fits and says what; --freeze leaves it as it was. */
static char  said[16384];
static void  say(void *context, const char *line)
{
    (void)context, strncat(said, line, sizeof said - strlen(said) - 2), strcat(said, "\n");
}

static void a_run_starts_from_another_models_weights_and_freezes_some(void **state)
{
    (void)state;
    const rg_train_report report = { .say = say };
    const rg_system      *transformer = rg_system_find("transformer");
    rg_model             *first, *second;
    in_folder("rm -rf one* two*");
    assert_int_equal(learn(&first, transformer, "one", 1, 0, NULL), RG_OK);
    rg_recipe *recipe = recipe_of(transformer, "two", 1);
    char      *more = rg_format("init-from: %s/one\nfreeze: ['encoder.*']\ndec-depth: 2\nseed: 9\n", folder);
    assert_int_equal(rg_recipe_read(recipe, more, false), RG_OK);
    const rg_training training = rg_recipe_training(recipe, &report);
    if (rg_learn(&second, NULL, &training) != RG_OK) fail_msg("%s", rg_message());
    if (!strstr(said, "parameters from") || !strstr(said, "embedding") || !strstr(said, "fresh:") ||
        !strstr(said, "decoder.1.self.wqkv"))
        fail_msg("%s", said);
    const rg_param *p = rg_params_find(first->params, "encoder.0.self.wqkv"),
                   *q = rg_params_find(second->params, "encoder.0.self.wqkv");
    assert_memory_equal(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real));
    p = rg_params_find(first->params, "output.bias"), q = rg_params_find(second->params, "output.bias");
    assert_true(memcmp(rg_param_data(p), rg_param_data(q), rg_param_cols(p) * sizeof(rg_real)) != 0);
    rg_recipe_free(recipe);
    rg_free(more);
    rg_model_free(first);
    rg_model_free(second);
}

static void weights_of_another_vocabulary_are_refused(void **state)
{
    (void)state;
    const rg_system *luong = rg_system_find("luong");
    in_folder("rm -rf one* two*; mkdir -p other; sed 's/ba/zu/g' translation/small.src > other/small.src; cp "
              "translation/small.tgt other/small.tgt");
    assert_int_equal(learn(NULL, luong, "one", 1, 0, NULL), RG_OK);
    rg_recipe *recipe = recipe_of(luong, "two", 1);
    char      *more =
        rg_format("init-from: %s/one\ntrain-sets: [%s/other/small.src, %s/other/small.tgt]\n", folder, folder, folder);
    assert_int_equal(rg_recipe_read(recipe, more, false), RG_OK);
    const rg_training training = rg_recipe_training(recipe, NULL);
    assert_int_equal(rg_learn(NULL, NULL, &training), RG_EMATCH);
    if (!strstr(rg_message(), "another vocabulary") || !strstr(rg_message(), "/one")) fail_msg("%s", rg_message());
    rg_recipe_free(recipe);
    rg_free(more);
}

static void settings_that_make_no_sense_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *words;
    } wrong[] = { { "freeze: ['nothing.*']\n", "--freeze nothing.*" },
                  { "init-from: /nowhere\n", "/nowhere" },
                  { "lr-schedule: cosine\nlr-decay-start: 5\nafter-batches: 0\nafter-epochs: 1\n", "cosine" },
                  { "restore-best: true\naverage: 3\n", "restore-best" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_recipe *recipe = recipe_of(rg_system_find("seq2seq"), "one", 1);
        assert_int_equal(rg_recipe_read(recipe, wrong[i].yaml, false), RG_OK);
        const rg_training training = rg_recipe_training(recipe, NULL);
        in_folder("rm -rf one*");
        assert_int_not_equal(rg_learn(NULL, NULL, &training), RG_OK);
        if (!strstr(rg_message(), wrong[i].words)) fail_msg("%s: %s", wrong[i].yaml, rg_message());
        rg_recipe_free(recipe);
    }
}

static int make_folder(void **state)
{
    (void)state;
    faults_no_sync();
    return mkdtemp(folder) ? 0 : -1;
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
        cmocka_unit_test(every_system_of_every_task_repeats_and_resumes_bit_for_bit),
        cmocka_unit_test(every_system_of_every_task_loads_averages_and_answers),
        cmocka_unit_test(every_system_of_every_task_answers_in_8_and_16_bits),
        cmocka_unit_test(every_system_of_every_task_survives_failing_allocations),
        cmocka_unit_test(every_system_that_reads_texts_answers_alone_as_among_others),
        cmocka_unit_test(a_run_that_smooths_returns_what_it_saved),
        cmocka_unit_test(a_run_that_ends_within_its_first_epoch_is_validated_and_saves_what_it_learned),
        cmocka_unit_test(a_run_that_is_stopped_before_its_first_validation_saves_what_it_learned),
        cmocka_unit_test(a_run_starts_from_another_models_weights_and_freezes_some),
        cmocka_unit_test(weights_of_another_vocabulary_are_refused),
        cmocka_unit_test(settings_that_make_no_sense_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
