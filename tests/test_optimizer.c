/* test_optimizer.c - optimisers against PyTorch's numbers, the pass against plain loops, schedules against their
 * formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "train/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal_or_say((call), #call)
static void assert_int_equal_or_say(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

/* -------------------------------------------------------------------------------------------------- references */

enum { N = 7 };

static void read_seven(FILE *f, const char *tag, float *x)
{
    char word[32];
    assert_int_equal(fscanf(f, "%31s", word), 1);
    assert_string_equal(word, tag);
    for (int i = 0; i < N; i++) assert_int_equal(fscanf(f, "%f", &x[i]), 1);
}

static void one_case(FILE *f)
{
    char                kind[32];
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    double              rate;
    assert_int_equal(fscanf(f, "%31s %lf %lf %lf %lf %lf %lf %lf", kind, &c.a, &c.b, &c.eps, &c.decay, &c.clip_norm,
                            &c.start, &rate),
                     8);
    c.name = kind;
    rg_params *params;
    OK(rg_params_new(&params));
    rg_param *w = rg_params_add(params, "w", RG_VECTOR, 1, N, RG_INIT_ZERO, 0);
    OK(rg_params_build(params, 1));
    read_seven(f, "w", rg_param_data(w));
    rg_optimizer *opt;
    rg_grads     *grads;
    OK(rg_optimizer_new(&opt, params, &c));
    OK(rg_grads_new(&grads, params));
    for (int step = 0; step < 5; step++) {
        float want[N];
        read_seven(f, "g", grads->block);
        read_seven(f, "r", want);
        for (int i = 0; i < N; i++) grads->block[i] *= 3; /* a sum over three labels */
        grads->written[0] = true;
        OK(rg_optimizer_step(NULL, opt, &grads, 1, 3, rate, NULL));
        for (int i = 0; i < N; i++)
            if (fabsf(want[i] - w->data[i]) > 3e-6f * (1 + fabsf(want[i])))
                fail_msg("%s step %d number %d: %.9g, PyTorch %.9g", kind, step + 1, i, (double)w->data[i],
                         (double)want[i]);
    }
    rg_grads_free(grads);
    rg_optimizer_free(opt);
    rg_params_free(params);
}

static void five_steps_of_every_optimiser_equal_pytorch(void **state)
{
    (void)state;
    FILE *f = fopen(SOURCE_DIR "/tests/reference/optimizers.txt", "r");
    assert_non_null(f);
    char   word[256];
    size_t cases = 0;
    assert_non_null(fgets(word, sizeof word, f));
    for (; fscanf(f, "%31s", word) == 1; cases++) {
        assert_string_equal(word, "case");
        one_case(f);
    }
    fclose(f);
    assert_true(cases >= 11);
}

/* ---------------------------------------------------------------------------------------------- a set of shapes */

typedef struct model {
    rg_params    *params;
    rg_optimizer *opt;
    rg_grads     *grads[3];
} model;

/* Odd sizes, every kind, one wider than a piece, one entry frozen. */
static void open_model(model *m, const rg_optimizer_config *config)
{
    OK(rg_params_new(&m->params));
    rg_params_add(m->params, "a", RG_WEIGHT, 37, 53, RG_INIT_GLOROT, 1);
    rg_params_add(m->params, "b", RG_VECTOR, 1, 53, RG_INIT_ZERO, 0);
    rg_params_add(m->params, "wide", RG_WEIGHT, 33, 1100, RG_INIT_GLOROT, 1);
    rg_params_add(m->params, "table", RG_TABLE, 101, 9, RG_INIT_NORMAL, 1);
    rg_params_add(m->params, "tied", RG_TIED, 65, 31, RG_INIT_NORMAL, 1);
    rg_params_add(m->params, "still", RG_WEIGHT, 16, 16, RG_INIT_NORMAL, 1);
    rg_params_add(m->params, "kept", RG_KEPT, 1, 5, RG_INIT_ONE, 0);
    rg_params_add(m->params, "large", RG_WEIGHT, 512, 256, RG_INIT_GLOROT, 1);
    rg_params_add(m->params, "vector", RG_VECTOR, 1, 40000, RG_INIT_NORMAL, 1);
    rg_params_freeze(m->params, "still", true);
    OK(rg_params_build(m->params, 7));
    for (int k = 0; k < 3; k++) OK(rg_grads_new(&m->grads[k], m->params));
    OK(rg_optimizer_new(&m->opt, m->params, config));
}

static void close_model(model *m)
{
    rg_optimizer_free(m->opt);
    for (int k = 0; k < 3; k++) rg_grads_free(m->grads[k]);
    rg_params_free(m->params);
}

/* Random gradients; worker k wrote no entry whose number it divides. */
static void draw_gradients(model *m, uint64_t step)
{
    for (size_t k = 0; k < 3; k++) {
        rg_random random = rg_random_new(step, k);
        for (size_t i = 0; i < m->params->numbers; i++) m->grads[k]->block[i] = (float)rg_random_normal(&random);
        for (size_t i = 0; i < m->params->count; i++) m->grads[k]->written[i] = i == 0 || i % (k + 2) != 0;
    }
}

static bool same_numbers(const rg_params *a, const rg_params *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (memcmp(a->entry[i]->data, b->entry[i]->data, a->entry[i]->rows * a->entry[i]->cols * sizeof(float)) != 0)
            return false;
    return true;
}

static void expect_fresh_packs(rg_params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        const rg_param *e = params->entry[i];
        const rg_pack  *packs[2] = { &e->forward, &e->transposed };
        for (int p = 0; p < 2; p++) {
            if (!packs[p]->data) continue;
            size_t n = rg_pack_size(packs[p]->K, packs[p]->N) * sizeof(float);
            float *was = malloc(n);
            memcpy(was, packs[p]->data, n);
            OK(rg_params_repack(params, NULL));
            if (memcmp(was, packs[p]->data, n) != 0)
                fail_msg("%s: the %s pack is not that of its numbers", e->name, p ? "transposed" : "forward");
            free(was);
        }
    }
}

static void every_optimiser_leaves_packs_as_if_packed_afresh(void **state)
{
    (void)state;
    for (const rg_optimizer_kind *k = rg_optimizer_kinds(); k->name; k++)
        for (int stream = 0; stream < 2; stream++) {
            rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
            c.name = k->name;
            model m;
            open_model(&m, &c);
            m.opt->stream = stream;
            for (uint64_t step = 0; step < 2; step++) {
                draw_gradients(&m, step);
                OK(rg_optimizer_step(NULL, m.opt, m.grads, 3, 10, 0.01, NULL));
            }
            expect_fresh_packs(m.params);
            close_model(&m);
        }
}

static void the_size_of_the_team_changes_no_bit(void **state)
{
    (void)state;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.clip_norm = 0.5;
    c.smoothing = 1e-3;
    model one, many;
    open_model(&one, &c);
    open_model(&many, &c);
    rg_team *team;
    OK(rg_team_new(&team, 3));
    for (uint64_t step = 0; step < 4; step++) {
        rg_step_report r1, r3;
        draw_gradients(&one, step);
        draw_gradients(&many, step);
        OK(rg_optimizer_step(&r1, one.opt, one.grads, 3, 11, 0.01, NULL));
        OK(rg_optimizer_step(&r3, many.opt, many.grads, 3, 11, 0.01, team));
        assert_true(r1.norm == r3.norm && r1.clipped && r3.clipped);
    }
    assert_true(same_numbers(one.params, many.params));
    OK(rg_optimizer_swap(one.opt, NULL));
    OK(rg_optimizer_swap(many.opt, team));
    assert_true(same_numbers(one.params, many.params));
    expect_fresh_packs(many.params);
    rg_team_free(team);
    close_model(&one);
    close_model(&many);
}

static void what_a_worker_did_not_write_counts_as_zero(void **state)
{
    (void)state;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    model               sparse, zeros;
    open_model(&sparse, &c);
    open_model(&zeros, &c);
    for (uint64_t step = 0; step < 3; step++) {
        draw_gradients(&sparse, step);
        draw_gradients(&zeros, step);
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < zeros.params->count; i++) {
                const rg_param *e = zeros.params->entry[i];
                if (zeros.grads[k]->written[i]) continue;
                memset(zeros.grads[k]->block + e->offset, 0, e->rows * e->cols * sizeof(float));
                zeros.grads[k]->written[i] = true;
            }
        OK(rg_optimizer_step(NULL, sparse.opt, sparse.grads, 3, 5, 0.01, NULL));
        OK(rg_optimizer_step(NULL, zeros.opt, zeros.grads, 3, 5, 0.01, NULL));
    }
    assert_true(same_numbers(sparse.params, zeros.params));
    close_model(&sparse);
    close_model(&zeros);
}

static void marks_of_entries_are_obeyed(void **state)
{
    (void)state;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.name = "sgd";
    model m, before;
    open_model(&m, &c);
    open_model(&before, &c);
    rg_params_rate(m.params, "b", 0.5);
    rg_params_decay(m.params, "table", 0.25);
    draw_gradients(&m, 1);
    for (size_t i = 0; i < m.params->count; i++) m.grads[0]->written[i] = true;
    OK(rg_optimizer_step(NULL, m.opt, m.grads, 1, 2, 0.125, NULL));
    const float    *g = m.grads[0]->block;
    const rg_param *b = rg_params_find(m.params, "b"), *table = rg_params_find(m.params, "table");
    const rg_param *old = rg_params_find(before.params, "table");
    for (size_t i = 0; i < 53; i++) assert_float_equal(b->data[i], -0.5f * 0.125f * 0.5f * g[b->offset + i], 1e-7);
    for (size_t i = 0; i < 101 * 9; i++)
        assert_float_equal(table->data[i], old->data[i] - 0.125f * (0.5f * g[table->offset + i] + 0.25f * old->data[i]),
                           1e-6);
    const char *const still[] = { "still", "kept" };
    for (int k = 0; k < 2; k++) {
        const rg_param *e = rg_params_find(m.params, still[k]);
        assert_memory_equal(e->data, rg_params_find(before.params, still[k])->data, e->rows * e->cols * sizeof(float));
    }
    close_model(&m);
    close_model(&before);
}

static void clipping_scales_the_norm_and_cuts_values(void **state)
{
    (void)state;
    rg_params *params;
    OK(rg_params_new(&params));
    rg_param *w = rg_params_add(params, "w", RG_VECTOR, 1, 2, RG_INIT_ZERO, 0);
    OK(rg_params_build(params, 1));
    rg_grads *g;
    OK(rg_grads_new(&g, params));
    g->block[0] = 6, g->block[1] = 8, g->written[0] = true;
    for (int value = 0; value < 2; value++) {
        rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
        c.name = "sgd";
        if (value) c.clip_value = 3.5;
        else c.clip_norm = 1;
        rg_optimizer  *opt;
        rg_step_report report;
        OK(rg_optimizer_new(&opt, params, &c));
        w->data[0] = w->data[1] = 0;
        OK(rg_optimizer_step(&report, opt, &g, 1, 2, 1, NULL));
        assert_float_equal(report.norm, 5, 1e-6);
        assert_float_equal(w->data[0], (value ? -3.0f : -0.6f), 1e-6);
        assert_float_equal(w->data[1], (value ? -3.5f : -0.8f), 1e-6);
        rg_optimizer_free(opt);
    }
    rg_grads_free(g);
    rg_params_free(params);
}

static void a_gradient_that_is_not_finite_changes_nothing_and_is_named(void **state)
{
    (void)state;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    model               m, before;
    open_model(&m, &c);
    open_model(&before, &c);
    draw_gradients(&m, 1);
    const rg_param *wide = rg_params_find(m.params, "wide");
    m.grads[0]->block[wide->offset + 7777] = (float)NAN;
    m.grads[0]->written[wide->index] = true;
    assert_int_equal(rg_optimizer_step(NULL, m.opt, m.grads, 3, 4, 0.1, NULL), RG_ENUMBER);
    assert_non_null(strstr(rg_message(), "'wide'"));
    assert_true(same_numbers(m.params, before.params));
    assert_int_equal(rg_optimizer_steps(m.opt), 0);
    assert_int_equal(rg_optimizer_step(NULL, m.opt, m.grads, 3, 0, 0.1, NULL), RG_EINVAL);
    close_model(&m);
    close_model(&before);
}

static void smoothed_parameters_follow_and_change_places(void **state)
{
    (void)state;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.smoothing = 0.1;
    model m;
    open_model(&m, &c);
    const rg_param *a = rg_params_find(m.params, "a");
    double          want = (double)a->data[5];
    for (uint64_t step = 1; step <= 20; step++) {
        draw_gradients(&m, step);
        OK(rg_optimizer_step(NULL, m.opt, m.grads, 3, 5, 0.05, NULL));
        want += (1 - fmin(0.9, (double)(step + 1) / (double)(step + 10))) * ((double)a->data[5] - want);
    }
    float learned = a->data[5];
    OK(rg_optimizer_swap(m.opt, NULL));
    assert_float_equal(a->data[5], want, 1e-5);
    OK(rg_optimizer_swap(m.opt, NULL));
    assert_true(a->data[5] == learned);
    close_model(&m);
}

/* Every instruction set gives the bits of plain loops. */
static void fast_loops_equal_plain_ones(void **state)
{
    (void)state;
    enum { LONG = 1000, ROWS = 35, COLS = 53, K = 64 };
    static float grads[2][LONG], w[2][LONG], m[2][LONG], v[2][LONG], d[2][LONG], panels[2][K * 64];
    rg_random random = rg_random_new(3, 3);
    for (const rg_kernels *const *k = rg_kernels_all(); *k; k++) {
        const rg_optimise *loops[2] = { rg_optimise_find("plain"), rg_optimise_find((*k)->name) };
        for (int rule = 0; rule <= RG_RULE_GRAVES; rule++) {
            for (int i = 0; i < LONG; i++) {
                for (int g = 0; g < 2; g++) grads[g][i] = (float)rg_random_normal(&random);
                w[0][i] = w[1][i] = (float)rg_random_normal(&random);
                m[0][i] = m[1][i] = d[0][i] = d[1][i] = 0.1f * (float)rg_random_uniform(&random);
                v[0][i] = v[1][i] = (float)rg_random_uniform(&random) + 0.1f;
            }
            const float *const blocks[2] = { grads[0], grads[1] };
            for (int side = 0; side < 2; side++) {
                rg_update u = { .rule = (rg_rule)rule,
                                .w = w[side],
                                .m = m[side],
                                .v = v[side],
                                .d = d[side],
                                .scale = 0.3f,
                                .limit = 0.4f,
                                .decay = 0.01f,
                                .keep = 0.99f,
                                .rate = 0.1f,
                                .a = 0.9f,
                                .b = 0.95f,
                                .eps = 1e-3f,
                                .rate1 = 0.2f,
                                .rate2 = 1.5f };
                loops[side]->update(&u, blocks, 2, 3, LONG - 5);
            }
            assert_memory_equal(w[0], w[1], sizeof w[0]);
            assert_memory_equal(m[0], m[1], sizeof m[0]);
            assert_memory_equal(v[0], v[1], sizeof v[0]);
            assert_memory_equal(d[0], d[1], sizeof d[0]);
        }
        const float *const blocks[2] = { grads[0], grads[1] };
        assert_float_equal(loops[0]->squares(blocks, 2, 1, LONG - 3), loops[1]->squares(blocks, 2, 1, LONG - 3), 1e-6);
        for (int way = 0; way < 2; way++)
            for (int stream = 0; stream < 2; stream++) {
                memset(panels, 0, sizeof panels);
                float       *room[2] = { (float *)(((uintptr_t)panels[0] + 63) / 64 * 64),
                                         (float *)(((uintptr_t)panels[1] + 63) / 64 * 64) };
                static float matrix[ROWS * COLS];
                for (int i = 0; i < ROWS * COLS; i++) matrix[i] = (float)i + 1;
                for (int side = 0; side < 2; side++)
                    (way ? loops[side]->pack_transposed : loops[side]->pack)(room[side], way ? COLS : ROWS, matrix,
                                                                             COLS, ROWS, COLS, stream);
                assert_memory_equal(room[0], room[1], (way ? 48 * COLS : 64 * ROWS) * sizeof(float));
            }
    }
}

/* ----------------------------------------------------------------------------------------------------- schedules */

static void schedules_follow_their_formulas(void **state)
{
    (void)state;
    const struct { rg_schedule s; uint64_t step; double want;
    } rows[] = {
        { { .name = "constant", .rate = 0.5 }, 1, 0.5 },
        { { .name = "constant", .rate = 0.5, .warmup = 10 }, 4, 0.2 },
        { { .name = "transformer", .rate = 1, .warmup = 4000, .width = 512 }, 1, 1.746928107e-7 },
        { { .name = "transformer", .rate = 1, .warmup = 4000, .width = 512 }, 4000, 6.987712430e-4 },
        { { .name = "transformer", .rate = 2, .warmup = 4000, .width = 512 }, 16000, 6.987712430e-4 },
        { { .name = "inverse-sqrt", .rate = 3e-4, .warmup = 100, .start = 400 }, 50, 1.5e-4 },
        { { .name = "inverse-sqrt", .rate = 3e-4, .warmup = 100, .start = 400 }, 400, 3e-4 },
        { { .name = "inverse-sqrt", .rate = 3e-4, .warmup = 100, .start = 400 }, 1600, 1.5e-4 },
        { { .name = "exponential", .rate = 1, .decay = 0.5, .every = 10 }, 20, 0.25 },
        { { .name = "step", .rate = 1, .decay = 0.5, .every = 10, .start = 50 }, 50, 1 },
        { { .name = "step", .rate = 1, .decay = 0.5, .every = 10, .start = 50 }, 51, 0.5 },
        { { .name = "step", .rate = 1, .decay = 0.5, .every = 10, .start = 50 }, 60, 0.5 },
        { { .name = "step", .rate = 1, .decay = 0.5, .every = 10, .start = 50 }, 61, 0.25 },
        { { .name = "step", .rate = 1, .decay = 0.5, .every = 1, .least = 0.1 }, 90, 0.1 },
        { { .name = "cosine", .rate = 1, .every = 100, .least = 0.2 }, 50, 0.6 },
        { { .name = "cosine", .rate = 1, .every = 100, .least = 0.2 }, 500, 0.2 },
        { { .name = "linear", .rate = 1, .every = 100 }, 75, 0.25 },
        { { .name = "cosine", .rate = 1, .least = 0.2, .part = 0.5 }, 7, 0.6 }, /* by the progress of the run */
        { { .name = "linear", .rate = 1, .part = 0.75 }, 7, 0.25 },
        { { .name = "epochs", .rate = 1, .decay = 0.5, .start = 4 }, 4, 1 }, /* the step is the epoch */
        { { .name = "epochs", .rate = 1, .decay = 0.5, .start = 4 }, 6, 0.25 },
        { { .name = "constant", .rate = 1, .end = 100, .cooldown = 20 }, 80, 1 },
        { { .name = "constant", .rate = 1, .end = 10, .cooldown = 20 },
          6,
          0.5 }, /* longer than all: down from the first step */
        { { .name = "constant", .rate = 1, .end = 100, .cooldown = 20 }, 91, 0.5 },
        { { .name = "constant", .rate = 1, .end = 100, .cooldown = 20 }, 100, 0.05 },
        { { .name = "inverse-sqrt", .rate = 3e-4, .warmup = 100, .start = 400, .end = 1700, .cooldown = 202 },
          1600,
          0.75e-4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(rg_schedule_check(&rows[i].s));
        double rate = rg_schedule_rate(&rows[i].s, rows[i].step);
        if (fabs(rate - rows[i].want) > 1e-9 * rows[i].want)
            fail_msg("%s at %u: %.12g, not %.12g", rows[i].s.name, (unsigned)rows[i].step, rate, rows[i].want);
    }
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    rg_params *params;
    OK(rg_params_new(&params));
    rg_params_add(params, "w", RG_VECTOR, 1, 2, RG_INIT_ZERO, 0);
    OK(rg_params_build(params, 1));
    rg_optimizer       *opt;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.name = "adamax";
    assert_int_equal(rg_optimizer_new(&opt, params, &c), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "adadelta"));
    c.name = "adam";
    c.b = 1;
    assert_int_equal(rg_optimizer_new(&opt, params, &c), RG_EINVAL);
    c.b = -1;
    c.clip_norm = NAN;
    assert_int_equal(rg_optimizer_new(&opt, params, &c), RG_EINVAL);
    const rg_schedule wrong[] = { { .name = "nowhere" },
                                  { .name = "transformer", .rate = 1 },
                                  { .name = "step", .rate = 1 },
                                  { .name = "constant", .rate = NAN },
                                  { .name = "constant", .rate = 1, .cooldown = 11 },
                                  { .name = "linear", .rate = 1, .start = 5 } };
    for (size_t i = 0; i < 6; i++) assert_int_equal(rg_schedule_check(&wrong[i]), RG_EINVAL);
    rg_params_free(params);
}

static rg_status build_and_step(void *context)
{
    rg_params    *params = NULL;
    rg_optimizer *opt = NULL;
    rg_grads     *grads = NULL;
    rg_status     status;
    (void)context;
    if ((status = rg_params_new(&params)) != RG_OK) goto done;
    rg_params_add(params, "w", RG_WEIGHT, 20, 30, RG_INIT_GLOROT, 1);
    if ((status = rg_params_build(params, 1)) != RG_OK) goto done;
    if ((status = rg_grads_new(&grads, params)) != RG_OK) goto done;
    rg_optimizer_config c = RG_OPTIMIZER_CONFIG_DEFAULT;
    c.smoothing = 0.01;
    if ((status = rg_optimizer_new(&opt, params, &c)) != RG_OK) goto done;
    status = rg_optimizer_step(NULL, opt, &grads, 1, 1, 0.1, NULL);
done:
    rg_optimizer_free(opt);
    rg_grads_free(grads);
    rg_params_free(params);
    return status;
}

static void memory_that_runs_out_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    faults_every_alloc(build_and_step, NULL, NULL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_steps_of_every_optimiser_equal_pytorch),
        cmocka_unit_test(every_optimiser_leaves_packs_as_if_packed_afresh),
        cmocka_unit_test(the_size_of_the_team_changes_no_bit),
        cmocka_unit_test(what_a_worker_did_not_write_counts_as_zero),
        cmocka_unit_test(marks_of_entries_are_obeyed),
        cmocka_unit_test(clipping_scales_the_norm_and_cuts_values),
        cmocka_unit_test(a_gradient_that_is_not_finite_changes_nothing_and_is_named),
        cmocka_unit_test(smoothed_parameters_follow_and_change_places),
        cmocka_unit_test(fast_loops_equal_plain_ones),
        cmocka_unit_test(schedules_follow_their_formulas),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
        cmocka_unit_test(memory_that_runs_out_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
