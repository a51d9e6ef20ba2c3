/* test_record.c - records: made, written, read back, refused (P1, P2, P3). */
#include "base/seams.h"
#include "regard/record.h"
#include "regard/safetensors.h"
#include "support/records.h"
#include "view/buffer.h"
#include "view/record_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void expect_same(const rg_record *a, const rg_record *b)
{
    char  *x = NULL, *y = NULL;
    size_t nx, ny;

    assert_int_equal(rg_record_to_json(&x, &nx, a, RG_WEIGHTS_F32), RG_OK);
    assert_int_equal(rg_record_to_json(&y, &ny, b, RG_WEIGHTS_F32), RG_OK);
    assert_int_equal(nx, ny);
    assert_memory_equal(x, y, nx);
    rg_free(x);
    rg_free(y);
}

typedef rg_record *maker(void);
static maker *const makers[] = { test_record_translation, test_record_picture, test_record_graph, test_record_curves,
                                 test_record_scripts, test_record_bars, test_record_sheet };
enum { MAKERS = sizeof makers / sizeof *makers };

static void every_record_reads_back_to_the_same_bytes(void **state)
{
    (void)state;
    for (int k = 0; k < MAKERS; k++) {
        rg_record *a = makers[k](), *b = NULL;
        char      *json = NULL;
        size_t     bytes;
        assert_int_equal(rg_record_to_json(&json, &bytes, a, RG_WEIGHTS_NUMBERS), RG_OK);
        assert_int_equal(rg_record_from_json(&b, json, bytes), RG_OK);
        expect_same(a, b);
        rg_free(json);
        rg_record_free(a);
        rg_record_free(b);
    }
}

static void sixteen_bits_are_enough_for_a_picture(void **state)
{
    rg_record *a = test_record_tokens(40, 1), *b = NULL;
    char      *json = NULL;
    size_t     bytes;

    (void)state;
    assert_int_equal(rg_record_to_json(&json, &bytes, a, RG_WEIGHTS_U16), RG_OK);
    assert_int_equal(rg_record_from_json(&b, json, bytes), RG_OK);
    for (size_t i = 0; i < 1600; i++)
        assert_true(fabsf(a->map[0].weights[i] - b->map[0].weights[i]) < 1e-5f);
    rg_free(json);
    rg_record_free(a);
    rg_record_free(b);
}

static void a_record_survives_the_disk_in_both_forms(void **state)
{
    static const char *const names[] = { "record_test.json", "record_test.safetensors" };

    (void)state;
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < MAKERS; k++) {
            rg_record *a = makers[k](), *b = NULL;
            assert_int_equal(rg_record_save(a, names[f]), RG_OK);
            assert_int_equal(rg_record_load(&b, names[f]), RG_OK);
            expect_same(a, b);
            rg_record_free(a);
            rg_record_free(b);
            unlink(names[f]);
        }
}

static void a_safetensors_file_that_is_no_record_is_refused(void **state)
{
    rg_safetensors_writer *w = NULL;
    rg_record             *r = NULL;
    rg_record             *a = test_record_graph();
    size_t                 dims[2] = { 2, 2 };
    float                  four[4] = { 1, 2, 3, 4 };
    char                  *json = NULL;

    (void)state;
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    assert_int_equal(rg_safetensors_writer_add(w, "map.0", RG_DTYPE_F32, dims, 2, four), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, "record_test.safetensors"), RG_OK);
    assert_int_equal(rg_record_load(&r, "record_test.safetensors"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "not a record"));
    /* the metadata of a graph of 12 nodes with a matrix of 2 x 2 */
    assert_int_equal(rg_record__to_json(&json, NULL, a, RG_WEIGHTS_AUTO, false), RG_OK);
    assert_int_equal(rg_safetensors_writer_metadata(w, "regard.record", json), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, "record_test.safetensors"), RG_OK);
    assert_int_equal(rg_record_load(&r, "record_test.safetensors"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "map.0"));
    rg_safetensors_writer_free(w);
    rg_record_free(a);
    rg_free(json);
    unlink("record_test.safetensors");
}

static void a_file_that_is_not_a_record_is_refused_by_name(void **state)
{
    rg_record *r = NULL;

    (void)state;
    assert_int_equal(rg_file_replace("record_test.bad", "hello", 5), RG_OK);
    assert_int_not_equal(rg_record_load(&r, "record_test.bad"), RG_OK);
    assert_non_null(strstr(rg_message(), "record_test.bad"));
    unlink("record_test.bad");
    assert_int_equal(rg_record_load(&r, "no/such/record.json"), RG_EIO);
    assert_null(r);
}

/* JSON that must be refused, and a word of the reason. */
#define HEAD "{\"format\":\"regard-record/1\","
#define AB "\"labels\":[{\"text\":[\"a\",\"b\"]}],"
static const char *const bad[][2] = {
    { "", "line" },
    { "[]", "not an object" },
    { "{\"format\":\"regard-record/9\"}", "regard-record/1" },
    { HEAD "\"title\":3}", "title" },
    { HEAD "\"labels\":3}", "not a list" },
    { HEAD "\"labels\":[3]}", "labels[0]" },
    { HEAD "\"labels\":[{\"text\":[1]}]}", "text[0]" },
    { HEAD "\"labels\":[{\"kind\":\"cat\",\"text\":[]}]}", "cat" },
    { HEAD "\"labels\":[{\"text\":[\"a\"],\"boxes\":[[1,2,3]]}]}", "boxes" },
    { HEAD "\"labels\":[{\"text\":[\"a\"],\"picture\":\"a\"}]}", "base64" },
    { HEAD "\"labels\":[{\"text\":[\"a\"],\"picture\":\"a$==\"}]}", "base64" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":1,\"weights\":[]}]}", "maps[0]" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0}]}", "maps[0]: weights" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":[[1,2]]}]}", "1 rows" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":[[1,2],[3]]}]}", "row 1 has 1" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":[[1,2],[3,\"x\"]]}]}", "row 1, column 1" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":[[1,2],[3,1e39]]}]}", "not finite" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":{\"f32\":\"AAAA\"}}]}", "3 bytes" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":{\"f32\":\"AADAf////////////////w==\"}}]}", "finite" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":{\"edges\":[[0,2,1]]}}]}", "edge 0" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":{\"edges\":[[0,1]]}}]}", "edge 0" },
    { HEAD AB "\"maps\":[{\"rows\":0,\"cols\":0,\"layer\":-7,\"weights\":{\"edges\":[]}}]}", "layer" },
    { HEAD "\"texts\":[{\"role\":\"x\"}]}", "texts[0]" },
    { HEAD "\"curves\":[{\"series\":[{\"x\":[1],\"y\":[]}]}]}", "series[0]" },
    { HEAD "\"curves\":[{\"bars\":3,\"series\":[]}]}", "not a list" },
    { HEAD "\"curves\":[{\"bars\":[],\"series\":[]}]}", "0 bars" },
    { HEAD "\"curves\":[{\"bars\":[1],\"series\":[]}]}", "bars[0]" },
    { HEAD "\"curves\":[{\"bars\":[\"a\"],\"series\":[{\"x\":[1],\"y\":[1]}]}]}", "none of 1 bars" },
    { HEAD "\"curves\":[{\"series\":[{\"x\":[1],\"y\":[1],\"low\":[2],\"high\":[3]}]}]}", "no interval around 1" },
    { HEAD "\"curves\":[{\"series\":[{\"x\":[1],\"y\":[1],\"low\":[0]}]}]}", "high" },
    { HEAD "\"title\":\"a\\u0000b\"}", "line" },
    { HEAD "\"title\":\"\xff\"}", "line" },
    { HEAD "\"title\":\"a\",\"title\":\"b\"}", "line" },
};

static void what_is_wrong_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rg_record *r = NULL;
        assert_int_not_equal(rg_record_from_json(&r, bad[i][0], strlen(bad[i][0])), RG_OK);
        assert_null(r);
        if (!strstr(rg_message(), bad[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i][0], rg_message(), bad[i][1]);
    }
}

static void deep_json_is_refused_before_it_is_parsed(void **state)
{
    rg_record *r = NULL;
    char       deep[2001];

    (void)state;
    memset(deep, '[', sizeof deep);
    assert_int_equal(rg_record_from_json(&r, deep, sizeof deep), RG_ELIMIT);
    assert_int_equal(rg_view__check_depth("\"[[\\\"[[[[[[[[[[\"", 16), RG_OK);
}

static void two_long_lists_do_not_make_a_matrix_out_of_nothing(void **state)
{
    rg_buffer  b = RG_BUFFER_EMPTY;
    rg_record *r = NULL;

    (void)state;
    rg_buffer_text(&b, HEAD "\"labels\":[{\"text\":[\"\"");
    rg_buffer_repeat(&b, ",\"\"", 99999);
    rg_buffer_text(&b, "]}],\"maps\":[{\"rows\":0,\"cols\":0,\"weights\":[]}]}");
    assert_int_equal(rg_record_from_json(&r, b.data, b.used), RG_EFORMAT);
    rg_buffer_fini(&b);
}

static void a_valid_file_cut_anywhere_is_refused(void **state)
{
    rg_record *a = test_record_graph(), *b = NULL;
    char      *json = NULL;
    size_t     bytes;

    (void)state;
    assert_int_equal(rg_record_to_json(&json, &bytes, a, RG_WEIGHTS_AUTO), RG_OK);
    for (size_t cut = 0; cut + 2 < bytes; cut++) assert_int_not_equal(rg_record_from_json(&b, json, cut), RG_OK);
    rg_free(json);
    rg_record_free(a);
}

static void the_chosen_hypothesis_has_its_own_matrix(void **state)
{
    rg_record *r = test_record_translation();
    size_t     i = rg_record_find(r, NULL, -1, -1, -1);

    (void)state;
    assert_int_equal(r->map[i].hypothesis, 1);
    assert_int_equal(r->map[i].layer, 1);
    assert_int_equal(r->map[i].head, 0);
    i = rg_record_find(r, NULL, 0, 3, -1);
    assert_int_equal(r->map[i].layer, 0);
    assert_int_equal(r->map[i].head, 3);
    assert_int_equal(rg_record_find(r, NULL, 5, -1, -1), r->maps);
    rg_record_free(r);
}

static void the_strongest_links_come_first(void **state)
{
    rg_record *r = test_record_graph();
    rg_link    links[5];
    size_t     count = rg_map_strongest(links, &r->map[0], 0, 5);

    (void)state;
    assert_int_equal(count, 5);
    for (size_t i = 1; i < count; i++) assert_true(links[i - 1].weight >= links[i].weight);
    for (size_t e = 0; e < r->map[0].edges; e++) assert_true(r->map[0].weights[e] <= links[0].weight);
    assert_true(rg_map_weight(&r->map[0], links[0].row, links[0].col) >= links[0].weight);
    rg_record_free(r);
}

static void a_weight_that_is_not_finite_never_enters(void **state)
{
    static const char *const text[] = { "a" };
    rg_record   *r = NULL;
    rg_map_place place = RG_MAP_PLACE_DEFAULT;
    rg_real      nan = (rg_real)NAN;
    size_t       l;

    (void)state;
    assert_int_equal(rg_record_new(&r, "", ""), RG_OK);
    assert_int_equal(rg_record_add_labels(&l, r, "x", RG_LABEL_TOKEN, text, 1), RG_OK);
    assert_int_equal(rg_record_add_map(NULL, r, place, l, l, &nan, 1), RG_ENUMBER);
    assert_int_equal(r->maps, 0);
    assert_int_equal(rg_record_add_map(NULL, r, place, l, 7, &nan, 1), RG_EINVAL);
    rg_record_free(r);
}

/* Fail allocation number `count`, and all later ones when `on`. */
typedef struct refusal {
    size_t count;
    bool   on;
} refusal;

static bool refuse(void *context, size_t bytes)
{
    refusal *f = context;
    (void)bytes;
    if (f->count) return --f->count == 0;
    return f->on;
}

static rg_status scenario(const char *json, size_t bytes)
{
    rg_status  status;
    rg_record *r = NULL;
    char      *again = NULL;
    size_t     n;

    if ((status = rg_record_from_json(&r, json, bytes)) != RG_OK) return status;
    status = rg_record_to_json(&again, &n, r, RG_WEIGHTS_U16);
    rg_record_free(r);
    rg_free(again);
    return status;
}

static void fail_every_allocation_of(rg_record *a)
{
    char  *json = NULL;
    size_t bytes, live, calls;

    assert_int_equal(rg_record_to_json(&json, &bytes, a, RG_WEIGHTS_AUTO), RG_OK);
    rg_record_free(a);
    live = rg_base__live_blocks();
    calls = rg_base__alloc_calls();
    assert_int_equal(scenario(json, bytes), RG_OK);
    calls = rg_base__alloc_calls() - calls;
    assert_true(calls > 40);
    for (int on = 0; on < 2; on++)
        for (size_t i = 1; i <= calls; i++) {
            refusal   f = { i, on };
            rg_status status;
            rg_base__seam_alloc(refuse, &f);
            status = scenario(json, bytes);
            rg_base__seam_alloc(NULL, NULL);
            assert_int_equal(status, RG_ENOMEM);
            assert_int_equal(rg_base__live_blocks(), live);
        }
    rg_free(json);
}

static void every_failed_allocation_comes_back_without_a_leak(void **state)
{
    (void)state;
    fail_every_allocation_of(test_record_picture());
    fail_every_allocation_of(test_record_bars());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_reads_back_to_the_same_bytes),
        cmocka_unit_test(sixteen_bits_are_enough_for_a_picture),
        cmocka_unit_test(a_record_survives_the_disk_in_both_forms),
        cmocka_unit_test(a_safetensors_file_that_is_no_record_is_refused),
        cmocka_unit_test(a_file_that_is_not_a_record_is_refused_by_name),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
        cmocka_unit_test(deep_json_is_refused_before_it_is_parsed),
        cmocka_unit_test(two_long_lists_do_not_make_a_matrix_out_of_nothing),
        cmocka_unit_test(a_valid_file_cut_anywhere_is_refused),
        cmocka_unit_test(the_chosen_hypothesis_has_its_own_matrix),
        cmocka_unit_test(the_strongest_links_come_first),
        cmocka_unit_test(a_weight_that_is_not_finite_never_enters),
        cmocka_unit_test(every_failed_allocation_comes_back_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
