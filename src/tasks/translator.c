/* translator.c - what a model that translates needs beside its weights: vocabularies, languages, which head aligns
 * words.
 *
 *   in the model file      vocab.source    bytes                  vocab.target     bytes, absent when joint
 *                          language.source, language.target       codes such as en, absent when not known
 *                          alignment.name, alignment.head         watch point and head
 *                          shortlist       bytes, absent where every token may be answered */
#include <string.h>

#include "tasks/batches.h"
#include "tasks/language_codes.h"
#include "tasks/translation.h"

rg_status rg_translator_init(rg_translator *t, rg_vocab *source, rg_vocab *target)
{
    *t = (rg_translator){ .source = source, .target = target ? target : source, .alignment_name = rg_strdup(""), .alignment_head = -1 };
    return t->alignment_name ? RG_OK : RG_ENOMEM;
}

void rg_translator_drop(void *assets)
{
    rg_translator *t = assets;
    if (t->target != t->source) rg_vocab_free(t->target);
    rg_vocab_free(t->source);
    rg_free(t->alignment_name);
    rg_free(t->language[0]);
    rg_free(t->language[1]);
    rg_shortlist_free(t->shortlist);
}

rg_status rg_translator_new(rg_translator **out, rg_model *model, rg_vocab *source, rg_vocab *target)
{
    rg_translator *t = rg_alloc_zero(sizeof *t);
    rg_status      status = t ? rg_translator_init(t, source, target) : RG_ENOMEM;
    if (t) rg_model_own(model, t, rg_translator_drop);
    if (!t) {
        rg_vocab_free(source);
        if (target != source) rg_vocab_free(target);
    }
    if (status != RG_OK) rg_model_free(model);
    *out = status == RG_OK ? t : NULL;
    return status;
}

/* The model owns its translator. */
void rg_translator_free(rg_translator *t)
{
    if (t) rg_model_free(t->model);
}

rg_status rg_translator_slim(rg_translator *t) { return rg_params_slim(t->model->params); }

/* ---------------------------------------------------------------------------------------------------- languages */

const char *rg_translator_language(const rg_translator *t, int side)
{
    return t->language[side != 0] ? t->language[side != 0] : "";
}

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
        if (rg_translator_language(t, side)[0])
            RG_TRY(rg_state_put_text(state, language_key[side], rg_translator_language(t, side)));
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

/* ---------------------------------------------------------------------------------------------------- shortlist */

rg_status rg_translator_set_shortlist(rg_translator *t, rg_shortlist *shortlist)
{
    const size_t V = rg_vocab_size(t->target);
    rg_status    status = RG_OK;
    if (shortlist && rg_shortlist_size_of(shortlist).target != V)
        status = rg_fail(RG_EMATCH, "the shortlist is of %zu target tokens, the model has %zu",
                         rg_shortlist_size_of(shortlist).target, V);
    else if (shortlist && t->model && t->model->copies)
        status = rg_fail(RG_EINVAL, "a model that copies words of the source takes no shortlist");
    if (status != RG_OK) rg_shortlist_free(shortlist);
    if (status != RG_OK) return status;
    rg_shortlist_free(t->shortlist);
    t->shortlist = shortlist;
    return RG_OK;
}

static rg_status put_shortlist(rg_state *state, const rg_translator *t)
{
    rg_text bytes = { 0 };
    if (!t->shortlist) return RG_OK;
    rg_status status = rg_shortlist_to_bytes(&bytes, t->shortlist);
    if (status == RG_OK) status = rg_state_put_bytes(state, "shortlist", bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}

static rg_status read_shortlist(rg_translator *t, const rg_state *state)
{
    const void *bytes;
    size_t      count;
    if (!rg_state_has(state, "shortlist")) return RG_OK;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, "shortlist"));
    return rg_shortlist_from_bytes(&t->shortlist, bytes, count, t->source, t->target);
}

/* ------------------------------------------------------------------------------------------------------- files */

rg_status rg_translator_describe_assets(rg_state *state, const void *assets)
{
    const rg_translator *t = assets;
    RG_TRY(rg_put_vocab(state, "vocab.source", t->source));
    if (t->target != t->source) RG_TRY(rg_put_vocab(state, "vocab.target", t->target));
    RG_TRY(rg_state_put_text(state, "alignment.name", t->alignment_name));
    RG_TRY(rg_state_put_number(state, "alignment.head", t->alignment_head));
    /* files of other models stay as they were */
    if (t->alignment_shift) RG_TRY(rg_state_put_number(state, "alignment.shift", 1));
    RG_TRY(rg_extract_put(state, t->extract));
    RG_TRY(put_shortlist(state, t));
    return put_languages(state, t);
}

static rg_status read_alignment(rg_translator *t, const rg_state *state)
{
    const char *name;
    double      head, shift = 0;
    if (!rg_state_has(state, "alignment.name")) return RG_OK;
    if (rg_state_has(state, "alignment.shift")) RG_TRY(rg_state_get_number(&shift, state, "alignment.shift"));
    RG_TRY(rg_state_get_text(&name, state, "alignment.name"));
    RG_TRY(rg_state_get_number(&head, state, "alignment.head"));
    if (!(head >= -1 && head < 1 << 20))
        return rg_fail(RG_ELIMIT, "alignment.head is %g; it should be -1 .. %d", head, (1 << 20) - 1);
    char *copy = rg_strdup(name);
    if (!copy) return RG_ENOMEM;
    rg_free(t->alignment_name);
    t->alignment_name = copy;
    t->alignment_head = (int)head;
    t->alignment_shift = shift > 0;
    return RG_OK;
}

rg_sizes rg_sizes_of_text(const rg_vocab *source, const rg_vocab *target)
{
    return (rg_sizes){ { { "source-vocabulary", rg_vocab_size(source) },
                         { "target-vocabulary", rg_vocab_size(target) },
                         { "joint-vocabulary", source == target },
                         { "bos", (size_t)rg_vocab_bos(target) },
                         { "eos", (size_t)rg_vocab_eos(target) },
                         { "unknown", rg_vocab_unk(target) < 0 ? 0 : (size_t)rg_vocab_unk(target) } } };
}

/* Sizes follow from the vocabularies, whatever else the file says of them. */
rg_status rg_translator_adopt(void *assets, rg_sizes *sizes, const rg_state *state)
{
    rg_vocab *source, *target = NULL;
    RG_TRY(rg_get_vocab(&source, state, "vocab.source"));
    rg_status status = rg_state_has(state, "vocab.target") ? rg_get_vocab(&target, state, "vocab.target") : RG_OK;
    if (status != RG_OK) {
        rg_vocab_free(source);
        return status;
    }
    RG_TRY(rg_translator_init(assets, source, target));
    if (rg_vocab_eos(target ? target : source) < 0) return rg_fail(RG_EFORMAT, "the target vocabulary has no </s>");
    *sizes = rg_sizes_of_text(source, target ? target : source);
    RG_TRY(read_alignment(assets, state));
    RG_TRY(rg_extract_get(((rg_translator *)assets)->extract, state));
    RG_TRY(read_shortlist(assets, state));
    return read_languages(assets, state);
}

rg_status rg_translator_save(const rg_translator *t, const char *path) { return rg_model_save(t->model, path); }
rg_status rg_translator_describe(rg_state *state, const rg_translator *t) { return rg_model_describe(state, t->model); }

rg_status rg_translator_load(rg_translator **out, const char *path)
{
    return rg_translator_load_as(out, path, RG_WEIGHT_STORED);
}

rg_status rg_translator_load_as(rg_translator **out, const char *path, rg_weights weights)
{
    rg_model *model;
    *out = NULL;
    RG_TRY(rg_model_load_as(&model, path, NULL, weights));
    const rg_task *task = model->system->task;
    if (task->translates) return *out = model->assets, RG_OK;
    rg_model_free(model);
    return rg_fail(RG_EMATCH, "%s: the file holds a model for '%s', which does not translate; `regard predict` asks it",
                   path, task->name);
}
