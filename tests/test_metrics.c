/* test_metrics.c - our numbers are sacreBLEU's, to 1e-6, for every tokeniser; and the measures it does not have.
 *
 * tests/data/metrics holds texts and the numbers of sacreBLEU 2.6.0 for them. A folder of the same form named by
 * REGARD_ORACLES is checked as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/metrics.h"

/* All lines of a file. */
typedef struct lines {
    char **line;
    size_t count;
} lines;

static lines read_lines(const char *folder, const char *name, const char *ending)
{
    lines           all = { NULL, 0 };
    char            path[1000];
    rg_lines       *reader = NULL;
    rg_line         line;
    bool            more;
    rg_lines_config as_is = { RG_TEXT_AS_IS, 1 << 20 };
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    assert_int_equal(rg_lines_open(&reader, path, &as_is), RG_OK);
    for (;;) {
        assert_int_equal(rg_lines_next(&more, &line, reader), RG_OK);
        if (!more) break;
        all.line = realloc(all.line, (all.count + 1) * sizeof *all.line);
        all.line[all.count++] = strdup(line.text);
    }
    rg_lines_close(reader);
    return all;
}

static void free_lines(lines *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->line[i]);
    free(l->line);
}

static rg_scorer *score(const char *metric, const rg_scorer_config *config, const lines *hyp, const lines *refs,
                        size_t ref_count)
{
    rg_scorer *s = NULL;
    assert_int_equal(rg_scorer_new(&s, metric, config), RG_OK);
    for (size_t i = 0; i < hyp->count; i++) {
        const char *r[2] = { refs[0].line[i], ref_count > 1 ? refs[1].line[i] : NULL };
        assert_int_equal(rg_scorer_add(s, hyp->line[i], r, ref_count), RG_OK);
    }
    return s;
}

static void near(const char *set, const char *key, double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-6)) fail_msg("%s, %s: %.12g instead of %.12g", set, key, got, expected);
}

static void check_signature(const rg_scorer *s, const json_t *value)
{
    rg_text     text = { 0 };
    const char *expected = json_string_value(json_object_get(value, "signature"));
    assert_int_equal(rg_scorer_signature(&text, s), RG_OK);
    if (expected) assert_string_equal(text.data, expected);
    rg_text_free(&text);
}

static void check_bleu_parts(const char *set, const char *key, const rg_scorer *s, const json_t *value)
{
    rg_bleu_parts parts;
    assert_int_equal(rg_scorer_bleu(&parts, s), RG_OK);
    for (size_t n = 0; n < 4; n++) {
        near(set, key, parts.precisions[n], json_number_value(json_array_get(json_object_get(value, "precisions"), n)));
        assert_int_equal(parts.correct[n], json_integer_value(json_array_get(json_object_get(value, "counts"), n)));
        assert_int_equal(parts.total[n], json_integer_value(json_array_get(json_object_get(value, "totals"), n)));
    }
    near(set, key, parts.brevity, json_number_value(json_object_get(value, "bp")));
    assert_int_equal(parts.hypothesis_length, json_integer_value(json_object_get(value, "sys_len")));
    assert_int_equal(parts.reference_length, json_integer_value(json_object_get(value, "ref_len")));
}

/* What a key of the file asks for. */
static const char *read_key(rg_scorer_config *config, const char *key)
{
    char name[16], option[16];
    *config = (rg_scorer_config)RG_SCORER_CONFIG_DEFAULT;
    if (sscanf(key, "bleu tok=%15s lc=%15s", name, option) == 2) {
        assert_int_equal(rg_tokenizer_find(&config->tokenizer, name), RG_OK);
        config->lowercase = strcmp(option, "True") == 0;
        return "bleu";
    }
    if (sscanf(key, "chrf word_order=%15s lc=%15s", name, option) == 2) {
        config->lowercase = strcmp(option, "True") == 0;
        return strcmp(name, "2") == 0 ? "chrf++" : "chrf";
    }
    if (sscanf(key, "ter normalized=%15s", option) == 1) {
        config->normalized = strcmp(option, "True") == 0;
        return "ter";
    }
    return strncmp(key, "sentence bleu", 13) == 0 || strcmp(key, "bleu") == 0 ? "bleu" : "chrf";
}

static void check_set(const char *folder, const char *set, json_t *values)
{
    bool        two = strstr(set, "ref2") != NULL;
    char        name[64];
    const char *key;
    json_t     *value;
    sscanf(set, "%63s", name);
    lines hyp = read_lines(folder, name, "hyp"), refs[2] = { read_lines(folder, name, "ref"), { NULL, 0 } };
    if (two) refs[1] = read_lines(folder, name, "ref2");
    assert_int_equal(hyp.count, refs[0].count);
    json_object_foreach(values, key, value)
    {
        rg_scorer_config config;
        const char      *metric = read_key(&config, key);
        rg_scorer       *s = score(metric, &config, &hyp, refs, two ? 2 : 1);
        if (json_is_array(value)) {
            for (size_t i = 0; i < json_array_size(value); i++)
                near(set, key, rg_scorer_sentence(s, i), json_number_value(json_array_get(value, i)));
        } else if (json_is_number(value)) {
            near(set, key, rg_scorer_score(s), json_number_value(value));
        } else {
            near(set, key, rg_scorer_score(s), json_number_value(json_object_get(value, "score")));
            check_signature(s, value);
            if (json_object_get(value, "precisions")) check_bleu_parts(set, key, s, value);
        }
        rg_scorer_free(s);
    }
    free_lines(&hyp);
    free_lines(&refs[0]);
    free_lines(&refs[1]);
}

static void check_folder(const char *folder)
{
    char         path[1000];
    json_error_t error;
    const char  *set;
    json_t      *values;
    snprintf(path, sizeof path, "%s/sacrebleu.json", folder);
    json_t *all = json_load_file(path, 0, &error);
    assert_non_null(all);
    assert_true(json_object_size(all) > 0);
    json_object_foreach(all, set, values) check_set(folder, set, values);
    json_decref(all);
}

static void stored_numbers_are_met(void **state)
{
    (void)state;
    check_folder(TEST_DATA "/metrics");
}

static void numbers_of_a_given_folder_are_met(void **state)
{
    (void)state;
    const char *folder = getenv("REGARD_ORACLES");
    if (folder) check_folder(folder);
}

static void tokenisers_cut_as_described(void **state)
{
    (void)state;
    static const struct {
        rg_tokenizer tokenizer;
        const char  *in, *out;
    } cases[] = {
        { RG_TOKENIZE_13A, "Hello, world! It's 3.50 (not 4-5).", "Hello , world ! It's 3.50 ( not 4 - 5 ) ." },
        { RG_TOKENIZE_13A, "a &amp; b &lt;c&gt;", "a & b < c >" },
        { RG_TOKENIZE_13A, "", "" },
        { RG_TOKENIZE_INTL, "It\xE2\x80\x99s 3.50 \xE2\x82\xAC, ok?", "It \xE2\x80\x99 s 3.50 \xE2\x82\xAC , ok ?" },
        { RG_TOKENIZE_CHAR, "ab c", "a b c" },
        { RG_TOKENIZE_NONE, " a  b, ", "a b," },
        { RG_TOKENIZE_ZH, "\xE4\xBD\xA0\xE5\xA5\xBD"
                          "abc",
          "\xE4\xBD\xA0 \xE5\xA5\xBD abc" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_text text = { 0 };
        assert_int_equal(rg_tokenize(&text, cases[i].tokenizer, cases[i].in, strlen(cases[i].in)), RG_OK);
        assert_string_equal(text.data, cases[i].out);
        rg_text_free(&text);
    }
}

static double one(const char *metric, const char *hyp, const char *ref)
{
    rg_scorer *s = NULL;
    assert_int_equal(rg_scorer_new(&s, metric, NULL), RG_OK);
    assert_int_equal(rg_scorer_add(s, hyp, &ref, 1), RG_OK);
    double value = rg_scorer_score(s);
    rg_scorer_free(s);
    return value;
}

/* Lin 2004's own example and small ones counted by hand. */
static void rouge_is_as_counted_by_hand(void **state)
{
    (void)state;
    near("hand", "rouge1", one("rouge1", "the cat was found", "The cat was under the bed."),
         100 * 2 * (3.0 / 4) * (3.0 / 6) / (3.0 / 4 + 3.0 / 6));
    near("hand", "rouge2", one("rouge2", "the cat was found", "the cat was under the bed"),
         100 * 2 * (2.0 / 3) * (2.0 / 5) / (2.0 / 3 + 2.0 / 5));
    near("hand", "rougeL", one("rougeL", "police killed the gunman", "police kill the gunman"), 75);
    near("hand", "rougeL", one("rougeL", "the gunman police killed", "police killed the gunman"), 50);
    near("hand", "rouge1", one("rouge1", "", "a b"), 0);
    rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
    const char      *ref = "one two three four";
    rg_scorer       *s = NULL;
    config.max_bytes = 8;
    assert_int_equal(rg_scorer_new(&s, "rouge1", &config), RG_OK);
    assert_int_equal(rg_scorer_add(s, "one two three four", &ref, 1), RG_OK);
    near("hand", "rouge1 recall", rg_scorer_score(s), 50);
    rg_scorer_free(s);
}

/* The same text gives 100; each sign that makes a difference, less. */
static void words_of_rouge_keep_the_signs_inside_them(void **state)
{
    (void)state;
    near("words", "the last point", one("rouge1", "U.S. firms rose.", "u.s firms rose"), 100);
    near("words", "of three one", one("rouge1", "u s firms", "U.S. firms"), 100 * 2 * (1.0 / 3) * (1.0 / 2) / (5.0 / 6));
    near("words", "numbers", one("rouge1", "7,000 at 4.5", "7,000, AT (4.5)"), 100);
    near("words", "numbers cut", one("rouge1", "7 000", "7,000"), 0);
    near("words", "joined", one("rouge1", "A&P's U.S.-Japan and/or know-how", "<a&p's> \"u.s.-japan\" and/or 'know-how'"), 100);
    near("words", "typographic", one("rouge1", "asia\xE2\x80\x99s", "asia s"), 0);
    near("words", "signs alone", one("rouge1", "a - b & c ... d", "a b c d"), 100);
    near("words", "other signs cut", one("rouge1", "a<b>c", "a b c"), 100);
    rg_scorer_config config = RG_SCORER_CONFIG_DEFAULT;
    const char      *ref = "U.S. firms";
    rg_scorer       *s = NULL;
    config.split_words = true;
    assert_int_equal(rg_scorer_new(&s, "rouge1", &config), RG_OK);
    assert_int_equal(rg_scorer_add(s, "u s firms", &ref, 1), RG_OK);
    near("words", "split", rg_scorer_score(s), 100);
    rg_scorer_free(s);
}

static void ter_counts_a_moved_phrase_as_one_edit(void **state)
{
    (void)state;
    near("hand", "ter", one("ter", "c d a b", "a b c d"), 25);
    near("hand", "ter", one("ter", "a b c", "a b c"), 0);
    near("hand", "ter", one("ter", "", "a b"), 100);
    near("hand", "ter", one("ter", "a", ""), 100);
    near("hand", "ter", one("ter", "", ""), 0);
}

static void confidence_and_parts_follow_from_the_segments(void **state)
{
    (void)state;
    lines      hyp = read_lines(TEST_DATA "/metrics", "free", "hyp"), ref = read_lines(TEST_DATA "/metrics", "free", "ref");
    rg_scorer *s = score("bleu", NULL, &hyp, &ref, 1);
    double     mean, half, mean2, half2, scores[3];
    size_t     counts[3], *all = calloc(hyp.count, sizeof *all);
    uint32_t  *length = calloc(hyp.count, sizeof *length), edges[2] = { 1, 2 };
    assert_int_equal(rg_scorer_bootstrap(&mean, &half, s, 500, 1), RG_OK);
    assert_int_equal(rg_scorer_bootstrap(&mean2, &half2, s, 500, 1), RG_OK);
    assert_true(mean == mean2 && half == half2);
    assert_true(fabs(mean - rg_scorer_score(s)) < 3 && half > 0.1 && half < 20);
    for (size_t i = 0; i < hyp.count; i++) {
        all[i] = hyp.count - 1 - i;
        length[i] = 1 + (uint32_t)(i % 3);
    }
    near("free", "part", rg_scorer_part(s, all, hyp.count), rg_scorer_score(s));
    assert_int_equal(rg_scorer_by_length(scores, counts, s, length, edges, 2), RG_OK);
    assert_int_equal(counts[0] + counts[1] + counts[2], hyp.count);
    size_t n = 0;
    for (size_t i = 1; i < hyp.count; i += 3) all[n++] = i;
    near("free", "bucket", scores[1], rg_scorer_part(s, all, n));
    assert_int_equal(counts[1], n);
    free(all);
    free(length);
    rg_scorer_free(s);
    free_lines(&hyp);
    free_lines(&ref);
}

static void alignment_error_is_as_defined(void **state)
{
    (void)state;
    rg_aer aer = { 0 };
    assert_int_equal(rg_aer_add(&aer, "0-0 1-1 2-2", "0-0 1-1 2?2 3-3"), RG_OK);
    /* A 3, S 3 (0-0, 1-1, 3-3), A and S 2, A and P 3 */
    near("hand", "aer", rg_aer_rate(&aer), 1 - (2.0 + 3) / (3 + 3));
    assert_int_equal(rg_aer_add(&aer, "", "0-0"), RG_OK);
    near("hand", "aer", rg_aer_rate(&aer), 1 - 5.0 / 7);
    assert_int_equal(rg_aer_add(&aer, "0-0 1:1", "0-0"), RG_EFORMAT);
    assert_int_equal(rg_aer_add(&aer, "0-0", "0-"), RG_EFORMAT);
    rg_aer same = { 0 };
    assert_int_equal(rg_aer_add(&same, "3-1 0-0 3-1", "0-0 3-1"), RG_OK);
    near("hand", "aer", rg_aer_rate(&same), 0);
}

static void sets_and_perplexity_are_as_defined(void **state)
{
    (void)state;
    const int32_t predicted[] = { 5, 1, 3, 3 }, gold[] = { 3, 5, 7, 9 };
    rg_set_counts c;
    assert_int_equal(rg_set_compare(&c, predicted, 4, gold, 4), RG_OK);
    assert_int_equal(c.hit, 2);
    assert_int_equal(c.extra, 1);
    assert_int_equal(c.missed, 2);
    near("hand", "f1", rg_set_f1(c), 4.0 / 7);
    near("hand", "iou", rg_set_iou(c), 0.4);
    near("hand", "iou = f1/(2-f1)", rg_set_iou(c), rg_set_f1(c) / (2 - rg_set_f1(c)));
    assert_int_equal(rg_set_compare(&c, NULL, 0, NULL, 0), RG_OK);
    near("hand", "f1", rg_set_f1(c), 1);
    near("hand", "perplexity", rg_perplexity(10 * log(8), 10), 8);
    assert_true(isinf(rg_perplexity(1, 0)));
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    rg_scorer  *s = NULL;
    const char *refs[] = { "a", "b" };
    double      x;
    assert_int_equal(rg_scorer_new(&s, "meteor", NULL), RG_EINVAL);
    assert_null(s);
    assert_int_equal(rg_scorer_new(&s, "chrf", NULL), RG_OK);
    assert_int_equal(rg_scorer_add(s, "a", refs, 0), RG_EMATCH);
    assert_int_equal(rg_scorer_add(s, "a", refs, 2), RG_OK);
    assert_int_equal(rg_scorer_add(s, "a", refs, 1), RG_EMATCH);
    assert_int_equal(rg_scorer_segments(s), 1);
    assert_int_equal(rg_scorer_bleu(&(rg_bleu_parts){ 0 }, s), RG_EINVAL);
    assert_int_equal(rg_scorer_rouge(&x, &x, &x, s), RG_EINVAL);
    rg_scorer_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_numbers_are_met),
        cmocka_unit_test(numbers_of_a_given_folder_are_met),
        cmocka_unit_test(tokenisers_cut_as_described),
        cmocka_unit_test(rouge_is_as_counted_by_hand),
        cmocka_unit_test(words_of_rouge_keep_the_signs_inside_them),
        cmocka_unit_test(ter_counts_a_moved_phrase_as_one_edit),
        cmocka_unit_test(confidence_and_parts_follow_from_the_segments),
        cmocka_unit_test(alignment_error_is_as_defined),
        cmocka_unit_test(sets_and_perplexity_are_as_defined),
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
