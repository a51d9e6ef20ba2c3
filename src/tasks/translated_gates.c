/* translated_gates.c - what the gates of a recurrent translator did (translation.h). Watch points of every recurrence
 * say it (regard/recurrent.h): no system has code of its own for this. */
#include "regard/view.h"
#include "tasks/asked_explain.h"
#include "tasks/gates.h"
#include "tasks/translation.h"

typedef struct {
    const rg_model *model;
    rg_record      *record;
    size_t          source, output; /* label lists */
} watching;

static rg_status watch(void *context, const rg_batch *batch, size_t k)
{
    const watching      *w = context;
    const rg_tape_config config = { .record = false };
    rg_gate_collector   *c = NULL;
    rg_tape             *t = NULL;
    (void)k;
    RG_TRY(rg_gate_collector_new(&c, w->record, w->source));
    rg_status status = rg_gate_collector_scope(c, "encoder", w->source);
    if (status == RG_OK) status = rg_gate_collector_scope(c, "decoder", w->output);
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) {
        rg_tape_set_watcher(t, rg_gate_collector_watcher(c));
        (void)w->model->system->loss(t, w->model, batch);
        rg_tape_set_watcher(t, NULL);
        status = rg_tape_status(t);
    }
    rg_tape_free(t);
    return rg_gates_finish(c, w->record, w->model, status);
}

/* The first list of that name. */
static size_t list_of(const rg_record *r, const char *name)
{
    const size_t i = rg_labels__named(r, name);
    return i < r->label_lists ? i : 0;
}

rg_status rg_record_of_gates(rg_record **out, const rg_translator *t, const rg_translated *r)
{
    *out = NULL;
    if (!r->count || !r->best[0].answer->length)
        return rg_fail(RG_EMATCH, "--gates: the answer is empty, and nothing was written step by step");
    if (r->source_length > RG_GATES_SHOWN + 1 || r->best[0].answer->length > RG_GATES_SHOWN)
        return rg_fail(RG_ELIMIT, "--gates: %zu tokens were read and %zu written; gates of at most %d are shown",
                       r->source_length, r->best[0].answer->length, RG_GATES_SHOWN);
    RG_TRY(rg_record_of_translation(out, t, r));
    watching  w = { t->model, *out, list_of(*out, "source"), list_of(*out, "output") };
    rg_status status = rg_translated_forced(t, r, 0, watch, &w);
    if (status != RG_OK) {
        rg_record_free(*out);
        *out = NULL;
    }
    return status;
}
