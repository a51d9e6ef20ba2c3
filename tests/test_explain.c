/* Why a model answered what it answered: every method against PyTorch's numbers for its definition
 * (tests/reference/make_explain.py), and what must hold for any system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/explain.h"
#include "regard/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { V = 13,
       MOST = 64 };

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

/* ----------------------------------------------------------------------------------------------------------- models */

static rg_model *make(const rg_system *s, const char *yaml, const rg_sizes *sizes)
{
    void     *options = rg_alloc_zero(s->options_bytes);
    rg_model *m;
    ok(rg_options_init(s->options, options));
    const rg_option_group group = { .rows = s->options, .values = options };
    static const char     small[] =
        "dim-emb: 8\ntransformer-dim-ffn: 12\ntransformer-heads: 2\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 8\nwidth: 4\n"
        "layers: 2\nlabel-smoothing: 0\n";
    ok(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true));
    if (yaml) ok(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false));
    if (rg_model_new(&m, s, options, sizes, 9) != RG_OK) fail_msg("%s: %s", s->name, rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

static rg_model *make_translator(const char *name, const char *yaml)
{
    const rg_sizes sizes = { { { "source-vocabulary", V },
                               { "target-vocabulary", V },
                               { "bos", 1 },
                               { "eos", 2 },
                               { "context", 16 } } };
    return make(rg_system_find(name), yaml, &sizes);
}

static rg_model *make_classifier(const char *yaml)
{
    const rg_sizes sizes = { { { "vocabulary", V }, { "classes", 3 } } };
    return make(rg_system_find("classifier"), yaml, &sizes);
}

/* Every number follows from the parameter's name and its place, here and in make_explain.py. */
static void fill(rg_model *m, double scale)
{
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        const rg_param *p = rg_params_at(m->params, i);
        double          seed = 0;
        for (const char *c = rg_param_name(p); *c; c++) seed += 0.1 * (double)*c;
        for (size_t k = 0; k < rg_param_rows(p) * rg_param_cols(p); k++)
            rg_param_data(p)[k] = (rg_real)(float)(scale * sin(seed + 0.7 * (double)k));
    }
    ok(rg_params_repack(m->params, NULL));
}

/* --------------------------------------------------------------------------------------------------------- subjects */

/* A sentence pair, or the tokens of a language model. */
typedef struct {
    int32_t  source[16], target[16], previous[16], from[2], to[2];
    rg_batch batch;
} pair;

static const int32_t source_ids[] = { 4, 9, 6, 10, 2 }, target_ids[] = { 3, 7, 5, 2 };

static rg_subject of_pair(pair *p, const rg_model *m, const int32_t *source, size_t S)
{
    const bool reads = S > 0;
    *p = (pair){ .from = { 0, (int32_t)S }, .to = { 0, 4 }, .previous = { 1, 3, 7, 5 } };
    if (reads) memcpy(p->source, source, S * sizeof *source);
    memcpy(p->target, target_ids, sizeof target_ids);
    p->batch = (rg_batch){ .examples = 1, .fields = 2 };
    p->batch.field[RG_SOURCE] = (rg_field){ .layout = { .groups = 1, .start = p->from }, .ids = p->source };
    p->batch.field[RG_TARGET] = (rg_field){ .layout = { .groups = 1, .start = p->to }, .ids = p->target, .previous = p->previous };
    return (rg_subject){ .model = m,
                         .batch = &p->batch,
                         .copies = true,
                         .input = reads ? RG_SOURCE : RG_TARGET,
                         .rows = reads ? S : 4,
                         .inputs = reads ? S : 4,
                         .leave_out = reads,
                         .keys = reads ? "source" : "words",
                         .writes = true,
                         .target = RG_TARGET,
                         .answers = 4,
                         .outputs = 4,
                         .word = p->target,
                         .against = -1,
                         .hypothesis = -1 };
}

/* A text and its likeliest class. */
typedef struct {
    int32_t  ids[16], start[2], best[1];
    rg_batch batch;
} text;

static rg_subject of_text(text *x, const rg_model *m, const int32_t *ids, size_t n)
{
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    *x = (text){ .start = { 0, (int32_t)n } };
    memcpy(x->ids, ids, n * sizeof *ids);
    x->batch = (rg_batch){ .examples = 1, .fields = 1 };
    x->batch.field[RG_INPUT] =
        (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = 1, .start = x->start }, .ids = x->ids };
    ok(rg_tape_new(&t, &config));
    const rg_tensor *y = m->system->predict(t, m, &x->batch);
    ok(rg_tape_status(t));
    for (size_t c = 1; c < rg_tensor_cols(y); c++)
        if (rg_tensor_at(y, 0, c) > rg_tensor_at(y, 0, (size_t)x->best[0])) x->best[0] = (int32_t)c;
    rg_tape_free(t);
    return (rg_subject){ .model = m,
                         .batch = &x->batch,
                         .copies = true,
                         .input = RG_INPUT,
                         .rows = n,
                         .inputs = n,
                         .leave_out = true,
                         .keys = "words",
                         .answers = 1,
                         .outputs = 1,
                         .word = x->best,
                         .against = -1,
                         .hypothesis = -1 };
}

static rg_status map_of(rg_real *out, const rg_subject *s, const char *method, const rg_explain_options *o)
{
    rg_explaining *x;
    ok(rg_explaining_new(&x, s, o, NULL));
    const rg_status status = rg_method_find(method)->explain(out, x);
    rg_explaining_free(x);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- reference */

typedef struct {
    char   name[40];
    size_t rows, cols;
    double x[MOST];
} matrix;

static size_t load(matrix *m, size_t most, const char *name)
{
    char   path[512];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/tests/reference/%s.txt", SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s: no such file", path);
    for (; n < most && fscanf(f, "%39s %zu %zu", m[n].name, &m[n].rows, &m[n].cols) == 3; n++) {
        assert_in_range(m[n].rows * m[n].cols, 1, MOST);
        for (size_t i = 0; i < m[n].rows * m[n].cols; i++) assert_int_equal(fscanf(f, "%lf", &m[n].x[i]), 1);
    }
    fclose(f);
    return n;
}

/* "occlusion-against" is the method with a contrast; "none" what is left of log p when all values are zero. */
static void compare(const matrix *m, rg_subject s, int32_t other)
{
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    char               method[40];
    rg_real            got[MOST];
    snprintf(method, sizeof method, "%s", m->name);
    char *against = strstr(method, "-against");
    if (against) *against = 0, s.against = other;
    o.steps = 8;
    if (strcmp(method, "none") == 0) {
        rg_explaining *x;
        unsigned char  gone[2 * 16] = { 0 };
        double         score[2 * 4];
        memset(gone + s.inputs, 1, s.inputs);
        ok(rg_explaining_new(&x, &s, &o, NULL));
        ok(rg_explaining_score(score, x, gone, 2, RG_CHANGE_ZERO));
        rg_explaining_free(x);
        for (size_t i = 0; i < s.outputs; i++) got[i] = (rg_real)(score[i] - score[s.outputs + i]);
    } else ok(map_of(got, &s, method, &o));
    for (size_t i = 0; i < m->rows * m->cols; i++)
        if (!(fabs((double)got[i] - m->x[i]) <= 1e-5 * (1 + fabs(m->x[i]))))
            fail_msg("%s at %zu is %.9g, PyTorch has %.9g", m->name, i, (double)got[i], m->x[i]);
}

static void every_definition_is_that_of_pytorch(void **state)
{
    (void)state;
    matrix    m[16];
    pair      p;
    rg_model *t = make_translator("transformer", "tied-embeddings-all: false\n");
    fill(t, 0.5);
    size_t n = load(m, 16, "explain_transformer");
    assert_int_equal(n, 12);
    for (size_t i = 0; i < n; i++) compare(&m[i], of_pair(&p, t, source_ids, 5), 4);
    rg_model_free(t);

    static const int32_t words[] = { 4, 9, 6, 10, 5, 7 };
    text                 x;
    rg_model            *c = make_classifier("encoder: bilstm\nlayers: 1\ndim-emb: 4\nwidth: 3\nattention-dim: 5\n");
    fill(c, 2);
    n = load(m, 16, "explain_lstm");
    assert_int_equal(n, 12);
    for (size_t i = 0; i < n; i++) {
        const rg_subject s = of_text(&x, c, words, 6);
        compare(&m[i], s, (s.word[0] + 1) % 3);
    }
    rg_model_free(c);
}

/* ------------------------------------------------------------------------------------------------- what always holds */

static bool is_translator(const rg_system *s) { return s->task == &rg_task_translation; }
static bool is_language(const rg_system *s) { return s->task == &rg_task_language && !(s->reads && strcmp(s->reads, "masked") == 0); }

/* The sum over inputs is s(x) - s(0), to 1 % of the largest difference. */
static void check_integrated(const rg_subject *s)
{
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_real            map[MOST];
    unsigned char      gone[2 * 16] = { 0 };
    double             score[2 * 16], largest = 0;
    rg_explaining     *x;
    rg_subject         blank = *s;
    blank.leave_out = false; /* zeros go in */
    o.steps = 128;
    ok(map_of(map, s, "integrated", &o));
    memset(gone + s->inputs, 1, s->inputs);
    ok(rg_explaining_new(&x, &blank, &o, NULL));
    ok(rg_explaining_score(score, x, gone, 2, RG_CHANGE_OCCLUDE));
    rg_explaining_free(x);
    for (size_t i = 0; i < s->outputs; i++) largest = fmax(largest, fabs(score[i] - score[s->outputs + i]));
    assert_true(largest > 1e-4);
    for (size_t i = 0; i < s->outputs; i++) {
        double sum = 0;
        for (size_t j = 0; j < s->inputs; j++) sum += (double)map[i * s->inputs + j];
        if (!(fabs(sum - (score[i] - score[s->outputs + i])) <= 0.01 * largest))
            fail_msg("%s: output %zu: %g of %g", s->model->system->name, i, sum, score[i] - score[s->outputs + i]);
    }
}

static void integrated_gradients_sum_to_the_difference(void **state)
{
    (void)state;
    pair p;
    for (const rg_system *const *sys = rg_system_all(); *sys; sys++) {
        if (!is_translator(*sys) && !is_language(*sys)) continue;
        if (strcmp((*sys)->name, "bytenet") == 0) continue; /* a norm of the embeddings alone jumps at zero */
        rg_model  *m = make_translator((*sys)->name, NULL);
        rg_subject s = of_pair(&p, m, source_ids, is_translator(*sys) ? 5 : 0);
        check_integrated(&s);
        rg_model_free(m);
    }
}

/* In passes of one copy or of many, with nothing gone or everything: the same bits. */
static void copies_of_a_pass_do_not_see_each_other(void **state)
{
    (void)state;
    pair p;
    for (const rg_system *const *sys = rg_system_all(); *sys; sys++) {
        if (!is_translator(*sys) && !is_language(*sys)) continue;
        rg_model                *m = make_translator((*sys)->name, NULL);
        rg_subject               s = of_pair(&p, m, source_ids, is_translator(*sys) ? 5 : 0);
        rg_explain_options       one = RG_EXPLAIN_OPTIONS_DEFAULT, many = RG_EXPLAIN_OPTIONS_DEFAULT;
        static const char *const methods[] = { "occlusion", "gradient" };
        one.bytes = 1;
        for (size_t k = 0; k < 2; k++) {
            rg_real a[MOST], b[MOST];
            ok(map_of(a, &s, methods[k], &one));
            ok(map_of(b, &s, methods[k], &many));
            for (size_t i = 0; i < s.outputs * s.inputs; i++)
                if (!(fabs((double)(a[i] - b[i])) <= (k ? 1e-6 : 0)))
                    fail_msg("%s: %s at %zu: %.9g alone, %.9g among others", (*sys)->name, methods[k], i, (double)a[i],
                             (double)b[i]);
        }
        unsigned char  gone[2 * 16] = { 0 };
        double         score[2 * 16];
        rg_explaining *x;
        ok(rg_explaining_new(&x, &s, &many, NULL));
        ok(rg_explaining_score(score, x, gone, 2, RG_CHANGE_OCCLUDE));
        for (size_t i = 0; i < s.outputs; i++) assert_true(score[i] == score[s.outputs + i]);
        memset(gone, 1, s.inputs); /* a text without words: zeros */
        ok(rg_explaining_score(score, x, gone, 1, RG_CHANGE_OCCLUDE));
        rg_explaining_free(x);
        rg_model_free(m);
    }
}

/* What comes later cannot matter to a language model. */
static void later_words_do_not_matter(void **state)
{
    (void)state;
    pair p;
    for (const rg_system *const *sys = rg_system_all(); *sys; sys++) {
        if (!is_language(*sys)) continue;
        rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
        rg_model          *m = make_translator((*sys)->name, NULL);
        rg_subject         s = of_pair(&p, m, NULL, 0);
        rg_real            a[MOST], g[MOST];
        ok(map_of(a, &s, "occlusion", &o));
        ok(map_of(g, &s, "gradient", &o));
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++) {
                assert_true(j <= i || (a[i * 4 + j] == 0 && g[i * 4 + j] == 0));
                assert_true(j > i || g[i * 4 + j] > 0 || (*sys)->name[0] == 'n');
            }
        rg_model_free(m);
    }
}

/* Without recurrence and places the order of the words plays no part. */
static void a_permuted_input_has_the_permuted_map(void **state)
{
    (void)state;
    static const int32_t words[] = { 4, 9, 6, 10, 5 }, turned[] = { 10, 5, 4, 6, 9 }, from[] = { 3, 4, 0, 2, 1 };
    rg_explain_options   o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model            *m = make_classifier("encoder: words\n");
    for (const rg_method *const *method = rg_method_all(); *method; method++) {
        text       x, y;
        rg_real    a[MOST], b[MOST];
        rg_subject s = of_text(&x, m, words, 5), t = of_text(&y, m, turned, 5);
        if ((*method)->attends) continue;
        ok(map_of(a, &s, (*method)->name, &o));
        ok(map_of(b, &t, (*method)->name, &o));
        for (size_t j = 0; j < 5; j++)
            if (!(fabs((double)(b[j] - a[from[j]])) <= 1e-5)) fail_msg("%s at %zu", (*method)->name, j);
    }
    rg_model_free(m);
}

/* A model that reads backwards, and the same weights ahead over the text turned round. */
static void what_is_read_backwards_is_shown_in_order(void **state)
{
    (void)state;
    static const int32_t     mirrored[] = { 10, 6, 9, 4, 2 }, from[] = { 3, 2, 1, 0, 4 };
    static const char *const orders[] = { "reading", "source" }, *const methods[] = { "gradient", "occlusion", "zeroing" };
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    for (size_t k = 0; k < 2; k++) {
        char yaml[80];
        snprintf(yaml, sizeof yaml, "reverse: true\nattention-order: %s\n", orders[k]);
        rg_model *back = make_translator("luong", yaml), *ahead = make_translator("luong", "reverse: false\n");
        for (size_t i = 0; i < 3; i++) {
            pair       p, q;
            rg_real    a[MOST], b[MOST];
            rg_subject s = of_pair(&p, back, source_ids, 5), t = of_pair(&q, ahead, mirrored, 5);
            ok(map_of(a, &s, methods[i], &o));
            ok(map_of(b, &t, methods[i], &o));
            for (size_t j = 0; j < 20; j++) /* without </s> another word would be left where it stands */
                if ((i != 1 || j % 5 < 4) && !(fabs((double)(a[j] - b[j / 5 * 5 + (size_t)from[j % 5]])) <= 1e-6))
                    fail_msg("%s, %s at %zu: %g and %g", orders[k], methods[i], j, (double)a[j],
                             (double)b[j / 5 * 5 + (size_t)from[j % 5]]);
        }
        rg_model_free(back);
        rg_model_free(ahead);
    }
}

static void many_inputs_are_occluded_in_spans(void **state)
{
    (void)state;
    static const int32_t words[] = { 4, 9, 6, 10, 5, 7 };
    rg_explain_options   o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model            *m = make_classifier("encoder: bilstm\n");
    text                 x;
    rg_real              a[MOST];
    rg_subject           s = of_text(&x, m, words, 6);
    o.spans = 3;
    ok(map_of(a, &s, "occlusion", &o));
    for (size_t j = 0; j < 6; j += 2) assert_true(a[j] == a[j + 1]);
    assert_true(a[0] != a[2]);
    rg_model_free(m);
}

/* Outputs that are taken together get the mean of what each of them would have had; spans and steps become fewer. */
static void few_flops_take_neighbours_together(void **state)
{
    (void)state;
    rg_explain_options all = RG_EXPLAIN_OPTIONS_DEFAULT, few = all;
    rg_model          *m = make_translator("transformer", NULL);
    pair               p;
    rg_real            a[MOST], b[MOST];
    rg_subject         s = of_pair(&p, m, source_ids, 5);
    fill(m, 0.4);
    few.flops = 1; /* one group of outputs at the least */
    for (int contrast = 0; contrast < 2; contrast++) {
        s.against = contrast ? 9 : -1;
        ok(map_of(a, &s, "input-gradient", &all));
        ok(map_of(b, &s, "input-gradient", &few));
        for (size_t j = 0; j < 5; j++) {
            const double mean = (double)(a[j] + a[5 + j] + a[10 + j] + a[15 + j]) / 4;
            for (size_t o = 0; o < 4; o++) assert_true(fabs((double)b[5 * o + j] - mean) < 1e-6);
        }
        assert_true(fabs((double)(a[0] - a[5])) > 1e-5); /* they differ */
    }
    s.against = -1;
    all.steps = 8;
    ok(map_of(a, &s, "integrated", &all));
    few.steps = 200; /* of which 8 are left */
    ok(map_of(b, &s, "integrated", &few));
    for (size_t j = 0; j < 5; j++)
        assert_true(fabs((double)b[j] - (double)(a[j] + a[5 + j] + a[10 + j] + a[15 + j]) / 4) < 1e-6);
    rg_model_free(m);

    static const int32_t words[] = { 4, 9, 6, 10, 5, 7, 4, 8, 11, 12, 6, 3 };
    text                 x;
    m = make_classifier("encoder: bilstm\n");
    s = of_text(&x, m, words, 12);
    ok(map_of(a, &s, "occlusion", &few)); /* in 8 spans of 12 words */
    size_t values = 1;
    for (size_t j = 1; j < 12; j++) values += a[j] != a[j - 1];
    assert_int_equal(values, 8);
    few.flops = 0; /* never */
    ok(map_of(b, &s, "occlusion", &few));
    for (size_t j = 1, n = 1; j < 12; j++) {
        n += b[j] != b[j - 1];
        if (j == 11) assert_int_equal(n, 12);
    }
    rg_model_free(m);
}

/* Without values over the source, a Transformer answers as one whose value projections are zero. */
static void zeroing_every_value_is_no_attention(void **state)
{
    (void)state;
    const rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model                *m = make_translator("transformer", NULL);
    pair                     p;
    rg_subject               s = of_pair(&p, m, source_ids, 5);
    unsigned char            all[5] = { 1, 1, 1, 1, 1 }, none[5] = { 0 };
    double                   zeroed[4], without[4], with[4];
    rg_explaining           *x;
    ok(rg_explaining_new(&x, &s, &o, NULL));
    ok(rg_explaining_score(zeroed, x, all, 1, RG_CHANGE_ZERO));
    ok(rg_explaining_score(with, x, none, 1, RG_CHANGE_ZERO));
    rg_explaining_free(x);
    size_t cleared = 0;
    for (size_t i = 0; i < rg_params_count(m->params); i++) { /* queries, keys and values stand side by side: the last third or half */
        const rg_param *w = rg_params_at(m->params, i);
        const char     *name = rg_param_name(w);
        const bool      encoder = strncmp(name, "encoder.", 8) == 0 && strstr(name, "qkv"),
                        cross = strstr(name, "cross") && strstr(name, "kv");
        const size_t    cols = rg_param_cols(w), from = encoder ? cols / 3 * 2 : cols / 2;
        if (!encoder && !cross) continue;
        for (size_t k = 0; k < rg_param_rows(w); k++)
            for (size_t c = from; c < cols; c++) rg_param_data(w)[k * cols + c] = 0;
        cleared++;
    }
    assert_int_equal(cleared, 8); /* weights and biases of two layers each */
    ok(rg_params_repack(m->params, NULL));
    ok(rg_explaining_new(&x, &s, &o, NULL));
    ok(rg_explaining_score(without, x, none, 1, RG_CHANGE_OCCLUDE));
    rg_explaining_free(x);
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabs(zeroed[i] - without[i]) < 1e-5);
        assert_true(fabs(zeroed[i] - with[i]) > 1e-3);
    }
    rg_model_free(m);
}

static void occluding_what_is_not_there_changes_nothing(void **state)
{
    (void)state;
    static const char *const systems[] = { "transformer", "rnnsearch" };
    const rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    for (size_t k = 0; k < 2; k++) {
        rg_model      *m = make_translator(systems[k], NULL);
        pair           p;
        rg_subject     s = of_pair(&p, m, source_ids, 5);
        unsigned char  gone[15] = { 0 }; /* nothing; the last word; nothing */
        double         score[12];
        rg_explaining *x;
        gone[8] = 1;
        ok(rg_explaining_new(&x, &s, &o, NULL));
        ok(rg_explaining_score(score, x, gone, 3, RG_CHANGE_OCCLUDE));
        rg_explaining_free(x);
        for (size_t i = 0; i < 4; i++) {
            assert_true(score[i] == score[8 + i]);
            assert_true(score[i] != score[4 + i]);
        }
        static const int32_t shorter[] = { 4, 9, 6, 2 }; /* the sentence that never had the word */
        rg_subject           other = of_pair(&p, m, shorter, 4);
        unsigned char        none[4] = { 0 };
        double               alone[4];
        ok(rg_explaining_new(&x, &other, &o, NULL));
        ok(rg_explaining_score(alone, x, none, 1, RG_CHANGE_OCCLUDE));
        rg_explaining_free(x);
        for (size_t i = 0; i < 4; i++) assert_true(fabs(alone[i] - score[4 + i]) < 1e-6);
        rg_model_free(m);
    }
}

/* ------------------------------------------------------------------------------------------------------ faithfulness */

static void ranks_are_correlated_as_spearman_did(void **state)
{
    (void)state;
    static const double x[] = { 1, 2, 3, 4, 5 }, back[] = { 5, 4, 3, 2, 1 }, ties[] = { 1, 2, 2, 2, 5 },
                        other[] = { 2, 1, 4, 3, 5 }, same[] = { 7, 7, 7, 7, 7 };
    assert_float_equal(rg_rank_correlation(x, x, 5), 1, 1e-12);
    assert_float_equal(rg_rank_correlation(x, back, 5), -1, 1e-12);
    assert_float_equal(rg_rank_correlation(x, other, 5), 0.8, 1e-12);     /* 1 - 6 * 4 / 120        */
    assert_float_equal(rg_rank_correlation(x, ties, 5), 0.894427f, 1e-6); /* 8 / sqrt(80): ranks 1 3 3 3 5 */
    assert_float_equal(rg_rank_correlation(x, same, 5), 0, 1e-12);
}

static void occlusion_is_faithful_and_its_opposite_is_not(void **state)
{
    (void)state;
    static const int32_t words[] = { 4, 9, 6, 10, 5, 7, 11, 12 };
    rg_explain_options   o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model            *m = make_classifier("encoder: bilstm\n");
    text                 x;
    fill(m, 1);
    rg_subject      s = of_text(&x, m, words, 8);
    rg_real         map[MOST];
    rg_explaining  *e;
    rg_faithfulness with, against, quick;
    ok(map_of(map, &s, "occlusion", &o));
    ok(rg_explaining_new(&e, &s, &o, NULL));
    ok(rg_explaining_faithfulness(&with, e, map, true));
    ok(rg_explaining_faithfulness(&quick, e, map, false));
    for (size_t j = 0; j < 8; j++) map[j] = -map[j];
    ok(rg_explaining_faithfulness(&against, e, map, true));
    rg_explaining_free(e);
    assert_true(with.measured && with.k == 2 && quick.k == 0);
    assert_float_equal(with.rank, 1, 1e-6);
    assert_float_equal(quick.rank, 1, 1e-6);
    assert_float_equal(against.rank, -1, 1e-6);
    assert_true(with.drop > with.random && against.drop < against.random);
    assert_float_equal(with.random, against.random, 1e-6);
    rg_model_free(m);
}

/* ------------------------------------------------------------------------------------------------------------ records */

static const char *const names[] = { "a", "b", "c", "d", "e" };

static void records_hold_the_maps_and_how_faithful_they_are(void **state)
{
    (void)state;
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_model          *m = make_translator("transformer", NULL);
    pair               p;
    rg_subject         s = of_pair(&p, m, source_ids, 5);
    rg_record         *r, *again;
    char              *json;
    size_t             bytes;
    ok(rg_record_new(&r, "test", "translation"));
    ok(rg_record_add_labels(&s.col_labels, r, "source", RG_LABEL_TOKEN, names, 5));
    ok(rg_record_add_labels(&s.row_labels, r, "output", RG_LABEL_TOKEN, names, 4));
    o.by = "all";
    o.faithful = true;
    o.steps = 4;
    ok(rg_explain(r, &s, &o));
    assert_int_equal(r->maps, 5); /* nobody watched: no attention and no rollout */
    s.against = 4;
    s.against_text = "d";
    o.by = "gradient,occlusion";
    ok(rg_explain(r, &s, &o));
    assert_int_equal(r->maps, 7);
    assert_string_equal(r->map[6].name, "occlusion against d");
    ok(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_AUTO));
    ok(rg_record_from_json(&again, json, bytes));
    for (size_t i = 0; i < r->maps; i++) {
        assert_true(again->map[i].faith.measured);
        assert_true(memcmp(&r->map[i].faith.rank, &again->map[i].faith.rank, sizeof(float)) == 0);
        assert_true(r->map[i].faith.drop == again->map[i].faith.drop && r->map[i].faith.k == again->map[i].faith.k);
        assert_memory_equal(r->map[i].weights, again->map[i].weights, 20 * sizeof(float));
    }
    rg_record_free(again);
    rg_free(json);
    rg_record_free(r);
    rg_model_free(m);

    static const char bad[] = "{\"format\":\"regard-record/1\",\"labels\":[{\"name\":\"w\",\"text\":[\"a\"]}],\"maps\":[{"
                              "\"rows\":0,\"cols\":0,\"faithfulness\":{\"rank\":\"x\"},\"weights\":[[1]]}]}";
    assert_int_equal(rg_record_from_json(&r, bad, sizeof bad - 1), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "faithfulness"));
}

/* "the red house" and "the white house": what both have is subtracted, the rest counts 0 on the other side. */
static void two_records_stand_side_by_side(void **state)
{
    (void)state;
    static const char *const in[2][3] = { { "the", "red", "house" }, { "the", "white", "house" } };
    static const rg_real     w[2][3] = { { 1, 2, 3 }, { 5, 7, 11 } };
    static const char *const all[] = { "the", "red", "white", "house" };
    static const float       apart[] = { 4, -2, 7, 8 };
    const rg_map_place       place = { "occlusion", -1, -1, -1, -1 };
    const char *class = "noun";
    rg_record *r[2], *both;
    for (size_t i = 0; i < 2; i++) {
        size_t rows, cols;
        ok(rg_record_new(&r[i], in[i][1], "class"));
        ok(rg_record_add_labels(&cols, r[i], "words", RG_LABEL_TOKEN, in[i], 3));
        ok(rg_record_add_labels(&rows, r[i], "class", RG_LABEL_TOKEN, &class, 1));
        ok(rg_record_add_map(NULL, r[i], place, rows, cols, w[i], 3));
    }
    ok(rg_record_beside(&both, r[0], r[1]));
    assert_int_equal(both->maps, 3);
    assert_string_equal(both->map[0].name, "A: occlusion");
    assert_string_equal(both->map[1].name, "B: occlusion");
    assert_string_equal(both->map[2].name, "difference: occlusion");
    assert_int_equal(both->map[2].cols, 4);
    for (size_t j = 0; j < 4; j++) {
        bool found = false; /* red and white may change places */
        for (size_t k = 0; k < 4; k++)
            found = found || (strcmp(both->labels[both->map[2].col_labels].text[j], all[k]) == 0 &&
                              both->map[2].weights[j] == apart[k]);
        assert_true(found);
    }
    assert_float_equal(both->map[1].weights[2], 11, 0);
    rg_record_free(both);
    r[1]->map[0].name[0] = 'O';
    assert_int_equal(rg_record_beside(&both, r[0], r[1]), RG_EMATCH);
    rg_record_free(r[0]);
    rg_record_free(r[1]);
}

/* Ten words by ten fit a window of 24 lines, words and all; a light terminal has light colours. */
static void maps_fit_the_window(void **state)
{
    (void)state;
    static const char *const words[] = { "the", "old", "doctor", "that", "sings", "is", "behind", "her", "dog", "." };
    rg_terminal_options      o = RG_TERMINAL_OPTIONS_DEFAULT;
    const rg_map_place       place = { "occlusion", -1, -1, -1, -1 };
    rg_real                  w[100] = { 0 };
    rg_record               *r;
    char                    *drawn;
    size_t                   list, lines = 0;
    for (size_t i = 0; i < 10; i++) w[11 * i] = i % 3 ? 1 : -1;
    ok(rg_record_new(&r, "a title", "translation"));
    ok(rg_record_add_text(r, "source", "the old doctor", 0, false));
    ok(rg_record_add_labels(&list, r, "words", RG_LABEL_TOKEN, words, 10));
    ok(rg_record_add_map(NULL, r, place, list, list, w, 10));
    rg_record_set_faithfulness(r, 0, (rg_faithfulness){ true, 0.5f, 2, 1, 0.25f });
    o.height = 24;
    ok(rg_terminal_draw(&drawn, r, 0, &o));
    for (const char *c = drawn; *c; c++) lines += *c == '\n';
    assert_in_range(lines, 16, 24);
    assert_non_null(strstr(drawn, "behind "));
    assert_non_null(strstr(drawn, "falls by 1.00 without"));
    assert_non_null(strstr(drawn, "%%")); /* below 0 */
    rg_free(drawn);
    o.colour = RG_COLOUR_24BIT;
    o.light = true;
    ok(rg_terminal_draw(&drawn, r, 0, &o));
    assert_non_null(strstr(drawn, "48;2;255;255;255")); /* paper */
    rg_free(drawn);
    rg_record_free(r);
}

static void wrong_questions_are_refused(void **state)
{
    (void)state;
    rg_explain_options o = RG_EXPLAIN_OPTIONS_DEFAULT;
    o.by = "gradient,oclusion";
    assert_int_equal(rg_explain_check(&o), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "oclusion"));
    o.by = "attention";
    o.against = "il";
    assert_int_equal(rg_explain_check(&o), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "--against"));
    o.by = "gradient";
    assert_int_equal(rg_explain_check(&o), RG_OK);
    /* a model without attention has no values */
    rg_model  *m = make_translator("seq2seq", NULL);
    pair       p;
    rg_real    map[MOST];
    rg_subject s = of_pair(&p, m, source_ids, 5);
    assert_int_equal(map_of(map, &s, "zeroing", &o), RG_EMATCH);
    assert_int_equal(map_of(map, &s, "attention", &o), RG_EMATCH);
    rg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_definition_is_that_of_pytorch),
        cmocka_unit_test(integrated_gradients_sum_to_the_difference),
        cmocka_unit_test(copies_of_a_pass_do_not_see_each_other),
        cmocka_unit_test(later_words_do_not_matter),
        cmocka_unit_test(a_permuted_input_has_the_permuted_map),
        cmocka_unit_test(what_is_read_backwards_is_shown_in_order),
        cmocka_unit_test(many_inputs_are_occluded_in_spans),
        cmocka_unit_test(few_flops_take_neighbours_together),
        cmocka_unit_test(zeroing_every_value_is_no_attention),
        cmocka_unit_test(occluding_what_is_not_there_changes_nothing),
        cmocka_unit_test(ranks_are_correlated_as_spearman_did),
        cmocka_unit_test(occlusion_is_faithful_and_its_opposite_is_not),
        cmocka_unit_test(records_hold_the_maps_and_how_faithful_they_are),
        cmocka_unit_test(two_records_stand_side_by_side),
        cmocka_unit_test(maps_fit_the_window),
        cmocka_unit_test(wrong_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
