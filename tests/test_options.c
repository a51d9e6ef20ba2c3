/* test_options.c - rows of settings: defaults, words, YAML, what a wrong name is told; and the command line on top. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <locale.h>
#include <stdlib.h>
#include <limits.h>
#include <string.h>

#include <cmocka.h>

#include "base/seams.h"
#include "cli/command.h"
#include "regard/options.h"

typedef struct settings {
    int64_t steps;
    double  rate;
    char   *model;
    bool    tied;
    rg_list sets;
    char   *score;
} settings;

static const rg_option rows[] = {
    {RG_OPTION_INT, "steps", offsetof(settings, steps), "1000", "optimiser steps"},
    {RG_OPTION_REAL, "learn-rate", offsetof(settings, rate), "1e-3", "learning rate"},
    {RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm'},
    {RG_OPTION_BOOL, "tied", offsetof(settings, tied), "false", "share embeddings"},
    {RG_OPTION_LIST, "train-sets", offsetof(settings, sets), "a b", "parallel files", 't'},
    {RG_OPTION_STRING, "score", offsetof(settings, score), "dot", "score", 0, "dot|general|additive"},
    RG_OPTION_END,
};

typedef struct extra {
    int64_t heads;
} extra;

static const rg_option extra_rows[] = {
    {RG_OPTION_INT, "heads", offsetof(extra, heads), "8", "attention heads"},
    RG_OPTION_END,
};

/* Only `--model big` has heads. */
static rg_status extend(rg_call *call)
{
    const settings *s = call->options;
    if (strcmp(s->model, "big")) return RG_OK;
    return rg_call_add(call, "of the big model", extra_rows, sizeof(extra));
}

static rg_status do_nothing(rg_call *call)
{
    (void)call;
    return RG_OK;
}

static const rg_command plain = {
    .name = "plain", .options = rows, .size = sizeof(settings), .arguments = "[WORD...]", .run = do_nothing
};
static const rg_command bare = {.name = "bare", .options = rows, .size = sizeof(settings), .run = do_nothing};
static const rg_command extended = {
    .name = "extended", .options = rows, .size = sizeof(settings), .extend = extend, .run = do_nothing};

#define CALL(call, command, ...)                                                                 \
    rg_call_init(call, command, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)), \
                 (const char *const[]){ __VA_ARGS__ })

static void defaults_come_from_the_rows(void **state)
{
    settings s;
    (void)state;
    assert_int_equal(rg_options_init(rows, &s), RG_OK);
    assert_int_equal(s.steps, 1000);
    assert_true(s.rate == 1e-3);
    assert_string_equal(s.model, "");
    assert_false(s.tied);
    assert_int_equal(s.sets.count, 2);
    assert_string_equal(s.sets.items[1], "b");
    rg_options_fini(rows, &s);
    assert_null(s.model);
}

static void flags_set_values_of_every_kind(void **state)
{
    rg_call call;
    (void)state;
    assert_int_equal(CALL(&call, &plain, "--steps", "1e5", "one", "--learn-rate=-0.5", "-m", "m.st", "--tied", "-t",
                          "x", "y", "z", "--score", "additive", "--", "--two"),
                     RG_OK);
    const settings *s = call.options;
    assert_int_equal(s->steps, 100000);
    assert_true(s->rate == -0.5);
    assert_string_equal(s->model, "m.st");
    assert_true(s->tied);
    assert_int_equal(s->sets.count, 3);
    assert_string_equal(s->sets.items[2], "z");
    assert_string_equal(s->score, "additive");
    assert_int_equal(call.words.count, 2);
    assert_string_equal(call.words.items[0], "one");
    assert_string_equal(call.words.items[1], "--two");
    rg_call_fini(&call);
}

static void a_negative_number_is_a_value_and_a_later_flag_wins(void **state)
{
    rg_call call;
    (void)state;
    assert_int_equal(CALL(&call, &plain, "--steps", "-5", "--tied", "--no-tied", "--learn-rate", "-.5"), RG_OK);
    assert_int_equal(((settings *)call.options)->steps, -5);
    assert_true(((settings *)call.options)->rate == -0.5);
    assert_false(((settings *)call.options)->tied);
    rg_call_fini(&call);
}

static void numbers_may_end_in_a_scale_and_nothing_else(void **state)
{
    rg_call call;
    (void)state;
    assert_int_equal(CALL(&call, &plain, "--steps", "16K", "--learn-rate", "1.5M"), RG_OK);
    assert_int_equal(((settings *)call.options)->steps, 16000);
    assert_true(((settings *)call.options)->rate == 1.5e6);
    rg_call_fini(&call);
    static const char *const wrong[] = { "16k", "16KM", "K", "16Ku", "0.0001K" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(CALL(&call, &plain, "--steps", wrong[i]), RG_EINVAL);
        rg_call_fini(&call);
    }
}

static void a_flag_with_an_implicit_value_may_stand_alone(void **state)
{
    static const rg_option row[] = { { RG_OPTION_REAL, "normalize", 0, "0", "n", 'n', "[0,inf)", NULL, "0.5" },
                                     RG_OPTION_END };
    const rg_command       command = { .name = "test", .arguments = "[WORD...]", .options = row, .size = sizeof(double) };
    rg_call                call;
    (void)state;
    assert_int_equal(CALL(&call, &command, "-n", "file.txt"), RG_OK); /* no number: a word */
    assert_true(*(double *)call.options == 0.5 && call.words.count == 1);
    rg_call_fini(&call);
    assert_int_equal(CALL(&call, &command, "-n", "0.7", "file.txt"), RG_OK);
    assert_true(*(double *)call.options == 0.7 && call.words.count == 1);
    rg_call_fini(&call);
    assert_int_equal(CALL(&call, &command, "-n0.9"), RG_OK);
    assert_true(*(double *)call.options == 0.9);
    rg_call_fini(&call);
}

static void all_unknown_flags_are_named_at_once(void **state)
{
    rg_call call;
    (void)state;
    assert_int_equal(CALL(&call, &plain, "--stesp", "3", "--quux", "a", "b", "-q", "--tied"), RG_EINVAL);
    assert_string_equal(rg_message(),
                        "there are no such 3 options: --stesp (did you mean --steps?), --quux, -q");
    rg_call_fini(&call);
    for (int i = 0; i < 100; i++) { /* a list that is too long is cut, not overrun */
        rg_unknown_options unknown = { 0 };
        for (int k = 0; k < i; k++) rg_unknown_options_add(&unknown, NULL, 0, "--some-quite-long-name-of-an-option", 7);
        assert_int_equal(rg_unknown_options_check(&unknown), i ? RG_EINVAL : RG_OK);
    }
}

static void wrong_flags_are_refused_and_the_nearest_is_named(void **state)
{
    static const struct { const char *flag, *value, *message; } cases[] = {
        {"--stesp", "3", "there is no option --stesp; did you mean --steps?"},
        {"--learning-rate", "3", "there is no option --learning-rate; did you mean --learn-rate?"},
        {"--train", "3", "there is no option --train; did you mean --train-sets?"},
        {"--quux", "3", "there is no option --quux"},
        {"-q", "3", "there is no option -q"},
        {"--steps", "3.5", "--steps takes a whole number, not \"3.5\""},
        {"--steps", "99999999999999999999", "--steps takes a whole number, not \"99999999999999999999\""},
        {"--steps", "--tied", "--steps needs a value"},
        {"--learn-rate", "nan", "--learn-rate takes a number, not \"nan\""},
        {"--tied=maybe", "", "--tied takes true or false, not \"maybe\""},
        {"--score", "dots", "--score is one of dot|general|additive, not \"dots\""},
        {"--score", "do", "--score is one of dot|general|additive, not \"do\""},
        {"--no-tied=1", "", "--no-tied takes no value"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_call call;
        assert_int_equal(CALL(&call, &plain, cases[i].flag, cases[i].value), RG_EINVAL);
        assert_string_equal(rg_message(), cases[i].message);
        rg_call_fini(&call);
    }
    rg_call call;
    assert_int_equal(CALL(&call, &bare, "word"), RG_EINVAL);
    rg_call_fini(&call);
}

typedef struct ranged {
    int64_t count;
    double  share, above;
} ranged;

static void numbers_stay_in_their_range(void **state)
{
    static const rg_option ranges[] = {
        {RG_OPTION_INT, "count", offsetof(ranged, count), "1", "how many", 0, "[1,64]"},
        {RG_OPTION_REAL, "share", offsetof(ranged, share), "0", "share", 0, "[0,1)"},
        {RG_OPTION_REAL, "above", offsetof(ranged, above), "1", "above 0", 0, "(0,inf)"},
        RG_OPTION_END,
    };
    static const struct { const char *name, *value, *message;
    } cases[] = {
        { "count", "1", NULL },
        { "count", "64", NULL },
        { "count", "6.4e1", NULL },
        { "share", "0", NULL },
        { "share", "0.999", NULL },
        { "above", "1e-9", NULL },
        { "count", "0", "--count is 0; it should be at least 1 and at most 64" },
        { "count", "65", "--count is 65; it should be at least 1 and at most 64" },
        { "count", "1e3", "--count is 1e3; it should be at least 1 and at most 64" },
        { "share", "1", "--share is 1; it should be at least 0 and below 1" },
        { "share", "-1e-9", "--share is -1e-9; it should be at least 0 and below 1" },
        { "above", "0", "--above is 0; it should be above 0" },
    };
    (void)state;
    ranged                values = {0};
    const rg_option_group group = {.rows = ranges, .values = &values};
    assert_int_equal(rg_options_init(ranges, &values), RG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ranged before = values;
        assert_int_equal(rg_options_set(&group, 1, cases[i].name, 1, &cases[i].value),
                         cases[i].message ? RG_EINVAL : RG_OK);
        if (!cases[i].message) continue;
        assert_string_equal(rg_message(), cases[i].message);
        assert_memory_equal(&before, &values, sizeof values);
    }
    rg_options_fini(ranges, &values);
}

/* A locale whose decimal point is a comma, made here: a bare machine has none. */
static bool choose_comma_locale(void)
{
    char here[PATH_MAX];
    return system("printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND LC_NUMERIC\\n' > "
                  "source && "
                  "localedef -c -i ./source -f ANSI_X3.4-1968 ./xx_YY > /dev/null 2>&1; [ -f xx_YY/LC_NUMERIC ]") ==
               0 &&
           realpath(".", here) && setenv("LOCPATH", here, 1) == 0 && setlocale(LC_NUMERIC, "xx_YY");
}

static void numbers_have_a_point_whatever_the_locale(void **state)
{
    static const rg_option real[] = {{RG_OPTION_REAL, "share", 0, "0.25", "share", 0, "[0,1)"}, RG_OPTION_END};
    (void)state;
    double                share = 0;
    char                  text[16];
    const rg_option_group group = {.rows = real, .values = &share};
    if (!choose_comma_locale()) skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* it is in force */
    assert_int_equal(rg_options_init(real, &share), RG_OK);
    assert_true(share == 0.25);
    share = 0.125;
    char *yaml = rg_options_yaml(&group, 1);
    assert_string_equal(yaml, "share: 0.125\n");
    share = 0;
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false), RG_OK);
    assert_true(share == 0.125);
    rg_free(yaml);
    setlocale(LC_NUMERIC, "C");
}

static void an_extended_command_knows_the_flags_of_what_was_chosen(void **state)
{
    rg_call call;
    (void)state;
    assert_int_equal(CALL(&call, &extended, "--heads", "4", "--model", "big"), RG_OK);
    assert_int_equal(((extra *)rg_call_values(&call, extra_rows))->heads, 4);
    rg_call_fini(&call);
    assert_int_equal(CALL(&call, &extended, "--heads", "4", "--model", "small"), RG_EINVAL);
    rg_call_fini(&call);
}

static rg_status read(settings *s, const char *yaml, bool lenient)
{
    rg_option_group group = {"", rows, s};
    return rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "c.yml", lenient);
}

static void yaml_sets_what_flags_set(void **state)
{
    settings s;
    (void)state;
    assert_int_equal(rg_options_init(rows, &s), RG_OK);
    assert_int_equal(read(&s, "steps: 7\ntied: true # yes\ntrain-sets: [p, \"q r\"]\nmodel: m.st\n", false), RG_OK);
    assert_int_equal(s.steps, 7);
    assert_true(s.tied);
    assert_int_equal(s.sets.count, 2);
    assert_string_equal(s.sets.items[1], "q r");
    assert_int_equal(read(&s, "train-sets:\n  - one\n  - two\n  - three\n", false), RG_OK);
    assert_int_equal(s.sets.count, 3);
    assert_int_equal(read(&s, "", false), RG_OK);
    assert_int_equal(read(&s, "other: 3\nsteps: 8", true), RG_OK);
    assert_int_equal(s.steps, 8);
    rg_options_fini(rows, &s);
}

static void wrong_yaml_is_refused_with_its_line(void **state)
{
    static const struct { const char *yaml, *message; } cases[] = {
        {"steps: 7\nstep: 8\n", "c.yml: line 2: there is no option --step; did you mean --steps?"},
        {"\n\nsteps: x\n", "c.yml: line 3: --steps takes a whole number, not \"x\""},
        {"steps: {a: 1}\n", "c.yml: line 1: a value is a word or a list of words"},
        {"train-sets: [[a]]\n", "c.yml: line 1: a list holds words only"},
        {"steps: &a 1\nmodel: *a\n", "c.yml: line 2: a value is a word or a list of words"},
        {"- steps\n", "c.yml: line 1: expected lines of the form name: value"},
        {"steps: 1\n---\nsteps: 2\n", "c.yml: line 2: more than one document"},
    };
    settings s;
    (void)state;
    assert_int_equal(rg_options_init(rows, &s), RG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(read(&s, cases[i].yaml, false), RG_OK);
        assert_string_equal(rg_message(), cases[i].message);
    }
    assert_int_not_equal(read(&s, "steps: [1\n", false), RG_OK);
    rg_options_fini(rows, &s);
}

static void what_is_written_reads_back_the_same(void **state)
{
    settings        s, t;
    rg_option_group from = {"", rows, &s}, to = {"", rows, &t};
    const char     *odd[] = {"a \"b\" \\ \t\n: # é", "", "- x"};
    const char     *third = "0.3333333333333333";
    (void)state;
    assert_int_equal(rg_options_init(rows, &s), RG_OK);
    assert_int_equal(rg_options_init(rows, &t), RG_OK);
    assert_int_equal(rg_options_set(&from, 1, "train-sets", 3, odd), RG_OK);
    assert_int_equal(rg_options_set(&from, 1, "model", 1, odd), RG_OK);
    assert_int_equal(rg_options_set(&from, 1, "learn-rate", 1, &third), RG_OK);
    char *yaml = rg_options_yaml(&from, 1);
    assert_non_null(yaml);
    assert_int_equal(rg_options_read_yaml(&to, 1, yaml, strlen(yaml), "back", false), RG_OK);
    assert_string_equal(t.model, odd[0]);
    assert_true(t.rate == s.rate);
    assert_int_equal(t.sets.count, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(t.sets.items[i], odd[i]);
    rg_free(yaml);
    rg_options_fini(rows, &s);
    rg_options_fini(rows, &t);
}

static void flags_win_over_configuration_files(void **state)
{
    const char *path = "options.yml";
    rg_file    *file;
    rg_call     call;
    (void)state;
    assert_int_equal(rg_file_open(&file, path, "wb"), RG_OK);
    assert_int_equal(rg_file_write(file, "steps: 5\ntied: true\n", 20), RG_OK);
    assert_int_equal(rg_file_close(file), RG_OK);
    assert_int_equal(CALL(&call, &plain, "--steps", "6", "-c", path), RG_OK);
    assert_int_equal(((settings *)call.options)->steps, 6);
    assert_true(((settings *)call.options)->tied);
    rg_call_fini(&call);
    assert_int_equal(CALL(&call, &plain, "-c", "no-such.yml"), RG_EIO);
    rg_call_fini(&call);
    remove(path);
}

static bool refuse_from(void *context, size_t bytes)
{
    size_t *left = context;
    (void)bytes;
    return *left == 0 || !--*left;
}

static void memory_that_runs_out_anywhere_is_an_error_without_a_leak(void **state)
{
    size_t    before = rg_base__live_blocks();
    rg_status status = RG_ENOMEM;
    (void)state;
    for (size_t allowed = 1; status != RG_OK && allowed < 1000; allowed++) {
        size_t  left = allowed;
        rg_call call;
        rg_base__seam_alloc(refuse_from, &left);
        status = CALL(&call, &extended, "--model", "big", "-t", "a", "b", "--heads", "3");
        rg_call_fini(&call);
        rg_base__seam_alloc(NULL, NULL);
        assert_true(status == RG_OK || status == RG_ENOMEM);
        assert_int_equal(rg_base__live_blocks(), before);
    }
    assert_int_equal(status, RG_OK);
}

static void an_earlier_name_is_refused_with_the_new_one(void **state)
{
    (void)state;
    static const rg_option own[] = { { RG_OPTION_INT, "valid-samples", 0, "3", "samples", 0, NULL, "samples" },
                                     RG_OPTION_END };
    int64_t                value = 0;
    const rg_option_group  group = { .rows = own, .values = &value };
    static const char      yaml[] = "samples: 5\n";
    assert_int_equal(rg_options_init(own, &value), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "it is --valid-samples now"));
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK); /* an old model file */
    assert_true(value == 3);
}

static void every_command_has_rows_that_make_sense(void **state)
{
    (void)state;
    for (const rg_command *const *c = rg_command_all(); *c; c++) {
        rg_call call;
        assert_non_null((*c)->run);
        assert_non_null((*c)->summary);
        assert_int_equal(rg_call_init(&call, *c, 0, NULL), RG_OK);
        for (const rg_option *row = (*c)->options; row && row->name; row++) {
            assert_true(row->offset < (*c)->size);
            for (const rg_option *other = row + 1; other->name; other++) {
                assert_string_not_equal(row->name, other->name);
                assert_false(row->letter && row->letter == other->letter);
            }
            for (const rg_option *other = rg_call_common(); other->name; other++) {
                assert_string_not_equal(row->name, other->name);
                assert_false(row->letter && row->letter == other->letter);
            }
        }
        rg_call_fini(&call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_rows),
        cmocka_unit_test(flags_set_values_of_every_kind),
        cmocka_unit_test(a_negative_number_is_a_value_and_a_later_flag_wins),
        cmocka_unit_test(numbers_may_end_in_a_scale_and_nothing_else),
        cmocka_unit_test(a_flag_with_an_implicit_value_may_stand_alone),
        cmocka_unit_test(all_unknown_flags_are_named_at_once),
        cmocka_unit_test(wrong_flags_are_refused_and_the_nearest_is_named),
        cmocka_unit_test(numbers_stay_in_their_range),
        cmocka_unit_test(numbers_have_a_point_whatever_the_locale),
        cmocka_unit_test(an_extended_command_knows_the_flags_of_what_was_chosen),
        cmocka_unit_test(yaml_sets_what_flags_set),
        cmocka_unit_test(wrong_yaml_is_refused_with_its_line),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(flags_win_over_configuration_files),
        cmocka_unit_test(memory_that_runs_out_anywhere_is_an_error_without_a_leak),
        cmocka_unit_test(an_earlier_name_is_refused_with_the_new_one),
        cmocka_unit_test(every_command_has_rows_that_make_sense),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
