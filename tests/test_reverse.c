/* --reverse: a model that reads backwards is the model that reads forwards given the mirrored sentence. What it answers is the same, and
 * what it shows is turned back: the weight of a word is at the place of the word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/attention.h"
#include "regard/model.h"

#include <math.h>
#include <string.h>

enum { V = 13, STEPS = 4, ROWS = 9, GROUPS = 3 };

/* Sentences of 4, 2 and 0 words and their </s>; and the same with the words mirrored. */
static const int32_t start[] = { 0, 5, 8, 9 };
static const int32_t forwards[] = { 5, 6, 7, 8, 2, 9, 10, 2, 2 }, mirrored[] = { 8, 7, 6, 5, 2, 10, 9, 2, 2 };
static const int32_t place[] = { 3, 2, 1, 0, 4, 6, 5, 7, 8 }; /* of row i in the other order */
static const int32_t tokens[STEPS][GROUPS] = { { 1, 1, 1 }, { 4, 5, 6 }, { 7, 3, 4 }, { 11, 12, 3 } };

static rg_model *make(const char *system, const char *options, const char *more)
{
    static const char *const small = "dim-emb: 8\nenc-depth: 1\ndim-rnn: 8\nlabel-smoothing: 0\n";
    const rg_system         *s = rg_system_find(system);
    void                    *values = rg_alloc_zero(s->options_bytes);
    const char *const        all[] = { small, options, more };
    assert_int_equal(rg_options_init(s->options, values), RG_OK);
    const rg_option_group group = { .rows = s->options, .values = values };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rg_options_read_yaml(&group, 1, all[i], strlen(all[i]), "test", false), RG_OK);
    const rg_sizes sizes = { { { "source-vocabulary", V },
                               { "target-vocabulary", V },
                               { "joint-vocabulary", true },
                               { "bos", 1 },
                               { "eos", 2 } } };
    rg_model *m;
    if (rg_model_new(&m, s, values, &sizes, 7) != RG_OK) fail_msg("%s: %s", system, rg_message());
    rg_options_fini(s->options, values);
    rg_free(values);
    return m;
}

/* What a decoding of STEPS tokens looked at, and its logits. */
typedef struct {
    double  weight[STEPS][ROWS], logits[STEPS][GROUPS][V];
    size_t  step;
    int32_t seen;
} looked;

static bool wants(void *context, const char *name)
{
    (void)context;
    return strstr(name, "weights") != NULL;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *data)
{
    looked         *l = context;
    const rg_reach *r = data;
    (void)name;
    assert_int_equal(r->Nq, GROUPS);
    memset(l->weight[l->step], 0, sizeof l->weight[l->step]);
    for (size_t i = 0; i < r->Nq; i++)
        for (size_t p = r->first[i]; p < r->first[i + 1]; p++)
            l->weight[l->step][(size_t)r->begin[i] + (p - r->first[i])] = (double)rg_tensor_at(x, p, 0);
    l->seen++;
}

static void decode(looked *out, const rg_model *m, const int32_t *ids)
{
    const rg_field   sources = { .layout = { .groups = GROUPS, .start = start }, .ids = ids };
    const rg_watcher watcher = { out, wants, see };
    rg_decoding     *d;
    *out = (looked){ 0 };
    assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
    rg_decoding_set_watcher(d, &watcher);
    if (rg_decoding_start(d, &sources) != RG_OK) fail_msg("%s", rg_message());
    for (out->step = 0; out->step < STEPS; out->step++) {
        const rg_real *logits;
        size_t         ld;
        if (rg_decoding_step(&logits, &ld, d, tokens[out->step]) != RG_OK) fail_msg("%s", rg_message());
        for (size_t i = 0; i < GROUPS; i++)
            for (size_t j = 0; j < V; j++) out->logits[out->step][i][j] = (double)logits[i * ld + j];
    }
    rg_decoding_free(d);
}

static const struct {
    const char *system, *options;
    bool        places; /* what it answers depends on places */
} models[] = {
    { "luong", "", false },
    { "luong", "enc-bidirectional: true\nscore: additive\n", false },
    { "luong", "score: location\n", true },
    { "luong", "attention-kind: local-m\nwindow: 1\n", true },
    { "luong", "attention-kind: local-p\nwindow: 1\n", true },
    { "rnnsearch", "", false },
    { "rnnsearch", "enc-combine: add\n", false },
    { "rnnsearch", "enc-bidirectional: false\ncell: lstm\n", false },
    { "rnnsearch", "score: location\n", true },
};

static bool near_to(double a, double b) { return fabs(a - b) < 1e-5; }

static void expect_turned(const char *name, const looked *back, const looked *ahead)
{
    assert_true(back->seen > 0);
    for (size_t s = 0; s < STEPS; s++) {
        for (size_t i = 0; i < GROUPS; i++)
            for (size_t j = 0; j < V; j++) assert_true(near_to(back->logits[s][i][j], ahead->logits[s][i][j]));
        for (size_t i = 0; i < ROWS; i++)
            if (!near_to(back->weight[s][i], ahead->weight[s][place[i]]))
                fail_msg("%s, step %zu: row %zu has %g, its mirror %g", name, s, i, back->weight[s][i],
                         ahead->weight[s][place[i]]);
    }
}

static void a_word_of_a_reversed_source_has_its_own_weight(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        looked    back, ahead;
        rg_model *b = make(models[i].system, models[i].options, "reverse: true\n"),
                 *a = make(models[i].system, models[i].options, "reverse: false\n");
        decode(&back, b, forwards);
        decode(&ahead, a, mirrored);
        if (!models[i].places) expect_turned(models[i].system, &back, &ahead);
        rg_model_free(a);
        rg_model_free(b);
    }
}

/* Models from before --attention-order counted places as they read: same answers, turned weights. */
static void a_model_that_counts_in_reading_order_answers_as_before_and_shows_the_right_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        looked    back, ahead;
        rg_model *b = make(models[i].system, models[i].options, "reverse: true\nattention-order: reading\n");
        rg_model *a = make(models[i].system, models[i].options, "reverse: false\n");
        decode(&back, b, forwards);
        decode(&ahead, a, mirrored);
        expect_turned(models[i].system, &back, &ahead);
        rg_model_free(a);
        rg_model_free(b);
    }
}

/* Window 1 around place t: word t and its neighbours, whichever way the source is read. */
static void local_m_looks_at_the_words_around_its_place(void **state)
{
    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        looked    l;
        rg_model *m =
            make("luong", "attention-kind: local-m\nwindow: 1\n", reverse ? "reverse: true\n" : "reverse: false\n");
        decode(&l, m, forwards);
        for (int s = 0; s < STEPS; s++)
            for (int i = 0; i < 5; i++) assert_true((l.weight[s][i] > 0) == (i >= s - 1 && i <= s + 1));
        rg_model_free(m);
    }
}

static void a_model_file_from_before_counts_in_reading_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const rg_system *s = rg_system_find(i ? "rnnsearch" : "luong");
        void            *options = rg_alloc_zero(s->options_bytes);
        assert_int_equal(rg_system_stored_options(options, s, "reverse: true\n"), RG_OK);
        const rg_option_group group = { .rows = s->options, .values = options };
        char                 *yaml = rg_options_yaml(&group, 1);
        assert_non_null(yaml);
        if (!strstr(yaml, "attention-order:") || !strstr(strstr(yaml, "attention-order:"), "reading"))
            fail_msg("%s", yaml);
        rg_free(yaml);
        rg_options_fini(s->options, options);
        rg_free(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_of_a_reversed_source_has_its_own_weight),
        cmocka_unit_test(a_model_that_counts_in_reading_order_answers_as_before_and_shows_the_right_words),
        cmocka_unit_test(local_m_looks_at_the_words_around_its_place),
        cmocka_unit_test(a_model_file_from_before_counts_in_reading_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
