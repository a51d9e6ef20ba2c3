/* case_kernels.c - every kernel on every table this machine has: each row is measured in turn with the same call on the
 * table below, and the ratio is theirs. No table may be slower than the one below it; test_kernels_speed.c fails where
 * one is by half. Two shapes of each kernel: its largest, and one in the middle of its list. */
#include "bench.h"

#include "kernel_calls.h"

enum { RUNGS = 4, PICKED = 2, MOST_ROWS = 4096 };

typedef struct state {
    const kernel_calls *calls;
    kernel_call         call;
} state;

static kernel_shape picked(const kernel_calls *c, size_t which)
{
    size_t count = 0;
    while (c->shapes[count].a) count++;
    return c->shapes[which ? count - 1 : count / 2];
}

/* Rows go through kernels, variants, shapes and tables, the tables fastest. False past the last. */
static bool find(state *out, size_t row)
{
    const rg_kernels *rungs[8];
    const size_t      count = kernel_ladder(rungs), rung = row % RUNGS;
    size_t            left = row / RUNGS;
    if (rung >= count) return false;
    for (size_t i = 0; i < KERNEL_CALLS; i++) {
        const kernel_calls *c = &kernel_table[i];
        const size_t        each = (size_t)c->variants * PICKED;
        if (left >= each) {
            left -= each;
            continue;
        }
        *out = (state){ c, { rungs[rung], rg_optimise_find(rungs[rung]->name), picked(c, left % PICKED),
                             (int)(left / PICKED) } };
        return true;
    }
    return false;
}

static void describe(bench_row *out, size_t row)
{
    state s;
    if (!find(&s, row)) return;
    const kernel_shape at = s.call.s;
    size_t             used = (size_t)snprintf(out->name, sizeof out->name, "%s", s.calls->name);
    if (s.calls->variants > 1)
        used += (size_t)snprintf(out->name + used, sizeof out->name - used, "/%d", s.call.f);
    used += (size_t)snprintf(out->name + used, sizeof out->name - used, " %zu", at.a);
    if (at.b) used += (size_t)snprintf(out->name + used, sizeof out->name - used, "x%zu", at.b);
    if (at.c) used += (size_t)snprintf(out->name + used, sizeof out->name - used, "x%zu", at.c);
    snprintf(out->name + used, sizeof out->name - used, " %s", s.call.k->name);
    if (row % RUNGS) out->against = row; /* 1 + the row before */
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state *s = context;
    (void)team;
    if (!find(s, row)) return rg_fail(RG_EINVAL, "there is no such kernel");
    kernel_calls_prepare();
    kernel_call_prepare(&s->call);
    return RG_OK;
}

static rg_status run(void *context)
{
    const state *s = context;
    s->calls->run(&s->call);
    return RG_OK;
}

static void teardown(void *context) { (void)context; }

const bench_case bench_case_kernels = {
    .name = "kernels",
    .summary = "every kernel on every table, against the table below",
    .rows = MOST_ROWS,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .teardown = teardown,
};
