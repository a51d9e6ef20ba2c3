/* The server's store: what is put is found, as much as fits stays, the oldest go first, and processes share it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/seams.h"
#include "serve/store.h"

static bool put(rg_store *s, const char *key, const char *value, size_t bytes)
{
    const rg_store_piece half[2] = { { value, bytes / 2 }, { value + bytes / 2, bytes - bytes / 2 } };
    return rg_store_put(s, key, strlen(key), half, 2);
}

static bool has(rg_store *s, const char *key, const char *value, size_t bytes)
{
    rg_text    out = { 0 };
    const bool found = rg_store_get(&out, s, key, strlen(key), 0);
    const bool same = found && out.length == bytes && memcmp(rg_text_c(&out), value, bytes) == 0;
    assert_true(!found || same);
    rg_text_free(&out);
    return found;
}

static void what_is_put_is_found_and_the_newest_counts(void **state)
{
    rg_store *s;
    (void)state;
    assert_int_equal(rg_store_open(&s, 100000), RG_OK);
    assert_false(has(s, "a", "", 0));
    assert_true(put(s, "a", "one", 3));
    assert_true(put(s, "b", "", 0));
    assert_true(has(s, "a", "one", 3));
    assert_true(has(s, "b", "", 0));
    assert_false(has(s, "ab", "", 0));
    assert_true(put(s, "a", "another", 7));
    assert_true(has(s, "a", "another", 7));
    assert_false(put(s, "", "x", 1));
    rg_store_close(s);
    rg_store_close(NULL);
}

/* Entries of many sizes around the end of the ring: the newest that fit are there, whole. */
static void as_much_as_fits_stays_and_the_oldest_go_first(void **state)
{
    enum { ROOM = 8192, PUTS = 3000 };
    static char value[ROOM];
    rg_store   *s;
    (void)state;
    assert_int_equal(rg_store_open(&s, ROOM), RG_OK);
    for (size_t i = 0; i < PUTS; i++) {
        const size_t bytes = i * 7919 % 1500;
        char         key[32];
        memset(value, (int)('a' + i % 26), bytes);
        snprintf(key, sizeof key, "key %zu", i);
        assert_true(put(s, key, value, bytes));
        assert_true(has(s, key, value, bytes));
        if (i >= 3) { /* at most 3 * 1,700 bytes came behind it */
            const size_t before = i - 2, length = before * 7919 % 1500;
            memset(value, (int)('a' + before % 26), length);
            snprintf(key, sizeof key, "key %zu", before);
            assert_true(has(s, key, value, length));
        }
        snprintf(key, sizeof key, "key %zu", i / 2);
        if (i > 200) assert_false(has(s, key, "", 0));
    }
    memset(value, 'x', sizeof value);
    assert_false(put(s, "too large", value, ROOM));
    assert_true(put(s, "nearly all of it", value, ROOM - 200));
    assert_true(has(s, "nearly all of it", value, ROOM - 200));
    rg_store_close(s);
}

static void what_is_asked_for_again_stays(void **state)
{
    rg_store *s;
    (void)state;
    assert_int_equal(rg_store_open(&s, 8192), RG_OK);
    assert_true(put(s, "wanted", "value", 5));
    for (int i = 0; i < 1000; i++) {
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        assert_true(put(s, key, "0123456789", 10));
        assert_true(has(s, "wanted", "value", 5));
    }
    assert_false(has(s, "1", "", 0));
    rg_store_close(s);
}

static double later(void *context) { return *(double *)context; }

static void what_is_too_old_is_not_found(void **state)
{
    double    now = 1000;
    rg_store *s;
    rg_text   out = { 0 };
    (void)state;
    rg_base__seam_now(later, &now);
    assert_int_equal(rg_store_open(&s, 8192), RG_OK);
    assert_true(put(s, "a", "x", 1));
    now = 1599;
    assert_true(rg_store_get(&out, s, "a", 1, 600));
    now = 1601;
    assert_false(rg_store_get(&out, s, "a", 1, 600));
    assert_true(rg_store_get(&out, s, "a", 1, 0));
    rg_base__seam_now(NULL, NULL);
    rg_text_free(&out);
    rg_store_close(s);
}

static void processes_share_it_and_one_may_die_at_any_time(void **state)
{
    enum { CHILDREN = 4, KEYS = 50 };
    rg_store *s;
    pid_t     child[CHILDREN];
    (void)state;
    assert_int_equal(rg_store_open(&s, 1 << 20), RG_OK);
    for (int c = 0; c < CHILDREN; c++)
        if ((child[c] = fork()) == 0) {
            char key[32];
            for (unsigned i = 0; c || i < KEYS; i++) { /* all but the first go on until they are killed */
                snprintf(key, sizeof key, "%d %u", c, i % KEYS);
                put(s, key, key, strlen(key));
            }
            _exit(0);
        }
    int first = -1;
    assert_int_equal(waitpid(child[0], &first, 0), child[0]);
    usleep(100000);
    for (int c = 1; c < CHILDREN; c++) { /* sooner or later one holds the lock */
        kill(child[c], SIGKILL);
        waitpid(child[c], NULL, 0);
    }
    assert_true(put(s, "here", "it goes on", 10));
    assert_true(has(s, "here", "it goes on", 10));
    rg_store_close(s);
}

static void a_store_that_cannot_be_had_is_refused(void **state)
{
    rg_store *s;
    (void)state;
    assert_int_equal(rg_store_open(&s, SIZE_MAX), RG_ELIMIT);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found_and_the_newest_counts),
        cmocka_unit_test(as_much_as_fits_stays_and_the_oldest_go_first),
        cmocka_unit_test(what_is_asked_for_again_stays),
        cmocka_unit_test(what_is_too_old_is_not_found),
        cmocka_unit_test(processes_share_it_and_one_may_die_at_any_time),
        cmocka_unit_test(a_store_that_cannot_be_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
