/* answers.c - see answers.h. */
#include "cli/answers.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static rg_status columns(void *context, const char *const *names, size_t count)
{
    rg_answer_printer *p = context;
    if (!(p->names = rg_alloc_zero(count * sizeof *p->names))) return RG_ENOMEM;
    for (p->count = 0; p->count < count; p->count++)
        if (!(p->names[p->count] = rg_strdup(names[p->count]))) return RG_ENOMEM;
    for (size_t i = 0; i < count && !p->json && !p->quiet; i++) printf("%s%s", i ? "\t" : "", names[i]);
    if (!p->json && !p->quiet) printf("\n");
    return RG_OK;
}

static rg_status print_json(const rg_answer_printer *p, const rg_value *cells)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < p->count; i++) {
        const rg_value *c = &cells[i];
        json_t         *value = c->text     ? json_string(c->text)
                                : c->digits ? json_real(c->number)
                                            : json_integer((json_int_t)c->number);
        if (json_object_set_new(object, p->names[i], value) != 0) {
            json_decref(object);
            return rg_fail(RG_EFORMAT, "the column '%s' cannot be written as JSON", p->names[i]);
        }
    }
    if (!object) return RG_ENOMEM;
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
    return RG_OK;
}

/* Lines are flushed one by one: who pipes them sees each answer when it is there. */
static rg_status row(void *context, const rg_value *cells)
{
    const rg_answer_printer *p = context;
    if (p->quiet) return RG_OK;
    if (p->json) RG_TRY(print_json(p, cells));
    for (size_t i = 0; i < p->count && !p->json; i++) {
        if (i) putchar('\t');
        if (cells[i].text) fputs(cells[i].text, stdout);
        else printf("%.*f", cells[i].digits, cells[i].number);
    }
    if (!p->json) putchar('\n');
    fflush(stdout);
    return RG_OK;
}

static void note(void *context, const char *line)
{
    const rg_answer_printer *p = context;
    if (!p->quiet) fprintf(stderr, "%s\n", line);
}

static rg_status record(void *context, const rg_record *r)
{
    const rg_answer_printer *p = context;
    if (p->record_path && *p->record_path) RG_TRY(rg_record_save(r, p->record_path));
    return p->draw ? p->draw(p->draw_context, r) : RG_OK;
}

const rg_sink *rg_answer_printer_sink(rg_answer_printer *p)
{
    const bool recorded = (p->record_path && *p->record_path) || p->draw;
    p->sink =
        (rg_sink){ .context = p, .columns = columns, .row = row, .note = note, .record = recorded ? record : NULL };
    return &p->sink;
}

void rg_answer_printer_fini(rg_answer_printer *p)
{
    for (size_t i = 0; p->names && i < p->count; i++) rg_free(p->names[i]);
    rg_free(p->names);
}

/* ----------------------------------------------------------------------------------------------------------- asking */

const rg_task *rg_task_of_file(const char *path)
{
    const char    *name = NULL;
    const rg_task *task = NULL;
    rg_state      *state;
    if (rg_state_new(&state) != RG_OK) return NULL;
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_state_get_text(&name, state, "regard.task");
    if (status == RG_OK && !(task = rg_task_find(name)))
        rg_fail(
            RG_EMATCH,
            "%s: it was trained for '%s', which this program does not know; `regard list tasks` lists what it knows",
            path, name);
    rg_state_free(state);
    return task;
}

rg_status rg_call_task(const rg_task **out, const char *model)
{
    bool there = false;
    *out = NULL;
    RG_TRY(rg_file_exists(&there, model));
    if (!there) return RG_OK; /* --help lists the rest; otherwise loading says what is missing */
    return (*out = rg_task_of_file(model)) ? RG_OK : RG_EMATCH;
}

rg_status rg_call_add_asking(rg_call *call, const char *model)
{
    const rg_task *task;
    RG_TRY(rg_call_task(&task, model));
    if (!task) return RG_OK;
    if (!task->answer)
        return rg_fail(RG_EMATCH, "%s: it was trained for '%s', which gives no answers one by one", model, task->name);
    return task->asking ? rg_call_add(call, task->name, task->asking, task->asking_bytes) : RG_OK;
}
