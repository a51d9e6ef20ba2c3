/* objectives.c - the table of objectives, and the sum of those a training asks for. */
#include <stdio.h>
#include <string.h>

#include "regard/objective.h"
#include "regard/ops.h"

#define RG_OBJECTIVES(X) X(plain)
#define DECLARE(name) extern const rg_objective rg_objective_##name;
#define ENTRY(name)   &rg_objective_##name,
RG_OBJECTIVES(DECLARE)
static const rg_objective *const table[] = { RG_OBJECTIVES(ENTRY) NULL };

const rg_objective *const *rg_objective_all(void) { return table; }

const rg_objective *rg_objective_find(const char *name)
{
    char   known[256] = "";
    size_t at = 0;
    for (const rg_objective *const *o = table; *o; o++) {
        if (strcmp((*o)->name, name) == 0) return *o;
        if (at < sizeof known) at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", (*o)->name);
    }
    rg_fail(RG_EINVAL, "there is no objective '%s'; there are: %s", name, known);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- of a training */

struct rg_objectives {
    rg_objective_use *use;
    size_t            count;
};

static rg_status add(rg_objectives *o, const rg_objective_choice *choice)
{
    rg_objective_use *use = &o->use[o->count];
    *use = (rg_objective_use){ .objective = choice->objective, .options = choice->options };
    if (!(use->parts = rg_alloc_zero(choice->objective->parts_bytes + 1))) return RG_ENOMEM;
    o->count++;
    return RG_OK;
}

static rg_status check(const rg_system *s, const rg_objective_choice *choices, size_t count)
{
    if (!s->enter || !s->features || !s->answer || !s->compare)
        return rg_fail(RG_EINVAL, "%s has a loss of its own: --objective is for systems that answer once, such as words", s->name);
    for (size_t i = 0; i < count; i++) {
        const rg_objective *o = choices[i].objective;
        if (s->batches && !o->any_batch)
            return rg_fail(RG_EINVAL, "the objective %s needs batches of examples; %s learns from %s", o->name, s->name, s->batches);
        for (size_t k = 0; k < i; k++)
            if (choices[k].objective == o) return rg_fail(RG_EINVAL, "the objective %s is named twice", o->name);
    }
    return RG_OK;
}

rg_status rg_objectives_new(rg_objectives **out, const rg_system *system, const rg_objective_choice *choices, size_t count)
{
    const rg_objective_choice plain = { .objective = &rg_objective_plain };
    bool                      whole = false;
    *out = NULL;
    RG_TRY(check(system, choices, count));
    rg_objectives *o = rg_alloc_zero(sizeof *o);
    if (!o) return RG_ENOMEM;
    rg_status status = (o->use = rg_alloc_zero((count + 1) * sizeof *o->use)) ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; i < count; i++) whole = whole || choices[i].objective->whole;
    if (status == RG_OK && !whole) status = add(o, &plain);
    for (size_t i = 0; status == RG_OK && i < count; i++) status = add(o, &choices[i]);
    if (status != RG_OK) rg_objectives_free(o);
    else *out = o;
    return status;
}

void rg_objectives_free(rg_objectives *o)
{
    if (!o) return;
    for (size_t i = 0; o->use && i < o->count; i++) rg_free(o->use[i].parts);
    rg_free(o->use);
    rg_free(o);
}

rg_status rg_objectives_build(rg_model *model, void *objectives)
{
    rg_objectives *o = objectives;
    for (size_t i = 0; i < o->count; i++) {
        rg_objective_use *use = &o->use[i];
        use->model = model;
        if (!use->objective->build) continue;
        rg_params_push(model->params, "objective");
        rg_params_push(model->params, "%s", use->objective->name);
        const rg_status status = use->objective->build(use, model->params);
        rg_params_pop(model->params);
        rg_params_pop(model->params);
        RG_TRY(status);
    }
    return RG_OK;
}

/* Text after text. */
static char *joined(char *before, const char *between, const char *more)
{
    char *text = before && more ? rg_format("%s%s%s", before, *before ? between : "", more) : NULL;
    rg_free(before);
    return text;
}

char *rg_objectives_names(const rg_objectives *o)
{
    char *text = rg_strdup("");
    for (size_t i = 0; i < o->count; i++) text = joined(text, " ", o->use[i].objective->name);
    return text;
}

char *rg_objectives_settings(const rg_objectives *o)
{
    char *text = rg_strdup("");
    for (size_t i = 0; i < o->count; i++) {
        const rg_option_group group = { .rows = o->use[i].objective->options, .values = (void *)o->use[i].options };
        if (!group.rows || !group.values) continue;
        char *yaml = rg_options_yaml(&group, 1);
        text = joined(text, "", yaml);
        rg_free(yaml);
    }
    return text;
}

/* The count is that of the first: labels, by which the sum is divided. */
rg_loss rg_objectives_loss(rg_tape *t, const rg_objectives *o, const void *batch)
{
    rg_loss all = o->use[0].objective->loss(t, &o->use[0], batch);
    for (size_t i = 1; i < o->count; i++) all.sum = rg_add(t, all.sum, o->use[i].objective->loss(t, &o->use[i], batch).sum);
    return all;
}
