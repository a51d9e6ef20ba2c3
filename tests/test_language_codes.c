/* test_language.c - a translator's languages: guessed from file names, kept in its file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/small_translator.h"
#include "tasks/language_codes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void the_ending_of_a_file_names_its_language(void **state)
{
    static const char *const rows[][2] = {
        { "train.en", "en" },
        { "data/train.de", "de" },
        { "train.en.gz", "en" },
        { "news.en-de.de", "de" },
        { "train.pt_BR", "pt-BR" },
        { "train.zh-Hans.gz", "zh-Hans" },
        { "lines.fr.txt", "fr" },
        { "train.src", "" },
        { "train.txt", "" },
        { "train", "" },
        { "en", "" },
        { "corpus.en/lines", "" },
        { "train.xx", "" },
        { "train.EN", "" },
        { "train.en_", "" },
        { "train.eng", "" },
        { "train.en-fr", "" },
        { ".en", "en" },
        { "", "" },
        { "train.", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char code[RG_LANGUAGE_ROOM];
        rg_language_of_path(code, rows[i][0]);
        if (strcmp(code, rows[i][1]) != 0) fail_msg("%s: '%s' instead of '%s'", rows[i][0], code, rows[i][1]);
    }
}

static void the_ending_of_a_tsv_file_names_both(void **state)
{
    char source[RG_LANGUAGE_ROOM], target[RG_LANGUAGE_ROOM];
    (void)state;
    rg_languages_of_path(source, target, "data/train.en-fr.tsv.gz");
    assert_string_equal(source, "en");
    assert_string_equal(target, "fr");
    rg_languages_of_path(source, target, "train.tsv");
    assert_string_equal(source, "");
    assert_string_equal(target, "");
}

static void only_language_codes_are_accepted(void **state)
{
    static const char *const good[] = { "", "en", "deu", "pt-BR", "zh-Hans-CN", "es-419" };
    static const char *const bad[] = { "e",   "en ",    "-",  "en-",
                                       "-en", "en--fr", "e1", "english-language-of-the-nineteenth-century",
                                       "en\n" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (rg_language_check(good[i]) != RG_OK) fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rg_language_check(bad[i]) != RG_EINVAL) fail_msg("'%s' was accepted", bad[i]);
}

static void languages_are_kept_in_the_model_file(void **state)
{
    char           path[] = "/tmp/test_language.XXXXXX";
    const int      file = mkstemp(path);
    rg_translator *t, *again;
    (void)state;
    assert_true(file >= 0 && close(file) == 0);
    assert_int_equal(small_translator_save(path, "transformer", 4), RG_OK);
    assert_int_equal(rg_translator_load(&t, path), RG_OK);
    assert_string_equal(rg_translator_language(t, 0), ""); /* a file that says nothing */
    assert_string_equal(rg_translator_language(t, 1), "");
    assert_int_equal(rg_translator_set_languages(t, "en", "pt-BR"), RG_OK);
    assert_int_equal(rg_translator_set_languages(t, "de", "no language"), RG_EINVAL);
    assert_int_equal(rg_translator_save(t, path), RG_OK);
    assert_int_equal(rg_translator_load(&again, path), RG_OK);
    assert_string_equal(rg_translator_language(again, 0), "en");
    assert_string_equal(rg_translator_language(again, 1), "pt-BR");
    rg_translator_free(again);
    rg_translator_free(t);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ending_of_a_file_names_its_language),
        cmocka_unit_test(the_ending_of_a_tsv_file_names_both),
        cmocka_unit_test(only_language_codes_are_accepted),
        cmocka_unit_test(languages_are_kept_in_the_model_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
