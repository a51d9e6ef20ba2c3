/* test_grammar.c - the English-French grammar: one translation a sentence, the same sentences from the same seed,
 * parts apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/words.h"
#include "regard/grammar.h"

enum { SENTENCES = 20000 };

static int words_of(const char *text)
{
    int count = *text != '\0';
    for (; *text; text++) count += *text == ' ';
    return count;
}

static void sentences_are_distinct_and_of_modest_length(void **state)
{
    (void)state;
    rg_grammar     *g = NULL;
    rg_grammar_pair pair;
    rg_words        seen = { 0 };
    assert_int_equal(rg_grammar_new(&g, 1), RG_OK);
    for (size_t i = 0; i < SENTENCES; i++) {
        uint32_t id;
        assert_int_equal(rg_grammar_next(&pair, g, RG_GRAMMAR_TRAIN), RG_OK);
        assert_in_range(words_of(pair.english), 3, 14);
        assert_int_equal(rg_words_add(&id, &seen, pair.english, strlen(pair.english)), RG_OK);
        assert_int_equal(id, i);
    }
    rg_words_fini(&seen);
    rg_grammar_free(g);
}

/* Whatever the seed, an English sentence has one French side and one part. */
static void french_is_a_function_of_english(void **state)
{
    (void)state;
    rg_words        seen = { 0 };
    rg_text         french = { 0 };
    size_t         *at = calloc(4 * SENTENCES, sizeof *at), met = 0;
    rg_grammar_part parts[] = { RG_GRAMMAR_TRAIN, RG_GRAMMAR_VALID, RG_GRAMMAR_TEST };
    unsigned char  *part = calloc(4 * SENTENCES, 1);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        rg_grammar     *g = NULL;
        rg_grammar_pair pair;
        assert_int_equal(rg_grammar_new(&g, seed), RG_OK);
        for (size_t i = 0; i < SENTENCES; i++) {
            uint32_t id;
            size_t   before = seen.count, p = i % 10 == 0 ? 2 : i % 10 == 1 ? 1 : 0;
            assert_int_equal(rg_grammar_next(&pair, g, parts[p]), RG_OK);
            assert_int_equal(rg_words_add(&id, &seen, pair.english, strlen(pair.english)), RG_OK);
            if (id == before) {
                at[id] = french.length;
                part[id] = (unsigned char)p;
                assert_int_equal(rg_text_add(&french, pair.french, strlen(pair.french) + 1), RG_OK);
            } else {
                assert_string_equal(french.data + at[id], pair.french);
                assert_int_equal(part[id], p);
                met++;
            }
        }
        rg_grammar_free(g);
    }
    assert_true(met > 100); /* the comparison did happen */
    free(at);
    free(part);
    rg_words_fini(&seen);
    rg_text_free(&french);
}

static void the_same_seed_gives_the_same_sentences(void **state)
{
    (void)state;
    rg_grammar     *a = NULL, *b = NULL, *c = NULL;
    rg_grammar_pair x, y, z;
    int             different = 0;
    assert_int_equal(rg_grammar_new(&a, 5), RG_OK);
    assert_int_equal(rg_grammar_new(&b, 5), RG_OK);
    assert_int_equal(rg_grammar_new(&c, 6), RG_OK);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(rg_grammar_next(&x, a, RG_GRAMMAR_TEST), RG_OK);
        assert_int_equal(rg_grammar_next(&y, b, RG_GRAMMAR_TEST), RG_OK);
        assert_int_equal(rg_grammar_next(&z, c, RG_GRAMMAR_TEST), RG_OK);
        assert_string_equal(x.english, y.english);
        assert_string_equal(x.french, y.french);
        assert_string_equal(x.links, y.links);
        different += strcmp(x.english, z.english) != 0;
    }
    assert_true(different > 450);
    rg_grammar_free(a);
    rg_grammar_free(b);
    rg_grammar_free(c);
}

/* French spelling that must never occur, and some that must. */
static void elision_and_contraction_are_always_made(void **state)
{
    (void)state;
    static const char *const never[] = {
        " le homme",       " la école",   " de un ",   " à le ",    " à les ",  " de le ",       " de les ",
        "l'hibou",         "l'garçon",    " ne a",     " ne é",     " ne i",    " je a",         " je i",
        " je é",           " ce homme",   " ce arbre", " ma école", " sa amie", " vieux homme ", " beau arbre ",
        " nouveau hôtel ", "vieil hibou", "cet hibou", "' ",        "  ",
    };
    static const char *const sometimes[] = {
        "l'homme",         "le hibou",     "l'école",
        "au marché",       "à l'hôpital",  "aux ",
        "du roi",          "de la reine",  "d'un ",
        "d'une ",          "mon école",    "vieil homme",
        "bel arbre",       "nouvel hôtel", "cet ",
        "ne voit pas de ", "n'aime pas",   "j'aime",
        "n'iront pas",     "d'énormes ",   "petites pommes rouges",
        "qui dort",        "sommes",       "à côté de l'",
    };
    enum { SOMETIMES = sizeof sometimes / sizeof *sometimes };
    int             found[SOMETIMES] = { 0 };
    rg_grammar     *g = NULL;
    rg_grammar_pair pair;
    assert_int_equal(rg_grammar_new(&g, 3), RG_OK);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(rg_grammar_next(&pair, g, RG_GRAMMAR_TRAIN), RG_OK);
        char line[400];
        snprintf(line, sizeof line, " %s ", pair.french);
        for (size_t j = 0; j < sizeof never / sizeof *never; j++)
            if (strstr(line, never[j])) fail_msg("\"%s\" in \"%s\"", never[j], line);
        for (size_t j = 0; j < SOMETIMES; j++) found[j] += strstr(line, sometimes[j]) != NULL;
    }
    for (size_t j = 0; j < SOMETIMES; j++)
        if (!found[j]) fail_msg("\"%s\" never came", sometimes[j]);
    rg_grammar_free(g);
}

/* Links stay inside both sentences, and every French word has one. */
static void links_fit_the_words(void **state)
{
    (void)state;
    rg_grammar     *g = NULL;
    rg_grammar_pair pair;
    const char     *one[] = { "x" };
    rg_vocab       *vocab = NULL;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, one, 1), RG_OK);
    assert_int_equal(rg_grammar_new(&g, 9), RG_OK);
    for (int i = 0; i < 2000; i++) {
        rg_ids french = { 0 };
        bool   linked[64] = { false };
        assert_int_equal(rg_grammar_next(&pair, g, RG_GRAMMAR_TEST), RG_OK);
        assert_int_equal(rg_vocab_encode(&french, NULL, vocab, pair.french, strlen(pair.french)), RG_OK);
        for (const char *at = pair.links; *at;) {
            unsigned s, t;
            int      used = 0;
            assert_int_equal(sscanf(at, "%u-%u%n", &s, &t, &used), 2);
            assert_true((int)s < words_of(pair.english) && t < french.count);
            linked[t] = true;
            at += used + (at[used] == ' ');
        }
        for (size_t t = 0; t < french.count; t++) assert_true(linked[t]);
        rg_ids_free(&french);
    }
    rg_vocab_free(vocab);
    rg_grammar_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_distinct_and_of_modest_length),
        cmocka_unit_test(french_is_a_function_of_english),
        cmocka_unit_test(the_same_seed_gives_the_same_sentences),
        cmocka_unit_test(elision_and_contraction_are_always_made),
        cmocka_unit_test(links_fit_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
