/* test_text_unpacked.c - the text of a packed file in a file of its own: whole, once, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data/text/unpacked.h"
#include "support/faults.h"

enum { LINES = 30000 };

static void pack(const char *path, int change)
{
    gzFile z = gzopen(path, "wb1");
    assert_non_null(z);
    for (int i = 0; i < LINES; i++) assert_true(gzprintf(z, "line %d of %d\n", i * 7919 % LINES, change) > 0);
    assert_int_equal(gzclose(z), Z_OK);
}

static void nothing_is_left(void) { assert_int_equal(system("ls a.gz.* 2> /dev/null | grep -q ."), 256); }

static void a_packed_file_is_unpacked_once(void **state)
{
    (void)state;
    char    *first = NULL, *again = NULL, *other = NULL;
    bool     packed;
    uint64_t bytes;
    pack("a.gz", 1);
    assert_int_equal(rg_is_packed(&packed, &bytes, "a.gz"), RG_OK);
    assert_true(packed);
    assert_int_equal(rg_unpacked_text(&first, "a.gz", NULL, NULL), RG_OK);
    assert_int_equal(strncmp(first, "a.gz.", 5), 0);
    assert_int_equal(rg_is_packed(&packed, &bytes, first), RG_OK);
    assert_false(packed);
    char *compare = rg_format("zcat a.gz | cmp - %s", first);
    assert_int_equal(system(compare), 0);
    rg_free(compare);
    FILE *f = fopen(first, "ab"); /* to see that it is not written again */
    assert_non_null(f);
    fputs("more\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rg_unpacked_text(&again, "a.gz", NULL, NULL), RG_OK);
    assert_string_equal(first, again);
    uint64_t grown;
    assert_int_equal(rg_file_size_at(&grown, again), RG_OK);
    assert_int_equal(grown, bytes + 5);
    pack("a.gz", 2);
    assert_int_equal(rg_unpacked_text(&other, "a.gz", ".", NULL), RG_OK);
    assert_true(strcmp(other + 2, first) != 0);
    assert_int_equal(unlink(first), 0);
    assert_int_equal(unlink(other), 0);
    rg_free(first);
    rg_free(again);
    rg_free(other);
}

static bool stop_at_once(void *context, uint64_t lines)
{
    (void)context, (void)lines;
    return false;
}

static rg_status unpack(void *context)
{
    char           *path = NULL;
    const rg_status status = rg_unpacked_text(&path, context, NULL, NULL);
    if (path) assert_int_equal(unlink(path), 0);
    rg_free(path);
    return status;
}

/* What fails behind the last rename leaves the whole file, never a part of it. */
static void look_for_remains(void *context, rg_status status)
{
    (void)context, (void)status;
    assert_int_equal(system("ls *.regard-tmp 2> /dev/null | grep -q ."), 256);
    assert_int_equal(system("for f in a.gz.*.text; do [ ! -e $f ] || zcat a.gz | cmp - $f || exit 1; done"), 0);
    assert_int_equal(system("rm -f a.gz.*"), 0);
}

static void what_fails_leaves_nothing(void **state)
{
    (void)state;
    char               *path = NULL;
    const rg_read_watch watch = { stop_at_once, NULL };
    pack("a.gz", 1);
    assert_int_equal(rg_unpacked_text(&path, "a.gz", NULL, &watch), RG_ESTOP);
    nothing_is_left();
    faults_every_alloc(unpack, (void *)"a.gz", look_for_remains, false);
    for (size_t nth = 1; nth < 30; nth++) {
        faults_fail_file(nth, ENOSPC, true);
        const rg_status status = unpack((void *)"a.gz");
        faults_off();
        assert_true(status == RG_EIO || status == RG_OK); /* there are some 20 calls */
        look_for_remains(NULL, status);
    }
    assert_int_equal(rg_unpacked_text(&path, "a.gz", "no/such/place", NULL), RG_EIO);
    assert_null(path);
    assert_int_equal(truncate("a.gz", 5000), 0);
    assert_int_equal(rg_unpacked_text(&path, "a.gz", NULL, NULL), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "a.gz"));
    nothing_is_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_file_is_unpacked_once),
        cmocka_unit_test(what_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
