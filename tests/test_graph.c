/* Graphs: files with faults name file and line; nodes relabelled give the same answers relabelled; a complete graph
 * is self-attention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/graph.h"
#include "regard/model.h"
#include "tasks/graph_task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *edges, *features, *labels, *split;
    bool        dense, directed;
} files;

static rg_status read(rg_graph **out, const files *f)
{
    rg_graph_config  config = RG_GRAPH_CONFIG_DEFAULT;
    rg_graph_sources s = { .dense = f->dense };
    config.directed = f->directed;
    assert_int_equal(rg_lines_open_bytes(&s.edges, f->edges, strlen(f->edges), NULL), RG_OK);
    assert_int_equal(rg_lines_open_bytes(&s.features, f->features, strlen(f->features), NULL), RG_OK);
    if (f->labels) assert_int_equal(rg_lines_open_bytes(&s.labels, f->labels, strlen(f->labels), NULL), RG_OK);
    if (f->split) assert_int_equal(rg_lines_open_bytes(&s.split, f->split, strlen(f->split), NULL), RG_OK);
    rg_status status = rg_graph_read(out, "test", &s, &config);
    rg_lines_close(s.edges);
    rg_lines_close(s.features);
    rg_lines_close(s.labels);
    rg_lines_close(s.split);
    return status;
}

static void a_graph_is_read_as_it_is_written(void **state)
{
    (void)state;
    const files f = {
        .edges = "0\t1\n1 2\n\n", .features = "0 3\n\n1:3 2:1\n", .labels = "1\n-1\n0\n", .split = "train\t0\nval\t2\n"
    };
    rg_graph   *g;
    assert_int_equal(read(&g, &f), RG_OK);
    assert_int_equal(g->nodes, 3);
    assert_int_equal(g->edges, 2);
    assert_int_equal(g->features, 4);
    assert_int_equal(g->classes, 2);
    assert_int_equal(g->reach->P, 7); /* both directions and three loops */
    assert_float_equal(g->value[0], 0.5, 1e-7);
    assert_float_equal(g->value[2], 0.75, 1e-7);
    assert_int_equal(g->set[RG_GRAPH_TRAIN].count, 1);
    assert_int_equal(g->set[RG_GRAPH_VALID].node[0], 2);
    assert_int_equal(g->set[RG_GRAPH_TEST].count, 0);
    assert_float_equal(g->even[0], 0.5, 1e-6); /* node 0 sees itself: 1 / sqrt(2 * 2) */
    rg_graph_free(g);
    const files directed = {
        .edges = "0\t1\t2.5\n1\t0\t4\n", .features = "1 0 2\n0 0 -1\n", .dense = true, .directed = true
    };
    assert_int_equal(read(&g, &directed), RG_OK);
    assert_int_equal(g->reach->P, 4);
    assert_int_equal(g->words->P, 3);
    assert_float_equal(g->weight[1], 4, 0); /* node 0 sees node 1 */
    assert_null(g->label);
    rg_graph_free(g);
}

static void faults_name_the_file_and_the_line(void **state)
{
    (void)state;
    static const struct {
        files       f;
        const char *says[2];
    } cases[] = {
        { { .edges = "0\t1\n0\t5\n", .features = "0\n1\n" }, { "line 2", "node 5; there are nodes 0 .. 1" } },
        { { .edges = "0\t-1\n", .features = "0\n1\n" }, { "line 1", "node -1" } },
        { { .edges = "0\t1\n1\t0\n", .features = "0\n1\n" }, { "line 2", "already, at line 1" } },
        { { .edges = "0\t1\n0\t1\n", .features = "0\n1\n", .directed = true }, { "line 2", "already, at line 1" } },
        { { .edges = "0\n", .features = "0\n1\n" }, { "line 1", "an edge has two" } },
        { { .edges = "0 x\n", .features = "0\n1\n" }, { "line 1", "'x' is not a node" } },
        { { .edges = "0 1 0\n", .features = "0\n1\n" }, { "line 1", "not a weight" } },
        { { .edges = "0 1 1 1\n", .features = "0\n1\n" }, { "line 1", "more than two nodes" } },
        { { .edges = "", .features = "" }, { "empty", "no nodes" } },
        { { .edges = "", .features = "\n\n" }, { "no node has a feature", "" } },
        { { .edges = "", .features = "0\n3 2\n" }, { "line 2", "feature 2 stands after feature 3" } },
        { { .edges = "", .features = "0\nword\n" }, { "line 2", "'word' is not a feature" } },
        { { .edges = "", .features = "1 2\n1\n", .dense = true }, { "line 2", "1 features; the lines before have 2" } },
        { { .edges = "", .features = "1 nan\n", .dense = true }, { "line 1", "not a number" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n" }, { "line 2", "1 labels for 2 nodes" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n\n" }, { "line 2", "label of node 1 is missing" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n1\n1\n" }, { "line 3", "a label too many" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\nx\n" }, { "line 2", "'x' is not a class" } },
        { { .edges = "", .features = "0\n1\n", .labels = "-1\n-1\n" }, { "no node has a label", "" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n1\n", .split = "learn\t0\n" },
          { "line 1", "'learn' is not train, val or test" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n1\n", .split = "train\t0\ntest\t0\n" },
          { "line 2", "already, as train" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n1\n", .split = "train\t2\n" }, { "line 1", "node 2" } },
        { { .edges = "", .features = "0\n1\n", .labels = "0\n-1\n", .split = "train\t1\n" },
          { "node 1", "label is missing" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_graph *g;
        assert_int_equal(read(&g, &cases[i].f), RG_EFORMAT);
        assert_null(g);
        for (int k = 0; k < 2; k++)
            if (!strstr(rg_message(), cases[i].says[k]))
                fail_msg("case %zu: '%s' does not say '%s'", i, rg_message(), cases[i].says[k]);
    }
}

static rg_model *model_of(const char *name, const rg_graph *g)
{
    const rg_system     *system = rg_system_find_for(name, &rg_task_graph);
    const rg_sizes sizes = { { { "features", g->features }, { "classes", 3 } } };
    rg_model            *m;
    void                *options = rg_alloc_zero(system->options_bytes);
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_model_new(&m, system, options, &sizes, 9), RG_OK);
    rg_options_fini(system->options, options);
    rg_free(options);
    return m;
}

/* Nodes 0 .. 4 are one graph, 5 .. 8 another: neither knows of the other. */
static void graphs_side_by_side_are_answered_as_each_alone(void **state)
{
    (void)state;
    const files       a = { .edges = "0\t1\n1\t2\n2\t3\n0\t3\n3\t4\n", .features = "0 2\n1\n0 1 3\n2 3\n0\n" };
    const files       b = { .edges = "0\t1\n1\t2\n0\t3\n", .features = "3\n0 1\n2\n1 2\n" };
    const files       both = { .edges = "0\t1\n1\t2\n2\t3\n0\t3\n3\t4\n5\t6\n6\t7\n5\t8\n",
                               .features = "0 2\n1\n0 1 3\n2 3\n0\n3\n0 1\n2\n1 2\n" };
    const char *const names[] = { "gat", "gcn", "mlp" };
    rg_graph         *g[3];
    assert_int_equal(read(&g[0], &a), RG_OK);
    assert_int_equal(read(&g[1], &b), RG_OK);
    assert_int_equal(read(&g[2], &both), RG_OK);
    for (size_t n = 0; n < 3; n++) {
        rg_model *m = model_of(names[n], g[2]);
        rg_real  *x[3];
        for (size_t i = 0; i < 3; i++) assert_int_equal(rg_graph_predict(&x[i], m, g[i], NULL, NULL), RG_OK);
        assert_memory_equal(x[0], x[2], 5 * 3 * sizeof(rg_real));
        assert_memory_equal(x[1], x[2] + 5 * 3, 4 * 3 * sizeof(rg_real));
        for (size_t i = 0; i < 3; i++) rg_free(x[i]);
        rg_model_free(m);
    }
    for (size_t i = 0; i < 3; i++) rg_graph_free(g[i]);
}

/* Node i of the first is node (3 i + 1) mod 5 of the second. */
static void relabelled_nodes_give_the_same_answers_relabelled(void **state)
{
    (void)state;
    const files a = { .edges = "0\t1\n1\t2\n2\t3\n0\t3\n3\t4\n", .features = "0 2\n1\n0 1 3\n2 3\n0\n" };
    const files b = { .edges = "1\t4\n4\t2\n2\t0\n1\t0\n0\t3\n", .features = "2 3\n0 2\n0 1 3\n0\n1\n" };
    const char *const names[] = { "gat", "gcn", "mlp" };
    rg_graph *g, *h;
    assert_int_equal(read(&g, &a), RG_OK);
    assert_int_equal(read(&h, &b), RG_OK);
    for (size_t n = 0; n < 3; n++) {
        rg_model *m = model_of(names[n], g);
        rg_real  *x, *y;
        assert_int_equal(rg_graph_predict(&x, m, g, NULL, NULL), RG_OK);
        assert_int_equal(rg_graph_predict(&y, m, h, NULL, NULL), RG_OK);
        for (size_t i = 0; i < 5; i++)
            for (size_t c = 0; c < 3; c++)
                assert_true(x[i * 3 + c] == y[(3 * i + 1) % 5 * 3 + c]); /* every bit: edges are listed in the same order */
        rg_free(x);
        rg_free(y);
        rg_model_free(m);
    }
    rg_graph_free(g);
    rg_graph_free(h);
}

static void a_complete_graph_of_words_is_self_attention(void **state)
{
    (void)state;
    enum { N = 5, D = 6 };
    const char *const scores[] = { "linear", "additive", "scaled_dot" };
    int32_t           from[N * (N - 1)], to[N * (N - 1)];
    size_t            P = 0;
    rg_reach         *edges;
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < N; j++)
            if (i != j) from[P] = j, to[P++] = i;
    assert_int_equal(rg_reach_new_edges(&edges, N, P, from, to, true), RG_OK);
    for (size_t s = 0; s < 3; s++) {
        rg_attention_config config = RG_ATTENTION_CONFIG_DEFAULT;
        rg_attention        att;
        rg_params          *params;
        rg_tape            *t;
        config.score = scores[s];
        config.heads = 2;
        config.q_width = config.k_width = D;
        config.hidden = 3;
        config.activation = RG_LEAKY_RELU;
        assert_int_equal(rg_params_new(&params), RG_OK);
        assert_int_equal(rg_attention_init(&att, &config, params), RG_OK);
        assert_int_equal(rg_params_build(params, 4), RG_OK);
        assert_int_equal(rg_tape_new(&t, &(rg_tape_config){ .record = false }), RG_OK);
        rg_real numbers[N * D];
        for (size_t i = 0; i < N * D; i++) numbers[i] = (rg_real)sin(1.0 + (double)i);
        const int32_t   start[] = { 0, N };
        const rg_layout words = { .groups = 1, .start = start };
        rg_tensor      *x = rg_input(t, numbers, N, D, &words), *k = rg_attention_prepare(t, &att, x);
        rg_tensor      *sentence = rg_attend(t, &att, x, k, x, rg_reach_groups(t, &words, &words)),
                  *graph = rg_attend(t, &att, x, k, x, edges);
        assert_int_equal(rg_tape_status(t), RG_OK);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < D; j++)
                assert_float_equal(rg_tensor_at(sentence, i, j), rg_tensor_at(graph, i, j), 1e-6);
        rg_tape_free(t);
        rg_params_free(params);
    }
    rg_reach_free(edges);
}

/* Nodes whose rows exceed a turn of the backward pass (graph_product.c), the last of them with another number of
 * words. */
static rg_graph *graph_of_many_words(size_t nodes)
{
    char     *text = rg_alloc(nodes * 16 + 1), *at = text;
    rg_graph *g;
    for (size_t i = 0; i < nodes; i++) at += sprintf(at, "%zu:0.5 %zu\n", i * 7 % 10, 10 + i * i % 9);
    sprintf(at - 1, " 19\n");
    const files f = { .edges = "0\t1\n", .features = text };
    assert_int_equal(read(&g, &f), RG_OK);
    rg_free(text);
    return g;
}

/* With y = D w, whatever the mask in D is, the sums of dy y and of dw w are the same number. */
static void the_gradient_of_feature_weights_is_the_way_back_whatever_the_turns_and_the_team(void **state)
{
    (void)state;
    enum { NODES = 9601, FEATURES = 20, HEADS = 8, WIDTH = 8, D = HEADS * WIDTH };
    rg_graph       *g = graph_of_many_words(NODES);
    rg_real        *dy = rg_alloc(NODES * D * sizeof *dy);
    static rg_real  w[FEATURES * D], kept[FEATURES * D];
    for (size_t i = 0; i < FEATURES * D; i++) w[i] = (rg_real)((double)(i * 2654435761u % 1000) / 500 - 1);
    for (size_t i = 0; i < NODES * D; i++) dy[i] = (rg_real)((double)(i * 40503u % 997) / 500 - 1);
    for (int members = 1; members < 4; members++) {
        rg_team *team;
        rg_tape *t;
        assert_int_equal(rg_team_new(&team, members), RG_OK);
        const rg_tape_config config = { .record = true, .learn = true, .team = team, .seed = 3 };
        assert_int_equal(rg_tape_new(&t, &config), RG_OK);
        rg_tensor *x = rg_input(t, w, FEATURES, D, NULL), *y = rg_sparse_product(t, g->words, g->value, x, HEADS, 0.4);
        assert_int_equal(rg_tape_backward_from(t, y, dy), RG_OK);
        const rg_real *dw = rg_tape_gradient(t, x);
        double         there = 0, back = 0, size = 0;
        for (size_t i = 0; i < NODES * D; i++)
            there += (double)dy[i] * (double)rg_tensor_data(y)[i],
                size += fabs((double)dy[i] * (double)rg_tensor_data(y)[i]);
        for (size_t i = 0; i < FEATURES * D; i++) back += (double)dw[i] * (double)w[i];
        assert_true(fabs(there - back) < 1e-6 * size);
        if (members == 1) memcpy(kept, dw, sizeof kept);
        assert_memory_equal(kept, dw, sizeof kept);
        rg_tape_free(t);
        rg_team_free(team);
    }
    rg_free(dy);
    rg_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_read_as_it_is_written),
        cmocka_unit_test(faults_name_the_file_and_the_line),
        cmocka_unit_test(graphs_side_by_side_are_answered_as_each_alone),
        cmocka_unit_test(relabelled_nodes_give_the_same_answers_relabelled),
        cmocka_unit_test(a_complete_graph_of_words_is_self_attention),
        cmocka_unit_test(the_gradient_of_feature_weights_is_the_way_back_whatever_the_turns_and_the_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
