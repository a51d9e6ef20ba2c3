/* test_text_sample.c - lines cut anew: the same text, in the proportions of the formulas, the same from the same
 * seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/text/vocab.h"

static const char *const lines[] = {
    "the old dog sleeps under the table",
    "les petits chats mangent \xC3\xA0 la maison",
    "a cat sees the small dogs on the tables",
    "un \xC3\xA9t\xC3\xA9 chaud et sec",
    "the table of the old man is small",
    "",
    "aujourd'hui il pleut",
};
enum { LINES = sizeof lines / sizeof *lines };

static rg_status feed(bool *more, const char **text, size_t *bytes, void *context)
{
    size_t *next = context;
    *more = *next < 20 * LINES;
    if (!*more) return RG_OK;
    *text = lines[(*next)++ % LINES];
    *bytes = strlen(*text);
    return RG_OK;
}

static rg_vocab *train(rg_vocab_kind kind)
{
    rg_vocab_config config = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    size_t          next = 0;
    config.kind = kind;
    config.size = 90;
    assert_int_equal(rg_vocab_train(&vocab, &config, feed, &next), RG_OK);
    return vocab;
}

static rg_ids encode(const rg_vocab *vocab, const char *line)
{
    rg_ids ids = { 0 };
    assert_int_equal(rg_vocab_encode(&ids, NULL, vocab, line, strlen(line)), RG_OK);
    return ids;
}

static rg_ids sample(const rg_vocab *vocab, const rg_ids *from, double alpha, uint64_t seed)
{
    rg_ids    ids = { 0 };
    rg_random random = rg_random_new(seed, 0);
    assert_int_equal(rg_vocab_sample(&ids, vocab, from->data, from->count, alpha, &random), RG_OK);
    return ids;
}

static bool equal(const rg_ids *a, const rg_ids *b)
{
    return a->count == b->count && (!a->count || memcmp(a->data, b->data, 4 * a->count) == 0);
}

static const rg_vocab_kind kinds[] = { RG_VOCAB_BPE, RG_VOCAB_UNIGRAM };

static void another_cut_is_the_same_text(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rg_vocab *vocab = train(kinds[k]);
        unsigned  other = 0;
        for (uint64_t seed = 0; seed < 30; seed++)
            for (size_t i = 0; i < LINES; i++) {
                rg_ids ids = encode(vocab, lines[i]), cut = sample(vocab, &ids, seed % 3 ? 0.2 : 1, seed),
                       again = sample(vocab, &ids, seed % 3 ? 0.2 : 1, seed);
                rg_text text = { 0 };
                assert_int_equal(rg_vocab_decode(&text, vocab, cut.data, cut.count), RG_OK);
                assert_string_equal(rg_text_c(&text), lines[i]);
                assert_true(equal(&cut, &again));
                other += !equal(&cut, &ids);
                rg_text_free(&text);
                rg_ids_free(&ids);
                rg_ids_free(&cut);
                rg_ids_free(&again);
            }
        assert_true(other > 100);
        rg_vocab_free(vocab);
    }
}

/* Merges that are hardly ever left out: SentencePiece's own cut. All left out: characters. */
static void bpe_without_dropping_is_sentencepieces(void **state)
{
    (void)state;
    rg_vocab *vocab = train(RG_VOCAB_BPE);
    for (size_t i = 0; i < LINES; i++) {
        rg_ids ids = encode(vocab, lines[i]), same = sample(vocab, &ids, 1e-9, i), letters = sample(vocab, &ids, 1, i);
        assert_true(equal(&ids, &same));
        for (size_t j = 0; j < letters.count; j++) {
            const char *piece = rg_vocab_piece(vocab, letters.data[j]);
            uint32_t    character;
            assert_int_equal(rg_utf8_next(&character, piece, strlen(piece)), strlen(piece));
        }
        rg_ids_free(&ids);
        rg_ids_free(&same);
        rg_ids_free(&letters);
    }
    rg_vocab_free(vocab);
}

/* All cuts of `text` by plain recursion: those that are met are `cut`, count pieces so far. */
typedef struct {
    const rg_vocab *vocab;
    double          alpha, weight[4096];
    rg_ids          cut[4096];
    size_t          cuts;
} listing;

static void list_cuts(listing *l, const char *text, int32_t *pieces, size_t count, double score)
{
    if (!*text) {
        l->weight[l->cuts] = exp(l->alpha * score);
        for (size_t i = 0; i < count; i++) assert_int_equal(rg_ids_add(&l->cut[l->cuts], pieces[i]), RG_OK);
        l->cuts++;
        return;
    }
    for (size_t n = 1; n <= strlen(text); n++) {
        pieces[count] = rg_spm_find_ordinary(l->vocab->spm, text, n);
        if (pieces[count] >= 0)
            list_cuts(l, text + n, pieces, count + 1, score + rg_spm_score(l->vocab->spm, pieces[count]));
    }
}

static void unigram_cuts_come_in_proportion_to_their_probability(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    rg_vocab      *vocab = train(RG_VOCAB_UNIGRAM);
    static listing l;
    int32_t        pieces[32];
    double         sum = 0;
    l.vocab = vocab;
    l.alpha = 0.3;
    list_cuts(&l, RG_BLANK_MARK "tables", pieces, 0, 0);
    assert_true(l.cuts > 5);
    for (size_t i = 0; i < l.cuts; i++) sum += l.weight[i];
    rg_ids   ids = encode(vocab, "tables");
    unsigned seen[4096] = { 0 };
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        rg_ids cut = sample(vocab, &ids, l.alpha, seed);
        size_t i = 0;
        while (i < l.cuts && !equal(&cut, &l.cut[i])) i++;
        assert_true(i < l.cuts);
        seen[i]++;
        rg_ids_free(&cut);
    }
    for (size_t i = 0; i < l.cuts; i++) {
        const double p = l.weight[i] / sum, deviation = sqrt(DRAWS * p * (1 - p));
        assert_true(fabs(seen[i] - DRAWS * p) < 4.5 * deviation + 1);
        rg_ids_free(&l.cut[i]);
    }
    rg_ids_free(&ids);
    rg_vocab_free(vocab);
}

static void bpe_leaves_out_merges_as_often_as_asked(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    rg_vocab *vocab = train(RG_VOCAB_BPE);
    rg_ids    ids = encode(vocab, "a"); /* one merge: the mark and the letter */
    unsigned  apart = 0;
    assert_int_equal(ids.count, 1);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        rg_ids cut = sample(vocab, &ids, 0.1, seed);
        apart += cut.count == 2;
        rg_ids_free(&cut);
    }
    assert_true(fabs(apart - 0.1 * DRAWS) < 4.5 * sqrt(DRAWS * 0.09));
    rg_ids_free(&ids);
    rg_vocab_free(vocab);
}

static void words_with_unknown_pieces_and_endless_ones_stay(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rg_vocab *vocab = train(kinds[k]);
        char      line[400] = "tables";
        memset(line + 6, 'a', 300);
        rg_ids strange = encode(vocab, "\xE6\xBC\xA2"), endless = encode(vocab, line);
        rg_ids cut = sample(vocab, &strange, 1, 1), same = sample(vocab, &endless, 1, 1);
        assert_true(equal(&strange, &cut));
        assert_true(equal(&endless, &same));
        rg_ids_free(&strange);
        rg_ids_free(&endless);
        rg_ids_free(&cut);
        rg_ids_free(&same);
        rg_vocab_free(vocab);
    }
}

/* ---------------------------------------------------------------------------------------------------------- corpora */

static rg_corpus *make_corpus(const rg_corpus_config *config, const rg_vocab *vocab)
{
    rg_corpus *corpus = NULL;
    assert_int_equal(rg_corpus_new(&corpus, config, vocab, vocab), RG_OK);
    for (uint64_t i = 0; i < 5 * LINES; i++)
        assert_int_equal(rg_corpus_add(corpus, lines[i % LINES], lines[(i + 2) % LINES], i + 1), RG_OK);
    assert_int_equal(rg_corpus_seal(corpus), RG_OK);
    return corpus;
}

/* Batches say their lines' text; the digest tells their pieces. */
static uint64_t read_batches(rg_corpus *corpus, const rg_vocab *vocab, size_t longest, int count)
{
    uint64_t sum = 0;
    rg_batch b;
    for (int n = 0; n < count; n++) {
        assert_int_equal(rg_corpus_next(&b, NULL, corpus), RG_OK);
        for (size_t g = 0; g < b.examples; g++) {
            const size_t pieces =
                (size_t)(b.field[RG_TARGET].layout.start[g + 1] - b.field[RG_TARGET].layout.start[g]) - 1;
            rg_text      text = { 0 };
            assert_true(pieces <= longest);
            assert_int_equal(
                rg_vocab_decode(&text, vocab, b.field[RG_TARGET].ids + b.field[RG_TARGET].layout.start[g], pieces),
                RG_OK);
            assert_string_equal(rg_text_c(&text), lines[(b.lines[g] + 1) % LINES]);
            rg_text_free(&text);
        }
        for (int32_t j = 0; j < b.field[RG_TARGET].layout.start[b.examples]; j++)
            sum = sum * 1000003 + (uint64_t)b.field[RG_TARGET].ids[j];
        for (int32_t j = 0; j < b.field[RG_SOURCE].layout.start[b.examples]; j++)
            sum = sum * 1000003 + (uint64_t)b.field[RG_SOURCE].ids[j];
    }
    return sum;
}

static void a_corpus_is_cut_anew_each_epoch_and_resumes_alike(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        rg_vocab        *vocab = train(kinds[k]);
        rg_corpus_config config = RG_CORPUS_CONFIG_DEFAULT;
        config.mini_batch = 4;
        config.maxi_batch = 3;
        config.shuffle = false; /* only the cut differs between epochs */
        rg_corpus *plain = make_corpus(&config, vocab);
        config.source_alpha = config.target_alpha = 0.2;
        config.max_length = 25;
        rg_corpus *a = make_corpus(&config, vocab), *b = make_corpus(&config, vocab);
        config.memory = 100;
        config.temp = ".";
        rg_corpus *disk = make_corpus(&config, vocab);
        const uint64_t first = read_batches(a, vocab, 25, 6);
        assert_true(first != read_batches(plain, vocab, 100, 6));
        assert_true(first == read_batches(b, vocab, 25, 6));
        assert_true(first == read_batches(disk, vocab, 25, 6));
        read_batches(a, vocab, 25, 9);
        assert_int_equal(rg_corpus_seek(b, rg_corpus_tell(a)), RG_OK);
        assert_true(read_batches(a, vocab, 25, 7) == read_batches(b, vocab, 25, 7));
        assert_true(rg_corpus_checksum(a) != rg_corpus_checksum(plain));
        rg_corpus_free(plain);
        rg_corpus_free(a);
        rg_corpus_free(b);
        rg_corpus_free(disk);
        rg_vocab_free(vocab);
    }
}

static void what_cannot_be_cut_anew_is_refused(void **state)
{
    (void)state;
    const double     bad[] = { -0.1, 1.5, NAN };
    rg_vocab        *bpe = train(RG_VOCAB_BPE), *letters = train(RG_VOCAB_CHARACTERS);
    rg_corpus       *corpus = NULL;
    rg_corpus_config config = RG_CORPUS_CONFIG_DEFAULT;
    rg_ids           ids = { 0 };
    rg_random        random = rg_random_new(1, 1);
    for (size_t i = 0; i < 3; i++) {
        config.source_alpha = bad[i];
        assert_int_equal(rg_corpus_new(&corpus, &config, bpe, bpe), RG_EINVAL);
    }
    config.source_alpha = 0.1;
    assert_int_equal(rg_corpus_new(&corpus, &config, letters, bpe), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "characters"));
    assert_int_equal(rg_corpus_new(&corpus, &config, NULL, bpe), RG_EINVAL);
    assert_int_equal(rg_vocab_sample(&ids, letters, NULL, 0, 0.1, &random), RG_EINVAL);
    rg_vocab_free(bpe);
    rg_vocab_free(letters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_cut_is_the_same_text),
        cmocka_unit_test(bpe_without_dropping_is_sentencepieces),
        cmocka_unit_test(unigram_cuts_come_in_proportion_to_their_probability),
        cmocka_unit_test(bpe_leaves_out_merges_as_often_as_asked),
        cmocka_unit_test(words_with_unknown_pieces_and_endless_ones_stay),
        cmocka_unit_test(a_corpus_is_cut_anew_each_epoch_and_resumes_alike),
        cmocka_unit_test(what_cannot_be_cut_anew_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
