/* The aligner finds a made-up dictionary; heads are ranked, the best is stored in the model file and read again;
 * gold links are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/text/ibm1.h"
#include "regard/ranks.h"
#include "regard/view.h"
#include "tasks/content.h"

/* Source word w is target word w + 100; the target stands in reverse order, and word 999 comes from nothing. */
static void the_aligner_finds_a_dictionary_in_reversed_sentences(void **state)
{
    enum { PAIRS = 400, LENGTH = 6, WORDS = 30 };
    static int32_t source[PAIRS * LENGTH], target[PAIRS * (LENGTH + 1)], link[PAIRS * (LENGTH + 1)];
    static size_t  source_start[PAIRS + 1], target_start[PAIRS + 1];
    rg_random      random = rg_random_new(3, 0);
    size_t         right = 0, wrong = 0;
    (void)state;
    for (size_t p = 0; p < PAIRS; p++) {
        int32_t *s = source + p * LENGTH, *t = target + p * (LENGTH + 1);
        for (size_t i = 0; i < LENGTH; i++) { /* no word twice: both ways must agree on one */
            bool again = true;
            while (again) {
                s[i] = (int32_t)rg_random_below(&random, WORDS);
                again = false;
                for (size_t k = 0; k < i; k++) again = again || s[k] == s[i];
            }
        }
        for (size_t i = 0; i < LENGTH; i++) t[LENGTH - 1 - i] = s[i] + 100;
        t[LENGTH] = 999;
        source_start[p + 1] = (p + 1) * LENGTH;
        target_start[p + 1] = (p + 1) * (LENGTH + 1);
    }
    const rg_bitext text = {
        .pairs = PAIRS, .source = source, .target = target, .source_start = source_start, .target_start = target_start
    };
    assert_int_equal(rg_ibm1_align(link, &text, 8), RG_OK);
    for (size_t p = 0; p < PAIRS; p++) {
        const int32_t *found = link + p * (LENGTH + 1);
        for (size_t j = 0; j < LENGTH; j++) *(found[j] == (int32_t)(LENGTH - 1 - j) ? &right : &wrong) += 1;
        assert_int_equal(found[LENGTH], -1);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(right, PAIRS * LENGTH);
}

static void a_text_without_pairs_or_words_is_aligned_to_nothing(void **state)
{
    const size_t    start[] = { 0, 0, 1 }, target_start[] = { 0, 1, 1 };
    const int32_t   words[] = { 7 };
    int32_t         link[1] = { 5 };
    const rg_bitext none = {
        .pairs = 0, .source = words, .target = words, .source_start = start, .target_start = start
    };
    const rg_bitext odd = {
        .pairs = 2, .source = words, .target = words, .source_start = start, .target_start = target_start
    };
    (void)state;
    assert_int_equal(rg_ibm1_align(link, &none, 5), RG_OK);
    assert_int_equal(rg_ibm1_align(link, &odd, 5), RG_OK);
    assert_int_equal(link[0], -1);
}

/* ------------------------------------------------------------------------------------------------------ ranking */

static rg_translator *make_translator_with(const char *name, const char *more)
{
    static const char *const pieces[] = { "a", "b", "c", "d", "e" };
    static const char *const yaml =
        "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 12\n";
    const rg_system         *system = rg_system_find(name);
    void                    *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group    group = { .rows = system->options, .values = options };
    rg_vocab                *vocab;
    rg_model                *model;
    rg_translator           *t;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 5), RG_OK);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true);
    if (*more) assert_int_equal(rg_options_read_yaml(&group, 1, more, strlen(more), "test", true), RG_OK);
    const rg_sizes sizes = rg_sizes_of_text(vocab, vocab);
    assert_int_equal(rg_model_new(&model, system, options, &sizes, 5), RG_OK);
    rg_options_fini(system->options, options);
    rg_free(options);
    assert_int_equal(rg_translator_new(&t, model, vocab, NULL), RG_OK);
    return t;
}

static rg_translator *make_translator(const char *name) { return make_translator_with(name, ""); }

static rg_corpus *make_corpus(const rg_translator *t)
{
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    rg_corpus       *corpus;
    c.shuffle = false;
    c.maxi_batch = 0;
    assert_int_equal(rg_corpus_new(&corpus, &c, t->source, t->target), RG_OK);
    assert_int_equal(rg_corpus_add(corpus, "a b c", "c b a", 1), RG_OK);
    assert_int_equal(rg_corpus_add(corpus, "a d", "d a", 2), RG_OK);
    assert_int_equal(rg_corpus_add(corpus, "e", "e", 3), RG_OK);
    assert_int_equal(rg_corpus_seal(corpus), RG_OK);
    return corpus;
}

static void heads_are_ranked_and_the_best_is_kept_in_the_model_file(void **state)
{
    const char          *path = "test_heads.safetensors";
    rg_head_ranks_config config = RG_HEAD_RANKS_CONFIG_DEFAULT;
    (void)state;
    rg_translator *t = make_translator("transformer"), *again;
    rg_corpus     *corpus = make_corpus(t);
    rg_head_ranks *ranks;
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_OK);
    assert_int_equal(ranks->count, 10); /* two layers of four heads and their mean */
    assert_int_equal(ranks->pairs, 3);
    assert_true(ranks->links > 0);
    for (size_t i = 0; i < ranks->count; i++) {
        assert_true(ranks->score[i].score >= 0 && ranks->score[i].score <= 1);
        assert_true(ranks->score[i].content >= 0 && ranks->score[i].content <= 1);
        assert_true(i == 0 || ranks->score[i].content < ranks->score[i - 1].content ||
                    (ranks->score[i].content == ranks->score[i - 1].content &&
                     ranks->score[i].score <= ranks->score[i - 1].score));
    }
    assert_int_equal(rg_head_ranks_choose(t, &ranks->score[3], false), RG_OK);
    assert_int_equal(rg_translator_save(t, path), RG_OK);
    assert_int_equal(rg_translator_load(&again, path), RG_OK);
    assert_string_equal(again->alignment_name, ranks->score[3].name);
    assert_int_equal(again->alignment_head, ranks->score[3].head);
    rg_translator_free(again);
    rg_head_ranks_free(ranks);
    rg_corpus_free(corpus);
    rg_translator_free(t);
    unlink(path);
}

static void content_words_are_no_punctuation_and_no_small_words(void **state)
{
    static const char *const pieces[] = { "the", "dog",  "runs",  "in", "a",    "park", ".", ",",
                                          "der", "Hund", "rennt", "im", "Park", "ein",  "42" };
    static const int32_t     english[] = { 0, 1, 2, 3, 4, 5, 6, 14 }, german[] = { 8, 9, 10, 11, 12, 7, 6 };
    static const bool        content[] = { false, true, true, false, false, true, false, true },
                      inhalt[] = { false, true, true, false, true, false, false };
    rg_vocab      *vocab;
    rg_small_words en = { 0 }, de = { 0 }, none = { 0 };
    int32_t        ids[8];
    bool           found[8];
    (void)state;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 15), RG_OK);
    int32_t first = 0;
    while (strcmp(rg_vocab_piece(vocab, first), "the") != 0) first++;
    for (int i = 0; i < 8; i++) ids[i] = english[i] + first;
    assert_int_equal(rg_content_count(&en, vocab, ids, 8), RG_OK);
    assert_string_equal(rg_content_language(&en), "en");
    assert_int_equal(rg_content_mark(found, "en", vocab, ids, 8), RG_OK);
    assert_memory_equal(found, content, 8);
    for (int i = 0; i < 7; i++) ids[i] = german[i] + first;
    assert_int_equal(rg_content_count(&de, vocab, ids, 7), RG_OK);
    assert_string_equal(rg_content_language(&de), "de");
    assert_int_equal(rg_content_mark(found, "de", vocab, ids, 7), RG_OK);
    assert_memory_equal(found, inhalt, 7);
    assert_null(rg_content_language(&none));
    rg_vocab_free(vocab);
}

static bool always(const void *context) { return context == NULL; }

/* What the search saw step by step is what a second pass sees, for every recurrent decoder that looks back. */
static void a_recurrent_decoder_gives_the_map_it_searched_with(void **state)
{
    static const char *const systems[][2] = { { "rnnsearch", "" },
                                              { "luong", "" },
                                              { "luong", "attention-kind: local-p\n" },
                                              { "luong", "input-feeding: false\n" } };
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        const char          *line = "a b c d e a";
        rg_translator       *t = make_translator_with(systems[k][0], systems[k][1]);
        rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
        rg_session          *session;
        const rg_translated *result;
        rg_record           *r;
        config.search.attention = true;
        config.search.n_best = 2;
        config.search.beam = 3;
        config.search.length_factor = 1;
        assert_int_equal(rg_session_new(&session, &t, 1, 1), RG_OK);
        assert_int_equal(rg_session_run(&result, session, &config, &line, 1, 0, NULL), RG_OK);
        assert_int_equal(rg_record_of_heads_until(&r, t, result, NULL, always, NULL), RG_ESTOP);
        assert_null(r);
        assert_int_equal(rg_record_of_heads(&r, t, result, NULL), RG_OK);
        assert_int_equal(r->maps, 4); /* two answers, each as it was searched and as it is seen again */
        for (size_t a = 0; a < 2; a++) {
            const rg_record_map *searched = &r->map[a], *seen = &r->map[2 + a];
            assert_string_equal(searched->name, "alignment");
            assert_string_equal(seen->name, "decoder.attention");
            assert_int_equal(seen->hypothesis, (int)a);
            assert_true(searched->rows == seen->rows && searched->cols == seen->cols && seen->rows > 0);
            assert_true(searched->row_labels == seen->row_labels && searched->col_labels == seen->col_labels);
            for (size_t i = 0; i < seen->rows * seen->cols; i++)
                assert_float_equal(searched->weights[i], seen->weights[i], 1e-4);
        }
        rg_record_free(r);
        rg_session_free(session);
        rg_translator_free(t);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* When every link is gold and sure, each head's links A lie in S: 1 - AER = 2 |A| / (|A| + |S|). */
static void gold_links_give_the_alignment_error_rate(void **state)
{
    const char          *path = "test_heads.gold";
    rg_head_ranks_config config = RG_HEAD_RANKS_CONFIG_DEFAULT;
    (void)state;
    rg_translator *t = make_translator("transformer");
    rg_corpus     *corpus = make_corpus(t);
    rg_head_ranks *ranks;
    config.gold = path;
    write_file(path, "0-0 0-1 0-2 1-0 1-1 1-2 2-0 2-1 2-2\n0-0 0-1 1-0 1-1\n0-0\n");
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_OK);
    assert_int_equal(ranks->links, 14);
    for (size_t i = 0; i < ranks->count; i++) assert_float_equal(ranks->score[i].score, 2.0 * 6 / (6 + 14), 1e-12);
    rg_head_ranks_free(ranks);
    write_file(path, "0?0 0?1 0?2 1?0 1?1 1?2 2?0 2?1 2?2\n0-0 0-1 1-0 1-1\n0-0\n"); /* possible ones count once */
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_OK);
    for (size_t i = 0; i < ranks->count; i++) assert_float_equal(ranks->score[i].score, (6.0 + 3) / (6 + 5), 1e-12);
    rg_head_ranks_free(ranks);
    write_file(path, "0-0\n0-x\n");
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_EFORMAT);
    write_file(path, "0-0\n");
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_EMATCH);
    rg_corpus_free(corpus);
    rg_translator_free(t);
    unlink(path);
}

static void a_model_that_does_not_look_back_has_no_heads_to_rank(void **state)
{
    const rg_head_ranks_config config = RG_HEAD_RANKS_CONFIG_DEFAULT;
    (void)state;
    rg_translator *t = make_translator("seq2seq");
    rg_corpus     *corpus = make_corpus(t);
    rg_head_ranks *ranks;
    assert_int_equal(rg_head_ranks_new(&ranks, t, corpus, &config), RG_EINVAL);
    rg_corpus_free(corpus);
    rg_translator_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_aligner_finds_a_dictionary_in_reversed_sentences),
        cmocka_unit_test(a_text_without_pairs_or_words_is_aligned_to_nothing),
        cmocka_unit_test(heads_are_ranked_and_the_best_is_kept_in_the_model_file),
        cmocka_unit_test(content_words_are_no_punctuation_and_no_small_words),
        cmocka_unit_test(a_recurrent_decoder_gives_the_map_it_searched_with),
        cmocka_unit_test(gold_links_give_the_alignment_error_rate),
        cmocka_unit_test(a_model_that_does_not_look_back_has_no_heads_to_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
