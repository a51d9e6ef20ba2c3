/* Classifiers with every encoder and every pooling, taggers with every encoder, masked language models: the gradient
 * of the whole loss with respect to every number that is learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/model.h"
#include "support/gradient.h"

#include <string.h>

static const char *const encoders[] = {
    "rnn", "lstm", "gru", "bilstm", "bigru", "transformer", "cnn", "words", "window"
};
static const char *const pools[] = { "last", "first", "mean", "max", "attention" };
enum { ENCODERS = sizeof encoders / sizeof *encoders, POOLS = sizeof pools / sizeof *pools };

/* Texts of 3, 1 and 4 tokens, and their classes; sequences of as many rows of two numbers, and a number each; a tag
 * for each token. */
static const int32_t start[] = { 0, 3, 4, 8 }, ids[] = { 4, 5, 2, 6, 3, 5, 1, 4 }, one[] = { 0, 1, 2, 3 },
                     labels[] = { 2, 0, 1 }, tags[] = { 1, 0, -1, 2, 2, 0, 1, 2 };
static const rg_real rows[] = { 0.5, -1, 2, 0.25, -0.75, 1, 0.3, 0.8, -0.2, 0.6, 1.5, -0.4, 0.9, 0.1, -1.2, 0.7 },
                     numbers[] = { 0.5, -1.5, 2 };
#define TEXTS { .kind = RG_FIELD_IDS, .layout = { .groups = 3, .start = start }, .ids = ids }
#define SEQUENCES { .kind = RG_FIELD_NUMBERS, .layout = { .groups = 3, .start = start }, .values = rows, .width = 2 }
#define CLASSES { .kind = RG_FIELD_CLASS, .layout = { .groups = 3, .start = one }, .ids = labels }
#define NUMBERS { .kind = RG_FIELD_NUMBERS, .layout = { .groups = 3, .start = one }, .values = numbers, .width = 1 }
#define TAGS { .kind = RG_FIELD_TAGS, .layout = { .groups = 3, .start = start }, .ids = tags }
static const rg_batch classed = { .examples = 3, .fields = 2, .field = { TEXTS, CLASSES } };
static const rg_batch summed = { .examples = 3, .fields = 2, .field = { SEQUENCES, NUMBERS } };
static const rg_batch tagged = { .examples = 3, .fields = 2, .field = { TEXTS, TAGS } };

/* The same texts with tokens 1, 3 and 6 chosen, one of them hidden, and pairs of segments. */
static const int32_t hidden[] = { 4, -1, 2, 6, 3, 5, 1, 4 }, said[] = { -1, 5, -1, 3, -1, -1, 6, -1 },
                     segments[] = { 0, 1, 1, 0, 0, 0, 1, 1 }, follows[] = { 0, 1, 1 };
#define ROWS(of, its) { .kind = RG_FIELD_##of, .layout = { .groups = 3, .start = start }, .ids = its }
static const rg_batch masked = {
    .examples = 3,
    .fields = 4,
    .field = { ROWS(IDS, hidden),
               ROWS(IDS, said),
               ROWS(TAGS, segments),
               { .kind = RG_FIELD_CLASS, .layout = { .groups = 3, .start = one }, .ids = follows } }
};

typedef struct {
    const rg_model *model;
    const rg_batch *batch;
} use;

static rg_tensor *loss_of(rg_tape *t, rg_tensor *const *x, void *context)
{
    const use *u = context;
    (void)x;
    return rg_model_loss(t, u->model, u->batch).sum;
}

/* Dropout drops the same numbers in every pass. Gelu: relu has kinks that differences trip over. */
static const char small[] = "dim-emb: 4\nwidth: 3\nmaps: 2\nwindow: 1\ntransformer-dim-ffn: 3\ntransformer-heads: "
                            "2\nattention-dim: 3\nlayers: 1\n"
                            "transformer-ffn-activation: gelu\nplaces: 8\ninit-deviation: 0.5\ndropout: "
                            "0.2\ndropout-emb: 0.2\ndropout-words: 0.1\n";

static void check(const char *system, const char *more, const rg_sizes *sizes, const rg_batch *batch)
{
    const rg_system      *s = rg_system_find(system);
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { .rows = s->options, .values = options };
    rg_model             *m = NULL;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    if (rg_options_read_yaml(&group, 1, small, strlen(small), "test", true) != RG_OK ||
        rg_options_read_yaml(&group, 1, more, strlen(more), "test", false) != RG_OK ||
        rg_model_new(&m, s, options, sizes, 3) != RG_OK)
        fail_msg("%s: %s", more, rg_message());
    use                    u = { m, batch };
    const rg_gradient_case c = {
        .name = more, .function = loss_of, .context = &u, .params = m->params, .plain_only = true
    };
    rg_expect_gradient(&c);
    rg_model_free(m);
    rg_options_fini(s->options, options);
    rg_free(options);
}

static const rg_sizes texts = { { { "vocabulary", 7 }, { "classes", 3 }, { "tags", 3 } } };
static const rg_sizes sequences = { { { "features", 2 }, { "classes", 1 }, { "regression", 1 } } };

static void every_encoder_with_every_pooling_has_a_correct_gradient(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODERS; e++)
        for (size_t p = 0; p < POOLS; p++) {
            char *more = rg_format("encoder: %s\npool: %s\nlayers: %d\n", encoders[e], pools[p], p == 0 ? 2 : 1);
            check("classifier", more, &texts, &classed);
            check("classifier", more, &sequences, &summed);
            rg_free(more);
        }
}

static void every_variant_of_a_classifier_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "encoder: bilstm\npool: attention\nattention-rows: 3\noverlap-penalty: 0.7\n",
        "encoder: words\npool: attention\nattention-rows: 2\noverlap-penalty: 0\ndropout-words: 0.3\n",
        "encoder: transformer\ntransformer-positions: learned\ntransformer-norm: post\nembedding-norm: true\nsegments: "
        "2\npool: first\n",
        "encoder: transformer\ntransformer-positions: learned\ntransformer-reach: causal\npool: last\nlm-weight: 0.5\n",
        "encoder: transformer\ntransformer-reach: causal\npool: mean\nlm-weight: 0.5\ntransformer-dropout-attention: "
        "0.2\n",
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check("classifier", variants[i], &texts, &classed);
}

static void a_tagger_with_every_encoder_has_a_correct_gradient(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODERS; e++) {
        char *more = rg_format("encoder: %s\n", encoders[e]);
        check("tagger", more, &texts, &tagged);
        rg_free(more);
    }
}

static void masked_models_have_a_correct_gradient(void **state)
{
    (void)state;
    static const rg_sizes alone = { { { "target-vocabulary", 7 }, { "context", 8 } } };
    static const rg_sizes pairs = { { { "target-vocabulary", 7 }, { "context", 8 }, { "follows", 1 } } };
    static const rg_sizes token = { { { "target-vocabulary", 7 }, { "context", 8 }, { "mask", 3 } } };
    check("bert", "transformer-dropout: 0.2\n", &alone, &masked);
    check("bert", "layers: 2\n", &pairs, &masked);
    check("bert", "transformer-norm: pre\nembedding-norm: false\n", &token, &masked);
    check("bert", "transformer-positions: sinusoidal\nsegments: 0\n", &pairs, &masked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoder_with_every_pooling_has_a_correct_gradient),
        cmocka_unit_test(every_variant_of_a_classifier_has_a_correct_gradient),
        cmocka_unit_test(a_tagger_with_every_encoder_has_a_correct_gradient),
        cmocka_unit_test(masked_models_have_a_correct_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
