/* evaluate_faithfulness.c - how faithful the maps of every method are, mean over a file of inputs: lines of text, names
 * of pictures, or numbers of nodes. */
#include <stdio.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/evaluate.h"
#include "regard/explain.h"

enum { MOST_METHODS = 16 };

typedef struct {
    double rank[MOST_METHODS], drop[MOST_METHODS], random[MOST_METHODS];
    size_t count[MOST_METHODS];
} sums;

static rg_status add(void *context, const rg_record *r)
{
    sums *s = context;
    for (size_t i = 0; i < r->maps; i++) {
        const rg_record_map *m = &r->map[i];
        for (size_t k = 0; rg_method_all()[k] && k < MOST_METHODS; k++) {
            if (!m->faith.measured || !m->faith.k || m->layer >= 0 || m->head >= 0 || m->hypothesis > 0 ||
                strcmp(m->name, rg_method_all()[k]->name) != 0)
                continue;
            s->rank[k] += (double)m->faith.rank;
            s->drop[k] += (double)m->faith.drop;
            s->random[k] += (double)m->faith.random;
            s->count[k]++;
        }
    }
    return RG_OK;
}

/* Tasks that are asked about a part of something, a node of a graph, have an option for it. */
static const rg_option *node_of(const rg_task *task)
{
    for (const rg_option *o = task->asking; o && o->name; o++)
        if (strcmp(o->name, "node") == 0) return o;
    return NULL;
}

static rg_status ask(const rg_model *model, rg_call *call, const rg_evaluation *e, const char *line, sums *into)
{
    rg_explain_options explain = RG_EXPLAIN_OPTIONS_DEFAULT;
    rg_answer_printer  printer = { .quiet = true, .draw = add, .draw_context = into };
    const rg_task     *task = model->system->task;
    char              *word = (char *)line;
    rg_list            words = { .items = &word, .count = 1 }, none = { 0 };
    void              *options = task->asking ? rg_call_values(call, task->asking) : NULL;
    const rg_option   *node = node_of(task);
    explain.by = e->by;
    explain.faithful = true;
    if (node) RG_TRY(rg_option_set(node, options, 1, &line));
    const rg_question q = { .options = options,
                            .words = node ? &none : &words,
                            .threads = 1,
                            .explain = &explain,
                            .sink = rg_answer_printer_sink(&printer) };
    const rg_status   status = task->answer(model, &q);
    rg_answer_printer_fini(&printer);
    return status;
}

rg_status rg_evaluate_faithfulness(rg_call *call, const rg_evaluation *e)
{
    const rg_explain_options asked = { .by = e->by };
    rg_line_list             lines = { 0 };
    rg_model                *model = NULL;
    sums                     s = { { 0 } };
    if (!*e->model) return rg_fail(RG_EINVAL, "--faithfulness is of a model: -m MODEL");
    if (call->words.count != 1)
        return rg_fail(RG_EINVAL, "--faithfulness takes one file of inputs, one per line; %zu given", call->words.count);
    RG_TRY(rg_explain_check(&asked));
    rg_status status = rg_line_list_read(&lines, call->words.items[0], -1);
    if (status == RG_OK) status = rg_model_load(&model, e->model, NULL);
    if (status == RG_OK && !model->system->task->answer)
        status = rg_fail(RG_EMATCH, "%s: a model for '%s' gives no answers one by one", e->model,
                         model->system->task->name);
    for (size_t i = 0; status == RG_OK && i < lines.count && (!e->most || i < (size_t)e->most); i++)
        if (lines.line[i][0]) status = ask(model, call, e, lines.line[i], &s);
    if (status == RG_OK && !e->json) printf("method\trank\tdrop\trandom\tinputs\n");
    for (size_t k = 0; status == RG_OK && rg_method_all()[k] && k < MOST_METHODS; k++) {
        const double n = (double)s.count[k];
        if (!s.count[k]) continue;
        printf(e->json ? "{\"method\":\"%s\",\"rank\":%.*f,\"drop\":%.*f,\"random\":%.*f,\"inputs\":%zu}\n"
                       : "%s\t%.*f\t%.*f\t%.*f\t%zu\n",
               rg_method_all()[k]->name, (int)e->width, s.rank[k] / n, (int)e->width, s.drop[k] / n, (int)e->width,
               s.random[k] / n, s.count[k]);
    }
    rg_model_free(model);
    rg_line_list_free(&lines);
    return status;
}
