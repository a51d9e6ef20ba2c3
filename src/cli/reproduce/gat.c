/* gat.c - `regard reproduce gat`: accuracy on a citation graph, mean and deviation over seeds, beside what was published. */
#include "cli/reproduce/experiment.h"
#include "tasks/graph_task.h"

#include <math.h>
#include <string.h>

typedef struct {
    char   *data;
    int64_t seeds, threads;
    rg_list systems;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "data", offsetof(settings, data), "", "folder of the graph (Cora: edges.tsv, features.txt, labels.txt, split.tsv)", 0, NULL },
    { RG_OPTION_INT, "seeds", offsetof(settings, seeds), "100", "runs of each system; the published figure is the mean of 100", 0, "[1,inf)" },
    { RG_OPTION_LIST, "systems", offsetof(settings, systems), "gat gcn mlp", "which", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: one a core", 0, "[0,1024]" },
    RG_OPTION_END
};

/* Published for Cora; each system learns with its paper's rate. GAT must come within a deviation. */
static const struct {
    const char *name, *rate;
    double      published, least;
} known[] = { { "gat", "0.005", 83.0, 82.3 }, { "gcn", "0.01", 81.5, 0 }, { "mlp", "0.01", 55.1, 0 } };

static rg_status one_system(rg_call *call, const settings *s, const char *name, rg_graph_options *o, const rg_graph_data *data)
{
    const rg_system *system = rg_system_find(name);
    if (!system || !system->predict || !system->task || strcmp(system->task, "graph") != 0)
        return rg_fail(RG_EINVAL, "'%s' is not a system on graphs", name);
    size_t k = 0;
    while (k < 3 && strcmp(known[k].name, name) != 0) k++;
    const rg_option_group rows = { .rows = rg_graph_rows, .values = o };
    if (k < 3) RG_TRY(rg_options_set(&rows, 1, "learn-rate", 1, &known[k].rate));
    void *settings_of = rg_alloc_zero(system->options_bytes);
    if (!settings_of) return RG_ENOMEM;
    rg_status status = rg_options_init(system->options, settings_of);
    double    sum = 0, squares = 0, steps = 0, valids = 0, epochs = 0;
    for (int64_t i = 1; status == RG_OK && i <= s->seeds; i++) {
        rg_graph_result r;
        const double    begun = rg_now();
        o->seed = i;
        if ((status = rg_graph_train(&r, NULL, system, settings_of, o, data, NULL)) != RG_OK) break;
        sum += 100 * r.test_score;
        squares += 1e4 * r.test_score * r.test_score;
        steps += r.step_seconds;
        valids += r.valid_seconds;
        epochs += (double)r.epochs;
        fprintf(stderr, "== %s, seed %lld of %lld: %.2f %% after %lld epochs, %.1f s; mean so far %.2f %%\n", name, (long long)i,
                (long long)s->seeds, 100 * r.test_score, (long long)r.epochs, rg_now() - begun, sum / (double)i);
    }
    if (status == RG_OK) {
        const double n = (double)s->seeds, mean = sum / n, deviation = n > 1 ? sqrt(fmax(0, (squares - n * mean * mean) / (n - 1))) : 0;
        printf("%-6s %6.2f +- %.2f %%   over %lld seeds, %.0f epochs, %.2f ms an update, %.2f ms a validation", name, mean, deviation,
               (long long)s->seeds, epochs / n, 1e3 * steps / n, 1e3 * valids / n);
        if (k < 3) printf("   (published for Cora: %.1f)", known[k].published);
        printf("\n");
        fflush(stdout);
        if (k < 3 && mean < known[k].least) call->exit_code = 1;
    }
    rg_options_fini(system->options, settings_of);
    rg_free(settings_of);
    return status;
}

static rg_status run(rg_call *call, const void *values)
{
    const settings  *s = values;
    rg_graph_options o = { 0 };
    rg_graph_data    data = { 0 };
    if (!s->data[0]) return rg_fail(RG_EINVAL, "--data names the folder of the graph");
    RG_TRY(rg_options_init(rg_graph_rows, &o));
    const rg_option_group rows = { .rows = rg_graph_rows, .values = &o };
    const char *const     none = "";
    const char           *folder = s->data;
    rg_status             status = rg_options_set(&rows, 1, "graph", 1, &folder);
    if (status == RG_OK) status = rg_options_set(&rows, 1, "model", 1, &none);
    o.threads = s->threads;
    if (status == RG_OK) status = rg_graph_data_load(&data, &o);
    for (size_t i = 0; status == RG_OK && i < s->systems.count; i++) status = one_system(call, s, s->systems.items[i], &o, &data);
    rg_graph_data_free(&data);
    rg_options_fini(rg_graph_rows, &o);
    return status;
}

const rg_experiment rg_experiment_gat = {
    .name = "gat",
    .summary = "labels of a citation graph: graph attention, graph convolution, features alone",
    .source = "Velickovic et al. 2018, Graph Attention Networks, table 2",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
