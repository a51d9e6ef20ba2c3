/* Documents: what is translated, and that all else comes back byte for byte. The translator of these tests writes
 * capital letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "data/documents/sentences.h"
#include "support/markup.h"

typedef struct {
    char *list[256];
} answers;

static const char *answer(void *context, size_t i) { return ((answers *)context)->list[i]; }

static char *capitals(const char *text)
{
    char *out = rg_strdup(text);
    for (char *at = out; at && *at; at++) *at = (char)toupper((unsigned char)*at);
    return out;
}

/* The document in capitals, or NULL. */
static char *translated(const rg_document_config *c, const char *text, size_t bytes)
{
    rg_document *d = NULL;
    answers      a = { { NULL } };
    rg_text      out = { 0 };
    if (rg_document_read(&d, text, bytes, c) != RG_OK) return NULL;
    const size_t n = rg_document_count(d);
    assert_true(n <= sizeof a.list / sizeof *a.list);
    for (size_t i = 0; i < n; i++) {
        rg_text one = { 0 };
        char   *upper = capitals(rg_document_text(d, i));
        assert_int_equal(rg_document_render(&one, d, i, upper, NULL), RG_OK);
        assert_non_null(a.list[i] = rg_strdup(rg_text_c(&one)));
        rg_text_free(&one);
        rg_free(upper);
    }
    assert_int_equal(rg_document_join(&out, d, answer, &a), RG_OK);
    char *all = rg_strdup(rg_text_c(&out));
    for (size_t i = 0; i < n; i++) rg_free(a.list[i]);
    rg_text_free(&out);
    rg_document_free(d);
    return all;
}

static void expect(const char *format, const char *text, const char *expected)
{
    const rg_document_config c = { .format = rg_document_format_find(format), .name = "test", .aligned = true };
    char                    *out = translated(&c, text, strlen(text));
    if (!out) fail_msg("%s: %s", format, rg_message());
    if (strcmp(out, expected) != 0) fail_msg("%s:\n%s\n became\n%s\n not\n%s", format, text, out, expected);
    rg_free(out);
}

static void expect_refused(const char *format, const char *text, const char *message)
{
    const rg_document_config c = { .format = rg_document_format_find(format), .name = "file", .aligned = true };
    rg_document             *d = NULL;
    assert_int_equal(rg_document_read(&d, text, strlen(text), &c), RG_EFORMAT);
    assert_null(d);
    if (!strstr(rg_message(), message)) fail_msg("%s: \"%s\" does not say \"%s\"", format, rg_message(), message);
}

static void text_keeps_its_lines_and_blanks(void **state)
{
    (void)state;
    expect("text", "", "");
    expect("text", "one two\n\n  three\t\r\n12 34\n***\n", "ONE TWO\n\n  THREE\t\r\n12 34\n***\n");
    expect("text", "\xef\xbb\xbfmark\n", "\xef\xbb\xbfMARK\n");
    expect("text", "no end", "NO END");
}

static void what_is_protected_is_copied(void **state)
{
    (void)state;
    expect("text", "see https://x.org/a(b)?c=d, then www.x.org.", "SEE https://x.org/a(b)?c=d, THEN www.x.org.");
    expect("text", "mail a.b@x.org!", "MAIL a.b@x.org!");
    expect("text", "%s of %1$d and %-5.2f, %(name)s %{name} 100% sure", "%s OF %1$d AND %-5.2f, %(name)s %{name} 100% SURE");
    expect("text", "a {name} b {0} c ${x} d {{ y z }} e #{w}", "A {name} B {0} C ${x} D {{ y z }} E #{w}");
    expect("text", "({name})", "({name})");
    expect("text", "text ({name}): more", "TEXT ({name}): MORE");
    expect("text", "{n, plural, one {# file} other {# files}} left", "{n, plural, one {# file} other {# files}} LEFT");
    expect("text", "in {braces with blanks}", "IN {BRACES WITH BLANKS}");
    expect("text", "https://only.an/address", "https://only.an/address");
}

static void json_keeps_keys_numbers_and_blanks(void **state)
{
    (void)state;
    expect("json", "{ \"key\" : \"value\",\n \"n\": 1.50, \"l\":[\"a b\", null,true] }\n",
           "{ \"key\" : \"VALUE\",\n \"n\": 1.50, \"l\":[\"A B\", null,true] }\n");
    expect("json", "[\"say \\\"hi\\\" \\\\ \\u00e9\\n2nd line\\t\", \"\"]",
           "[\"SAY \\\"HI\\\" \\\\ \xc3\xa9\\n2ND LINE\\t\", \"\"]");
    expect("json", "{\"m\":\"hi {name}\",\"@m\":{\"description\":\"kept\",\"x\":[\"kept\"]},\"@@locale\":\"en\",\"z\":\"end\"}",
           "{\"m\":\"HI {name}\",\"@m\":{\"description\":\"kept\",\"x\":[\"kept\"]},\"@@locale\":\"en\",\"z\":\"END\"}");
    expect("json", "\"<b>bold</b> and <a href=\\\"x\\\">link</a>\"", "\"<b>BOLD</b> AND <a href=\\\"x\\\">LINK</a>\"");
    expect("json", "\"\\ud83d\\ude00 smile\"", "\"\xf0\x9f\x98\x80 SMILE\"");
    expect_refused("json", "{\"a\": }", "line 1");
    expect_refused("json", "{\n\"a\"", "file: line 2");
}

static void yaml_keeps_keys_comments_and_quotes(void **state)
{
    (void)state;
    expect("yaml", "en:\n  title: Some text   # note\n  n: 12\n  on: yes\n  v: 1.2.3\n",
           "en:\n  title: \"SOME TEXT\"   # note\n  n: 12\n  on: yes\n  v: 1.2.3\n");
    expect("yaml", "a: 'it''s one'\nb: \"two \\\"x\\\"\"\n", "a: 'IT''S ONE'\nb: \"TWO \\\"X\\\"\"\n");
    expect("yaml", "- one\n- [two, {k: three}]\n- &x four\n- *x\n- !!int 5\n- !tag six\n",
           "- \"ONE\"\n- [\"TWO\", {k: \"THREE\"}]\n- &x \"FOUR\"\n- *x\n- !!int 5\n- !tag six\n");
    expect("yaml", "a: |\n  first\n    second\n\n  third\nb: x\n", "a: |\n  FIRST\n    SECOND\n\n  THIRD\nb: \"X\"\n");
    expect("yaml", "a: >-\n  one\n  two\n\n  three\nb: x\n", "a: >-\n  ONE TWO\n\n  THREE\nb: \"X\"\n");
    expect("yaml", "\xc3\xa9\xc3\xa9: na\xc3\xafve text\nz: after\n", "\xc3\xa9\xc3\xa9: \"NA\xc3\xafVE TEXT\"\nz: \"AFTER\"\n");
    expect("yaml", "? complex key\n: its value\n", "? complex key\n: \"ITS VALUE\"\n");
    expect_refused("yaml", "a: [1, 2\nb: \"x", "file: line");
}

static void po_fills_what_is_empty(void **state)
{
    (void)state;
    expect("po",
           "# c\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#, c-format\nmsgid \"open %s\"\nmsgstr \"\"\n\n"
           "msgid \"done\"\nmsgstr \"fertig\"\n",
           "# c\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#, c-format\nmsgid \"open %s\"\nmsgstr \"OPEN %s\"\n\n"
           "msgid \"done\"\nmsgstr \"fertig\"\n");
    expect("po", "msgid \"a \\\"b\\\"\\tc\"\nmsgstr \"\"\n", "msgid \"a \\\"b\\\"\\tc\"\nmsgstr \"A \\\"B\\\"\\tC\"\n");
    expect("po", "msgid \"\"\n\"one \"\n\"two\\n\"\n\"three\\n\"\nmsgstr \"\"\n",
           "msgid \"\"\n\"one \"\n\"two\\n\"\n\"three\\n\"\nmsgstr \"\"\n\"ONE TWO\\n\"\n\"THREE\\n\"\n");
    expect("po", "msgid \"end\\n\"\nmsgstr \"\"\n", "msgid \"end\\n\"\nmsgstr \"END\\n\"\n");
    expect("po", "msgctxt \"menu\"\nmsgid \"%d x\"\nmsgid_plural \"%d xs\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"da\"\n",
           "msgctxt \"menu\"\nmsgid \"%d x\"\nmsgid_plural \"%d xs\"\nmsgstr[0] \"%d X\"\nmsgstr[1] \"%d XS\"\nmsgstr[2] \"da\"\n");
    expect("po", "#~ msgid \"old\"\n#~ msgstr \"\"\nmsgid \"123\"\nmsgstr \"\"\n",
           "#~ msgid \"old\"\n#~ msgstr \"\"\nmsgid \"123\"\nmsgstr \"123\"\n");
    expect_refused("po", "msgid \"a\nmsgstr \"\"\n", "line 1: a string without a closing quote");
    expect_refused("po", "msgid \"a\"\nmsgid \"b\"\n", "line 2");
    expect_refused("po", "hello\n", "line 1: neither");
}

static void subtitles_keep_times_and_lines(void **state)
{
    (void)state;
    expect("srt", "1\n00:00:01,000 --> 00:00:02,000\nwhere are you going\nso early today?\n\n2\n00:00:03,000 --> 00:00:04,000\n- one\n- two\n",
           "1\n00:00:01,000 --> 00:00:02,000\nWHERE ARE YOU GOING\nSO EARLY TODAY?\n\n2\n00:00:03,000 --> 00:00:04,000\n- ONE\n- TWO\n");
    expect("srt", "1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<i>a b</i>\r\nc d\r\n\r\n",
           "1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<i>A B</i>\r\nC D\r\n\r\n");
    expect("vtt", "WEBVTT - title\n\nNOTE a note\n\nSTYLE\n::cue { color: red }\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Bob>a &amp; <c.y>b</c>\n",
           "WEBVTT - title\n\nNOTE a note\n\nSTYLE\n::cue { color: red }\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Bob>A &amp; <c.y>B</c>\n");
}

static void xliff_gets_targets_where_there_are_none(void **state)
{
    (void)state;
    expect("xliff",
           "<xliff version=\"1.2\"><file><body>\n<trans-unit id=\"1\"><source>press <g id=\"1\">ok</g> <x id=\"2\"/>now"
           "<bpt id=\"3\">&lt;b&gt;</bpt></source></trans-unit>\n<trans-unit id=\"2\"><source>done</source>"
           "<target>fertig</target></trans-unit>\n<trans-unit id=\"3\" translate=\"no\"><source>kept</source></trans-unit>\n"
           "<trans-unit id=\"4\"><source>a</source>\n<target state=\"new\"/></trans-unit></body></file></xliff>\n",
           "<xliff version=\"1.2\"><file><body>\n<trans-unit id=\"1\"><source>press <g id=\"1\">ok</g> <x id=\"2\"/>now"
           "<bpt id=\"3\">&lt;b&gt;</bpt></source><target>PRESS <g id=\"1\">OK</g> <x id=\"2\"/>NOW"
           "<bpt id=\"3\">&lt;b&gt;</bpt></target></trans-unit>\n<trans-unit id=\"2\"><source>done</source>"
           "<target>fertig</target></trans-unit>\n<trans-unit id=\"3\" translate=\"no\"><source>kept</source></trans-unit>\n"
           "<trans-unit id=\"4\"><source>a</source>\n<target state=\"new\">A</target></trans-unit></body></file></xliff>\n");
    expect("xliff",
           "<xliff version=\"2.0\"><file><unit id=\"1\"><segment><source>a <pc id=\"1\">b</pc> <ph id=\"2\"/>c</source></segment>"
           "<ignorable><source> kept</source></ignorable><segment><source>d</source><target></target></segment></unit></file></xliff>",
           "<xliff version=\"2.0\"><file><unit id=\"1\"><segment><source>a <pc id=\"1\">b</pc> <ph id=\"2\"/>c</source>"
           "<target>A <pc id=\"1\">B</pc> <ph id=\"2\"/>C</target></segment>"
           "<ignorable><source> kept</source></ignorable><segment><source>d</source><target>D</target></segment></unit></file></xliff>");
    expect_refused("xliff", "<html></html>", "no <xliff>");
}

static void markdown_keeps_its_marks(void **state)
{
    (void)state;
    expect("markdown", "---\ntitle: kept\n---\n# A head #\n\ntext *em* **bold** `code` ~~del~~\nnext line\n",
           "---\ntitle: kept\n---\n# A HEAD #\n\nTEXT *EM* **BOLD** `code` ~~DEL~~ NEXT LINE\n");
    expect("markdown", "- one\n- [x] two\n  more\n1. three\n\n> four\n> five\n\n* * *\n",
           "- ONE\n- [x] TWO MORE\n1. THREE\n\n> FOUR FIVE\n\n* * *\n");
    expect("markdown", "a [link](u \"t\") and ![alt](i.png) <https://x.org> [ref]\n\n[ref]: https://x.org/a \"t\"\n",
           "A [LINK](u \"t\") AND ![ALT](i.png) <https://x.org> [REF][ref]\n\n[ref]: https://x.org/a \"t\"\n");
    expect("markdown", "a\n\n    indented code\n\n```c\nfenced\n```\n~~~\n```\n~~~\nb\n",
           "A\n\n    indented code\n\n```c\nfenced\n```\n~~~\n```\n~~~\nB\n");
    expect("markdown", "| a b | c |\n|-----|:-:|\n| d | `e` f |\n\nafter\n", "| A B | C |\n|-----|:-:|\n| D | `e` F |\n\nAFTER\n");
    expect("markdown", "<div title=\"hint\">\nhtml <b>text</b>\n</div>\n\nsetext\n======\nx\\*y snake_case_word 2 * 3\n",
           "<div title=\"HINT\">\nHTML <b>TEXT</b>\n</div>\n\nSETEXT\n======\nX\\*Y SNAKE_CASE_WORD 2 * 3\n");
    expect("markdown", "hard  \nbreak\\\nhere[^1] &copy; me\n\n[^1]: note\n", "HARD  \nBREAK\\\nHERE[^1] \xc2\xa9 ME\n\n[^1]: NOTE\n");
    expect("markdown", "***both*** and __bold__ *unclosed\n", "***BOTH*** AND __BOLD__ *UNCLOSED\n");
}

/* ------------------------------------------------------------------------------------------------------- sentences */

static void sentences_end_where_readers_say(void **state)
{
    static const struct {
        const char *language, *text;
        size_t      count;
    } cases[] = {
        { "en", "One. Two! Three?", 3 },
        { "en", "Mr. Smith met Dr. J. Brown at 3.5 km. He left.", 2 },
        { "en", "See fig. 3 and e.g. Section 2. \"Good.\" He said so.", 3 },
        { "en", "He asked: \"Why?\" she said.", 1 },
        { "de", "Am 3. Oktober kam Hr. Meier, d.h. er. Er blieb.", 2 },
        { "de", "Das ist z.B. Wasser. Ende.", 2 },
        { "fr", "M. Dupont et Mme. Martin arrivent. Ils partent.", 2 },
        { "es", "El Sr. P\xc3\xa9rez vive en la Avda. Mayor. \xc2\xbfQu\xc3\xa9? Nada.", 3 },
        { "", "\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82", 2 },
        { "en", "   ", 0 },
        { "en", "no end", 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_sentences *s = NULL;
        rg_spans      found = { 0 };
        assert_int_equal(rg_sentences__new(&s, rg_sentences__icu(), cases[i].language), RG_OK);
        assert_int_equal(rg_sentences_cut(&found, s, cases[i].text, strlen(cases[i].text)), RG_OK);
        if (found.count != cases[i].count) fail_msg("%zu sentences in \"%s\"", found.count, cases[i].text);
        rg_spans_free(&found);
        rg_sentences_free(s);
    }
}

static void tags_over_several_sentences_are_shared_out(void **state)
{
    static const char *const texts[][2] = {
        { "<p>One. <b>Two. Three.</b> Four.</p>", "<p>ONE. <b>TWO. THREE.</b> FOUR.</p>" },
        { "<b><i>One. Two.</i> Three.</b>", "<b><i>ONE. TWO.</i> THREE.</b>" },
        { "One.<br>Two <a href=x>three. Four</a> five.", "ONE.<br>TWO <a href=x>THREE. FOUR</a> FIVE." },
        { "One. <img src=a> Two.<img src=b> Three.", "ONE. <img src=a> TWO.<img src=b> THREE." },
        { "1. First. 2. Second.", "1. FIRST. 2. SECOND." },
        { "See http://a.b/c.d Now. Then <code>x. Y</code> end.", "SEE http://a.b/c.d NOW. THEN <code>x. Y</code> END." },
    };
    (void)state;
    rg_document_config c = RG_DOCUMENT_CONFIG_DEFAULT;
    c.format = rg_document_format_find("html");
    assert_int_equal(rg_sentences__new(&c.sentences, rg_sentences__icu(), "en"), RG_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *out = translated(&c, texts[i][0], strlen(texts[i][0]));
        assert_string_equal(out, texts[i][1]);
        rg_free(out);
    }
    rg_sentences_free(c.sentences);
}

/* The words of a translation that is twice as long. */
static char *doubled(const rg_document_config *c, const char *text)
{
    rg_document *d = NULL;
    answers      a = { { NULL } };
    rg_text      out = { 0 };
    assert_int_equal(rg_document_read(&d, text, strlen(text), c), RG_OK);
    for (size_t i = 0; i < rg_document_count(d); i++) {
        rg_text one = { 0 };
        for (const char *at = rg_document_text(d, i); *at; at++) {
            assert_int_equal(rg_text_add(&one, at, 1), RG_OK);
            if (*at != ' ') assert_int_equal(rg_text_add(&one, at, 1), RG_OK);
        }
        assert_non_null(a.list[i] = rg_strdup(rg_text_c(&one)));
        rg_text_free(&one);
    }
    assert_int_equal(rg_document_join(&out, d, answer, &a), RG_OK);
    for (size_t i = 0; i < rg_document_count(d); i++) rg_free(a.list[i]);
    char *all = rg_strdup(rg_text_c(&out));
    rg_text_free(&out);
    rg_document_free(d);
    return all;
}

#define CUE(number, from, to) number "\n00:00:" from " --> 00:00:" to "\n"
#define ONE CUE("1", "01,000", "03,000")
#define TWO CUE("2", "03,100", "05,000")
#define LATER CUE("2", "09,000", "11,000")

/* How many sentences the subtitles have, each translated whole, and what becomes of their lines. */
static void sentences_of_subtitles_are_whole(void **state)
{
    static const struct {
        const char *text;
        size_t      sentences;
        const char *doubled;
    } cases[] = {
        { ONE "I know him.\nHe is old.\n", 2, ONE "II kknnooww hhiimm..\nHHee iiss oolldd..\n" },
        { ONE "He was going home\n\n" TWO "when it rained.\n", 1,
          ONE "HHee wwaass ggooiinngg hhoommee\n\n" TWO "wwhheenn iitt rraaiinneedd..\n" },
        { ONE "Hello there. I was\ngoing\n\n" TWO "home. Bye.\n", 3,
          ONE "HHeelllloo tthheerree.. II wwaass\nggooiinngg\n\n" TWO "hhoommee.. BByyee..\n" },
        { ONE "a red house,\n\n" TWO "Tom\n", 1, ONE "aa rreedd hhoouussee,,\n\n" TWO "TToomm\n" },
        { ONE "He was going home.\n\n" TWO "when it rained.\n", 2, NULL },   /* a full stop    */
        { ONE "He was going home\n\n" LATER "when it rained.\n", 2, NULL },  /* much later     */
        { ONE "CHAPTER ONE\n\n" TWO "He was old.\n", 2, NULL },              /* a title        */
        { ONE "<i>He was going home</i>\n\n" TWO "when it rained.\n", 2, NULL },
        { ONE "- He was going\n- I know\n\n" TWO "when it rained.\n", 3, NULL },
        { ONE "He was going home\n\n" TWO "- when?\n", 2, NULL },
        { ONE "12:30\n\n" TWO "he came\n", 1, NULL },
    };
    (void)state;
    rg_document_config c = RG_DOCUMENT_CONFIG_DEFAULT;
    c.format = rg_document_format_find("srt");
    assert_int_equal(rg_sentences__new(&c.sentences, rg_sentences__icu(), "en"), RG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_document *d = NULL;
        char        *upper = translated(&c, cases[i].text, strlen(cases[i].text)), *expected = capitals(cases[i].text);
        assert_int_equal(rg_document_read(&d, cases[i].text, strlen(cases[i].text), &c), RG_OK);
        if (rg_document_count(d) != cases[i].sentences) fail_msg("%zu sentences in %s", rg_document_count(d), cases[i].text);
        rg_document_free(d);
        if (!strchr(cases[i].text, '<')) assert_string_equal(upper, expected); /* every line end and time is where it was */
        rg_free(upper);
        rg_free(expected);
        char *twice = doubled(&c, cases[i].text);
        if (cases[i].doubled) assert_string_equal(twice, cases[i].doubled);
        rg_free(twice);
    }
    /* a translation with too few words: no cue is lost, a line end may be */
    static const char text[] = ONE "He was\ngoing home\n\n" TWO "when it\nrained.\n";
    rg_document      *d = NULL;
    answers           a = { { NULL } };
    rg_text           out = { 0 };
    assert_int_equal(rg_document_read(&d, text, strlen(text), &c), RG_OK);
    assert_int_equal(rg_document_count(d), 1);
    static char few[] = "gone home";
    a.list[0] = few;
    assert_int_equal(rg_document_join(&out, d, answer, &a), RG_OK);
    assert_string_equal(rg_text_c(&out), ONE "gone\n\n" TWO "home\n");
    static char single[] = "gone";
    a.list[0] = single;
    rg_text_clear(&out);
    assert_int_equal(rg_document_join(&out, d, answer, &a), RG_OK);
    assert_string_equal(rg_text_c(&out), ONE "gone\n\n" TWO "\n");
    rg_text_free(&out);
    rg_document_free(d);
    rg_sentences_free(c.sentences);
}

/* --------------------------------------------------------------------------------------------------- placeholders */

/* Whatever a translator does with a placeholder, it stands in the translation once, as it was. */
static void placeholders_survive_any_translation(void **state)
{
    static const struct {
        const char *text, *translation, *expected;
    } cases[] = {
        { "open {name} now", "jetzt {name} \xc3\xb6""ffnen", "jetzt {name} \xc3\xb6""ffnen" },
        { "open {name} now", "jetzt ({name}) auf", "jetzt ({name}) auf" },
        { "%s of %s", "%s von %s", "%s von %s" },
        { "<b>{name}</b> is here", "hier ist {name}", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_document *d = rg_support_read("html", cases[i].text, true);
        rg_text      out = { 0 };
        assert_int_equal(rg_document_count(d), 1);
        assert_int_equal(rg_document_render(&out, d, 0, cases[i].translation, NULL), RG_OK);
        if (cases[i].expected) assert_string_equal(rg_text_c(&out), cases[i].expected);
        assert_int_equal(rg_support_count(rg_text_c(&out), "{name}"), rg_support_count(cases[i].text, "{name}"));
        rg_text_free(&out);
        rg_document_free(d);
    }
}

/* ----------------------------------------------------------------------------------------------------------- rest */

static void formats_are_found_by_name_and_ending(void **state)
{
    (void)state;
    assert_string_equal(rg_document_format_of("dir.d/page.HTM")->name, "html");
    assert_string_equal(rg_document_format_of("a.b.po")->name, "po");
    assert_null(rg_document_format_of("dir.po/file"));
    assert_null(rg_document_format_of("x.p"));
    assert_null(rg_document_format_find("nosuch"));
    for (const rg_document_format *const *f = rg_document_formats(); *f; f++)
        assert_ptr_equal(rg_document_format_find((*f)->name), *f);
}

static void what_is_no_text_is_refused(void **state)
{
    const rg_document_config c = { .format = rg_document_format_find("html"), .name = "file", .aligned = true };
    rg_document             *d = NULL;
    (void)state;
    assert_int_equal(rg_document_read(&d, "a\0b", 3, &c), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "byte 1"));
    assert_int_equal(rg_document_read(&d, "\xff\xfe" "a", 3, &c), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "UTF-16"));
}

static void a_partial_file_brings_back_what_was_done(void **state)
{
    rg_document   *d = rg_support_read("text", "one\ntwo\nthree\n", true);
    char          *some[3] = { "EINS\nx", NULL, "" }, *back[3] = { NULL };
    size_t         done = 9;
    const uint64_t sum = rg_document_checksum(d, "settings");
    (void)state;
    assert_int_equal(rg_document_partial_load(&done, "none.partial", sum, back, 3), RG_OK);
    assert_int_equal(done, 0);
    assert_int_equal(rg_document_partial_save("a.partial", sum, some, 3), RG_OK);
    assert_int_equal(rg_document_partial_load(&done, "a.partial", sum, back, 3), RG_OK);
    assert_int_equal(done, 2);
    assert_string_equal(back[0], some[0]);
    assert_null(back[1]);
    assert_string_equal(back[2], "");
    assert_int_equal(rg_document_partial_load(&done, "a.partial", rg_document_checksum(d, "others"), back, 3), RG_EMATCH);
    assert_int_equal(rg_file_replace("b.partial", "regard-partial 1 0 3\n99 5\nabc", 29), RG_OK);
    assert_int_equal(rg_document_partial_load(&done, "b.partial", 0, back, 3), RG_OK);
    assert_int_equal(done, 0);
    rg_free(back[0]);
    rg_free(back[2]);
    rg_document_free(d);
}

static bool refuse(void *context, size_t bytes)
{
    size_t *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

/* Allow 0, 1, 2, ... allocations: RG_ENOMEM and no leak each time (P2). */
static void no_memory_is_said_and_nothing_leaks(void **state)
{
    static const char *const texts[][2] = { { "html", "<p title='a b'>one <b>two %s</b> <code>x</code></p>" },
                                            { "markdown", "# a *b* [c](d)\n\n- e `f`\n" },
                                            { "po", "msgid \"a %s\"\nmsgstr \"\"\n" },
                                            { "srt", "1\n00:00:01,000 --> 00:00:02,000\na\nb\n" } };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const rg_document_config c = { .format = rg_document_format_find(texts[k][0]), .name = "file", .aligned = true };
        rg_status                status = RG_ENOMEM;
        for (size_t allowed = 0; status == RG_ENOMEM; allowed++) {
            const size_t blocks = rg_base__live_blocks();
            size_t       left = allowed;
            rg_document *d = NULL;
            rg_text      out = { 0 };
            rg_base__seam_alloc(refuse, &left);
            status = rg_document_read(&d, texts[k][1], strlen(texts[k][1]), &c);
            if (status == RG_OK) status = rg_document_join(&out, d, rg_support_none, NULL);
            rg_base__seam_alloc(NULL, NULL);
            rg_document_free(d);
            rg_text_free(&out);
            assert_int_equal(rg_base__live_blocks(), blocks);
            assert_true(status == RG_OK || status == RG_ENOMEM);
            assert_true(allowed < 10000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_its_lines_and_blanks),
        cmocka_unit_test(what_is_protected_is_copied),
        cmocka_unit_test(json_keeps_keys_numbers_and_blanks),
        cmocka_unit_test(yaml_keeps_keys_comments_and_quotes),
        cmocka_unit_test(po_fills_what_is_empty),
        cmocka_unit_test(subtitles_keep_times_and_lines),
        cmocka_unit_test(xliff_gets_targets_where_there_are_none),
        cmocka_unit_test(markdown_keeps_its_marks),
        cmocka_unit_test(sentences_end_where_readers_say),
        cmocka_unit_test(tags_over_several_sentences_are_shared_out),
        cmocka_unit_test(sentences_of_subtitles_are_whole),
        cmocka_unit_test(placeholders_survive_any_translation),
        cmocka_unit_test(formats_are_found_by_name_and_ending),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(a_partial_file_brings_back_what_was_done),
        cmocka_unit_test(no_memory_is_said_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
