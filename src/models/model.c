/* model.c - a system with settings, sizes and parameters; and the engine that decodes with any of them. */
#include "regard/model.h"
#include "regard/ops.h"

#include <stdio.h>
#include <string.h>

#define RG_SYSTEMS(X) X(seq2seq) X(rnnsearch) X(luong) X(transformer) \
    X(gnmt) X(deep_att) X(convs2s) X(bytenet) X(abs) \
    X(gat) X(gcn) X(ntm) X(lstm_copy) X(words) X(classifier) X(mlp) X(mlp_on_graphs) X(tagger) \
    X(lm) X(lstmn) X(gpt) X(bert) X(cnn) X(ram) X(ram_agent) \
    X(caption) X(listen) X(set) X(san) X(recipe) X(gan)
#define DECLARE(name) extern const rg_system rg_system_##name;
#define ENTRY(name)   &rg_system_##name,
RG_SYSTEMS(DECLARE)
static const rg_system *const table[] = { RG_SYSTEMS(ENTRY) NULL };

const rg_system *const *rg_system_all(void) { return table; }

/* Names that systems had before. */
static const char *name_now(const char *name) { return name && strcmp(name, "dense") == 0 ? "mlp" : name; }

const rg_system *rg_system_find_for(const char *name, const rg_task *task)
{
    name = name_now(name);
    for (const rg_system *const *s = table; name && *s; s++)
        if (strcmp((*s)->name, name) == 0 && (!task || (*s)->task == task)) return *s;
    return NULL;
}

const rg_system *rg_system_find(const char *name) { return rg_system_find_for(name, NULL); }

const rg_attention_use *rg_attention_use_find(const rg_attention_use *uses, const char *watch)
{
    for (const rg_attention_use *u = uses; u && u->where; u++)
        if (u->watch && rg_name_matches(u->watch, watch)) return u;
    return NULL;
}

bool rg_attention_use_crosses(const rg_attention_use *u)
{
    return u && u->rows && u->cols && strcmp(u->rows, u->cols) != 0;
}

const rg_preset *rg_preset_find(const rg_system *system, const char *name)
{
    char   known[256] = "";
    size_t at = 0;
    for (const rg_preset *p = system->presets; p && p->name; p++) {
        if (strcmp(p->name, name) == 0) return p;
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", p->name);
        if (at >= sizeof known) at = sizeof known - 1;
    }
    rg_fail(RG_EINVAL, "%s has no preset '%s'; it has %s", system->name, name, at ? known : "none");
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- sizes */

bool rg_sizes_get(size_t *out, const rg_sizes *s, const char *name)
{
    for (size_t i = 0; i < RG_SIZES_MAX && s->size[i].name[0]; i++)
        if (strcmp(s->size[i].name, name) == 0) return *out = s->size[i].value, true;
    return false;
}

rg_status rg_sizes_put(rg_sizes *s, const char *name, size_t value)
{
    size_t i = 0;
    while (i < RG_SIZES_MAX && s->size[i].name[0] && strcmp(s->size[i].name, name) != 0) i++;
    if (i == RG_SIZES_MAX || !*name || strlen(name) >= sizeof s->size[i].name)
        return rg_fail(RG_ELIMIT,
                       "'%.40s' cannot be one more size: there are at most %d, with names of at most %zu characters",
                       name, RG_SIZES_MAX, sizeof s->size[0].name - 1);
    memcpy(s->size[i].name, name, strlen(name) + 1);
    s->size[i].value = value;
    return RG_OK;
}

size_t rg_model_size(const rg_model *m, const char *name)
{
    size_t value = 0;
    return rg_sizes_get(&value, &m->sizes, name) ? value : 0;
}

/* ------------------------------------------------------------------------------------------------------ models */

rg_status rg_system_stored_options(void *options, const rg_system *system, const char *yaml)
{
    const rg_option_group group = { .rows = system->options, .values = options };
    RG_TRY(rg_options_init(system->options, options));
    if (system->earlier)
        RG_TRY(rg_options_read_yaml(&group, 1, system->earlier, strlen(system->earlier), "earlier settings", false));
    return rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "settings of the model", true);
}

static rg_status make(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes, bool empty,
                      uint64_t seed, size_t most, rg_status (*more)(rg_model *model, void *context), void *context)
{
    *out = NULL;
    rg_model *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    m->system = system;
    m->sizes = *sizes;
    m->options = rg_alloc_zero(system->options_bytes);
    m->parts = rg_alloc_zero(system->parts_bytes);
    rg_status status = m->options && m->parts ? rg_params_new(&m->params) : RG_ENOMEM;
    if (status == RG_OK) status = rg_options_copy(system->options, m->options, options);
    if (status == RG_OK) status = system->build(m);
    if (status == RG_OK && more) status = more(m, context);
    if (status == RG_OK && rg_params_numbers(m->params) > most)
        status = rg_fail(RG_EMATCH, "the settings ask for %zu numbers, the file has room for %zu",
                         rg_params_numbers(m->params), most);
    if (status == RG_OK) status = empty ? rg_params_build_empty(m->params) : rg_params_build(m->params, seed);
    if (status != RG_OK) {
        rg_model_free(m);
        return status;
    }
    *out = m;
    return RG_OK;
}

rg_status rg_model_new(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                       uint64_t seed)
{
    return make(out, system, options, sizes, false, seed, SIZE_MAX, NULL, NULL);
}

rg_status rg_model_new_with(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                            uint64_t seed, rg_status (*more)(rg_model *model, void *context), void *context)
{
    return make(out, system, options, sizes, false, seed, SIZE_MAX, more, context);
}

static rg_status keep_in(rg_model *model, void *weights)
{
    rg_params_set_weights(model->params, *(const rg_weights *)weights);
    return RG_OK;
}

rg_status rg_model_new_empty(rg_model **out, const rg_system *system, const void *options, const rg_sizes *sizes,
                             size_t most, rg_weights weights)
{
    return make(out, system, options, sizes, true, 0, most, keep_in, &weights);
}

void rg_model_free(rg_model *m)
{
    if (!m) return;
    rg_model_own(m, NULL, NULL);
    rg_params_free(m->params);
    if (m->options) rg_options_fini(m->system->options, m->options);
    rg_free(m->options);
    rg_free(m->parts);
    rg_free(m);
}

void rg_model_own(rg_model *m, void *assets, void (*drop)(void *assets))
{
    if (m->assets && m->drop) m->drop(m->assets);
    rg_free(m->assets);
    m->assets = assets;
    m->drop = drop;
    if (assets) *(rg_model **)assets = m;
}

/* --------------------------------------------------------------------------------------------------- answering once */

rg_tensor *rg_model_predict(rg_tape *t, const rg_model *m, const void *batch)
{
    const rg_system *s = m->system;
    rg_tensor *rows = rg_tape_offer(t, "inputs", s->enter(t, m, batch), NULL);
    return s->answer(t, m, batch, s->features(t, m, batch, rows));
}

rg_loss rg_model_loss(rg_tape *t, const rg_model *m, const void *batch)
{
    const rg_system *s = m->system;
    return s->loss ? s->loss(t, m, batch) : s->compare(t, batch, s->predict(t, m, batch));
}

rg_loss rg_compare_classes(rg_tape *t, const void *batch, rg_tensor *logits)
{
    const rg_batch *b = batch;
    const rg_field *label = &b->field[RG_LABEL];
    const size_t    labels = rg_field_rows(label);
    if (label->kind == RG_FIELD_NUMBERS)
        return (rg_loss){ rg_squared_error(t, logits, label->values), (double)(labels * label->width) };
    if (labels == b->examples) return (rg_loss){ rg_cross_entropy(t, logits, label->ids, 0), (double)labels };
    int32_t *target = rg_tape_memory(t, b->examples * sizeof *target);
    for (size_t i = 0; target && i < b->examples; i++)
        target[i] = label->layout.start[i] < label->layout.start[i + 1] ? label->ids[label->layout.start[i]] : -1;
    return (rg_loss){ target ? rg_cross_entropy(t, logits, target, 0) : NULL, (double)labels };
}
