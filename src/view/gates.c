/* gates.c - what the gates of recurrent layers did while a text was read, as maps of a record: time across, units
 * down. See view.h. */
#include "regard/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one watch point that have come so far. */
typedef struct {
    char    *name;
    size_t   filled, units;
    rg_real *rows; /* (words, units), in the order in which they came */
} pending;

/* Layers and the words they read. */
typedef struct {
    const char *name; /* NULL: all others */
    size_t      words;
    size_t     *order; /* which word row i is, where a sentence is read in another order; or NULL */
} reading;

struct rg_gate_collector {
    rg_record *record;
    reading    scope[RG_GATE_SCOPES + 1]; /* the first is that of all others */
    size_t     scopes;
    size_t     units;  /* label list; SIZE_MAX: there are no units yet             */
    size_t     curves; /* of the gates' means; SIZE_MAX: there are none yet */
    pending   *pending;
    size_t     count;
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
static rg_status add_mean(rg_gate_collector *c, const char *gate, int layer, const rg_real *x, size_t N, size_t u)
{
    if (c->curves == SIZE_MAX)
        RG_TRY(rg_record_add_curves(&c->curves, c->record, "How far the gates are open, on average", "token",
                                    "mean over units", false, false));
    double *at = rg_alloc_zero(2 * (N + 1) * sizeof *at), *mean = at + N;
    char   *name = layer < 0 ? rg_strdup(gate) : rg_format("%s, layer %d", gate, layer);
    for (size_t i = 0; at && i < N; i++) {
        at[i] = (double)i;
        for (size_t j = 0; j < u; j++) mean[i] += (double)x[j * N + i] / (double)u;
    }
    const rg_status status = at && name ? rg_record_add_series(c->record, c->curves, name, at, mean, N) : RG_ENOMEM;
    rg_free(at);
    rg_free(name);
    return status;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* Gates lie in 0 .. 1 as they are. What may be negative (cell and candidate) is (1 + tanh) / 2 and (1 + value) / 2:
 * half is zero. */
static rg_status add_map(rg_gate_collector *c, const reading *of, const pending *p)
{
    const size_t N = c->record->labels[of->words].count, u = p->units;
    const bool   cell = ends_with(p->name, ".cell"), candidate = ends_with(p->name, ".candidate");
    RG_TRY(add_units(c, u));
    rg_real *w = rg_alloc_array(N * u + 1, sizeof *w);
    char    *gate = of->name ? rg_format("%s%s", of->name, after_gates(p->name)) : rg_strdup(after_gates(p->name) + 1);
    for (size_t i = 0; w && i < N; i++)
        for (size_t j = 0; j < u; j++) {
            const double v = (double)p->rows[i * u + j];
            w[j * N + (of->order ? of->order[i] : i)] =
                (rg_real)(cell ? (1 + tanh(v)) / 2 : candidate ? (1 + v) / 2 : v);
        }
    const rg_map_place place = { gate, layer_of(p->name), -1, -1, -1 };
    rg_status status = w && gate ? rg_record_add_map(NULL, c->record, place, c->units, of->words, w, N) : RG_ENOMEM;
    if (status == RG_OK && !cell && !candidate) status = add_mean(c, gate, place.layer, w, N, u);
    rg_free(w);
    rg_free(gate);
    return status;
}

/* Of a sentence that is read in another order: row i is word number x[i]. */
static rg_status set_order(reading *of, const rg_tensor *x, size_t N)
{
    if (rg_tensor_rows(x) != N) return RG_OK; /* of other words */
    rg_free(of->order);
    if (!(of->order = rg_alloc_array(N + 1, sizeof *of->order))) return RG_ENOMEM;
    for (size_t i = 0; i < N; i++) {
        const double at = (double)rg_tensor_at(x, i, 0);
        of->order[i] = at >= 0 && at < (double)N ? (size_t)at : i;
    }
    return RG_OK;
}

static rg_status find_pending(pending **out, rg_gate_collector *c, const char *name, size_t N, size_t units)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->pending[i].name, name) == 0) {
            *out = &c->pending[i];
            return RG_OK;
        }
    pending *larger = rg_realloc(c->pending, (c->count + 1) * sizeof *larger);
    if (!larger) return RG_ENOMEM;
    c->pending = larger;
    pending *p = *out = &larger[c->count];
    *p = (pending){ .name = rg_strdup(name), .units = units, .rows = rg_alloc_array(N * units + 1, sizeof *p->rows) };
    c->count++;
    return p->name && p->rows ? RG_OK : RG_ENOMEM;
}

/* Rows are gathered until there is one for each word. */
static rg_status add_rows(rg_gate_collector *c, const reading *of, const char *name, const rg_tensor *x)
{
    const size_t N = c->record->labels[of->words].count, n = rg_tensor_rows(x), u = rg_tensor_cols(x);
    pending     *p;
    if (!n || n > N) return RG_OK; /* of other words */
    RG_TRY(find_pending(&p, c, name, N, u));
    if (p->units != u || p->filled + n > N) return RG_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < u; j++) p->rows[(p->filled + i) * u + j] = rg_tensor_at(x, i, j);
    p->filled += n;
    if (p->filled < N) return RG_OK;
    return add_map(c, of, p);
}

static reading *reading_of(rg_gate_collector *c, const char *name)
{
    for (size_t i = 1; i < c->scopes; i++) {
        const size_t n = strlen(c->scope[i].name);
        if (strncmp(name, c->scope[i].name, n) == 0 && name[n] == '.') return &c->scope[i];
    }
    return &c->scope[0];
}

static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_gate_collector *c = context;
    reading           *of = reading_of(c, name);
    (void)reach;
    if (c->status != RG_OK || !after_gates(name)[0]) return;
    c->status = strcmp(after_gates(name), ".order") == 0 ? set_order(of, x, c->record->labels[of->words].count)
                                                         : add_rows(c, of, name, x);
    if (c->status != RG_OK) c->message = rg_strdup(rg_message());
}

rg_status rg_gate_collector_new(rg_gate_collector **out, rg_record *record, size_t words)
{
    rg_gate_collector *c = *out = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    *c = (rg_gate_collector){ .record = record,
                              .scope = { { .words = words } },
                              .scopes = 1,
                              .units = SIZE_MAX,
                              .curves = SIZE_MAX,
                              .watcher = { c, wants, see } };
    return RG_OK;
}

rg_status rg_gate_collector_scope(rg_gate_collector *c, const char *scope, size_t words)
{
    if (c->scopes > RG_GATE_SCOPES) return rg_fail(RG_ELIMIT, "more than %d scopes of gates", RG_GATE_SCOPES);
    c->scope[c->scopes++] = (reading){ .name = scope, .words = words };
    return RG_OK;
}

const rg_watcher *rg_gate_collector_watcher(const rg_gate_collector *c) { return &c->watcher; }

rg_status rg_gate_collector_finish(rg_gate_collector *c)
{
    rg_status status = c ? c->status : RG_OK;
    if (status != RG_OK) rg_fail(status, "%s", c->message ? c->message : "no memory for a map");
    for (size_t i = 0; c && i < c->count; i++) {
        rg_free(c->pending[i].name);
        rg_free(c->pending[i].rows);
    }
    for (size_t i = 0; c && i < c->scopes; i++) rg_free(c->scope[i].order);
    if (c) {
        rg_free(c->pending);
        rg_free(c->message);
    }
    rg_free(c);
    return status;
}
