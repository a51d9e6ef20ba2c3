/* Copying words from the source: ids beyond the vocabulary, one distribution, the same choices when nothing is
 * copied; and softmax over the words of a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/copies.h"
#include "regard/decode.h"

#include <math.h>
#include <string.h>

enum { V = 9,
       EXTRA = 2 };

static rg_model *make(const char *system, const char *yaml)
{
    const rg_system  *s = rg_system_find(system);
    void             *options = rg_alloc_zero(s->options_bytes);
    static const char small[] = "dim-emb: 8\ntransformer-dim-ffn: 12\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: "
                                "1\ndim-rnn: 6\nlabel-smoothing: 0\n"
                                "dropout-rnn: 0\ntransformer-dropout: 0\n";
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    const rg_option_group group = { .rows = s->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
    if (rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false) != RG_OK) fail_msg("%s", rg_message());
    const rg_sizes sizes = { { { "source-vocabulary", V },
                               { "target-vocabulary", V },
                               { "joint-vocabulary", true },
                               { "bos", 1 },
                               { "eos", 2 },
                               { "unknown", 0 } } };
    rg_model      *m;
    if (rg_model_new(&m, s, options, &sizes, 9) != RG_OK) fail_msg("%s: %s", system, rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    return m;
}

static const char *const systems[] = { "rnnsearch", "luong", "transformer" };

/* Two sources: words 5, an unknown one, 5 again, another unknown one; and 6 alone. */
static const int32_t source_start[] = { 0, 5, 7 }, source_ids[] = { 5, 0, 5, 0, 2, 6, 2 },
                     copies[] = { 5, V, 5, V + 1, -1, 6, -1 };
static const rg_field source = {
    .layout = { .groups = 2, .start = source_start }, .ids = source_ids, .copies = copies, .extra = EXTRA
};

/* log p of answers, by the pass that training uses; previous[i] is what the model reads. */
static void forced(double *out, const rg_model *m, const int32_t *start, const int32_t *target, const int32_t *previous,
                   int32_t rows)
{
    static const uint64_t lines[] = { 1, 2 };
    const rg_batch        batch = {
               .examples = 2,
               .fields = 2,
               .lines = lines,
               .field = { [RG_SOURCE] = source,
                          [RG_TARGET] = { .layout = { .groups = 2, .start = start }, .ids = target, .previous = previous } }
    };
    rg_forced            *f;
    const double         *log_p;
    rg_team              *team;
    assert_int_equal(rg_team_new(&team, 1), RG_OK);
    assert_int_equal(rg_forced_new(&f, &m, 1, team), RG_OK);
    if (rg_forced_run(&log_p, f, &batch) != RG_OK) fail_msg("%s: %s", m->system->name, rg_message());
    memcpy(out, log_p, (size_t)rows * sizeof *out);
    rg_forced_free(f);
    rg_team_free(team);
}

static void probabilities_of_all_words_sum_to_one(void **state)
{
    (void)state;
    static const int32_t start[] = { 0, 1, 2 }, previous[] = { 1, 1 };
    for (size_t i = 0; i < 3; i++) {
        rg_model *m = make(systems[i], "copy: true");
        double    sum[2] = { 0, 0 };
        for (int32_t v = 0; v < V + EXTRA; v++) {
            const int32_t target[] = { v, v };
            double        log_p[2];
            forced(log_p, m, start, target, previous, 2);
            for (int g = 0; g < 2; g++) sum[g] += exp(log_p[g]);
        }
        assert_float_equal(sum[0], 1, 1e-6);
        assert_float_equal(sum[1], 1, 1e-6); /* the second source has no word beyond the vocabulary: those have probability 1e-30 */
        rg_model_free(m);
    }
}

static double log_softmax(const rg_real *row, size_t n, int32_t token)
{
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++) most = fmax(most, (double)row[j]);
    for (size_t j = 0; j < n; j++) sum += exp((double)row[j] - most);
    return (double)row[token] - most - log(sum);
}

/* What steps say of a word is what the forced pass says, of known and of copied ones. */
static void forced_scores_equal_those_of_the_decoder(void **state)
{
    (void)state;
    static const int32_t start[] = { 0, 4, 6 }, target[] = { V + 1, 5, V, 2, 6, 2 }, previous[] = { 1, 0, 5, 0, 1, 6 };
    static const char *const kinds[] = { "copy: true" };
    for (size_t i = 0; i < 3; i++) {
        rg_model    *m = make(systems[i], kinds[0]);
        rg_decoding *d;
        double       log_p[6];
        forced(log_p, m, start, target, previous, 6);
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        assert_int_equal(rg_decoding_start(d, &source), RG_OK);
        int32_t tokens[2] = { 1, 1 };
        for (int32_t step = 0; step < 4; step++) {
            const rg_real *row;
            size_t         ld;
            assert_int_equal(rg_decoding_step(&row, &ld, d, tokens), RG_OK);
            for (int32_t g = 0; g < 2; g++) {
                const int32_t at = start[g] + step;
                if (at >= start[g + 1]) continue;
                assert_float_equal(log_softmax(row + (size_t)g * ld, V + EXTRA, target[at]), log_p[at], 1e-5);
                tokens[g] = target[at];
            }
        }
        rg_decoding_free(d);
        rg_model_free(m);
    }
}

/* A gate that always generates: the plain model's bits. */
static void a_gate_that_generates_makes_the_choices_of_the_plain_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int hard = 0; hard < 2; hard++) {
            rg_model *copying = make(systems[i], hard ? "copy: true\ncopy-switch: true" : "copy: true"),
                     *plain = make(systems[i], "copy: false");
            rg_decoding   *a, *b;
            const rg_real *x, *y;
            size_t         lda, ldb;
            for (size_t k = 0; k < rg_params_count(plain->params); k++) {
                const rg_param *to = rg_params_at(plain->params, k),
                               *from = rg_params_find(copying->params, rg_param_name(to));
                memcpy(rg_param_data(to), rg_param_data(from), rg_param_rows(to) * rg_param_cols(to) * sizeof(rg_real));
            }
            const rg_param *bias = rg_params_find(copying->params, "copy.gate.b");
            assert_non_null(bias);
            rg_param_data(bias)[0] = 100;
            assert_int_equal(rg_params_repack(plain->params, NULL), RG_OK);
            assert_int_equal(rg_params_repack(copying->params, NULL), RG_OK);
            assert_int_equal(rg_decoding_new(&a, copying, NULL), RG_OK);
            assert_int_equal(rg_decoding_new(&b, plain, NULL), RG_OK);
            assert_int_equal(rg_decoding_start(a, &source), RG_OK);
            assert_int_equal(rg_decoding_start(b, &source), RG_OK);
            for (int32_t step = 0; step < 4; step++) {
                const int32_t tokens[2] = { step ? 3 + step : 1, step ? 4 : 1 };
                assert_int_equal(rg_decoding_step(&x, &lda, a, tokens), RG_OK);
                assert_int_equal(rg_decoding_step(&y, &ldb, b, tokens), RG_OK);
                for (size_t g = 0; g < 2; g++) {
                    assert_memory_equal(x + g * lda, y + g * ldb, V * sizeof *x);
                    for (size_t k = V; k < V + EXTRA; k++) assert_true(isinf((double)x[g * lda + k]));
                }
            }
            rg_decoding_free(a);
            rg_decoding_free(b);
            rg_model_free(copying);
            rg_model_free(plain);
        }
}

/* ----------------------------------------------------------------------------------------------------------- ids */

static void unknown_words_get_ids_of_their_sentence(void **state)
{
    (void)state;
    static const char *const pieces[] = { "met", "in" };
    rg_vocab                *vocab;
    rg_open_words           *words;
    rg_ids                   from = { 0 }, to = { 0 };
    rg_copies                room = { .ids = { 0 } };
    static const char        line[] = "Zbigniew met Ada in Zbigniew", answer[] = "Ada in Lviv";
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 2), RG_OK);
    const int32_t n = (int32_t)rg_vocab_size(vocab), unknown = rg_vocab_unk(vocab);
    assert_int_equal(rg_open_words_new(&words), RG_OK);
    assert_int_equal(rg_encode_open(&to, vocab, words, answer, strlen(answer)), RG_OK); /* other words first: numbers are the table's */
    assert_int_equal(rg_encode_open(&from, vocab, words, line, strlen(line)), RG_OK);
    assert_string_equal(rg_open_words_get(words, 0), "Ada");
    const int32_t from_start[] = { 0, (int32_t)from.count }, to_start[] = { 0, (int32_t)to.count };
    int32_t       previous[3] = { rg_vocab_bos(vocab), to.data[0], to.data[1] };
    rg_batch      batch = { .examples = 1,
                            .fields = 2,
                            .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = from_start }, .ids = from.data },
                                       [RG_TARGET] = { .layout = { .groups = 1, .start = to_start },
                                                       .ids = to.data,
                                                       .previous = previous } } };
    assert_int_equal(rg_copies_map(&batch, &room, vocab), RG_OK);
    const rg_field *f = &batch.field[RG_SOURCE], *t = &batch.field[RG_TARGET];
    assert_int_equal(f->extra, 2);
    const int32_t expected[] = { n, f->ids[1], n + 1, f->ids[3], n };
    for (size_t i = 0; i < 5; i++) assert_int_equal(f->copies[i], expected[i]);
    assert_int_equal(f->ids[0], unknown);
    assert_int_equal(t->ids[0], n + 1);   /* Ada, the second unknown word of the source */
    assert_int_equal(t->ids[2], unknown); /* Lviv is not there                          */
    assert_int_equal(t->previous[1], unknown);
    rg_copies_fini(&room);
    rg_ids_free(&from);
    rg_ids_free(&to);
    rg_open_words_free(words);
    rg_vocab_free(vocab);
}

/* ------------------------------------------------------------------------------------------------ output vocabulary */

static double learning_loss(const char *system, const char *yaml)
{
    static const int32_t start[] = { 0, 3, 5 }, target[] = { 3, 5, 2, 6, 2 }, previous[] = { 1, 3, 5, 1, 6 };
    const rg_batch       batch = {
              .examples = 2,
              .fields = 2,
              .field = { [RG_SOURCE] = { .layout = source.layout, .ids = source_ids },
                         [RG_TARGET] = { .layout = { .groups = 2, .start = start }, .ids = target, .previous = previous } }
    };
    rg_model            *m = make(system, yaml);
    const rg_tape_config config = { .record = false, .learn = true };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_loss loss = m->system->loss(t, m, &batch);
    if (!loss.sum) fail_msg("%s: %s", system, rg_message());
    const double value = (double)rg_tensor_at(loss.sum, 0, 0);
    rg_tape_free(t);
    rg_model_free(m);
    return value;
}

static void a_softmax_over_all_words_of_the_trick_is_the_whole_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const double all = learning_loss(systems[i], "output-vocabulary: all");
        assert_float_equal(learning_loss(systems[i], "output-vocabulary: batch:1000"), all, 1e-5);
        assert_true(learning_loss(systems[i], "output-vocabulary: batch:0") < all - 1e-3); /* fewer words to lose probability to */
        assert_float_equal(learning_loss(systems[i], "output-vocabulary: sampled:100000"), all, 1e-4);
        assert_true(fabs(learning_loss(systems[i], "output-vocabulary: sampled:1") - all) > 1e-3);
    }
}

static void a_vocabulary_that_is_none_is_refused(void **state)
{
    (void)state;
    const rg_system  *s = rg_system_find("luong");
    void             *options = rg_alloc_zero(s->options_bytes);
    static const char yaml[] = "output-vocabulary: batch:x\n";
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    const rg_option_group group = { .rows = s->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false), RG_OK);
    const rg_sizes sizes = { { { "source-vocabulary", V }, { "target-vocabulary", V } } };
    rg_model      *m;
    assert_int_equal(rg_model_new(&m, s, options, &sizes, 1), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "batch:x"));
    rg_options_fini(s->options, options);
    rg_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_of_all_words_sum_to_one),
        cmocka_unit_test(forced_scores_equal_those_of_the_decoder),
        cmocka_unit_test(a_gate_that_generates_makes_the_choices_of_the_plain_model),
        cmocka_unit_test(unknown_words_get_ids_of_their_sentence),
        cmocka_unit_test(a_softmax_over_all_words_of_the_trick_is_the_whole_one),
        cmocka_unit_test(a_vocabulary_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
