/* grad_pictured.c - systems that look at pictures and say something, in double: gradients of every way to look, of
 * the gate and of the doubly stochastic term; the mean of the hard estimator is the exact gradient; the captions of
 * a picture together are the captions alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "regard/decode.h"
#include "support/gradient.h"

enum { PICTURES = 2, HIGH = 2, WIDE = 3, PIXELS = HIGH * WIDE, CHANNELS = 2, WORDS = 5, EOS = 0, BOS = 4 };
static const int32_t pixel_start[] = { 0, PIXELS, 2 * PIXELS };
static rg_real       values[PICTURES * PIXELS * CHANNELS];

/* Two captions of the first picture, one of the second. */
static const int32_t text_start[] = { 0, 5, 8 }, ids[] = { 1, 2, EOS, 3, EOS, 2, 1, EOS },
                     previous[] = { BOS, 1, 2, BOS, 3, BOS, 2, 1 };

static rg_batch batch_of(void)
{
    if (values[0] == 0) rg_test_fill(values, PICTURES * PIXELS * CHANNELS, 11, 0, 1);
    return (
        rg_batch){ .examples = PICTURES,
                   .fields = 2,
                   .field = { { .kind = RG_FIELD_PIXELS,
                                .layout = { .groups = PICTURES, .start = pixel_start, .height = HIGH, .width = WIDE },
                                .values = values,
                                .width = CHANNELS },
                              { .kind = RG_FIELD_IDS,
                                .layout = { .groups = PICTURES, .start = text_start },
                                .ids = ids,
                                .previous = previous } } };
}

static rg_model *make(const char *name, const char *yaml)
{
    const rg_system      *s = rg_system_find(name);
    const rg_sizes        sizes = { { { "channels", CHANNELS },
                                      { "height", HIGH },
                                      { "width", WIDE },
                                      { "target-vocabulary", WORDS },
                                      { "vocabulary", WORDS },
                                      { "bos", BOS },
                                      { "eos", EOS },
                                      { "classes", 3 },
                                      { "most-members", 2 } } };
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { name, s->options, options };
    rg_model             *m = NULL;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    if (rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK ||
        rg_model_new(&m, s, options, &sizes, 5) != RG_OK)
        fail_msg("%s: %s", yaml, rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        rg_param *p = rg_params_at(m->params, i);
        if (rg_param_get_kind(p) != RG_KEPT)
            rg_test_fill(rg_param_data(p), rg_param_rows(p) * rg_param_cols(p), 3 + i, -0.7, 0.7);
    }
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
    return m;
}

static rg_tensor *loss_of(rg_tape *t, rg_tensor *const *x, void *context)
{
    static rg_batch b; /* layouts are borrowed until the tape has gone back */
    (void)x;
    b = batch_of();
    return rg_model_loss(t, context, &b).sum;
}

#define SMALL "dim-emb: 3\ndim-rnn: 4\nlayers: ''\ndropout-rnn: 0\n"

static void every_way_to_look_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const ways[] = { SMALL "attention: soft",
                                        SMALL "attention: soft\ngate: false",
                                        SMALL "attention: soft\ndoubly-stochastic: 0.7",
                                        SMALL "attention: fixed",
                                        SMALL "attention: mean",
                                        SMALL "attention: none",
                                        SMALL "attention: hard\nsoft-share: 1",
                                        "dim-emb: 3\ndim-rnn: 4\nlayers: c1x3\ndropout-rnn: 0\ncoordinates: false" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rg_model              *m = make("caption", ways[i]);
        const rg_gradient_case c = {
            .name = ways[i], .function = loss_of, .context = m, .params = m->params, .plain_only = true, .floor = 1e-8
        };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

/* The doubly stochastic term by hand: the loss with it minus the loss without, of weights that are all alike. */
static void the_doubly_stochastic_term_counts_what_each_cell_received(void **state)
{
    (void)state;
    const rg_tape_config config = { .record = false, .learn = true };
    double               loss[2];
    for (int with = 0; with < 2; with++) {
        rg_model *m = make("caption", with ? SMALL "doubly-stochastic: 0.5" : SMALL);
        rg_tape  *t;
        for (size_t i = 0; i < rg_params_count(m->params); i++) { /* a score of 0 makes all cells alike */
            rg_param *q = rg_params_at(m->params, i);
            if (strncmp(rg_param_name(q), "attention.", 10) == 0)
                memset(rg_param_data(q), 0, rg_param_rows(q) * rg_param_cols(q) * sizeof(rg_real));
        }
        assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        loss[with] = (double)rg_tensor_at(loss_of(t, NULL, m), 0, 0);
        rg_tape_free(t);
        rg_model_free(m);
    }
    double       by_hand = 0;
    const double words[] = { 3, 2, 3 }; /* rows of the three texts */
    for (size_t i = 0; i < 3; i++) by_hand += 0.5 * PIXELS * pow(1 - words[i] / PIXELS, 2);
    assert_true(fabs(loss[1] - loss[0] - by_hand) < 1e-9);
}

/* --------------------------------------------------------------------------------------------------- hard attention */

static const int32_t one_pixels[] = { 0, PIXELS }, one_cell[] = { 0, 1 }, one_word[] = { 0, 1 }, end[] = { EOS },
                     begin[] = { BOS };

/* The caption of one word of the first picture, or of its cell `cell` alone. */
static rg_batch word_of(int cell)
{
    rg_batch b = batch_of();
    b.examples = 1;
    b.field[0].layout = cell < 0 ? (rg_layout){ .groups = 1, .start = one_pixels, .height = HIGH, .width = WIDE }
                                 : (rg_layout){ .groups = 1, .start = one_cell, .height = 1, .width = 1 };
    if (cell > 0) b.field[0].values += cell * CHANNELS;
    b.field[1] =
        (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = 1, .start = one_word }, .ids = end, .previous = begin };
    return b;
}

static double weights[PIXELS];
static bool   wants(void *context, const char *name) { return (void)context, strstr(name, "look.weights") != NULL; }
static void   see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    (void)context, (void)name, (void)reach;
    for (size_t i = 0; i < rg_tensor_rows(x) && i < PIXELS; i++) weights[i] = (double)rg_tensor_at(x, i, 0);
}

/* sum over cells of alpha times the loss when that cell is read */
static double expectation(const rg_model *m)
{
    const rg_tape_config config = { .record = false };
    const rg_watcher     watcher = { NULL, wants, see };
    rg_tape             *t;
    double               sum = 0, alpha[PIXELS];
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_set_watcher(t, &watcher);
    const rg_batch whole = word_of(-1);
    assert_non_null(rg_model_loss(t, m, &whole).sum);
    memcpy(alpha, weights, sizeof alpha);
    for (int j = 0; j < PIXELS; j++) {
        const rg_batch cell = word_of(j);
        rg_tape_reset(t, 0);
        sum += alpha[j] * (double)rg_tensor_at(rg_model_loss(t, m, &cell).sum, 0, 0);
    }
    rg_tape_free(t);
    return sum;
}

/* First states that do not see the picture, so that one cell alone is read as it is among others. */
static void blind(rg_model *m)
{
    static const char *const names[] = { "decoder.first.h.w", "decoder.first.c.w" };
    for (size_t i = 0; i < 2; i++) {
        rg_param *p = rg_params_find(m->params, names[i]);
        assert_non_null(p);
        memset(rg_param_data(p), 0, rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real));
    }
    assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
}

static void the_mean_of_the_hard_estimator_is_the_exact_gradient(void **state)
{
    (void)state;
    enum { DRAWS = 20000, MOST = 64 };
    rg_model *m = make("caption", SMALL
                       "coordinates: false\nattention: hard\nsoft-share: 0\nentropy: 0\nreward: 1\nbaseline: none");
    rg_grads *g;
    rg_tape  *t;
    double    mean[MOST] = { 0 }, square[MOST] = { 0 };
    blind(m);
    rg_param    *p = rg_params_find(m->params, "attention.additive.u");
    const size_t n = rg_param_rows(p) * rg_param_cols(p);
    assert_true(n <= MOST);
    assert_int_equal(rg_grads_new(&g, m->params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = true, .grads = g, .seed = 3 };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_batch b = word_of(-1);
    for (uint64_t s = 1; s <= DRAWS; s++) {
        rg_tape_reset(t, s);
        assert_int_equal(rg_tape_backward(t, rg_model_loss(t, m, &b).sum), RG_OK);
        const rg_real *dx = rg_grads_of(g, p);
        for (size_t i = 0; i < n; i++) mean[i] += (double)dx[i] / DRAWS, square[i] += (double)(dx[i] * dx[i]) / DRAWS;
    }
    for (size_t i = 0; i < n; i++) {
        const double h = 1e-5;
        double       by[2];
        for (int side = 0; side < 2; side++) {
            rg_param_data(p)[i] += (rg_real)(side ? 2 * h : -h);
            assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
            by[side] = expectation(m);
        }
        rg_param_data(p)[i] -= (rg_real)h;
        assert_int_equal(rg_params_repack(m->params, NULL), RG_OK);
        const double exact = (by[1] - by[0]) / (2 * h), error = sqrt(fmax(0, square[i] - mean[i] * mean[i]) / DRAWS);
        if (fabs(mean[i] - exact) > 4 * error + 1e-9)
            fail_msg("number %zu: mean %.6g +- %.2g, exact %.6g", i, mean[i], error, exact);
    }
    rg_tape_free(t);
    rg_grads_free(g);
    rg_model_free(m);
}

/* -------------------------------------------------------------------------------------------------- sets, questions */

enum { CLASSES = 3 };
static const int32_t set_start[] = { 0, 2, 3 }, members[] = { 0, 2, 1 }, turned[] = { 2, 0, 1 };
static const int32_t question_start[] = { 0, 5, 8 }, questions[] = { 1, 2, EOS, 3, EOS, 2, 1, EOS },
                     answer_start[] = { 0, 2, 3 }, answers_of[] = { 1, -1, 2 };

static rg_tensor *set_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    static rg_batch b;
    (void)x;
    b = batch_of();
    b.field[1] =
        (rg_field){ .kind = RG_FIELD_SET, .layout = { .groups = PICTURES, .start = set_start }, .ids = members };
    return rg_model_loss(t, context, &b).sum;
}

static rg_batch questions_of(void)
{
    rg_batch b = batch_of();
    b.fields = 3;
    b.field[1] =
        (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = PICTURES, .start = question_start }, .ids = questions };
    b.field[2] = (rg_field){ .kind = RG_FIELD_CLASS,
                             .layout = { .groups = PICTURES, .start = answer_start },
                             .ids = answers_of };
    return b;
}

static rg_tensor *question_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    static rg_batch b;
    (void)x;
    b = questions_of();
    return rg_model_loss(t, context, &b).sum;
}

#define SET_SMALL "dim-emb: 4\ndim-rnn: 3\ntransformer-dim-ffn: 3\ntransformer-heads: 2\ndec-depth: 1\nhidden: 3\nlayers: ''\ndropout: 0\npool: mean\n"

static void every_predictor_of_sets_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const ways[] = { SET_SMALL "predictor: bce",
                                        SET_SMALL "predictor: bce\ncardinality: cat",
                                        SET_SMALL "predictor: iou",
                                        SET_SMALL "predictor: td\ncardinality: cat",
                                        SET_SMALL "predictor: lstm",
                                        SET_SMALL "predictor: transformer",
                                        SET_SMALL "predictor: set-transformer" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rg_model              *m = make("set", ways[i]);
        const rg_gradient_case c = {
            .name = ways[i], .function = set_loss, .context = m, .params = m->params, .plain_only = true, .floor = 1e-8
        };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

static double set_loss_of(rg_model *m, const int32_t *labels, uint64_t step)
{
    const rg_tape_config config = { .record = false, .learn = true, .seed = 9 };
    rg_batch             b = batch_of();
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    rg_tape_reset(t, step);
    b.field[1] =
        (rg_field){ .kind = RG_FIELD_SET, .layout = { .groups = PICTURES, .start = set_start }, .ids = labels };
    const double loss = (double)rg_tensor_at(rg_model_loss(t, m, &b).sum, 0, 0);
    rg_tape_free(t);
    return loss;
}

/* To the last bit: no order of labels enters. Where labels are written in an order, it is drawn anew in every step. */
static void the_pooled_form_knows_no_order_of_labels(void **state)
{
    (void)state;
    rg_model *pooled = make("set", SET_SMALL "predictor: set-transformer"),
             *written = make("set", SET_SMALL "predictor: transformer");
    assert_true(set_loss_of(pooled, members, 1) == set_loss_of(pooled, turned, 1));
    bool other = false;
    for (uint64_t step = 2; step < 20; step++)
        other = other || set_loss_of(written, members, step) != set_loss_of(written, members, 1);
    assert_true(other);
    rg_model_free(pooled);
    rg_model_free(written);
}

/* Whatever the weights say: a label is written once at most, and the answer of a picture is that of the picture
 * alone. */
static void sets_have_no_repeats_and_do_not_depend_on_other_pictures(void **state)
{
    (void)state;
    static const char *const ways[] = { SET_SMALL "predictor: lstm", SET_SMALL "predictor: transformer",
                                        SET_SMALL "predictor: td", SET_SMALL "predictor: bce\ncardinality: cat" };
    const rg_tape_config     config = { .record = false };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rg_model *m = make("set", ways[i]);
        rg_tape  *t;
        rg_real   alone[CLASSES];
        rg_batch  both = batch_of(), one = batch_of();
        one.examples = 1;
        one.field[0].layout.groups = 1;
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        const rg_tensor *y = m->system->predict(t, m, &one);
        assert_non_null(y);
        for (size_t c = 0; c < CLASSES; c++) alone[c] = rg_tensor_at(y, 0, c);
        rg_tape_reset(t, 0);
        y = m->system->predict(t, m, &both);
        assert_int_equal(rg_tensor_rows(y), PICTURES);
        for (size_t c = 0; c < CLASSES; c++)
            assert_true(alone[c] == rg_tensor_at(y, 0, c) && alone[c] >= 0 && alone[c] <= 1);
        rg_tape_free(t);
        rg_model_free(m);
    }
}

static void every_way_to_ask_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const ways[] = { "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\nhops: 2",
                                        "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\nquestion: grams\nhops: 1",
                                        "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\nhops: 2\nscore: general\n"
                                        "hidden: 5\ncentre: true",
                                        "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\npool: mean",
                                        "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\npool: none" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rg_model              *m = make("san", ways[i]);
        const rg_gradient_case c = { .name = ways[i],
                                     .function = question_loss,
                                     .context = m,
                                     .params = m->params,
                                     .plain_only = true,
                                     .floor = 1e-8 };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

/* The largest change of an answer when the pictures become others. */
static double change_by_pictures(const char *yaml)
{
    const rg_tape_config config = { .record = false };
    rg_model            *m = make("san", yaml);
    rg_real              other[PICTURES * PIXELS * CHANNELS];
    rg_batch             b = questions_of();
    double               most = 0;
    rg_tape             *t[2];
    const rg_tensor     *y[2];
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(rg_tape_new(&t[k], &config), RG_OK);
        y[k] = m->system->predict(t[k], m, &b);
        assert_int_equal(rg_tape_status(t[k]), RG_OK);
        rg_test_fill(other, PICTURES * PIXELS * CHANNELS, 12, 0, 1);
        b.field[0].values = other;
    }
    assert_int_equal(rg_tensor_rows(y[0]), 3); /* questions */
    for (size_t i = 0; i < 3; i++)
        for (size_t c = 0; c < CLASSES; c++)
            most = fmax(most, fabs((double)(rg_tensor_at(y[0], i, c) - rg_tensor_at(y[1], i, c))));
    for (size_t k = 0; k < 2; k++) rg_tape_free(t[k]);
    rg_model_free(m);
    return most;
}

static void the_question_alone_sees_no_picture(void **state)
{
    (void)state;
#define ASKING "dim-emb: 3\nwidth: 4\nlayers: ''\ndropout: 0\n"
    assert_true(change_by_pictures(ASKING "pool: none") == 0);
    assert_true(change_by_pictures(ASKING "pool: mean") > 1e-3);
    assert_true(change_by_pictures(ASKING "pool: attention") > 1e-3);
}

/* --------------------------------------------------------------------------------------------------------- decoding */

static double log_p_of(const rg_model *m, const int32_t *tokens, size_t length)
{
    const rg_tape_config config = { .record = false };
    int32_t              to[16], from[16];
    const int32_t        rows[] = { 0, (int32_t)length + 1 };
    rg_batch             b = word_of(-1);
    rg_tape             *t;
    assert_true(length < 15);
    memcpy(to, tokens, length * sizeof *to);
    to[length] = EOS;
    from[0] = BOS;
    memcpy(from + 1, tokens, length * sizeof *to);
    b.field[1] =
        (rg_field){ .kind = RG_FIELD_IDS, .layout = { .groups = 1, .start = rows }, .ids = to, .previous = from };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const double loss = (double)rg_tensor_at(rg_model_loss(t, m, &b).sum, 0, 0);
    rg_tape_free(t);
    return -loss;
}

/* A beam as wide as there are strings finds the likeliest, with the log p that learning gives it. */
static void a_beam_finds_the_likeliest_caption(void **state)
{
    (void)state;
    enum { LONGEST = 2 };
    rg_model        *m = make("caption", SMALL);
    const rg_batch   b = word_of(-1);
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    rg_search       *search;
    const rg_answers *answers;
    double            best = -INFINITY;
    c.beam = 64, c.n_best = 5, c.normalize = 0, c.length_factor = 0, c.length_extra = 8;
    assert_int_equal(rg_search_new(&search, (const rg_model *const *)&m, 1, NULL), RG_OK);
    if (rg_search_run(&answers, search, &c, &b.field[0], NULL, NULL) != RG_OK) fail_msg("%s", rg_message());
    for (size_t k = 0; k < answers[0].count; k++) {
        const rg_answer *a = &answers[0].answer[k];
        if (!a->cut) assert_true(fabs(a->log_p - log_p_of(m, a->tokens, a->length)) < 1e-9);
    }
    for (int32_t x = 1; x < WORDS; x++)
        for (int32_t y = 1; y < WORDS; y++) {
            const int32_t pair[LONGEST] = { x, y };
            for (size_t length = 0; length <= LONGEST; length++) best = fmax(best, log_p_of(m, pair, length));
        }
    assert_true(answers[0].answer[0].log_p >= best - 1e-9);
    rg_search_free(search);
    rg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_look_has_a_correct_gradient),
        cmocka_unit_test(the_doubly_stochastic_term_counts_what_each_cell_received),
        cmocka_unit_test(the_mean_of_the_hard_estimator_is_the_exact_gradient),
        cmocka_unit_test(a_beam_finds_the_likeliest_caption),
        cmocka_unit_test(every_predictor_of_sets_has_a_correct_gradient),
        cmocka_unit_test(the_pooled_form_knows_no_order_of_labels),
        cmocka_unit_test(sets_have_no_repeats_and_do_not_depend_on_other_pictures),
        cmocka_unit_test(every_way_to_ask_has_a_correct_gradient),
        cmocka_unit_test(the_question_alone_sees_no_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
