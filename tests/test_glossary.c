/* test_glossary.c - terms of a glossary: reading, finding in a line, missing in a text; and translations that have them,
 * by every system that translates, whatever the beam, the batch mates and the vocabulary are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/glossary.h"
#include "regard/task.h"
#include "regard/translate.h"
#include "support/faults.h"

static rg_glossary *glossary_of(const char *text)
{
    rg_glossary *g;
    assert_int_equal(rg_file_replace("terms.tsv", text, strlen(text)), RG_OK);
    if (rg_glossary_load(&g, "terms.tsv") != RG_OK) fail_msg("%s", rg_message());
    return g;
}

/* "begin-end form|form" of every term of a line. */
static void expect_terms(const rg_glossary *g, const char *line, const char *want)
{
    char     found[1000] = "";
    rg_terms t = { 0 };
    assert_int_equal(rg_glossary_find(&t, g, line), RG_OK);
    for (size_t i = 0; i < t.count; i++) {
        const size_t n = strlen(found);
        snprintf(found + n, sizeof found - n, "%s%.*s=", n ? " " : "", (int)(t.term[i].end - t.term[i].begin),
                 t.line.data + t.term[i].begin);
        for (size_t k = 0; k < t.term[i].count; k++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", k ? "|" : "", rg_term_form(&t.term[i], k));
    }
    assert_string_equal(found, want);
    rg_terms_free(&t);
}

static void terms_are_found_between_word_boundaries_longest_first(void **state)
{
    rg_glossary *g = glossary_of("dog\tKöter\tKöters\n\nhot dog\tWurst\ndog house\tHütte\nIBM\t\nTom\tkeep\nhold\t\\keep\n"
                                 "new york city\tN.Y.C.\nyork\tJork\n犬\tinu\nécole\tSchule\n");
    assert_int_equal(rg_glossary_size(g), 10);
    expect_terms(g, "the dog", "dog=Köter|Köters");
    expect_terms(g, "Dog, DOG! dogs dogged (dog) bulldog", "Dog=Köter|Köters DOG=Köter|Köters dog=Köter|Köters");
    expect_terms(g, "a hot  dog house", "dog house=Hütte"); /* the longer one; blanks are squeezed */
    expect_terms(g, "a hot dog's", "hot dog=Wurst");
    expect_terms(g, "IBM ibm Tom tom", "IBM=IBM Tom=Tom"); /* a capital: as it is written */
    expect_terms(g, "hold New York City, York", "hold=keep New York City=N.Y.C. York=Jork");
    expect_terms(g, "大犬小 ÉCOLE e\xcc\x81"
                    "cole",
                 "犬=inu ÉCOLE=Schule école=Schule");
    expect_terms(g, "", "");
    expect_terms(g, "\xff\xfe dog", "dog=Köter|Köters");
    rg_glossary_free(g);
    rg_glossary_free(NULL);
    (void)state;
}

static void expect_missing(const rg_glossary *g, const char *line, const char *text, const char *want)
{
    rg_terms t = { 0 };
    bool     missing[16] = { false };
    size_t   n, count = 0;
    assert_int_equal(rg_glossary_find(&t, g, line), RG_OK);
    assert_int_equal(strlen(want), t.count);
    assert_int_equal(rg_terms_missing(&n, missing, &t, text), RG_OK);
    for (size_t i = 0; i < t.count; i++) {
        assert_int_equal(missing[i], want[i] == 'm');
        count += missing[i];
    }
    assert_int_equal(n, count);
    rg_terms_free(&t);
}

static void each_term_needs_a_place_of_its_own_in_the_text(void **state)
{
    rg_glossary *g = glossary_of("dog\tKöter\tKöters\nyork\tYork\nnew york\tNew York\nspot\tfleck\n");
    expect_missing(g, "dog", "ein Köter", "-");
    expect_missing(g, "dog", "des Köters", "-");
    expect_missing(g, "dog", "Köterhaus", "m");
    expect_missing(g, "dog dog", "ein Köter", "-m");
    expect_missing(g, "dog dog", "ein Köter, Köters", "--");
    expect_missing(g, "york new york", "New York", "m-"); /* not a part of the other */
    expect_missing(g, "york new york", "York New York", "--");
    expect_missing(g, "spot", "Fleck hier", "-"); /* a capital at the beginning alone */
    expect_missing(g, "spot", "ein Fleck", "m");
    expect_missing(g, "dog", "", "m");
    rg_glossary_free(g);
    (void)state;
}

static void refused(const char *text, const char *words)
{
    rg_glossary *g;
    assert_int_equal(rg_file_replace("bad.tsv", text, strlen(text)), RG_OK);
    assert_int_not_equal(rg_glossary_load(&g, "bad.tsv"), RG_OK);
    assert_null(g);
    if (!strstr(rg_message(), words)) fail_msg("\"%s\" is not in: %s", words, rg_message());
}

static void bad_lines_are_refused_with_file_and_line(void **state)
{
    char         many[RG_GLOSSARY_FORMS * 2 + 20] = "a", *larger = malloc(4000);
    rg_glossary *g;
    for (int i = 0; i <= RG_GLOSSARY_FORMS; i++) strcat(many, "\tx");
    refused("a\tb\n\tc\n", "bad.tsv, line 2: there is no term");
    refused("a\tb\nc\td\na\te\n", "bad.tsv, line 3: the term \"a\" is in line 1 already");
    refused("a\tb\nc\t\xff\n", "bad.tsv, line 2: the line is damaged");
    refused(many, "bad.tsv, line 1: 17 targets; at most 16");
    refused("x\tb\t\tc\n", "bad.tsv, line 1: target 2 of \"x\" is empty");
    memset(larger, 'x', 1500);
    strcpy(larger + 1500, "\ty\n");
    refused(larger, "line 1: a term of 1500 bytes; at most 1000");
    refused("a b c d e f g h i j k l m n o p q\tx\n", "line 1: a term of 17 words; at most 16");
    assert_int_equal(rg_glossary_load(&g, "none.tsv"), RG_EIO);
    free(larger);
    (void)state;
}

static rg_status find_all(void *context)
{
    rg_glossary *g = NULL;
    rg_terms     t = { 0 };
    bool         missing[8];
    size_t       n;
    rg_status    status = rg_glossary_load(&g, "terms.tsv");
    if (status == RG_OK) status = rg_glossary_find(&t, g, "a dog and Tom");
    if (status == RG_OK) status = rg_terms_missing(&n, missing, &t, "x Tom");
    rg_terms_free(&t);
    rg_glossary_free(g);
    (void)context;
    return status;
}

static void without_memory_nothing_is_left(void **state)
{
    rg_glossary_free(glossary_of("dog\tKöter\tKöters\nTom\t\n"));
    faults_every_alloc(find_all, NULL, NULL, false);
    (void)state;
}

/* -------------------------------------------------------------------------------------------------------- translating */

static const char *const lines[] = { "ba de fi", "go ku la me", "ba ba", "ni po ra su ti ba", "ku", "zz ba zz", "" };
enum { LINES = sizeof lines / sizeof *lines };
static const char terms[] = "ba\tBarke\nku la\tkeep\nzz\tWort aus Ünbekanntem\nti\tTi\tTis\n";

static rg_vocab *vocab_of(rg_vocab_kind kind)
{
    static const char  text[] = "ba de fi go ku la me ni po ra su ti\nBA DE FI GO KU LA ME NI PO RA SU TI\nti su ra po a\n";
    rg_vocab          *vocab;
    rg_vocab_config    c = RG_VOCAB_CONFIG_DEFAULT;
    const rg_text_side side = { "words.txt", -1 };
    c.kind = kind;
    c.size = kind == RG_VOCAB_WORDS || kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_TOKENS ? 0 : 40;
    assert_int_equal(rg_file_replace("words.txt", text, strlen(text)), RG_OK);
    if (rg_vocab_train_files(&vocab, &c, &side, 1) != RG_OK) fail_msg("%s", rg_message());
    return vocab;
}

/* A model that learned nothing. */
static rg_translator *translator_of(const rg_system *system, rg_vocab_kind kind, uint64_t seed)
{
    static const char yaml[] =
        "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 16\n";
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    rg_vocab             *vocab = vocab_of(kind);
    const rg_sizes        sizes = rg_sizes_of_text(vocab, vocab);
    rg_model             *model;
    rg_translator        *t;
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (rg_model_new(&model, system, options, &sizes, seed) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    if (rg_translator_new(&t, model, vocab, NULL) != RG_OK) fail_msg("%s", rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return t;
}

static void has_terms(const char *who, const rg_glossary *g, const char *line, const char *text)
{
    rg_terms t = { 0 };
    bool     missing[16];
    size_t   n;
    assert_int_equal(rg_glossary_find(&t, g, line), RG_OK);
    assert_int_equal(rg_terms_missing(&n, missing, &t, text), RG_OK);
    if (n) fail_msg("%s: %zu terms of \"%s\" are missing in \"%s\"", who, n, line, text);
    rg_terms_free(&t);
}

/* All lines together, and each alone: the same bits, and every answer has every term; without terms nothing changes. */
static void expect_terms_in_answers(const char *who, rg_translator **t, size_t models, size_t beam, bool sample)
{
    rg_glossary         *g = glossary_of(terms);
    const rg_glossary   *all[LINES];
    const rg_translated *together, *alone;
    rg_session          *one, *two;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = c.search.n_best = beam;
    c.search.sample = sample;
    c.search.length_factor = 1;
    c.search.length_extra = 2;
    for (size_t i = 0; i < LINES; i++) all[i] = i == 4 ? NULL : g;
    assert_int_equal(rg_session_new(&one, t, models, 2), RG_OK);
    assert_int_equal(rg_session_new(&two, t, models, 1), RG_OK);
    c.glossary = all;
    if (rg_session_run(&together, one, &c, lines, LINES, 0, NULL) != RG_OK) fail_msg("%s: %s", who, rg_message());
    for (size_t i = 0; i < LINES; i++) {
        c.glossary = all + i;
        assert_int_equal(rg_session_run(&alone, two, &c, lines + i, 1, i, NULL), RG_OK);
        assert_int_equal(together[i].count, alone->count);
        assert_true(together[i].count > 0 || !*lines[i]);
        for (size_t k = 0; k < alone->count; k++) {
            assert_string_equal(together[i].best[k].text, alone->best[k].text);
            assert_true(together[i].best[k].answer->log_p == alone->best[k].answer->log_p);
            if (all[i]) has_terms(who, g, lines[i], alone->best[k].text);
        }
    }
    c.glossary = NULL;
    assert_int_equal(rg_session_run(&alone, two, &c, lines + 4, 1, 4, NULL), RG_OK);
    if (alone->count) assert_string_equal(together[4].best[0].text, alone->best[0].text);
    rg_session_free(one);
    rg_session_free(two);
    rg_glossary_free(g);
}

static void every_system_answers_with_the_terms(void **state)
{
    size_t systems = 0;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        if (!(*s)->start || (*s)->task != &rg_task_translation) continue;
        rg_translator *t[2] = { translator_of(*s, RG_VOCAB_UNIGRAM, 3), translator_of(*s, RG_VOCAB_UNIGRAM, 5) };
        expect_terms_in_answers((*s)->name, t, 1, 1, false);
        expect_terms_in_answers((*s)->name, t, 2, 3, false);
        expect_terms_in_answers((*s)->name, t, 1, 2, true);
        rg_translator_free(t[0]);
        rg_translator_free(t[1]);
        systems++;
    }
    assert_true(systems >= 8);
    (void)state;
}

static void every_kind_of_vocabulary_spells_the_terms(void **state)
{
    static const rg_vocab_kind kinds[] = { RG_VOCAB_BPE, RG_VOCAB_CHAR, RG_VOCAB_WORD, RG_VOCAB_WORDS, RG_VOCAB_CHARACTERS, RG_VOCAB_TOKENS };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        rg_translator *t = translator_of(rg_system_find("transformer"), kinds[i], 1 + i);
        expect_terms_in_answers(rg_vocab_kind_name(kinds[i]), &t, 1, 2, false);
        rg_translator_free(t);
    }
    (void)state;
}

static void a_shortlist_lets_the_terms_through(void **state)
{
    static const char   text[] = "KU ba 1\n";
    rg_shortlist_config c = { .first = 1, .best = 1, .lines = 100, .iterations = 5 };
    rg_translator      *t = translator_of(rg_system_find("transformer"), RG_VOCAB_WORDS, 3);
    rg_shortlist       *list;
    assert_int_equal(rg_file_replace("list", text, strlen(text)), RG_OK);
    assert_int_equal(rg_shortlist_load(&list, t->source, t->target, "list", &c), RG_OK);
    assert_int_equal(rg_translator_set_shortlist(t, list), RG_OK);
    expect_terms_in_answers("shortlist", &t, 1, 2, false);
    rg_translator_free(t);
    (void)state;
}

typedef struct {
    rg_translator *t;
    rg_glossary   *g;
} asked;

static rg_status ask(void *context)
{
    const asked         *a = context;
    rg_session          *session;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *out;
    const rg_glossary   *of[] = { a->g, a->g };
    rg_translator       *t = a->t;
    c.glossary = of;
    RG_TRY(rg_session_new(&session, &t, 1, 1));
    const rg_status status = rg_session_run(&out, session, &c, lines, 1, 0, NULL);
    rg_session_free(session);
    return status;
}

static void a_search_for_terms_without_memory_fails_cleanly(void **state)
{
    asked a = { translator_of(rg_system_find("transformer"), RG_VOCAB_WORDS, 3), glossary_of(terms) };
    faults_every_alloc(ask, &a, NULL, true); /* joining an arena's chunks only saves work */
    rg_glossary_free(a.g);
    rg_translator_free(a.t);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_found_between_word_boundaries_longest_first),
        cmocka_unit_test(each_term_needs_a_place_of_its_own_in_the_text),
        cmocka_unit_test(bad_lines_are_refused_with_file_and_line),
        cmocka_unit_test(without_memory_nothing_is_left),
        cmocka_unit_test(every_system_answers_with_the_terms),
        cmocka_unit_test(every_kind_of_vocabulary_spells_the_terms),
        cmocka_unit_test(a_shortlist_lets_the_terms_through),
        cmocka_unit_test(a_search_for_terms_without_memory_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
