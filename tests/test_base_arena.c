/* test_base_arena.c - pieces that are dropped together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <string.h>

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 500 };
    rg_arena *arena;
    unsigned char *pieces[N];
    size_t sizes[N];
    rg_random random = rg_random_new(5, 0);
    assert_int_equal(rg_arena_new(&arena, 300), RG_OK);
    for (size_t i = 0; i < N; i++) {
        sizes[i] = (size_t)rg_random_below(&random, i % 50 == 0 ? 100000 : 200);
        pieces[i] = i % 3 == 0 ? rg_arena_get_zero(arena, sizes[i]) : rg_arena_get(arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 64, 0);
        for (size_t j = 0; i % 3 == 0 && j < sizes[i]; j++) assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(pieces[i][j], i % 251);
    rg_arena_free(arena);
    rg_arena_free(NULL);
}

/* One round of a training step: forward, an inner pass that is rewound, backward. */
static bool round_of_work(rg_arena *arena)
{
    for (size_t i = 1; i < 60; i++)
        if (rg_arena_get(arena, i * 777) == NULL) return false;
    rg_arena_point point = rg_arena_mark(arena);
    for (size_t i = 1; i < 90; i++)
        if (rg_arena_get(arena, i * 555) == NULL) return false;
    rg_arena_rewind(arena, point);
    for (size_t i = 1; i < 30; i++)
        if (rg_arena_get(arena, i * 333) == NULL) return false;
    return true;
}

static void a_repeated_loop_stops_allocating(void **state)
{
    (void)state;
    rg_arena *arena;
    assert_int_equal(rg_arena_new(&arena, 1000), RG_OK);
    assert_true(round_of_work(arena));
    rg_arena_reset(arena);
    assert_int_equal(rg_arena_used(arena), 0);
    size_t calls = rg_base__alloc_calls();
    for (int i = 0; i < 10; i++) {
        assert_true(round_of_work(arena));
        rg_arena_reset(arena);
    }
    assert_int_equal(rg_base__alloc_calls(), calls);
    rg_arena_free(arena);
}

static void a_rewind_returns_to_the_mark_and_keeps_what_was_before(void **state)
{
    (void)state;
    rg_arena *arena;
    assert_int_equal(rg_arena_new(&arena, 4096), RG_OK);
    unsigned char *kept = rg_arena_get(arena, 1000);
    memset(kept, 7, 1000);
    rg_arena_point point = rg_arena_mark(arena);
    size_t used = rg_arena_used(arena);
    assert_int_equal(used, 1024);
    void *first = rg_arena_get(arena, 100);
    for (int i = 0; i < 100; i++) assert_non_null(rg_arena_get(arena, 3000)); /* over several chunks */
    size_t peak = rg_arena_peak(arena), calls = rg_base__alloc_calls();
    rg_arena_rewind(arena, point);
    assert_int_equal(rg_arena_used(arena), used);
    assert_int_equal(rg_arena_peak(arena), peak);
    assert_int_equal(peak, 1024 + 128 + 100 * 3008);
    assert_ptr_equal(rg_arena_get(arena, 100), first);
    for (int i = 0; i < 100; i++) assert_non_null(rg_arena_get(arena, 3000)); /* the chunks are still there */
    assert_int_equal(rg_base__alloc_calls(), calls);
    for (size_t i = 0; i < 1000; i++) assert_int_equal(kept[i], 7);
    rg_arena_reset(arena);
    assert_int_equal(rg_arena_peak(arena), peak);
    rg_arena_free(arena);
}

static void debug_builds_fill_new_pieces_so_that_nobody_counts_on_zeros(void **state)
{
    (void)state;
#ifdef NDEBUG
    skip();
#else
    rg_arena *arena;
    assert_int_equal(rg_arena_new(&arena, 4096), RG_OK);
    float *piece = rg_arena_get(arena, 16 * sizeof *piece);
    for (int i = 0; i < 16; i++) assert_true(piece[i] != piece[i]);
    rg_arena_free(arena);
#endif
}

static rg_status rounds(void *context)
{
    (void)context;
    rg_arena *arena;
    RG_TRY(rg_arena_new(&arena, 500));
    rg_status status = RG_OK;
    for (int i = 0; i < 3 && status == RG_OK; i++) {
        if (!round_of_work(arena)) status = RG_ENOMEM;
        rg_arena_reset(arena);
        if (rg_arena_used(arena) != 0) status = RG_EINVAL;
    }
    rg_arena_free(arena);
    return status;
}

static void an_arena_survives_every_failed_allocation(void **state)
{
    (void)state;
    faults_every_alloc(rounds, NULL, NULL, true); /* a reset that cannot join its chunks goes on without */
}

static void an_arena_that_failed_once_still_works(void **state)
{
    (void)state;
    rg_arena *arena;
    assert_int_equal(rg_arena_new(&arena, SIZE_MAX), RG_ENOMEM);
    assert_null(arena);
    assert_int_equal(rg_arena_new(&arena, 1000), RG_OK);
    assert_non_null(rg_arena_get(arena, 900));
    faults_fail_alloc(1, true);
    assert_null(rg_arena_get(arena, 900));
    assert_non_null(rg_arena_get(arena, 64));
    rg_arena_reset(arena);
    assert_non_null(rg_arena_get(arena, 1000));
    faults_off();
    assert_null(rg_arena_get(arena, SIZE_MAX - 5));
    assert_null(rg_arena_get(arena, SIZE_MAX / 2));
    assert_non_null(rg_arena_get(arena, 100000));
    faults_fail_alloc(1, true);
    rg_arena_reset(arena); /* cannot get the joined chunk: the arena is empty, not broken */
    assert_null(rg_arena_get(arena, 1));
    rg_arena_rewind(arena, rg_arena_mark(arena));
    faults_off();
    assert_non_null(rg_arena_get(arena, 100000));
    rg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_repeated_loop_stops_allocating),
        cmocka_unit_test(a_rewind_returns_to_the_mark_and_keeps_what_was_before),
        cmocka_unit_test(debug_builds_fill_new_pieces_so_that_nobody_counts_on_zeros),
        cmocka_unit_test(an_arena_survives_every_failed_allocation),
        cmocka_unit_test(an_arena_that_failed_once_still_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
