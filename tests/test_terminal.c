/* test_terminal.c - heat maps of characters: aligned in every script, within the width, harmless. */
#include "regard/view.h"
#include "support/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void wide_and_combining_characters_are_measured(void **state)
{
    (void)state;
    assert_int_equal(rg_terminal_width("abc"), 3);
    assert_int_equal(rg_terminal_width("世界"), 4);
    assert_int_equal(rg_terminal_width("e\xcc\x81"), 1);
    assert_int_equal(rg_terminal_width("سلام"), 4);
    assert_int_equal(rg_terminal_width("\xff\x1b"), 2);
    assert_int_equal(rg_terminal_width("한국어"), 6);
}

/* Where the first cell of a line stands: columns before the first shade. */
static char *line_with(char *text, const char *word)
{
    char *at = strstr(text, word), *begin = at;

    if (!at) return NULL;
    while (begin > text && begin[-1] != '\n') begin--;
    *strchr(begin, '\n') = 0;
    return begin;
}

static void rows_line_up_whatever_the_script(void **state)
{
    rg_record          *r = test_record_scripts();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    o.links = 0;
    o.unicode = true;
    /* all weights at the top: every row is its label and then full blocks to the same column */
    for (size_t i = 0; i < 72; i++) r->map[0].weights[i] = 1;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
        char *line = line_with(drawn, r->labels[0].text[i]);
        assert_non_null(line);
        assert_int_equal(rg_terminal_width(line) - (strstr(line, "\xe2\x81\xa8") ? 3 : 0), 10 + 1 + 16);
        rg_free(drawn);
    }
    rg_record_free(r);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    for (int width = 20; width <= 200; width += 9)
        for (int k = 0; k < 4; k++) {
            rg_record          *r = k == 0   ? test_record_translation()
                                    : k == 1 ? test_record_scripts()
                                    : k == 2 ? test_record_tokens(60, 1)
                                             : test_record_tokens(300, 1);
            rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
            char               *drawn = NULL;
            o.width = width;
            o.links = 0;
            assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
            for (char *line = strtok(drawn, "\n"); line; line = strtok(NULL, "\n"))
                if (rg_terminal_width(line) > (size_t)width + 3 && !strstr(line, " x "))
                    fail_msg("width %d, record %d: %zu columns: %s", width, k, rg_terminal_width(line), line);
            rg_free(drawn);
            rg_record_free(r);
        }
}

static void a_label_cannot_send_an_escape_sequence(void **state)
{
    static const char *const evil[] = { "\x1b[2Jgone", "a\nb", "\xc2\x9b" "31m" };
    rg_record          *r = NULL;
    rg_map_place        place = { "\x1b]0;title\x07", 0, 0, 0, 0 };
    rg_real             w[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;
    size_t              l;

    (void)state;
    assert_int_equal(rg_record_new(&r, "\x1b[31m", ""), RG_OK);
    assert_int_equal(rg_record_add_labels(&l, r, "x", RG_LABEL_TOKEN, evil, 3), RG_OK);
    assert_int_equal(rg_record_add_map(NULL, r, place, l, l, w, 3), RG_OK);
    assert_int_equal(rg_record_add_text(r, "\x1b", "\x1b[1m", 0, false), RG_OK);
    assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
    assert_null(strchr(drawn, 27));
    assert_null(strchr(drawn, 7));
    assert_null(strstr(drawn, "\xc2\x9b"));
    rg_free(drawn);
    rg_record_free(r);
}

static void arrows_name_the_strongest_links(void **state)
{
    rg_record          *r = test_record_translation();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    assert_int_equal(rg_terminal_draw(&drawn, r, rg_record_find(r, NULL, 1, 3, -1), &o), RG_OK);
    assert_non_null(strstr(drawn, "zone → Area"));
    rg_free(drawn);
    o.unicode = false;
    assert_int_equal(rg_terminal_draw(&drawn, r, rg_record_find(r, NULL, 1, 3, -1), &o), RG_OK);
    assert_non_null(strstr(drawn, "zone -> Area"));
    for (char *p = drawn; *p; p++) assert_true((unsigned char)*p < 0x80);
    rg_free(drawn);
    rg_record_free(r);
}

static void the_environment_decides_about_colour(void **state)
{
    rg_terminal_options o;

    (void)state;
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    setenv("TERM", "xterm-256color", 1);
    setenv("COLORTERM", "truecolor", 1);
    setenv("LC_ALL", "fr_FR.UTF-8", 1);
    rg_terminal_detect(&o, true, 120);
    assert_int_equal(o.colour, RG_COLOUR_24BIT);
    assert_int_equal(o.width, 120);
    assert_true(o.unicode);
    unsetenv("COLORTERM");
    rg_terminal_detect(&o, true, 0);
    assert_int_equal(o.colour, RG_COLOUR_256);
    assert_int_equal(o.width, 80);
    setenv("NO_COLOR", "1", 1);
    rg_terminal_detect(&o, true, 0);
    assert_int_equal(o.colour, RG_COLOUR_NONE);
    unsetenv("NO_COLOR");
    rg_terminal_detect(&o, false, 0);
    assert_int_equal(o.colour, RG_COLOUR_NONE);
    setenv("TERM", "dumb", 1);
    setenv("LC_ALL", "C", 1);
    setenv("COLUMNS", "44", 1);
    rg_terminal_detect(&o, true, 0);
    assert_int_equal(o.colour, RG_COLOUR_NONE);
    assert_int_equal(o.width, 44);
    assert_false(o.unicode);
}

static void colours_are_switched_off_at_the_end_of_every_line(void **state)
{
    rg_record          *r = test_record_translation();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    for (int colour = RG_COLOUR_256; colour <= RG_COLOUR_24BIT; colour++) {
        o.colour = (rg_terminal_colour)colour;
        assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
        assert_non_null(strstr(drawn, colour == RG_COLOUR_256 ? "\x1b[48;5;" : "\x1b[48;2;"));
        for (char *line = strtok(drawn, "\n"); line; line = strtok(NULL, "\n")) {
            char *last = NULL;
            for (char *p = line; (p = strchr(p, 27)); p++) last = p;
            if (last) assert_memory_equal(last, "\x1b[0m", 4);
        }
        rg_free(drawn);
    }
    rg_record_free(r);
}

static void curves_are_drawn_with_their_names(void **state)
{
    rg_record          *r = test_record_curves();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    assert_int_equal(rg_terminal_curves(&drawn, &r->curves[0], &o), RG_OK);
    assert_non_null(strstr(drawn, "LSTM, forget bias 1"));
    assert_non_null(strstr(drawn, "1e-09"));
    rg_free(drawn);
    rg_record_free(r);
}

static void bars_have_names_numbers_and_intervals(void **state)
{
    rg_record          *r = test_record_bars();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    assert_int_equal(rg_terminal_curves(&drawn, &r->curves[0], &o), RG_OK);
    assert_non_null(strstr(drawn, "direction-reversed"));
    assert_non_null(strstr(drawn, "├"));
    assert_non_null(strstr(drawn, "37.1  36.5 to 37.7"));
    rg_free(drawn);
    assert_int_equal(rg_terminal_curves(&drawn, &r->curves[1], &o), RG_OK);
    assert_non_null(strstr(drawn, "█"));
    assert_non_null(strstr(drawn, "━━ decoder"));
    rg_free(drawn);
    rg_record_free(r);
}

static void points_with_names_are_letters(void **state)
{
    rg_record          *r = test_record_bars();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    assert_int_equal(rg_terminal_curves(&drawn, &r->curves[2], &o), RG_OK);
    const char *legend = strstr(drawn, "a seq2seq   b luong   c transformer");
    assert_non_null(legend);
    for (const char *letter = "abc"; *letter; letter++) assert_non_null(memchr(drawn, *letter, (size_t)(legend - drawn)));
    assert_non_null(strstr(drawn, "operations"));
    rg_free(drawn);
    rg_record_free(r);
}

/* A line of half blocks per two lines of pixels, as wide as the terminal at most; in shades without colour. */
static void a_sheet_is_drawn_as_a_picture(void **state)
{
    rg_record          *r = test_record_sheet();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
    assert_non_null(strstr(drawn, "▓"));
    assert_null(strstr(drawn, "front → ")); /* no links */
    rg_free(drawn);
    o.colour = RG_COLOUR_24BIT;
    o.height = 24;
    assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
    assert_non_null(strstr(drawn, "▀"));
    size_t lines = 0;
    for (const char *p = drawn; *p; p++) lines += *p == '\n';
    assert_in_range(lines, 8, 23);
    rg_free(drawn);
    rg_record_free(r);
}

static void a_picture_is_lit_for_every_word(void **state)
{
    rg_record          *r = test_record_picture();
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    char               *drawn = NULL;

    (void)state;
    o.colour = RG_COLOUR_24BIT;
    assert_int_equal(rg_terminal_draw(&drawn, r, 0, &o), RG_OK);
    assert_non_null(strstr(drawn, "▀"));
    const rg_labels *rows = &r->labels[r->map[0].row_labels];
    for (size_t i = 0; i < rows->count; i++) assert_non_null(strstr(drawn, rows->text[i]));
    rg_free(drawn);
    rg_record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_and_combining_characters_are_measured),
        cmocka_unit_test(rows_line_up_whatever_the_script),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(a_label_cannot_send_an_escape_sequence),
        cmocka_unit_test(arrows_name_the_strongest_links),
        cmocka_unit_test(the_environment_decides_about_colour),
        cmocka_unit_test(colours_are_switched_off_at_the_end_of_every_line),
        cmocka_unit_test(curves_are_drawn_with_their_names),
        cmocka_unit_test(bars_have_names_numbers_and_intervals),
        cmocka_unit_test(points_with_names_are_letters),
        cmocka_unit_test(a_sheet_is_drawn_as_a_picture),
        cmocka_unit_test(a_picture_is_lit_for_every_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
