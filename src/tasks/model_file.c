/* model_file.c - see model_file.h. */
#include "tasks/model_file.h"

#include "regard/safetensors.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FEATURES = 1 << 24, MOST_CLASSES = 1 << 20 }; /* what a graph may have (graph_read.c) */

/* --------------------------------------------------------------------------------------------------- is it a model? */

/* Where the text of a JSON header begins, after the 8 bytes of its length. */
static bool begins_like_safetensors(const char *path)
{
    char     head[9];
    rg_file *file = NULL;
    bool     like = rg_file_open(&file, path, "rr") == RG_OK && rg_file_read(file, head, sizeof head) == RG_OK && head[8] == '{';
    (void)rg_file_close(file);
    return like;
}

/* `why` is the message of a failure to read `path`, and may begin with that name. */
static void refuse(rg_status status, const char *path, const char *what, const char *why)
{
    const size_t n = strlen(path);
    const bool   named = strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0;
    rg_fail(status, "%s: %s: %s", path, what, named ? why + n + 2 : why);
}

/* A valid safetensors file of something else. */
static rg_status refuse_other(const rg_state *state, const char *path)
{
    if (rg_state_has(state, "regard.record")) return rg_fail(RG_EMATCH, "%s: not a model but a record; `regard show %s` draws it", path, path);
    if (rg_state_has(state, "trainer.epoch"))
        return rg_fail(RG_EMATCH, "%s: not a model but a checkpoint, which `regard train` resumes from; the model is beside it", path);
    return rg_fail(RG_EMATCH, "%s: not a model: nothing in it says what it was trained for (regard.task); `regard train` writes models", path);
}

static bool names_no_task(const char *path)
{
    rg_safetensors *file = NULL;
    const bool      none = rg_safetensors_open(&file, path) == RG_OK && !rg_safetensors_metadata(file, "regard.task");
    rg_safetensors_close(file);
    return none;
}

rg_status rg_model_file_state(rg_state *state, const char *path)
{
    const rg_status status = rg_checkpoint_state(path, state);
    if (status == RG_OK) return rg_state_has(state, "regard.task") ? RG_OK : refuse_other(state, path);
    if (status != RG_EFORMAT && status != RG_ELIMIT) return status;
    char *message = rg_strdup(rg_message());
    if (!message) return RG_ENOMEM;
    if (begins_like_safetensors(path)) refuse(status, path, names_no_task(path) ? "not a model" : "not a whole model", message);
    else rg_fail(status, "%s: not a model: it is no safetensors file, which is what `regard train` writes", path);
    rg_free(message);
    return status;
}

bool rg_message_names(const char *path)
{
    const size_t n = strlen(path);
    for (const char *at = rg_message(), *found; n && (found = strstr(at, path)); at = found + 1) {
        const bool begins = found == rg_message() || found[-1] == ' ' || found[-1] == '\'', ends = !found[n] || strchr(": ,;/'", found[n]);
        if (begins && ends) return true;
    }
    return false;
}

rg_status rg_model_file_room(size_t *out, const char *path)
{
    rg_file *file;
    uint64_t bytes = 0;
    RG_TRY(rg_file_open(&file, path, "rr"));
    const rg_status status = rg_file_size(&bytes, file);
    (void)rg_file_close(file);
    *out = (size_t)(bytes / sizeof(float));
    return status;
}

/* ------------------------------------------------------------------------------------------------------ save and load */

rg_status rg_model_describe(rg_state *state, const rg_model *m)
{
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    char                 *yaml = rg_options_yaml(&group, 1);
    rg_status             status = yaml ? rg_state_put_text(state, "regard.settings", yaml) : RG_ENOMEM;
    rg_free(yaml);
    RG_TRY(status);
    RG_TRY(rg_state_put_text(state, "regard.task", m->system->task));
    RG_TRY(rg_state_put_text(state, "regard.system", m->system->name));
    for (size_t i = 0; i < RG_SIZES_MAX && m->sizes.size[i].name[0]; i++) {
        char key[40];
        snprintf(key, sizeof key, "sizes.%s", m->sizes.size[i].name);
        RG_TRY(rg_state_put_count(state, key, m->sizes.size[i].value));
    }
    return RG_OK;
}

rg_status rg_model_save(const rg_model *m, rg_state *state, const char *path) { return rg_checkpoint_save(path, m->params, NULL, state); }

static rg_status get_size(rg_sizes *out, const rg_state *state, const char *name, uint64_t most)
{
    char     key[40];
    uint64_t size;
    snprintf(key, sizeof key, "sizes.%s", name);
    RG_TRY(rg_state_get_count(&size, state, key));
    if (size >= 1 && size <= most) return rg_sizes_put(out, name, (size_t)size);
    return rg_fail(RG_ELIMIT, "%s is %llu; it should be 1 .. %llu", key, (unsigned long long)size, (unsigned long long)most);
}

static rg_status make(rg_model **out, const rg_state *state, const char *task, size_t most)
{
    const char *its_task, *name, *yaml;
    rg_sizes    sizes = { 0 };
    RG_TRY(rg_state_get_text(&its_task, state, "regard.task"));
    if (strcmp(its_task, task) != 0) return rg_fail(RG_EMATCH, "the file holds a model for '%s', not for '%s'", its_task, task);
    RG_TRY(rg_state_get_text(&name, state, "regard.system"));
    RG_TRY(rg_state_get_text(&yaml, state, "regard.settings"));
    RG_TRY(get_size(&sizes, state, "features", MOST_FEATURES));
    RG_TRY(get_size(&sizes, state, "classes", MOST_CLASSES));
    const rg_system *system = rg_system_find(name);
    if (!system)
        return rg_fail(RG_EMATCH, "the file holds a '%s', which this program does not know; `regard systems` lists what it knows", name);
    void *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    rg_status status = rg_system_stored_options(options, system, yaml);
    if (status == RG_OK) status = rg_model_new_empty(out, system, options, &sizes, most);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

rg_status rg_model_load(rg_model **out, const char *path, const char *task, rg_state *given)
{
    *out = NULL;
    rg_state *state = given;
    if (!given) RG_TRY(rg_state_new(&state));
    size_t    room;
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_model_file_room(&room, path);
    if (status == RG_OK) status = make(out, state, task, room);
    if (status == RG_OK) status = rg_checkpoint_load(path, (*out)->params, NULL, NULL, NULL);
    if (status != RG_OK) {
        rg_model_free(*out);
        *out = NULL;
        if (status == RG_EINVAL) status = RG_EFORMAT; /* a setting of the file, not of the caller */
        if (!rg_message_names(path)) rg_fail_in(status, "%s: ", path);
    }
    if (!given) rg_state_free(state);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- changed settings */

/* The value of `name: value` in YAML with one setting per line; its length in *out_length. NULL when it is not there. */
static const char *value_in(const char *yaml, const char *name, size_t name_length, size_t *out_length)
{
    for (const char *line = yaml; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, name_length) == 0 && line[name_length] == ':') {
            const char *value = line + name_length + 1;
            value += *value == ' ';
            *out_length = strcspn(value, "\n");
            return value;
        }
    return NULL;
}

void rg_tell_changed_settings(const rg_train_report *report, const rg_state *state, const rg_model *m)
{
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    const char           *before;
    if (!rg_state_has(state, "regard.settings") || rg_state_get_text(&before, state, "regard.settings") != RG_OK) return;
    char *now = rg_options_yaml(&group, 1);
    for (const char *line = now ? now : ""; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t name = strcspn(line, ":\n");
        size_t       old_length = 0, new_length = 0;
        const char  *old_value = value_in(before, line, name, &old_length), *new_value = value_in(now, line, name, &new_length);
        if (!old_value && m->system->earlier) old_value = value_in(m->system->earlier, line, name, &old_length);
        if (!old_value || !new_value || (old_length == new_length && strncmp(old_value, new_value, new_length) == 0)) continue;
        rg_tell(report, "--%.*s was %.*s, it is %.*s now: from here on it is no longer bit for bit the run that was stopped", (int)name, line,
                (int)old_length, old_value, (int)new_length, new_value);
    }
    rg_free(now);
}

/* --------------------------------------------------------------------------------------------------- numbers kept aside */

static size_t numbers_of(const rg_param *p) { return rg_param_rows(p) * rg_param_cols(p); }

size_t rg_params_kept_size(const rg_params *params)
{
    size_t n = 0;
    for (size_t i = 0; i < rg_params_count(params); i++) n += numbers_of(rg_params_at(params, i));
    return n;
}

void rg_params_keep(rg_real *to, const rg_params *params)
{
    for (size_t i = 0; i < rg_params_count(params); i++) {
        const rg_param *p = rg_params_at(params, i);
        memcpy(to, rg_param_data(p), numbers_of(p) * sizeof *to);
        to += numbers_of(p);
    }
}

rg_status rg_params_restore(rg_params *params, const rg_real *from, rg_team *team)
{
    for (size_t i = 0; i < rg_params_count(params); i++) {
        const rg_param *p = rg_params_at(params, i);
        memcpy(rg_param_data(p), from, numbers_of(p) * sizeof *from);
        from += numbers_of(p);
    }
    return rg_params_repack(params, team);
}
