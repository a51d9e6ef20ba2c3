/* length_data.c - long sentences of the built-in grammar: clauses of English and French joined by "and" and "et".
 *
 * What is learned from and what is tested on have no clause in common, and every length has the same grammar: a test
 * set differs from another by its length alone. */
#include "lab/length.h"

#include <string.h>
#include <sys/stat.h>

#include "regard/grammar.h"

static size_t words_of(const char *text)
{
    size_t n = *text != '\0';
    for (; *text; text++) n += *text == ' ';
    return n;
}

static rg_status add_clause(rg_text *en, rg_text *fr, const rg_grammar_pair *p)
{
    RG_TRY(rg_text_print(en, "%s%s", en->length ? " and " : "", p->english));
    return rg_text_print(fr, "%s%s", fr->length ? " et " : "", p->french);
}

/* One sentence of at most `most` English words, as long as the clauses that come allow. */
static rg_status make_sentence(rg_text *en, rg_text *fr, rg_grammar *g, rg_grammar_part part, size_t most)
{
    rg_text_clear(en);
    rg_text_clear(fr);
    for (size_t words = 0, misses = 0; misses < 3;) {
        rg_grammar_pair p;
        RG_TRY(rg_grammar_next(&p, g, part));
        const size_t more = words_of(p.english) + (words ? 1 : 0);
        if (words + more > most) {
            misses++;
            continue;
        }
        RG_TRY(add_clause(en, fr, &p));
        words += more;
    }
    return RG_OK;
}

/* `count` sentences of least .. most words; the length that is aimed at is drawn. */
static rg_status write_set(const char *folder, const char *name, rg_grammar *g, rg_grammar_part part, size_t least,
                           size_t most, size_t count)
{
    rg_text   text[2] = { { 0 }, { 0 } }, one[2] = { { 0 }, { 0 } };
    rg_random random = rg_random_new(21, most);
    rg_status status = RG_OK;
    for (size_t made = 0, tries = 0; status == RG_OK && made < count;) {
        const size_t aim = least + (size_t)rg_random_below(&random, most - least + 1);
        status = make_sentence(&one[0], &one[1], g, part, aim);
        if (status == RG_OK && ++tries > 1000 * count)
            status = rg_fail(RG_ELIMIT, "no sentences of %zu to %zu words", least, most);
        if (status != RG_OK || words_of(rg_text_c(&one[0])) < least) continue;
        made++;
        for (size_t side = 0; status == RG_OK && side < 2; side++)
            status = rg_text_print(&text[side], "%s\n", rg_text_c(&one[side]));
    }
    for (size_t side = 0; side < 2; side++) {
        char *path = rg_format("%s/%s.%s", folder, name, side ? "fr" : "en");
        if (status == RG_OK) status = path ? rg_file_replace(path, text[side].data, text[side].length) : RG_ENOMEM;
        rg_free(path);
        rg_text_free(&text[side]);
        rg_text_free(&one[side]);
    }
    return status;
}

static rg_status write_learned(const char *folder, rg_grammar *g, size_t most, size_t pairs)
{
    char train[32], valid[32];
    snprintf(train, sizeof train, "train-%zu", most);
    snprintf(valid, sizeof valid, "valid-%zu", most);
    RG_TRY(write_set(folder, train, g, RG_GRAMMAR_TRAIN, LENGTH_STEP, most, pairs));
    return write_set(folder, valid, g, RG_GRAMMAR_VALID, LENGTH_STEP, most, 200);
}

rg_status length_data(const char *folder, size_t pairs, size_t tests)
{
    char       *last = rg_format("%s/test-%d.fr", folder, (int)LENGTH_LAST);
    rg_grammar *g = NULL;
    bool        there = false;
    rg_status   status = last ? rg_file_exists(&there, last) : RG_ENOMEM;
    if (status == RG_OK && !there) {
        (void)mkdir(folder, 0777); /* what follows says why it is not there */
        status = rg_grammar_new(&g, 1);
        if (status == RG_OK) status = write_learned(folder, g, 15, pairs);
        if (status == RG_OK) status = write_learned(folder, g, 30, pairs);
        for (size_t n = LENGTH_FIRST; status == RG_OK && n <= LENGTH_LAST; n += LENGTH_STEP) {
            char name[32];
            snprintf(name, sizeof name, "test-%zu", n);
            status = write_set(folder, name, g, RG_GRAMMAR_TEST, n - LENGTH_STEP + 1, n, tests);
        }
        rg_grammar_free(g);
    }
    rg_free(last);
    return status;
}
