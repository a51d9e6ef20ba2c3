/* decoding.c - the engine behind start / step / keep: two tapes, one that lives for the whole decoding (what start
 * made of the sources), one that is reset at every step, both without recording. */
#include "autograd/picked.h"
#include "regard/model.h"

#include <string.h>

rg_status rg_decoding_new(rg_decoding **out, const rg_model *model, rg_team *team)
{
    *out = NULL;
    if (!model->system->start) return rg_fail(RG_EINVAL, "%s does not decode", model->system->name);
    rg_decoding *d = rg_alloc_zero(sizeof *d);
    if (!d) return RG_ENOMEM;
    d->model = model;
    const rg_tape_config config = { .team = team };
    rg_status            status = rg_tape_new(&d->memory, &config);
    if (status == RG_OK) status = rg_tape_new(&d->tape, &config);
    if (status == RG_OK && !(d->state = rg_alloc_zero(model->system->state_bytes))) status = RG_ENOMEM;
    if (status != RG_OK) {
        rg_decoding_free(d);
        return status;
    }
    *out = d;
    return RG_OK;
}

void rg_decoding_free(rg_decoding *d)
{
    if (!d) return;
    if (d->state && d->model->system->finish) d->model->system->finish(d);
    rg_free(d->state);
    rg_free(d->source_of);
    rg_free(d->spare);
    rg_free(d->known);
    if (d->picked) rg_picked_fini(d->picked);
    rg_free(d->picked);
    rg_tape_free(d->tape);
    rg_tape_free(d->memory);
    rg_free(d);
}

void rg_decoding_set_watcher(rg_decoding *d, const rg_watcher *watcher)
{
    rg_tape_set_watcher(d->memory, watcher);
    rg_tape_set_watcher(d->tape, watcher);
}

/* Room for n hypotheses in all index lists. */
static rg_status make_room(rg_decoding *d, size_t n)
{
    if (n <= d->room) return RG_OK;
    int32_t *a = rg_realloc(d->source_of, n * sizeof *a);
    if (a) d->source_of = a;
    int32_t *b = a ? rg_realloc(d->spare, n * sizeof *b) : NULL;
    if (b) d->spare = b;
    int32_t *c = b ? rg_realloc(d->known, n * sizeof *c) : NULL;
    if (c) d->known = c;
    if (!c) return RG_ENOMEM;
    d->room = n;
    return RG_OK;
}

/* A copy on the tape of what start makes; no start: groups without rows. */
static rg_status copy_layout(rg_decoding *d, const rg_layout *from)
{
    int32_t *start = rg_tape_memory(d->memory, (from->groups + 1) * sizeof *start);
    if (!start) return rg_tape_status(d->memory);
    if (from->start) memcpy(start, from->start, (from->groups + 1) * sizeof *start);
    else memset(start, 0, (from->groups + 1) * sizeof *start);
    d->sources = *from;
    d->sources.start = start;
    return RG_OK;
}

rg_status rg_decoding_start(rg_decoding *d, const rg_field *source)
{
    RG_TRY(make_room(d, source->layout.groups));
    rg_tape_reset(d->memory, 0);
    rg_tape_reset(d->tape, 0);
    RG_TRY(copy_layout(d, &source->layout));
    d->source = *source;
    d->source.layout = d->sources;
    if (rg_field_rows(&d->source) && !source->ids && !source->values)
        return rg_fail(RG_EINVAL, "the sources have %zu rows but neither ids nor values", rg_field_rows(&d->source));
    d->n = source->layout.groups;
    d->steps = 0;
    for (size_t i = 0; i < d->n; i++) d->source_of[i] = (int32_t)i;
    RG_TRY(d->model->system->start(d));
    return rg_tape_status(d->memory);
}

/* Tokens as the model knows them: a copied word that is not in its vocabulary goes in as the unknown one. */
static const int32_t *known_tokens(rg_decoding *d, const int32_t *tokens)
{
    const int32_t V = (int32_t)rg_model_size(d->model, "target-vocabulary"),
                  unknown = (int32_t)rg_model_size(d->model, "unknown");
    if (!d->model->copies) return tokens;
    for (size_t i = 0; i < d->n; i++) d->known[i] = tokens[i] < V ? tokens[i] : unknown;
    return d->known;
}

rg_status rg_decoding_step(const rg_real **out, size_t *out_ld, rg_decoding *d, const int32_t *tokens)
{
    rg_tape_reset(d->tape, 0);
    d->tokens = known_tokens(d, tokens);
    const rg_tensor *logits = d->model->system->step(d, d->tape);
    RG_TRY(rg_tape_status(d->tape));
    d->steps++;
    *out = rg_tensor_data(logits);
    *out_ld = rg_tensor_ld(logits);
    d->columns = rg_tensor_cols(logits);
    return RG_OK;
}

size_t rg_decoding_columns(const rg_decoding *d) { return d->columns; }

rg_status rg_decoding_limit(rg_decoding *d, const int32_t *words, size_t count)
{
    if (words && !d->picked && !(d->picked = rg_alloc_zero(sizeof *d->picked))) return RG_ENOMEM;
    if (d->picked) d->picked->w = NULL;
    d->words = words;
    d->word_count = count;
    return RG_OK;
}

rg_status rg_decoding_keep(rg_decoding *d, const int32_t *parents, size_t n)
{
    RG_TRY(make_room(d, n));
    for (size_t i = 0; i < n; i++)
        if (parents[i] < 0 || (size_t)parents[i] >= d->n)
            return rg_fail(RG_EINVAL, "hypothesis %zu continues row %d; there are %zu", i, parents[i], d->n);
    RG_TRY(d->model->system->keep(d, parents, n));
    for (size_t i = 0; i < n; i++) d->spare[i] = d->source_of[parents[i]];
    int32_t *swap = d->source_of;
    d->source_of = d->spare;
    d->spare = swap;
    d->n = n;
    return RG_OK;
}
