/* test_series.c - running numbers: files of them, rows that go in in any portions, forecasts and their errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "regard/task.h"
#include "tasks/series.h"

static void write_file(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static rg_status read_files(rg_series *out, size_t width, size_t count, ...)
{
    char   *path[4];
    va_list list;
    va_start(list, count);
    for (size_t i = 0; i < count; i++) path[i] = va_arg(list, char *);
    va_end(list);
    const rg_list files = { count, path };
    return rg_series_read(out, &files, width);
}

static void files_are_rows_of_numbers(void **state)
{
    (void)state;
    rg_series x;
    write_file("a.tsv", "temperature\tpressure\n1.5\t-2\n\n3e1, 4\r\n");
    write_file("b.txt", "5; 6");
    if (read_files(&x, 0, 2, "a.tsv", "b.txt") != RG_OK) fail_msg("%s", rg_message());
    static const rg_real want[] = { (rg_real)1.5, -2, 30, 4, 5, 6 };
    assert_int_equal(x.rows, 3);
    assert_int_equal(x.width, 2);
    assert_memory_equal(x.value, want, sizeof want);
    const uint64_t sum = x.checksum;
    rg_series_free(&x);
    write_file("b.txt", "5; 7");
    assert_int_equal(read_files(&x, 0, 2, "a.tsv", "b.txt"), RG_OK);
    assert_true(x.checksum != sum);
    rg_series_free(&x);
}

static void what_is_no_row_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = { { "1\n2\nthree\n", "n.txt: line 3: 'three' is not a number" },
                  { "1 2\n3\n", "n.txt: line 2: 1 numbers, and 2 are needed" },
                  { "1\n2 3\n", "n.txt: line 2: more than 1 numbers" },
                  { "1\nnan\n", "n.txt: line 2: 'nan' is not a number" },
                  { "1\n1e999\n", "n.txt: line 2: '1e999' is not a number" },
                  { "1\n2x\n", "n.txt: line 2: '2x' is not a number" },
                  { "names\n1\n", "n.txt: 1 rows of numbers" },
                  { "", "n.txt: 0 rows of numbers" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_series x;
        write_file("n.txt", wrong[i].text);
        assert_int_equal(read_files(&x, 0, 1, "n.txt"), RG_EFORMAT);
        if (!strstr(rg_message(), wrong[i].says)) fail_msg("'%s' is not in '%s'", wrong[i].says, rg_message());
    }
}

/* ------------------------------------------------------------------------------------------------------------ model */

static rg_model *make(const char *yaml, size_t numbers)
{
    const rg_system *s = rg_system_find("lm");
    const rg_sizes   sizes = { { { "numbers", numbers }, { "context", 0 } } };
    void            *options = rg_alloc_zero(s->options_bytes);
    rg_model        *m = NULL;
    const rg_option_group group = { "lm", s->options, options };
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    if (rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK ||
        rg_model_new(&m, s, options, &sizes, 3) != RG_OK)
        fail_msg("%s", rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

static rg_series wave(rg_real *value, size_t rows, size_t width)
{
    for (size_t i = 0; i < rows * width; i++)
        value[i] = (rg_real)(3 + 2 * sin(0.7 * (double)(i / width) + (double)(i % width)));
    return (rg_series){ .value = value, .rows = rows, .width = width };
}

/* Every cell and look: rows one by one, in threes and all at once; another sequence starts from zero states. */
static void portions_do_not_show(void **state)
{
    (void)state;
    enum { N = 300, W = 2 };
    static const char *const ways[] = { "dim-emb: 5\ndim-rnn: 6\nlayers: 2\n",
                                        "dim-emb: 5\ndim-rnn: 6\ncell: gru\nlayers: 1\n",
                                        "dim-emb: 5\ndim-rnn: 6\nlook: key-value\nwindow: 4\n",
                                        "dim-emb: 5\ndim-rnn: 6\nlook: n-gram\nwindow: 3\n" };
    static rg_real           value[N * W], whole[N * W], parts[N * W];
    const rg_series         x = wave(value, N, W);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rg_model           *m = make(ways[i], W);
        rg_series_reading *r;
        rg_series_standardize(m, &x, N);
        assert_int_equal(rg_series_reading_new(&r, m, NULL), RG_OK);
        assert_int_equal(rg_series_feed(whole, r, value, N), RG_OK);
        for (size_t each = 1; each <= 3; each += 2) {
            rg_series_reading_begin(r);
            for (size_t at = 0; at < N; at += each)
                assert_int_equal(rg_series_feed(parts + at * W, r, value + at * W, each), RG_OK);
            assert_memory_equal(whole, parts, sizeof whole);
        }
        rg_series_errors e, sum = { 0, 0 };
        assert_int_equal(rg_series_judge(&e, r, &x, 0, N), RG_OK);
        for (size_t k = 0; k < (N - 1) * W; k++) {
            const double next = (double)value[k + W];
            sum.mse += ((double)whole[k] - next) * ((double)whole[k] - next) / ((N - 1) * W);
            sum.as_now += ((double)value[k] - next) * ((double)value[k] - next) / ((N - 1) * W);
        }
        assert_true(fabs(e.mse - sum.mse) < 1e-9 * (1 + sum.mse) && fabs(e.as_now - sum.as_now) < 1e-9);
        rg_series_reading_free(r);
        rg_model_free(m);
    }
}

/* Scale and place of the data do not matter to what is learned: forecasts move with them. */
static void forecasts_have_the_scale_of_the_data(void **state)
{
    (void)state;
    enum { N = 40 };
    rg_real             value[N], larger[N], a[N], b[N];
    rg_model           *m = make("dim-emb: 4\ndim-rnn: 5\nlayers: 1\n", 1);
    rg_series_reading *r;
    const rg_series    x = wave(value, N, 1);
    for (size_t i = 0; i < N; i++) larger[i] = 100 + 10 * value[i];
    const rg_series y = { .value = larger, .rows = N, .width = 1 };
    assert_int_equal(rg_series_reading_new(&r, m, NULL), RG_OK);
    rg_series_standardize(m, &x, N);
    assert_int_equal(rg_series_feed(a, r, value, N), RG_OK);
    rg_series_standardize(m, &y, N);
    rg_series_reading_begin(r);
    assert_int_equal(rg_series_feed(b, r, larger, N), RG_OK);
    for (size_t i = 0; i < N; i++) assert_true(fabs((double)b[i] - (100 + 10 * (double)a[i])) < 1e-3);
    rg_series_reading_free(r);
    rg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_rows_of_numbers),
        cmocka_unit_test(what_is_no_row_is_named),
        cmocka_unit_test(portions_do_not_show),
        cmocka_unit_test(forecasts_have_the_scale_of_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
