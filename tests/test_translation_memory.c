/* Translation memories: TMX, XLIFF and TSV as pairs of texts, and exact matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "regard/reader.h"
#include "regard/translation_memory.h"

static const char tmx[] =
    "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\">\n<header srclang=\"en\" segtype=\"sentence\"/>\n<body>\n"
    "<tu><tuv xml:lang=\"en-US\"><seg>Press <bpt i=\"1\">&lt;b&gt;</bpt>OK<ept i=\"1\">&lt;/b&gt;</ept> &amp; go</seg></tuv>\n"
    "<tuv xml:lang=\"de\"><seg>OK dr\xc3\xbc" "cken &amp; los</seg></tuv>\n"
    "<tuv xml:lang=\"fr\"><seg>Appuyez</seg></tuv></tu>\n"
    "<tu><tuv xml:lang=\"de\"><seg>Nur deutsch</seg></tuv></tu>\n"
    "<tu><tuv xml:lang=\"en\"><seg>two\n  lines</seg></tuv><tuv xml:lang=\"de\"><seg>zwei Zeilen</seg></tuv></tu>\n"
    "</body></tmx>\n";

static void write_file(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static void expect_rows(const char *path, const char *columns, const char *expected)
{
    static const char *const wanted[] = { "source", "target" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    rg_row                   row;
    char                     found[1024] = "";
    c.columns = columns;
    c.wanted = wanted;
    c.wanted_count = 2;
    assert_int_equal(rg_reader_open(&r, path, &c), RG_OK);
    for (bool more = true;;) {
        assert_int_equal(rg_reader_next(&more, &row, r), RG_OK);
        if (!more) break;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s=%s|", row.cell[0].missing ? "-" : row.cell[0].bytes,
                 row.cell[1].missing ? "-" : row.cell[1].bytes);
    }
    assert_string_equal(found, expected);
    rg_reader_close(r);
}

static void units_are_rows_and_languages_columns(void **state)
{
    (void)state;
    write_file("a.tmx", tmx);
    expect_rows("a.tmx", "", "Press OK & go=OK dr\xc3\xbc" "cken & los|-=Nur deutsch|two lines=zwei Zeilen|");
    expect_rows("a.tmx", "fr,en", "Appuyez=Press OK & go|-=-|-=two lines|");
    write_file("a.xlf", "<xliff version=\"1.2\"><file><body><trans-unit id=\"1\"><source>a <g id=\"1\">b</g><x id=\"2\"/></source>"
                        "<target>c d</target></trans-unit><trans-unit id=\"2\"><source>e</source></trans-unit></body></file></xliff>");
    expect_rows("a.xlf", "", "a b=c d|e=-|");
    write_file("b.xlf", "<xliff version=\"2.0\"><unit id=\"1\"><segment><source>a <ph id=\"1\"/>b</source><target>x</target></segment>"
                        "<segment><source>c</source><target>y</target></segment></unit></xliff>");
    expect_rows("b.xlf", "", "a b=x|c=y|");
}

static void exact_matches_are_found_whatever_their_blanks(void **state)
{
    rg_translation_memory *m = NULL;
    (void)state;
    write_file("a.tmx", tmx);
    assert_int_equal(rg_translation_memory_open(&m, "a.tmx", "en", "de", 1 << 20), RG_OK);
    assert_int_equal(rg_translation_memory_count(m), 2);
    assert_string_equal(rg_translation_memory_find(m, " two   lines "), "zwei Zeilen");
    assert_null(rg_translation_memory_find(m, "two line"));
    assert_null(rg_translation_memory_find(m, ""));
    rg_translation_memory_free(m);
    write_file("a.tsv", "one\teins\ntwo\tzwei\none\tein\nempty\t\n");
    assert_int_equal(rg_translation_memory_open(&m, "a.tsv", "en", "de", 1 << 20), RG_OK);
    assert_int_equal(rg_translation_memory_count(m), 2);
    assert_string_equal(rg_translation_memory_find(m, "one"), "ein"); /* the last counts */
    assert_null(rg_translation_memory_find(m, "empty"));
    rg_translation_memory_free(m);
}

static void many_pairs_are_all_found(void **state)
{
    rg_translation_memory *m = NULL;
    rg_text                text = { 0 };
    (void)state;
    for (int i = 0; i < 5000; i++) assert_int_equal(rg_text_print(&text, "text %d\tSatz %d\n", i, i), RG_OK);
    write_file("many.tsv", rg_text_c(&text));
    assert_int_equal(rg_translation_memory_open(&m, "many.tsv", NULL, NULL, 1 << 20), RG_OK);
    assert_int_equal(rg_translation_memory_count(m), 5000);
    for (int i = 0; i < 5000; i++) {
        char source[32], target[32];
        snprintf(source, sizeof source, "text %d", i);
        snprintf(target, sizeof target, "Satz %d", i);
        assert_string_equal(rg_translation_memory_find(m, source), target);
    }
    rg_translation_memory_free(m);
    rg_text_free(&text);
}

static void what_is_no_memory_is_refused(void **state)
{
    rg_translation_memory *m = NULL;
    (void)state;
    write_file("a.tmx", tmx);
    assert_int_equal(rg_translation_memory_open(&m, "a.tmx", "es", "de", 1 << 20), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "no pair of texts of the languages es,de"));
    assert_int_equal(rg_translation_memory_open(&m, "a.tmx", "en", "de", 10), RG_ELIMIT);
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_rows_and_languages_columns),
        cmocka_unit_test(exact_matches_are_found_whatever_their_blanks),
        cmocka_unit_test(many_pairs_are_all_found),
        cmocka_unit_test(what_is_no_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
