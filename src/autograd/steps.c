/* steps.c - a layout read in time (recurrent.h): a stable counting sort of groups by length, then the rows step by
 * step. */
#include "autograd/tape.h"
#include "regard/recurrent.h"

#include <string.h>

static size_t length_of(const rg_layout *layout, size_t g) { return (size_t)(layout->start[g + 1] - layout->start[g]); }

/* at[n]: where the next group of length n goes, longest first. */
static void order_groups(int32_t *order, size_t *at, size_t longest, const rg_layout *layout)
{
    memset(at, 0, (longest + 1) * sizeof *at);
    for (size_t g = 0; g < layout->groups; g++) at[length_of(layout, g)]++;
    size_t before = 0;
    for (size_t n = longest + 1; n-- > 0;) {
        const size_t groups = at[n];
        at[n] = before;
        before += groups;
    }
    for (size_t g = 0; g < layout->groups; g++) order[at[length_of(layout, g)]++] = (int32_t)g;
}

const rg_steps *rg_steps_new(rg_tape *t, const rg_layout *layout, bool reverse)
{
    if (!rg_tape__begin(t, "steps", 0, NULL)) return NULL;
    if (!layout) {
        rg_tape_fail(t, RG_EINVAL, "rows without a layout have no order in time");
        return NULL;
    }
    const size_t G = layout->groups, N = (size_t)layout->start[G];
    size_t       longest = 0;
    for (size_t g = 0; g < G; g++)
        if (length_of(layout, g) > longest) longest = length_of(layout, g);
    rg_steps *s = rg_tape__keep(t, sizeof *s);
    int32_t  *order = rg_tape__keep(t, (G + 2 * longest + 1 + N) * sizeof *order);
    size_t   *at = rg_tape__keep(t, (longest + 1) * sizeof *at);
    if (!s || !order || !at) return NULL;
    int32_t *count = order + G, *first = count + longest, *row = first + longest + 1;
    order_groups(order, at, longest, layout);
    *s = (rg_steps){ .groups = G,
                     .steps = longest,
                     .rows = N,
                     .order = order,
                     .count = count,
                     .first = first,
                     .row = row,
                     .as_is = true,
                     .reverse = reverse };

    size_t running = G, put = 0;
    first[0] = 0;
    for (size_t step = 0; step < longest; step++) {
        while (running && length_of(layout, (size_t)order[running - 1]) <= step) running--;
        for (size_t i = 0; i < running; i++) {
            const size_t g = (size_t)order[i];
            const size_t r = reverse ? (size_t)layout->start[g + 1] - 1 - step : (size_t)layout->start[g] + step;
            s->as_is = s->as_is && r == put;
            row[put++] = (int32_t)r;
        }
        count[step] = (int32_t)running;
        first[step + 1] = (int32_t)put;
    }
    s->running = longest ? (size_t)count[0] : 0;
    return s;
}
