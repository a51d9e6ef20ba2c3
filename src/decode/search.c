/* search.c - beam search (Sutskever, Vinyals, Le 2014; normalisation and coverage: Wu et al. 2016).
 *
 * For each source up to B hypotheses live. A step extends each by every token and keeps the best B of all; one that
 * takes eos leaves the beam for the set of answers and frees its slot. A source is done when no slot is left, or no
 * live hypothesis can still win, or at its length limit. Greedy is B = 1; sampling replaces the choice by a draw. */
#include "decode/beam.h"

#include <math.h>
#include <string.h>

enum { MOST_MODELS = 64 }; /* of an ensemble */

struct rg_search {
    rg_decoding **part;
    size_t        parts;
    rg_beams     *beams;
    rg_arena     *arena; /* of one run: answers and their tokens */
    rg_watcher    watcher;
    rg_step_attention       seen;
    rg_real      *mean;   /* ensembles: log of the averaged probabilities */
    size_t        mean_room;
};

rg_status rg_search_new(rg_search **out, const rg_model *const *models, size_t count, rg_team *team)
{
    *out = NULL;
    if (count < 1 || count > MOST_MODELS)
        return rg_fail(RG_ELIMIT, "%zu models; an ensemble has 1 .. %d", count, MOST_MODELS);
    for (size_t i = 1; i < count; i++)
        if (rg_model_size(models[i], "target-vocabulary") != rg_model_size(models[0], "target-vocabulary"))
            return rg_fail(
                RG_EMATCH, "model %zu answers with %zu words, model 1 with %zu: an ensemble shares its vocabulary",
                i + 1, rg_model_size(models[i], "target-vocabulary"), rg_model_size(models[0], "target-vocabulary"));
    for (size_t i = 1; i < count; i++)
        if (models[i]->copies != models[0]->copies)
            return rg_fail(RG_EMATCH, "model %zu %s words of the source, model 1 %s: an ensemble does one or the other",
                           i + 1, models[i]->copies ? "copies" : "does not copy",
                           models[0]->copies ? "does" : "does not");
    rg_search *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    rg_status status = rg_arena_new(&s->arena, 1 << 16);
    if (status == RG_OK && !(s->part = rg_alloc_zero(count * sizeof(rg_decoding *)))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        status = rg_decoding_new(&s->part[i], models[i], team);
        if (status == RG_OK) s->parts++;
    }
    if (status == RG_OK) status = rg_beams_new(&s->beams);
    if (status != RG_OK) {
        rg_search_free(s);
        return status;
    }
    *out = s;
    return RG_OK;
}

void rg_search_free(rg_search *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->parts; i++) rg_decoding_free(s->part[i]);
    rg_free(s->part);
    rg_beams_free(s->beams);
    rg_arena_free(s->arena);
    rg_free(s->mean);
    rg_step_attention_fini(&s->seen);
    rg_free(s);
}

/* Log of the mean of the models' probabilities, into s->mean (n, V). */
static rg_status average(rg_search *s, const rg_real *const *logits, const size_t *ld, size_t n, size_t V)
{
    if (n * V > s->mean_room) {
        rg_real *mean = rg_realloc(s->mean, 2 * n * V * sizeof *mean); /* the second half is one model's probabilities */
        if (!mean) return RG_ENOMEM;
        s->mean = mean;
        s->mean_room = n * V;
    }
    rg_real *one = s->mean + s->mean_room;
    memset(s->mean, 0, n * V * sizeof *s->mean);
    for (size_t m = 0; m < s->parts; m++)
        for (size_t i = 0; i < n; i++) {
            rg_kernel()->softmax(V, one, logits[m] + i * ld[m]);
            rg_kernel()->axpy(V, s->mean + i * V, (rg_real)(1.0 / (double)s->parts), one);
        }
    rg_kernel()->map(RG_LOG, n * V, s->mean, s->mean);
    return RG_OK;
}

/* Scores of the next token of every live hypothesis, (n, V): logits of one model, log probabilities of several. */
static rg_status next_scores(const rg_real **out, size_t *out_ld, rg_search *s, const int32_t *tokens, size_t V)
{
    const rg_real *logits[MOST_MODELS] = { NULL };
    size_t         ld[MOST_MODELS] = { 0 };
    for (size_t m = 0; m < s->parts; m++) RG_TRY(rg_decoding_step(&logits[m], &ld[m], s->part[m], tokens));
    *out = logits[0];
    *out_ld = ld[0];
    if (s->parts == 1) return RG_OK;
    RG_TRY(average(s, logits, ld, s->part[0]->n, V));
    *out = s->mean;
    *out_ld = V;
    return RG_OK;
}

static rg_status check(const rg_search_config *c)
{
    if (c->beam < 1 || c->beam > 1000) return rg_fail(RG_EINVAL, "a beam of %zu; it should be 1 .. 1000", c->beam);
    if (c->n_best < 1 || c->n_best > c->beam)
        return rg_fail(RG_EINVAL, "%zu answers from a beam of %zu", c->n_best, c->beam);
    if (c->groups > 1 && (c->sample || c->beam % c->groups))
        return rg_fail(RG_EINVAL, "%zu groups of a beam of %zu%s; groups are of one size, and of a search", c->groups,
                       c->beam, c->sample ? " draws" : "");
    if (!(c->diversity >= 0)) return rg_fail(RG_EINVAL, "a diversity of %g", c->diversity);
    if (c->sample && !(c->temperature > 0)) return rg_fail(RG_EINVAL, "a temperature of %g", c->temperature);
    if (!(c->top_p >= 0 && c->top_p <= 1))
        return rg_fail(RG_EINVAL, "draws among %g of the probability; it should be from 0 to 1", c->top_p);
    if (!(c->length_factor >= 0) || !(c->normalize >= 0))
        return rg_fail(RG_EINVAL, "length factor %g, normalisation %g", c->length_factor, c->normalize);
    return RG_OK;
}

/* The tokens that answers have for the words of the sources; none for unknown ones and for their end. */
static rg_status source_words(const int32_t **out, rg_search *s, const rg_model *model, const rg_field *source)
{
    const size_t n = (size_t)source->layout.start[source->layout.groups];
    int32_t     *token = rg_arena_get(s->arena, (n + 1) * sizeof *token);
    if (!token) return RG_ENOMEM;
    if (!source->ids || !rg_model_size(model, "joint-vocabulary"))
        return rg_fail(RG_EINVAL, "words of the source are looked for where source and target share a vocabulary");
    for (size_t i = 0; i < n; i++) {
        const int32_t id = model->copies && source->copies ? source->copies[i] : source->ids[i];
        const bool    none = (size_t)id == rg_model_size(model, "eos") || (size_t)id == rg_model_size(model, "unknown");
        token[i] = none ? -1 : id;
    }
    *out = token;
    return RG_OK;
}

rg_status rg_search_run(const rg_answers **out, rg_search *s, const rg_search_config *c, const rg_field *source,
                        const uint64_t *numbers, const rg_ids *prefix)
{
    RG_TRY(check(c));
    rg_arena_reset(s->arena);
    const rg_model  *model = s->part[0]->model;
    rg_search_config own = *c;
    for (size_t m = 0; m < s->parts; m++) {
        const size_t longest = s->part[m]->model->longest;
        if (longest && (!own.longest || longest < own.longest)) own.longest = longest;
    }
    const size_t        extra = model->copies && source->copies ? source->extra : 0;
    rg_beam_words       words = { rg_model_size(model, "target-vocabulary") + extra,
                                  (int32_t)rg_model_size(model, "bos"), (int32_t)rg_model_size(model, "eos"), NULL };
    if (rg_extract_wanted(c)) RG_TRY(source_words(&words.source, s, model, source));
    const bool      watches = c->attention || c->coverage != 0;
    rg_step_attention_init(&s->seen, s->part[0], c);
    s->watcher = rg_step_attention_watcher(&s->seen);
    rg_decoding_set_watcher(s->part[0], NULL);
    for (size_t m = 0; m < s->parts; m++) RG_TRY(rg_decoding_start(s->part[m], source));
    rg_decoding_set_watcher(s->part[0], watches ? &s->watcher : NULL);
    RG_TRY(rg_beams_start(s->beams, s->arena, &own, &words, &s->part[0]->sources, numbers, prefix));
    while (rg_beams_live(s->beams)) {
        const rg_real *scores = NULL;
        size_t         ld = 0, n;
        const int32_t *parents;
        rg_step_attention_clear(&s->seen);
        RG_TRY(next_scores(&scores, &ld, s, rg_beams_tokens(s->beams), words.count));
        RG_TRY(rg_beams_step(s->beams, scores, ld, watches ? &s->seen : NULL));
        parents = rg_beams_parents(s->beams, &n);
        for (size_t m = 0; n && m < s->parts; m++) RG_TRY(rg_decoding_keep(s->part[m], parents, n));
    }
    return rg_beams_answers(out, s->beams);
}
