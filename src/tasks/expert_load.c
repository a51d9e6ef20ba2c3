/* expert_load.c - see expert_load.h. */
#include "tasks/expert_load.h"

#include <math.h>
#include <string.h>

#include "regard/tensor.h"

/* The length of `name` without `end`; 0: it does not end so. */
static size_t scope_of(const char *name, const char *end)
{
    const size_t n = strlen(name), e = strlen(end);
    return n > e && strcmp(name + n - e, end) == 0 ? n - e : 0;
}

static bool wants(void *context, const char *name)
{
    (void)context;
    return scope_of(name, "experts.load") || scope_of(name, "experts.chosen") || strcmp(name, "experts.load") == 0 ||
           strcmp(name, "experts.chosen") == 0;
}

static rg_expert_mixture *find(rg_expert_load *l, const char *name, size_t bytes, size_t experts)
{
    for (size_t i = 0; i < l->count; i++)
        if (strlen(l->mixture[i].name) == bytes && memcmp(l->mixture[i].name, name, bytes) == 0) return &l->mixture[i];
    if (l->count == l->room) {
        const size_t       room = l->room ? 2 * l->room : 8;
        rg_expert_mixture *larger = rg_realloc(l->mixture, room * sizeof *larger);
        if (!larger) return NULL;
        l->mixture = larger, l->room = room;
    }
    rg_expert_mixture *m = &l->mixture[l->count++];
    *m = (rg_expert_mixture){ .experts = experts };
    snprintf(m->name, sizeof m->name, "%.*s", (int)bytes, name);
    return m;
}

/* "load" comes first, with the shares; then "chosen", with a number per row. */
static void see(void *context, const char *name, const rg_tensor *x, const void *reach)
{
    rg_expert_load *l = context;
    const size_t    bytes = scope_of(name, ".load"), end = scope_of(name, ".chosen");
    (void)reach;
    if (bytes) {
        const size_t             experts = rg_tensor_cols(x) < RG_EXPERTS_MAX ? rg_tensor_cols(x) : RG_EXPERTS_MAX;
        const rg_expert_mixture *m = find(l, name, bytes < 63 ? bytes : 63, experts);
        if (!m) l->status = RG_ENOMEM;
        l->open = m ? 1 + (size_t)(m - l->mixture) : 0;
        for (size_t i = 0; i < experts; i++) l->share[i] = (double)rg_tensor_at(x, 0, i);
    } else if (end && l->open) {
        rg_expert_mixture *m = &l->mixture[l->open - 1];
        const double       rows = (double)rg_tensor_rows(x);
        for (size_t i = 0; i < m->experts; i++) m->load[i] += rows * l->share[i];
        m->rows += rows;
        l->open = 0;
    }
}

void rg_expert_load_init(rg_expert_load *l)
{
    *l = (rg_expert_load){ .watcher = { .context = l, .wants = wants, .see = see } };
}

void rg_expert_load_fini(rg_expert_load *l)
{
    rg_free(l->mixture);
    rg_expert_load_init(l);
}

rg_status rg_expert_load_figures(rg_expert_figures *out, const rg_expert_load *l)
{
    *out = (rg_expert_figures){ 0 };
    if (l->status != RG_OK) return l->status;
    for (size_t i = 0; i < l->count; i++) {
        const rg_expert_mixture *m = &l->mixture[i];
        const double             mean = 1 / (double)m->experts;
        double                   square = 0, most = 0, least = 1;
        for (size_t k = 0; k < m->experts; k++) {
            const double share = m->load[k] / fmax(1, m->rows);
            square += (share - mean) * (share - mean);
            most = fmax(most, share), least = fmin(least, share);
        }
        out->cv += sqrt(square / (double)m->experts) / mean / (double)l->count;
        out->most += most / (double)l->count, out->least += least / (double)l->count;
    }
    return l->count ? RG_OK : rg_fail(RG_EINVAL, "the model has no mixture of experts (--experts)");
}
