/* Every system: the gradient of its whole loss with respect to every number it learns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/model.h"
#include "support/gradient.h"

#include <string.h>

/* Decodes from ids: systems that start from pictures have tests of their own. */
static bool decodes_text(const rg_system *s)
{
    return s->start && (s->task == &rg_task_translation || s->task == &rg_task_language);
}

/* Three pairs, of 3+2, 1+4 and 2+1 words. */
static const int32_t source_start[] = { 0, 3, 4, 6 }, target_start[] = { 0, 2, 6, 7 };
static const int32_t source_ids[] = { 4, 5, 2, 2, 6, 2 }, target_ids[] = { 3, 2, 4, 5, 6, 2, 2 },
                     previous[] = { 1, 3, 1, 4, 5, 6, 1 };

/* layouts are borrowed until the backward pass is over */
static const rg_batch batch = { .examples = 3,
                                .fields = 2,
                                .field = { [RG_SOURCE] = { .layout = { .groups = 3, .start = source_start },
                                                           .ids = source_ids },
                                           [RG_TARGET] = { .layout = { .groups = 3, .start = target_start },
                                                           .ids = target_ids,
                                                           .previous = previous } } };

static rg_tensor *model_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    const rg_model *m = context;
    return m->system->loss(t, m, &batch).sum;
}

/* Settings small enough to differentiate by hand; names a system does not have are skipped.
 * Gelu: relu has kinks that differences trip over. */
static const char *const small =
    "dim-emb: 4\ntransformer-dim-ffn: 3\ntransformer-heads: 2\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 3\n"
    "transformer-dropout: 0.2\ndropout-rnn: 0.2\nlabel-smoothing: 0.1\ntransformer-ffn-activation: gelu\n"
    "init-deviation: 0.5\n"
    "divide-gradient: false\n" /* what it does on purpose is not the gradient: test_sequences.c */
    "dim-hidden: 3\nsets: 1\ndilation: 2\nwidth: 2\nlayers: 2\n";

static rg_model *make(const rg_system *system, const char *more)
{
    void *options = rg_alloc_zero(system->options_bytes);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    const rg_option_group group = { .rows = system->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
    if (more) assert_int_equal(rg_options_read_yaml(&group, 1, more, strlen(more), "test", true), RG_OK);
    const rg_sizes       sizes = { { { "source-vocabulary", 7 },
                                     { "target-vocabulary", 7 },
                                     { "joint-vocabulary", true },
                                     { "bos", 1 },
                                     { "eos", 2 },
                                     { "vocabulary", 7 },
                                     { "classes", 3 },
                                     { "tags", 3 },
                                     { "features", 2 },
                                     { "context", 8 } } };
    rg_model            *m;
    rg_status            status = rg_model_new(&m, system, options, &sizes, 3);
    if (status != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static void check(const rg_system *system, const char *more)
{
    rg_model              *m = make(system, more);
    const rg_gradient_case c = {
        .name = system->name, .function = model_loss, .context = m, .params = m->params, .plain_only = true
    };
    rg_expect_gradient(&c);
    rg_model_free(m);
}

static void every_system_has_a_correct_gradient(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        if (decodes_text(*s)) check(*s, NULL);
}

static void every_variant_has_a_correct_gradient(void **state)
{
    (void)state;
    static const struct {
        const char *system, *options;
    } variants[] = {
        { "transformer", "transformer-norm: post" },
        { "transformer", "decoder: ssru" },
        { "transformer", "decoder: ssru\ntransformer-norm: post\ndecoder-start: zero" },
        { "transformer", "transformer-positions: learned" },
        { "transformer", "transformer-positions: none" },
        { "transformer", "window: 2" },
        { "transformer", "tied-embeddings-all: false" },
        { "transformer", "tied-embeddings: false" },
        { "transformer", "tied-embeddings: false\ntied-embeddings-all: false" },
        { "transformer", "transformer-norm: post\ntransformer-norm-embedding: true\ntransformer-positions: "
                         "learned\ntransformer-scale-embedding: false" },
        { "transformer",
          "decoder-start: zero\ntransformer-positions: sinusoidal-spread\ntransformer-first-position: 1" },
        { "transformer", "transformer-positions: sinusoidal-halves\ntransformer-ffn-activation: "
                         "swish\ntransformer-norm-epsilon: 0.01" },
        { "transformer", "transformer-ffn-activation: gelu_tanh" },
        { "transformer", "transformer-dropout-attention: 0.3" },
        { "transformer", "transformer-ffn-activation: relu" },
        { "transformer", "score: additive" },
        { "transformer", "score: general" },
        { "rnnsearch", "output-state: previous" },
        { "rnnsearch", "output-layer: tanh" },
        { "rnnsearch", "output-layer: tanh\noutput-state: previous\ntied-embeddings: true" },
        { "rnnsearch", "enc-combine: add" },
        { "rnnsearch", "enc-combine: multiply" },
        { "rnnsearch", "enc-bidirectional: false\nreverse: true" },
        { "rnnsearch", "cell: lstm" },
        { "seq2seq", "reverse: true\ncell: gru" },
        { "luong", "input-feeding: false" },
        { "luong", "attention-kind: local-m\nwindow: 1" },
        { "luong", "attention-kind: local-p\nwindow: 2" },
        { "luong", "score: dot\nenc-bidirectional: true" },
        { "luong", "attention-kind: local-p\nwindow: 1\ninput-feeding: false" },
        { "luong", "attention-kind: local-m\nwindow: 1\ninput-feeding: false" },
        { "luong", "score: concat" },
        { "luong", "score: location" },
        { "luong", "cell: gru" },
        { "luong", "dim-emb: 3\ntied-embeddings: true\nreverse: true" },
        { "rnnsearch", "reverse: true" },
        { "luong", "dim-emb: 3\ntied-embeddings: true\nscale-embeddings: false" },
        { "luong", "output-vocabulary: batch:2" },
        { "transformer", "output-vocabulary: batch:1\nenc-depth: 1\ndec-depth: 1" },
        /* The losses of balance are not in the loss: grad_experts.c. Four experts: with three, a row lies at the ReLU's kink. */
        { "luong", "experts: 4\ntop-experts: 2\nbalance: 0" },
        { "transformer", "experts: 3\ntop-experts: 2\nbalance: 0\nenc-depth: 1\ndec-depth: 1" },
        { "abs", "context: 2\nsmooth: 1\ndim-hidden: 3" },
        { "abs", "smooth: 0\ndim-hidden: 2\noutput-vocabulary: batch:2" },
        { "seq2seq", "summary: mean" },
        { "seq2seq", "summary: max\ncontext: every-step" },
        { "seq2seq", "context: every-step\ncell: gru" },
        { "gnmt", "enc-depth: 3\ndec-depth: 4" },
        { "gnmt", "enc-depth: 1\ncell: gru\nscore: dot" },
        { "gnmt", "dim-emb: 3\ntied-embeddings: true" },
        { "deep-att", "layers: 2,3\nfast-forward: false" },
        { "deep-att", "layers: 3,1\ncell: gru" },
        { "deep-att", "layers: 1,2\ncell: rnn" },
        { "convs2s", "kernel: 2\nenc-depth: 1\ndec-depth: 3" },
        { "convs2s", "weight-norm: true" },
        { "bytenet", "width: 2\nsets: 2\nkernel: 2\nunfold-scale: 0.7\nunfold-more: 1" },
        { "lm", "cell: rnn" },
        { "lm", "cell: gru" },
        { "lm", "cell: gru-reset-after" },
        { "lm", "look: attention\nwindow: 2" },
        { "lm", "look: key-value\ndim-rnn: 4\nwindow: 2" },
        { "lm", "look: key-value-predict\nwindow: 2" },
        { "lm", "look: n-gram\nwindow: 3" },
        { "lm", "dim-emb: 3\ntied-embeddings: true\ninit-uniform: 0.5" },
        { "lstmn", "layers: 2\nwindow: 2" },
        { "gpt", "transformer-positions: sinusoidal\nlayers: 2" },
        { "gpt", "transformer-norm: post\nlayers: 1" },
        { "gpt", "tied-embeddings: false\nlayers: 1" },
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(rg_system_find(variants[i].system), variants[i].options);
}

/* Three inputs and their classes: texts of 3, 1 and 2 words, or rows of two numbers; and a tag for each of the
 * words. */
static const int32_t label_start[] = { 0, 1, 2, 3 }, labels[] = { 2, 0, 1 }, tags[] = { 1, 0, -1, 2, 2, 0 };
static const rg_real numbers[] = { 0.5, -1, 2, 0.25, -0.75, 1 };
#define TEXTS { .kind = RG_FIELD_IDS, .layout = { .groups = 3, .start = source_start }, .ids = source_ids }
#define ROWS { .kind = RG_FIELD_NUMBERS, .layout = { .groups = 3, .start = label_start }, .values = numbers, .width = 2 }
#define CLASSES { .kind = RG_FIELD_CLASS, .layout = { .groups = 3, .start = label_start }, .ids = labels }
#define TAGS { .kind = RG_FIELD_TAGS, .layout = { .groups = 3, .start = source_start }, .ids = tags }
static const rg_batch classed_texts = { .examples = 3, .fields = 2, .field = { TEXTS, CLASSES } };
static const rg_batch classed_rows = { .examples = 3, .fields = 2, .field = { ROWS, CLASSES } };
static const rg_batch tagged = { .examples = 3, .fields = 2, .field = { TEXTS, TAGS } };

static rg_tensor *label_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    const rg_model *m = context;
    const bool      text = !m->system->reads || strcmp(m->system->reads, "text") == 0;
    return rg_model_loss(t, m, m->system->task == &rg_task_tag ? &tagged : text ? &classed_texts : &classed_rows).sum;
}

static void every_classifier_and_tagger_has_a_correct_gradient(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if ((*s)->task != &rg_task_classify && (*s)->task != &rg_task_tag) continue;
        if ((*s)->reads && strcmp((*s)->reads, "pixels") == 0) continue; /* grad_vision.c */
        if (strcmp((*s)->name, "classifier") == 0) continue; /* grad_encoders.c */
        rg_model *m = make(*s, strcmp((*s)->name, "mlp") == 0 ? "layers: 3 2\nactivation: tanh" : "width: 4\n");
        const rg_gradient_case c = {
            .name = (*s)->name, .function = label_loss, .context = m, .params = m->params, .plain_only = true
        };
        rg_expect_gradient(&c);
        rg_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_has_a_correct_gradient),
        cmocka_unit_test(every_variant_has_a_correct_gradient),
        cmocka_unit_test(every_classifier_and_tagger_has_a_correct_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
