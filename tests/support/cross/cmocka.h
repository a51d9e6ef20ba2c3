/* cmocka.h - the few words of cmocka our kernel tests use, for programs that are cross-compiled and run under an
 * emulator, where the real one is not installed. A failed assertion ends the program. */
#ifndef REGARD_CROSS_CMOCKA_H
#define REGARD_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};
#define cmocka_unit_test(f) {#f, f}

#define CROSS_FAIL(...) \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define fail()                  CROSS_FAIL("failed")
#define fail_msg(...)           CROSS_FAIL(__VA_ARGS__)
#define skip()                  return
#define print_message(...)      printf(__VA_ARGS__)
#define print_error(...)        fprintf(stderr, __VA_ARGS__)
#define assert_true(c)          ((c) ? (void)0 : CROSS_FAIL("not true: %s", #c))
#define assert_false(c)         ((c) ? CROSS_FAIL("not false: %s", #c) : (void)0)
#define assert_null(p)          assert_true((p) == NULL)
#define assert_non_null(p)      assert_true((p) != NULL)
#define assert_ptr_equal(a, b)  assert_true((const void *)(a) == (const void *)(b))
#define assert_int_equal(a, b)                                                                          \
    ((long long)(a) == (long long)(b) ? (void)0                                                         \
                                      : CROSS_FAIL("%s = %lld, not %s = %lld", #a, (long long)(a), #b, (long long)(b)))
#define assert_int_not_equal(a, b)    assert_true((long long)(a) != (long long)(b))
#define assert_in_range(a, low, high) assert_true((a) >= (low) && (a) <= (high))
#define assert_string_equal(a, b)     (strcmp(a, b) ? CROSS_FAIL("\"%s\", not \"%s\"", a, b) : (void)0)
#define assert_memory_equal(a, b, n)  (memcmp(a, b, n) ? CROSS_FAIL("%s and %s differ", #a, #b) : (void)0)
#define assert_float_equal(a, b, e)   assert_true((a) - (b) <= (e) && (b) - (a) <= (e))
#define assert_double_equal(a, b, e)  assert_float_equal(a, b, e)

static inline int cross_run(const struct CMUnitTest *tests, size_t count, int (*before)(void **), int (*after)(void **))
{
    void *state = NULL;
    if (before && before(&state)) return 1;
    for (size_t i = 0; i < count; i++) {
        tests[i].test(&state);
        printf("ok %s\n", tests[i].name);
        fflush(stdout);
    }
    return after ? after(&state) : 0;
}
#define cmocka_run_group_tests(tests, before, after) cross_run(tests, sizeof(tests) / sizeof *(tests), before, after)
#define cmocka_run_group_tests_name(name, tests, before, after) cmocka_run_group_tests(tests, before, after)

#endif
