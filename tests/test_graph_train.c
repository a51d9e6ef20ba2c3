/* test_graph_train.c - learning labels of nodes as a user does: folders in, a model out. The graphs are made up by
 * this file: papers of four subjects whose words and citations mostly stay inside their subject. */
#define _GNU_SOURCE 1
#include "tasks/graph_task.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SUBJECTS = 4, WORDS_OF_ONE = 20, FEATURES = SUBJECTS * WORDS_OF_ONE };

static char folder[] = "test_graph_train.XXXXXX";

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static FILE *open_in(const char *name, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* Seven of ten citations stay inside the subject, four of ten words do: features alone tell less than the
 * neighbours. */
static void write_graph(const char *name, uint32_t nodes, uint32_t seed, bool split, bool weighted)
{
    FILE *edges = open_in(name, "edges.tsv"), *features = open_in(name, "features.txt"),
         *labels = open_in(name, "labels.txt"), *parts = split ? open_in(name, "split.tsv") : NULL;
    for (uint32_t i = 0; i < nodes; i++) {
        bool     has[FEATURES] = { false };
        uint32_t cited[3], n = 0;
        for (int w = 0; w < 6; w++)
            has[draw(&seed) % 10 < 4 ? i % SUBJECTS * WORDS_OF_ONE + draw(&seed) % WORDS_OF_ONE
                                     : draw(&seed) % FEATURES] = true;
        for (int w = 0, first = 1; w < FEATURES; w++)
            if (has[w]) first = (fprintf(features, first ? "%d" : " %d", w), 0);
        fputc('\n', features);
        fprintf(labels, "%u\n", i % SUBJECTS);
        for (int c = 0; c < 3 && i >= 2 * SUBJECTS; c++) {
            uint32_t j = draw(&seed) % (i - SUBJECTS);
            if (draw(&seed) % 10 < 7) j = j / SUBJECTS * SUBJECTS + i % SUBJECTS;
            bool known = j == i;
            for (uint32_t k = 0; k < n; k++) known = known || cited[k] == j;
            if (!known) fprintf(edges, weighted ? "%u\t%u\t%g\n" : "%u\t%u\n", i, cited[n++] = j, j % 2 ? 1.0 : 2.0);
        }
        if (parts) fprintf(parts, "%s\t%u\n", i < nodes / 5 ? "train" : i < nodes * 2 / 5 ? "val" : "test", i);
    }
    fclose(edges), fclose(features), fclose(labels);
    if (parts) fclose(parts);
}

/* --------------------------------------------------------------------------------------------------------- training */

typedef struct {
    const char *system, *train[3], *valid, *test, *model;
    int64_t     epochs, threads, seed;
    double      rate;
} plan;

static void set(rg_recipe *recipe, const char *name, size_t count, const char *const *folders)
{
    char        paths[3][256];
    const char *at[3];
    for (size_t i = 0; i < count; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, folders[i]);
        at[i] = paths[i];
    }
    if (count) assert_int_equal(rg_recipe_set(recipe, name, count, at), RG_OK);
}

static double train(const plan *p, rg_model **out)
{
    const char *const none = "";
    rg_recipe        *recipe;
    rg_learned        learned;
    char              yaml[200];
    snprintf(yaml, sizeof yaml,
             "type: %s\ngraph: folder\nafter-epochs: %lld\ncpu-threads: %lld\nseed: %lld\nlearn-rate: %g\n", p->system,
             (long long)p->epochs, (long long)(p->threads ? p->threads : 1), (long long)(p->seed ? p->seed : 1),
             p->rate > 0 ? p->rate : 0.01);
    if (rg_recipe_new(&recipe, yaml) != RG_OK) fail_msg("%s", rg_message());
    size_t n = 0;
    while (n < 3 && p->train[n]) n++;
    set(recipe, "graph", n, p->train);
    set(recipe, "valid-graph", p->valid != NULL, &p->valid);
    set(recipe, "test-graph", p->test != NULL, &p->test);
    if (p->model) set(recipe, "model", 1, &p->model);
    else assert_int_equal(rg_recipe_set(recipe, "model", 1, &none), RG_OK);
    const rg_training training = rg_recipe_training(recipe, NULL);
    if (rg_learn(out, &learned, &training) != RG_OK) fail_msg("%s", rg_message());
    rg_recipe_free(recipe);
    assert_string_equal(learned.final.metric[learned.final.count - 1].name, "test-accuracy");
    return learned.final.metric[learned.final.count - 1].value;
}

static void any_citation_graph_in_the_format_is_learned_and_neighbours_help(void **state)
{
    (void)state;
    write_graph("papers", 400, 7, true, false);
    const double gat = train(&(plan){ .system = "gat", .train = { "papers" }, .epochs = 120 }, NULL);
    const double gcn = train(&(plan){ .system = "gcn", .train = { "papers" }, .epochs = 120 }, NULL);
    const double mlp = train(&(plan){ .system = "mlp", .train = { "papers" }, .epochs = 120 }, NULL);
    if (gat < 0.75 || gcn < 0.75) fail_msg("gat %.3f, gcn %.3f", gat, gcn);
    if (gat < mlp + 0.05) fail_msg("gat %.3f, features alone %.3f", gat, mlp);
}

static void weighted_edges_are_learned_from_too(void **state)
{
    (void)state;
    write_graph("weighted", 300, 3, true, true);
    const double r = train(&(plan){ .system = "gat", .train = { "weighted" }, .epochs = 120 }, NULL);
    if (r < 0.7) fail_msg("%.3f", r);
}

static void several_graphs_teach_about_one_that_was_never_seen(void **state)
{
    (void)state;
    write_graph("a", 200, 11, false, false);
    write_graph("b", 120, 12, false, false);
    write_graph("c", 90, 13, false, false);
    write_graph("d", 150, 14, false, false);
    const double r =
        train(&(plan){ .system = "gat", .train = { "a", "b" }, .valid = "c", .test = "d", .epochs = 80 }, NULL);
    if (r < 0.75) fail_msg("%.3f on a graph that was not seen", r);
}

static void same_numbers(const rg_model *a, const rg_model *b)
{
    for (size_t i = 0; i < rg_params_count(a->params); i++) {
        const rg_param *p = rg_params_at(a->params, i), *q = rg_params_at(b->params, i);
        if (memcmp(rg_param_data(p), rg_param_data(q), rg_param_rows(p) * rg_param_cols(p) * sizeof(rg_real)) != 0)
            fail_msg("%s differs", rg_param_name(p));
    }
}

static void a_run_that_was_stopped_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    rg_model *one, *two;
    write_graph("e", 160, 21, false, false);
    write_graph("f", 80, 22, false, false);
    plan p = { .system = "gat", .train = { "e", "f" }, .valid = "f", .test = "f", .epochs = 30 };
    const double straight = train(&p, &one);
    p.model = "resumed.safetensors";
    p.epochs = 11;
    train(&p, NULL);
    p.epochs = 30;
    const double resumed = train(&p, &two);
    same_numbers(one, two);
    assert_true(straight == resumed);
    rg_model_free(one);
    rg_model_free(two);
}

static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    rg_model *one, *three;
    write_graph("g", 900, 31, true, false); /* large enough to be shared out */
    plan p = { .system = "gat", .train = { "g" }, .epochs = 8 };
    train(&p, &one);
    p.threads = 3;
    train(&p, &three);
    same_numbers(one, three);
    rg_model_free(one);
    rg_model_free(three);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* docs/models/gat.md states it for the published two layers; N nodes, P pairs (edges both ways, and loops), F words,
 * C classes. */
static void a_training_step_stays_within_the_stated_memory(void **state)
{
    (void)state;
    rg_graph       *g;
    rg_model       *model;
    rg_grads       *grads;
    rg_tape        *t;
    rg_graph_config c = RG_GRAPH_CONFIG_DEFAULT;
    char            path[256];
    write_graph("many", 2000, 41, true, false);
    snprintf(path, sizeof path, "%s/many", folder);
    assert_int_equal(rg_graph_load(&g, path, &c), RG_OK);
    const rg_system     *system = rg_system_find("gat");
    const rg_sizes sizes = { { { "features", g->features }, { "classes", g->classes } } };
    void                *settings = rg_alloc_zero(system->options_bytes);
    assert_int_equal(rg_options_init(system->options, settings), RG_OK);
    assert_int_equal(rg_model_new(&model, system, settings, &sizes, 1), RG_OK);
    assert_int_equal(rg_grads_new(&grads, model->params), RG_OK);
    const rg_tape_config config = { .record = true, .learn = true, .grads = grads };
    assert_int_equal(rg_tape_new(&t, &config), RG_OK);
    const rg_graph_batch batch = { .graph = g, .split = RG_GRAPH_TRAIN };
    assert_int_equal(rg_tape_backward(t, rg_model_loss(t, model, &batch).sum), RG_OK);
    const size_t N = g->nodes, P = g->reach->P, F = g->words->P, C = g->classes;
    const size_t bound = 2 * P + 4 * N * (11 * 64 + 12 * C + 144) + F + 65536;
    if (rg_tape_get_cost(t).bytes > bound) fail_msg("%zu bytes, stated are %zu", rg_tape_get_cost(t).bytes, bound);
    rg_tape_free(t);
    rg_grads_free(grads);
    rg_model_free(model);
    rg_options_fini(system->options, settings);
    rg_free(settings);
    rg_graph_free(g);
}

/* -------------------------------------------------------------------------------------------------------------- run */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_citation_graph_in_the_format_is_learned_and_neighbours_help),
        cmocka_unit_test(weighted_edges_are_learned_from_too),
        cmocka_unit_test(several_graphs_teach_about_one_that_was_never_seen),
        cmocka_unit_test(a_run_that_was_stopped_goes_on_to_the_same_bits),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(a_training_step_stays_within_the_stated_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
