/* search.c - beam search (Sutskever, Vinyals, Le 2014; normalisation and coverage: Wu et al. 2016).
 *
 * For each source up to B hypotheses live. A step extends each by every token and keeps the best B of all; one that
 * takes eos leaves the beam for the set of answers and frees its slot. A source is done when no slot is left, or no
 * live hypothesis can still win, or at its length limit. Greedy is B = 1; sampling replaces the choice by a draw. */
#include "decode/beam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODELS = 64 }; /* of an ensemble */

struct rg_search {
    rg_decoding **part;
    size_t        parts;
    rg_beams     *beams;
    rg_arena     *arena; /* of one run: answers and their tokens */
    rg_watcher    watcher;
    rg_step_attention       seen;
    rg_ids        list, all; /* shortlists: of all sources one after another; of the batch, each token once */
    size_t       *start;     /* of each source in `list` */
    size_t        starts;
    rg_real      *some;      /* scores of the listed tokens */
    size_t        some_room;
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
    rg_ids_free(&s->list);
    rg_ids_free(&s->all);
    rg_free(s->start);
    rg_free(s->some);
    rg_free(s->mean);
    rg_step_attention_fini(&s->seen);
    rg_free(s);
}

/* ---------------------------------------------------------------------------------------------------- shortlists */

static int by_token(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Tokens of each source in s->list, and those of all sources, each once, in s->all: the product is over these, so that
 * rows of a batch share it; each source then sees its own columns alone. */
static rg_status pick(rg_search *s, const rg_shortlist *shortlist, const rg_field *source, const rg_ids *prefix)
{
    const rg_layout *l = &source->layout;
    if (l->groups + 1 > s->starts) {
        size_t *start = rg_realloc(s->start, (l->groups + 1) * sizeof *start);
        if (!start) return RG_ENOMEM;
        s->start = start;
        s->starts = l->groups + 1;
    }
    s->list.count = s->all.count = 0;
    for (size_t i = 0; i < l->groups; i++) {
        s->start[i] = s->list.count;
        RG_TRY(rg_shortlist_pick(&s->list, shortlist, source->ids + l->start[i], (size_t)(l->start[i + 1] - l->start[i]),
                                 prefix ? prefix[i].data : NULL, prefix ? prefix[i].count : 0));
    }
    s->start[l->groups] = s->list.count;
    RG_TRY(rg_ids_reserve(&s->all, s->list.count));
    memcpy(s->all.data, s->list.data, s->list.count * sizeof *s->all.data);
    if (l->groups > 1) qsort(s->all.data, s->list.count, sizeof *s->all.data, by_token);
    for (size_t i = 0; i < s->list.count; i++)
        if (!s->all.count || s->all.data[s->all.count - 1] != s->all.data[i]) s->all.data[s->all.count++] = s->all.data[i];
    return RG_OK;
}

/* Of hypothesis i the columns that its source lists, from columns that are all tokens or those of s->all. */
static size_t take(const rg_search *s, rg_real *to, const rg_real *from, size_t i, bool whole)
{
    const size_t   source = (size_t)s->part[0]->source_of[i], n = s->start[source + 1] - s->start[source];
    const int32_t *list = s->list.data + s->start[source];
    for (size_t j = 0, at = 0; j < n; j++, at++) {
        while (!whole && s->all.data[at] != list[j]) at++;
        to[j] = from[whole ? (size_t)list[j] : at];
    }
    return n;
}

/* Scores (n, V) of a model become (n, listed tokens) behind those of the models before it. */
static rg_status shorten(rg_search *s, const rg_real **scores, size_t *ld, size_t model, size_t V)
{
    const rg_decoding *d = s->part[model];
    const size_t       each = d->n * s->all.count, numbers = s->parts * each;
    const bool         whole = rg_decoding_columns(d) >= V;
    if (!whole && s->part[0]->sources.groups == 1) return RG_OK; /* they are what its one source lists */
    if (numbers > s->some_room) {
        rg_real *some = rg_realloc(s->some, numbers * sizeof *some);
        if (!some) return RG_ENOMEM;
        s->some = some;
        s->some_room = numbers;
    }
    rg_real *to = s->some + model * each;
    for (size_t i = 0; i < d->n; i++) take(s, to + i * s->all.count, *scores + i * *ld, i, whole);
    *scores = to;
    *ld = s->all.count;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- scores */

/* Columns of scores that hypothesis i has. */
static size_t columns_of(const rg_search *s, size_t i, size_t V)
{
    const size_t source = (size_t)s->part[0]->source_of[i];
    return s->part[0]->words ? s->start[source + 1] - s->start[source] : V;
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
            const size_t columns = columns_of(s, i, V);
            rg_kernel()->softmax(columns, one, logits[m] + i * ld[m]);
            rg_kernel()->axpy(columns, s->mean + i * V, (rg_real)(1.0 / (double)s->parts), one);
        }
    rg_kernel()->map(RG_LOG, n * V, s->mean, s->mean);
    return RG_OK;
}

/* Scores of the next token of every live hypothesis, (n, V) or (n, listed tokens): logits of one model, log
 * probabilities of several. */
static rg_status next_scores(const rg_real **out, size_t *out_ld, rg_search *s, const int32_t *tokens, size_t V)
{
    const rg_real *logits[MOST_MODELS] = { NULL };
    size_t         ld[MOST_MODELS] = { 0 };
    for (size_t m = 0; m < s->parts; m++) {
        RG_TRY(rg_decoding_step(&logits[m], &ld[m], s->part[m], tokens));
        if (s->part[0]->words) RG_TRY(shorten(s, &logits[m], &ld[m], m, V));
    }
    *out = logits[0];
    *out_ld = ld[0];
    if (s->parts == 1) return RG_OK;
    const size_t columns = s->part[0]->words ? s->all.count : V;
    RG_TRY(average(s, logits, ld, s->part[0]->n, columns));
    *out = s->mean;
    *out_ld = columns;
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

static rg_status check_shortlist(const rg_search_config *c, const rg_model *model, const rg_field *source)
{
    const size_t V = rg_model_size(model, "target-vocabulary"), listed = rg_shortlist_size_of(c->shortlist).target;
    if (model->copies) return rg_fail(RG_EINVAL, "a model that copies words of the source takes no shortlist");
    if (!source->ids) return rg_fail(RG_EINVAL, "a shortlist is of sources that are tokens");
    if (rg_extract_wanted(c)) return rg_fail(RG_EINVAL, "weights of words of the source and a shortlist do not go together");
    return listed == V ? RG_OK
                       : rg_fail(RG_EMATCH, "the shortlist is of %zu target tokens, the model has %zu", listed, V);
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
    rg_beam_words words = { .count = rg_model_size(model, "target-vocabulary") + extra,
                            .bos = (int32_t)rg_model_size(model, "bos"),
                            .eos = (int32_t)rg_model_size(model, "eos") };
    const bool    listed = c->shortlist && source->layout.groups;
    if (listed) {
        RG_TRY(check_shortlist(c, model, source));
        RG_TRY(pick(s, c->shortlist, source, prefix));
        words.list = s->list.data;
        words.start = s->start;
    }
    for (size_t m = 0; m < s->parts; m++)
        RG_TRY(rg_decoding_limit(s->part[m], listed ? s->all.data : NULL, s->all.count));
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
