/* memory_record.c - what a machine with a memory did, as a record: what went in and out and where every head stood,
 * step by step. Maps input, output, target, adds, reads (steps x numbers), read and write (steps x slots, one per
 * head). */
#include <stdio.h>
#include <string.h>

#include "tasks/memory_task.h"

/* One watch point, its rows gathered step by step. */
typedef struct {
    const char *name;
    size_t      width, steps; /* numbers per step, steps seen */
    rg_real    *x;
} trace;

enum { HEADS, ADDS, READS, TRACES };

struct rg_memory_traces {
    trace      trace[TRACES];
    size_t     most; /* steps there will be */
    size_t     heads;
    rg_status  status;
    rg_watcher watcher;
};

static trace *trace_of(rg_memory_traces *w, const char *name)
{
    for (size_t i = 0; i < TRACES; i++)
        if (strcmp(w->trace[i].name, name) == 0) return &w->trace[i];
    return NULL;
}

static bool wants(void *context, const char *name) { return trace_of(context, name) != NULL; }

/* Weights come as (slots, heads), the rest as one row; kept as they come. */
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_memory_traces    *w = context;
    trace       *t = trace_of(w, name);
    const size_t rows = rg_tensor_rows(x), cols = rg_tensor_cols(x);
    (void)reach;
    if (w->status != RG_OK || t->steps >= w->most) return;
    if (!t->x) {
        t->width = rows * cols;
        t->x = rg_alloc_array(w->most * t->width, sizeof *t->x);
        if (t == &w->trace[HEADS]) w->heads = cols;
    }
    if (!t->x || rows * cols != t->width) {
        w->status = t->x
                        ? rg_fail(RG_ESHAPE, "%s: %zu numbers in one step, %zu in another", name, rows * cols, t->width)
                        : RG_ENOMEM;
        return;
    }
    for (size_t i = 0; i < t->width; i++) t->x[t->steps * t->width + i] = rg_tensor_at(x, i / cols, i % cols);
    t->steps++;
}

rg_status rg_memory_traces_new(rg_memory_traces **out, size_t steps)
{
    rg_memory_traces *w = *out = rg_alloc_zero(sizeof *w);
    if (!w) return RG_ENOMEM;
    *w = (rg_memory_traces){ .trace = { { .name = "heads" }, { .name = "adds" }, { .name = "reads" } }, .most = steps };
    w->watcher = (rg_watcher){ w, wants, see };
    return RG_OK;
}

void rg_memory_traces_free(rg_memory_traces *w)
{
    for (size_t k = 0; w && k < TRACES; k++) rg_free(w->trace[k].x);
    rg_free(w);
}

const rg_watcher *rg_memory_traces_watcher(rg_memory_traces *w) { return &w->watcher; }
rg_status         rg_memory_traces_status(const rg_memory_traces *w) { return w->status; }

/* ----------------------------------------------------------------------------------------------------------- record */

/* Labels 0 .. n-1, or from 1. */
static rg_status number_labels(size_t *out, rg_record *r, const char *name, rg_label_kind kind, size_t n, size_t from)
{
    char (*text)[24] = rg_alloc_array(n + 1, sizeof *text);
    const char **list = rg_alloc_array(n + 1, sizeof *list);
    rg_status    status = text && list ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        snprintf(text[i], sizeof text[i], "%zu", i + from);
        list[i] = text[i];
    }
    if (status == RG_OK) status = rg_record_add_labels(out, r, name, kind, list, n);
    rg_free(list);
    rg_free(text);
    return status;
}

/* rows x cols numbers of steps as a map with columns of its own. */
static rg_status add_numbers(rg_record *r, const char *name, size_t steps, const rg_real *x, size_t cols)
{
    size_t             labels;
    const rg_map_place place = { name, -1, -1, -1, -1 };
    RG_TRY(number_labels(&labels, r, name, RG_LABEL_TOKEN, cols, 1));
    return rg_record_add_map(NULL, r, place, steps, labels, x, cols);
}

/* Weights of head h over the steps, readers counted apart from writers. */
static rg_status add_head(rg_record *r, const rg_memory_traces *w, size_t steps, size_t slots, size_t h, size_t readers)
{
    const trace *t = &w->trace[HEADS];
    const size_t N = t->width / w->heads;
    rg_real     *x = rg_alloc_array(t->steps * N, sizeof *x);
    if (!x) return RG_ENOMEM;
    for (size_t i = 0; i < t->steps * N; i++) x[i] = t->x[i / N * t->width + i % N * w->heads + h];
    const rg_map_place place = { h < readers ? "read" : "write", -1, (int)(h < readers ? h : h - readers), -1, -1 };
    rg_status          status = rg_record_add_map(NULL, r, place, steps, slots, x, N);
    rg_free(x);
    return status;
}

/* The answers' rows stand at the end of all steps; before them there is nothing. */
static rg_status add_answers(rg_record *r, const char *name, size_t steps, const rg_puzzle_batch *b, const rg_real *x)
{
    rg_real *all = rg_alloc_zero(b->steps * b->out * sizeof *all);
    if (!all) return RG_ENOMEM;
    memcpy(all + (b->steps - b->answers) * b->out, x, b->answers * b->out * sizeof *x);
    rg_status status = add_numbers(r, name, steps, all, b->out);
    rg_free(all);
    return status;
}

static rg_status fill_record(rg_record *r, const rg_memory_traces *w, const rg_puzzle_batch *b, const rg_real *chances)
{
    size_t       steps, slots;
    const trace *heads = &w->trace[HEADS], *adds = &w->trace[ADDS], *reads = &w->trace[READS];
    RG_TRY(number_labels(&steps, r, "steps", RG_LABEL_TOKEN, b->steps, 0));
    if (heads->steps == b->steps && adds->steps == b->steps && reads->steps == b->steps && reads->width) {
        /* reads and adds are as wide as memory, once per head */
        const size_t width = (reads->width + adds->width) / w->heads, readers = reads->width / width;
        RG_TRY(number_labels(&slots, r, "slots", RG_LABEL_SLOT, heads->width / w->heads, 0));
        for (size_t h = 0; h < w->heads; h++) RG_TRY(add_head(r, w, steps, slots, h, readers));
        RG_TRY(add_numbers(r, "adds", steps, adds->x, adds->width));
        RG_TRY(add_numbers(r, "reads", steps, reads->x, reads->width));
    }
    RG_TRY(add_numbers(r, "input", steps, b->input, b->in));
    RG_TRY(add_answers(r, "output", steps, b, chances));
    return add_answers(r, "target", steps, b, b->target);
}

rg_status rg_memory_record(rg_record **out, const char *title, const rg_memory_traces *w, const rg_puzzle_batch *b,
                           const rg_real *chances)
{
    RG_TRY(rg_record_new(out, title, "memory"));
    rg_status status = fill_record(*out, w, b, chances);
    if (status == RG_OK) return RG_OK;
    rg_record_free(*out);
    *out = NULL;
    return status;
}
