/* model_file.c - a model as one file, whatever it was trained for: weights, settings, sizes, and what its task
 * describes. */
#include <stdio.h>
#include <string.h>

#include "autograd/params.h"
#include "regard/safetensors.h"
#include "regard/task.h"
#include "train/checkpoint.h"
#include "train/learn.h"
#include "train/state.h"

/* --------------------------------------------------------------------------------------------------- is it a model? */

/* Where the text of a JSON header begins, after the 8 bytes of its length. */
static bool begins_like_safetensors(const char *path)
{
    char     head[9];
    rg_file *file = NULL;
    bool     like =
        rg_file_open(&file, path, "rr") == RG_OK && rg_file_read(file, head, sizeof head) == RG_OK && head[8] == '{';
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
    if (rg_state_has(state, "regard.record"))
        return rg_fail(RG_EMATCH, "%s: not a model but a record; `regard show %s` draws it", path, path);
    if (rg_state_has(state, "trainer.epoch"))
        return rg_fail(RG_EMATCH,
                       "%s: not a model but a checkpoint, which `regard train` resumes from; the model is beside it",
                       path);
    return rg_fail(
        RG_EMATCH,
        "%s: not a model: nothing in it says what it was trained for (regard.task); `regard train` writes models",
        path);
}

static bool names_no_task(const char *path)
{
    rg_safetensors *file = NULL;
    const bool      none = rg_safetensors_open(&file, path) == RG_OK && !rg_safetensors_metadata(file, "regard.task");
    rg_safetensors_close(file);
    return none;
}

bool rg_message_names(const char *path)
{
    const size_t n = strlen(path);
    for (const char *at = rg_message(), *found; n && (found = strstr(at, path)); at = found + 1) {
        const bool begins = found == rg_message() || found[-1] == ' ' || found[-1] == '\'',
                   ends = !found[n] || strchr(": ,;/'", found[n]);
        if (begins && ends) return true;
    }
    return false;
}

rg_status rg_model_file_state(rg_state *state, const char *path)
{
    const rg_status status = rg_checkpoint_state(path, state);
    if (status == RG_OK) return rg_state_has(state, "regard.task") ? RG_OK : refuse_other(state, path);
    if (status != RG_EFORMAT && status != RG_ELIMIT) return status;
    char *message = rg_strdup(rg_message());
    if (!message) return RG_ENOMEM;
    if (begins_like_safetensors(path))
        refuse(status, path, names_no_task(path) ? "not a model" : "not a whole model", message);
    else rg_fail(status, "%s: not a model: it is no safetensors file, which is what `regard train` writes", path);
    rg_free(message);
    return status;
}

/* How many numbers the file has room for: no model that is loaded from it may have more. */
static rg_status room_of(size_t *out, const char *path)
{
    uint64_t bytes;
    RG_TRY(rg_file_size_at(&bytes, path));
    *out = (size_t)(bytes / RG_WEIGHT_BYTES_LEAST);
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------- save */

static const char size_key[] = "sizes.";

static rg_status put_sizes(rg_state *state, const rg_sizes *sizes)
{
    for (size_t i = 0; i < RG_SIZES_MAX && sizes->size[i].name[0]; i++) {
        char key[sizeof size_key + sizeof sizes->size[i].name];
        snprintf(key, sizeof key, "%s%s", size_key, sizes->size[i].name);
        RG_TRY(rg_state_put_count(state, key, sizes->size[i].value));
    }
    return RG_OK;
}

rg_status rg_model_describe(rg_state *state, const rg_model *m)
{
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    const rg_task        *task = m->system->task;
    char                 *yaml = rg_options_yaml(&group, 1);
    rg_status             status = yaml ? rg_state_put_text(state, "regard.settings", yaml) : RG_ENOMEM;
    rg_free(yaml);
    RG_TRY(status);
    RG_TRY(rg_state_put_text(state, "regard.task", task->name));
    RG_TRY(rg_state_put_text(state, "regard.system", m->system->name));
    RG_TRY(put_sizes(state, &m->sizes));
    return m->assets && task->describe ? task->describe(state, m->assets) : RG_OK;
}

rg_status rg_model_save(const rg_model *m, const char *path)
{
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_describe(state, m);
    if (status == RG_OK) status = rg_checkpoint_save(path, m->params, NULL, state);
    rg_state_free(state);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- load */

/* Whatever a size counts, at least as many weights follow from it. */
static rg_status get_sizes(rg_sizes *out, const rg_state *state, size_t most)
{
    const size_t prefix = sizeof size_key - 1;
    for (size_t i = 0; i < state->count; i++) {
        const char *key = state->entry[i].key;
        uint64_t    size;
        if (strncmp(key, size_key, prefix) != 0) continue;
        RG_TRY(rg_state_get_count(&size, state, key));
        if (size > most)
            return rg_fail(RG_ELIMIT, "%s is %llu; the file has room for %zu numbers", key, (unsigned long long)size,
                           most);
        RG_TRY(rg_sizes_put(out, key + prefix, (size_t)size));
    }
    return RG_OK;
}

static rg_status make_model(rg_model **out, const rg_system *system, const rg_sizes *sizes, const char *yaml,
                            size_t most, rg_weights weights)
{
    void *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    rg_status status = rg_system_stored_options(options, system, yaml);
    if (status == RG_OK) status = rg_model_new_empty(out, system, options, sizes, most, weights);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

static rg_status find_system(const rg_system **out, const rg_state *state, const rg_task *wanted)
{
    const char *task, *name;
    RG_TRY(rg_state_get_text(&task, state, "regard.task"));
    RG_TRY(rg_state_get_text(&name, state, "regard.system"));
    if (wanted && strcmp(task, wanted->name) != 0)
        return rg_fail(RG_EMATCH, "the file holds a model for '%s', not for '%s'", task, wanted->name);
    *out = rg_system_find_for(name, rg_task_find(task));
    if (!*out) *out = rg_system_find(name);
    if (!*out)
        return rg_fail(
            RG_EMATCH,
            "the file holds a '%s', which this program does not know; `regard list systems` lists what it knows", name);
    if (strcmp((*out)->task->name, task) != 0)
        return rg_fail(RG_EMATCH, "the file holds a '%s' for '%s'; that system is for '%s'", name, task,
                       (*out)->task->name);
    return RG_OK;
}

/* How the file says its weights are kept. */
static rg_status weights_of(rg_weights *out, const rg_state *state)
{
    const char *name = "f32";
    if (rg_state_has(state, RG_CHECKPOINT_WEIGHTS)) RG_TRY(rg_state_get_text(&name, state, RG_CHECKPOINT_WEIGHTS));
    if (rg_weights_find(out, name) && *out != RG_WEIGHT_STORED) return RG_OK;
    return rg_fail(RG_EFORMAT, RG_CHECKPOINT_WEIGHTS " is '%.40s'; this program knows f32, bf16 and int8", name);
}

static rg_status load(rg_model **out, const rg_state *state, const char *path, const rg_task *wanted,
                      rg_weights weights)
{
    const rg_system *system = NULL;
    const char      *yaml;
    rg_sizes         sizes = { 0 };
    size_t           most;
    RG_TRY(find_system(&system, state, wanted));
    RG_TRY(rg_state_get_text(&yaml, state, "regard.settings"));
    RG_TRY(room_of(&most, path));
    if (weights == RG_WEIGHT_STORED) RG_TRY(weights_of(&weights, state));
    RG_TRY(get_sizes(&sizes, state, most));
    const rg_task *task = system->task;
    void          *assets = rg_alloc_zero(task->assets_bytes + sizeof(rg_model *));
    rg_status      status = assets ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && task->adopt) status = task->adopt(assets, &sizes, state);
    if (status == RG_OK) status = make_model(out, system, &sizes, yaml, most, weights);
    if (status == RG_OK) {
        rg_model_own(*out, assets, task->drop);
        return rg_checkpoint_load(path, (*out)->params, NULL, NULL, NULL);
    }
    if (assets && task->drop) task->drop(assets);
    rg_free(assets);
    return status;
}

rg_status rg_model_load(rg_model **out, const char *path, const rg_task *task)
{
    return rg_model_load_as(out, path, task, RG_WEIGHT_STORED);
}

rg_status rg_model_load_as(rg_model **out, const char *path, const rg_task *task, rg_weights weights)
{
    *out = NULL;
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = load(out, state, path, task, weights);
    if (status != RG_OK) {
        rg_model_free(*out);
        *out = NULL;
        if (status == RG_EINVAL) status = RG_EFORMAT; /* a setting of the file, not of the caller */
        if (!rg_message_names(path)) rg_fail_in(status, "%s: ", path);
    }
    rg_state_free(state);
    return status;
}

/* --------------------------------------------------------------------------------------------------- part of a file */

typedef struct taking {
    rg_safetensors *file;
    rg_text        *taken, *fresh;
    size_t          count;
    rg_status       status;
    char            other[200]; /* the first of the same name and another shape */
} taking;

static bool fits(const rg_safetensors_entry *a, const rg_param *e)
{
    const bool flat = a && a->ndim == 1 && e->rows == 1 && a->dims[0] == e->cols;
    return a && rg_dtype_is_weight(a->dtype) &&
           (flat || (a->ndim == 2 && a->dims[0] == e->rows && a->dims[1] == e->cols));
}

static rg_status take_one(taking *t, const rg_param *e)
{
    const rg_safetensors_entry *a = rg_safetensors_find(t->file, e->name);
    const bool                  taken = fits(a, e);
    rg_text                    *list = taken ? t->taken : t->fresh;
    RG_TRY(rg_text_print(list, "%s%s", list->length ? " " : "", e->name));
    if (!taken && a && !t->other[0])
        snprintf(t->other, sizeof t->other, "%.80s is %zu x %zu there, %zu x %zu here: give the sizes of its settings",
                 e->name, a->ndim == 2 ? (size_t)a->dims[0] : 1, a->ndim ? (size_t)a->dims[a->ndim - 1] : 1, e->rows,
                 e->cols);
    if (!taken) return RG_OK;
    float *floats = rg_alloc_array(e->rows * e->cols, sizeof *floats);
    if (!floats) return RG_ENOMEM;
    rg_status status = rg_safetensors_read_floats(t->file, a, floats, e->rows * e->cols);
    for (size_t i = 0; status == RG_OK && i < e->rows * e->cols; i++) e->data[i] = (rg_real)floats[i];
    rg_free(floats);
    t->count++;
    return status;
}

/* Row i of a table belongs to word i: a table of another vocabulary would be taken for this one's. */
static rg_status same_vocabularies(const rg_model *m, const char *path)
{
    rg_state *mine = NULL, *theirs = NULL;
    rg_status status = rg_state_new(&mine);
    if (status == RG_OK) status = rg_state_new(&theirs);
    if (status == RG_OK) status = rg_model_describe(mine, m);
    if (status == RG_OK) status = rg_checkpoint_state(path, theirs);
    for (size_t i = 0; status == RG_OK && i < mine->count; i++) {
        const rg_state_entry *e = &mine->entry[i];
        const void           *bytes;
        size_t                count;
        if (strncmp(e->key, "vocab.", 6) != 0 || !rg_state_has(theirs, e->key)) continue;
        status = rg_state_get_bytes(&bytes, &count, theirs, e->key);
        if (status == RG_OK && (count != e->bytes || memcmp(bytes, e->value, count) != 0))
            status = rg_fail(
                RG_EMATCH,
                "%s has another vocabulary (%s): train with its own, by --vocabs or --fine-tune, to start from its weights",
                path, e->key);
    }
    rg_state_free(mine);
    rg_state_free(theirs);
    return status;
}

rg_status rg_model_take(size_t *out_count, rg_text *taken, rg_text *fresh, rg_model *m, const char *path)
{
    taking t = { .taken = taken, .fresh = fresh };
    RG_TRY(same_vocabularies(m, path));
    RG_TRY(rg_safetensors_open(&t.file, path));
    rg_safetensors_finite_only(t.file, true);
    const char *weights = rg_safetensors_metadata(t.file, RG_CHECKPOINT_WEIGHTS);
    rg_status   status = !weights ? RG_OK
                                  : rg_fail(RG_EMATCH,
                                            "%s: its weights are %.10s, made for answering by `regard quantize`; train "
                                              "from the float32 model it was made of",
                                            path, weights);
    for (size_t i = 0; status == RG_OK && i < rg_params_count(m->params); i++)
        status = take_one(&t, rg_params_at(m->params, i));
    rg_safetensors_close(t.file);
    if (status == RG_OK && !t.count)
        status = rg_fail(RG_EMATCH, "%s: no tensor has the name and shape of one of the model's: %s", path,
                         t.other[0] ? t.other : "they are of different kinds");
    *out_count = t.count;
    return status == RG_OK ? rg_params_repack(m->params, NULL) : status;
}

/* ---------------------------------------------------------------------------------------------------- lent settings */

/* A name as YAML takes it in double quotes. */
static rg_status print_quoted(rg_text *out, const char *before, const char *name, const char *behind)
{
    RG_TRY(rg_text_print(out, "%s\"", before));
    for (; *name; name++) RG_TRY(rg_text_print(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name));
    return rg_text_print(out, "\"%s\n", behind);
}

static rg_status print_lent(rg_text *yaml, const rg_system *from, const rg_state *state, const char *path)
{
    const char *settings;
    uint64_t    context = 0;
    RG_TRY(rg_state_get_text(&settings, state, "regard.settings"));
    RG_TRY(rg_text_print(yaml, "%s%s", settings, from->lends));
    if (rg_state_has(state, "sizes.context")) RG_TRY(rg_state_get_count(&context, state, "sizes.context"));
    if (context > 1)
        RG_TRY(rg_text_print(yaml, "places: %llu\nmax-length: %llu\n", (unsigned long long)context,
                             (unsigned long long)context - 1));
    return rg_state_has(state, "vocab.text") ? print_quoted(yaml, "vocabs: [", path, "]") : RG_OK;
}

rg_status rg_model_lent(rg_text *yaml, const rg_system *system, const char *path)
{
    const char *name;
    rg_state   *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_state_get_text(&name, state, "regard.system");
    const rg_system *from = status == RG_OK ? rg_system_find(name) : NULL;
    if (from && from != system && from->lends) status = print_lent(yaml, from, state, path);
    rg_state_free(state);
    return status;
}

/* ------------------------------------------------------------------------------------------------- changed settings */

/* The value of `name: value` in YAML with one setting per line; its length in *out_length. NULL when it is not
 * there. */
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

void rg_tell_differences(const rg_train_report *report, const char *before, const char *now, const char *earlier)
{
    for (const char *line = now; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t name = strcspn(line, ":\n");
        size_t       old_length = 0, new_length = 0;
        const char  *old_value = value_in(before, line, name, &old_length),
                   *new_value = value_in(now, line, name, &new_length);
        if (!old_value && earlier) old_value = value_in(earlier, line, name, &old_length);
        if (!old_value || !new_value || (old_length == new_length && strncmp(old_value, new_value, new_length) == 0))
            continue;
        rg_tell(report,
                "--%.*s was %.*s, it is %.*s now: from here on it is no longer bit for bit the run that was stopped",
                (int)name, line, (int)old_length, old_value, (int)new_length, new_value);
    }
}

void rg_tell_changed_settings(const rg_train_report *report, const rg_state *state, const rg_model *m)
{
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    const char           *before;
    if (!rg_state_has(state, "regard.settings") || rg_state_get_text(&before, state, "regard.settings") != RG_OK)
        return;
    char *now = rg_options_yaml(&group, 1);
    if (now) rg_tell_differences(report, before, now, m->system->earlier);
    rg_free(now);
}
