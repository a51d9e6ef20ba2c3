/* test_report.c - training logs as curves and pages; pages with nothing that came from outside left unescaped. */
#include "regard/view.h"
#include "support/records.h"
#include "view/buffer.h"
#include "view/axis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const char log_text[] = "{\"step\":10,\"epoch\":0,\"loss\":5.5,\"lr\":0.0001,\"words_per_second\":100}\n"
                               "{\"step\":20,\"loss\":4.25,\"lr\":0.0002,\"grad_norm\":1.5,\"unknown\":[1,{\"a\":2}]}\n"
                               "\n"
                               "{\"step\":20,\"valid\":{\"bleu\":12.5,\"perplexity\":70.0,\"loss\":4.4},\"samples\":[{"
                               "\"source\":\"old\",\"output\":\"alt\"}]}\n"
                               "{\"step\":30,\"valid\":{\"bleu\":11.0,\"loss\":4.1},\"samples\":[{\"source\":\"a <b> & "
                               "c\",\"reference\":\"x\",\"output\":\"y\"}]}\n"
                               "{\"step\":40,\"lo";

static void put(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static void a_log_becomes_curves_and_the_last_samples(void **state)
{
    rg_record *r = NULL;

    (void)state;
    put("report_test.jsonl", log_text);
    assert_int_equal(rg_report_read(&r, "report_test.jsonl"), RG_OK);
    assert_int_equal(r->curve_sets, 6); /* loss, validation, perplexity, rate, norm, speed */
    assert_string_equal(r->curves[0].title, "Loss");
    assert_int_equal(r->curves[0].count, 2);
    assert_string_equal(r->curves[0].series[0].name, "training");
    assert_int_equal(r->curves[0].series[0].count, 2);
    assert_true(r->curves[0].series[0].y[1] == 4.25 && r->curves[0].series[0].x[1] == 20);
    assert_int_equal(r->texts, 3);
    assert_string_equal(r->text[2].text, "y");
    rg_record_free(r);
    unlink("report_test.jsonl");
}

/* Losses of phases and notes of objectives are curves of their own; sheets of samples lie beside the log, and those of
 * a run that was begun again do not count. */
static void phases_objectives_and_sheets_are_drawn(void **state)
{
    static const char png[] = "\x89PNG\r\n\x1a\n....";
    static const char text[] = "{\"step\":10,\"loss\":2,\"phases\":{\"discriminator\":1.5,\"generator\":0.5}}\n"
                               "{\"step\":10,\"loss\":2,\"objective\":{\"lambda\":0.25,\"domain-accuracy\":0.75}}\n"
                               "{\"step\":10,\"valid\":{\"parzen\":1.5}}\n{\"step\":20,\"valid\":{\"parzen\":1.6}}\n"
                               "{\"step\":30,\"valid\":{\"parzen\":1.7}}\n{\"step\":20,\"begin\":\"resumed\"}\n";
    rg_record        *r = NULL;
    char             *html = NULL;
    size_t            bytes = 0;
    (void)state;
    put("sheets.jsonl", text);
    mkdir("sheets.samples", 0777);
    put("sheets.samples/000020.png", png);
    put("sheets.samples/000030.png", png);
    assert_int_equal(rg_report_read(&r, "sheets"), RG_OK);
    assert_string_equal(r->curves[1].title, "Loss of each phase");
    assert_int_equal(r->curves[1].count, 2);
    assert_string_equal(r->curves[2].title, "Objectives");
    assert_string_equal(r->curves[2].series[0].name, "lambda");
    assert_true(r->curves[2].series[0].y[0] == 0.25);
    assert_int_equal(r->label_lists, 1); /* no sheet of step 10, and step 30 was before the run resumed */
    assert_string_equal(r->labels[0].name, "samples at step 20");
    assert_int_equal(r->labels[0].picture_bytes, strlen(png));
    rg_record_free(r);
    assert_int_equal(rg_report_write(&html, &bytes, "sheets"), RG_OK);
    assert_non_null(strstr(html, "domain-accuracy"));
    assert_non_null(strstr(html, "<figcaption>samples at step 20</figcaption>"));
    rg_free(html);
    unlink("sheets.jsonl");
    unlink("sheets.samples/000020.png");
    unlink("sheets.samples/000030.png");
    rmdir("sheets.samples");
}

static void only_the_last_run_of_a_log_is_drawn(void **state)
{
    static const struct {
        const char *text, *what;
        size_t      points;
        double      last;
    } rows[] = {
        { "{\"step\":10,\"loss\":5}\n{\"step\":20,\"loss\":4}\n{\"step\":30,\"loss\":3}\n{\"step\":20,\"begin\":"
          "\"resumed\"}\n"
          "{\"step\":30,\"loss\":3.5}\n",
          "resumed after step 20", 3, 3.5 },
        { "{\"step\":5,\"loss\":6}\n{\"step\":10,\"loss\":5}\n{\"step\":0,\"begin\":\"new\"}\n{\"step\":10,\"loss\":4}"
          "\n",
          "begun anew", 1, 4 },
        { "{\"step\":10,\"loss\":5}\n{\"step\":20,\"loss\":4}\n{\"step\":10,\"loss\":3}\n", "an old log, begun anew", 1,
          3 },
        { "{\"step\":10,\"loss\":5}\n{\"step\":20,\"loss\":4}\n{\"step\":20,\"loss\":3}\n",
          "an old log, a line repeated", 2, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_record *r = NULL;
        put("report_test_runs.jsonl", rows[i].text);
        assert_int_equal(rg_report_read(&r, "report_test_runs.jsonl"), RG_OK);
        const rg_series *loss = &r->curves[0].series[0];
        if (loss->count != rows[i].points || loss->y[loss->count - 1] != rows[i].last)
            fail_msg("%s: %zu points, the last is %g", rows[i].what, loss->count, loss->y[loss->count - 1]);
        rg_record_free(r);
    }
    unlink("report_test_runs.jsonl");
}

static void the_page_shows_the_best_and_escapes_what_it_shows(void **state)
{
    char  *html = NULL;
    size_t bytes;

    (void)state;
    mkdir("report_test_run", 0777);
    put("report_test_run/log.jsonl", log_text);
    assert_int_equal(rg_report_write(&html, &bytes, "report_test_run"), RG_OK);
    assert_non_null(strstr(html, "<b>Best BLEU</b><span>12.5</span><i>at step 20</i>"));
    assert_non_null(strstr(html, "<b>Best validation loss</b><span>4.100</span><i>at step 30</i>"));
    assert_non_null(strstr(html, "a &lt;b&gt; &amp; c"));
    assert_null(strstr(html, "<b> & c"));
    assert_null(strstr(html, "http://") == strstr(html, "http://www.w3.org/2000/svg") ? NULL : html);
    rg_free(html);
    unlink("report_test_run/log.jsonl");
    rmdir("report_test_run");
}

static void a_damaged_line_is_named(void **state)
{
    static const char *const bad[] = { "{\"step\":1,\"loss\":2}\nnonsense\n{\"step\":2}\n",
                                       "{\"step\":1,\"loss\":2}\n[1]\n", NULL };
    rg_record               *r = NULL;

    (void)state;
    for (int i = 0; bad[i]; i++) {
        put("report_test.jsonl", bad[i]);
        assert_int_equal(rg_report_read(&r, "report_test.jsonl"), RG_EFORMAT);
        assert_non_null(strstr(rg_message(), "report_test.jsonl: line 2"));
    }
    put("report_test.jsonl", "{\"step\":1}\n");
    assert_int_equal(rg_report_read(&r, "report_test.jsonl"), RG_EFORMAT);
    assert_int_equal(rg_report_read(&r, "no_such_run"), RG_EIO);
    unlink("report_test.jsonl");
}

static void the_page_cannot_be_broken_by_a_label(void **state)
{
    static const char *const evil[] = { "</script><script>alert(1)</script>", "\"><img src=x>" };
    rg_page_options          options = { .live = true };
    rg_record               *r = NULL;
    rg_map_place             place = RG_MAP_PLACE_DEFAULT;
    rg_real                  w[4] = { 1, 0, 0, 1 };
    char                    *html = NULL;
    size_t                   l, bytes, scripts = 0;

    (void)state;
    assert_int_equal(rg_record_new(&r, "</title><script>", ""), RG_OK);
    assert_int_equal(rg_record_add_labels(&l, r, "x", RG_LABEL_TOKEN, evil, 2), RG_OK);
    assert_int_equal(rg_record_add_map(NULL, r, place, l, l, w, 2), RG_OK);
    assert_int_equal(rg_page_write(&html, &bytes, r, &options), RG_OK);
    assert_int_equal(strlen(html), bytes);
    for (char *p = html; (p = strstr(p, "<script")); p++) scripts++;
    assert_int_equal(scripts, 2);
    assert_null(strstr(html, "<img src=x>"));
    assert_non_null(strstr(html, "<meta name=\"regard-live\""));
    rg_free(html);
    rg_record_free(r);
}

static void an_empty_page_is_small(void **state)
{
    rg_page_options options = { .live = true };
    char           *html = NULL;
    size_t          bytes;

    (void)state;
    assert_int_equal(rg_page_write(&html, &bytes, NULL, &options), RG_OK);
    assert_true(bytes < 100 * 1024);
    rg_free(html);
}

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        double  low = (i % 17 - 8) * pow(10, i % 11 - 5), ticks[RG_TICKS_MOST];
        rg_axis s = { low, low + pow(10, i % 7 - 3) * (1 + i % 13), false };
        size_t  n = rg_axis_ticks(ticks, &s, 6);
        assert_in_range(n, 1, 6);
        for (size_t k = 0; k < n; k++)
            assert_true(ticks[k] >= s.low - 1e-6 * (s.high - s.low) && ticks[k] <= s.high + 1e-6 * (s.high - s.low));
    }
}

static void a_single_point_or_none_still_gives_axes(void **state)
{
    rg_record *r = NULL;
    size_t     c;
    double     one = 3, zero = 0;
    char      *svg = NULL;

    (void)state;
    assert_int_equal(rg_record_new(&r, "", ""), RG_OK);
    assert_int_equal(rg_record_add_curves(&c, r, "t", "x", "y", true, true), RG_OK);
    assert_int_equal(rg_curves_svg(&svg, &r->curves[c], 400, 300), RG_OK);
    assert_null(strstr(svg, "nan"));
    rg_free(svg);
    assert_int_equal(rg_record_add_series(r, c, "one", &one, &one, 1), RG_OK);
    assert_int_equal(rg_record_add_series(r, c, "zero", &zero, &zero, 1), RG_OK);
    assert_int_equal(rg_curves_svg(&svg, &r->curves[c], 400, 300), RG_OK);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    rg_free(svg);
    rg_record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_becomes_curves_and_the_last_samples),
        cmocka_unit_test(phases_objectives_and_sheets_are_drawn),
        cmocka_unit_test(only_the_last_run_of_a_log_is_drawn),
        cmocka_unit_test(the_page_shows_the_best_and_escapes_what_it_shows),
        cmocka_unit_test(a_damaged_line_is_named),
        cmocka_unit_test(the_page_cannot_be_broken_by_a_label),
        cmocka_unit_test(an_empty_page_is_small),
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(a_single_point_or_none_still_gives_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
