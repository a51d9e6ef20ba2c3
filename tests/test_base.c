/* test_base.c - status, checked sizes, memory, random numbers, log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- status */

static void a_failure_keeps_its_message_and_its_numbers(void **state)
{
    (void)state;
    assert_int_equal(rg_fail(RG_ESHAPE, "keys are %d wide, queries %d", 256, 512), RG_ESHAPE);
    assert_string_equal(rg_message(), "keys are 256 wide, queries 512");
    assert_int_equal(rg_fail_in(RG_EFORMAT, "%s: line %d: ", "corpus.en", 12), RG_EFORMAT);
    assert_string_equal(rg_message(), "corpus.en: line 12: keys are 256 wide, queries 512");
    rg_fail(RG_EIO, "again: %s", rg_message()); /* the old message may be an argument of the new one */
    assert_string_equal(rg_message(), "again: corpus.en: line 12: keys are 256 wide, queries 512");
}

static void a_message_is_one_line_and_cannot_drive_a_terminal(void **state)
{
    (void)state;
    rg_fail(RG_EIO, "%s", "a\nb\tc\033[2Jd\r");
    assert_string_equal(rg_message(), "a b c?[2Jd?");
}

static void a_message_too_long_is_cut_between_characters(void **state)
{
    (void)state;
    char text[4000];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3) memcpy(text + i, "\xE2\x82\xAC", 4); /* the euro sign */
        rg_fail(RG_EIO, "%s", text);
        size_t length = strlen(rg_message());
        assert_true(length > 1000 && (length - shift) % 3 == 0);
        rg_fail_in(RG_EIO, "%s", text);
        assert_true((strlen(rg_message()) - shift) % 3 == 0);
    }
}

static void *fail_elsewhere(void *argument)
{
    *(bool *)argument = rg_message()[0] == '\0';
    rg_fail(RG_ENUMBER, "elsewhere");
    return NULL;
}

static void each_thread_has_its_own_message(void **state)
{
    (void)state;
    pthread_t thread;
    bool empty = false;
    rg_fail(RG_EIO, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &empty), 0);
    pthread_join(thread, NULL);
    assert_true(empty);
    assert_string_equal(rg_message(), "here");
}

static void every_status_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(rg_status_name(RG_OK), "RG_OK");
    for (int s = RG_OK; s <= RG_ESTOP; s++) {
        assert_memory_equal(rg_status_name((rg_status)s), "RG_", 3);
        for (int other = RG_OK; other < s; other++)
            assert_string_not_equal(rg_status_name((rg_status)s), rg_status_name((rg_status)other));
    }
    assert_string_equal(rg_status_name(RG_ESTOP), "RG_ESTOP");
}

/* ----------------------------------------------------------------------------------------------------- sizes */

static void sizes_that_do_not_fit_are_refused_and_leave_the_result(void **state)
{
    (void)state;
    size_t out = 7;
    assert_false(rg_size_add(&out, SIZE_MAX, 1));
    assert_false(rg_size_mul(&out, SIZE_MAX / 2 + 1, 2));
    assert_false(rg_size_mul(&out, (size_t)1 << 33, (size_t)1 << 31));
    assert_false(rg_size_align(&out, SIZE_MAX - 62, 64));
    assert_false(rg_size_align(&out, 5, 48));
    assert_false(rg_size_align(&out, 5, 0));
    assert_int_equal(out, 7);
    assert_true(rg_size_add(&out, SIZE_MAX - 1, 1) && out == SIZE_MAX);
    assert_true(rg_size_mul(&out, SIZE_MAX / 3, 3) && out == SIZE_MAX / 3 * 3);
    assert_true(rg_size_mul(&out, 0, SIZE_MAX) && out == 0);
    assert_true(rg_size_mul(&out, SIZE_MAX, 0) && out == 0);
    assert_true(rg_size_align(&out, SIZE_MAX - 63, 64) && out == SIZE_MAX - 63);
    assert_true(rg_size_align(&out, 0, 64) && out == 0);
    assert_true(rg_size_align(&out, 65, 64) && out == 128);
}

/* ---------------------------------------------------------------------------------------------------- memory */

static void blocks_are_aligned_and_counted(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 63, 64, 65, 4096, 100000, (2u << 20) - 1, 2u << 20, (5u << 20) + 3 };
    size_t blocks = rg_base__live_blocks(), bytes = rg_base__live_bytes();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = rg_alloc(sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (sizes[i] < 2u << 20 ? 64 : 2u << 20), 0);
        memset(block, 1, sizes[i]);
        assert_int_equal(rg_base__live_blocks(), blocks + 1);
        assert_true(rg_base__live_bytes() >= bytes + sizes[i]);
        rg_free(block);
    }
    rg_free(NULL);
    assert_int_equal(rg_base__live_blocks(), blocks);
    assert_int_equal(rg_base__live_bytes(), bytes);
}

static void absurd_sizes_are_refused_with_the_number(void **state)
{
    (void)state;
    assert_null(rg_alloc(SIZE_MAX));
    assert_non_null(strstr(rg_message(), "18446744073709551615"));
    assert_null(rg_alloc_zero(SIZE_MAX - 10));
    assert_null(rg_alloc_array((size_t)1 << 40, (size_t)1 << 40));
    assert_non_null(strstr(rg_message(), "1099511627776"));
}

static void realloc_keeps_the_content_and_on_failure_the_block(void **state)
{
    (void)state;
    unsigned char *block = rg_realloc(NULL, 100);
    for (size_t i = 0; i < 100; i++) block[i] = (unsigned char)i;
    block = rg_realloc(block, 3u << 20);
    assert_int_equal((uintptr_t)block % (2u << 20), 0);
    for (size_t i = 0; i < 100; i++) assert_int_equal(block[i], i);
    faults_fail_alloc(1, false);
    assert_null(rg_realloc(block, 4u << 20));
    faults_off();
    assert_int_equal(block[99], 99);
    block = rg_realloc(block, 50);
    for (size_t i = 0; i < 50; i++) assert_int_equal(block[i], i);
    rg_free(block);
}

static rg_status make_strings(void *context)
{
    (void)context;
    rg_status status = RG_ENOMEM;
    char *copy = NULL, *text = NULL;
    if ((copy = rg_strdup("words")) == NULL) goto done;
    if ((text = rg_format("%s and %d", copy, 42)) == NULL) goto done;
    status = strcmp(text, "words and 42") == 0 ? RG_OK : RG_EFORMAT;
done:
    rg_free(copy);
    rg_free(text);
    return status;
}

static void strings_are_copied_and_formatted_or_refused(void **state)
{
    (void)state;
    faults_every_alloc(make_strings, NULL, NULL, false);
}

/* ---------------------------------------------------------------------------------------------------- random */

static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        rg_philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void a_stream_is_philox_counted_up_and_a_copy_is_a_branch(void **state)
{
    (void)state;
    rg_random r = rg_random_new(0x0123456789abcdef, 0xfedcba9876543210);
    const uint32_t key[2] = { 0x89abcdef, 0x01234567 };
    for (uint32_t block = 0; block < 5; block++) {
        const uint32_t counter[4] = { block, 0, 0x76543210, 0xfedcba98 };
        uint32_t out[4];
        rg_philox(out, counter, key);
        for (int i = 0; i < 4; i++) assert_int_equal(rg_random_u32(&r), out[i]);
    }
    assert_int_equal(r.position, 20);
    rg_random branch = r;
    for (int i = 0; i < 100; i++) {
        assert_true(rg_random_normal(&r) == rg_random_normal(&branch));
        assert_true(rg_random_below(&r, 1000) == rg_random_below(&branch, 1000));
        assert_int_equal(rg_random_u32(&r), rg_random_u32(&branch));
    }
    rg_random other = rg_random_new(1, 0), another = rg_random_new(1, 1);
    assert_int_not_equal(rg_random_u32(&other), rg_random_u32(&another));
}

static void numbers_below_a_bound_are_even_and_never_reach_it(void **state)
{
    (void)state;
    rg_random r = rg_random_new(3, 0);
    size_t seen[7] = { 0 };
    for (int i = 0; i < 70000; i++) seen[rg_random_below(&r, 7)]++; /* an index of 7 would be caught by the sanitizer */
    for (int i = 0; i < 7; i++) assert_true(seen[i] > 9600 && seen[i] < 10400); /* 4 deviations of 93 */
    assert_int_equal(rg_random_below(&r, 1), 0);
    uint64_t high = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t draw = rg_random_below(&r, ((uint64_t)1 << 63) + 1); /* half of all draws are thrown away */
        assert_true(draw <= (uint64_t)1 << 63);
        if (draw > high) high = draw;
    }
    assert_true(high > (uint64_t)1 << 62);
}

static void uniform_and_normal_numbers_have_their_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    rg_random r = rg_random_new(4, 2);
    double sum = 0, sum2 = 0, sum3 = 0, sum4 = 0, mean = 0;
    for (int i = 0; i < N; i++) {
        double u = rg_random_uniform(&r);
        assert_true(u >= 0 && u < 1);
        mean += u / N;
        double z = rg_random_normal(&r);
        assert_true(isfinite(z));
        sum += z, sum2 += z * z, sum3 += z * z * z, sum4 += z * z * z * z;
    }
    assert_true(fabs(mean - 0.5) < 0.003);
    assert_true(fabs(sum / N) < 0.01);
    assert_true(fabs(sum2 / N - 1) < 0.015);
    assert_true(fabs(sum3 / N) < 0.04);
    assert_true(fabs(sum4 / N - 3) < 0.1);
}

/* ------------------------------------------------------------------------------------------------- log, clock */

static struct {
    int count;
    rg_log_level level;
    char line[3000];
} heard;

static void hear(void *context, rg_log_level level, const char *line)
{
    assert_ptr_equal(context, &heard);
    heard.count++;
    heard.level = level;
    snprintf(heard.line, sizeof heard.line, "%s", line);
}

static void remarks_go_where_the_program_says_and_nowhere_before(void **state)
{
    (void)state;
    rg_log(RG_LOG_ERROR, "nobody hears this");
    rg_log_to(hear, &heard);
    rg_log(RG_LOG_WARN, "step %d\nof %d", 1, 2);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, RG_LOG_WARN);
    assert_string_equal(heard.line, "step 1 of 2");
    rg_log_to(NULL, NULL);
    rg_log(RG_LOG_ERROR, "nor this");
    assert_int_equal(heard.count, 1);
}

static double stopped(void *context)
{
    return *(double *)context;
}

static void the_clock_goes_forward_and_tests_can_hold_it(void **state)
{
    (void)state;
    double first = rg_now(), held = 12.5;
    assert_true(rg_now() >= first);
    rg_base__seam_now(stopped, &held);
    assert_true(rg_now() == 12.5);
    rg_base__seam_now(NULL, NULL);
    assert_true(rg_now() >= first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_keeps_its_message_and_its_numbers),
        cmocka_unit_test(a_message_is_one_line_and_cannot_drive_a_terminal),
        cmocka_unit_test(a_message_too_long_is_cut_between_characters),
        cmocka_unit_test(each_thread_has_its_own_message),
        cmocka_unit_test(every_status_has_its_name),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused_and_leave_the_result),
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(absurd_sizes_are_refused_with_the_number),
        cmocka_unit_test(realloc_keeps_the_content_and_on_failure_the_block),
        cmocka_unit_test(strings_are_copied_and_formatted_or_refused),
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(a_stream_is_philox_counted_up_and_a_copy_is_a_branch),
        cmocka_unit_test(numbers_below_a_bound_are_even_and_never_reach_it),
        cmocka_unit_test(uniform_and_normal_numbers_have_their_moments),
        cmocka_unit_test(remarks_go_where_the_program_says_and_nowhere_before),
        cmocka_unit_test(the_clock_goes_forward_and_tests_can_hold_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
