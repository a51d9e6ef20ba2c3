/* Guided alignment: the gradient of a translation's loss with that of a guided head, of systems that look at their
 * source all at once, step by step and in every layer; one head and the mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gradient.h"
#include "tasks/guided.h"

#include <string.h>

static const char *const words[] = { "ba", "dego", "kula", "de", "ku" };

typedef struct {
    rg_translator *translator;
    rg_corpus     *corpus;
    rg_guided     *guided;
    rg_batch       batch;
} instance;

static rg_translator *translator_of(const rg_system *s, const rg_vocab *vocab, rg_vocab *own)
{
    static const char small[] =
        "dim-emb: 4\ntransformer-dim-ffn: 3\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\n"
        "dim-rnn: 3\ntransformer-ffn-activation: gelu\ntransformer-dropout: 0.2\ndropout-rnn: 0.2\n";
    void                 *options = rg_alloc_zero(s->options_bytes);
    const rg_option_group group = { .rows = s->options, .values = options };
    const rg_sizes        sizes = rg_sizes_of_text(vocab, vocab);
    rg_model             *m;
    rg_translator        *t;
    assert_int_equal(rg_options_init(s->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, small, strlen(small), "test", true), RG_OK);
    if (rg_model_new(&m, s, options, &sizes, 3) != RG_OK) fail_msg("%s", rg_message());
    rg_options_fini(s->options, options);
    rg_free(options);
    if (rg_translator_new(&t, m, own, NULL) != RG_OK) fail_msg("%s", rg_message());
    return t;
}

static rg_tensor *loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    const instance *i = context;
    (void)x;
    return rg_guided_loss_of(i->guided, t, &i->batch).sum;
}

static rg_status open_guided(instance *i, int head)
{
    static const char text[] = "0-0 1-1\n0-1\n1-0 1-1 0-0\n";
    rg_guided_config  c = { 0.7, 0, head };
    rg_corpus_config  corpus = RG_CORPUS_CONFIG_DEFAULT;
    rg_word_links    *links;
    const rg_vocab   *v = i->translator->source;
    corpus.mini_batch = 3;
    assert_int_equal(rg_file_replace("links", text, strlen(text)), RG_OK);
    assert_int_equal(rg_corpus_new(&i->corpus, &corpus, v, v), RG_OK);
    assert_int_equal(rg_corpus_add(i->corpus, "ba dego", "kula de", 1), RG_OK);
    assert_int_equal(rg_corpus_add(i->corpus, "kula", "ba ba", 2), RG_OK);
    assert_int_equal(rg_corpus_add(i->corpus, "de ba", "ku dego", 3), RG_OK);
    assert_int_equal(rg_corpus_seal(i->corpus), RG_OK);
    if (rg_word_links_load(&links, "links", i->corpus, v, v) != RG_OK) fail_msg("%s", rg_message());
    assert_int_equal(rg_word_links_count(links), 6);
    RG_TRY(rg_guided_new(&i->guided, &c, links, i->translator, i->corpus));
    return rg_corpus_next(&i->batch, NULL, i->corpus);
}

static void every_guided_system_has_a_correct_gradient(void **state)
{
    size_t guided = 0;
    static const char *const names[] = { "transformer", "rnnsearch", "luong", "convs2s", "seq2seq" };
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const rg_system *const system = rg_system_find(names[n]), *const *s = &system;
        for (int head = strcmp((*s)->name, "transformer") == 0 ? -1 : 0; head < 1; head++) {
            rg_vocab *vocab = NULL;
            instance  i = { 0 };
            assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, words, 5), RG_OK);
            i.translator = translator_of(*s, vocab, vocab);
            if (open_guided(&i, head) == RG_OK) {
                const rg_gradient_case c = { .name = (*s)->name,
                                             .function = loss,
                                             .context = &i,
                                             .params = i.translator->model->params,
                                             .plain_only = true };
                assert_string_equal(i.translator->alignment_name, rg_guided_point(i.guided));
                rg_expect_gradient(&c);
                guided++;
            } else {
                assert_non_null(strstr(rg_message(), "no attention over its source"));
            }
            rg_guided_free(i.guided);
            rg_corpus_free(i.corpus);
            rg_translator_free(i.translator);
        }
    }
    assert_int_equal(guided, 5); /* the Transformer twice, seq2seq does not look back */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_guided_system_has_a_correct_gradient) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
