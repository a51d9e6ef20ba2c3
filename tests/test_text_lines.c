/* test_text_lines.c - lines of any content, N in and N out (P6), and what was wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "regard/text.h"

static char *clean(const char *line, size_t bytes, rg_text_form form, unsigned *faults)
{
    rg_text text = { 0 };
    assert_int_equal(rg_text_clean(&text, line, bytes, form, faults), RG_OK);
    return text.data;
}

#define EXPECT_CLEAN(in, form, out, bits)                        \
    do {                                                         \
        unsigned faults_;                                        \
        char    *got_ = clean(in, sizeof(in) - 1, form, &faults_); \
        assert_string_equal(got_, out);                          \
        assert_int_equal(faults_, bits);                         \
        rg_free(got_);                                           \
    } while (0)

static void utf8_is_told_from_what_is_not(void **state)
{
    (void)state;
    static const char *const good[] = { "",
                                        "a",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF" };
    static const char *const bad[] = { "\x80",
                                       "\xC0\xAF",
                                       "\xC1\xBF",
                                       "\xC2",
                                       "\xE0\x9F\xBF",
                                       "\xED\xA0\x80",
                                       "\xE2\x82",
                                       "\xF0\x8F\xBF\xBF",
                                       "\xF4\x90\x80\x80",
                                       "\xF5\x80\x80\x80",
                                       "\xFF",
                                       "\xFE" };
    size_t at;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(rg_utf8_check(good[i], strlen(good[i]), NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(rg_utf8_check(bad[i], strlen(bad[i]), NULL));
    assert_false(rg_utf8_check("ab\xC3(", 4, &at));
    assert_int_equal(at, 2);
}

static void a_line_is_repaired_and_normalised(void **state)
{
    (void)state;
    EXPECT_CLEAN("plain text", RG_TEXT_NFC, "plain text", 0);
    EXPECT_CLEAN("cafe\xCC\x81", RG_TEXT_NFC, "caf\xC3\xA9", 0);
    EXPECT_CLEAN("cafe\xCC\x81", RG_TEXT_AS_IS, "cafe\xCC\x81", 0);
    EXPECT_CLEAN("\xEF\xAC\x81n", RG_TEXT_NFC, "\xEF\xAC\x81n", 0);  /* the fi ligature */
    EXPECT_CLEAN("\xEF\xAC\x81n", RG_TEXT_NFKC, "fin", 0);
    EXPECT_CLEAN("dos line\r", RG_TEXT_NFC, "dos line", 0);
    EXPECT_CLEAN("a\rb\vc\x7F", RG_TEXT_NFC, "a b c ", 0);
    EXPECT_CLEAN("a\tb", RG_TEXT_NFC, "a\tb", 0);
    EXPECT_CLEAN("a\xE2\x80\xA8" "b", RG_TEXT_NFC, "a b", 0); /* line separator */
    EXPECT_CLEAN("a\xFF\xFE", RG_TEXT_NFC, "a\xEF\xBF\xBD\xEF\xBF\xBD", RG_LINE_BAD_UTF8);
    EXPECT_CLEAN("a\0b", RG_TEXT_NFC, "a\xEF\xBF\xBD" "b", RG_LINE_NUL);
    EXPECT_CLEAN("", RG_TEXT_NFKC, "", 0);
    EXPECT_CLEAN("Ein Stra\xC3\x9F" "enCAF\xC3\x89", RG_TEXT_LOWER, "ein stra\xC3\x9F" "encaf\xC3\xA9", 0); /* no ss for the sharp s */
    EXPECT_CLEAN("CAFE\xCC\x81 \xC4\xB0", RG_TEXT_LOWER, "caf\xC3\xA9 i\xCC\x87", 0);
    EXPECT_CLEAN("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3", RG_TEXT_LOWER, "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x82", 0); /* a sigma at the end */
    EXPECT_CLEAN("A\xFF", RG_TEXT_LOWER, "a\xEF\xBF\xBD", RG_LINE_BAD_UTF8);
    EXPECT_CLEAN("", RG_TEXT_LOWER, "", 0);
}

static void cleaning_twice_changes_nothing(void **state)
{
    (void)state;
    rg_random random = rg_random_new(7, 0);
    for (int round = 0; round < 2000; round++) {
        char         line[40];
        size_t       bytes = rg_random_below(&random, sizeof line);
        rg_text_form form = (rg_text_form)rg_random_below(&random, RG_TEXT_FORMS);
        for (size_t i = 0; i < bytes; i++)
            line[i] = (char)(rg_random_below(&random, 2) ? rg_random_below(&random, 256) : 'a');
        unsigned faults;
        char    *once = clean(line, bytes, form, NULL), *twice = clean(once, strlen(once), form, &faults);
        assert_true(rg_utf8_check(once, strlen(once), NULL));
        assert_string_equal(once, twice);
        assert_int_equal(faults, 0);
        rg_free(once);
        rg_free(twice);
    }
}

static void blanks_are_squeezed(void **state)
{
    (void)state;
    rg_text text = { 0 };
    assert_int_equal(rg_text_add_string(&text, " \t a  b\xC2\xA0\xE3\x80\x80" "c "), RG_OK);
    rg_text_squeeze(&text);
    assert_string_equal(text.data, "a b c");
    rg_text_clear(&text);
    assert_int_equal(rg_text_lower(&text, "\xC3\x89T\xC3\x89 \xD0\x96", 8), RG_OK);
    assert_string_equal(text.data, "\xC3\xA9t\xC3\xA9 \xD0\xB6");
    rg_text_free(&text);
}

/* Read all lines of some bytes; "|" after each. */
static char *read_bytes(const void *bytes, size_t count, const rg_lines_config *config, rg_status expected)
{
    rg_lines *lines = NULL;
    rg_text   all = { 0 };
    rg_line   line;
    bool      more = true;
    rg_status status = rg_lines_open_bytes(&lines, bytes, count, config);
    while (status == RG_OK && (status = rg_lines_next(&more, &line, lines)) == RG_OK && more) {
        assert_int_equal(strlen(line.text), line.bytes);
        assert_int_equal(rg_text_print(&all, "%s|", line.text), RG_OK);
    }
    assert_int_equal(status, expected);
    rg_lines_close(lines);
    assert_int_equal(rg_text_add(&all, "", 0), RG_OK);
    return all.data;
}

static void lines_end_at_lf_and_nowhere_else(void **state)
{
    (void)state;
    static const struct { const char *in, *out;
    } cases[] = {
        { "", "" },
        { "\n", "|" },
        { "a", "a|" },
        { "a\n", "a|" },
        { "a\n\nb", "a||b|" },
        { "\n\n", "||" },
        { "a\r\nb\r\n", "a|b|" },
        { "\xEF\xBB\xBF"
          "a\n\xEF\xBB\xBF"
          "b\n",
          "a|\xEF\xBB\xBF"
          "b|" },
        { "\x1F\nx\n", " |x|" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = read_bytes(cases[i].in, strlen(cases[i].in), NULL, RG_OK);
        assert_string_equal(got, cases[i].out);
        rg_free(got);
    }
}

static void a_line_past_the_limit_is_still_one_line(void **state)
{
    (void)state;
    rg_lines_config config = { RG_TEXT_NFC, 10 };
    char           *got = read_bytes("0123456789\n01234567890\nab\n", 25, &config, RG_OK);
    assert_string_equal(got, "0123456789||ab|");
    rg_free(got);

    size_t bytes = 300000; /* spans several chunks */
    char  *big = malloc(bytes);
    memset(big, 'x', bytes);
    memcpy(big + bytes - 3, "\nz\n", 3);
    rg_lines *lines = NULL;
    rg_line   line;
    bool      more;
    assert_int_equal(rg_lines_open_bytes(&lines, big, bytes, &config), RG_OK);
    assert_int_equal(rg_lines_next(&more, &line, lines), RG_OK);
    assert_int_equal(line.faults, RG_LINE_TOO_LONG);
    assert_int_equal(rg_lines_next(&more, &line, lines), RG_OK);
    assert_string_equal(line.text, "z");
    assert_int_equal(rg_lines_fault(lines, RG_LINE_TOO_LONG)->count, 1);
    assert_int_equal(rg_lines_fault(lines, RG_LINE_TOO_LONG)->lines[0], 1);
    rg_lines_close(lines);
    free(big);
}

/* The generator of TESTING.md section 3: every sort of line; count them, and compare each with itself read alone. */
static void n_lines_in_are_n_lines_out(void **state)
{
    (void)state;
    enum { LINES = 2000 };
    rg_random random = rg_random_new(11, 0);
    rg_text   file = { 0 }, expected = { 0 };
    for (int i = 0; i < LINES; i++) {
        rg_text line = { 0 };
        size_t  kind = (size_t)rg_random_below(&random, 8),
               bytes = i == 1000 ? 1000000 : (size_t)rg_random_below(&random, 60);
        for (size_t j = 0; j < bytes; j++) {
            char c = (char)('a' + rg_random_below(&random, 26));
            if (kind == 1) c = '\r';
            if (kind == 2 && j % 5 == 0) c = '\0';
            if (kind == 3) c = (char)(128 + rg_random_below(&random, 128));
            assert_int_equal(rg_text_add(&line, &c, 1), RG_OK);
        }
        if (kind == 4) assert_int_equal(rg_text_add_string(&line, "\xEF\xBB\xBF"), RG_OK);
        if (kind == 5) line.length = 0;
        if (line.length && memcmp(line.data, "\xEF\xBB\xBF", line.length < 3 ? line.length : 3) == 0 && i == 0)
            line.length = 0;
        char *alone = clean(rg_text_c(&line), line.length, RG_TEXT_NFC, NULL);
        assert_int_equal(rg_text_print(&expected, "%s|", alone), RG_OK);
        rg_free(alone);
        assert_int_equal(rg_text_add(&file, rg_text_c(&line), line.length), RG_OK);
        assert_int_equal(rg_text_add(&file, "\n", 1), RG_OK);
        rg_text_free(&line);
    }
    char *got = read_bytes(file.data, file.length, NULL, RG_OK);
    assert_true(strcmp(got, expected.data) == 0);
    rg_free(got);
    rg_text_free(&file);
    rg_text_free(&expected);
}

static size_t pack(unsigned char *out, size_t room, const char *text)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t bytes = room - z.avail_out;
    deflateEnd(&z);
    return bytes;
}

static void gzip_is_read_member_after_member(void **state)
{
    (void)state;
    unsigned char packed[400];
    size_t one = pack(packed, sizeof packed, "first\nsec"), two = pack(packed + one, sizeof packed - one, "ond\nthird");
    char         *got = read_bytes(packed, one + two, NULL, RG_OK);
    assert_string_equal(got, "first|second|third|");
    rg_free(got);
    for (size_t cut = 3; cut < one + two; cut++) { /* cut anywhere but between members: said, not swallowed */
        if (cut == one) continue;
        rg_free(read_bytes(packed, cut, NULL, RG_EFORMAT));
        assert_non_null(strstr(rg_message(), "cut short"));
    }
    packed[14] ^= 0x55;
    rg_free(read_bytes(packed, one, NULL, RG_EFORMAT));
}

/* Frames as zstd 1.5 writes them: "first\nsec" and "ond\nthird", with their checksums. */
static void zstd_is_read_frame_after_frame(void **state)
{
    static const unsigned char packed[] = { 0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x49, 0x00, 0x00, 0x66, 0x69, 0x72,
                                             0x73, 0x74, 0x0A, 0x73, 0x65, 0x63, 0xD1, 0x01, 0x12, 0x8D, 0x28, 0xB5,
                                             0x2F, 0xFD, 0x04, 0x58, 0x49, 0x00, 0x00, 0x6F, 0x6E, 0x64, 0x0A, 0x74,
                                             0x68, 0x69, 0x72, 0x64, 0xA1, 0xA6, 0x0D, 0xE5 };
    (void)state;
    rg_lines    *lines = NULL;
    rg_line      line;
    bool         more = false;
    assert_int_equal(rg_lines_open_bytes(&lines, packed, sizeof packed, NULL), RG_OK);
    const rg_status able = rg_lines_next(&more, &line, lines);
    rg_lines_close(lines);
    if (able == RG_EINVAL) skip(); /* built without libzstd, and it says so */
    const size_t one = 22, both = sizeof packed;
    char        *probe = read_bytes(packed, both, NULL, RG_OK);
    assert_string_equal(probe, "first|second|third|");
    rg_free(probe);
    for (size_t cut = 5; cut < both; cut++) {
        if (cut == one) continue;
        rg_free(read_bytes(packed, cut, NULL, RG_EFORMAT));
        assert_non_null(strstr(rg_message(), "cut short"));
    }
    unsigned char broken[sizeof packed];
    memcpy(broken, packed, both);
    broken[one - 2] ^= 0x55; /* of the checksum */
    rg_free(read_bytes(broken, one, NULL, RG_EFORMAT));
    assert_non_null(strstr(rg_message(), "broken zstd data"));
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    rg_lines *lines = NULL;
    assert_int_equal(rg_lines_open(&lines, "no/such/file.en", NULL), RG_EIO);
    assert_non_null(strstr(rg_message(), "no/such/file.en"));
    assert_null(lines);
}

static void faults_are_counted_with_their_lines(void **state)
{
    (void)state;
    rg_fault fault = { 0 };
    rg_text  text = { 0 };
    assert_int_equal(rg_fault_print(&text, &fault, "empty"), RG_OK);
    assert_int_equal(text.length, 0);
    for (uint64_t i = 1; i <= 10; i++) rg_fault_note(&fault, i * 3);
    assert_int_equal(rg_fault_print(&text, &fault, "empty"), RG_OK);
    assert_string_equal(text.data, "10 empty (lines 3, 6, 9, 12, 15, 18, 21, 24, ...)");
    rg_text_free(&text);
}

/* A person types: no line yet means waiting; a line that is there must not. */
static void standard_input_tells_when_it_would_wait(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    rg_lines *lines = NULL;
    rg_line   line;
    bool      more;
    assert_int_equal(rg_lines_open(&lines, "-", NULL), RG_OK);
    assert_true(rg_lines_would_wait(lines));
    assert_int_equal(write(ends[1], "one\ntw", 6), 6);
    assert_false(rg_lines_would_wait(lines));
    assert_int_equal(rg_lines_next(&more, &line, lines), RG_OK);
    assert_string_equal(line.text, "one");
    assert_true(rg_lines_would_wait(lines));
    assert_int_equal(write(ends[1], "o", 1), 1);
    assert_true(rg_lines_would_wait(lines));
    close(ends[1]);
    assert_false(rg_lines_would_wait(lines));
    assert_int_equal(rg_lines_next(&more, &line, lines), RG_OK);
    assert_true(more);
    assert_string_equal(line.text, "two");
    assert_int_equal(rg_lines_next(&more, &line, lines), RG_OK);
    assert_false(more);
    rg_lines_close(lines);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_what_is_not),
        cmocka_unit_test(a_line_is_repaired_and_normalised),
        cmocka_unit_test(cleaning_twice_changes_nothing),
        cmocka_unit_test(blanks_are_squeezed),
        cmocka_unit_test(lines_end_at_lf_and_nowhere_else),
        cmocka_unit_test(a_line_past_the_limit_is_still_one_line),
        cmocka_unit_test(n_lines_in_are_n_lines_out),
        cmocka_unit_test(gzip_is_read_member_after_member),
        cmocka_unit_test(zstd_is_read_frame_after_frame),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(faults_are_counted_with_their_lines),
        cmocka_unit_test(standard_input_tells_when_it_would_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
