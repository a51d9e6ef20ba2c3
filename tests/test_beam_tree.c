/* A beam search as a tree: replayed, it gives the answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/translate.h"
#include "regard/view.h"
#include "support/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rg_model *model;

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

static int learn(void **state)
{
    (void)state;
    const rg_system *system = rg_system_find("transformer");
    rg_recipe       *recipe;
    rg_text          yaml = { 0 };
    ok(rg_text_add_string(&yaml, "type: transformer\n"));
    ok(system->task->small(&yaml, ".", RG_SMALL_TEST));
    ok(rg_recipe_new(&recipe, rg_text_c(&yaml)));
    ok(rg_recipe_read(recipe,
                      "model: ''\ncpu-threads: 1\ndim-emb: 16\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: "
                      "1\nafter-batches: 30\nvalid-freq: 0\nlearn-rate: 0.01\n",
                      false));
    const rg_training t = rg_recipe_training(recipe, NULL);
    ok(rg_learn(&model, NULL, &t));
    rg_recipe_free(recipe);
    rg_text_free(&yaml);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    rg_model_free(model);
    return 0;
}

static const char *piece(const void *vocab, int32_t token) { return rg_vocab_piece(vocab, token); }

static const char *const lines[] = { "ba de fi", "go ku la me ni", "ni" };
enum { LINES = 3 };

typedef struct {
    rg_session          *session;
    const rg_translated *result;
} run;

static run translate(size_t beam, rg_beam_tree *tree, const char *const *prefix)
{
    const rg_translator *translator = model->assets;
    run                  r;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    c.search.beam = beam;
    c.search.n_best = beam;
    if (tree) c.search.trace = rg_beam_tree_note, c.search.trace_context = tree;
    ok(rg_session_new(&r.session, (rg_translator *const *)&translator, 1, 1));
    ok(rg_session_run(&r.result, r.session, &c, lines, LINES, 0, prefix));
    return r;
}

static const rg_record_map *map_of(const rg_record *r, const char *name)
{
    for (size_t i = 0; i < r->maps; i++)
        if (strcmp(r->map[i].name, name) == 0) return &r->map[i];
    return NULL;
}

/* Words and log p along "answer", from the root. */
static double replay(rg_text *words, const rg_record *r)
{
    const rg_record_map *m = map_of(r, "answer");
    double               log_p = 0;
    uint32_t             at = 0;
    for (bool found = true; found;) {
        found = false;
        for (size_t e = 0; e < m->edges; e++) {
            if (m->from[e] != at || found) continue;
            const char *label = r->labels[0].text[m->to[e]], *dot = strstr(label, " · ");
            found = true;
            at = m->to[e];
            log_p += log((double)m->weights[e]);
            if (strncmp(label, "</s>", 4) != 0)
                ok(rg_text_print(words, "%s%.*s", words->length ? " " : "", (int)(dot - label), label));
            break;
        }
    }
    return log_p;
}

static void a_replay_of_the_record_gives_the_answer(void **state)
{
    (void)state;
    const rg_translator *translator = model->assets;
    for (size_t beam = 1; beam <= 5; beam++) {
        rg_beam_tree *tree;
        ok(rg_beam_tree_new(&tree));
        run with = translate(beam, tree, NULL), without = translate(beam, NULL, NULL);
        for (size_t i = 0; i < LINES; i++) {
            const rg_answer *a = with.result[i].best[0].answer;
            rg_text          words = { 0 };
            rg_record       *r, *again;
            char            *json;
            size_t           bytes;
            assert_string_equal(with.result[i].best[0].text,
                                without.result[i].best[0].text); /* tracing changes nothing */
            assert_true(a->log_p == without.result[i].best[0].answer->log_p);
            ok(rg_beam_tree_record(&r, tree, i, lines[i], piece, translator->target));
            ok(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_NUMBERS));
            ok(rg_record_from_json(&again, json, bytes));
            const double log_p = replay(&words, again);
            if (!a->cut) assert_string_equal(rg_text_c(&words), with.result[i].best[0].text);
            assert_true(fabs(log_p - a->log_p) < 1e-4 * (1 + fabs(a->log_p)));
            rg_free(json);
            rg_text_free(&words);
            rg_record_free(r);
            rg_record_free(again);
        }
        rg_session_free(with.session);
        rg_session_free(without.session);
        rg_beam_tree_free(tree);
    }
}

static rg_record *record_of(size_t beam, size_t line)
{
    const rg_translator *translator = model->assets;
    rg_beam_tree        *tree;
    rg_record           *r;
    ok(rg_beam_tree_new(&tree));
    run t = translate(beam, tree, NULL);
    ok(rg_beam_tree_record(&r, tree, line, lines[line], piece, translator->target));
    rg_session_free(t.session);
    rg_beam_tree_free(tree);
    return r;
}

static void a_beam_of_one_is_a_line(void **state)
{
    (void)state;
    rg_record           *r = record_of(1, 1);
    const rg_record_map *kept = map_of(r, "kept"), *dropped = map_of(r, "dropped"), *answer = map_of(r, "answer");
    assert_non_null(kept);
    assert_int_equal(answer->edges, kept->edges + 1); /* and the one that ends it */
    for (size_t e = 0; e < answer->edges; e++) {
        assert_true(r->labels[0].places[2 * answer->to[e]] == (float)(e + 1)); /* a step each ... */
        assert_true(r->labels[0].places[2 * answer->to[e] + 1] == 0);          /* ... in one row  */
    }
    assert_int_equal(dropped->edges, 4 * answer->edges); /* four candidates beside each */
    rg_record_free(r);
}

/* At every step the best are kept, none is likelier than its parent, and no two boxes lie on each other. */
static void kept_candidates_are_better_than_dropped_ones(void **state)
{
    (void)state;
    rg_record           *r = record_of(3, 1);
    const rg_record_map *all = map_of(r, "beam"), *dropped = map_of(r, "dropped");
    const rg_labels     *l = &r->labels[0];
    double               log_p[2000] = { 0 }, least[100], most[100];
    bool                 out[2000] = { false };
    for (size_t s = 0; s < 100; s++) least[s] = INFINITY, most[s] = -INFINITY;
    assert_true(l->count < 2000);
    for (size_t e = 0; e < dropped->edges; e++) out[dropped->to[e]] = true;
    for (size_t e = 0; e < all->edges; e++) {
        const uint32_t i = all->to[e];
        const size_t   s = (size_t)l->places[2 * i];
        assert_true(s < 100 && all->from[e] < i && all->weights[e] <= 1.0001F);
        log_p[i] = log_p[all->from[e]] + log((double)all->weights[e]);
        assert_true(fabs(log_p[i] - atof(strstr(l->text[i], " · ") + 4)) < 0.006);
        if (out[i]) most[s] = fmax(most[s], log_p[i]);
        else least[s] = fmin(least[s], log_p[i]);
    }
    for (size_t s = 1; s < 100; s++) assert_true(most[s] <= least[s] + 1e-5);
    for (size_t i = 0; i < l->count; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(l->places[2 * i] == l->places[2 * j] && l->places[2 * i + 1] == l->places[2 * j + 1]);
    rg_record_free(r);
}

static void the_terminal_draws_it_and_refuses_what_is_no_tree(void **state)
{
    (void)state;
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    rg_record          *r = record_of(3, 0);
    char               *text;
    ok(rg_terminal_tree(&text, r, 0, &o));
    assert_non_null(strstr(text, "ANSWER"));
    assert_non_null(strstr(text, "dropped: "));
    for (const char *line = text; *line;) {
        char one[512];
        const size_t n = strcspn(line, "\n");
        snprintf(one, sizeof one, "%.*s", (int)(n < 511 ? n : 511), line);
        if (strncmp(line, "answer:", 7) != 0) assert_true(rg_terminal_width(one) <= 80);
        line += n + (line[n] != 0);
    }
    rg_free(text);
    r->map[0].from[0] = r->map[0].to[0]; /* a loop */
    assert_int_equal(rg_terminal_tree(&text, r, 0, &o), RG_EINVAL);
    rg_record_free(r);
}

static rg_status make_record(void *context)
{
    const rg_beam_event events[] = {
        { .id = 1, .word = -1, .log_p = -1, .token = 3 },
        { .id = 2, .word = -2, .log_p = -2, .token = 4, .fate = RG_BEAM_DROPPED },
        { .id = 3, .parent = 1, .step = 1, .word = -1, .log_p = -2, .score = -1, .fate = RG_BEAM_FINISHED }
    };
    rg_terminal_options o = RG_TERMINAL_OPTIONS_DEFAULT;
    rg_beam_tree       *tree = NULL;
    rg_record          *r = NULL;
    char               *text = NULL;
    rg_status           status = rg_beam_tree_new(&tree);
    for (size_t i = 0; status == RG_OK && i < 3; i++) rg_beam_tree_note(tree, &events[i]);
    if (status == RG_OK) status = rg_beam_tree_record(&r, tree, 0, "title", piece, context);
    if (status == RG_OK) status = rg_terminal_tree(&text, r, 0, &o);
    rg_free(text);
    rg_record_free(r);
    rg_beam_tree_free(tree);
    return status;
}

static void a_tree_without_memory_leaves_nothing(void **state)
{
    (void)state;
    faults_every_alloc(make_record, (void *)((const rg_translator *)model->assets)->target, NULL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_of_the_record_gives_the_answer),
        cmocka_unit_test(a_beam_of_one_is_a_line),
        cmocka_unit_test(kept_candidates_are_better_than_dropped_ones),
        cmocka_unit_test(the_terminal_draws_it_and_refuses_what_is_no_tree),
        cmocka_unit_test(a_tree_without_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, learn, drop);
}
