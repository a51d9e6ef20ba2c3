/* test_lexicon.c - a dictionary learned from parallel text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "regard/lexicon.h"

static void write_lines(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static void words_find_the_word_they_are_linked_with(void **state)
{
    (void)state;
    write_lines("l.en", "the house\nthe red car\na house\na red house\nthe car\na car is red\n");
    write_lines("l.de", "das Haus\ndas rote Auto\nein Haus\nein rotes Haus\ndas Auto\nein Auto ist rot\n");
    rg_lexicon *lex;
    assert_int_equal(rg_lexicon_learn(&lex, "l.en", "l.de", 10), RG_OK);
    assert_string_equal(rg_lexicon_find(lex, "house"), "Haus");
    assert_string_equal(rg_lexicon_find(lex, "car"), "Auto");
    assert_string_equal(rg_lexicon_find(lex, "the"), "das");
    assert_null(rg_lexicon_find(lex, "Haus"));
    assert_null(rg_lexicon_find(lex, ""));
    assert_null(rg_lexicon_find(lex, "the house"));
    rg_lexicon_free(lex);
    rg_lexicon_free(NULL);
}

static void files_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rg_lexicon *lex;
    write_lines("s.en", "a\nb\n");
    write_lines("s.de", "a\n");
    assert_int_equal(rg_lexicon_learn(&lex, "s.en", "s.de", 5), RG_EMATCH);
    assert_null(lex);
    assert_non_null(strstr(rg_message(), "s.en has 2 lines, s.de has 1"));
    assert_int_equal(rg_lexicon_learn(&lex, "none.en", "s.de", 5), RG_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_find_the_word_they_are_linked_with),
        cmocka_unit_test(files_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
