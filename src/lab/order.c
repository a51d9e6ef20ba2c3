/* order.c - `regard reproduce order`: what a translator trained on the built-in grammar looks at where French order is
 * not English order.
 *
 *     articles     le/la/l' need the gender of a noun that comes later: is that noun among the two words with the largest weights?
 *     adjectives   a red house - une maison rouge: do the words that noun and adjective look at most cross?
 *
 * Counted over new sentences that the model translates as the grammar does. `regard demo` trains such a model. */
#include "data/made/grammar_words.h"
#include "regard/grammar.h"
#include "regard/lab.h"
#include "regard/translate.h"

#include <string.h>

typedef struct {
    char   *model;
    int64_t sentences;
} settings;

static const rg_option options[] = { { RG_OPTION_STRING, "model", offsetof(settings, model), "",
                                       "a translator of the built-in grammar, as `regard demo` trains it", 'm', NULL },
                                     { RG_OPTION_INT, "sentences", offsetof(settings, sentences), "1000",
                                       "new sentences", 0, "[1,100000]" },
                                     RG_OPTION_END };

typedef struct {
    size_t sentences, right;        /* translated as the grammar does */
    size_t articles, ahead;         /* whose noun has the largest or second-largest weight */
    size_t adjectives, crossed;
} counts;

/* ------------------------------------------------------------------------------------------------------------ words */

static bool is_article(const char *word)
{
    static const char *const articles[] = { "le", "la", "l'", "les", "un", "une", "des", NULL };
    for (const char *const *a = articles; *a; a++)
        if (strcmp(*a, word) == 0) return true;
    return false;
}

static bool is_noun(const char *word)
{
    for (size_t i = 0; i < rg_noun_count; i++)
        if (strcmp(rg_nouns[i].fr, word) == 0 || strcmp(rg_nouns[i].fr_plural, word) == 0) return true;
    return false;
}

/* An adjective that stands behind its noun in French. */
static bool is_moved(const char *word)
{
    for (size_t i = 0; i < rg_adjective_count; i++) {
        const rg_adjective *a = &rg_adjectives[i];
        const char *const   forms[] = { a->m, a->f, a->m_plural, a->f_plural };
        for (size_t k = 0; !a->before && k < 4; k++)
            if (strcmp(forms[k], word) == 0) return true;
    }
    return false;
}

/* --------------------------------------------------------------------------------------------------------- counting */

static size_t largest(const rg_real *weights, size_t count, size_t but)
{
    size_t best = but == 0;
    for (size_t j = 0; j < count; j++)
        if (j != but && weights[j] > weights[best]) best = j;
    return best;
}

/* The place each word was made from is the one it looks at most. */
static void count_answer(counts *c, const rg_vocab *vocab, const rg_answer *a)
{
    const size_t S = a->source_length, none = S;
    for (size_t k = 0; S > 1 && k + 1 < a->length; k++) {
        const char    *word = rg_vocab_piece(vocab, a->tokens[k]);
        const rg_real *row = a->attention + k * S;
        size_t         noun = k + 1;
        while (noun < a->length && noun <= k + 3 && !is_noun(rg_vocab_piece(vocab, a->tokens[noun]))) noun++;
        if (is_article(word) && noun < a->length && noun <= k + 3) {
            const size_t at = largest(a->attention + noun * S, S, none), first = largest(row, S, none),
                         second = largest(row, S, first);
            c->articles++;
            c->ahead += at == first || at == second;
        }
        if (is_noun(word) && is_moved(rg_vocab_piece(vocab, a->tokens[k + 1]))) {
            c->adjectives++;
            c->crossed += largest(row + S, S, none) < largest(row, S, none);
        }
    }
}

static rg_status count_pair(counts *c, rg_session *session, const rg_translator *t, const rg_grammar_pair *p)
{
    rg_session_config    config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated *result;
    config.search.attention = true;
    RG_TRY(rg_session_run(&result, session, &config, &p->english, 1, 0, NULL));
    const bool right = result->count && strcmp(result->best[0].text, p->french) == 0;
    c->sentences++;
    c->right += right;
    if (right && !result->best[0].answer->attention)
        return rg_fail(RG_EINVAL, "the model has no attention over its source");
    if (right) count_answer(c, t->target, result->best[0].answer);
    return RG_OK;
}

static bool print_share(const rg_lab *lab, const char *what, size_t part, size_t all, double least)
{
    const double share = all ? 100 * (double)part / (double)all : 0;
    fprintf(lab->out, "  %-14s %s: %zu of %zu, %.1f %%, at least %g\n", share >= least ? "holds" : "does not hold",
            what, part, all, share, least);
    return share >= least;
}

static rg_status run(bool *holds, const rg_lab *lab, const void *values)
{
    const settings *s = values;
    counts          c = { 0 };
    rg_translator  *t = NULL;
    rg_session     *session = NULL;
    rg_grammar     *grammar = NULL;
    if (!s->model[0])
        return rg_fail(RG_EINVAL, "--model names a translator of the built-in grammar; `regard demo` trains one");
    rg_status status = rg_translator_load(&t, s->model);
    if (status == RG_OK) status = rg_session_new(&session, &t, 1, 1);
    if (status == RG_OK) status = rg_grammar_new(&grammar, 2);
    for (int64_t i = 0; status == RG_OK && i < s->sentences; i++) {
        rg_grammar_pair p;
        status = rg_grammar_next(&p, grammar, RG_GRAMMAR_TEST);
        if (status == RG_OK) status = count_pair(&c, session, t, &p);
    }
    if (status == RG_OK) {
        fprintf(lab->out, "%zu of %zu new sentences are translated as the grammar does; of these\n", c.right,
                c.sentences);
        const bool ahead =
            print_share(lab, "articles with their noun among the two largest weights", c.ahead, c.articles, 90);
        const bool crossed =
            print_share(lab, "adjectives behind their noun whose links cross", c.crossed, c.adjectives, 95);
        *holds = ahead && crossed;
    }
    rg_grammar_free(grammar);
    rg_session_free(session);
    rg_translator_free(t);
    return status;
}

const rg_experiment rg_experiment_order = {
    .name = "order",
    .summary = "articles that look ahead to their noun, adjectives that cross it: counted on the built-in grammar",
    .source = "Bahdanau et al. 2015, section 5.2.1 and figure 3",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
