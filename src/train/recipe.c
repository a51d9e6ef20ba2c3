/* recipe.c - the settings of a training from YAML with the names of `regard train`: what tests, demos and
 * experiments train from. */
#include <string.h>

#include "regard/task.h"

typedef struct header { /* what decides about the other rows */
    char   *type, *preset;
    rg_list objective;
} header;

static const rg_option header_rows[] = {
    { RG_OPTION_STRING, "type", offsetof(header, type), "transformer", "which system", 0, NULL },
    { RG_OPTION_STRING, "preset", offsetof(header, preset), "", "settings under a name", 0, NULL },
    { RG_OPTION_LIST, "objective", offsetof(header, objective), "", "how the loss is made", 0, NULL },
    RG_OPTION_END
};

enum { HEADER, LEARNING, TASK, SYSTEM, OBJECTIVE, OBJECTIVES = 8, GROUPS = OBJECTIVE + OBJECTIVES };

struct rg_recipe {
    const rg_system *system;
    header           header;
    rg_learning      learning;
    void            *task, *own;
    rg_option_group  group[GROUPS];
    size_t           groups;
    rg_objective_choice objective[OBJECTIVES];
    size_t           objectives;
};

/* The rows of the objectives that are named come behind the others. */
static rg_status add_objectives(rg_recipe *r)
{
    const rg_list *names = &r->header.objective;
    if (names->count > OBJECTIVES) return rg_fail(RG_ELIMIT, "%zu objectives; at most %d", names->count, OBJECTIVES);
    for (size_t i = 0; i < names->count; i++) {
        const rg_objective *o = rg_objective_find(names->items[i]);
        void               *values = o ? rg_alloc_zero(o->options_bytes + 1) : NULL;
        if (!o) return RG_EINVAL;
        if (!values) return RG_ENOMEM;
        r->objective[r->objectives++] = (rg_objective_choice){ o, values };
        if (!o->options) continue;
        RG_TRY(rg_options_init(o->options, values));
        r->group[r->groups++] = (rg_option_group){ .rows = o->options, .values = values };
    }
    return RG_OK;
}

static rg_status make_groups(rg_recipe *r)
{
    const rg_task *task = r->system->task;
    r->task = rg_alloc_zero(task->options_bytes + 1);
    r->own = rg_alloc_zero(r->system->options_bytes + 1);
    if (!r->task || !r->own) return RG_ENOMEM;
    r->group[LEARNING] = (rg_option_group){ .rows = rg_learning_rows, .values = &r->learning };
    r->group[TASK] = (rg_option_group){ .rows = task->options, .values = r->task };
    r->group[SYSTEM] = (rg_option_group){ .rows = r->system->options, .values = r->own };
    for (size_t i = LEARNING; i < OBJECTIVE; i++) RG_TRY(rg_options_init(r->group[i].rows, r->group[i].values));
    r->groups = OBJECTIVE;
    return add_objectives(r);
}

rg_status rg_recipe_read(rg_recipe *r, const char *yaml, bool lenient)
{
    return rg_options_read_yaml(r->group, r->groups, yaml, strlen(yaml), "settings", lenient);
}

rg_status rg_recipe_start_from(rg_recipe *r, const char *path)
{
    const char *const words[] = { path };
    rg_text           yaml = { 0 };
    rg_status         status = rg_model_lent(&yaml, r->system, path);
    if (status == RG_OK) status = rg_recipe_read(r, rg_text_c(&yaml), true);
    rg_text_free(&yaml);
    return status == RG_OK ? rg_recipe_set(r, "init-from", 1, words) : status;
}

rg_status rg_recipe_set(rg_recipe *r, const char *name, size_t count, const char *const *words)
{
    return rg_options_set(r->group, r->groups, name, count, words);
}

/* Does the YAML have that name? */
static bool given(const char *yaml, const char *name)
{
    const rg_option       row[] = { { RG_OPTION_LIST, name, 0, "", "", 0, NULL, NULL }, RG_OPTION_END };
    rg_list               list = { 0, NULL };
    const rg_option_group group = { .rows = row, .values = &list };
    const bool has = rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "settings", true) == RG_OK && list.count;
    rg_options_fini(row, &list);
    return has;
}

/* Of several systems of that name, the one whose data are given. */
static const rg_system *find_system(const char *name, const char *yaml)
{
    const rg_system *first = rg_system_find(name);
    for (const rg_system *const *s = rg_system_all(); first && *s; s++)
        if (strcmp((*s)->name, first->name) == 0 && (*s)->chosen_by && given(yaml, (*s)->chosen_by)) return *s;
    return first;
}

static rg_status fill(rg_recipe *r, const char *yaml)
{
    r->group[HEADER] = (rg_option_group){ .rows = header_rows, .values = &r->header };
    RG_TRY(rg_options_init(header_rows, &r->header));
    RG_TRY(rg_options_read_yaml(r->group, 1, yaml, strlen(yaml), "settings", true));
    if (!(r->system = find_system(r->header.type, yaml)))
        return rg_fail(RG_EINVAL, "there is no system '%s'; `regard list systems` lists them", r->header.type);
    RG_TRY(make_groups(r));
    if (r->system->task->learning) RG_TRY(rg_recipe_read(r, r->system->task->learning, false));
    if (r->header.preset[0]) {
        const rg_preset *preset = rg_preset_find(r->system, r->header.preset);
        if (!preset) return RG_EINVAL;
        RG_TRY(rg_recipe_read(r, preset->yaml, true));
    }
    return rg_recipe_read(r, yaml, false);
}

rg_status rg_recipe_new(rg_recipe **out, const char *yaml)
{
    *out = NULL;
    rg_recipe *r = rg_alloc_zero(sizeof *r);
    rg_status  status = r ? fill(r, yaml) : RG_ENOMEM;
    if (status != RG_OK) rg_recipe_free(r);
    else *out = r;
    return status;
}

void rg_recipe_free(rg_recipe *r)
{
    if (!r) return;
    for (size_t i = 0; i < GROUPS; i++)
        if (r->group[i].rows && r->group[i].values) rg_options_fini(r->group[i].rows, r->group[i].values);
    for (size_t i = 0; i < r->objectives; i++) rg_free((void *)r->objective[i].options);
    rg_free(r->task);
    rg_free(r->own);
    rg_free(r);
}

rg_training rg_recipe_training(const rg_recipe *r, const rg_train_report *report)
{
    return (rg_training){ .system = r->system,
                          .system_options = r->own,
                          .task_options = r->task,
                          .learning = &r->learning,
                          .report = report,
                          .objectives = r->objective,
                          .objective_count = r->objectives };
}
