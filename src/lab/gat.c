/* gat.c - `regard reproduce gat`: accuracy on a citation graph, mean and deviation over seeds, beside what was
 * published for that graph. */
#include "regard/graph.h"
#include "regard/lab.h"

#include <math.h>
#include <string.h>

typedef struct {
    char   *data;
    int64_t seeds, threads;
    rg_list systems;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "data", offsetof(settings, data), "",
      "folder of the graph (Cora: edges.tsv, features.txt, labels.txt, split.tsv)", 0, NULL },
    { RG_OPTION_INT, "seeds", offsetof(settings, seeds), "100",
      "runs of each system; the published figure is the mean of 100", 0, "[1,inf)" },
    { RG_OPTION_LIST, "systems", offsetof(settings, systems), "gat gcn mlp", "which", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0", "threads; 0: one a core", 0, "[0,1024]" },
    RG_OPTION_END
};

/* The graphs of the paper, known by their sizes; table 2 of the paper: mean of 100 runs, in percent. A mean more
 * than the paper's deviation below does not hold; 0: reported only. Any other graph is reported and judged against
 * nothing. */
typedef struct {
    const char *system, *options; /* the settings of its paper where they are not the defaults */
    double      published, deviation;
} entry;
typedef struct {
    const char *name;
    size_t      nodes, classes;
    entry       entry[3];
} known_graph;
static const known_graph known[] = {
    { "Cora",
      2708,
      7,
      { { "gat", "learn-rate: 0.005\n", 83.0, 0.7 },
        { "gcn", "learn-rate: 0.01\n", 81.5, 0 },
        { "mlp", "learn-rate: 0.01\n", 55.1, 0 } } },
    { "Citeseer",
      3327,
      6,
      { { "gat", "learn-rate: 0.005\n", 72.5, 0.7 },
        { "gcn", "learn-rate: 0.01\n", 70.3, 0 },
        { "mlp", "learn-rate: 0.01\n", 46.5, 0 } } },
    { "Pubmed",
      19717,
      3,
      { { "gat", "learn-rate: 0.01\n", 79.0, 0.3 },
        { "gcn", "learn-rate: 0.01\n", 79.0, 0 },
        { "mlp", "learn-rate: 0.01\n", 71.4, 0 } } },
};

/* NULL: none of the paper's. */
static rg_status recognise(const known_graph **out, const rg_lab *lab, const char *folder)
{
    rg_graph_config config = RG_GRAPH_CONFIG_DEFAULT;
    rg_graph       *graph = NULL;
    RG_TRY(rg_graph_load(&graph, folder, &config));
    *out = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (graph->nodes == known[i].nodes && graph->classes == known[i].classes) *out = &known[i];
    if (*out) fprintf(lab->out, "%s, by its %zu nodes and %zu classes\n", (*out)->name, graph->nodes, graph->classes);
    else
        fprintf(lab->out,
                "a graph of %zu nodes and %zu classes; nothing is published for it here, so nothing is judged\n",
                graph->nodes, graph->classes);
    rg_graph_free(graph);
    return RG_OK;
}

static const entry *find(const known_graph *graph, const char *system)
{
    for (size_t i = 0; graph && i < 3; i++)
        if (strcmp(graph->entry[i].system, system) == 0) return &graph->entry[i];
    return NULL;
}

typedef struct {
    double sum, squares, steps, valids, epochs;
} sums;

static rg_status learn(rg_learned *out, const settings *s, const char *name, const char *extra, int64_t seed)
{
    rg_recipe  *recipe = NULL;
    const char *folder = s->data, *none = "";
    /* "graph" says that the system on graphs of that name is meant; the folder follows, whatever its letters */
    char       *yaml = rg_format("type: %s\ngraph: folder\nseed: %lld\ncpu-threads: %lld\n%s", name, (long long)seed,
                                 (long long)s->threads, extra);
    rg_status   status = yaml ? rg_recipe_new(&recipe, yaml) : RG_ENOMEM;
    rg_free(yaml);
    if (status == RG_OK) status = rg_recipe_set(recipe, "graph", 1, &folder);
    if (status == RG_OK) status = rg_recipe_set(recipe, "model", 1, &none);
    if (status == RG_OK) {
        const rg_training t = rg_recipe_training(recipe, NULL);
        status = rg_learn(NULL, out, &t);
    }
    rg_recipe_free(recipe);
    return status;
}

static rg_status one_seed(sums *out, const rg_lab *lab, const settings *s, const char *name, const char *extra,
                          int64_t seed)
{
    rg_learned r;
    RG_TRY(learn(&r, s, name, extra, seed));
    const double score = 100 * r.final.metric[r.final.count - 1].value; /* test-accuracy, the last */
    out->sum += score;
    out->squares += score * score;
    out->steps += (r.seconds - r.valid_seconds) / fmax(1, (double)r.updates);
    out->valids += r.valid_seconds / fmax(1, (double)r.validations);
    out->epochs += (double)r.epochs;
    fprintf(lab->notes, "== %s, seed %lld of %lld: %.2f %% after %lld epochs, %.1f s; mean so far %.2f %%\n", name,
            (long long)seed, (long long)s->seeds, score, (long long)r.epochs, r.seconds, out->sum / (double)seed);
    return RG_OK;
}

static rg_status one_system(bool *holds, const rg_lab *lab, const settings *s, const known_graph *graph,
                            const char *name)
{
    const rg_system *system = rg_system_find_for(name, &rg_task_graph);
    const entry     *e = find(graph, name);
    sums             all = { 0 };
    if (!system || system->task != &rg_task_graph) return rg_fail(RG_EINVAL, "'%s' is not a system on graphs", name);
    for (int64_t i = 1; i <= s->seeds; i++) RG_TRY(one_seed(&all, lab, s, name, e ? e->options : "", i));
    const double n = (double)s->seeds, mean = all.sum / n;
    const double deviation = n > 1 ? sqrt(fmax(0, (all.squares - n * mean * mean) / (n - 1))) : 0;
    fprintf(lab->out,
            "%-6s %6.2f +- %.2f %%   over %lld seeds, %.0f epochs, %.2f ms per update, %.2f ms per validation", name,
            mean, deviation, (long long)s->seeds, all.epochs / n, 1e3 * all.steps / n, 1e3 * all.valids / n);
    if (e) fprintf(lab->out, "   (published for %s: %.1f)", graph->name, e->published);
    if (e && e->deviation > 0) {
        const bool good = mean >= e->published - e->deviation;
        fprintf(lab->out, ": %s", good ? "holds" : "does not hold");
        *holds = *holds && good;
    }
    fprintf(lab->out, "\n");
    fflush(lab->out);
    return RG_OK;
}

static rg_status run(bool *holds, const rg_lab *lab, const void *values)
{
    const settings    *s = values;
    const known_graph *graph;
    if (!s->data[0]) return rg_fail(RG_EINVAL, "--data names the folder of the graph");
    RG_TRY(recognise(&graph, lab, s->data));
    for (size_t i = 0; i < s->systems.count; i++) RG_TRY(one_system(holds, lab, s, graph, s->systems.items[i]));
    return RG_OK;
}

const rg_experiment rg_experiment_gat = {
    .name = "gat",
    .summary = "labels of a citation graph: graph attention, graph convolution, features alone",
    .source = "Velickovic et al. 2018, Graph Attention Networks, table 2",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
