/* gates.c - what the gates of recurrent layers did while a text was read, as maps of a record: time across, units
 * down. See view.h. */
#include "regard/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rg_gate_collector {
    rg_record *record;
    size_t     words, units; /* label lists; SIZE_MAX: there are no units yet   */
    size_t     curves;       /* of the gates' means; SIZE_MAX: there are none yet */
    rg_status  status;
    char      *message;
    rg_watcher watcher;
};

static const char *after_gates(const char *name)
{
    const char *at = strstr(name, "gates");
    return at && (at == name || at[-1] == '.') ? at + strlen("gates") : NULL;
}

static bool wants(void *context, const char *name)
{
    (void)context;
    return after_gates(name) != NULL;
}

/* The first number of a name is the layer: "rnn.0.gates.forget". */
static int layer_of(const char *name)
{
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (*at >= '0' && *at <= '9') return atoi(at);
    return -1;
}

static rg_status add_units(rg_gate_collector *c, size_t units)
{
    if (c->units != SIZE_MAX && c->record->labels[c->units].count == units) return RG_OK;
    char    **names = rg_alloc_zero((units + 1) * sizeof *names);
    rg_status status = names ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < units; i++)
        if (!(names[i] = rg_format("%zu", i))) status = RG_ENOMEM;
    if (status == RG_OK)
        status = rg_record_add_labels(&c->units, c->record, "units", RG_LABEL_SLOT, (const char *const *)names, units);
    for (size_t i = 0; names && i < units; i++) rg_free(names[i]);
    rg_free(names);
    return status;
}

/* The mean of a gate over its units, against time. */
static rg_status add_mean(rg_gate_collector *c, const char *gate, int layer, const rg_tensor *x)
{
    const size_t N = rg_tensor_rows(x), u = rg_tensor_cols(x);
    if (c->curves == SIZE_MAX)
        RG_TRY(rg_record_add_curves(&c->curves, c->record, "How far the gates are open, on average", "token",
                                    "mean over units", false, false));
    double *at = rg_alloc_zero(2 * (N + 1) * sizeof *at), *mean = at + N;
    char   *name = layer < 0 ? rg_strdup(gate) : rg_format("%s, layer %d", gate, layer);
    for (size_t i = 0; at && i < N; i++) {
        at[i] = (double)i;
        for (size_t j = 0; j < u; j++) mean[i] += (double)rg_tensor_at(x, i, j) / (double)u;
    }
    const rg_status status = at && name ? rg_record_add_series(c->record, c->curves, name, at, mean, N) : RG_ENOMEM;
    rg_free(at);
    rg_free(name);
    return status;
}

/* Gates lie in 0 .. 1 as they are. What may be negative (cell and candidate) is (1 + tanh) / 2 and (1 + value) / 2:
 * half is zero. */
static rg_status add_map(rg_gate_collector *c, const char *name, const rg_tensor *x)
{
    const char  *gate = after_gates(name) + 1;
    const size_t N = rg_tensor_rows(x), u = rg_tensor_cols(x);
    const bool   cell = strcmp(gate, "cell") == 0, candidate = strcmp(gate, "candidate") == 0;
    RG_TRY(add_units(c, u));
    rg_real *w = rg_alloc_array(N * u + 1, sizeof *w);
    if (!w) return RG_ENOMEM;
    for (size_t j = 0; j < u; j++)
        for (size_t i = 0; i < N; i++) {
            const double v = (double)rg_tensor_at(x, i, j);
            w[j * N + i] = (rg_real)(cell ? (1 + tanh(v)) / 2 : candidate ? (1 + v) / 2 : v);
        }
    const rg_map_place place = { gate, layer_of(name), -1, -1, -1 };
    const rg_status    status = rg_record_add_map(NULL, c->record, place, c->units, c->words, w, N);
    rg_free(w);
    return status == RG_OK && !cell && !candidate ? add_mean(c, gate, place.layer, x) : status;
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_gate_collector *c = context;
    (void)reach;
    if (c->status != RG_OK || !after_gates(name)[0] || rg_tensor_rows(x) != c->record->labels[c->words].count) return;
    c->status = add_map(c, name, x);
    if (c->status != RG_OK) c->message = rg_strdup(rg_message());
}

rg_status rg_gate_collector_new(rg_gate_collector **out, rg_record *record, size_t words)
{
    rg_gate_collector *c = *out = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    *c = (rg_gate_collector){
        .record = record, .words = words, .units = SIZE_MAX, .curves = SIZE_MAX, .watcher = { c, wants, see }
    };
    return RG_OK;
}

const rg_watcher *rg_gate_collector_watcher(const rg_gate_collector *c) { return &c->watcher; }

rg_status rg_gate_collector_finish(rg_gate_collector *c)
{
    rg_status status = c ? c->status : RG_OK;
    if (status != RG_OK) rg_fail(status, "%s", c->message ? c->message : "no memory for a map");
    if (c) rg_free(c->message);
    rg_free(c);
    return status;
}
