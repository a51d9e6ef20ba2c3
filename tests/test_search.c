/* Search over every system that decodes: greedy, beams, exhaustive search, forced prefixes, ensembles, sampling,
 * attention; and sessions, whose answers do not depend on batch, neighbours or threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/translate.h"
#include "tasks/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Decodes from ids: systems that start from pictures have tests of their own. */
static bool decodes_text(const rg_system *s)
{
    return s->start && (s->task == &rg_task_translation || s->task == &rg_task_language);
}

enum { V = 6, BOS = 1, EOS = 2, MOST = 40 };

/* Random weights with a wide output, so that answers differ and probabilities are not all alike. */
static rg_model *make_with(const rg_system *system, uint64_t seed, size_t words, const char *more)
{
    char  yaml[256];
    void *options = rg_alloc_zero(system->options_bytes);
    snprintf(yaml, sizeof yaml,
             "dim-emb: 16\ntransformer-dim-ffn: 24\ntransformer-heads: 4\nenc-depth: 2\ndec-depth: 2\ndim-rnn: 16\n%s",
             more);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    const rg_option_group group = { .rows = system->options, .values = options };
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    const rg_sizes sizes = { { { "source-vocabulary", words }, { "target-vocabulary", words },
                             { "joint-vocabulary", true }, { "bos", BOS }, { "eos", EOS }, { "context", 64 } } };
    rg_model            *m;
    if (rg_model_new(&m, system, options, &sizes, seed) != RG_OK) fail_msg("%s: %s", system->name, rg_message());
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

static rg_model *make(const rg_system *system, uint64_t seed, size_t words)
{
    return make_with(system, seed, words, "");
}

static const int32_t   start[] = { 0, 4, 6, 9 }, ids[] = { 5, 3, 4, 2, 3, 2, 4, 4, 2 };
static const rg_layout sources = { .groups = 3, .start = start };
static const rg_field  given_sources = { .layout = { .groups = 3, .start = start }, .ids = ids };

static rg_search *search_of(const rg_model *const *models, size_t count)
{
    rg_search *s;
    assert_int_equal(rg_search_new(&s, models, count, NULL), RG_OK);
    return s;
}

static const rg_answers *run(rg_search *s, const rg_search_config *c, const rg_ids *prefix)
{
    const rg_answers *out;
    if (rg_search_run(&out, s, c, &given_sources, NULL, prefix) != RG_OK) fail_msg("%s", rg_message());
    return out;
}

static double log_probability(const rg_real *logits, int32_t token)
{
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < V; j++) max = fmax(max, (double)logits[j]);
    for (int j = 0; j < V; j++) sum += exp((double)logits[j] - max);
    return (double)logits[token] - max - log(sum);
}

/* log p of tokens (eos among them when it is the last) for one source, by stepping. */
static double stepped(rg_decoding *d, size_t which, const int32_t *tokens, size_t n)
{
    const int32_t   one_start[] = { 0, start[which + 1] - start[which] };
    const rg_field  one = { .layout = { .groups = 1, .start = one_start }, .ids = ids + start[which] };
    assert_int_equal(rg_decoding_start(d, &one), RG_OK);
    double  total = 0;
    int32_t last = BOS;
    for (size_t i = 0; i < n; i++) {
        const rg_real *logits;
        size_t         ld;
        assert_int_equal(rg_decoding_step(&logits, &ld, d, &last), RG_OK);
        total += log_probability(logits, tokens[i]);
        last = tokens[i];
    }
    return total;
}

#define EVERY_DECODER(s) for (const rg_system *const *s = rg_system_all(); *s; s++) if (decodes_text(*s))

static void assert_same(const rg_answer *a, const rg_answer *b, double tolerance)
{
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->cut, b->cut);
    assert_memory_equal(a->tokens, b->tokens, a->length * sizeof *a->tokens);
    assert_true(fabs(a->log_p - b->log_p) <= tolerance && fabs(a->score - b->score) <= tolerance);
}

/* ------------------------------------------------------------------------------------------------------- searching */

static void a_beam_of_one_is_greedy(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 3, V);
        rg_search       *search = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        rg_decoding     *d;
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        const rg_answers *answers = run(search, &c, NULL);
        for (size_t g = 0; g < 3; g++) {
            const int32_t   one_start[] = { 0, start[g + 1] - start[g] };
            const rg_field  one = { .layout = { .groups = 1, .start = one_start }, .ids = ids + start[g] };
            assert_int_equal(rg_decoding_start(d, &one), RG_OK);
            const rg_answer *a = &answers[g].answer[0];
            const size_t     limit = 2 * (size_t)one_start[1] + 10;
            int32_t          last = BOS;
            for (size_t i = 0;; i++) {
                const rg_real *logits;
                size_t         ld;
                assert_int_equal(rg_decoding_step(&logits, &ld, d, &last), RG_OK);
                last = 0;
                for (int32_t j = 1; j < V; j++)
                    if (j != BOS && logits[j] > logits[last]) last = j;
                if (last == EOS) {
                    assert_int_equal(i, a->length);
                    break;
                }
                assert_int_equal(a->tokens[i], last);
                if (i + 1 == limit) break;
            }
        }
        rg_decoding_free(d);
        rg_search_free(search);
        rg_model_free((rg_model *)m);
    }
}

static void slim_parameters_answer_the_same(void **state)
{
    (void)state;
    EVERY_DECODER(s)
        for (const rg_score *const *score = rg_score_all(); *score; score++) {
            char more[64];
            snprintf(more, sizeof more, "score: %s\n", (*score)->name);
            rg_model *fat = make_with(*s, 3, V, more), *slim = make_with(*s, 3, V, more);
            assert_int_equal(rg_params_slim(slim->params), RG_OK);
            assert_int_equal(rg_params_slim(slim->params), RG_OK); /* once is enough */
            rg_search *first = search_of((const rg_model *const *)&fat, 1),
                      *second = search_of((const rg_model *const *)&slim, 1);
            rg_search_config  c = RG_SEARCH_CONFIG_DEFAULT;
            c.beam = 2;
            const rg_answers *expected = run(first, &c, NULL), *found = run(second, &c, NULL);
            for (size_t g = 0; g < 3; g++) assert_same(&expected[g].answer[0], &found[g].answer[0], 0);
            rg_grads *grads;
            assert_int_equal(rg_grads_new(&grads, slim->params), RG_EINVAL);
            assert_int_equal(rg_params_repack(slim->params, NULL), RG_EINVAL);
            rg_search_free(first);
            rg_search_free(second);
            rg_model_free(fat);
            rg_model_free(slim);
        }
}

static void without_scores_greedy_answers_are_the_same(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 3, V);
        rg_search       *scored = search_of(&m, 1), *bare = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        const rg_answers *expected = run(scored, &c, NULL);
        c.unscored = true;
        const rg_answers *found = run(bare, &c, NULL);
        for (size_t g = 0; g < 3; g++) {
            const rg_answer *a = &expected[g].answer[0], *b = &found[g].answer[0];
            assert_true(a->log_p < 0 && b->log_p == 0 && b->score == 0);
            assert_int_equal(a->length, b->length);
            assert_int_equal(a->cut, b->cut);
            assert_memory_equal(a->tokens, b->tokens, a->length * sizeof *a->tokens);
        }
        c.beam = 2; /* a beam compares sums: the word is overruled */
        assert_true(run(bare, &c, NULL)[0].answer[0].log_p < 0);
        rg_search_free(scored);
        rg_search_free(bare);
        rg_model_free((rg_model *)m);
    }
}

typedef struct {
    int32_t tokens[4];
    size_t  n; /* eos among them */
    double  score;
} path;

/* Every sequence of at most 3 tokens: those that eos ends, and those of 3 that the limit cuts. */
static size_t enumerate(path *out, rg_decoding *d, size_t source, double normalize)
{
    static const int32_t words[] = { 0, 3, 4, 5 };
    size_t               count = 0;
    for (int code = 0; code < 1 + 4 + 16 + 64; code++) {
        path p = { .n = code < 1 ? 0 : code < 5 ? 1 : code < 21 ? 2 : 3 };
        int  rest = code - (p.n == 0 ? 0 : p.n == 1 ? 1 : p.n == 2 ? 5 : 21);
        for (size_t i = 0; i < p.n; i++, rest /= 4) p.tokens[i] = words[rest % 4];
        if (p.n < 3) p.tokens[p.n++] = EOS;
        const double log_p = stepped(d, source, p.tokens, p.n);
        p.score = normalize > 0 ? log_p / pow((double)p.n, normalize) : log_p;
        size_t at = count++;
        for (; at > 0 && p.score > out[at - 1].score; at--) out[at] = out[at - 1];
        out[at] = p;
    }
    return count;
}

static void a_beam_that_holds_every_prefix_is_exhaustive(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model *m = make(*s, 5, V);
        rg_search      *search = search_of(&m, 1);
        rg_decoding    *d;
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        static const double alphas[] = { 0, 0.6, 1.5 };
        for (size_t k = 0; k < 3; k++) {
            rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
            c.beam = 100;
            c.n_best = 8;
            c.normalize = alphas[k];
            c.length_factor = 0;
            c.length_extra = 3;
            const rg_answers *answers = run(search, &c, NULL);
            for (size_t g = 0; g < 3; g++) {
                path         all[100];
                const size_t count = enumerate(all, d, g, alphas[k]);
                assert_int_equal(count, 85);
                assert_int_equal(answers[g].count, 8);
                for (size_t i = 0; i < 8; i++) {
                    const rg_answer *a = &answers[g].answer[i];
                    assert_true(fabs(a->score - all[i].score) < 1e-5);
                    assert_int_equal(a->cut, all[i].tokens[all[i].n - 1] != EOS);
                    if (i && fabs(all[i].score - all[i - 1].score) < 1e-5) continue; /* ties may come in either order */
                    if (i + 1 < count && fabs(all[i].score - all[i + 1].score) < 1e-5) continue;
                    assert_memory_equal(a->tokens, all[i].tokens, a->length * sizeof *a->tokens);
                }
            }
        }
        rg_decoding_free(d);
        rg_search_free(search);
        rg_model_free((rg_model *)m);
    }
}

static void the_best_of_many_is_the_best_alone(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 7, V);
        rg_search       *one = search_of(&m, 1), *many = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = 5;
        const rg_answers *best = run(one, &c, NULL);
        c.n_best = 5;
        const rg_answers *list = run(many, &c, NULL);
        for (size_t g = 0; g < 3; g++) {
            assert_same(&best[g].answer[0], &list[g].answer[0], 0);
            for (size_t i = 1; i < list[g].count; i++)
                assert_true(list[g].answer[i].score <= list[g].answer[i - 1].score);
        }
        rg_search_free(one);
        rg_search_free(many);
        rg_model_free((rg_model *)m);
    }
}

static void gnmt_divides_by_its_own_length(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 7, V);
        rg_search       *search = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = c.n_best = 4;
        c.normalize = 0.7;
        c.gnmt = true;
        const rg_answers *list = run(search, &c, NULL);
        for (size_t g = 0; g < 3; g++)
            for (size_t i = 0; i < list[g].count; i++) {
                const rg_answer *a = &list[g].answer[i];
                const double     length = (double)a->length + (a->cut ? 0 : 1); /* the end counts */
                assert_true(fabs(a->score - a->log_p / pow((5 + length) / 6, 0.7)) < 1e-9);
            }
        rg_search_free(search);
        rg_model_free((rg_model *)m);
    }
}

static bool holds(const rg_answers *list, const rg_answer *a)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->answer[i].length == a->length &&
            memcmp(list->answer[i].tokens, a->tokens, a->length * sizeof *a->tokens) == 0)
            return true;
    return false;
}

/* The first of two groups is an ordinary beam of half the width; groups of one that may not agree begin differently. */
static void groups_of_a_beam_avoid_each_other(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 7, V);
        rg_search       *plain = search_of(&m, 1), *diverse = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = c.n_best = 2;
        const rg_answers *half = run(plain, &c, NULL);
        c.beam = c.n_best = 4;
        c.groups = 2;
        c.diversity = 0.5;
        const rg_answers *list = run(diverse, &c, NULL);
        for (size_t g = 0; g < 3; g++)
            for (size_t i = 0; i < half[g].count; i++) assert_true(holds(&list[g], &half[g].answer[i]));
        c.groups = 4;
        c.diversity = 1e6;
        list = run(diverse, &c, NULL);
        for (size_t g = 0; g < 3; g++) {
            bool met[V] = { false };
            assert_int_equal(list[g].count, 4);
            for (size_t i = 0; i < 4; i++) {
                const int32_t first = list[g].answer[i].length ? list[g].answer[i].tokens[0] : EOS;
                assert_false(met[first]);
                met[first] = true;
            }
        }
        c.groups = 3;
        const rg_answers *none;
        assert_int_equal(rg_search_run(&none, diverse, &c, &given_sources, NULL, NULL), RG_EINVAL);
        rg_search_free(plain);
        rg_search_free(diverse);
        rg_model_free((rg_model *)m);
    }
}

/* log p of an answer by the pass that training uses. */
static double loss_pass(const rg_model *m, size_t source, const int32_t *tokens, size_t n)
{
    int32_t       previous[MOST] = { BOS };
    const int32_t source_start[] = { 0, start[source + 1] - start[source] }, target_start[] = { 0, (int32_t)n };
    for (size_t i = 1; i < n; i++) previous[i] = tokens[i - 1];
    const rg_batch       batch = { .examples = 1,
                                   .fields = 2,
                                   .field = { [RG_SOURCE] = { .layout = { .groups = 1, .start = source_start },
                                                              .ids = ids + start[source] },
                                              [RG_TARGET] = { .layout = { .groups = 1, .start = target_start },
                                                              .ids = tokens,
                                                              .previous = previous } } };
    const rg_tape_config config = { .record = false };
    rg_tape             *t;
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_loss loss = m->system->loss(t, m, &batch);
    assert_int_equal(rg_tape_status(t), RG_OK);
    const double value = -(double)rg_tensor_at(loss.sum, 0, 0);
    rg_tape_free(t);
    return value;
}

static void forced_scores_are_the_searchs_and_the_loss_passs(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *m = make(*s, 9, V);
        rg_search       *search = search_of(&m, 1), *forced = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = 3;
        c.length_extra = 4;
        c.length_factor = 1;
        const rg_answers *answers = run(search, &c, NULL);
        int32_t           tokens[3][MOST];
        rg_ids            prefix[3] = { { 0 } };
        for (size_t g = 0; g < 3; g++) {
            const rg_answer *a = &answers[g].answer[0];
            assert_true(a->length + 1 < MOST);
            memcpy(tokens[g], a->tokens, a->length * sizeof *a->tokens);
            tokens[g][a->length] = EOS;
            prefix[g].data = tokens[g];
            prefix[g].count = a->length + (a->cut ? 0 : 1);
        }
        c.beam = 1;
        const rg_answers *again = run(forced, &c, prefix);
        for (size_t g = 0; g < 3; g++) {
            const rg_answer *a = &answers[g].answer[0], *b = &again[g].answer[0];
            double           head = 0;
            for (size_t i = 0; i < prefix[g].count; i++) head += b->word[i];
            assert_memory_equal(b->tokens, tokens[g], a->length * sizeof *a->tokens);
            assert_true(fabs(head - a->log_p) < 1e-5);
            assert_true(fabs(loss_pass(m, g, tokens[g], prefix[g].count) - a->log_p) < 1e-5 * (1 + fabs(a->log_p)));
        }
        rg_search_free(search);
        rg_search_free(forced);
        rg_model_free((rg_model *)m);
    }
}

/* Greedy answers of the three sources, closed, as a batch. */
typedef struct {
    int32_t  target[3 * MOST], previous[3 * MOST], start[4];
    uint64_t lines[3];
    rg_batch batch;
} given;

static void give(given *a, const rg_answers *answers)
{
    a->start[0] = 0;
    for (size_t g = 0; g < 3; g++) {
        const rg_answer *b = &answers[g].answer[0];
        int32_t          at = a->start[g];
        for (size_t i = 0; i < b->length; i++) a->target[at++] = b->tokens[i];
        a->target[at++] = EOS;
        a->start[g + 1] = at;
        a->previous[a->start[g]] = BOS;
        for (int32_t i = a->start[g] + 1; i < at; i++) a->previous[i] = a->target[i - 1];
        a->lines[g] = g + 1;
    }
    a->batch = (rg_batch){ .examples = 3,
                           .fields = 2,
                           .field = { [RG_SOURCE] = { .layout = sources, .ids = ids },
                                      [RG_TARGET] = { .layout = { .groups = 3, .start = a->start },
                                                      .ids = a->target,
                                                      .previous = a->previous } },
                           .lines = a->lines };
}

/* The words of every answer, in one pass, are what steps give them; whether one model or two, one thread or two. */
static void one_pass_scores_as_the_steps_do(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model *a = make(*s, 9, V), *b = make(*s, 10, V), *pair[] = { a, b };
        for (size_t count = 1; count <= 2; count++) {
            rg_search       *search = search_of(pair, count);
            rg_forced       *alone, *shared;
            rg_team         *team;
            rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
            c.length_factor = 1;
            const rg_answers *found = run(search, &c, NULL);
            given             answers;
            rg_ids            prefix[3];
            const double     *word, *again;
            give(&answers, found);
            for (size_t g = 0; g < 3; g++)
                prefix[g] = (rg_ids){ .data = answers.target + answers.start[g],
                                      .count = (size_t)(answers.start[g + 1] - answers.start[g]) };
            found = run(search, &c, prefix);
            assert_int_equal(rg_team_new(&team, 2), RG_OK);
            assert_int_equal(rg_forced_new(&alone, pair, count, NULL), RG_OK);
            assert_int_equal(rg_forced_new(&shared, pair, count, team), RG_OK);
            assert_int_equal(rg_forced_run(&word, alone, &answers.batch), RG_OK);
            assert_int_equal(rg_forced_run(&again, shared, &answers.batch), RG_OK);
            for (size_t g = 0; g < 3; g++)
                for (size_t i = 0; i < prefix[g].count; i++) {
                    const size_t at = (size_t)answers.start[g] + i;
                    if (!(fabs(word[at] - found[g].answer[0].word[i]) < 1e-5))
                        fail_msg("%s: source %zu, token %zu: %g in one pass, %g by steps", (*s)->name, g, i, word[at],
                                 found[g].answer[0].word[i]);
                    assert_true(word[at] == again[at]);
                }
            rg_forced_free(alone);
            rg_forced_free(shared);
            rg_team_free(team);
            rg_search_free(search);
        }
        rg_model_free((rg_model *)a);
        rg_model_free((rg_model *)b);
    }
}

static void a_token_outside_the_vocabulary_cannot_be_forced(void **state)
{
    (void)state;
    const rg_model   *m = make(rg_system_find("transformer"), 9, V);
    rg_search        *search = search_of(&m, 1);
    rg_search_config  c = RG_SEARCH_CONFIG_DEFAULT;
    int32_t           bad[] = { V };
    const rg_ids prefix[3] = { { .data = bad, .count = 1 }, { .data = bad, .count = 0 }, { .data = bad, .count = 0 } };
    const rg_answers *out;
    assert_int_equal(rg_search_run(&out, search, &c, &given_sources, NULL, prefix), RG_EINVAL);
    rg_search_free(search);
    rg_model_free((rg_model *)m);
}

static void an_ensemble_of_one_is_one_and_of_two_alike_too(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        const rg_model  *a = make(*s, 11, V), *b = make(*s, 11, V), *pair[] = { a, b };
        rg_search       *one = search_of(&a, 1), *two = search_of(pair, 2);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = 4;
        const rg_answers *x = run(one, &c, NULL), *y = run(two, &c, NULL);
        for (size_t g = 0; g < 3; g++) assert_same(&x[g].answer[0], &y[g].answer[0], 1e-4);
        rg_search_free(one);
        rg_search_free(two);
        rg_model_free((rg_model *)a);
        rg_model_free((rg_model *)b);
    }
}

static void a_limit_marks_what_it_cut(void **state)
{
    (void)state;
    const rg_model  *m = make(rg_system_find("transformer"), 3, V);
    rg_search       *search = search_of(&m, 1);
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.length_factor = 0;
    for (size_t limit = 1; limit < 6; limit++) {
        c.length_extra = limit;
        const rg_answers *answers = run(search, &c, NULL);
        for (size_t g = 0; g < 3; g++) {
            const rg_answer *a = &answers[g].answer[0];
            assert_true(a->cut ? a->length == limit : a->length < limit);
        }
    }
    rg_search_free(search);
    rg_model_free((rg_model *)m);
}

/* Rows of attention are as long as the source and sum to 1; coverage lowers scores by log of what was missed. */
static void attention_has_a_row_for_each_token_and_coverage_a_penalty(void **state)
{
    (void)state;
    EVERY_DECODER(s) {
        bool crosses = false;
        for (const rg_attention_use *u = (*s)->uses; u && u->where; u++)
            crosses = crosses || rg_attention_use_crosses(u);
        if (!crosses) continue; /* no attention to the source */
        const rg_model  *m = make(*s, 13, V);
        rg_search       *search = search_of(&m, 1), *plain = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = c.n_best = 3;
        c.attention = true;
        c.normalize = 0.6;
        const rg_answers *free_ones = run(plain, &c, NULL);
        c.coverage = 0.2;
        const rg_answers *answers = run(search, &c, NULL);
        for (size_t g = 0; g < 3; g++)
            for (size_t k = 0; k < answers[g].count; k++) {
                const rg_answer *a = &answers[g].answer[k];
                double           missed = 0;
                assert_int_equal(a->source_length, start[g + 1] - start[g]);
                const size_t rows = a->length + (a->cut ? 0 : 1);
                for (size_t i = 0; i < rows; i++) {
                    double sum = 0;
                    for (size_t j = 0; j < a->source_length; j++) sum += (double)a->attention[i * a->source_length + j];
                    assert_true(fabs(sum - 1) < 1e-5);
                }
                for (size_t j = 0; j < a->source_length; j++) {
                    double seen = 0;
                    for (size_t i = 0; i < rows; i++) seen += (double)a->attention[i * a->source_length + j];
                    missed += log(fmin(1, seen));
                }
                assert_true(fabs(a->score - (a->log_p / pow((double)rows, 0.6) + 0.2 * missed)) < 1e-4);
            }
        assert_true(answers[0].answer[0].score <= free_ones[0].answer[0].score + 1e-12);
        rg_search_free(search);
        rg_search_free(plain);
        rg_model_free((rg_model *)m);
    }
}

/* Shifted, a token has the row of the step behind it; the last has its own. Nothing else changes. */
static void shifted_attention_is_that_of_the_step_behind(void **state)
{
    (void)state;
    const rg_model  *m = make(rg_system_find("transformer"), 13, V);
    rg_search       *one = search_of(&m, 1), *other = search_of(&m, 1);
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    size_t           rows_seen = 0;
    c.beam = c.n_best = 3;
    c.attention = true;
    const rg_answers *plain = run(one, &c, NULL);
    c.attention_shift = true;
    const rg_answers *shifted = run(other, &c, NULL);
    for (size_t g = 0; g < 3; g++)
        for (size_t k = 0; k < plain[g].count; k++) {
            const rg_answer *a = &plain[g].answer[k], *b = &shifted[g].answer[k];
            const size_t     S = a->source_length, rows = a->length + (a->cut ? 0 : 1);
            assert_int_equal(a->length, b->length);
            assert_true(a->score == b->score);
            for (size_t i = 0; i < rows; i++, rows_seen++)
                assert_memory_equal(b->attention + i * S, a->attention + (i + 1 < rows ? i + 1 : i) * S,
                                    S * sizeof *a->attention);
        }
    assert_true(rows_seen > 20);
    rg_search_free(one);
    rg_search_free(other);
    rg_model_free((rg_model *)m);
}

static void draws_follow_the_seed_and_the_line_not_the_neighbours(void **state)
{
    (void)state;
    const rg_model  *m = make(rg_system_find("transformer"), 15, V);
    rg_search       *all = search_of(&m, 1), *alone = search_of(&m, 1);
    rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
    c.sample = true;
    c.beam = c.n_best = 4;
    c.seed = 8;
    const uint64_t    numbers[] = { 10, 11, 12 };
    const rg_answers *out, *one;
    assert_int_equal(rg_search_run(&out, all, &c, &given_sources, numbers, NULL), RG_OK);
    for (size_t g = 0; g < 3; g++) {
        const int32_t   one_start[] = { 0, start[g + 1] - start[g] };
        const rg_field  single = { .layout = { .groups = 1, .start = one_start }, .ids = ids + start[g] };
        assert_int_equal(rg_search_run(&one, alone, &c, &single, &numbers[g], NULL), RG_OK);
        assert_int_equal(one[0].count, out[g].count);
        for (size_t k = 0; k < 4; k++) assert_same(&out[g].answer[k], &one[0].answer[k], 0);
    }
    bool differs = false;
    c.seed = 9;
    assert_int_equal(rg_search_run(&one, alone, &c, &given_sources, numbers, NULL), RG_OK);
    for (size_t g = 0; g < 3; g++)
        differs =
            differs || out[g].answer[0].length != one[g].answer[0].length ||
            memcmp(out[g].answer[0].tokens, one[g].answer[0].tokens, out[g].answer[0].length * sizeof(int32_t)) != 0;
    assert_true(differs);
    rg_search_free(all);
    rg_search_free(alone);
    rg_model_free((rg_model *)m);
}

/* --------------------------------------------------------------------------------------------------------- stopping */

typedef struct {
    uint64_t number; /* of the source that is given up after `patience` questions; UINT64_MAX: all are */
    size_t   patience, all;
} impatience;

static bool impatient(void *context, uint64_t number)
{
    impatience *i = context;
    i->all++;
    if (number != i->number && i->number != UINT64_MAX) return false;
    if (i->patience == 0) return true;
    i->patience--;
    return false;
}

static void a_source_that_is_given_up_changes_no_other(void **state)
{
    (void)state;
    EVERY_DECODER(s)
    {
        const rg_model  *m = make(*s, 5, V);
        rg_search       *search = search_of(&m, 1), *other = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        c.beam = c.n_best = 3;
        const rg_answers *whole = run(other, &c, NULL);
        for (size_t patience = 0; patience < 3; patience++) {
            impatience i = { .number = 1, .patience = patience };
            c.stop = impatient;
            c.stop_context = &i;
            const rg_answers *out = run(search, &c, NULL);
            assert_true(out[1].stopped ? out[1].count == 0 : patience > 0 && out[1].count == whole[1].count); /* or its answers were there before */
            for (size_t k = 0; k < 3; k += 2) {
                assert_true(!out[k].stopped && out[k].count == whole[k].count);
                for (size_t n = 0; n < out[k].count; n++) assert_same(&out[k].answer[n], &whole[k].answer[n], 0);
            }
        }
        rg_search_free(search);
        rg_search_free(other);
        rg_model_free((rg_model *)(uintptr_t)m);
    }
}

static void a_search_that_nobody_wants_ends_at_its_next_step(void **state)
{
    (void)state;
    EVERY_DECODER(s)
    {
        const rg_model  *m = make(*s, 5, V);
        rg_search       *search = search_of(&m, 1);
        rg_search_config c = RG_SEARCH_CONFIG_DEFAULT;
        impatience       i = { .number = UINT64_MAX };
        c.stop = impatient;
        c.stop_context = &i;
        const rg_answers *out = run(search, &c, NULL);
        assert_int_equal(i.all, 3); /* one question per source, and no step after it */
        for (size_t k = 0; k < 3; k++) assert_true(out[k].stopped && out[k].count == 0);
        rg_search_free(search);
        rg_model_free((rg_model *)(uintptr_t)m);
    }
}

/* -------------------------------------------------------------------------------------------------------- sessions */

enum { LINES = 90 };

static rg_translator *translator(const char *system, uint64_t seed)
{
    static const char *const pieces[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    rg_vocab                *vocab;
    rg_translator           *t;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 8), RG_OK);
    rg_model *m = make(rg_system_find(system), seed, rg_vocab_size(vocab));
    assert_int_equal(rg_translator_new(&t, m, vocab, NULL), RG_OK);
    return t;
}

static void a_line_does_not_depend_on_batch_neighbours_or_threads(void **state)
{
    (void)state;
    static char        text[LINES][64];
    static const char *lines[LINES];
    rg_random          random = rg_random_new(1, 2);
    for (size_t i = 0; i < LINES; i++) {
        const size_t n = (size_t)(rg_random_uniform(&random) * 16);
        size_t       at = 0;
        text[i][0] = 0;
        for (size_t k = 0; k < n; k++)
            at += (size_t)snprintf(text[i] + at, sizeof text[i] - at, "%s%c", k ? " " : "",
                                   (char)('a' + (int)(rg_random_uniform(&random) * 8)));
        lines[i] = text[i];
    }
    static const char *const systems[] = { "transformer", "rnnsearch", "luong" };
    for (size_t which = 0; which < 3; which++) {
        rg_translator       *t = translator(systems[which], 17);
        rg_session          *alone;
        rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
        double               scores[LINES] = { 0 };
        char                *texts[LINES];
        const rg_translated *out;
        c.search.beam = 2;
        assert_int_equal(rg_session_new(&alone, &t, 1, 1), RG_OK);
        for (size_t i = 0; i < LINES; i++) {
            assert_int_equal(rg_session_run(&out, alone, &c, &lines[i], 1, i, NULL), RG_OK);
            texts[i] = rg_strdup(out->count ? out->best[0].text : "");
            if (out->count) scores[i] = out->best[0].answer->score;
        }
        rg_session_free(alone);
        for (int threads = 1; threads <= 3; threads++) {
            rg_session *session;
            assert_int_equal(rg_session_new(&session, &t, 1, threads), RG_OK);
            static const size_t batches[] = { 1, 2, 3, 7, 64 };
            for (size_t b = 0; b < 5; b++) {
                c.batch = batches[b];
                assert_int_equal(rg_session_run(&out, session, &c, lines, LINES, 0, NULL), RG_OK);
                for (size_t i = 0; i < LINES; i++) {
                    assert_string_equal(out[i].count ? out[i].best[0].text : "", texts[i]);
                    if (out[i].count) assert_memory_equal(&out[i].best[0].answer->score, &scores[i], sizeof scores[i]);
                }
            }
            for (size_t n = 1; n <= 6; n++) { /* few: a batch that all threads step together, or one for each */
                assert_int_equal(rg_session_run(&out, session, &c, lines, n, 0, NULL), RG_OK);
                for (size_t i = 0; i < n; i++)
                    if (out[i].count) assert_memory_equal(&out[i].best[0].answer->score, &scores[i], sizeof scores[i]);
            }
            rg_session_free(session);
        }
        for (size_t i = 0; i < LINES; i++) rg_free(texts[i]);
        rg_translator_free(t);
    }
}

static void few_lines_share_all_threads_and_many_are_shared_out(void **state)
{
    (void)state;
    static const char *const lines[] = { "a b c", "", "d e", "f", "g h", "b", "a a a" };
    static const struct {
        int    threads;
        size_t lines, beam, batch, batches;
        bool   together;
    } cases[] = {
        { 1, 1, 1, 32, 1, false }, { 2, 1, 1, 32, 1, true },  { 2, 1, 12, 32, 1, true }, { 2, 3, 1, 32, 1, true },
        { 2, 3, 2, 32, 1, true },  { 2, 3, 4, 32, 2, false }, { 2, 7, 1, 32, 2, false }, { 2, 5, 1, 32, 1, true },
        { 3, 7, 1, 32, 1, true },  { 3, 7, 1, 2, 3, false },  { 4, 3, 4, 32, 1, true },  { 2, 2, 1, 32, 1, true },
    };
    rg_translator *t = translator("transformer", 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_session          *session;
        rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
        const rg_translated *out;
        c.search.beam = cases[i].beam;
        c.batch = cases[i].batch;
        assert_int_equal(rg_session_new(&session, &t, 1, cases[i].threads), RG_OK);
        assert_int_equal(rg_session_run(&out, session, &c, lines, cases[i].lines, 0, NULL), RG_OK);
        if (session->together != cases[i].together || session->batches != cases[i].batches)
            fail_msg("case %zu: %zu batches, together %d", i, session->batches, session->together);
        rg_session_free(session);
    }
    rg_translator_free(t);
}

/* Lines 0, 3, 6, ... are given up; the callback runs on several threads. */
static bool every_third(void *context, uint64_t number)
{
    (void)context;
    return number % 3 == 0;
}

static void lines_that_are_given_up_say_so_and_the_rest_is_answered(void **state)
{
    static const char *const lines[] = { "a b c", "d e", "", "a a a a a a", "f", "g h", "b" };
    rg_translator           *t = translator("transformer", 3);
    (void)state;
    for (size_t batch = 1; batch <= 7; batch += 3) {
        rg_session          *session, *other;
        rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
        const rg_translated *out, *whole;
        assert_int_equal(rg_session_new(&session, &t, 1, 2), RG_OK);
        assert_int_equal(rg_session_new(&other, &t, 1, 1), RG_OK);
        c.batch = batch;
        assert_int_equal(rg_session_run(&whole, other, &c, lines, 7, 0, NULL), RG_OK);
        c.search.stop = every_third;
        assert_int_equal(rg_session_run(&out, session, &c, lines, 7, 0, NULL), RG_OK);
        for (size_t i = 0; i < 7; i++) {
            assert_int_equal(out[i].stopped, i % 3 == 0);
            if (i % 3 == 0) assert_int_equal(out[i].count, 0);
            else if (whole[i].count) assert_string_equal(out[i].best[0].text, whole[i].best[0].text);
        }
        rg_session_free(session);
        rg_session_free(other);
    }
    rg_translator_free(t);
}

static void an_ensemble_with_other_vocabularies_is_refused(void **state)
{
    (void)state;
    static const char *const pieces[] = { "x", "y", "z", "d", "e", "f", "g", "h" };
    rg_translator           *pair[2] = { translator("transformer", 1), NULL };
    rg_vocab                *vocab;
    rg_session              *session;
    assert_int_equal(rg_vocab_from_pieces(&vocab, RG_VOCAB_WORDS, pieces, 8), RG_OK);
    assert_int_equal(
        rg_translator_new(&pair[1], make(rg_system_find("transformer"), 2, rg_vocab_size(vocab)), vocab, NULL), RG_OK);
    assert_int_equal(rg_session_new(&session, pair, 2, 1), RG_EMATCH);
    assert_null(session);
    rg_translator_free(pair[0]);
    rg_translator_free(pair[1]);
}

static void an_ensemble_has_one_model_to_64(void **state)
{
    (void)state;
    rg_translator *t = translator("transformer", 1), *many[65];
    rg_session    *session;
    for (size_t i = 0; i < 65; i++) many[i] = t;
    assert_int_equal(rg_session_new(&session, many, 0, 1), RG_ELIMIT);
    assert_int_equal(rg_session_new(&session, many, 65, 2), RG_ELIMIT);
    assert_null(session);
    assert_int_equal(rg_session_new(&session, many, 64, 1), RG_OK);
    rg_session_free(session);
    rg_translator_free(t);
}

/* What a word is worth by the definition: looked for in every place, each feature by itself. */
static double worth(const double *alpha, const int32_t *x, size_t n, int32_t before, int32_t last, int32_t next)
{
    bool word = false, pair = false, triple = false, reordered = false;
    for (size_t j = 0; j < n; j++) {
        if (next == EOS || x[j] != next) continue;
        word = true;
        pair = pair || (j > 0 && x[j - 1] == last);
        triple = triple || (j > 1 && x[j - 1] == last && x[j - 2] == before);
        for (size_t k = j + 1; k < n; k++) reordered = reordered || x[k] == last;
    }
    return alpha[0] * word + alpha[1] * pair + alpha[2] * triple + alpha[3] * reordered;
}

static void words_of_the_source_are_raised_by_what_they_are_worth(void **state)
{
    (void)state;
    const double      alpha[RG_EXTRACT] = { 0.7, 1.3, -0.4, 0.9 };
    static const int32_t long_start[] = { 0, 9 }, long_ids[] = { 3, 4, 5, 3, 5, 4, 3, 4, 2 };
    const rg_field       one = { .layout = { .groups = 1, .start = long_start }, .ids = long_ids };
    EVERY_DECODER(s) {
        if ((*s)->task != &rg_task_translation) continue;
        const rg_model   *m = make(*s, 3, V);
        rg_search        *search = search_of(&m, 1);
        rg_search_config  c = RG_SEARCH_CONFIG_DEFAULT;
        const rg_answers *answers;
        rg_decoding      *d;
        memcpy(c.extract, alpha, sizeof alpha);
        assert_int_equal(rg_decoding_new(&d, m, NULL), RG_OK);
        assert_int_equal(rg_search_run(&answers, search, &c, &one, NULL, NULL), RG_OK);
        assert_int_equal(rg_decoding_start(d, &one), RG_OK);
        const rg_answer *a = &answers->answer[0];
        int32_t          before = -1, last = BOS;
        double           sum = 0;
        for (size_t i = 0; i < a->length + !a->cut; i++) { /* greedy: the best sum of log p and worth */
            const rg_real *logits;
            size_t         ld;
            double         best = -INFINITY;
            int32_t        token = -1;
            assert_int_equal(rg_decoding_step(&logits, &ld, d, &last), RG_OK);
            for (int32_t j = 0; j < V; j++) {
                const double value = log_probability(logits, j) + worth(alpha, long_ids, 9, before, last, j);
                if (j != BOS && value > best) best = value, token = j;
            }
            if (i < a->length) assert_int_equal(a->tokens[i], token);
            else assert_int_equal(token, EOS);
            sum += best;
            before = last;
            last = token;
        }
        assert_true(fabs(sum - a->log_p) < 1e-4 * (1 + fabs(sum)));
        c.beam = c.n_best = 4; /* and a wider beam finds nothing worse */
        c.normalize = 0;
        assert_int_equal(rg_search_run(&answers, search, &c, &one, NULL, NULL), RG_OK);
        for (size_t k = 1; k < answers->count; k++)
            assert_true(answers->answer[k - 1].score >= answers->answer[k].score);
        rg_decoding_free(d);
        rg_search_free(search);
        rg_model_free((rg_model *)m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_source_are_raised_by_what_they_are_worth),
        cmocka_unit_test(a_beam_of_one_is_greedy),
        cmocka_unit_test(without_scores_greedy_answers_are_the_same),
        cmocka_unit_test(slim_parameters_answer_the_same),
        cmocka_unit_test(a_beam_that_holds_every_prefix_is_exhaustive),
        cmocka_unit_test(the_best_of_many_is_the_best_alone),
        cmocka_unit_test(gnmt_divides_by_its_own_length),
        cmocka_unit_test(groups_of_a_beam_avoid_each_other),
        cmocka_unit_test(forced_scores_are_the_searchs_and_the_loss_passs),
        cmocka_unit_test(one_pass_scores_as_the_steps_do),
        cmocka_unit_test(a_token_outside_the_vocabulary_cannot_be_forced),
        cmocka_unit_test(an_ensemble_of_one_is_one_and_of_two_alike_too),
        cmocka_unit_test(a_limit_marks_what_it_cut),
        cmocka_unit_test(attention_has_a_row_for_each_token_and_coverage_a_penalty),
        cmocka_unit_test(shifted_attention_is_that_of_the_step_behind),
        cmocka_unit_test(draws_follow_the_seed_and_the_line_not_the_neighbours),
        cmocka_unit_test(a_source_that_is_given_up_changes_no_other),
        cmocka_unit_test(a_search_that_nobody_wants_ends_at_its_next_step),
        cmocka_unit_test(lines_that_are_given_up_say_so_and_the_rest_is_answered),
        cmocka_unit_test(a_line_does_not_depend_on_batch_neighbours_or_threads),
        cmocka_unit_test(few_lines_share_all_threads_and_many_are_shared_out),
        cmocka_unit_test(an_ensemble_with_other_vocabularies_is_refused),
        cmocka_unit_test(an_ensemble_has_one_model_to_64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
