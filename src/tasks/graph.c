/* graph.c - graph -> classes of its nodes: citation networks, molecules. Whole graphs are batches.
 *
 * Stopping is graph attention's rule (Velickovic et al. 2018, the authors' program): an epoch is good when
 * validation loss <= its best OR score >= its best; `early-stopping` epochs without a good one end the run; weights
 * are kept when BOTH hold, and those are tested. */
#include <math.h>

#include "models/graph_parts.h"
#include "regard/supervised.h"
#include "tasks/graph_task.h"

#define AT(field) offsetof(rg_graph_options, field)

static const rg_option options[] = {
    { RG_OPTION_LIST, "graph", AT(graphs), "",
      "folder with edges.tsv, features.txt or .tsv, labels.txt, split.tsv (.gz allowed); several: learn from all", 0,
      NULL },
    { RG_OPTION_LIST, "valid-graph", AT(valid_graphs), "",
      "graphs to validate on as wholes; none: the nodes the split names", 0, NULL },
    { RG_OPTION_LIST, "test-graph", AT(test_graphs), "", "graphs to test on as wholes", 0, NULL },
    { RG_OPTION_BOOL, "directed", AT(directed), "false", "u TAB v lets v see u, not u see v", 0, NULL },
    { RG_OPTION_BOOL, "normalize-features", AT(normalize), "true", "features.txt: a node's features sum to 1", 0,
      NULL },
    RG_OPTION_END
};

enum { MOST_FEATURES = 1 << 24, MOST_CLASSES = 1 << 20 }; /* what a graph may have (graph_read.c) */

typedef struct {
    rg_graph_data  graphs;
    rg_tape       *judge; /* without recording */
    size_t         next;  /* graph of this epoch */
    rg_graph_batch batch;
    const void    *share;
} data;

/* ----------------------------------------------------------------------------------------------------------- assets */

static const rg_asset table[] = {
    { RG_ASSET_FLAG, "graph.several", offsetof(rg_graph_assets, several), NULL, 0, false },
    { RG_ASSET_FLAG, "graph.directed", offsetof(rg_graph_assets, directed), NULL, 0, false },
    { RG_ASSET_FLAG, "graph.normalize", offsetof(rg_graph_assets, normalize), NULL, 0, false },
    { 0 }
};

static rg_status adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    const struct {
        const char *name;
        size_t      most;
    } limits[] = { { "features", MOST_FEATURES }, { "classes", MOST_CLASSES } };
    RG_TRY(rg_assets_adopt(table, assets, sizes, state));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        size_t size = 0;
        if (!rg_sizes_get(&size, sizes, limits[i].name) || size < 1 || size > limits[i].most)
            return rg_fail(RG_ELIMIT, "sizes.%s is %zu; it should be 1 .. %zu", limits[i].name, size, limits[i].most);
    }
    return RG_OK;
}

static rg_status describe(rg_state *state, const void *assets) { return rg_assets_describe(table, state, assets); }

/* --------------------------------------------------------------------------------------------------------- learning */

static rg_status open(rg_run *run)
{
    const rg_graph_options *o = run->options;
    data                   *d = run->data;
    rg_tell_begin(run->report, "reading the graphs");
    rg_status status = rg_graph_data_load(&d->graphs, o);
    rg_tell_over(run->report);
    RG_TRY(status);
    *(rg_graph_assets *)run->assets = (rg_graph_assets){ .several = d->graphs.several, .directed = o->directed, .normalize = o->normalize };
    RG_TRY(rg_sizes_put(&run->sizes, "features", d->graphs.features));
    return rg_sizes_put(&run->sizes, "classes", d->graphs.classes);
}

static rg_status ready(rg_run *run)
{
    const rg_graph_data *g = &((data *)run->data)->graphs;
    size_t               nodes = 0, edges = 0;
    for (size_t i = 0; i < g->train; i++) nodes += g->graph[i]->nodes, edges += g->graph[i]->edges;
    rg_tell(run->report, "%zu nodes, %zu edges, %zu features, %zu classes; %zu parameters", nodes, edges, g->features,
            g->classes, rg_params_numbers(run->model->params));
    return RG_OK;
}

/* One worker on the whole graph, whose threads share its ops. */
static rg_status plan(rg_run *run, rg_trainer_config *config)
{
    config->workers.workers = 1;
    config->workers.threads = run->own_threads;
    config->ties = true;
    return RG_OK;
}

/* An epoch is each graph once. */
static rg_status next(rg_run *run, rg_shares *out)
{
    data *d = run->data;
    *out = (rg_shares){ 0 };
    if (d->next == d->graphs.train) {
        d->next = 0;
        return RG_OK;
    }
    d->batch = (rg_graph_batch){ .graph = d->graphs.graph[d->next++], .split = RG_GRAPH_TRAIN };
    d->share = &d->batch;
    *out = (rg_shares){ .share = &d->share, .count = 1, .cost = (double)d->batch.graph->nodes };
    return RG_OK;
}

static rg_status tell(const rg_run *run, rg_state *state)
{
    return rg_state_put_count(state, "graph.next", ((const data *)run->data)->next);
}

static rg_status seek(rg_run *run, const rg_state *state)
{
    data    *d = run->data;
    uint64_t at;
    RG_TRY(rg_state_get_count(&at, state, "graph.next"));
    if (at > d->graphs.train)
        return rg_fail(RG_EMATCH, "the checkpoint was trained on more graphs; --overwrite starts again");
    d->next = (size_t)at;
    return RG_OK;
}

/* Mean loss and score of a split over its graphs, under the names PREFIXloss and PREFIXaccuracy or PREFIXmicro-f1. */
static rg_status measure(rg_run *run, rg_graph_split split, const char *prefix, rg_metrics *out)
{
    data                *d = run->data;
    const rg_graph_data *g = &d->graphs;
    const rg_tape_config config = { .record = false, .team = rg_workers_team(rg_trainer_workers(run->trainer)) };
    const size_t         own = split == RG_GRAPH_VALID ? g->valid : g->test;
    const size_t         first = !own                      ? 0
                                 : split == RG_GRAPH_VALID ? g->train
                                                           : g->train + g->valid,
                 count = own ? own : g->train;
    rg_graph_counts      counts = { 0 };
    double               sum = 0, labels = 0;
    char                 name[RG_METRIC_NAME];
    if (!d->judge) RG_TRY(rg_tape_new(&d->judge, &config));
    for (size_t i = first; i < first + count; i++) {
        const rg_graph_batch batch = { .graph = g->graph[i], .split = split };
        if (!batch.graph->set[split].count) continue;
        RG_TRY(rg_check_stop(run->report));
        rg_tape_reset(d->judge, 0);
        const rg_tensor *y = run->system->predict(d->judge, run->model, &batch);
        const rg_loss    loss = rg_graph_loss(d->judge, &batch, (rg_tensor *)y);
        RG_TRY(rg_tape_status(d->judge));
        sum += (double)rg_tensor_at(loss.sum, 0, 0);
        labels += loss.count;
        rg_graph_count(&counts, batch.graph, split, rg_tensor_data(y), rg_tensor_ld(y));
    }
    snprintf(name, sizeof name, "%sloss", prefix);
    RG_TRY(rg_metrics_add(out, name, labels > 0 ? sum / labels : NAN, false));
    snprintf(name, sizeof name, "%s%s", prefix, g->several ? "micro-f1" : "accuracy");
    return rg_metrics_add(out, name, labels > 0 ? rg_graph_score(&counts) : NAN, true);
}

static rg_status judge(rg_run *run, rg_metrics *out) { return measure(run, RG_GRAPH_VALID, "", out); }

static rg_status finish(rg_run *run)
{
    RG_TRY(measure(run, RG_GRAPH_VALID, "valid-", &run->final));
    return measure(run, RG_GRAPH_TEST, "test-", &run->final);
}

static void blame(const rg_run *run, const void *share, char *out, size_t room)
{
    (void)run;
    snprintf(out, room, "graph %s", ((const rg_graph_batch *)share)->graph->name);
}

static void close(rg_run *run)
{
    data *d = run->data;
    rg_tape_free(d->judge);
    rg_graph_data_free(&d->graphs);
}

static double epoch_part(const rg_run *run)
{
    const data *d = run->data;
    return (double)d->next / (double)d->graphs.train;
}

static rg_status hint(rg_text *out, const void *given, const char *program, const char *model)
{
    char *folder = rg_shell_quote(((const rg_graph_options *)given)->graphs.items[0]);
    if (!folder) return RG_ENOMEM;
    rg_status status = rg_text_print(out, "%s predict -m %s --graph %s", program, model, folder);
    rg_free(folder);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- answering */

typedef struct {
    char   *graph;
    int64_t node, hops;
} asking;

static const rg_option asking_rows[] = {
    { RG_OPTION_STRING, "graph", offsetof(asking, graph), "", "folder of the graph; labels and split are not needed", 0,
      NULL },
    { RG_OPTION_INT, "node", offsetof(asking, node), "-1", "of the record: only around this node", 0, "[-1,inf)" },
    { RG_OPTION_INT, "hops", offsetof(asking, hops), "2", "of the record: how far around it", 0, "[0,inf)" },
    RG_OPTION_END
};

static rg_status one_class(const rg_sink *sink, size_t node, const rg_real *x, size_t C)
{
    size_t best = 0;
    double sum = 0;
    for (size_t c = 1; c < C; c++)
        if (x[c] > x[best]) best = c;
    for (size_t c = 0; c < C; c++) sum += exp((double)(x[c] - x[best]));
    const rg_value cells[] = { { .number = (double)node },
                               { .number = (double)best },
                               { .number = 1 / sum, .digits = 4 } };
    return sink->row(sink->context, cells);
}

static rg_status several_classes(const rg_sink *sink, size_t node, const rg_real *x, size_t C)
{
    rg_text   list = { 0 };
    rg_status status = RG_OK;
    for (size_t c = 0; status == RG_OK && c < C; c++)
        if (x[c] > 0) status = rg_text_print(&list, "%s%zu", list.length ? " " : "", c);
    const rg_value cells[] = { { .number = (double)node }, { .text = rg_text_c(&list) } };
    if (status == RG_OK) status = sink->row(sink->context, cells);
    rg_text_free(&list);
    return status;
}

static rg_status answer_nodes(const rg_model *m, const rg_question *q, const rg_graph *g)
{
    static const char *const one[] = { "node", "class", "probability" }, *const many[] = { "node", "classes" };
    const bool               several = ((const rg_graph_assets *)m->assets)->several;
    const size_t             C = rg_model_size(m, "classes");
    rg_real                 *logits;
    RG_TRY(rg_graph_predict(&logits, m, g, NULL, NULL));
    rg_status status = q->sink->columns(q->sink->context, several ? many : one, several ? 2 : 3);
    for (size_t i = 0; status == RG_OK && i < g->nodes; i++)
        status = several ? several_classes(q->sink, i, logits + i * C, C) : one_class(q->sink, i, logits + i * C, C);
    rg_free(logits);
    return status;
}

static rg_status answer(const rg_model *m, const rg_question *q)
{
    const asking          *a = q->options;
    const rg_graph_assets *assets = m->assets;
    const rg_graph_config  config = { .directed = assets->directed,
                                      .normalize = assets->normalize,
                                      .several = assets->several,
                                      .features = rg_model_size(m, "features"),
                                      .classes = rg_model_size(m, "classes") };
    rg_graph              *g;
    rg_record             *record = NULL;
    if (!a->graph[0]) return rg_fail(RG_EINVAL, "which graph? --graph names its folder");
    RG_TRY(rg_graph_load(&g, a->graph, &config));
    rg_status status = answer_nodes(m, q, g);
    if (status == RG_OK && q->sink->record) {
        status = rg_graph_record(&record, m, g, a->node, a->hops, q->explain);
        if (status == RG_OK) status = q->sink->record(q->sink->context, record);
    }
    rg_record_free(record);
    rg_graph_free(g);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ small */

/* A ring of nodes whose neighbours know their class better than they do. */
static rg_status small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const size_t N = size == RG_SMALL_DEMO ? 300 : 24;
    rg_random    random = rg_random_new(7, 0);
    rg_text      edges = { 0 }, features = { 0 }, labels = { 0 }, split = { 0 };
    rg_status    status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < N; i++) {
        const size_t class = i * 3 / N;
        status = rg_text_print(&edges, "%zu\t%zu\n", i, (i + 1) % N);
        if (status == RG_OK)
            status = rg_text_print(&features, "%zu %zu\n", (rg_random_below(&random, 4) ? class : (class + 1) % 3),
                                   3 + (size_t)rg_random_below(&random, 5));
        if (status == RG_OK) status = rg_text_print(&labels, "%zu\n", class);
        if (status == RG_OK)
            status = rg_text_print(&split, "%s\t%zu\n", i % 4 < 2 ? "train" : i % 4 == 2 ? "val" : "test", i);
    }
    const struct {
        const char    *name;
        const rg_text *text;
    } files[] = {
        { "edges.tsv", &edges }, { "features.txt", &features }, { "labels.txt", &labels }, { "split.tsv", &split }
    };
    for (size_t i = 0; status == RG_OK && i < 4; i++) {
        char *path = rg_format("%s/%s", folder, files[i].name);
        status = path ? rg_file_replace(path, files[i].text->data, files[i].text->length) : RG_ENOMEM;
        rg_free(path);
    }
    if (status == RG_OK)
        status = rg_text_print(yaml, "graph: %s\nafter-epochs: %d\n", folder, size == RG_SMALL_DEMO ? 200 : 6);
    rg_text_free(&edges);
    rg_text_free(&features);
    rg_text_free(&labels);
    rg_text_free(&split);
    return status;
}

static const rg_demo demos[] = {
    { .name = "gat",
      .summary = "nodes of a ring learn their class from their neighbours (graph attention)",
      .type = "gat",
      .metric = "test-accuracy",
      .expected = 0.8,
      .asking = "graph: FOLDER\nnode: 10\nhops: 3\n" },
    { 0 },
};

const rg_task rg_task_graph = {
    .name = "graph",
    .in = "graph",
    .out = "classes of its nodes",
    .unit = "nodes",
    .summary = "labels of the nodes of a graph, from their features and neighbours",
    .options = options,
    .options_bytes = sizeof(rg_graph_options),
    .learning = "learn-rate: 0.005\nbeta2: 0.999\noptimizer-epsilon: 1e-8\nweight-decay: 0.0005\nafter-epochs: "
                "100000\nvalid-freq: 0\nvalid-epochs: 1\n"
                "early-stopping: 100\nearly-stopping-on: all\nkeep-best: false\nrestore-best: true\nsave-freq: 0\n",
    .assets_bytes = sizeof(rg_graph_assets),
    .adopt = adopt,
    .describe = describe,
    .data_bytes = sizeof(data),
    .open = open,
    .ready = ready,
    .plan = plan,
    .next = next,
    .tell = tell,
    .seek = seek,
    .judge = judge,
    .blame = blame,
    .epoch_part = epoch_part,
    .finish = finish,
    .close = close,
    .hint = hint,
    .asking = asking_rows,
    .asking_bytes = sizeof(asking),
    .answer = answer,
    .small = small,
    .demos = demos,
};
