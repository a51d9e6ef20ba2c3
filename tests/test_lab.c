/* test_lab.c - the parts of a grid of trainings: words of a row, results, verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/mnist_parts.h"
#include "lab/ngram.h"
#include "lab/rows.h"

/* ------------------------------------------------------------------------------------------------------------ words */

static rg_status recipe_of(rg_recipe **out, const char *text, const char *folder)
{
    rg_words w = { 0 };
    *out = NULL;
    assert_int_equal(rg_words_split(&w, text), RG_OK);
    assert_int_equal(rg_words_place(&w, "{data}", folder), RG_OK);
    const rg_status status = rg_words_recipe(out, &w);
    rg_words_free(&w);
    return status;
}

static void words_are_options_and_the_later_counts(void **state)
{
    (void)state;
    rg_recipe *r;
    if (recipe_of(&r, "--type words --seed 3 --learn-rate 0.5 --keep-best  --seed 4 --train-sets {data}/a.tsv",
                  "my data") != RG_OK)
        fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(r, NULL);
    assert_string_equal(t.system->name, "words");
    assert_int_equal(t.learning->seed, 4);
    assert_true(t.learning->keep_best && fabs(t.learning->rate - 0.5) < 1e-12);
    rg_recipe_free(r);
}

/* Options of objectives exist where the objectives are named, wherever that is. */
static void words_name_objectives_and_their_options(void **state)
{
    (void)state;
    rg_recipe *r;
    if (recipe_of(&r, "--gamma 5 --type words --objective vat --epsilon 3 --objective domain vat", "") != RG_OK)
        fail_msg("%s", rg_message());
    const rg_training t = rg_recipe_training(r, NULL);
    assert_int_equal(t.objective_count, 2);
    assert_string_equal(t.objectives[0].objective->name, "domain");
    assert_string_equal(t.objectives[1].objective->name, "vat");
    rg_recipe_free(r);
}

/* Every word of every row of every experiment is an option of what the row trains. */
static void rows_of_all_experiments_are_options(void **state)
{
    (void)state;
    size_t rows = 0;
    for (const rg_experiment *const *e = rg_experiment_all(); *e; e++)
        for (const rg_row *row = (*e)->grid ? (*e)->grid->rows : NULL; row && row->name; row++) {
            rg_recipe *r;
            if (row->of || !row->options || strstr(row->options, "--init-from")) continue;
            if (recipe_of(&r, row->options, "data") != RG_OK)
                fail_msg("%s, %s: %s\n%s", (*e)->name, row->name, rg_message(), row->options);
            rg_recipe_free(r);
            rows++;
        }
    assert_true(rows > 40);
}

static void read_into(char *room, size_t size, const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    room[fread(room, 1, size - 1, f)] = 0;
    fclose(f);
}

/* Of six sentences two of each class keep their label; the others are there without one, and none is in both. */
static void few_labels_are_of_both_classes(void **state)
{
    (void)state;
    static const char text[] = "1 good a\n0 bad a\n1 good b\n1 good c\n0 bad b\n0 bad c\n";
    char              few[200] = "", rest[200] = "";
    size_t            labels[2] = { 0, 0 };
    assert_int_equal(rg_file_replace("six.txt", text, strlen(text)), RG_OK);
    if (rg_lab_few_texts("few.tsv", "rest.txt", "six.txt", 4, 3) != RG_OK) fail_msg("%s", rg_message());
    read_into(few, sizeof few, "few.tsv");
    read_into(rest, sizeof rest, "rest.txt");
    for (const char *at = few; *at; at = strchr(at, '\n') + 1) labels[at[0] == '1']++;
    assert_true(labels[0] == 2 && labels[1] == 2);
    for (const char *at = few; *at; at = strchr(at, '\n') + 1) {
        char line[16];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
        assert_null(strstr(rest, line));
    }
    assert_int_equal(strlen(rest), strlen("good a\nbad a\n"));
    rg_file_remove("six.txt"), rg_file_remove("few.tsv"), rg_file_remove("rest.txt");
}

static void a_folder_with_blanks_stays_one_word(void **state)
{
    (void)state;
    rg_words w = { 0 };
    assert_int_equal(rg_words_split(&w, " --train-sets {data}/a {data}/b\n"), RG_OK);
    assert_int_equal(rg_words_place(&w, "{data}", "my data"), RG_OK);
    assert_int_equal(w.count, 3);
    assert_string_equal(w.word[2], "my data/b");
    rg_words_free(&w);
}

static void words_that_are_no_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = { { "words --type words", "'words' is not an option" },
                { "--type nothing", "there is no system 'nothing'" },
                { "--type words --seeed 3", "seeed" },
                { "--type words --seed x", "seed" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rg_recipe *r;
        assert_int_equal(recipe_of(&r, bad[i].text, ""), RG_EINVAL);
        assert_null(r);
        if (!strstr(rg_message(), bad[i].message)) fail_msg("%s: %s", bad[i].text, rg_message());
    }
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void results_have_means_and_deviations_of_what_is_finite(void **state)
{
    (void)state;
    rg_results   runs[4] = { { 0 } };
    const double values[] = { 1, 2, 6, (double)NAN };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rg_results_set(&runs[i], "x", -1), RG_OK);
        assert_int_equal(rg_results_set(&runs[i], "x", values[i]), RG_OK);
        assert_int_equal(runs[i].count, 1);
    }
    const rg_summary s = rg_results_summary(runs, 4, "x"), one = rg_results_summary(runs, 1, "x"),
                     none = rg_results_summary(runs, 4, "y");
    assert_true(s.count == 3 && fabs(s.mean - 3) < 1e-12 && fabs(s.deviation - sqrt(7)) < 1e-12);
    assert_true(one.count == 1 && isnan(one.deviation));
    assert_true(none.count == 0 && isnan(none.mean) && isnan(rg_results_get(&runs[0], "y")));
    assert_int_equal(rg_results_set(&runs[0], "a name that is much longer than forty bytes of text", 1), RG_ELIMIT);
    for (size_t i = 0; i < 4; i++) rg_results_free(&runs[i]);
}

/* ----------------------------------------------------------------------------------------------------------- claims */

static const rg_row    rows[] = { { "a", "", 0, 0, NULL, NULL },
                                  { "b", "", 0, 0, NULL, NULL },
                                  { "c", "", 0, 0, NULL, NULL } };
static const rg_column columns[] = { { "x", "x", 1, 0 }, { NULL, NULL, 0, 0 } };

static double    sampled; /* the error that sentences have; below 0: not known */
static rg_status resample(rg_resampled *out, const rg_grid_job *job, const rg_claim *claim, const rg_outcome *a,
                          const rg_outcome *b)
{
    (void)job, (void)claim, (void)a, (void)b;
    *out = (rg_resampled){ .known = sampled >= 0, .error = sampled, .share = 0.5 };
    return RG_OK;
}

/* "1 2 3" are the results of three seeds. */
static void fill(rg_outcome *o, const rg_row *row, const char *values)
{
    *o = (rg_outcome){ .row = row };
    for (char *end; *values; values = end + (*end == ' ')) {
        assert_int_equal(rg_results_set(&o->result[o->runs], "x", strtod(values, &end)), RG_OK);
        o->seed[o->runs] = (int64_t)o->runs + 1;
        o->runs++;
    }
}

static void verdicts_need_two_standard_errors(void **state)
{
    (void)state;
    static const struct {
        rg_claim    claim;
        const char *a, *b, *c;
        double      sampled;
        const char *word;
    } cases[] = {
        { { RG_CLAIM_LEAST, "a", NULL, 3, NULL, NULL, 0 }, "2 4", "", "", -1, "holds" },
        { { RG_CLAIM_MOST, "a", NULL, 2.9, NULL, NULL, 0 }, "2 4", "", "", -1, "does not hold" },
        { { RG_CLAIM_LEAST, "b", NULL, 3, NULL, NULL, 0 }, "2 4", "", "", -1, "not measured" },
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 0 }, "10 11 12", "7 8 9", "", -1, "holds" },         /* 3 +- 0.82 */
        { { RG_CLAIM_ABOVE, "a", "b", 2, NULL, NULL, 0 }, "10 11 12", "7 8 9", "", -1, "undecided" },     /* 1 above 2 */
        { { RG_CLAIM_ABOVE, "a", "b", 5, NULL, NULL, 0 }, "10 11 12", "7 8 9", "", -1, "does not hold" }, /* 2 below 5 */
        { { RG_CLAIM_ABOVE, "a", "b", -1, NULL, NULL, 0 }, "8", "8.5", "", -1, "holds" },                 /* one seed, no error */
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 0 }, "9", "8", "", 0.6, "undecided" },               /* error of sentences */
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 0 }, "9", "8", "", 0.4, "holds" },
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 0 }, "9 9.1", "8 8.1", "", 5, "holds" }, /* seeds go before sentences */
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 2 }, "9", "4.4", "", -1, "holds" },      /* twice */
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 2 }, "9", "4.6", "", -1, "does not hold" },
        { { RG_CLAIM_ABOVE, "a", "b", 0, NULL, NULL, 0 }, "9", "", "", -1, "not measured" },
        { { RG_CLAIM_SPREAD, "a b c", NULL, 2, NULL, NULL, 0 }, "1", "2", "3", -1, "holds" },
        { { RG_CLAIM_SPREAD, "a b c", NULL, 1.9, NULL, NULL, 0 }, "1", "2", "3", -1, "does not hold" },
        { { RG_CLAIM_SPREAD, "a b c", NULL, 1.9, NULL, NULL, 0 }, "1", "2", "", -1, "not measured" },
        { { RG_CLAIM_HALFWAY, "a", "b c", 0, NULL, NULL, 0 }, "5 6", "1", "9", -1, "holds" },
        { { RG_CLAIM_HALFWAY, "a", "b c", 0, NULL, NULL, 0 }, "4 5", "1", "9", -1, "does not hold" },
        { { RG_CLAIM_HALFWAY, "a", "b c", 0, NULL, NULL, 0 }, "5", "1", "", -1, "not measured" },
        { { RG_CLAIM_UNSTEADY, "a", "b", 0, NULL, NULL, 0 }, "1 9", "4 6", "", -1, "holds" },         /* differ more */
        { { RG_CLAIM_UNSTEADY, "a", "b", 0, NULL, NULL, 0 }, "3 3.1", "4 6", "", -1, "holds" },       /* the worst is worse */
        { { RG_CLAIM_UNSTEADY, "a", "b", 0, NULL, NULL, 0 }, "5 5.1", "4 6", "", -1, "does not hold" },
        { { RG_CLAIM_UNSTEADY, "a", "b", 0, NULL, NULL, 0 }, "1", "4 6", "", -1, "not measured" },
    };
    const rg_grid     grid = { .rows = rows, .columns = columns, .resample = resample };
    const rg_grid_job job = { .grid = &grid };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_outcome lines[3];
        rg_verdict v;
        fill(&lines[0], &rows[0], cases[i].a);
        fill(&lines[1], &rows[1], cases[i].b);
        fill(&lines[2], &rows[2], cases[i].c);
        sampled = cases[i].sampled;
        assert_int_equal(rg_claim_judge(&v, &job, &cases[i].claim, lines, 3), RG_OK);
        if (strcmp(v.word, cases[i].word) != 0)
            fail_msg("case %zu: %s, expected %s: %s", i, v.word, cases[i].word, v.text);
        for (size_t l = 0; l < 3; l++)
            for (size_t k = 0; k < lines[l].runs; k++) rg_results_free(&lines[l].result[k]);
    }
}

/* ---------------------------------------------------------------------------------------------------------- n-grams */

/* 0 1 2 0 1 3 0 1 2 4, six tokens in all: number 5 never occurs. */
static void n_grams_back_off_and_sum_to_one(void **state)
{
    (void)state;
    enum { V = 6 };
    static const int32_t text[] = { 0, 1, 2, 0, 1, 3, 0, 1, 2, 4 };
    rg_ngram            *m;
    assert_int_equal(rg_ngram_new(&m, text, sizeof text / sizeof *text, V), RG_OK);
    for (int32_t u = 0; u < V; u++)
        for (int32_t v = 0; v < V; v++) {
            const int32_t before[] = { 3, u, v };
            double        sum[3] = { 0 };
            for (size_t n = 0; n < 3; n++)
                for (int32_t w = 0; w < V; w++) {
                    const double p = rg_ngram_p(m, before + 3 - n, n, w);
                    assert_true(p > 0);
                    sum[n] += p;
                }
            for (size_t n = 0; n < 3; n++) assert_true(fabs(sum[n] - 1) < 1e-12);
        }
    /* "0 1" is followed by 2 twice and by 3 once. Of the 3-grams, 012 occurs twice and 120, 201, 013, 130, 301, 124
     * once: D = 6 / (6 + 2). */
    const int32_t context[] = { 0, 1 };
    const double  D3 = 6.0 / 8;
    assert_true(fabs(rg_ngram_p(m, context, 2, 2) - (2 - D3) / 3) < 1e-12);
    assert_true(fabs(rg_ngram_p(m, context, 2, 3) - (1 - D3) / 3) < 1e-12);
    /* 4 never followed "0 1", nor 1 alone, whose 2-grams 12 (twice) and 13 (once) are those of "0 1": the weight that is
     * left, 2 D3 / 3, goes to the tokens by their share of what 1 leaves to them. Of the 2-grams 01 occurs three times,
     * 12 twice, 20, 13, 30, 24 once: D2 = 4 / (4 + 2). Single tokens: 3 and 4 once, 2 twice: D1 = 2 / 4. */
    const double D2 = 4.0 / 6, D1 = 2.0 / 4;
    const double four = (1 - D1) / 10 + D1 * 5 / 10 / V, seen = (2 - D1) / 10 + (1 - D1) / 10 + 2 * D1 * 5 / 10 / V;
    const double after_one = D2 * 2 / 3 * four / (1 - seen), seen_after_one = (2 - D2) / 3 + (1 - D2) / 3;
    assert_true(fabs(rg_ngram_p(m, context, 2, 4) - D3 * 2 / 3 * after_one / (1 - seen_after_one)) < 1e-12);
    rg_ngram_free(m);
    assert_int_equal(rg_ngram_new(&m, text, 3, (size_t)RG_NGRAM_VOCABULARY + 1), RG_ELIMIT);
    assert_int_equal(rg_ngram_new(&m, text, 0, V), RG_EINVAL);
}

static void assert_ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

/* --------------------------------------------------------------------------------------------------------- learning */

static void a_bound_is_reached_by_the_first_validation_that_has_it(void **state)
{
    (void)state;
    static const char log[] = "{\"step\": 100, \"loss\": 1.0}\n"
                              "{\"step\": 100, \"valid\": {\"accuracy\": 0.90, \"loss\": 2}}\n"
                              "{\"step\": 200, \"valid\": {\"accuracy\": 0.95}}\n"
                              "{\"step\": 300, \"valid\": {\"accuracy\": 0.93}}\n"
                              "{\"step\": 400, \"valid\": {\"accuracy\": 0.97}}\n{\"st";
    bool              there;
    double            updates = 0, least = 0, last = 0;
    assert_ok(rg_file_replace("model.safetensors.jsonl", log, strlen(log)));
    assert_ok(rg_row_reached(&there, &updates, ".", "accuracy", 0.95));
    assert_true(there && fabs(updates - 200) < 1e-9);
    assert_ok(rg_row_reached(&there, &updates, ".", "accuracy", 0.96));
    assert_true(there && fabs(updates - 400) < 1e-9);
    assert_ok(rg_row_reached(&there, &updates, ".", "accuracy", 0.98));
    assert_false(there);
    assert_ok(rg_row_reached(&there, &updates, ".", "f1", 0));
    assert_false(there);
    assert_ok(rg_row_validations(&there, &least, &last, ".", "accuracy"));
    assert_true(there && fabs(least - 0.9) < 1e-12 && fabs(last - 0.97) < 1e-12);
    assert_ok(rg_file_remove("model.safetensors.jsonl"));
}

/* Seven digits whose labels are their numbers: every third is held back, the others are learned from. */
static void digits_held_back_are_not_learned_from(void **state)
{
    (void)state;
    static const char labels[] = "\0\0\10\1\0\0\0\7\0\1\2\3\4\5\6",
                      images[] = "\0\0\10\3\0\0\0\7\0\0\0\1\0\0\0\2"
                                 "ababababababab";
    const rg_digits_part held = { .every = 3 }, learned = { .every = 3, .others = true };
    char                 got[2][16] = { "" };
    size_t               bytes[2] = { 0 };
    static const char *const names[] = { "held", "learned" };
    assert_ok(rg_file_replace("seven-images", images, sizeof images - 1));
    assert_ok(rg_file_replace("seven-labels", labels, sizeof labels - 1));
    assert_ok(rg_lab_digits("held", "seven-images", "seven-labels", &held));
    assert_ok(rg_lab_digits("learned", "seven-images", "seven-labels", &learned));
    for (size_t i = 0; i < 2; i++) {
        char  path[32];
        FILE *f;
        snprintf(path, sizeof path, "%s-labels", names[i]);
        assert_non_null(f = fopen(path, "rb"));
        bytes[i] = fread(got[i], 1, sizeof got[i], f);
        fclose(f);
    }
    assert_int_equal(bytes[0], 8 + 3);
    assert_int_equal(bytes[1], 8 + 4);
    assert_memory_equal(got[0] + 8, "\0\3\6", 3);
    assert_memory_equal(got[1] + 8, "\1\2\4\5", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_options_and_the_later_counts),
        cmocka_unit_test(words_name_objectives_and_their_options),
        cmocka_unit_test(rows_of_all_experiments_are_options),
        cmocka_unit_test(few_labels_are_of_both_classes),
        cmocka_unit_test(a_folder_with_blanks_stays_one_word),
        cmocka_unit_test(words_that_are_no_options_are_refused),
        cmocka_unit_test(results_have_means_and_deviations_of_what_is_finite),
        cmocka_unit_test(verdicts_need_two_standard_errors),
        cmocka_unit_test(n_grams_back_off_and_sum_to_one),
        cmocka_unit_test(a_bound_is_reached_by_the_first_validation_that_has_it),
        cmocka_unit_test(digits_held_back_are_not_learned_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
