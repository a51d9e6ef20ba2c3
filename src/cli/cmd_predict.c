/* cmd_predict.c - what a model trained on graphs says of every node, or one trained on puzzles of new ones, as TSV; and what it looks at,
 * as a record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/predict_memory.h"
#include "regard/view.h"
#include "tasks/graph_task.h"
#include "tasks/model_file.h"

typedef struct {
    char   *model, *graph, *record, *recorded;
    int64_t node, hops, length, sequences, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "model.safetensors", "model trained by `regard train --type gat` (gcn, mlp; ntm, lstm-copy)", 'm', NULL },
    { RG_OPTION_STRING, "graph", offsetof(settings, graph), "", "folder of the graph; labels and split are not needed", 0, NULL },
    { RG_OPTION_STRING, "attention", offsetof(settings, record), "", "also write who looks at whom to this record (.json or .safetensors; `regard show` draws it)", 0, NULL },
    { RG_OPTION_INT, "node", offsetof(settings, node), "-1", "of the record: only around this node", 0, "[-1,inf)" },
    { RG_OPTION_INT, "hops", offsetof(settings, hops), "2", "of the record: how far around it", 0, "[0,inf)" },
    { RG_OPTION_INT, "length", offsetof(settings, length), "0", "puzzles: their length (recall: items); 0: the longest it learned from", 0, "[0,10000]" },
    { RG_OPTION_INT, "sequences", offsetof(settings, sequences), "1", "puzzles: how many", 0, "[1,inf)" },
    { RG_OPTION_STRING, "attention-of", offsetof(settings, recorded), "0", "puzzles: the sequence --attention records: its number, or worst (most wrong bits)", 0, NULL },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "puzzles: of what is drawn", 0, "[0,inf)" },
    RG_OPTION_END
};

/* --------------------------------------------------------------------------------------------------------- attention */

typedef struct {
    const rg_graph *graph;
    rg_record      *record;
    int32_t        *place; /* of a node among the labels, -1: not shown */
    size_t          labels;
    int             layer;
    rg_status       status;
} watching;

static bool wants(void *context, const char *name) { return (void)context, strstr(name, "weights") != NULL; }

static void see(void *context, const char *name, const rg_tensor *x, const void *reach_of)
{
    watching       *w = context;
    const rg_reach *r = reach_of;
    uint32_t       *from = rg_alloc_array(r->P, sizeof *from), *to = rg_alloc_array(r->P, sizeof *to);
    rg_real        *a = rg_alloc_array(r->P, sizeof *a);
    (void)name;
    if (!from || !to || !a) w->status = RG_ENOMEM;
    for (size_t h = 0; w->status == RG_OK && h < rg_tensor_cols(x); h++) {
        size_t n = 0;
        for (size_t p = 0; p < r->P; p++) {
            if (w->place[r->query[p]] < 0 || w->place[r->key[p]] < 0) continue;
            from[n] = (uint32_t)w->place[r->query[p]];
            to[n] = (uint32_t)w->place[r->key[p]];
            a[n++] = rg_tensor_at(x, p, h);
        }
        const rg_map_place place = { "attention", w->layer, (int)h, -1, -1 };
        w->status = rg_record_add_edges(NULL, w->record, place, w->labels, w->labels, from, to, a, n);
    }
    w->layer++;
    rg_free(from);
    rg_free(to);
    rg_free(a);
}

/* Mark the nodes at most `hops` steps from `node`; all when node < 0. */
static size_t mark(int32_t *place, const rg_graph *g, int64_t node, int64_t hops)
{
    for (size_t i = 0; i < g->nodes; i++) place[i] = node < 0 ? 0 : -1;
    if (node >= 0) place[node] = 0;
    for (int64_t h = 1; node >= 0 && h <= hops; h++)
        for (size_t i = 0; i < g->nodes; i++)
            for (size_t p = g->reach->first[i]; place[i] == h - 1 && p < g->reach->first[i + 1]; p++)
                if (place[g->reach->key[p]] < 0) place[g->reach->key[p]] = (int32_t)h;
    size_t n = 0;
    for (size_t i = 0; i < g->nodes; i++)
        if (place[i] >= 0) place[i] = (int32_t)n++;
    return n;
}

static rg_status name_nodes(watching *w, size_t n)
{
    const char **text = rg_alloc_zero((n + 1) * sizeof *text);
    rg_status    status = text ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < w->graph->nodes; i++)
        if (w->place[i] >= 0 &&
            !(text[w->place[i]] =
                  w->graph->label && w->graph->label[i] >= 0 ? rg_format("%zu (%d)", i, w->graph->label[i]) : rg_format("%zu", i)))
            status = RG_ENOMEM;
    if (status == RG_OK) status = rg_record_add_labels(&w->labels, w->record, "nodes", RG_LABEL_NODE, text, n);
    for (size_t i = 0; text && i < n; i++) rg_free((char *)text[i]);
    rg_free(text);
    return status;
}

/* "cora, around node 5" */
static char *title_of(const settings *s, const rg_graph *g)
{
    size_t end = strlen(g->name), begin;
    while (end > 1 && g->name[end - 1] == '/') end--;
    for (begin = end; begin > 0 && g->name[begin - 1] != '/';) begin--;
    const int n = (int)(end - begin);
    return s->node < 0 ? rg_format("%.*s", n, g->name + begin)
                       : rg_format("%.*s, around node %lld", n, g->name + begin, (long long)s->node);
}

static rg_status write_record(const settings *s, const rg_model *m, const rg_graph *g)
{
    watching  w = { .graph = g };
    rg_real  *logits = NULL;
    rg_status status =
        s->node < (int64_t)g->nodes ? RG_OK : rg_fail(RG_EINVAL, "--node %lld; there are nodes 0 .. %zu", (long long)s->node, g->nodes - 1);
    if (status == RG_OK && !(w.place = rg_alloc_array(g->nodes, sizeof *w.place))) status = RG_ENOMEM;
    char *title = status == RG_OK ? title_of(s, g) : NULL;
    if (status == RG_OK) status = title ? rg_record_new(&w.record, title, "graph") : RG_ENOMEM;
    rg_free(title);
    if (status == RG_OK) status = name_nodes(&w, mark(w.place, g, s->node, s->hops));
    const rg_watcher watcher = { &w, wants, see };
    if (status == RG_OK) status = rg_graph_predict(&logits, m, g, NULL, &watcher);
    if (status == RG_OK) status = w.status;
    if (status == RG_OK) status = rg_record_save(w.record, s->record);
    rg_free(logits);
    rg_record_free(w.record);
    rg_free(w.place);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- predictions */

static void print_node(size_t i, const rg_real *x, size_t C, bool several)
{
    size_t best = 0;
    double sum = 0;
    printf("%zu\t", i);
    if (several) {
        for (size_t c = 0, n = 0; c < C; c++)
            if (x[c] > 0) printf("%s%zu", n++ ? " " : "", c);
        printf("\n");
        return;
    }
    for (size_t c = 1; c < C; c++)
        if (x[c] > x[best]) best = c;
    for (size_t c = 0; c < C; c++) sum += exp((double)(x[c] - x[best]));
    printf("%zu\t%.4f\n", best, 1 / sum);
}

static rg_status say(const settings *s, const rg_model *m, const rg_state *state)
{
    uint64_t several, directed, normalize;
    RG_TRY(rg_state_get_count(&several, state, "graph.several"));
    RG_TRY(rg_state_get_count(&directed, state, "graph.directed"));
    RG_TRY(rg_state_get_count(&normalize, state, "graph.normalize"));
    const rg_graph_config config = {
        .directed = directed, .normalize = normalize, .features = rg_model_size(m, "features"), .classes = rg_model_size(m, "classes"), .several = several
    };
    rg_graph             *g;
    rg_real              *logits = NULL;
    RG_TRY(rg_graph_load(&g, s->graph, &config));
    rg_status status = rg_graph_predict(&logits, m, g, NULL, NULL);
    if (status == RG_OK) printf(several ? "node\tclasses\n" : "node\tclass\tprobability\n");
    for (size_t i = 0; status == RG_OK && i < g->nodes; i++) print_node(i, logits + i * rg_model_size(m, "classes"), rg_model_size(m, "classes"), several);
    if (status == RG_OK && s->record[0]) status = write_record(s, m, g);
    if (status != RG_OK && !(s->record[0] && rg_message_names(s->record))) rg_fail_in(status, "%s, %s: ", s->model, s->graph);
    rg_free(logits);
    rg_graph_free(g);
    return status;
}

static rg_status predict_graph(const settings *s, rg_state *state)
{
    rg_model *m = NULL;
    rg_status status = rg_model_load(&m, s->model, "graph", state);
    if (status == RG_OK && !s->graph[0]) status = rg_fail(RG_EINVAL, "which graph? --graph names its folder");
    if (status == RG_OK) status = say(s, m, state);
    rg_model_free(m);
    return status;
}

static rg_status predict_memory(const settings *s, rg_state *state)
{
    const rg_memory_asking asking = { .model = s->model,
                                      .length = s->length,
                                      .count = s->sequences,
                                      .seed = s->seed,
                                      .record = s->record,
                                      .recorded = s->recorded };
    rg_model              *m = NULL;
    rg_status              status = s->graph[0] ? rg_fail(RG_EINVAL, "%s learned puzzles: there is no --graph for it", s->model)
                                                : rg_model_load(&m, s->model, "memory", state);
    if (status == RG_OK) status = rg_predict_memory(m, state, &asking);
    rg_model_free(m);
    return status;
}

/* Every message names its file: the graph's or the record's where they are to blame, otherwise the model's. */
static rg_status name_file(rg_status status, const settings *s)
{
    const bool named = rg_message_names(s->model) || rg_message_names(s->graph) || rg_message_names(s->record);
    return status == RG_OK || named ? status : rg_fail_in(status, "%s: ", s->model);
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    const char     *task = "graph";
    rg_state       *state;
    RG_TRY(rg_output_is_not("attention", s->record, s->model));
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, s->model);
    if (status == RG_OK && rg_state_get_text(&task, state, "regard.task") != RG_OK) task = "graph"; /* loading it says what is wrong with it */
    if (status == RG_OK) status = strcmp(task, "memory") == 0 ? predict_memory(s, state) : predict_graph(s, state);
    rg_state_free(state);
    return name_file(status, s);
}

const rg_command rg_command_predict = {
    .name = "predict",
    .summary = "labels of a graph's nodes, or answers to puzzles, as TSV; and what was looked at",
    .details = "Prints node, class and probability, one line per node; for a model that learned puzzles (ntm, "
               "lstm-copy) what was asked for, the answer and the number of wrong bits, one line per step, and on "
               "standard error how many bits were wrong and how many sequences were lost (had a wrong bit). With "
               "--attention FILE the weights of every layer and head, or where the heads of the memory stood at every "
               "step, are written as a record, which `regard show FILE` draws; --node N keeps that of a graph to a "
               "neighbourhood, --attention-of chooses the sequence.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
