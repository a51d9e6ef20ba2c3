/* test_base_team.c - threads that split one piece of work. Meant to be run under the thread sanitizer too. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MEMBERS = 4, N = 1000 };

typedef struct shares {
    size_t begin[MEMBERS], end[MEMBERS];
    int calls[MEMBERS];
    int touched[N];
} shares;

static void note_share(void *context, int member, size_t begin, size_t end)
{
    shares *s = context;
    s->begin[member] = begin;
    s->end[member] = end;
    s->calls[member]++;
    for (size_t i = begin; i < end; i++) s->touched[i]++;
}

static void shares_cover_everything_once_in_order_and_in_grains(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 2, 3, 7, 16, 17, 99, 1000 }, grains[] = { 0, 1, 2, 5, 16, 64, 2000 };
    for (int members = 1; members <= MEMBERS; members++) {
        rg_team *team;
        assert_int_equal(rg_team_new(&team, members), RG_OK);
        assert_int_equal(rg_team_size(team), members);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
                shares s, again;
                memset(&s, 0, sizeof s);
                memset(&again, 0, sizeof again);
                rg_team_for(team, counts[c], grains[g], note_share, &s);
                rg_team_for(team, counts[c], grains[g], note_share, &again);
                assert_memory_equal(&s, &again, sizeof s); /* the same work gets the same shares */
                size_t at = 0, grain = grains[g] == 0 ? 1 : grains[g];
                for (int m = 0; m < MEMBERS; m++) {
                    if (s.calls[m] == 0) continue;
                    assert_int_equal(s.calls[m], 1);
                    assert_int_equal(s.begin[m], at);
                    assert_true(s.end[m] > s.begin[m]);
                    assert_true(s.end[m] % grain == 0 || s.end[m] == counts[c]);
                    at = s.end[m];
                }
                assert_int_equal(at, counts[c]);
                for (size_t i = 0; i < counts[c]; i++) assert_int_equal(s.touched[i], 1);
            }
        }
        rg_team_free(team);
    }
}

static void shares_differ_by_at_most_one_grain(void **state)
{
    (void)state;
    rg_team *team;
    shares s;
    memset(&s, 0, sizeof s);
    assert_int_equal(rg_team_new(&team, 4), RG_OK);
    rg_team_for(team, 90, 10, note_share, &s); /* nine blocks: 3 2 2 2 */
    static const size_t ends[] = { 30, 50, 70, 90 };
    assert_memory_equal(s.end, ends, sizeof ends);
    rg_team_free(team);
}

static void nothing_to_do_calls_nothing_and_no_team_is_a_team_of_one(void **state)
{
    (void)state;
    shares s;
    memset(&s, 0, sizeof s);
    rg_team_for(NULL, 0, 1, note_share, &s);
    assert_int_equal(s.calls[0], 0);
    rg_team_for(NULL, 10, 1, note_share, &s);
    assert_int_equal(s.calls[0], 1);
    assert_int_equal(s.end[0], 10);
    assert_int_equal(rg_team_size(NULL), 1);
    rg_team_free(NULL);
}

static void add_one(void *context, int member, size_t begin, size_t end)
{
    (void)member;
    for (size_t i = begin; i < end; i++) ((int *)context)[i]++;
}

static void many_small_pieces_of_work_with_and_without_pauses(void **state)
{
    (void)state;
    for (int members = 1; members <= MEMBERS; members++) {
        static int values[64];
        rg_team *team;
        memset(values, 0, sizeof values);
        assert_int_equal(rg_team_new(&team, members), RG_OK);
        for (int i = 0; i < 3000; i++) {
            rg_team_for(team, 1 + (size_t)i % 64, 1, add_one, values);
            if (i % 300 == 0) nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL); /* helpers fall asleep */
        }
        int sum = 0, expected = 0;
        for (int i = 0; i < 64; i++) sum += values[i];
        for (int i = 0; i < 3000; i++) expected += 1 + i % 64;
        assert_int_equal(sum, expected);
        rg_team_free(team);
    }
}

typedef struct nest {
    rg_team *team;
    atomic_int inner[MEMBERS], wrong;
} nest;

typedef struct nest_call {
    nest *all;
    int member;
} nest_call;

static void inner_work(void *context, int member, size_t begin, size_t end)
{
    nest_call *call = context;
    if (member != call->member || begin != 0 || end != 40) atomic_fetch_add(&call->all->wrong, 1);
    atomic_fetch_add(&call->all->inner[member], 1);
}

static void outer_work(void *context, int member, size_t begin, size_t end)
{
    nest_call call = { .all = context, .member = member };
    for (size_t i = begin; i < end; i++) rg_team_for(call.all->team, 40, 1, inner_work, &call);
}

static void work_inside_work_runs_alone_on_its_member(void **state)
{
    (void)state;
    nest n;
    memset(&n, 0, sizeof n);
    assert_int_equal(rg_team_new(&n.team, 3), RG_OK);
    rg_team_for(n.team, 9, 1, outer_work, &n);
    for (int m = 0; m < 3; m++) assert_int_equal(atomic_load(&n.inner[m]), 3);
    assert_int_equal(atomic_load(&n.wrong), 0);
    shares s;
    memset(&s, 0, sizeof s);
    rg_team_for(n.team, 9, 1, note_share, &s); /* and outside again it is split */
    assert_int_equal(s.end[0], 3);
    rg_team_free(n.team);
}

typedef struct scratch_use {
    rg_team *team;
    size_t bytes;
    void *blocks[MEMBERS];
} scratch_use;

static void use_scratch(void *context, int member, size_t begin, size_t end)
{
    (void)begin, (void)end;
    scratch_use *use = context;
    unsigned char *block = rg_team_scratch(use->team, member, use->bytes);
    if (block != NULL) memset(block, member, use->bytes);
    use->blocks[member] = block;
}

static void each_member_has_scratch_of_its_own_that_only_grows(void **state)
{
    (void)state;
    scratch_use use = { .bytes = 1000 }, second;
    assert_int_equal(rg_team_new(&use.team, MEMBERS), RG_OK);
    rg_team_for(use.team, MEMBERS, 1, use_scratch, &use);
    for (int m = 0; m < MEMBERS; m++) {
        assert_non_null(use.blocks[m]);
        assert_int_equal((uintptr_t)use.blocks[m] % 64, 0);
        assert_int_equal(*(unsigned char *)use.blocks[m], m);
        for (int other = 0; other < m; other++) assert_ptr_not_equal(use.blocks[m], use.blocks[other]);
    }
    second = use;
    second.bytes = 500;
    size_t calls = rg_base__alloc_calls();
    rg_team_for(use.team, MEMBERS, 1, use_scratch, &second);
    assert_memory_equal(second.blocks, use.blocks, sizeof use.blocks);
    assert_int_equal(rg_base__alloc_calls(), calls);
    second.bytes = 3u << 20;
    rg_team_for(use.team, MEMBERS, 1, use_scratch, &second);
    for (int m = 0; m < MEMBERS; m++) assert_int_equal((uintptr_t)second.blocks[m] % (2u << 20), 0);
    faults_fail_alloc(1, true);
    assert_null(rg_team_scratch(use.team, 0, 4u << 20));
    faults_off();
    assert_non_null(rg_team_scratch(use.team, 0, 10));
    rg_team_free(use.team);
}

static double cpu_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void an_idle_team_uses_no_processor_time(void **state)
{
    (void)state;
    rg_team *team;
    shares s;
    memset(&s, 0, sizeof s);
    assert_int_equal(rg_team_new(&team, MEMBERS), RG_OK);
    rg_team_for(team, 1000, 1, note_share, &s);
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    double before = cpu_seconds();
    nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    assert_true(cpu_seconds() - before < 0.05);
    rg_team_free(team);
}

typedef struct whose {
    pthread_t caller;
    int by_caller[2]; /* shares of each member */
} whose;

static void note_thread(void *context, int member, size_t begin, size_t end)
{
    whose *w = context;
    assert_int_equal(end - begin, 1);
    if (pthread_equal(pthread_self(), w->caller)) w->by_caller[member]++;
}

/* On one core a helper seldom gets it before the caller is through with its own share. */
static void the_caller_does_what_no_helper_has_begun(void **state)
{
    (void)state;
    enum { TIMES = 2000 };
    rg_team *team;
    cpu_set_t all, one;
    whose w = { .caller = pthread_self() };
    size_t first = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(rg_team_new(&team, 2), RG_OK);
    for (int i = 0; i < TIMES; i++) rg_team_for(team, 2, 1, note_thread, &w);
    rg_team_free(team);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(w.by_caller[0], TIMES);
    assert_true(w.by_caller[1] > 0);
}

static rg_status work_of_a_team(void *context)
{
    (void)context;
    rg_team *team;
    shares s;
    memset(&s, 0, sizeof s);
    RG_TRY(rg_team_new(&team, 3));
    rg_team_for(team, 90, 1, note_share, &s);
    rg_status status = rg_team_scratch(team, 1, 100) == NULL ? RG_ENOMEM : RG_OK;
    rg_team_free(team);
    return status;
}

static void a_team_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    rg_team *team;
    faults_every_alloc(work_of_a_team, NULL, NULL, false);
    assert_int_equal(rg_team_new(&team, 0), RG_EINVAL);
    assert_null(team);
    assert_int_equal(rg_team_new(&team, 1 << 20), RG_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_cover_everything_once_in_order_and_in_grains),
        cmocka_unit_test(shares_differ_by_at_most_one_grain),
        cmocka_unit_test(nothing_to_do_calls_nothing_and_no_team_is_a_team_of_one),
        cmocka_unit_test(many_small_pieces_of_work_with_and_without_pauses),
        cmocka_unit_test(work_inside_work_runs_alone_on_its_member),
        cmocka_unit_test(each_member_has_scratch_of_its_own_that_only_grows),
        cmocka_unit_test(an_idle_team_uses_no_processor_time),
        cmocka_unit_test(the_caller_does_what_no_helper_has_begun),
        cmocka_unit_test(a_team_is_made_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
