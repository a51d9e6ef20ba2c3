/* assets.c - what a model file holds beside weights, settings and sizes, by a table of named members.
 *
 *   vocabularies, names   bytes          counts   "12 7 30", one for each name          texts, flags   as they are */
#include <stdlib.h>
#include <string.h>

#include "regard/features.h"
#include "regard/supervised.h"
#include "tasks/batches.h"

/* Members are pointers but for flags. */
static void **pointer_of(const rg_asset *a, const void *assets) 
{
    return (void **)(void *)((char *)(uintptr_t)assets + a->offset); /* NOLINT(performance-no-int-to-ptr) */
}
static bool  *flag_of(const rg_asset *a, const void *assets) 
{
    return (bool *)((char *)(uintptr_t)assets + a->offset); /* NOLINT(performance-no-int-to-ptr) */
}

static const rg_names *names_before(const rg_asset *a, const void *assets) { return *pointer_of(a - 1, assets); }

/* ------------------------------------------------------------------------------------------------------ from a file */

static rg_status get_names(rg_names **out, const rg_state *state, const rg_asset *a)
{
    const void *bytes;
    size_t      count;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, a->key));
    RG_TRY(rg_names_from_bytes(out, bytes, count));
    if (rg_names_count(*out) >= a->least) return RG_OK;
    return rg_fail(RG_EFORMAT, "%s: %zu names; %zu are the least", a->key, rg_names_count(*out), a->least);
}

static rg_status get_counts(uint64_t **out, const rg_state *state, const rg_asset *a, const rg_names *names)
{
    const size_t C = names ? rg_names_count(names) : 0;
    const char  *text;
    size_t       n = 0;
    RG_TRY(rg_state_get_text(&text, state, a->key));
    if (!(*out = rg_alloc_zero((C + 1) * sizeof **out))) return RG_ENOMEM;
    for (char *end; n < C && *text >= '0' && *text <= '9'; n++, text = *end == ' ' ? end + 1 : end)
        (*out)[n] = strtoull(text, &end, 10);
    return n == C && !*text ? RG_OK
                            : rg_fail(RG_EFORMAT, "%s does not have one number for each of %zu classes", a->key, C);
}

static rg_status get_features(rg_features **out, const rg_state *state, const char *key)
{
    const void *bytes;
    size_t      count;
    RG_TRY(rg_state_get_bytes(&bytes, &count, state, key));
    return rg_features_from_bytes(out, bytes, count);
}

static rg_status adopt_one(const rg_asset *a, void *assets, const rg_state *state)
{
    void      **to = pointer_of(a, assets);
    const char *text;
    uint64_t    flag;
    switch (a->kind) {
    case RG_ASSET_VOCAB: return rg_get_vocab((rg_vocab **)(void *)to, state, a->key);
    case RG_ASSET_NAMES: return get_names((rg_names **)(void *)to, state, a);
    case RG_ASSET_COUNTS: return get_counts((uint64_t **)(void *)to, state, a, names_before(a, assets));
    case RG_ASSET_FEATURES: return get_features((rg_features **)(void *)to, state, a->key);
    case RG_ASSET_FLAG:
        RG_TRY(rg_state_get_count(&flag, state, a->key));
        *flag_of(a, assets) = flag != 0;
        return RG_OK;
    case RG_ASSET_TEXT:
        RG_TRY(rg_state_get_text(&text, state, a->key));
        return (*to = rg_strdup(text)) ? RG_OK : RG_ENOMEM;
    }
    return RG_OK;
}

rg_status rg_assets_adopt(const rg_asset *table, void *assets, rg_sizes *sizes, const rg_state *state)
{
    for (const rg_asset *a = table; a->key; a++)
        if (!a->optional || rg_state_has(state, a->key)) RG_TRY(adopt_one(a, assets, state));
    return rg_assets_sizes(table, sizes, assets);
}

rg_status rg_assets_sizes(const rg_asset *table, rg_sizes *sizes, const void *assets)
{
    for (const rg_asset *a = table; a->key; a++) {
        const void *at = a->size ? *pointer_of(a, assets) : NULL;
        if (at)
            RG_TRY(rg_sizes_put(sizes, a->size, a->kind == RG_ASSET_VOCAB ? rg_vocab_size(at) : rg_names_count(at)));
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ into a file */

static rg_status put_names(rg_state *state, const char *key, const rg_names *names)
{
    rg_text   text = { 0 };
    rg_status status = rg_names_to_bytes(&text, names);
    if (status == RG_OK) status = rg_state_put_bytes(state, key, text.data, text.length);
    rg_text_free(&text);
    return status;
}

static rg_status put_counts(rg_state *state, const char *key, const uint64_t *counts, size_t C)
{
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; counts && status == RG_OK && i < C; i++)
        status = rg_text_print(&text, "%s%llu", i ? " " : "", (unsigned long long)counts[i]);
    if (status == RG_OK) status = rg_state_put_text(state, key, rg_text_c(&text));
    rg_text_free(&text);
    return status;
}

static rg_status put_features(rg_state *state, const char *key, const rg_features *features)
{
    rg_text   text = { 0 };
    rg_status status = rg_features_to_bytes(&text, features);
    if (status == RG_OK) status = rg_state_put_bytes(state, key, text.data, text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_assets_describe(const rg_asset *table, rg_state *state, const void *assets)
{
    for (const rg_asset *a = table; a->key; a++) {
        if (a->kind == RG_ASSET_FLAG) {
            RG_TRY(rg_state_put_count(state, a->key, *flag_of(a, assets)));
            continue;
        }
        const void *at = *pointer_of(a, assets);
        if (!at && a->optional) continue;
        switch (a->kind) {
        case RG_ASSET_VOCAB: RG_TRY(rg_put_vocab(state, a->key, at)); break;
        case RG_ASSET_NAMES: RG_TRY(put_names(state, a->key, at)); break;
        case RG_ASSET_FEATURES: RG_TRY(put_features(state, a->key, at)); break;
        case RG_ASSET_COUNTS: RG_TRY(put_counts(state, a->key, at, rg_names_count(names_before(a, assets)))); break;
        default: RG_TRY(rg_state_put_text(state, a->key, at));
        }
    }
    return RG_OK;
}

void rg_assets_drop(const rg_asset *table, void *assets)
{
    for (const rg_asset *a = table; a->key; a++) {
        if (a->kind == RG_ASSET_FLAG) continue;
        void *at = *pointer_of(a, assets);
        if (a->kind == RG_ASSET_VOCAB) rg_vocab_free(at);
        else if (a->kind == RG_ASSET_NAMES) rg_names_free(at);
        else if (a->kind == RG_ASSET_FEATURES) rg_features_free(at);
        else rg_free(at);
        *pointer_of(a, assets) = NULL;
    }
}
