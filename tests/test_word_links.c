/* test_word_links.c - word alignments of a corpus: read from a file, learned, and which tokens a link of words means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/faults.h"
#include "tasks/word_links.h"

static const char *const words[] = { "a", "b", "c", "d", "l'", "x" };

static void write_lines(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static rg_corpus *corpus_of(const rg_vocab *v)
{
    rg_corpus_config c = RG_CORPUS_CONFIG_DEFAULT;
    rg_corpus       *corpus;
    c.max_length = 3;
    write_lines("l.src", "a b\nc\na b c d\nd c\n"); /* the third is too long */
    write_lines("l.tgt", "b a\nc\nd\nc l'x\n");
    if (rg_corpus_open(&corpus, &c, "l.src", "l.tgt", v, v) != RG_OK) fail_msg("%s", rg_message());
    return corpus;
}

static void links_are_found_by_line(void **state)
{
    rg_vocab      *v;
    rg_word_links *l;
    const uint16_t(*link)[2] = NULL;
    assert_int_equal(rg_vocab_from_pieces(&v, RG_VOCAB_WORDS, words, 6), RG_OK);
    rg_corpus *corpus = corpus_of(v);
    write_lines("links", "0-1 1-0\n\n3-0  2?0\t1p0\n1-0 0-2\n");
    if (rg_word_links_load(&l, "links", corpus, v, v) != RG_OK) fail_msg("%s", rg_message());
    assert_false(rg_word_links_are_of_tokens(l));
    assert_int_equal(rg_word_links_count(l), 7);
    assert_int_equal(rg_word_links_of(&link, l, 1), 2);
    assert_true(link[0][0] == 0 && link[0][1] == 1 && link[1][0] == 1 && link[1][1] == 0);
    assert_int_equal(rg_word_links_of(&link, l, 2), 0);
    assert_int_equal(rg_word_links_of(&link, l, 3), 3);
    assert_int_equal(rg_word_links_of(&link, l, 4), 2);
    assert_true(link[1][0] == 0 && link[1][1] == 2); /* an elided article is a word of this vocabulary */
    assert_int_equal(rg_word_links_of(&link, l, 5), 0);
    assert_int_equal(rg_word_links_of(&link, l, 0), 0);
    rg_word_links_free(l);
    rg_word_links_free(NULL);
    rg_corpus_free(corpus);
    rg_vocab_free(v);
    (void)state;
}

static void links_that_cannot_be_are_refused_with_file_and_line(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "0-1\n\n\n", "bad has 3 lines of links, the corpus has 4 pairs" },
        { "0-1\n\n\n\n\n", "bad has 5 lines of links, the corpus has 4 pairs" },
        { "0-1\n0-0 x\n\n\n", "bad, line 2: \"x\" is no link" },
        { "0-1\n0 0\n\n\n", "bad, line 2: \"0\" is no link" },
        { "0-1\n0-\n\n\n", "bad, line 2: \"0-\" is no link" },
        { "0--1\n\n\n\n", "bad, line 1: \"0--1\" is no link" },
        { "0-0-0\n\n\n\n", "bad, line 1: \"0-0-0\" is no link" },
        { "99999-0\n\n\n\n", "bad, line 1: \"99999-0\": a word past number 65535" },
        { "0-1\n0-1\n\n\n", "bad, line 2: the link 0-1, but the target has 1 words" },
        { "2-1\n\n\n\n", "bad, line 1: the link 2-1, but the source has 2 words" },
    };
    rg_vocab      *v;
    rg_word_links *l;
    assert_int_equal(rg_vocab_from_pieces(&v, RG_VOCAB_WORDS, words, 6), RG_OK);
    rg_corpus *corpus = corpus_of(v);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_lines("bad", bad[i].text);
        assert_int_not_equal(rg_word_links_load(&l, "bad", corpus, v, v), RG_OK);
        assert_null(l);
        if (!strstr(rg_message(), bad[i].words)) fail_msg("\"%s\" is not in: %s", bad[i].words, rg_message());
    }
    assert_int_equal(rg_word_links_load(&l, "none", corpus, v, v), RG_EIO);
    rg_corpus_free(corpus);
    rg_vocab_free(v);
    (void)state;
}

static void the_aligner_links_tokens(void **state)
{
    rg_vocab      *v;
    rg_word_links *l;
    const uint16_t(*link)[2] = NULL;
    assert_int_equal(rg_vocab_from_pieces(&v, RG_VOCAB_WORDS, words, 6), RG_OK);
    rg_corpus *corpus = corpus_of(v);
    assert_int_equal(rg_word_links_learn(&l, corpus, 5), RG_OK);
    assert_true(rg_word_links_are_of_tokens(l));
    assert_int_equal(rg_word_links_of(&link, l, 2), 1); /* c, and nothing else */
    assert_true(link[0][0] == 0 && link[0][1] == 0);
    assert_int_equal(rg_word_links_of(&link, l, 3), 0); /* the pair was left out */
    rg_word_links_free(l);
    rg_corpus_free(corpus);
    rg_vocab_free(v);
    (void)state;
}

typedef struct {
    rg_corpus      *corpus;
    const rg_vocab *vocab;
} both_of;

static rg_status load_and_learn(void *context)
{
    const both_of *b = context;
    rg_word_links *one = NULL, *two = NULL;
    rg_status      status = rg_word_links_load(&one, "links", b->corpus, b->vocab, b->vocab);
    if (status == RG_OK) status = rg_word_links_learn(&two, b->corpus, 2);
    rg_word_links_free(one);
    rg_word_links_free(two);
    return status;
}

static void without_memory_nothing_is_left(void **state)
{
    rg_vocab *v;
    assert_int_equal(rg_vocab_from_pieces(&v, RG_VOCAB_WORDS, words, 6), RG_OK);
    both_of b = { corpus_of(v), v };
    write_lines("links", "0-1 1-0\n\n3-0\n1-0\n");
    assert_int_equal(load_and_learn(&b), RG_OK); /* what the corpus holds for its pairs is made */
    faults_every_alloc(load_and_learn, &b, NULL, false);
    rg_corpus_free(b.corpus);
    rg_vocab_free(v);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_found_by_line),
        cmocka_unit_test(links_that_cannot_be_are_refused_with_file_and_line),
        cmocka_unit_test(the_aligner_links_tokens),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
