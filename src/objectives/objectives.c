/* objectives.c - the table of objectives, and the sum of those a training asks for. */
#include <stdio.h>
#include <string.h>

#include "regard/objective.h"
#include "regard/ops.h"

#define RG_OBJECTIVES(X) X(plain) X(adversarial) X(vat) X(domain) X(reward)
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
        if (at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", (*o)->name);
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

static bool answers_once(const rg_system *s) { return s->enter && s->features && s->answer && s->compare; }

static rg_status refuse(const rg_system *s)
{
    char   can[512] = "";
    size_t at = 0;
    for (const rg_system *const *x = rg_system_all(); *x; x++)
        if (answers_once(*x) && at < sizeof can)
            at += (size_t)snprintf(can + at, sizeof can - at, "%s%s", at ? ", " : "", (*x)->name);
    return rg_fail(RG_EINVAL, "%s has a loss of its own: --objective is for systems that answer once: %s", s->name,
                   can);
}

/* An option that both have would be set for one of them only. */
static rg_status check_pair(const rg_objective *a, const rg_objective *b)
{
    if (a == b) return rg_fail(RG_EINVAL, "the objective %s is named twice", a->name);
    for (const rg_option *x = a->options; x && x->name; x++)
        for (const rg_option *y = b->options; y && y->name; y++)
            if (strcmp(x->name, y->name) == 0)
                return rg_fail(RG_EINVAL, "the objectives %s and %s both have --%s: train with one of them", a->name,
                               b->name, x->name);
    return RG_OK;
}

static rg_status fits(const rg_system *s, const rg_objective *o)
{
    if (o->decodes && (!s->start || !s->loss))
        return rg_fail(RG_EINVAL,
                       "the objective %s is for systems that write answers, such as transformer; %s does not", o->name,
                       s->name);
    if (!o->decodes && !answers_once(s)) return refuse(s);
    return RG_OK;
}

static rg_status check(const rg_system *s, const rg_objective_choice *choices, size_t count)
{
    if (!count) RG_TRY(fits(s, &rg_objective_plain));
    for (size_t i = 0; i < count; i++) {
        const rg_objective *o = choices[i].objective;
        RG_TRY(fits(s, o));
        if (s->batches && !o->any_batch)
            return rg_fail(RG_EINVAL, "the objective %s needs batches of examples; %s learns from %s", o->name, s->name,
                           s->batches);
        for (size_t k = 0; k < i; k++) RG_TRY(check_pair(choices[k].objective, o));
        if (o->check) RG_TRY(o->check(choices[i].options));
    }
    return RG_OK;
}

/* Those that contain the plain loss come first: their count is that of the labels. */
rg_status rg_objectives_new(rg_objectives **out, const rg_system *system, const rg_objective_choice *choices,
                            size_t count)
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
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (choices[i].objective->whole) status = add(o, &choices[i]);
    for (size_t i = 0; status == RG_OK && i < count; i++)
        if (!choices[i].objective->whole) status = add(o, &choices[i]);
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

/* One clean pass for all; the count is that of the first: labels, by which the sum is divided. */
rg_loss rg_objectives_loss(rg_tape *t, const rg_objectives *o, const void *batch)
{
    const rg_model *m = o->use[0].model;
    const rg_pass   pass =
        o->use[0].objective->decodes ? (rg_pass){ .model = m, .batch = batch } : rg_pass_run(t, m, batch, true);
    rg_loss         all = o->use[0].objective->loss(t, &o->use[0], &pass);
    for (size_t i = 1; i < o->count; i++)
        all.sum = rg_add(t, all.sum, o->use[i].objective->loss(t, &o->use[i], &pass).sum);
    return all;
}

rg_status rg_objectives_column(const char **out, const rg_objectives *o)
{
    *out = NULL;
    for (size_t i = 0; i < o->count; i++) {
        const char *column = o->use[i].objective->column ? o->use[i].objective->column(o->use[i].options) : NULL;
        if (column && *out)
            return rg_fail(RG_EINVAL, "two objectives need a column of the files: %s and %s", *out, column);
        if (column) *out = column;
    }
    return RG_OK;
}

size_t rg_objectives_notes(rg_objective_note notes[RG_OBJECTIVE_NOTES], const rg_objectives *o, rg_progress progress)
{
    size_t n = 0;
    for (size_t i = 0; i < o->count; i++) {
        rg_objective_note its[RG_OBJECTIVE_NOTES];
        const size_t      k = o->use[i].objective->tells ? o->use[i].objective->tells(&o->use[i], progress, its) : 0;
        for (size_t j = 0; j < k && n < RG_OBJECTIVE_NOTES; j++) notes[n++] = its[j];
    }
    return n;
}
