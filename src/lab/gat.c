/* gat.c - `regard reproduce gat`: accuracy on a citation graph, mean and deviation over seeds, beside what was published. */
#include "regard/lab.h"
#include "regard/task.h"

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

typedef struct {
    double sum, squares, steps, valids, epochs;
} sums;

static rg_status one_seed(sums *out, const rg_lab *lab, const settings *s, const char *name, const char *rate, int64_t seed)
{
    rg_recipe  *recipe = NULL;
    rg_learned  r;
    const char *folder = s->data, *none = "";
    char        yaml[200];
    snprintf(yaml, sizeof yaml, "type: %s\nseed: %lld\ncpu-threads: %lld\nlearn-rate: %s\n", name, (long long)seed, (long long)s->threads, rate);
    rg_status status = rg_recipe_new(&recipe, yaml);
    if (status == RG_OK) status = rg_recipe_set(recipe, "graph", 1, &folder);
    if (status == RG_OK) status = rg_recipe_set(recipe, "model", 1, &none);
    if (status == RG_OK) {
        const rg_training t = rg_recipe_training(recipe, NULL);
        status = rg_learn(NULL, &r, &t);
    }
    rg_recipe_free(recipe);
    RG_TRY(status);
    const double score = 100 * r.final.metric[r.final.count - 1].value; /* test-accuracy, the last */
    out->sum += score;
    out->squares += score * score;
    out->steps += (r.seconds - r.valid_seconds) / fmax(1, (double)r.updates);
    out->valids += r.valid_seconds / fmax(1, (double)r.validations);
    out->epochs += (double)r.epochs;
    fprintf(lab->notes, "== %s, seed %lld of %lld: %.2f %% after %lld epochs, %.1f s; mean so far %.2f %%\n", name, (long long)seed,
            (long long)s->seeds, score, (long long)r.epochs, r.seconds, out->sum / (double)seed);
    return RG_OK;
}

static rg_status one_system(bool *holds, const rg_lab *lab, const settings *s, const char *name)
{
    const rg_system *system = rg_system_find(name);
    sums             all = { 0 };
    if (!system || system->task != &rg_task_graph) return rg_fail(RG_EINVAL, "'%s' is not a system on graphs", name);
    size_t k = 0;
    while (k < 3 && strcmp(known[k].name, name) != 0) k++;
    for (int64_t i = 1; i <= s->seeds; i++) RG_TRY(one_seed(&all, lab, s, name, k < 3 ? known[k].rate : "0.005", i));
    const double n = (double)s->seeds, mean = all.sum / n, deviation = n > 1 ? sqrt(fmax(0, (all.squares - n * mean * mean) / (n - 1))) : 0;
    fprintf(lab->out, "%-6s %6.2f +- %.2f %%   over %lld seeds, %.0f epochs, %.2f ms per update, %.2f ms per validation", name, mean, deviation,
           (long long)s->seeds, all.epochs / n, 1e3 * all.steps / n, 1e3 * all.valids / n);
    if (k < 3) fprintf(lab->out, "   (published for Cora: %.1f)", known[k].published);
    fprintf(lab->out, "\n");
    fflush(lab->out);
    if (k < 3 && mean < known[k].least) *holds = false;
    return RG_OK;
}

static rg_status run(bool *holds, const rg_lab *lab, const void *values)
{
    const settings *s = values;
    if (!s->data[0]) return rg_fail(RG_EINVAL, "--data names the folder of the graph");
    for (size_t i = 0; i < s->systems.count; i++) RG_TRY(one_system(holds, lab, s, s->systems.items[i]));
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
