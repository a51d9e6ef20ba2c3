/* faults.c - see faults.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    atomic_size_t allocs; /* several threads allocate */
    size_t alloc_nth;
    bool alloc_later;
    size_t calls, call_nth;
    int call_error;
    bool call_later, teasing, interrupt;
    rg_random random;
} plan;

/* ---------------------------------------------------------------------------------------------------- memory */

static bool refuse(void *context, size_t bytes)
{
    (void)context, (void)bytes;
    size_t now = atomic_fetch_add(&plan.allocs, 1) + 1;
    return plan.alloc_nth != 0 && (now == plan.alloc_nth || (plan.alloc_later && now > plan.alloc_nth));
}

void faults_fail_alloc(size_t nth, bool later)
{
    plan.allocs = 0;
    plan.alloc_nth = nth;
    plan.alloc_later = later;
    rg_base__seam_alloc(refuse, NULL);
}

size_t faults_allocs(void)
{
    return plan.allocs;
}

/* ----------------------------------------------------------------------------------------------------- files */

static const rg_file_calls *system_calls(void)
{
    return rg_base__file_calls_real();
}

/* Whether this call is to fail; `final` calls (close, unlink) fail alone, not as part of "all later". */
static bool strikes(bool final)
{
    plan.calls++;
    bool hit = plan.call_nth != 0 &&
               (plan.calls == plan.call_nth || (plan.call_later && !final && plan.calls > plan.call_nth));
    if (hit) errno = plan.call_error;
    return hit;
}

static bool interrupts(void)
{
    if (!plan.teasing) return false;
    plan.interrupt = !plan.interrupt;
    if (plan.interrupt) errno = EINTR;
    return plan.interrupt;
}

static size_t shorten(size_t bytes)
{
    if (!plan.teasing || bytes == 0) return bytes;
    size_t few = 1 + (size_t)rg_random_below(&plan.random, bytes < 5000 ? bytes : 5000);
    return few < bytes ? few : bytes;
}

static int faulty_open(void *context, const char *path, rg_file_kind kind)
{
    if (strikes(false) || interrupts()) return -1;
    return system_calls()->open(context, path, kind);
}

static ssize_t faulty_read(void *context, int fd, void *buffer, size_t bytes)
{
    if (strikes(false) || interrupts()) return -1;
    return system_calls()->read(context, fd, buffer, shorten(bytes));
}

static ssize_t faulty_write(void *context, int fd, const void *bytes, size_t count)
{
    if (strikes(false) || interrupts()) return -1;
    return system_calls()->write(context, fd, bytes, shorten(count));
}

static int64_t faulty_seek(void *context, int fd, int64_t offset)
{
    if (strikes(false)) return -1;
    return system_calls()->seek(context, fd, offset);
}

static int64_t faulty_size(void *context, int fd)
{
    if (strikes(false)) return -1;
    return system_calls()->size(context, fd);
}

static int faulty_sync(void *context, int fd)
{
    if (strikes(false) || interrupts()) return -1;
    return system_calls()->sync(context, fd);
}

static int faulty_close(void *context, int fd)
{
    int error = strikes(true) ? errno : 0;
    int result = system_calls()->close(context, fd); /* the descriptor is gone in any case */
    if (error == 0) return result;
    errno = error;
    return -1;
}

static int faulty_rename(void *context, const char *from, const char *to)
{
    if (strikes(false)) return -1;
    return system_calls()->rename(context, from, to);
}

static int faulty_unlink(void *context, const char *path)
{
    if (strikes(true)) return -1;
    return system_calls()->unlink(context, path);
}

static const rg_file_calls faulty = {
    .open = faulty_open, .read = faulty_read,   .write = faulty_write,   .seek = faulty_seek,     .size = faulty_size,
    .sync = faulty_sync, .close = faulty_close, .rename = faulty_rename, .unlink = faulty_unlink,
};

void faults_fail_file(size_t nth, int error, bool later)
{
    plan.calls = 0;
    plan.call_nth = nth;
    plan.call_error = error;
    plan.call_later = later;
    plan.teasing = false;
    rg_base__seam_file(&faulty);
}

void faults_file_teasing(uint64_t seed)
{
    faults_fail_file(0, 0, false);
    plan.teasing = true;
    plan.interrupt = false;
    plan.random = rg_random_new(seed, 0);
}

size_t faults_file_calls(void)
{
    return plan.calls;
}

static int no_sync(void *context, int fd)
{
    (void)context, (void)fd;
    return 0;
}

void faults_no_sync(void)
{
    static rg_file_calls calls;
    calls = *rg_base__file_calls_real();
    calls.sync = no_sync;
    rg_base__seam_file(&calls);
}

void faults_off(void)
{
    rg_base__seam_alloc(NULL, NULL);
    rg_base__seam_file(NULL);
}

/* ------------------------------------------------------------------------------------------------------ walks */

static size_t stride(size_t points)
{
    if (getenv("CAMPAIGN") != NULL || points <= FAULTS_POINTS) return 1;
    return (points + FAULTS_POINTS - 1) / FAULTS_POINTS;
}

void faults_every_alloc(faults_scenario *scenario, void *context, faults_after *after, bool tolerated)
{
    faults_fail_alloc(0, false);
    rg_status status = scenario(context);
    size_t points = faults_allocs();
    faults_off();
    if (status != RG_OK) fail_msg("the scenario fails by itself: %s", rg_message());
    assert_true(points > 0);

    for (size_t nth = 1; nth <= points; nth += stride(points)) {
        for (int later = 0; later < 2; later++) {
            size_t before = rg_base__live_blocks();
            faults_fail_alloc(nth, later != 0);
            status = scenario(context);
            faults_off();
            if (status != RG_ENOMEM && !(tolerated && status == RG_OK))
                fail_msg("allocation %zu of %zu%s: %s (%s)", nth, points, later != 0 ? " and all later" : "",
                         rg_status_name(status), rg_message());
            if (rg_base__live_blocks() != before)
                fail_msg("allocation %zu of %zu%s: %zu blocks before, %zu after", nth, points,
                         later != 0 ? " and all later" : "", before, rg_base__live_blocks());
            if (after != NULL) after(context, status);
        }
    }
}

void faults_every_file_call(faults_scenario *scenario, void *context, faults_after *after)
{
    static const int errors[] = { EIO, ENOSPC };
    faults_fail_file(0, 0, false);
    rg_status status = scenario(context);
    size_t points = faults_file_calls();
    faults_off();
    if (status != RG_OK) fail_msg("the scenario fails by itself: %s", rg_message());
    assert_true(points > 0);

    for (size_t nth = 1; nth <= points; nth += stride(points)) {
        for (int kind = 0; kind < 4; kind++) {
            size_t before = rg_base__live_blocks();
            faults_fail_file(nth, errors[kind / 2], kind % 2 != 0);
            status = scenario(context);
            faults_off();
            if (rg_base__live_blocks() != before) fail_msg("file call %zu of %zu leaks", nth, points);
            if (after != NULL) after(context, status);
        }
    }
}
