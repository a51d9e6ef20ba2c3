/* HTML: which lines are translated, and where their tags go in the translation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/markup.h"

/* "[line|line]" of what is translated. */
static void expect_lines(const char *html, bool aligned, const char *expected)
{
    rg_document *d = rg_support_read("html", html, aligned);
    char         found[1024] = "[";
    for (size_t i = 0; i < rg_document_count(d); i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", found[1] ? "|" : "",
                 rg_document_text(d, i));
    strcat(found, "]");
    if (strcmp(found, expected) != 0) fail_msg("%s\n   gives %s\n not      %s", html, found, expected);
    rg_document_free(d);
}

static void paragraphs_are_cut_at_blocks_not_at_line_ends_nor_inline_tags(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "", "[]" },
        { "a <b>b</b> c", "[a b c]" },
        { "<p>a <a href='x'>b <i>c</i></a>.</p><p>d</p>", "[a b c.|d]" },
        { "<ul><li>a<li>b</ul>", "[a|b]" },
        { "a<br>b<BR/>c", "[a|b|c]" },
        { "a <b>b\nc</b> d", "[a b c d]" },
        { "<h1 title='1 > 2'>a</h1>", "[a]" },
        { "a <!-- no --> b", "[a b]" },
        { "a <!-- never closed", "[a]" },
        { "<script>if (a < b) c('<b>')</script>d", "[d]" },
        { "<style>a > b {}</style><p>d", "[d]" },
        { "1 < 2 and 3 > 2", "[1 < 2 and 3 > 2]" },
        { "a &lt;b&gt; &amp; &eacute;&#233;&#xE9; &nosuch; &", "[a <b> & \xc3\xa9\xc3\xa9\xc3\xa9 &nosuch; &]" },
        { "&nbsp; <b> </b>", "[]" },
        { "<custom-tag>a</custom-tag> b", "[a b]" },
        { "<img src='x'>", "[]" },
        { "a <p", "[a]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_lines(cases[i][0], true, cases[i][1]);
}

static void what_is_not_to_be_translated_is_part_of_the_sentence_where_attention_can_find_it_again(void **state)
{
    (void)state;
    expect_lines("press <code>x <b>y</b></code> now", true, "[press x y now]");
    expect_lines("press <code>x <b>y</b></code> now", false, "[press|now]");
    expect_lines("a <span translate=\"no\">b</span> c", false, "[a|c]");
    expect_lines("a <span translate='NO'>b<span>c</span></span> d", false, "[a|d]");
    expect_lines("a <span translate=\"yes\">b</span> c", false, "[a b c]");
    expect_lines("a <i class=\"x notranslate y\">b</i> c", false, "[a|c]");
    expect_lines("a <i data-translate=\"no\">b</i> c", false, "[a b c]");
    expect_lines("<pre translate=no>a\nb</pre>c", true, "[c]");
    expect_lines("<pre><code>a\nb</code></pre>c", true, "[c]");
    expect_lines("a <img translate=no> b", true, "[a b]");
    expect_lines("<code>never closed", false, "[]");
}

/* Whatever the text: a translation that says the same in the same order is the same text. */
static void an_identical_translation_has_every_tag_where_it_was(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "a",
        " a ",
        "\n",
        "a\r\n\r\n <p>b\t\n",
        "<p>a</p>",
        "<script>if (a<b) c</script> d",
        "<!-- a > b -->c",
        "&amp; &lt;x",
        "<p",
        "a <b>b</b>, c",
        "<b>a <i>b</i></b> <u>c</u>",
        "<b><i>a</i></b>",
        "a <code>b &amp; <u>c</u></code>, d",
        "a <img> b",
        "a<img> b",
        "a <img>b",
        "<a id=x></a>a b",
        "a b<a id=x></a>",
        "a <b>b<br>c</b> d",
        "<b>a<br>\n</b>b",
        "a</b> b</i> c",
        "a <b>b <i>c",
        "<b>a</i>",
        "x <i><b>a</b></i> y",
        "a <b></b> b",
        "a <b>b<img></b> c",
        "a <b><img>b</b> c",
        "a <x><y><z></z></y></x> b",
        "<a><b>",
        "</a></b>",
        "a <b>\xe4\xbd\xa0\xe5\xa5\xbd</b>\xe4\xb8\x96",
        "<b>a</b> <i>b</i>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *same = rg_support_same("html", texts[i]);
        if (strcmp(same, texts[i]) != 0) fail_msg("%s\n became %s", texts[i], same);
        rg_free(same);
    }
}

/* Source words and target words are linked one to one: order[k] is the source word of target word k. */
static void expect_markup(const char *html, const char *translation, const int *order, const char *expected)
{
    rg_document *d = rg_support_read("html", html, true);
    rg_text      out = { 0 };
    assert_int_equal(rg_document_count(d), 1);
    rg_links links = rg_support_links(rg_document_text(d, 0), translation, order);
    assert_int_equal(rg_document_render(&out, d, 0, translation, &links), RG_OK);
    assert_string_equal(rg_text_c(&out), expected);
    rg_links_free(&links);
    rg_text_free(&out);
    rg_document_free(d);
}

static void tags_go_to_the_words_that_stand_for_theirs(void **state)
{
    (void)state;
    static const int swap[] = { 0, 2, 1 }, turn[] = { 3, 2, 1, 0 }, same[] = { 0, 1, 2, 3 }, all_first[] = { 0, 0, 0 };
    expect_markup("the <b>red</b> house", "la maison rouge", swap, "la maison <b>rouge</b>");
    expect_markup("the <b>red</b> <i>house</i>", "la maison rouge", swap, "la <i>maison</i> <b>rouge</b>");
    expect_markup("<u>the <b>red</b></u> house", "maison rouge la", turn + 1, "maison <u><b>rouge</b> la</u>");
    expect_markup("the <code>red</code> house", "la maison rouge", swap, "la maison <code>red</code>");
    expect_markup("the <code>red</code> house", "la maison rouge.", swap, "la maison <code>red</code>.");
    expect_markup("a <b>b</b> c d", "d c b a", turn, "d c <b>b</b> a");
    expect_markup("a <img>b c d", "d c b a", turn, "d c <img>b a");
    expect_markup("a b <i>c d", "a b c d", same, "a b <i>c d");
    expect_markup("a b</i> c d", "a b c d", same, "a b</i> c d");
    expect_markup("a < <b>b</b> &amp;", "a < b &", same, "a &lt; <b>b</b> &amp;");
    expect_markup("a <b>b</b> <i>c</i>", "x", all_first,
                  "<b>x</b><i></i>"); /* nothing is left for it, and it is not lost */
    expect_markup("<b>the red</b> house", "le", all_first, "<b>le</b>");
}

/* Random text and tags, random links: every tag stands once and what is enclosed is closed; the text is that of the
 * translation. */
static void no_tag_is_lost_and_no_text_changes(void **state)
{
    static const char *const words[] = { "a ", "bb", "<b>",      "</b>", "<i>",  "</i>", "<img>",
                                         " ",  "c.", "<!--x-->", "<u>",  "</u>", "d " };
    (void)state;
    rg_random random = rg_random_new(7, 1);
    for (int round = 0; round < 3000; round++) {
        char html[512] = "";
        for (uint64_t n = rg_random_below(&random, 20); n-- > 0;)
            strcat(html, words[rg_random_below(&random, sizeof words / sizeof *words)]);
        const char *problem = rg_support_shuffled(html, &random);
        if (problem) fail_msg("%s: %s", html, problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_are_cut_at_blocks_not_at_line_ends_nor_inline_tags),
        cmocka_unit_test(what_is_not_to_be_translated_is_part_of_the_sentence_where_attention_can_find_it_again),
        cmocka_unit_test(an_identical_translation_has_every_tag_where_it_was),
        cmocka_unit_test(tags_go_to_the_words_that_stand_for_theirs),
        cmocka_unit_test(no_tag_is_lost_and_no_text_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
