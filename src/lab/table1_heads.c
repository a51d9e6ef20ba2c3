/* table1_heads.c - what heads cost: an attention with projections, cut into more and more heads of less and less width.
 * "Due to the reduced dimension of each head, the total computational cost is similar to that of single-head attention
 * with full dimensionality" (Vaswani et al. 2017, section 3.2.2). */
#include "lab/table1.h"

#include "base/clock.h"

#include <math.h>

typedef struct {
    double flops, bytes, seconds;
} cost;

static rg_status pass(rg_tape *t, const rg_heads *heads, const rg_real *x, size_t n, size_t d)
{
    const int32_t   start[] = { 0, (int32_t)n };
    const rg_layout one = { .groups = 1, .start = start };
    rg_heads_self(t, heads, rg_input(t, x, n, d, &one), rg_reach_groups(t, &one, &one));
    return rg_tape_status(t);
}

static rg_status measure(cost *out, size_t count, size_t n, size_t d, int64_t repeat)
{
    rg_params     *params = NULL;
    rg_heads       heads;
    rg_tape       *t = NULL;
    rg_tape_config config = { .record = false, .dry = true };
    rg_real       *x = rg_alloc_zero(n * d * sizeof *x);
    rg_random      random = rg_random_new(1, 3);
    rg_status      status = x ? rg_params_new(&params) : RG_ENOMEM;
    for (size_t i = 0; x && i < n * d; i++) x[i] = (rg_real)(rg_random_uniform(&random) - 0.5);
    if (status == RG_OK) status = rg_heads_init(&heads, params, d, count, true, NULL);
    if (status == RG_OK) status = rg_params_build(params, 1);
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = pass(t, &heads, x, n, d);
    if (status == RG_OK) *out = (cost){ rg_tape_get_cost(t).flops, (double)rg_tape_get_cost(t).bytes, INFINITY };
    rg_tape_free(t);
    t = NULL;
    config.dry = false;
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    for (int64_t i = 0; status == RG_OK && repeat && i <= 5 * repeat; i++) { /* the first finds memory */
        rg_tape_reset(t, 0);
        const double begin = rg_cpu_now();
        status = pass(t, &heads, x, n, d);
        if (i) out->seconds = fmin(out->seconds, rg_cpu_now() - begin);
    }
    rg_tape_free(t);
    rg_params_free(params);
    rg_free(x);
    return status;
}

rg_status table1_heads(bool *holds, FILE *out, const size_t *heads, size_t count, size_t n, size_t d, int64_t repeat)
{
    cost first = { 0 };
    *holds = true;
    fprintf(out, "\nself-attention with projections by heads, n = %zu, d = %zu (theory: as much as one head)\n", n, d);
    fprintf(out, "  %5s %6s %10s %8s %10s %8s\n", "heads", "width", "MFLOP", "times", repeat ? "ms" : "", repeat ? "times" : "");
    for (size_t i = 0; i < count; i++) {
        cost c = { 0 };
        if (!heads[i] || d % heads[i])
            return rg_fail(RG_EINVAL, "--heads %zu: the width %zu is not a multiple of it", heads[i], d);
        RG_TRY(measure(&c, heads[i], n, d, repeat));
        if (!i) first = c;
        const double times = c.flops / first.flops;
        fprintf(out, "  %5zu %6zu %10.2f %8.3f", heads[i], d / heads[i], 1e-6 * c.flops, times);
        if (repeat) fprintf(out, " %10.3f %8.2f", 1e3 * c.seconds, c.seconds / first.seconds);
        fprintf(out, "\n");
        *holds = *holds && fabs(times - 1) <= 0.1;
    }
    fprintf(out, "  operations within a tenth of %zu head%s: %s\n", heads[0], heads[0] == 1 ? "" : "s",
            *holds ? "holds" : "does not hold");
    return RG_OK;
}
