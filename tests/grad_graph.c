/* Systems on graphs: the gradient of the whole loss with respect to every number they learn, with both scores,
 * weights and directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/graph.h"
#include "regard/model.h"
#include "support/gradient.h"

#include <string.h>

static rg_graph *graph_of(const char *edges, const char *features, const char *labels, bool directed)
{
    static const char split[] = "train\t0\ntrain\t1\ntrain\t3\nval\t2\ntest\t4\n";
    rg_graph_config   config = RG_GRAPH_CONFIG_DEFAULT;
    rg_graph_sources  s = { 0 };
    rg_graph         *g;
    config.directed = directed;
    assert_int_equal(rg_lines_open_bytes(&s.edges, edges, strlen(edges), NULL), RG_OK);
    assert_int_equal(rg_lines_open_bytes(&s.features, features, strlen(features), NULL), RG_OK);
    assert_int_equal(rg_lines_open_bytes(&s.labels, labels, strlen(labels), NULL), RG_OK);
    assert_int_equal(rg_lines_open_bytes(&s.split, split, strlen(split), NULL), RG_OK);
    if (rg_graph_read(&g, "test", &s, &config) != RG_OK) fail_msg("%s", rg_message());
    rg_lines_close(s.edges);
    rg_lines_close(s.features);
    rg_lines_close(s.labels);
    rg_lines_close(s.split);
    return g;
}

typedef struct {
    rg_model      *model;
    rg_graph_batch batch;
} work;

static rg_tensor *model_loss(rg_tape *t, rg_tensor *const *x, void *context)
{
    (void)x;
    const work *w = context;
    return rg_model_loss(t, w->model, &w->batch).sum;
}

static void check(const char *name, const char *yaml, const rg_graph *g)
{
    const rg_system      *system = rg_system_find_for(name, &rg_task_graph);
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    const rg_sizes  sizes = { { { "features", g->features }, { "classes", g->classes } } };
    work                  w = { .batch = { .graph = g, .split = RG_GRAPH_TRAIN } };
    assert_int_equal(rg_options_init(system->options, options), RG_OK);
    assert_int_equal(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", true), RG_OK);
    if (rg_model_new(&w.model, system, options, &sizes, 3) != RG_OK) fail_msg("%s: %s", name, rg_message());
    for (size_t i = 0; i < rg_params_count(w.model->params); i++) { /* biases of 0 leave dropped rows on the kinks of activations */
        const rg_param *p = rg_params_at(w.model->params, i);
        if (rg_param_get_kind(p) == RG_VECTOR)
            rg_test_fill(rg_param_data(p), rg_param_rows(p) * rg_param_cols(p), i + 1, -0.5, 0.5);
    }
    assert_int_equal(rg_params_repack(w.model->params, NULL), RG_OK);
    const rg_gradient_case c = {
        .name = yaml, .function = model_loss, .context = &w, .params = w.model->params, .plain_only = true
    };
    rg_expect_gradient(&c);
    rg_model_free(w.model);
    rg_options_fini(system->options, options);
    rg_free(options);
}

static const char *const edges = "0\t1\n1\t2\n2\t3\n0\t3\n3\t4\n", *const features = "0 2\n1\n0 1 3\n2:0.5 3:1.5\n\n",
                         *const labels = "0\n2\n1\n1\n-1\n";

static void every_system_on_graphs_has_a_correct_gradient(void **state)
{
    (void)state;
    static const char *const variants[] = { "heads: 2\nwidth: 3\n", "heads: 2\nwidth: 3\nscore: additive\n",
                                            "heads: 2\nwidth: 3\nlayers: 3\nskip: true\noutput-heads: 2\n",
                                            "heads: 3\nwidth: 2\ndropout: 0\ndropout-attention: 0\n" };
    rg_graph *g = graph_of(edges, features, labels, false);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) check("gat", variants[i], g);
    check("gcn", "width: 4\n", g);
    check("mlp", "width: 4\n", g);
    rg_graph_free(g);
}

static void weights_directions_and_several_labels_keep_the_gradient_correct(void **state)
{
    (void)state;
    rg_graph *weighted = graph_of("0\t1\t0.5\n1\t2\t2\n2\t3\t1\n1\t1\t3\n", features, labels, true),
             *several = graph_of(edges, features, "0 2\n1\n\n0 1 2\n2\n", false);
    check("gat", "heads: 2\nwidth: 3\n", weighted);
    check("gcn", "width: 4\n", weighted);
    check("gat", "heads: 2\nwidth: 3\n", several);
    rg_graph_free(weighted);
    rg_graph_free(several);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_on_graphs_has_a_correct_gradient),
        cmocka_unit_test(weights_directions_and_several_labels_keep_the_gradient_correct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
