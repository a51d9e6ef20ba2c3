/* The Turing machine: what each step of addressing does at its extremes, what writing leaves, that the fused step is
 * the chain of ordinary ops, and that a machine learns, is saved and goes on. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "attention/memory_fused.h"
#include "attention/memory.h"
#include "regard/autograd.h"
#include "tasks/memory_task.h"
#include "tensor/kernels.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ one step of one machine */

enum { N = 8, W = 3, H = 2, READ = 0, WRITE = 1, STATE = 48 }; /* memory 3 x 8, weights 2 x 8, 3 numbers read, filled up to 48 */
static const rg_ntm_sizes small = { .rows = N, .width = W, .readers = 1, .writers = 1 };

typedef struct {
    rg_real told[64], before[STATE], after[STATE];
} bench;

#define expect_near(a, b, most) near_at(__LINE__, (double)(a), (double)(b), most)
static void near_at(int line, double a, double b, double most)
{
    if (!(fabs(a - b) <= most)) fail_msg("line %d: %.9g, not %.9g", line, a, b);
}

static const rg_real *weights(const rg_real *machine, int head) { return machine + W * N + head * N; }

/* A machine whose memory is different in every slot, whose heads stand on slots 2 and 5, and which is told to do
 * nothing: gates shut, no shift, gamma near 1, nothing erased, nothing added. */
static void prepare(bench *b)
{
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    memset(b, 0, sizeof *b);
    for (int i = 0; i < W * N; i++) b->before[i] = (rg_real)sin(1.7 * i + 0.3);
    b->before[W * N + READ * N + 2] = b->before[W * N + WRITE * N + 5] = 1;
    for (int h = 0; h < H; h++) {
        b->told[c.key + (size_t)h * W] = 1;
        b->told[c.gate + (size_t)h] = -40;
        b->told[c.gamma + (size_t)h] = -40;
        b->told[c.shift + (size_t)h * RG_NTM_SHIFTS + 1] = 60;
    }
    for (int i = 0; i < W; i++) b->told[c.erase + (size_t)i] = -40;
}

static void step(bench *b)
{
    rg_tape             *t;
    const rg_tape_config config = { .record = false };
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    assert_true(c.all <= 64);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_tensor *y =
        rg_ntm_step(t, &small, rg_constant(t, b->told, 1, c.all, NULL), rg_constant(t, b->before, 1, STATE, NULL));
    if (!y) fail_msg("%s", rg_tape_status(t) == RG_OK ? "nothing" : rg_message());
    memcpy(b->after, rg_tensor_data(y), sizeof b->after);
    rg_tape_free(t);
}

static double sum(const rg_real *x, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (double)x[i];
    return s;
}

static void expect_focus(const rg_real *w, size_t slot)
{
    for (size_t x = 0; x < N; x++)
        if (fabs((double)w[x] - (x == slot)) > 1e-5)
            fail_msg("weight of slot %zu is %g; the head should stand on %zu", x, (double)w[x], slot);
}

static void a_machine_that_is_told_nothing_stays_as_it_is(void **state)
{
    (void)state;
    bench b;
    prepare(&b);
    step(&b);
    expect_focus(weights(b.after, READ), 2);
    expect_focus(weights(b.after, WRITE), 5);
    for (int i = 0; i < W * N; i++) expect_near(b.after[i], b.before[i], 1e-6);
    for (int c = 0; c < W; c++) expect_near(b.after[W * N + H * N + c], b.before[c * N + 2], 1e-5); /* read slot 2 */
}

static void content_weights_sum_to_one_and_stand_on_the_slot_like_the_key(void **state)
{
    (void)state;
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    bench                b;
    prepare(&b);
    b.told[c.gate + READ] = 40;
    b.told[c.beta + READ] = 1; /* softplus(1) = 1.31: soft */
    for (int i = 0; i < W; i++) b.told[c.key + (size_t)i] = (rg_real)atanh(0.5 * (double)b.before[i * N + 6]);
    step(&b);
    const rg_real *w = weights(b.after, READ);
    expect_near(sum(w, N), 1, 1e-5);
    for (size_t x = 0; x < N; x++) {
        double dot = 0, length = 0, key = 0, e = 0;
        for (int i = 0; i < W; i++) {
            const double m = (double)b.before[(size_t)i * N + x], k = 0.5 * (double)b.before[i * N + 6];
            dot += m * k, length += m * m, key += k * k;
        }
        e = dot / sqrt(length * key);
        assert_true(w[x] > 0 && w[x] <= w[6]);
        expect_near((double)(w[x] / w[6]), exp(log1p(exp(1)) * (e - 1)), 1e-4); /* softmax(beta cos): only differences count */
    }
    b.told[c.beta + READ] = 2000; /* hard */
    step(&b);
    expect_focus(weights(b.after, READ), 6);
    memset(b.told + c.key, 0, W * sizeof *b.told); /* a key of nothing fits everything alike */
    step(&b);
    for (size_t x = 0; x < N; x++) expect_near(weights(b.after, READ)[x], 1.0 / N, 1e-5);
}

static void a_gate_mixes_what_fits_with_where_the_head_was(void **state)
{
    (void)state;
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    bench                b, shut, open;
    prepare(&b);
    b.told[c.beta + READ] = 3;
    shut = open = b;
    open.told[c.gate + READ] = 40;
    b.told[c.gate + READ] = (rg_real)-log(3); /* g = 1/4 */
    step(&shut);
    step(&open);
    step(&b);
    expect_focus(weights(shut.after, READ), 2);
    assert_true(weights(open.after, READ)[2] < (rg_real)0.9);
    for (size_t x = 0; x < N; x++)
        expect_near(weights(b.after, READ)[x], 0.25 * (double)weights(open.after, READ)[x] + 0.75 * (x == 2), 1e-4);
}

static void a_shift_moves_a_head_around_the_ring(void **state)
{
    (void)state;
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    bench                b;
    for (size_t from = 0; from < N; from++)
        for (size_t s = 0; s < RG_NTM_SHIFTS; s++) {
            prepare(&b);
            memset(b.before + W * N, 0, N * sizeof *b.before);
            b.before[W * N + from] = 1;
            for (size_t k = 0; k < RG_NTM_SHIFTS; k++) b.told[c.shift + k] = k == s ? 60 : 0;
            step(&b);
            expect_focus(weights(b.after, READ), (from + N + s - 1) % N);
            expect_focus(weights(b.after, WRITE), 5); /* each head moves by itself */
        }
    prepare(&b); /* a third each way */
    memset(b.told + c.shift, 0, RG_NTM_SHIFTS * sizeof *b.told);
    step(&b);
    for (size_t x = 0; x < N; x++) expect_near(weights(b.after, READ)[x], x >= 1 && x <= 3 ? 1.0 / 3 : 0, 1e-5);
}

static void sharpening_raises_weights_to_a_power_and_in_the_limit_leaves_the_largest(void **state)
{
    (void)state;
    static const double  was[N] = { 0.05, 0.1, 0.35, 0.2, 0.1, 0.1, 0.05, 0.05 };
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    bench                b;
    prepare(&b);
    for (size_t x = 0; x < N; x++) b.before[W * N + x] = (rg_real)was[x];
    step(&b);
    for (size_t x = 0; x < N; x++) expect_near(weights(b.after, READ)[x], was[x], 1e-5); /* gamma = 1 */
    b.told[c.gamma + READ] = 2;
    step(&b);
    const double gamma = 1 + log1p(exp(2));
    double       all = 0;
    for (size_t x = 0; x < N; x++) all += pow(was[x], gamma);
    for (size_t x = 0; x < N; x++) expect_near(weights(b.after, READ)[x], pow(was[x], gamma) / all, 1e-4);
    b.told[c.gamma + READ] = 500;
    step(&b);
    expect_focus(weights(b.after, READ), 2);
}

static void a_head_on_one_slot_erases_and_adds_there_and_nowhere_else(void **state)
{
    (void)state;
    const rg_ntm_columns c = rg_ntm_columns_of(&small);
    bench                b;
    prepare(&b);
    b.told[c.erase] = 40;     /* all of the first number   */
    b.told[c.erase + 1] = 0;  /* half of the second        */
    b.told[c.add] = (rg_real)atanh(0.25);
    b.told[c.add + 2] = (rg_real)atanh(-0.5);
    memset(b.before + W * N, 0, N * sizeof *b.before);
    b.before[W * N + 5] = 1; /* the reader stands there too: it reads what was there before */
    step(&b);
    for (size_t x = 0; x < N; x++)
        for (size_t i = 0; i < W; i++) {
            const double was = (double)b.before[i * N + x], there[W] = { 0.25, 0.5 * was, was - 0.5 };
            expect_near(b.after[i * N + x], x == 5 ? there[i] : was, 1e-5);
        }
    for (size_t i = 0; i < W; i++) expect_near(b.after[W * N + H * N + i], b.before[i * N + 5], 1e-5);
}

static void shapes_that_do_not_fit_are_named(void **state)
{
    (void)state;
    rg_tape             *t;
    const rg_tape_config config = { .record = false };
    bench                b;
    prepare(&b);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    assert_null(rg_ntm_step(t, &small, rg_constant(t, b.told, 1, 5, NULL), rg_constant(t, b.before, 1, STATE, NULL)));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    assert_non_null(strstr(rg_message(), "told 1 x 5, machines 1 x 48"));
    rg_tape_reset(t, 0);
    assert_null(
        rg_ntm_start(t, &small, 2, rg_constant(t, b.told, N, H + 1, NULL), rg_constant(t, b.told, 1, W, NULL), 0, 0));
    assert_int_equal(rg_tape_status(t), RG_ESHAPE);
    rg_tape_free(t);
}

/* The plain ops of the chain. */
static void the_plain_ops_roll_erase_and_write_exactly(void **state)
{
    (void)state;
    static const int32_t   one_start[] = { 0, 1, 2 }, rows_start[] = { 0, 3, 7 };
    static const rg_layout ones = { .groups = 2, .start = one_start }, rows = { .groups = 2, .start = rows_start };
    const rg_real          focus[7] = { 0, 0, 1, 1, 0, 0, 0 }, ahead_and_back[6] = { 0, 0, 1, 1, 0, 0 };
    const rg_real          m[14] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 }, e[4] = { 1, 0.5, 0.25, 0 },
                  v[4] = { 1, -1, 2, -2 };
    rg_tape               *t;
    const rg_tape_config   config = { .record = false };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_reach *reach = rg_reach_groups(t, &ones, &rows);
    rg_tensor      *w = rg_constant(t, focus, 7, 1, NULL);
    const rg_tensor *moved = rg_roll(t, w, rg_constant(t, ahead_and_back, 2, 3, NULL), reach);
    for (size_t x = 0; x < 7; x++) assert_true(rg_tensor_at(moved, x, 0) == (x == 0 || x == 6 ? 1 : 0)); /* over both ends */
    const rg_tensor *less = rg_erase(t, rg_constant(t, m, 7, 2, NULL), w, rg_constant(t, e, 2, 2, NULL), reach);
    const rg_tensor *more = rg_write(t, rg_constant(t, m, 7, 2, NULL), w, rg_constant(t, v, 2, 2, NULL), reach);
    assert_int_equal(rg_tape_status(t), RG_OK);
    for (size_t x = 0; x < 7; x++)
        for (size_t i = 0; i < 2; i++) {
            const rg_real was = m[x * 2 + i];
            const size_t  machine = x < 3 ? 0 : 1;
            assert_true(rg_tensor_at(less, x, i) == (focus[x] > 0 ? was * (1 - e[machine * 2 + i]) : was));
            assert_true(rg_tensor_at(more, x, i) == (focus[x] > 0 ? was + v[machine * 2 + i] : was));
        }
    rg_tape_free(t);
}

/* Every table of kernels against the plain one; those with fused multiply-adds bit for bit. */
static void memory_kernels_agree_on_every_instruction_set(void **state)
{
    (void)state;
    enum { MOST = 131, EDGE = 99 };
    static const size_t sizes[] = { 0, 1, 3, 8, 15, 16, 17, 31, 128, 131 };
    rg_real             m[MOST], w[MOST], d[MOST], base[MOST];
    for (size_t i = 0; i < MOST; i++)
        m[i] = (rg_real)sin((double)i), w[i] = (rg_real)(0.5 + 0.5 * cos(3.0 * (double)i)),
        d[i] = (rg_real)cos(1.3 * (double)i), base[i] = (rg_real)i / 100;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s];
        rg_real      expected[4][MOST + 1], fast[4][MOST + 1];
        bool         have = false;
        for (size_t table = 0; rg_kernels_all()[table]; table++) {
            const rg_kernels *K = rg_kernels_all()[table];
            rg_real           got[4][MOST + 1], dots[3];
            for (size_t k = 0; k < 4; k++)
                for (size_t i = 0; i <= MOST; i++) got[k][i] = i < n ? base[i] : EDGE;
            K->rewrite(n, got[0], m, (rg_real)0.7, (rg_real)-0.4, w);
            K->rewrite_backward(n, got[1], got[2], &dots[0], &dots[1], d, m, (rg_real)0.7, (rg_real)-0.4, w);
            dots[2] = K->axpy_dot(n, got[3], (rg_real)0.3, d, m);
            for (size_t k = 0; k < 4; k++) assert_true(got[k][n] == EDGE); /* nothing past the end */
            for (size_t k = 0; k < 3; k++) got[k][MOST] = dots[k];
            if (table == 0) memcpy(expected, got, sizeof got);
            for (size_t k = 0; k < 4; k++)
                for (size_t i = 0; i <= MOST; i++)
                    if (i < n || (i == MOST && k < 3)) expect_near(got[k][i], expected[k][i], 2e-5);
            const bool fuses = table && strcmp(K->name, "baseline") != 0;
            for (size_t k = 0; fuses && have && k < 4; k++)
                for (size_t i = 0; i <= MOST; i++)
                    if ((i < n || (i == MOST && k < 3)) && memcmp(&fast[k][i], &got[k][i], sizeof(rg_real)) != 0)
                        fail_msg("%s: result %zu at %zu of %zu is %a, %a in the table before", K->name, k, i, n,
                                 (double)got[k][i], (double)fast[k][i]);
            if (fuses) memcpy(fast, got, sizeof got), have = true;
        }
    }
}

/* --------------------------------------------------------------------------------------------------- whole machines */

static rg_model *new_model(const char *name, const char *yaml, const rg_puzzle_config *puzzle)
{
    const rg_system      *system = rg_system_find(name);
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    const rg_sizes  sizes = { { { "features", rg_puzzle_in(puzzle) }, { "classes", rg_puzzle_out(puzzle) } } };
    rg_model             *m = NULL;
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (rg_model_new(&m, system, options, &sizes, 5) != RG_OK) fail_msg("%s: %s", yaml, rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static bool wants(void *context, const char *name) { return (void)context, strcmp(name, "heads") == 0; }
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    (void)name, (void)reach;
    size_t *steps = context;
    ++*steps;
    for (size_t h = 0; h < rg_tensor_cols(x); h++) { /* one machine after the other */
        double all = 0;
        for (size_t p = 0; p < rg_tensor_rows(x); p++) all += (double)rg_tensor_at(x, p, h);
        expect_near(all, 3, 1e-4); /* three machines, a sum of 1 each */
    }
}

static double loss_and_gradient(const rg_model *m, rg_grads *grads, const rg_puzzle_batch *b, bool watched)
{
    rg_tape             *t;
    size_t               steps = 0;
    const rg_tape_config config = { .record = true, .learn = true, .grads = grads };
    const rg_watcher     watcher = { &steps, wants, see };
    rg_grads_reset(grads);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, watched ? &watcher : NULL);
    const rg_loss loss = m->system->loss(t, m, b);
    if (rg_tape_backward(t, loss.sum) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(steps, watched ? b->steps : 0);
    const double value = (double)rg_tensor_at(loss.sum, 0, 0);
    rg_tape_free(t);
    return value;
}

static void compare(const char *yaml, const char *kind)
{
    const rg_puzzle_config puzzle = { .kind = kind, .bits = 8, .min_length = 6, .max_length = 6, .max_repeats = 2 };
    rg_model              *m = new_model("ntm", yaml, &puzzle);
    const size_t           n = rg_params_numbers(m->params);
    rg_puzzle_batch        b = { 0 };
    rg_grads              *fused, *plain;
    double                 apart = 0, size = 0;
    assert_int_equal(rg_puzzle_draw(&b, &puzzle, 1, 3, 0, 3), RG_OK);
    assert_int_equal(rg_grads_new(&fused, m->params), RG_OK);
    assert_int_equal(rg_grads_new(&plain, m->params), RG_OK);
    const double one = loss_and_gradient(m, fused, &b, false), other = loss_and_gradient(m, plain, &b, true);
    expect_near(one, other, 1e-4 * fabs(other));
    for (size_t i = 0; i < n; i++) {
        const double x = (double)rg_grads_block(fused)[i], y = (double)rg_grads_block(plain)[i];
        apart += (x - y) * (x - y);
        size += y * y;
    }
    if (!(apart <= 1e-6 * size)) fail_msg("%s: gradients of norm %g are %g apart", yaml, sqrt(size), sqrt(apart));
    rg_grads_free(fused);
    rg_grads_free(plain);
    rg_puzzle_free(&b);
    rg_model_free(m);
}

static void the_fused_step_is_the_chain_of_ordinary_ops(void **state)
{
    (void)state;
    compare("units: 100\n", "copy"); /* the machine of the paper */
    compare("controller: feed-forward\n", "repeat-copy");
    compare("units: 10\nmemory-rows: 17\nmemory-width: 5\nread-heads: 2\nwrite-heads: 3\n", "recall");
    compare("units: 10\nmemory-rows: 3\nmemory-width: 1\n", "copy");
}

static rg_tape_cost cost_of(const rg_model *m, rg_grads *grads, const rg_puzzle_batch *b, bool dry)
{
    rg_tape             *t;
    const rg_tape_config config = { .record = true, .learn = true, .grads = grads, .dry = dry };
    rg_grads_reset(grads);
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    if (rg_tape_backward(t, m->system->loss(t, m, b).sum) != RG_OK) fail_msg("%s", rg_message());
    const rg_tape_cost cost = rg_tape_get_cost(t);
    rg_tape_free(t);
    return cost;
}

static void a_dry_pass_tells_what_a_real_one_takes(void **state)
{
    (void)state;
    const rg_puzzle_config puzzle = { .kind = "copy", .bits = 8, .min_length = 10, .max_length = 10, .max_repeats = 1 };
    rg_model              *m = new_model("ntm", "units: 30\n", &puzzle);
    rg_puzzle_batch        b = { 0 };
    rg_grads              *grads;
    assert_int_equal(rg_puzzle_draw(&b, &puzzle, 1, 3, 0, 4), RG_OK);
    assert_int_equal(rg_grads_new(&grads, m->params), RG_OK);
    const rg_tape_cost dry = cost_of(m, grads, &b, true), real = cost_of(m, grads, &b, false);
    assert_true(dry.flops > 0 && dry.flops == real.flops && dry.depth == real.depth && dry.ops == real.ops);
    if (dry.bytes < real.bytes * 9 / 10 || dry.bytes > real.bytes * 3 / 2)
        fail_msg("a dry pass says %zu bytes, a real one took %zu", dry.bytes, real.bytes);
    rg_grads_free(grads);
    rg_puzzle_free(&b);
    rg_model_free(m);
}

static void wrong_sizes_of_a_machine_are_refused(void **state)
{
    (void)state;
    const char          *bad[] = { "units: 0",      "memory-rows: 2", "memory-width: 0",
                                   "read-heads: 0", "write-heads: 0", "read-heads: 60\nwrite-heads: 5" };
    const rg_system     *system = rg_system_find("ntm");
    const rg_sizes sizes = { { { "features", 4 }, { "classes", 2 } } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        void                 *options = rg_alloc_zero(system->options_bytes);
        const rg_option_group group = { .rows = system->options, .values = options };
        rg_model             *m = NULL;
        assert_int_equal(rg_options_init(system->options, options), RG_OK);
        rg_status status = rg_options_read_yaml(&group, 1, bad[i], strlen(bad[i]), "test", true);
        if (status == RG_OK) status = rg_model_new(&m, system, options, &sizes, 1);
        assert_int_equal(status, RG_EINVAL);
        assert_null(m);
        rg_options_fini(system->options, options);
        rg_free(options);
    }
}

/* --------------------------------------------------------------------------------------------------------- learning */

static char folder[] = "/tmp/test_ntm.XXXXXX";

/* A file there. */
static const char *in_folder(char *out, size_t room, const char *name)
{
    snprintf(out, room, "%s/%s", folder, name);
    return out;
}

typedef struct {
    double   first, last;
    uint64_t stop_after, step;
} curve;

static void on_log(void *context, const rg_train_log *log)
{
    curve *c = context;
    if (log->event != RG_TRAIN_LOG) return;
    if (c->first == 0) c->first = log->loss;
    c->last = log->loss;
    c->step = log->step;
}
static bool on_stop(void *context) { const curve *c = context; return c->stop_after && c->step >= c->stop_after; }

static rg_status learn(rg_model **out, curve *c, const char *name, const char *system_yaml, const char *yaml)
{
    const rg_train_report report = { .context = c, .log = on_log, .stop = on_stop };
    rg_recipe            *recipe;
    char                 *all = rg_format("type: %s\n%s", name, system_yaml);
    if (rg_recipe_new(&recipe, all) != RG_OK) fail_msg("%s", rg_message());
    rg_free(all);
    rg_status status = rg_recipe_read(recipe, yaml, false);
    const rg_training training = rg_recipe_training(recipe, &report);
    if (status == RG_OK) status = rg_learn(out, NULL, &training);
    rg_recipe_free(recipe);
    return status;
}

#define TINY "units: 20\nmemory-rows: 10\nmemory-width: 6\n"
#define QUICK "model: \"\"\nbits: 3\nmax-length: 3\nvalid-freq: 0\nmini-batch: 8\noptimizer: adam\nlearn-rate: 0.01\n" \
              "beta1: -1\nclip-norm: 5\ndisp-freq: 20\ncpu-threads: 1\n"

static void training_lowers_the_loss_of_every_puzzle_and_machine(void **state)
{
    (void)state;
    const struct {
        const char *name, *system, *task;
        double      most; /* of the loss at first */
    } runs[] = {
        { "ntm", TINY, QUICK "task: copy\nsequences: 3200\n", 0.5 },
        { "ntm", TINY "controller: feed-forward\n", QUICK "task: copy\nsequences: 3200\n", 0.5 },
        { "ntm", TINY "read-heads: 2\nwrite-heads: 2\n", QUICK "task: repeat-copy\nmax-repeats: 2\nsequences: 2400\n",
          0.8 },
        { "ntm", TINY, QUICK "task: recall\nmin-length: 2\nsequences: 800\n", 0.99 },
        { "lstm-copy", "layers: 1\nunits: 32\n", QUICK "task: copy\nsequences: 3200\n", 0.5 },
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        curve     c = { 0 };
        rg_model *m = NULL;
        if (learn(&m, &c, runs[i].name, runs[i].system, runs[i].task) != RG_OK)
            fail_msg("run %zu: %s", i, rg_message());
        if (!(c.last < runs[i].most * c.first)) fail_msg("run %zu: loss went from %g to %g", i, c.first, c.last);
        rg_model_free(m);
    }
}

static void expect_same(const rg_model *a, const rg_model *b)
{
    assert_int_equal(rg_params_count(a->params), rg_params_count(b->params));
    for (size_t i = 0; i < rg_params_count(a->params); i++) {
        const rg_param *p = rg_params_at(a->params, i), *q = rg_params_at(b->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s differs", rg_param_name(p));
    }
}

#define SAVED "bits: 3\nmax-length: 3\nvalid-freq: 0\nsequences: 60\ndisp-freq: 10\nsave-freq: 7\ncpu-threads: 1\n"

static rg_status learn_to_file(rg_model **out, curve *c, const char *file, const char *more)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml, SAVED "model: %s/%s\n%s", folder, file, more);
    return learn(out, c, "ntm", TINY, yaml);
}

static void a_stopped_run_goes_on_bit_for_bit_and_its_file_is_the_same_model(void **state)
{
    (void)state;
    rg_model           *straight = NULL, *resumed = NULL, *loaded = NULL, *none = NULL;
    curve               c = { 0 }, stopping = { .stop_after = 30 };
    rg_memory_judgement of_straight, of_loaded;
    char                path[256];
    in_folder(path, sizeof path, "b.safetensors");
    assert_int_equal(learn_to_file(&straight, &c, "a.safetensors", ""), RG_OK);
    assert_int_equal(learn_to_file(&none, &stopping, "b.safetensors", ""), RG_ESTOP);
    assert_null(none);
    if (learn_to_file(&resumed, &c, "b.safetensors", "") != RG_OK) fail_msg("%s", rg_message());
    expect_same(straight, resumed);
    if (rg_model_load(&loaded, path, &rg_task_memory) != RG_OK) fail_msg("%s", rg_message());
    expect_same(straight, loaded);
    const rg_puzzle_config puzzle = { .kind = "copy", .bits = 3, .min_length = 1, .max_length = 3, .max_repeats = 1 };
    assert_int_equal(rg_memory_judge(&of_straight, straight, &puzzle, 5, 4, 1, NULL, NULL), RG_OK);
    assert_int_equal(rg_memory_judge(&of_loaded, loaded, &puzzle, 5, 4, 1, NULL, NULL), RG_OK);
    assert_true(of_straight.bits == of_loaded.bits && of_straight.wrong == of_loaded.wrong && of_straight.bits > 0);
    assert_int_equal(rg_model_load(&none, path, &rg_task_graph), RG_EMATCH);
    rg_model_free(straight);
    rg_model_free(resumed);
    rg_model_free(loaded);
}

static void a_checkpoint_is_not_resumed_with_another_puzzle_or_coding(void **state)
{
    (void)state;
    const struct {
        const char *more, *words;
    } others[] = { { "coding: paper\n", "--task copy --coding paper" },
                   { "task: recall\nmin-length: 2\n", "--task recall" } };
    curve     c = { .stop_after = 30 }, after = { 0 };
    rg_model *m = NULL;
    assert_int_equal(learn_to_file(&m, &c, "c.safetensors", ""), RG_ESTOP);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(learn_to_file(&m, &after, "c.safetensors", others[i].more), RG_EMATCH);
        assert_null(m);
        if (!strstr(rg_message(), others[i].words) || !strstr(rg_message(), "c.safetensors") ||
            !strstr(rg_message(), "answer-mark"))
            fail_msg("%s", rg_message());
    }
    assert_int_equal(learn_to_file(&m, &after, "c.safetensors", ""), RG_OK);
    rg_model_free(m);
}

static void the_coding_is_stored_and_files_that_say_nothing_of_it_keep_the_papers(void **state)
{
    (void)state;
    const char       *old = "task: recall\nbits: 6\nmin-length: 2\nmax-length: 6\nmax-repeats: 10\n";
    curve             c = { 0 };
    rg_model         *m = NULL, *loaded = NULL;
    rg_state         *file;
    rg_memory_assets  a = { 0 };
    rg_sizes          sizes = { { { "features", 8 }, { "classes", 6 } } };
    char              path[256];
    assert_int_equal(learn_to_file(&m, &c, "d.safetensors", ""), RG_OK);
    if (rg_model_load(&loaded, in_folder(path, sizeof path, "d.safetensors"), &rg_task_memory) != RG_OK)
        fail_msg("%s", rg_message());
    const rg_puzzle_config learned = rg_memory_puzzle(&((const rg_memory_assets *)loaded->assets)->options);
    assert_true(learned.answer_mark && learned.zero_vectors > 0);
    assert_int_equal(rg_state_new(&file), RG_OK);
    assert_int_equal(rg_state_put_text(file, "memory.settings", old), RG_OK);
    if (rg_task_memory.adopt(&a, &sizes, file) != RG_OK) fail_msg("%s", rg_message());
    assert_true(!rg_memory_puzzle(&a.options).answer_mark && rg_memory_puzzle(&a.options).zero_vectors == 0 &&
                a.options.bits == 6);
    rg_task_memory.drop(&a);
    rg_state_free(file);
    rg_model_free(loaded);
    rg_model_free(m);
}

/* What the log says of the learning rate, by update. */
typedef struct {
    double at[64];
} rates;

static void note_rate(void *context, const rg_train_log *log)
{
    if (log->event == RG_TRAIN_LOG && log->step < 64) ((rates *)context)->at[log->step] = log->rate;
}

static void the_learning_rate_holds_before_it_falls(void **state)
{
    (void)state;
    const struct {
        const char *more;
        double      at_20, at_30, at_40; /* of the highest rate */
    } runs[] = { { "lr-hold: 80\n", 1, 0.5, 0.05 }, { "lr-hold: 0\n", 0.525, 0.275, 0.025 }, { "", 1, 1, 1 } };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const rg_train_report report = { .context = &(rates){ { 0 } }, .log = note_rate };
        const rates          *seen = report.context;
        rg_recipe            *recipe;
        char                  yaml[512];
        snprintf(yaml, sizeof yaml, QUICK "mini-batch: 4\ndisp-freq: 1\nsequences: 160\nlearn-rate: 0.001\n%s",
                 runs[i].more);
        assert_int_equal(rg_recipe_new(&recipe, "type: ntm\n" TINY), RG_OK);
        assert_int_equal(rg_recipe_read(recipe, yaml, false), RG_OK);
        const rg_training training = rg_recipe_training(recipe, &report);
        assert_int_equal(rg_learn(NULL, NULL, &training), RG_OK);
        expect_near(seen->at[20] / 0.001, runs[i].at_20, 0.03);
        expect_near(seen->at[30] / 0.001, runs[i].at_30, 0.03);
        expect_near(seen->at[40] / 0.001, runs[i].at_40, 0.06);
        rg_recipe_free(recipe);
    }
}

/* A model that says 0 to everything loses what holds a 1; it does not lose a sequence of zeros alone. */
static void a_sequence_with_a_wrong_bit_counts_as_lost(void **state)
{
    (void)state;
    rg_puzzle_config    puzzle = { .kind = "copy", .bits = 3, .min_length = 4, .max_length = 4, .max_repeats = 1 };
    rg_model           *m = new_model("ntm", TINY, &puzzle);
    rg_memory_judgement j;
    rg_param           *w = rg_params_find(m->params, "output.w"), *b = rg_params_find(m->params, "output.b");
    memset(rg_param_data(w), 0, rg_param_rows(w) * rg_param_cols(w) * sizeof(rg_real));
    for (size_t i = 0; i < 3; i++) rg_param_data(b)[i] = -1;
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
    assert_int_equal(rg_memory_judge(&j, m, &puzzle, 4, 200, 1, NULL, NULL), RG_OK);
    assert_true(j.sequences == 200 && j.with_zeros > 40 && j.with_zeros < 130 && j.zeros_lost == j.with_zeros);
    expect_near(j.lost, 1, 0);
    expect_near(j.wrong, 0.5, 0.1);
    puzzle.zero_run = 4;
    assert_int_equal(rg_memory_judge(&j, m, &puzzle, 4, 50, 1, NULL, NULL), RG_OK);
    assert_true(j.with_zeros == 50 && j.zeros_lost == 0 && j.lost == 0 && j.wrong == 0);
    rg_model_free(m);
}

static void wrong_settings_of_learning_are_refused(void **state)
{
    (void)state;
    const char *bad[] = { QUICK "sequences: 0\n",     QUICK "mini-batch: 0\n", QUICK "task: recall\n",
                          QUICK "min-length: 9\n",    QUICK "clip-norm: -1\n", QUICK "learn-rate: -1\n",
                          QUICK "optimizer: newton\n" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        curve     c = { 0 };
        rg_model *m = NULL;
        if (learn(&m, &c, "ntm", TINY, bad[i]) != RG_EINVAL) fail_msg("accepted: %s", bad[i]);
        assert_null(m);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_that_is_told_nothing_stays_as_it_is),
        cmocka_unit_test(content_weights_sum_to_one_and_stand_on_the_slot_like_the_key),
        cmocka_unit_test(a_gate_mixes_what_fits_with_where_the_head_was),
        cmocka_unit_test(a_shift_moves_a_head_around_the_ring),
        cmocka_unit_test(sharpening_raises_weights_to_a_power_and_in_the_limit_leaves_the_largest),
        cmocka_unit_test(a_head_on_one_slot_erases_and_adds_there_and_nowhere_else),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(the_plain_ops_roll_erase_and_write_exactly),
        cmocka_unit_test(memory_kernels_agree_on_every_instruction_set),
        cmocka_unit_test(the_fused_step_is_the_chain_of_ordinary_ops),
        cmocka_unit_test(a_dry_pass_tells_what_a_real_one_takes),
        cmocka_unit_test(wrong_sizes_of_a_machine_are_refused),
        cmocka_unit_test(training_lowers_the_loss_of_every_puzzle_and_machine),
        cmocka_unit_test(a_stopped_run_goes_on_bit_for_bit_and_its_file_is_the_same_model),
        cmocka_unit_test(a_checkpoint_is_not_resumed_with_another_puzzle_or_coding),
        cmocka_unit_test(the_coding_is_stored_and_files_that_say_nothing_of_it_keep_the_papers),
        cmocka_unit_test(the_learning_rate_holds_before_it_falls),
        cmocka_unit_test(a_sequence_with_a_wrong_bit_counts_as_lost),
        cmocka_unit_test(wrong_settings_of_learning_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
