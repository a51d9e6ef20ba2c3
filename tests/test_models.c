/* Every system that decodes: step by step equals the pass over the whole sentence; hypotheses can be dropped, copied
 * and reordered; neighbours do not matter. And a training step takes no memory after the first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/seams.h"
#include "regard/model.h"
#include "regard/train.h"

#include <math.h>
#include <string.h>

/* Decodes from ids: systems that start from pictures have tests of their own. */
static bool decodes_text(const rg_system *s)
{
    return s->start && (s->task == &rg_task_translation || s->task == &rg_task_language);
}

enum { V = 11 };

static rg_model *make(const rg_system *system, const char *more)
{
    static const char *const yaml =
        "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 12\n";
    void                    *options = rg_alloc_zero(system->options_bytes);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    const rg_option_group group = { .rows = system->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (more) assert_int_equal(rg_options_read_yaml(&group, 1, more, strlen(more), "test", true), RG_OK);
    const rg_sizes sizes = { { { "source-vocabulary", V }, { "target-vocabulary", V },
                             { "joint-vocabulary", true }, { "bos", 1 }, { "eos", 2 }, { "context", 64 } } };
    rg_model            *m;
    if (rg_model_new(&m, system, options, &sizes, 5) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static double log_probability(const rg_real *logits, int32_t token)
{
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < V; j++) max = fmax(max, (double)logits[j]);
    for (int j = 0; j < V; j++) sum += exp((double)logits[j] - max);
    return (double)logits[token] - max - log(sum);
}

static const int32_t source_start[] = { 0, 4, 6 }, source_ids[] = { 5, 6, 7, 2, 8, 2 };
static const int32_t answer[2][3] = { { 4, 9, 2 }, { 3, 3, 2 } };

/* -log p of both answers by one pass over everything. */
static double whole_pass(const rg_model *m)
{
    static const int32_t target_start[] = { 0, 3, 6 }, target[] = { 4, 9, 2, 3, 3, 2 },
                         previous[] = { 1, 4, 9, 1, 3, 3 };
    const rg_batch       batch = { .examples = 2,
                                   .fields = 2,
                                   .field = {
                                       [RG_SOURCE] = { .layout = { .groups = 2, .start = source_start }, .ids = source_ids },
                                       [RG_TARGET] = { .layout = { .groups = 2, .start = target_start },
                                                       .ids = target,
                                                       .previous = previous } } };
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_loss loss = m->system->loss(t, m, &batch);
    if (rg_tape_status(t) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    double value = (double)rg_tensor_at(loss.sum, 0, 0);
    rg_tape_free(t);
    return value;
}

static double stepwise(const rg_model *m, rg_decoding *d)
{
    double        total = 0;
    int32_t       tokens[2] = { 1, 1 };
    const rg_field sources = { .layout = { .groups = 2, .start = source_start }, .ids = source_ids };
    if (rg_decoding_start(d, &sources) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    for (int step = 0; step < 3; step++) {
        const rg_real *logits;
        size_t         ld;
        if (rg_decoding_step(&logits, &ld, d, tokens) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
        for (int i = 0; i < 2; i++) {
            total -= log_probability(logits + (size_t)i * ld, answer[i][step]);
            tokens[i] = answer[i][step];
        }
    }
    return total;
}

/* Label smoothing belongs to training: what decoding is compared with has none. */
static void without_smoothing(rg_model *m)
{
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    const char *const     none = "label-smoothing: 0";
    assert_int_equal(rg_options_read_yaml(&group, 1, none, strlen(none), "test", true), RG_OK);
}

static void stepping_equals_the_whole_pass(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!decodes_text(*s)) continue;
        rg_model    *m = make(*s, NULL);
        rg_decoding *d;
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        without_smoothing(m);
        assert_float_equal(whole_pass(m), stepwise(m, d), 1e-4);
        assert_float_equal(whole_pass(m), stepwise(m, d), 1e-4); /* a decoding can start again */
        rg_decoding_free(d);
        rg_model_free(m);
    }
}

static void every_variant_steps_like_the_whole_pass(void **state)
{
    (void)state;
    static const struct {
        const char *system, *options;
    } variants[] = {
        { "transformer", "transformer-norm: post" },
        { "transformer", "decoder: ssru" },
        { "transformer", "decoder: ssru\ntransformer-norm: post\ndecoder-start: zero" },
        { "transformer", "transformer-positions: none" },
        { "transformer", "transformer-positions: learned" },
        { "transformer", "window: 2" },
        { "transformer", "reach: strided:2" },
        { "transformer", "reach: before:2" },
        { "rnnsearch", "output-state: previous" },
        { "rnnsearch", "output-layer: tanh" },
        { "rnnsearch", "enc-combine: add" },
        { "rnnsearch", "enc-combine: multiply" },
        { "rnnsearch", "enc-bidirectional: false\nreverse: true" },
        { "rnnsearch", "reverse: true" },
        { "rnnsearch", "reverse: true\nenc-combine: add" },
        { "rnnsearch", "cell: lstm" },
        { "luong", "reverse: true" },
        { "luong", "reverse: true\nattention-kind: local-m\nwindow: 1" },
        { "luong", "reverse: true\nattention-kind: local-p\nwindow: 1\nattention-order: reading" },
        { "seq2seq", "reverse: true" },
        { "luong", "attention-kind: local-m\nwindow: 1" },
        { "luong", "attention-kind: local-p\nwindow: 1" },
        { "luong", "input-feeding: false" },
        { "luong", "attention-kind: local-p\nwindow: 2\ninput-feeding: false" },
        { "luong", "enc-bidirectional: true\nscore: dot" },
        { "luong", "score: location" },
        { "luong", "dim-rnn: 16\ntied-embeddings: true" },
        { "luong", "dim-rnn: 16\ntied-embeddings: true\nscale-embeddings: false" },
        { "seq2seq", "dim-rnn: 16\ntied-embeddings: true" },
        { "rnnsearch", "tied-embeddings: true\nscale-embeddings: true" },
        { "luong", "experts: 4\ntop-experts: 2" },
        { "transformer", "experts: 3\ntop-experts: 1" },
        { "seq2seq", "summary: mean" },
        { "seq2seq", "summary: max\ncontext: every-step\ncell: gru" },
        { "seq2seq", "context: every-step\nreverse: true" },
        { "gnmt", "enc-depth: 3\ndec-depth: 4" },
        { "gnmt", "enc-depth: 1\ndec-depth: 1\ncell: gru" },
        { "deep-att", "layers: 2,3\nfast-forward: false" },
        { "deep-att", "layers: 1,4\ncell: gru" },
        { "convs2s", "kernel: 5\ndec-depth: 3" },
        { "convs2s", "weight-norm: true" },
        { "bytenet", "unfold-scale: 0.3\nkernel: 2" }, /* steps beyond the unfolded source */
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        rg_model    *m = make(rg_system_find(variants[i].system), variants[i].options);
        rg_decoding *d;
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        without_smoothing(m);
        assert_float_equal(whole_pass(m), stepwise(m, d), 1e-4);
        rg_decoding_free(d);
        rg_model_free(m);
    }
}

/* Decode one source alone and the same among others, reordered and copied on the way: the same bits. */
static void neighbours_and_reordering_do_not_change_a_hypothesis(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!decodes_text(*s)) continue;
        rg_model       *m = make(*s, NULL);
        rg_decoding    *alone, *among;
        const rg_field  both = { .layout = { .groups = 2, .start = source_start }, .ids = source_ids };
        const int32_t   one_start[] = { 0, 4 };
        const rg_field  one = { .layout = { .groups = 1, .start = one_start }, .ids = source_ids };
        assert_int_equal(rg_decoding_new(&alone, m, NULL), RG_OK);
        assert_int_equal(rg_decoding_new(&among, m, NULL), RG_OK);
        assert_int_equal(rg_decoding_start(alone, &one), RG_OK);
        assert_int_equal(rg_decoding_start(among, &both), RG_OK);
        const rg_real *a, *b;
        size_t         lda, ldb;
        int32_t        bos[2] = { 1, 1 };
        assert_int_equal(rg_decoding_step(&a, &lda, alone, bos), RG_OK);
        assert_int_equal(rg_decoding_step(&b, &ldb, among, bos), RG_OK);
        assert_memory_equal(a, b, V * sizeof *a);
        const int32_t parents[] = { 1, 0, 0 }, tokens[] = { 3, 9, 4 }, mine[] = { 4 };
        assert_int_equal(rg_decoding_keep(among, parents, 3), RG_OK);
        assert_int_equal(rg_decoding_step(&a, &lda, alone, mine), RG_OK);
        assert_int_equal(rg_decoding_step(&b, &ldb, among, tokens), RG_OK);
        assert_memory_equal(a, b + 2 * ldb, V * sizeof *a);
        const int32_t last[] = { 2 }, next[] = { 9 };
        assert_int_equal(rg_decoding_keep(among, last, 1), RG_OK);
        assert_int_equal(rg_decoding_step(&a, &lda, alone, next), RG_OK);
        assert_int_equal(rg_decoding_step(&b, &ldb, among, next), RG_OK);
        assert_memory_equal(a, b, V * sizeof *a);
        rg_decoding_free(alone);
        rg_decoding_free(among);
        rg_model_free(m);
    }
}

/* ----------------------------------------------------------------------------------------------------------- scores */

enum { KEYS = 4 };

typedef struct {
    double weight[3][KEYS]; /* of each step, of the source's first head */
    size_t step;
} looked;

static bool wants_source(void *context, const char *name)
{
    (void)context;
    return strstr(name, "weights") && !strstr(name, "self");
}

static void see_source(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    looked *l = context;
    (void)name;
    (void)reach;
    if (rg_tensor_rows(x) != KEYS) return;
    for (size_t i = 0; i < KEYS; i++) l->weight[l->step][i] = (double)rg_tensor_at(x, i, 0);
}

/* The largest difference between what the first step looked at and what a later one did. */
static double change_of_weights(const char *system, const char *options)
{
    static const int32_t one_start[] = { 0, KEYS };
    const rg_field       one = { .layout = { .groups = 1, .start = one_start }, .ids = source_ids };
    rg_model            *m = make(rg_system_find(system), options);
    looked               l = { 0 };
    const rg_watcher     watcher = { &l, wants_source, see_source };
    rg_decoding         *d;
    double               most = 0;
    assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
    rg_decoding_set_watcher(d, &watcher);
    assert_int_equal(rg_decoding_start(d, &one), RG_OK);
    for (int32_t token = 1; l.step < 3; l.step++, token += 3) {
        const rg_real *logits;
        size_t         ld;
        assert_int_equal(rg_decoding_step(&logits, &ld, d, &token), RG_OK);
    }
    for (size_t s = 1; s < 3; s++)
        for (size_t i = 0; i < KEYS; i++) most = fmax(most, fabs(l.weight[s][i] - l.weight[0][i]));
    assert_true(l.weight[2][0] > 0);
    rg_decoding_free(d);
    rg_model_free(m);
    return most;
}

/* w_q . q + w_k . k: the query's share cancels in the softmax, unless a function stands around the sum. */
static void the_linear_score_is_one_function_in_every_system(void **state)
{
    (void)state;
    static const char *const systems[] = { "luong", "rnnsearch", "transformer" };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        assert_true(change_of_weights(systems[i], "score: linear") < 1e-6);
        assert_true(change_of_weights(systems[i], "score: linear\nscore-activation: identity") < 1e-6);
        assert_true(change_of_weights(systems[i], "score: linear\nscore-activation: tanh") > 1e-6);
        assert_true(change_of_weights(systems[i], "score: linear\nscore-activation: leaky_relu") > 1e-6);
        assert_true(change_of_weights(systems[i], "score: additive") > 1e-6);
    }
}

/* ------------------------------------------------------------------------------------------------------------ start */

static double deviation_of(const rg_model *m, const char *name)
{
    const rg_param *p = rg_params_find(m->params, name);
    assert_non_null(p);
    const size_t n = rg_param_rows(p) * rg_param_cols(p);
    double       squares = 0;
    for (size_t i = 0; i < n; i++) squares += (double)rg_param_data(p)[i] * (double)rg_param_data(p)[i];
    return sqrt(squares / (double)n);
}

/* Words that start at 0.1 make scores that differ by a few thousandths: the attention has no gradient to learn from. */
static void embedded_words_start_where_their_system_learns(void **state)
{
    (void)state;
    static const struct {
        const char *system, *options;
        double      source, target; /* deviations of the tables */
    } rows[] = {
        { "luong", "dim-emb: 256\ndim-rnn: 256", 0.4, 0.4 },
        { "luong", "dim-emb: 256\ndim-rnn: 256\ntied-embeddings: true", 0.4, 0.4 },
        { "luong", "dim-emb: 256\ndim-rnn: 256\ntied-embeddings: true\nscale-embeddings: true", 0.4,
          0.4 / 16 }, /* and times 16 when looked up */
        { "seq2seq", "dim-emb: 256\ndim-rnn: 256", 1, 1 },
        { "seq2seq", "dim-emb: 256\ndim-rnn: 256\ntied-embeddings: true", 0.4, 0.4 },
        { "gnmt", "dim-emb: 64\ndim-rnn: 64\ntied-embeddings: true", 0.4, 0.4 },
        { "gnmt", "dim-emb: 64\ndim-rnn: 64\ntied-embeddings: true\nscale-embeddings: true", 1, 1.0 / 8 },
        { "deep-att", "dim-emb: 64\ndim-rnn: 64", 1, 1 },
        { "deep-att", "dim-emb: 64\ndim-rnn: 64\ntied-embeddings: true", 0.4, 0.4 },
        { "rnnsearch", "dim-emb: 256", 0.1, 0.1 },
        { "rnnsearch", "dim-emb: 256\ntied-embeddings: true", 0.1, 0.1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rg_model *m = make(rg_system_find(rows[i].system), rows[i].options);
        const double source = deviation_of(m, "source.embedding"), target = deviation_of(m, "target.embedding");
        assert_true(source > 0.9 * rows[i].source && source < 1.1 * rows[i].source);
        assert_true(target > 0.9 * rows[i].target && target < 1.1 * rows[i].target);
        rg_model_free(m);
    }
}

/* A file from before a setting existed does not name it, and works as it was trained. */
static void a_stored_model_keeps_what_was_so_before_a_setting_existed(void **state)
{
    (void)state;
    static const struct {
        const char *system, *stored, *expected;
    } rows[] = {
        { "luong", "tied-embeddings: true\n", "scale-embeddings: false" },
        { "luong", "tied-embeddings: true\nscale-embeddings: true\n", "scale-embeddings: true" },
        { "seq2seq", "reverse: true\n", "scale-embeddings: false" },
        { "transformer", "score: linear\n", "score-activation: \"tanh-if-any\"" },
        { "transformer", "score: linear\nscore-activation: own\n", "score-activation: \"own\"" },
        { "luong", "score: linear\n", "score-activation: \"own\"" },
        { "gat", "score: linear\n", "score-activation: \"leaky_relu\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const rg_system *system = rg_system_find(rows[i].system);
        void            *options = rg_alloc_zero(system->options_bytes);
        assert_int_equal(rg_system_stored_options(options, system, rows[i].stored), RG_OK);
        const rg_option_group group = { .rows = system->options, .values = options };
        char                 *yaml = rg_options_yaml(&group, 1);
        assert_non_null(yaml);
        if (!strstr(yaml, rows[i].expected)) fail_msg("%s: no '%s' in\n%s", rows[i].system, rows[i].expected, yaml);
        rg_free(yaml);
        rg_options_fini(system->options, options);
        rg_free(options);
    }
}

/* --------------------------------------------------------------------------------------------------------- training */

static rg_loss loss_of(void *context, rg_tape *t, const void *share, int worker)
{
    (void)worker;
    const rg_model *m = context;
    return m->system->loss(t, m, share);
}

static void a_training_step_allocates_nothing_after_the_first(void **state)
{
    (void)state;
    static const int32_t target_start[] = { 0, 3, 6 }, target[] = { 4, 9, 2, 3, 3, 2 },
                         previous[] = { 1, 4, 9, 1, 3, 3 };
    const rg_batch            batch = { .examples = 2,
                                        .fields = 2,
                                        .field = {
                                            [RG_SOURCE] = { .layout = { .groups = 2, .start = source_start }, .ids = source_ids },
                                            [RG_TARGET] = { .layout = { .groups = 2, .start = target_start },
                                                            .ids = target,
                                                            .previous = previous } } };
    const rg_workers_config   config = { .workers = 2, .threads = 1, .seed = 3 };
    const rg_optimizer_config adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    for (const rg_system *const *system = rg_system_all(); *system; system++) {
        if (!decodes_text(*system)) continue;
        rg_model     *m = make(*system, NULL);
        rg_workers   *workers;
        rg_optimizer *opt;
        int32_t       storage[2][6];
        rg_batch      share[2];
        const void   *shares[2] = { &share[0], &share[1] };
        size_t        before = 0;
        assert_int_equal(rg_workers_new(&workers, m->params, &config), RG_OK);
        assert_int_equal(rg_optimizer_new(&opt, m->params, &adam), RG_OK);
        for (uint64_t step = 1; step < 5; step++) {
            rg_losses      losses;
            rg_step_report report;
            for (size_t i = 0; i < 2; i++) rg_batch_share(&share[i], storage[i], &batch, i, 2);
            const rg_job job = { .shares = shares, .count = 2, .step = step, .loss = loss_of, .context = m };
            if (rg_workers_run(&losses, workers, &job) != RG_OK) fail_msg("%s: %s", (*system)->name, rg_message());
            assert_int_equal(rg_optimizer_step(&report, opt, rg_workers_grads(workers), 2, losses.count, 1e-3,
                                               rg_workers_team(workers)),
                             RG_OK);
            if (step == 1) before = rg_base__alloc_calls();
        }
        if (rg_base__alloc_calls() != before)
            fail_msg("%s: %zu allocations after the first step", (*system)->name, rg_base__alloc_calls() - before);
        rg_optimizer_free(opt);
        rg_workers_free(workers);
        rg_model_free(m);
    }
}

static void parameters_are_named_by_their_place(void **state)
{
    (void)state;
    static const char *const places[][2] = { { "transformer", "encoder.1.self.norm.gain" },
                                             { "transformer", "decoder.1.cross.wkv" },
                                             { "transformer", "decoder.1.ff.norm.bias" },
                                             { "rnnsearch", "decoder.output.state.w" },
                                             { "rnnsearch", "decoder.output.word" } };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        rg_model *m = make(rg_system_find(places[i][0]), NULL);
        if (!rg_params_find(m->params, places[i][1])) fail_msg("%s has no %s", places[i][0], places[i][1]);
        rg_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_named_by_their_place),
        cmocka_unit_test(stepping_equals_the_whole_pass),
        cmocka_unit_test(every_variant_steps_like_the_whole_pass),
        cmocka_unit_test(neighbours_and_reordering_do_not_change_a_hypothesis),
        cmocka_unit_test(the_linear_score_is_one_function_in_every_system),
        cmocka_unit_test(embedded_words_start_where_their_system_learns),
        cmocka_unit_test(a_stored_model_keeps_what_was_so_before_a_setting_existed),
        cmocka_unit_test(a_training_step_allocates_nothing_after_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
