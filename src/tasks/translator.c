/* translator.c - a model and its vocabularies as one file.
 *
 *   state of the checkpoint      regard.system   transformer            regard.settings  YAML of the system's options
 *                                vocab.source    bytes                  vocab.target     bytes, absent when joint
 *                                language.source, language.target       codes such as en, absent when not known */
#include "regard/translate.h"
#include "tasks/language.h"
#include "tasks/model_file.h"

#include <string.h>

rg_status rg_translator_new(rg_translator **out, rg_model *model, rg_vocab *source, rg_vocab *target)
{
    rg_translator *t = rg_alloc_zero(sizeof *t);
    char          *name = t ? rg_strdup("") : NULL;
    if (!name) {
        rg_free(t);
        rg_model_free(model);
        rg_vocab_free(source);
        if (target != source) rg_vocab_free(target);
        *out = NULL;
        return RG_ENOMEM;
    }
    *t = (rg_translator){
        .model = model, .source = source, .target = target ? target : source, .alignment_name = name, .alignment_head = -1
    };
    *out = t;
    return RG_OK;
}

void rg_translator_free(rg_translator *t)
{
    if (!t) return;
    rg_model_free(t->model);
    if (t->target != t->source) rg_vocab_free(t->target);
    rg_vocab_free(t->source);
    rg_free(t->alignment_name);
    rg_free(t->language[0]);
    rg_free(t->language[1]);
    rg_free(t);
}

/* ---------------------------------------------------------------------------------------------------- languages */

const char *rg_translator_language(const rg_translator *t, int side) { return t->language[side != 0] ? t->language[side != 0] : ""; }

rg_status rg_translator_set_languages(rg_translator *t, const char *source, const char *target)
{
    RG_TRY(rg_language_check(source));
    RG_TRY(rg_language_check(target));
    char *copy[2] = { rg_strdup(source), rg_strdup(target) };
    if (!copy[0] || !copy[1]) {
        rg_free(copy[0]);
        rg_free(copy[1]);
        return RG_ENOMEM;
    }
    for (int side = 0; side < 2; side++) {
        rg_free(t->language[side]);
        t->language[side] = copy[side];
    }
    return RG_OK;
}

static const char *const language_key[2] = { "language.source", "language.target" };

static rg_status put_languages(rg_state *state, const rg_translator *t)
{
    for (int side = 0; side < 2; side++)
        if (rg_translator_language(t, side)[0]) RG_TRY(rg_state_put_text(state, language_key[side], rg_translator_language(t, side)));
    return RG_OK;
}

static rg_status read_languages(rg_translator *t, const rg_state *state)
{
    const char *code[2] = { "", "" };
    for (int side = 0; side < 2; side++)
        if (rg_state_has(state, language_key[side])) RG_TRY(rg_state_get_text(&code[side], state, language_key[side]));
    const rg_status status = rg_translator_set_languages(t, code[0], code[1]);
    return status == RG_EINVAL ? rg_fail_in(RG_EFORMAT, "the languages in the file: ") : status;
}

/* ------------------------------------------------------------------------------------------------------- saving */

static rg_status put_vocab(rg_state *state, const char *key, const rg_vocab *vocab)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_vocab_to_bytes(&bytes, vocab);
    if (status == RG_OK) status = rg_state_put_bytes(state, key, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_translator_describe(rg_state *state, const rg_translator *t)
{
    const rg_model       *m = t->model;
    const rg_option_group group = { .rows = m->system->options, .values = m->options };
    char                 *yaml = rg_options_yaml(&group, 1);
    rg_status             status = yaml ? rg_state_put_text(state, "regard.settings", yaml) : RG_ENOMEM;
    rg_free(yaml);
    if (status == RG_OK) status = rg_state_put_text(state, "regard.task", "translation");
    if (status == RG_OK) status = rg_state_put_text(state, "regard.system", m->system->name);
    if (status == RG_OK) status = put_vocab(state, "vocab.source", t->source);
    if (status == RG_OK && t->target != t->source) status = put_vocab(state, "vocab.target", t->target);
    if (status == RG_OK) status = rg_state_put_text(state, "alignment.name", t->alignment_name);
    if (status == RG_OK) status = rg_state_put_number(state, "alignment.head", t->alignment_head);
    if (status == RG_OK) status = put_languages(state, t);
    return status;
}

rg_status rg_translator_save(const rg_translator *t, const char *path)
{
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_translator_describe(state, t);
    if (status == RG_OK) status = rg_checkpoint_save(path, t->model->params, NULL, state);
    rg_state_free(state);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ loading */

static rg_status get_vocab(rg_vocab **out, const rg_state *state, const char *key)
{
    const void *bytes;
    size_t      count;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, key));
    return rg_vocab_from_bytes(out, bytes, count);
}

rg_sizes rg_sizes_of_text(const rg_vocab *source, const rg_vocab *target)
{
    return (rg_sizes){ { { "source-vocabulary", rg_vocab_size(source) },
                         { "target-vocabulary", rg_vocab_size(target) },
                         { "joint-vocabulary", source == target },
                         { "bos", (size_t)rg_vocab_bos(target) },
                         { "eos", (size_t)rg_vocab_eos(target) } } };
}

static rg_status make_model(rg_model **out, const rg_state *state, const rg_vocab *source, const rg_vocab *target, size_t most)
{
    const char *name, *yaml;
    RG_TRY(rg_state_get_text(&name, state, "regard.system"));
    RG_TRY(rg_state_get_text(&yaml, state, "regard.settings"));
    const rg_system *system = rg_system_find(name);
    if (!system)
        return rg_fail(RG_EMATCH, "the file holds a '%s', which this program does not know; `regard systems` lists what it knows", name);
    void *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    const rg_sizes sizes = rg_sizes_of_text(source, target);
    rg_status      status = rg_system_stored_options(options, system, yaml);
    if (status == RG_OK) status = rg_model_new_empty(out, system, options, &sizes, most);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

static rg_status read_alignment(rg_translator *t, const rg_state *state)
{
    const char *name;
    double      head;
    if (!rg_state_has(state, "alignment.name")) return RG_OK;
    RG_TRY(rg_state_get_text(&name, state, "alignment.name"));
    RG_TRY(rg_state_get_number(&head, state, "alignment.head"));
    if (!(head >= -1 && head < 1 << 20)) return rg_fail(RG_ELIMIT, "alignment.head is %g; it should be -1 .. %d", head, (1 << 20) - 1);
    char *copy = rg_strdup(name);
    if (!copy) return RG_ENOMEM;
    rg_free(t->alignment_name);
    t->alignment_name = copy;
    t->alignment_head = (int)head;
    return RG_OK;
}

static bool system_decodes(const rg_state *state)
{
    const char      *name;
    const rg_system *system = rg_state_get_text(&name, state, "regard.system") == RG_OK ? rg_system_find(name) : NULL;
    if (system && !system->start) rg_fail(RG_EMATCH, "the file holds a '%s', which does not translate", name);
    return !system || system->start; /* an unknown one is refused by name later */
}

static rg_status load(rg_translator **out, const rg_state *state, const char *path)
{
    const char *task;
    rg_vocab   *source = NULL, *target = NULL;
    rg_model   *model = NULL;
    RG_TRY(rg_state_get_text(&task, state, "regard.task"));
    if (strcmp(task, "translation") != 0) return rg_fail(RG_EMATCH, "the file holds a model for '%s', not a translator", task);
    rg_status status = get_vocab(&source, state, "vocab.source");
    if (status == RG_OK && rg_state_has(state, "vocab.target")) status = get_vocab(&target, state, "vocab.target");
    size_t room = 0;
    if (status == RG_OK) status = rg_model_file_room(&room, path);
    if (status == RG_OK && !system_decodes(state)) status = RG_EMATCH;
    if (status == RG_OK) status = make_model(&model, state, source, target ? target : source, room);
    if (status == RG_OK) status = rg_checkpoint_load(path, model->params, NULL, NULL, NULL);
    if (status == RG_OK) {
        RG_TRY(rg_translator_new(out, model, source, target));
        RG_TRY(read_alignment(*out, state));
        return read_languages(*out, state);
    }
    rg_model_free(model);
    rg_vocab_free(target);
    rg_vocab_free(source);
    return status;
}

rg_status rg_translator_slim(rg_translator *t) { return rg_params_slim(t->model->params); }

rg_status rg_translator_load(rg_translator **out, const char *path)
{
    *out = NULL;
    rg_state *state;
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, path);
    if (status == RG_OK) status = load(out, state, path);
    if (status != RG_OK) {
        rg_translator_free(*out);
        *out = NULL;
        if (status == RG_EINVAL) status = RG_EFORMAT; /* a setting of the file, not of the caller */
        if (!rg_message_names(path)) rg_fail_in(status, "%s: ", path);
    }
    rg_state_free(state);
    return status;
}
