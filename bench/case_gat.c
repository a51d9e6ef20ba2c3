/* case_gat.c - graph attention as published for Cora: 8 heads of 8, then one head of as many columns as there are
 * classes, dropout 0.6 on features (a mask a head), on W h and on the weights. A training step (forward, loss,
 * backward, Adam with L2) and an evaluation of all nodes.
 *
 * The graph is made up, with Cora's numbers of nodes, edges, features and words a node; newer nodes cite older ones,
 * the oldest most often. Rows of 10,000 to 1,000,000 edges show how time grows: ten edges a node, 16 of 512
 * features. What both sides must agree on is computed before the first run, without dropout: mean |logit|, or for
 * training the mean |gradient| of the first layer's weights. */
#include "system.h"

#include "regard/graph.h"
#include "regard/model.h"
#include "regard/train.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t      nodes, edges, features, words, classes, labelled;
    bool        train;
} shape[] = {
    { "Cora's shape, training", 2708, 5278, 1433, 18, 7, 140, true },
    { "Cora's shape, evaluation", 2708, 5278, 1433, 18, 7, 140, false },
    { "10k edges, training", 1000, 10000, 512, 16, 7, 100, true },
    { "100k edges, training", 10000, 100000, 512, 16, 7, 1000, true },
    { "1M edges, training", 100000, 1000000, 512, 16, 7, 10000, true },
};
enum { ROWS = sizeof shape / sizeof *shape };

typedef struct state {
    rg_graph      *graph;
    rg_model      *model;
    rg_workers    *workers;
    rg_optimizer  *opt;
    rg_tape       *judge;
    rg_graph_batch batch;
    const void    *share;
    uint64_t       step;
    bool           train;
    double         agreed;
} state;

static void describe(bench_row *out, size_t row)
{
    snprintf(out->name, sizeof out->name, "%s", shape[row].name);
    snprintf(out->params, sizeof out->params,
             "\"nodes\": %zu, \"edges\": %zu, \"features\": %zu, \"words\": %zu, \"classes\": %zu, \"labelled\": %zu, "
             "\"train\": %s",
             shape[row].nodes, shape[row].edges, shape[row].features, shape[row].words, shape[row].classes,
             shape[row].labelled, shape[row].train ? "true" : "false");
}

static void teardown(void *context)
{
    state *s = context;
    rg_tape_free(s->judge);
    rg_optimizer_free(s->opt);
    rg_workers_free(s->workers);
    rg_model_free(s->model);
    rg_graph_free(s->graph);
}

/* ------------------------------------------------------------------------------------------------------- the graph */

static uint32_t mixed(uint32_t i, uint32_t seed)
{
    uint32_t h = (i + seed * 0x9e3779b9u) * 0x85ebca6bu;
    h = (h ^ (h >> 15)) * 0xc2b2ae35u;
    return h ^ (h >> 13);
}

static bool among(const size_t *list, size_t n, size_t x)
{
    while (n--)
        if (list[n] == x) return true;
    return false;
}

static int rising(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

typedef struct text {
    char  *at;
    size_t length, room;
} text;

static rg_status say(text *t, const char *format, ...) RG_PRINTF(2, 3);
static rg_status say(text *t, const char *format, ...)
{
    if (t->room - t->length < 64) {
        char *more = rg_realloc(t->at, 2 * t->room + 4096);
        if (!more) return RG_ENOMEM;
        t->at = more;
        t->room = 2 * t->room + 4096;
    }
    va_list args;
    va_start(args, format);
    t->length += (size_t)vsnprintf(t->at + t->length, t->room - t->length, format, args);
    va_end(args);
    return RG_OK;
}

/* Node i cites older ones: number j = i r^2, the older the likelier; the next free one when it is cited already. */
static rg_status write_edges(text *out, size_t nodes, size_t edges)
{
    size_t cited[64];
    for (size_t i = 1, k = 0; i < nodes; i++) {
        const size_t most = i < 64 ? i : 64, due = edges * (i + 1) / nodes - k, count = due < most ? due : most;
        for (size_t n = 0; n < count; n++, k++) {
            const double r = (double)mixed((uint32_t)k, 1) / 4294967296.0;
            size_t       j = (size_t)((double)i * r * r);
            while (among(cited, n, j)) j = (j + 1) % i;
            RG_TRY(say(out, "%zu\t%zu\n", i, cited[n] = j));
        }
    }
    return RG_OK;
}

static rg_status write_nodes(text *features, text *labels, text *split, size_t row)
{
    for (size_t i = 0; i < shape[row].nodes; i++) {
        size_t had[64];
        for (size_t k = 0; k < shape[row].words; k++) {
            size_t j = mixed((uint32_t)(i * shape[row].words + k), 2) % shape[row].features;
            while (among(had, k, j)) j = (j + 1) % shape[row].features;
            had[k] = j;
        }
        qsort(had, shape[row].words, sizeof *had, rising);
        for (size_t k = 0; k < shape[row].words; k++) RG_TRY(say(features, "%s%zu", k ? " " : "", had[k]));
        RG_TRY(say(features, "\n"));
        RG_TRY(say(labels, "%zu\n", mixed((uint32_t)i, 3) % shape[row].classes));
        if (i < shape[row].labelled) RG_TRY(say(split, "train\t%zu\n", i));
    }
    return RG_OK;
}

static rg_status make_graph(rg_graph **out, size_t row)
{
    enum { EDGES, FEATURES, LABELS, SPLIT, TEXTS };
    text            t[TEXTS] = { { 0 } };
    rg_lines       *lines[TEXTS] = { 0 };
    rg_graph_config config = RG_GRAPH_CONFIG_DEFAULT;
    config.features = shape[row].features;
    config.classes = shape[row].classes;
    rg_status status = write_edges(&t[EDGES], shape[row].nodes, shape[row].edges);
    if (status == RG_OK) status = write_nodes(&t[FEATURES], &t[LABELS], &t[SPLIT], row);
    for (size_t i = 0; status == RG_OK && i < TEXTS; i++)
        status = rg_lines_open_bytes(&lines[i], t[i].at, t[i].length, NULL);
    const rg_graph_sources from = {
        .edges = lines[EDGES], .features = lines[FEATURES], .labels = lines[LABELS], .split = lines[SPLIT]
    };
    if (status == RG_OK) status = rg_graph_read(out, shape[row].name, &from, &config);
    for (size_t i = 0; i < TEXTS; i++) {
        rg_lines_close(lines[i]);
        rg_free(t[i].at);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------------- the work */

static rg_status new_model(state *s)
{
    const rg_system     *system = rg_system_find("gat");
    const rg_sizes sizes = { { { "features", s->graph->features }, { "classes", s->graph->classes } } };
    void                *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_model_new(&s->model, system, options, &sizes, 1);
    rg_options_fini(system->options, options);
    rg_free(options);
    for (size_t i = 0; status == RG_OK && i < rg_params_count(s->model->params); i++) {
        const rg_param *p = rg_params_at(s->model->params, i);
        bench_fill(rg_param_data(p), rg_param_rows(p) * rg_param_cols(p), (uint32_t)i + 1);
    }
    return status == RG_OK ? rg_params_repack(s->model->params, NULL) : status;
}

static rg_status evaluate(state *s)
{
    rg_tape_reset(s->judge, 0);
    s->model->system->predict(s->judge, s->model, &s->batch);
    return rg_tape_status(s->judge);
}

/* Without dropout: a tape that records but does not learn. */
static rg_status agree(state *s)
{
    const rg_param      *w = rg_params_find(s->model->params, "0.w");
    rg_grads            *grads = NULL;
    rg_tape             *t = NULL;
    rg_status            status = rg_grads_new(&grads, s->model->params);
    const rg_tape_config config = { .record = true, .grads = grads };
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK && s->train) {
        status = rg_tape_backward(t, rg_model_loss(t, s->model, &s->batch).sum);
        if (status == RG_OK) s->agreed = bench_mean_abs(rg_grads_of(grads, w), rg_param_rows(w) * rg_param_cols(w));
    } else if (status == RG_OK) {
        const rg_tensor *y = s->model->system->predict(t, s->model, &s->batch);
        status = rg_tape_status(t);
        if (status == RG_OK) s->agreed = bench_mean_abs(rg_tensor_data(y), rg_tensor_rows(y) * rg_tensor_cols(y));
    }
    rg_tape_free(t);
    rg_grads_free(grads);
    return status;
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state                  *s = context;
    const rg_workers_config workers = { .workers = 1, .threads = rg_team_size(team), .seed = 1 };
    rg_optimizer_config     adam = RG_OPTIMIZER_CONFIG_DEFAULT;
    adam.b = 0.999;
    adam.eps = 1e-8;
    adam.decay = 0.0005;
    s->train = shape[row].train;
    RG_TRY(make_graph(&s->graph, row));
    RG_TRY(new_model(s));
    s->batch = (rg_graph_batch){ .graph = s->graph, .split = RG_GRAPH_TRAIN };
    s->share = &s->batch;
    RG_TRY(agree(s));
    RG_TRY(rg_workers_new(&s->workers, s->model->params, &workers));
    RG_TRY(rg_optimizer_new(&s->opt, s->model->params, &adam));
    const rg_tape_config judging = { .record = false, .team = rg_workers_team(s->workers) };
    return rg_tape_new(&s->judge, &judging);
}

static rg_status run(void *context)
{
    state         *s = context;
    rg_losses      losses;
    rg_step_report report;
    if (!s->train) return evaluate(s);
    const rg_job job = { .shares = &s->share, .count = 1, .step = ++s->step, .loss = bench_loss, .context = s->model };
    RG_TRY(rg_workers_run(&losses, s->workers, &job));
    return rg_optimizer_step(&report, s->opt, rg_workers_grads(s->workers), 1, losses.count, 0.005,
                             rg_workers_team(s->workers));
}

static double check(void *context) { return ((const state *)context)->agreed; }

const bench_case bench_case_gat = {
    .name = "gat",
    .summary = "graph attention: a training step and an evaluation, and time over edges",
    .rows = ROWS,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
