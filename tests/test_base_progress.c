/* test_base_progress.c - the progress bar, drawn on a pseudo terminal and read back. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static double held;

static double held_clock(void *context)
{
    (void)context;
    return held;
}

typedef struct screen {
    int master;
    FILE *stream;
} screen;

static bool open_screen(screen *s, unsigned short columns)
{
    struct winsize size = { .ws_col = columns, .ws_row = 24 };
    s->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (s->master < 0 || grantpt(s->master) != 0 || unlockpt(s->master) != 0) return false;
    s->stream = fopen(ptsname(s->master), "w");
    return s->stream != NULL && ioctl(s->master, TIOCSWINSZ, &size) == 0;
}

static const char *read_screen(const screen *s)
{
    static char text[4096];
    fcntl(s->master, F_SETFL, O_NONBLOCK);
    ssize_t got = read(s->master, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static void close_screen(screen *s)
{
    fclose(s->stream);
    close(s->master);
}

static void a_terminal_gets_title_bar_percent_rate_and_time_left(void **state)
{
    (void)state;
    screen s;
    rg_progress *p;
    if (!open_screen(&s, 100)) skip();
    setenv("NO_COLOR", "1", 1);
    held = 1000;
    assert_int_equal(rg_progress_new(&p, s.stream, "epoch 3", 4000), RG_OK);
    rg_progress_set(p, 0, NULL);
    assert_non_null(strstr(read_screen(&s), "0 %  0.0/s  eta --:--")); /* nobody knows yet */
    held = 1010;
    rg_progress_set(p, 1000, "loss 2.31");
    const char *text = read_screen(&s);
    assert_non_null(strstr(text, "epoch 3  [=====")); /* one quarter */
    assert_non_null(strstr(text, "]   25 %  100.0/s  eta 0:30  loss 2.31"));
    assert_null(strstr(text, "\033[36m"));
    held = 1010.05;
    rg_progress_set(p, 1001, NULL); /* too soon to draw again */
    assert_string_equal(read_screen(&s), "");
    held = 1010.2;
    rg_progress_set(p, 3999, NULL);
    assert_non_null(strstr(read_screen(&s), " 99 %"));
    rg_progress_set(p, 4000, NULL); /* the end is drawn in any case */
    assert_non_null(strstr(read_screen(&s), "100 %"));
    rg_progress_end(p);
    assert_string_equal(read_screen(&s), "\r\033[K");
    unsetenv("NO_COLOR");
    close_screen(&s);
}

static void a_share_gives_the_time_left_of_what_was_done_here(void **state)
{
    (void)state;
    screen s;
    rg_progress *p;
    if (!open_screen(&s, 80)) skip();
    setenv("NO_COLOR", "1", 1);
    held = 1000;
    assert_int_equal(rg_progress_new(&p, s.stream, "", 0), RG_OK);
    rg_progress_part(p, 0.5, "epoch 1", "loss 5");
    assert_non_null(strstr(read_screen(&s), "epoch 1  [")); /* a bar at once, half of it done by an earlier run */
    held = 1010;
    rg_progress_part(p, 0.6, "epoch 2", "loss 4");
    const char *text = read_screen(&s);
    assert_non_null(strstr(text, "epoch 2  [===="));
    assert_non_null(strstr(text, "60 %  0:40 left  loss 4")); /* a tenth in 10 s, four tenths to go */
    rg_progress_clear(p);
    assert_string_equal(read_screen(&s), "\r\033[K");
    rg_progress_clear(p);
    assert_string_equal(read_screen(&s), "");
    held = 1100;
    rg_progress_part(p, -1, "epoch 2", "no limit");
    text = read_screen(&s);
    assert_non_null(strstr(text, "epoch 2  1:40  no limit"));
    assert_null(strchr(text + 4, '['));
    rg_progress_end(p);
    unsetenv("NO_COLOR");
    close_screen(&s);
}

static void a_narrow_terminal_is_never_overrun(void **state)
{
    (void)state;
    static const unsigned short widths[] = { 1, 2, 10, 20, 33, 60 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        screen s;
        rg_progress *p;
        if (!open_screen(&s, widths[i])) skip();
        setenv("NO_COLOR", "1", 1);
        held = 5;
        assert_int_equal(rg_progress_new(&p, s.stream, "\xC3\xA9poque", 10), RG_OK);
        held = 6;
        rg_progress_set(p, 5, "a note that is longer than a narrow terminal");
        const char *text = read_screen(&s) + strlen("\r\033[K");
        size_t columns = 0;
        for (; *text != '\0'; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
        assert_true(columns >= 1 && columns < (widths[i] > 1 ? widths[i] : 2));
        rg_progress_end(p);
        unsetenv("NO_COLOR");
        close_screen(&s);
    }
}

static void without_a_total_it_counts_and_colour_is_the_default(void **state)
{
    (void)state;
    screen s;
    rg_progress *p;
    if (!open_screen(&s, 80)) skip();
    unsetenv("NO_COLOR");
    held = 5;
    assert_int_equal(rg_progress_new(&p, s.stream, "lines", 0), RG_OK);
    held = 7;
    rg_progress_set(p, 5000000, NULL);
    assert_non_null(strstr(read_screen(&s), "\033[36mlines  5000000  2.5M/s"));
    rg_progress_end(p);
    close_screen(&s);
}

static void nothing_is_drawn_where_there_is_no_terminal(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    rg_progress *p;
    assert_non_null(file);
    assert_int_equal(rg_progress_new(&p, file, "quiet", 10), RG_OK);
    for (uint64_t i = 0; i <= 10; i++) {
        held += 1;
        rg_progress_set(p, i, "note");
    }
    rg_progress_end(p);
    rg_progress_end(NULL);
    rg_progress_set(NULL, 1, NULL);
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

static rg_status make_progress(void *context)
{
    rg_progress *p;
    RG_TRY(rg_progress_new(&p, context, "title", 10));
    rg_progress_end(p);
    return RG_OK;
}

static void a_bar_without_memory_is_refused(void **state)
{
    (void)state;
    faults_every_alloc(make_progress, stderr, NULL, false);
}

static int hold_clock(void **state)
{
    (void)state;
    setenv("TERM", "xterm", 1);
    rg_base__seam_now(held_clock, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_title_bar_percent_rate_and_time_left),
        cmocka_unit_test(a_share_gives_the_time_left_of_what_was_done_here),
        cmocka_unit_test(a_narrow_terminal_is_never_overrun),
        cmocka_unit_test(without_a_total_it_counts_and_colour_is_the_default),
        cmocka_unit_test(nothing_is_drawn_where_there_is_no_terminal),
        cmocka_unit_test(a_bar_without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, hold_clock, NULL);
}
