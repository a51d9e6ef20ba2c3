/* test_safetensors.c - reading and writing safetensors files: round trips, refusals, damage, faults (P1, P2, P3,
 * P9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/finite.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "support/faults.h"
#include "support/sample_safetensors.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char folder[64], path[96], temp[112];
} box;

/* jansson's memory through our seam, to count it or to make it fail. Not while it parses: version 2.14 runs over its
 * text buffer when that cannot grow, which the reader prevents by asking for enough memory beforehand. */
static void jansson_through_the_seam(bool on)
{
    if (on) json_set_alloc_funcs(rg_alloc, rg_free);
    else json_set_alloc_funcs(malloc, free);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(box.folder, "test_safetensors.XXXXXX");
    if (mkdtemp(box.folder) == NULL) return -1;
    snprintf(box.path, sizeof box.path, "%s/model.safetensors", box.folder);
    snprintf(box.temp, sizeof box.temp, "%s" RG_FILE_TEMP_END, box.path);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    unlink(box.path);
    unlink(box.temp);
    return rmdir(box.folder);
}

/* The bytes of the sample, to be freed with rg_free. */
static unsigned char *sample_bytes(size_t *out_count, int version)
{
    rg_safetensors_writer *w;
    void *bytes;
    assert_int_equal(sample_writer(&w, version), RG_OK);
    assert_int_equal(rg_safetensors_writer_build(&bytes, out_count, w), RG_OK);
    rg_safetensors_writer_free(w);
    return bytes;
}

/* A file of this header and `data_bytes` zeros; opened in a block of exact size, which is freed. */
static rg_status try_header(const char *header, size_t header_bytes, size_t data_bytes)
{
    size_t count = 8 + header_bytes + data_bytes;
    unsigned char *bytes = calloc(1, count);
    rg_safetensors *st;
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(header_bytes >> 8 * i & 0xFF);
    memcpy(bytes + 8, header, header_bytes);
    rg_status status = rg_safetensors_open_memory(&st, "input", bytes, count);
    rg_safetensors_close(st);
    free(bytes);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- parts */

static void the_hash_gives_the_published_numbers_in_any_pieces(void **state)
{
    (void)state;
    static const char text[] = "Nobody inspects the spammish repetition";
    assert_true(rg_hash64_of("", 0) == 0xef46db3751d8e999u);
    assert_true(rg_hash64_of("a", 1) == 0xd24ec4f1a98c6e5bu);
    assert_true(rg_hash64_of("abc", 3) == 0x44bc2cf5ad770999u);
    assert_true(rg_hash64_of(text, sizeof text - 1) == 0xfbcea83c8a378bf1u);
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 17);
    for (size_t first = 0; first <= 200; first++) {
        rg_hash64 hash;
        rg_hash64_begin(&hash);
        rg_hash64_add(&hash, bytes, first);
        rg_hash64_add(&hash, bytes + first, (200 - first) / 3);
        rg_hash64_add(&hash, bytes + first + (200 - first) / 3, 200 - first - (200 - first) / 3);
        assert_true(rg_hash64_end(&hash) == rg_hash64_of(bytes, 200));
    }
}

static void brackets_are_counted_outside_of_strings_only(void **state)
{
    (void)state;
    static const char text[] = "{\"a[[[\\\"{{{\":[1,{\"b\":[]}],\"c\":\"],]\"}";
    rg_json_scan scan = rg_json_scan_text(text, sizeof text - 1);
    assert_int_equal(scan.depth, 4);
    assert_int_equal(scan.objects, 2);
    assert_int_equal(scan.arrays, 2);
    assert_int_equal(scan.commas, 2);
    assert_int_equal(rg_json_scan_text("]]]}}}[", 7).depth, 1);
    assert_int_equal(rg_json_scan_text("\"\\", 2).depth, 0); /* an escape at the very end */
}

static void every_dtype_has_a_name_that_finds_it(void **state)
{
    (void)state;
    rg_dtype found;
    for (int d = RG_DTYPE_F64; d <= RG_DTYPE_BOOL; d++) {
        assert_true(rg_dtype_find(&found, rg_dtype_name((rg_dtype)d)));
        assert_int_equal(found, d);
        assert_true(rg_dtype_bytes((rg_dtype)d) >= 1 && rg_dtype_bytes((rg_dtype)d) <= 8);
    }
    assert_false(rg_dtype_find(&found, "F31"));
}

/* -------------------------------------------------------------------------------------------------- round trips */

static void what_is_saved_is_loaded_and_saves_the_same_bytes(void **state)
{
    (void)state;
    rg_safetensors_writer *w;
    rg_safetensors *st;
    int version = 0;
    void *again;
    size_t count, again_count;
    assert_int_equal(sample_writer(&w, 3), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_OK);
    rg_safetensors_writer_free(w);
    assert_int_equal(rg_safetensors_open(&st, box.path), RG_OK);
    assert_string_equal(rg_safetensors_path(st), box.path);
    assert_int_equal(sample_check(&version, st), RG_OK);
    assert_int_equal(version, 3);
    assert_null(rg_safetensors_find(st, "nothing"));
    assert_null(rg_safetensors_metadata(st, "nothing"));
    assert_null(rg_safetensors_at(st, rg_safetensors_count(st)));
    for (size_t i = 0; i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        const void *data, *same;
        assert_int_equal(e->offset % rg_dtype_bytes(e->dtype), 0);
        assert_int_equal(rg_safetensors_data(&data, st, e), RG_OK);
        assert_int_equal((uintptr_t)data % 64, 0);
        assert_int_equal(rg_safetensors_data(&same, st, e), RG_OK);
        assert_ptr_equal(data, same);
        unsigned char one;
        assert_int_equal(rg_safetensors_read(st, e, &one, e->bytes + 1), RG_ESHAPE);
    }
    assert_int_equal(sample_copy(&w, st), RG_OK);
    assert_int_equal(rg_safetensors_writer_build(&again, &again_count, w), RG_OK);
    rg_safetensors_writer_free(w);
    rg_safetensors_close(st);
    rg_safetensors_close(NULL);
    rg_safetensors_writer_free(NULL);
    unsigned char *bytes = sample_bytes(&count, 3); /* added in another order than the copy */
    assert_int_equal(count, again_count);
    assert_memory_equal(bytes, again, count);
    rg_free(again);
    rg_free(bytes);
}

static void an_empty_file_is_a_file(void **state)
{
    (void)state;
    rg_safetensors_writer *w;
    rg_safetensors *st;
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_OK);
    rg_safetensors_writer_free(w);
    assert_int_equal(rg_safetensors_open(&st, box.path), RG_OK);
    assert_int_equal(rg_safetensors_count(st), 0);
    assert_int_equal(rg_safetensors_metadata_count(st), 0);
    rg_safetensors_close(st);
    assert_int_equal(try_header("{}", 2, 0), RG_OK);
    assert_int_equal(try_header("{}    \n", 7, 0), RG_OK);
}

static void the_writer_refuses_what_no_reader_could_take(void **state)
{
    (void)state;
    static const char *const not_utf8[] = { "\xff",         "\xC3",         "\xC0\x80",
                                            "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                            "a\x80" };
    const size_t dims[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, huge[2] = { SIZE_MAX / 2, 4 };
    const float number = 1;
    rg_safetensors_writer *w;
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    assert_int_equal(rg_safetensors_writer_add(w, "x", RG_DTYPE_F32, dims, 8, &number), RG_OK);
    assert_int_equal(rg_safetensors_writer_add(w, "x", RG_DTYPE_F32, dims, 1, &number), RG_EINVAL);
    assert_int_equal(rg_safetensors_writer_add(w, "y", RG_DTYPE_F32, dims, 9, &number), RG_ELIMIT);
    assert_int_equal(rg_safetensors_writer_add(w, "y", RG_DTYPE_F32, huge, 2, &number), RG_ESHAPE);
    assert_int_equal(rg_safetensors_writer_add(w, "__metadata__", RG_DTYPE_F32, dims, 1, &number), RG_EINVAL);
    for (size_t i = 0; i < sizeof not_utf8 / sizeof *not_utf8; i++) {
        assert_int_equal(rg_safetensors_writer_add(w, not_utf8[i], RG_DTYPE_F32, dims, 1, &number), RG_EINVAL);
        assert_int_equal(rg_safetensors_writer_metadata(w, "key", not_utf8[i]), RG_EINVAL);
        assert_int_equal(rg_safetensors_writer_metadata(w, not_utf8[i], "value"), RG_EINVAL);
    }
    assert_int_equal(rg_safetensors_writer_add(w, "\xF0\x9F\x98\x80 \xED\x9F\xBF", RG_DTYPE_F32, dims, 1, &number),
                     RG_OK);
    assert_int_equal(rg_safetensors_writer_metadata(
                         w, "limits", "\xC2\x80 \xE0\xA0\x80 \xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF"),
                     RG_OK);
    assert_int_equal(rg_safetensors_writer_metadata(w, "xxh64:x", "0"), RG_EINVAL);
    assert_int_equal(rg_safetensors_writer_metadata(w, "regard.header", "0"), RG_EINVAL);
    char *long_text = rg_alloc((size_t)9 << 20);
    memset(long_text, 'x', (size_t)9 << 20);
    long_text[((size_t)9 << 20) - 1] = '\0';
    assert_int_equal(rg_safetensors_writer_metadata(w, "long", long_text), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_ELIMIT);
    assert_int_equal(rg_safetensors_writer_metadata(w, "long", "short"), RG_OK); /* the second value replaces the first */
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_OK);
    rg_free(long_text);
    rg_safetensors_writer_free(w);
}

static void numbers_that_are_not_finite_are_not_saved(void **state)
{
    (void)state;
    enum { N = 9000 };
    static float floats[N];
    static double doubles[N];
    static const size_t places[] = { 0, 1, 4095, 4096, N - 1 };
    const float odd[] = { NAN, INFINITY, -INFINITY };
    const size_t dims[1] = { N };
    rg_safetensors_writer *w;
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    assert_int_equal(rg_safetensors_writer_add(w, "floats", RG_DTYPE_F32, dims, 1, floats), RG_OK);
    assert_int_equal(rg_safetensors_writer_add(w, "doubles", RG_DTYPE_F64, dims, 1, doubles), RG_OK);
    rg_safetensors_writer_finite_only(w, true);
    floats[5] = 3.4e38f, floats[6] = 1e-45f, doubles[7] = -1.7e308;
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_OK);
    struct stat before, after;
    stat(box.path, &before);
    for (size_t i = 0; i < 15; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "value %zu of", places[i / 3]);
        floats[places[i / 3]] = odd[i % 3];
        assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_ENUMBER);
        assert_non_null(strstr(rg_message(), "floats"));
        assert_non_null(strstr(rg_message(), expected));
        floats[places[i / 3]] = 0;
        doubles[places[i / 3]] = (double)odd[i % 3];
        assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_ENUMBER);
        assert_non_null(strstr(rg_message(), "doubles"));
        doubles[places[i / 3]] = 0;
    }
    stat(box.path, &after);
    assert_true(before.st_ino == after.st_ino); /* the old file was not touched */
    doubles[0] = (double)NAN;
    rg_safetensors_writer_finite_only(w, false);
    assert_int_equal(rg_safetensors_writer_save(w, box.path), RG_OK);
    rg_safetensors_writer_free(w);
}

/* ---------------------------------------------------------------------------------------------------- refusals */

#define X(dtype, shape, offsets) "{\"x\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void headers_that_lie_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data_bytes;
        rg_status status;
        const char *says;
    } cases[] = {
        { X("\"F32\"", "[2,3]", "[0,24]"), 24, RG_OK, "" },
        { X("\"F32\"", "[]", "[0,4]"), 4, RG_OK, "" },
        { X("\"F32\"", "[0,3]", "[0,0]"), 0, RG_OK, "" },
        { "[]", 0, RG_EFORMAT, "byte 8: a header begins with '{'" },
        { " {}", 0, RG_EFORMAT, "begins with '{'" },
        { "{", 0, RG_EFORMAT, "not JSON" },
        { "{}x", 0, RG_EFORMAT, "not JSON" },
        { "{\"x\":1}", 0, RG_EFORMAT, "array \"x\": not described by an object" },
        { "{\"x\":{}}", 0, RG_EFORMAT, "has no dtype" },
        { X("4", "[1]", "[0,4]"), 4, RG_EFORMAT, "has no dtype" },
        { X("\"F33\"", "[1]", "[0,4]"), 4, RG_EFORMAT, "dtype \"F33\" is not known" },
        { X("\"F32\"", "[1]", "[0,8]"), 8, RG_EFORMAT, "shape and dtype make 4 bytes, the file gives it 8" },
        { X("\"F32\"", "[2,3]", "[0,24]"), 23, RG_EFORMAT, "bytes 0 to 24 of the data, which has 23" },
        { X("\"F32\"", "[2,3]", "[0,24]"), 25, RG_EFORMAT, "the arrays end at byte" },
        { X("\"F32\"", "[2,3]", "[4,28]"), 28, RG_EFORMAT, "hole" },
        { X("\"U8\"", "[2]", "[3,1]"), 3, RG_EFORMAT, "bytes 3 to 1" },
        { X("\"U8\"", "[-1]", "[0,1]"), 1, RG_EFORMAT, "shape is not a list of sizes" },
        { X("\"U8\"", "[1.0]", "[0,1]"), 1, RG_EFORMAT, "shape is not a list of sizes" },
        { X("\"U8\"", "\"1\"", "[0,1]"), 1, RG_EFORMAT, "shape is not a list of sizes" },
        { X("\"U8\"", "[1]", "[0]"), 1, RG_EFORMAT, "data_offsets" },
        { X("\"U8\"", "[1]", "[0,1,1]"), 1, RG_EFORMAT, "data_offsets" },
        { X("\"U8\"", "[1]", "[-1,0]"), 1, RG_EFORMAT, "data_offsets" },
        { X("\"U8\"", "[1]", "{}"), 1, RG_EFORMAT, "data_offsets" },
        { X("\"F64\"", "[4611686018427387904,4]", "[0,0]"), 0, RG_EFORMAT, "too large to exist" },
        { X("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, RG_EFORMAT, "too large to exist" },
        { X("\"U8\"", "[99999999999999999999]", "[0,0]"), 0, RG_EFORMAT, "not JSON" },
        { X("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, RG_ELIMIT, "9 dimensions, at most 8" },
        { X("\"U8\"", "[1,1,1,1,1,1,1,1]", "[0,1]"), 1, RG_OK, "" },
        { "{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_"
          "offsets\":[1,3]}}",
          3, RG_EFORMAT, "overlap" },
        { "{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_"
          "offsets\":[1,2]}}",
          2, RG_EFORMAT, "uplicate" },
        { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0, RG_EFORMAT, "uplicate" },
        { "{\"__metadata__\":{\"a\":1}}", 0, RG_EFORMAT, "metadata \"a\" is not a string" },
        { "{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, RG_EFORMAT, "is not a string" },
        { "{\"__metadata__\":[]}", 0, RG_EFORMAT, "__metadata__ is not an object" },
        { "{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, RG_EFORMAT, "not JSON" },
        { "{\"__metadata__\":{\"xxh64:x\":\"12\"},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
          RG_EFORMAT, "not 16 hexadecimal digits" },
        { "{\"__metadata__\":{\"regard.header\":\"0123456789abcdef\"}}", 0, RG_EFORMAT, "the header is damaged" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_fail(RG_OK, "nothing");
        rg_status status = try_header(cases[i].header, strlen(cases[i].header), cases[i].data_bytes);
        if (status != cases[i].status || (status != RG_OK && strstr(rg_message(), cases[i].says) == NULL))
            fail_msg("%s: %s (%s)", cases[i].header, rg_status_name(status), rg_message());
        if (status != RG_OK) assert_memory_equal(rg_message(), "input: ", 7);
    }
}

static void lengths_that_lie_are_refused_before_anything_is_allocated(void **state)
{
    (void)state;
    static const unsigned char announced[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    unsigned char small[10] = { 3, 0, 0, 0, 0, 0, 0, 0, '{', '}' };
    rg_safetensors *st;
    assert_int_equal(rg_safetensors_open_memory(&st, "input", announced, 8), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "a header of 18446744073709551615 bytes is announced, 0 are left"));
    assert_int_equal(rg_safetensors_open_memory(&st, "input", small, 10), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "a header of 3 bytes is announced, 2 are left"));
    for (size_t count = 0; count < 8; count++)
        assert_int_equal(rg_safetensors_open_memory(&st, "input", small, count), RG_EFORMAT);
    assert_null(st);
}

/* Most bytes that were live at once while `header` was tried. */
static size_t most_bytes;

static bool watch_bytes(void *context, size_t bytes)
{
    (void)context;
    size_t live = rg_base__live_bytes() + bytes;
    if (live > most_bytes) most_bytes = live;
    return false;
}

static void try_bomb(const char *unit, size_t repeats, const char *before, const char *after)
{
    size_t length = strlen(before) + repeats * strlen(unit) + strlen(after);
    char *header = malloc(length + 1), *at = header;
    assert_non_null(header);
    at = stpcpy(at, before);
    for (size_t i = 0; i < repeats; i++) at = stpcpy(at, unit);
    strcpy(at, after);
    double began = rg_now();
    size_t live = rg_base__live_bytes();
    most_bytes = 0;
    jansson_through_the_seam(true);
    rg_base__seam_alloc(watch_bytes, NULL);
    rg_status status = try_header(header, length, 0);
    rg_base__seam_alloc(NULL, NULL);
    jansson_through_the_seam(false);
    if (status == RG_OK) fail_msg("%zu times %s is accepted", repeats, unit);
    if (most_bytes - live > (size_t)64 << 20)
        fail_msg("%zu times %s takes %zu bytes", repeats, unit, most_bytes - live);
    assert_true(rg_now() - began < 5); /* a second on an idle machine without sanitizers */
    free(header);
}

static void bombs_are_refused_quickly_and_in_little_memory(void **state)
{
    (void)state;
    try_bomb("[", 1000000, "{\"x\":", "");
    try_bomb("{\"x\":", 1000000, "", "");
    try_bomb("{\"x\":", 65, "", "");
    try_bomb("[],", 2000000, "{\"x\":[", "[]]}");
    try_bomb("1,", 3000000, "{\"x\":[", "1]}");
    try_bomb("{},", 2000000, "{\"x\":[", "{}]}");
    try_bomb("\"a\":1,", 1000000, "{", "\"b\":1}");
    try_bomb(" ", (8 << 20) + 1, "{", "}");
    try_bomb("x", (8 << 20) - 100, "{\"x\":\"", "\"}");
}

static void more_arrays_than_the_limit_are_refused(void **state)
{
    (void)state;
    size_t room = (size_t)70000 * 80;
    char *header = malloc(room), *at = header;
    assert_non_null(header);
    *at++ = '{';
    for (int i = 0; i <= RG_SAFETENSORS_COUNT_MAX; i++)
        at +=
            snprintf(at, 80, "%s\"%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", i == 0 ? "" : ",", i);
    *at++ = '}';
    assert_int_equal(try_header(header, (size_t)(at - header), 0), RG_ELIMIT);
    assert_non_null(strstr(rg_message(), "65537 arrays, at most 65536"));
    free(header);
}

static void as_many_arrays_as_the_limit_are_written_and_read(void **state)
{
    (void)state;
    const size_t dims[1] = { 1 };
    const unsigned char byte = 7;
    rg_safetensors_writer *w;
    rg_safetensors *st;
    void *bytes;
    size_t count;
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    for (int i = 0; i < RG_SAFETENSORS_COUNT_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(rg_safetensors_writer_add(w, name, RG_DTYPE_U8, dims, 1, &byte), RG_OK);
    }
    assert_int_equal(rg_safetensors_writer_add(w, "one more", RG_DTYPE_U8, dims, 1, &byte), RG_ELIMIT);
    faults_fail_alloc(1, true);
    assert_int_equal(rg_safetensors_writer_build(&bytes, &count, w), RG_ENOMEM);
    faults_off();
    assert_int_equal(rg_safetensors_writer_build(&bytes, &count, w), RG_OK);
    rg_safetensors_writer_free(w);
    assert_int_equal(rg_safetensors_open_memory(&st, "many", bytes, count), RG_OK);
    assert_int_equal(rg_safetensors_count(st), RG_SAFETENSORS_COUNT_MAX);
    unsigned char found = 0;
    assert_int_equal(rg_safetensors_read(st, rg_safetensors_find(st, "65535"), &found, 1), RG_OK);
    assert_int_equal(found, 7);
    rg_safetensors_close(st);
    rg_free(bytes);
}

static void a_header_as_long_as_the_limit_is_written_and_read_and_no_longer_one(void **state)
{
    (void)state;
    const size_t most = RG_SAFETENSORS_HEADER_MAX / 64 * 64 - 8; /* with its length a multiple of 64 */
    const size_t around = strlen("{\"__metadata__\":{\"regard.header\":\"0123456789abcdef\",\"k\":\"\"}}");
    char *text = rg_alloc(most);
    rg_safetensors_writer *w;
    rg_safetensors *st;
    void *bytes;
    size_t count;
    memset(text, 'x', most);
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    text[most - around] = '\0';
    assert_int_equal(rg_safetensors_writer_metadata(w, "k", text), RG_OK);
    assert_int_equal(rg_safetensors_writer_build(&bytes, &count, w), RG_OK);
    assert_int_equal(count, most + 8);
    assert_int_equal(rg_safetensors_open_memory(&st, "long", bytes, count), RG_OK);
    assert_string_equal(rg_safetensors_metadata(st, "k"), text);
    rg_safetensors_close(st);
    rg_free(bytes);
    text[most - around] = 'x';
    text[most - around + 1] = '\0';
    assert_int_equal(rg_safetensors_writer_metadata(w, "k", text), RG_OK);
    assert_int_equal(rg_safetensors_writer_build(&bytes, &count, w), RG_ELIMIT);
    rg_safetensors_writer_free(w);
    rg_free(text);
}

static rg_status build_sample(void *context)
{
    rg_safetensors_writer *w;
    void *bytes;
    size_t count;
    RG_TRY(sample_writer(&w, *(int *)context));
    rg_status status = rg_safetensors_writer_build(&bytes, &count, w);
    rg_safetensors_writer_free(w);
    rg_free(bytes);
    return status;
}

static void a_file_built_in_memory_fails_cleanly(void **state)
{
    (void)state;
    int version = 1;
    faults_every_alloc(build_sample, &version, NULL, false);
}

static void a_path_of_any_length_is_taken(void **state)
{
    (void)state;
    static char path[20000];
    rg_safetensors *st;
    memset(path, 'x', sizeof path - 1);
    assert_int_equal(rg_safetensors_open(&st, path), RG_EIO);
    faults_fail_alloc(3, true); /* the arena has no room for it */
    assert_int_equal(rg_safetensors_open(&st, path), RG_ENOMEM);
    faults_off();
}

/* ------------------------------------------------------------------------------------------------------ damage */

/* Opens and reads everything; RG_OK only if it is all there and right. */
static rg_status check_exact(const unsigned char *bytes, size_t count, int version)
{
    int found = -1;
    unsigned char *exact = malloc(count == 0 ? 1 : count);
    rg_safetensors *st;
    assert_non_null(exact);
    if (count > 0) memcpy(exact, bytes, count);
    rg_status status = rg_safetensors_open_memory(&st, "input", exact, count);
    if (status == RG_OK) status = sample_check(&found, st);
    if (status == RG_OK && found != version) status = RG_EMATCH;
    rg_safetensors_close(st);
    free(exact);
    return status;
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    size_t count;
    unsigned char *bytes = sample_bytes(&count, 1);
    assert_int_equal(check_exact(bytes, count, 1), RG_OK);
    for (size_t cut = 0; cut < count; cut++) assert_int_equal(check_exact(bytes, cut, 1), RG_EFORMAT);
    rg_free(bytes);
}

static void every_flipped_bit_is_found(void **state)
{
    (void)state;
    size_t count, opening = strlen("{\"__metadata__\":{\"regard.header\":\"");
    unsigned char *bytes = sample_bytes(&count, 1);
    for (size_t i = 0; i < count; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1u << bit);
            rg_status status = check_exact(bytes, count, 1);
            bytes[i] ^= (unsigned char)(1u << bit);
            /* In the name of the header's own checksum it only switches that off; all else is still as it was. */
            bool in_opening = i >= 8 && i < 8 + opening;
            if (status == RG_OK && !in_opening) fail_msg("bit %d of byte %zu of %zu", bit, i, count);
            if (status == RG_EMATCH && !in_opening) fail_msg("bit %d of byte %zu: other content", bit, i);
            assert_int_not_equal(status, RG_ENOMEM);
        }
    }
    rg_free(bytes);
}

static void a_damaged_array_is_named(void **state)
{
    (void)state;
    size_t count;
    unsigned char *bytes = sample_bytes(&count, 1);
    bytes[count - 1] ^= 1; /* the smallest type is last: "tokenizer" */
    assert_int_equal(check_exact(bytes, count, 1), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "input: array \"tokenizer\" is damaged: bytes "));
    rg_free(bytes);
}

/* ------------------------------------------------------------------------------------------------------ faults */

static rg_status save_sample(void *context)
{
    rg_safetensors_writer *w;
    RG_TRY(sample_writer(&w, *(int *)context));
    rg_status status = rg_safetensors_writer_save(w, box.path);
    rg_safetensors_writer_free(w);
    return status;
}

static rg_status load_sample(void *context)
{
    rg_safetensors *st;
    rg_safetensors_writer *w = NULL;
    rg_status status = rg_safetensors_open(&st, box.path);
    if (status == RG_OK) status = sample_check(context, st);
    if (status == RG_OK) status = sample_copy(&w, st);
    rg_safetensors_writer_free(w);
    rg_safetensors_close(st);
    return status;
}

static rg_status save_sample_with_jansson(void *context)
{
    jansson_through_the_seam(true);
    rg_status status = save_sample(context);
    jansson_through_the_seam(false);
    return status;
}

static void a_sample_is_still_there(void *context, rg_status status)
{
    (void)context;
    int version = 0;
    assert_int_equal(load_sample(&version), RG_OK);
    assert_true(version == 2 || version == 1);
    if (status == RG_OK) assert_int_equal(version, 2);
    version = 1;
    assert_int_equal(save_sample(&version), RG_OK);
}

static void a_save_that_fails_leaves_the_last_file(void **state)
{
    (void)state;
    int version = 2;
    assert_int_equal(save_sample(&version), RG_OK);
    faults_every_alloc(save_sample_with_jansson, &version, a_sample_is_still_there, false);
    faults_every_file_call(save_sample, &version, a_sample_is_still_there);
}

static void must_have_failed(void *context, rg_status status)
{
    (void)context;
    if (status == RG_OK) return; /* only the close at the end, where nothing can be lost */
    assert_int_equal(status, RG_EIO);
    assert_non_null(strstr(rg_message(), box.path));
}

static void a_load_that_fails_leaves_nothing(void **state)
{
    (void)state;
    int version = 2, found = 0;
    assert_int_equal(save_sample(&version), RG_OK);
    faults_every_alloc(load_sample, &found, NULL, false);
    faults_every_file_call(load_sample, &found, must_have_failed);
    faults_file_teasing(5);
    rg_status status = load_sample(&found);
    faults_off();
    assert_int_equal(status, RG_OK);
}

/* Names and metadata too long for what the reader's arena begins with, so that each of them needs memory. */
static rg_status load_long_names(void *context)
{
    rg_safetensors *st;
    RG_TRY(rg_safetensors_open_memory(&st, "long", ((void **)context)[0], *((size_t **)context)[1]));
    rg_status status = rg_safetensors_count(st) == 3 && rg_safetensors_metadata_count(st) == 2 ? RG_OK : RG_EMATCH;
    rg_safetensors_close(st);
    return status;
}

static void long_names_and_metadata_load_or_fail_cleanly(void **state)
{
    (void)state;
    static char text[60000];
    size_t count;
    void *bytes, *context[2] = { NULL, &count };
    rg_safetensors_writer *w;
    memset(text, 'n', sizeof text - 1);
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    for (int i = 0; i < 3; i++) {
        text[0] = (char)('a' + i);
        assert_int_equal(rg_safetensors_writer_add(w, text, RG_DTYPE_F32, NULL, 0, "1234"), RG_OK);
        if (i < 2) assert_int_equal(rg_safetensors_writer_metadata(w, text, text), RG_OK);
    }
    assert_int_equal(rg_safetensors_writer_build(&bytes, &count, w), RG_OK);
    context[0] = bytes;
    faults_every_alloc(load_long_names, context, NULL, false);
    rg_safetensors_writer_free(w);
    rg_free(bytes);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    rg_safetensors *st;
    assert_int_equal(rg_safetensors_open(&st, "no/such/file"), RG_EIO);
    assert_null(st);
    assert_int_equal(rg_safetensors_open(&st, box.folder), RG_EIO);
    assert_int_equal(rg_safetensors_open(&st, "/dev/zero"), RG_EIO);
}

/* One value that is not finite, at every place of arrays of many lengths, is found; without it none is. */
static void the_first_value_that_is_not_finite_is_found(void **state)
{
    static const struct {
        rg_dtype dtype;
        uint64_t finite, odd[2]; /* the largest number; infinity and not-a-number */
    } types[] = {
        { RG_DTYPE_F64, 0x7FEFFFFFFFFFFFFF, { 0x7FF0000000000000, 0xFFF8000000000000 } },
        { RG_DTYPE_F32, 0x7F7FFFFF, { 0xFF800000, 0x7FC00000 } },
        { RG_DTYPE_F16, 0x7BFF, { 0x7C00, 0xFE00 } },
        { RG_DTYPE_BF16, 0xFF7F, { 0x7F80, 0x7FC0 } },
        { RG_DTYPE_F8_E5M2, 0x7B, { 0x7C, 0xFE } },
        { RG_DTYPE_F8_E4M3, 0x7E, { 0x7F, 0xFF } },
    };
    static const size_t counts[] = { 1, 7, 4096, 4097, 9000 };
    static unsigned char data[9000 * 8];
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const size_t width = rg_dtype_bytes(types[t].dtype);
        for (size_t i = 0; i < 9000; i++) memcpy(data + i * width, &types[t].finite, width);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            assert_int_equal(rg_finite_until(types[t].dtype, data, counts[c]), counts[c]);
            for (size_t at = 0; at < counts[c]; at += at < 8 ? 1 : 509)
                for (size_t k = 0; k < 2; k++) {
                    memcpy(data + at * width, &types[t].odd[k], width);
                    assert_int_equal(rg_finite_until(types[t].dtype, data, counts[c]), at);
                    memcpy(data + at * width, &types[t].finite, width);
                }
        }
    }
    memset(data, 0xFF, sizeof data);
    assert_int_equal(rg_finite_until(RG_DTYPE_I64, data, 9000), 9000);
    assert_int_equal(rg_finite_until(RG_DTYPE_U8, data, 9000), 9000);
}

/* Values of IEEE 754 halves (table of half-precision examples), bfloat16 and integers; all that fit are exact. */
static void every_type_of_number_is_read_as_floats(void **state)
{
    static const struct {
        rg_dtype dtype;
        uint64_t bits;
        float    value;
    } rows[] = {
        { RG_DTYPE_F16, 0x0001, 0x1p-24f },
        { RG_DTYPE_F16, 0x03FF, 0x1.FF8p-15f },
        { RG_DTYPE_F16, 0x0400, 0x1p-14f },
        { RG_DTYPE_F16, 0x3555, 0x1.554p-2f },
        { RG_DTYPE_F16, 0x7BFF, 65504.0f },
        { RG_DTYPE_F16, 0xC000, -2.0f },
        { RG_DTYPE_F16, 0x8000, -0.0f },
        { RG_DTYPE_F16, 0x7C00, INFINITY },
        { RG_DTYPE_BF16, 0xC0A0, -5.0f },
        { RG_DTYPE_BF16, 0x0001, 0x1p-133f },
        { RG_DTYPE_F32, 0x40490FDB, 0x1.921FB6p+1f },
        { RG_DTYPE_F64, 0x3FF8000000000000, 1.5f },
        { RG_DTYPE_I8, 0x80, -128.0f },
        { RG_DTYPE_U8, 0x80, 128.0f },
        { RG_DTYPE_I16, 0xFFFF, -1.0f },
        { RG_DTYPE_U16, 0xFFFF, 65535.0f },
        { RG_DTYPE_I32, 0xFFFFFFFE, -2.0f },
        { RG_DTYPE_U32, 0xFFFFFFFF, 0x1p32f },
        { RG_DTYPE_I64, UINT64_MAX, -1.0f },
        { RG_DTYPE_U64, 1, 1.0f },
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        unsigned char bytes[17];
        float         two[2] = { 7, 7 };
        for (size_t i = 0; i < 16; i++)
            bytes[i + 1] = (unsigned char)(rows[r].bits >> 8 * (i % rg_dtype_bytes(rows[r].dtype)) & 0xFF);
        assert_int_equal(rg_dtype_floats(two, rows[r].dtype, bytes + 1, 2), RG_OK); /* not aligned */
        for (int i = 0; i < 2; i++)
            if (memcmp(&two[i], &rows[r].value, sizeof two[i]) != 0)
                fail_msg("%s %llx is read as %a", rg_dtype_name(rows[r].dtype), (unsigned long long)rows[r].bits,
                         (double)two[i]);
    }
    float one;
    assert_int_equal(rg_dtype_floats(&one, RG_DTYPE_BOOL, "x", 1), RG_EINVAL);
    assert_int_equal(rg_dtype_floats(&one, RG_DTYPE_F8_E4M3, "x", 1), RG_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_number_is_read_as_floats),
        cmocka_unit_test(the_first_value_that_is_not_finite_is_found),
        cmocka_unit_test(the_hash_gives_the_published_numbers_in_any_pieces),
        cmocka_unit_test(brackets_are_counted_outside_of_strings_only),
        cmocka_unit_test(every_dtype_has_a_name_that_finds_it),
        cmocka_unit_test(what_is_saved_is_loaded_and_saves_the_same_bytes),
        cmocka_unit_test(an_empty_file_is_a_file),
        cmocka_unit_test(the_writer_refuses_what_no_reader_could_take),
        cmocka_unit_test(numbers_that_are_not_finite_are_not_saved),
        cmocka_unit_test(headers_that_lie_are_refused_with_the_reason),
        cmocka_unit_test(lengths_that_lie_are_refused_before_anything_is_allocated),
        cmocka_unit_test(bombs_are_refused_quickly_and_in_little_memory),
        cmocka_unit_test(more_arrays_than_the_limit_are_refused),
        cmocka_unit_test(as_many_arrays_as_the_limit_are_written_and_read),
        cmocka_unit_test(a_header_as_long_as_the_limit_is_written_and_read_and_no_longer_one),
        cmocka_unit_test(a_file_built_in_memory_fails_cleanly),
        cmocka_unit_test(a_path_of_any_length_is_taken),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(a_damaged_array_is_named),
        cmocka_unit_test(a_save_that_fails_leaves_the_last_file),
        cmocka_unit_test(a_load_that_fails_leaves_nothing),
        cmocka_unit_test(long_names_and_metadata_load_or_fail_cleanly),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
