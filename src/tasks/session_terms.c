/* session_terms.c - translations that must use the terms of a glossary.
 *
 * A line is searched as always. If its best translation lacks a wanted term, the place of the term is found (terms.c)
 * and the line is searched again, twice: with a beginning that reaches to the end of the term, and with all of the old
 * answer but the word that the term replaces. The first is taken if it differs from the second by inflection alone. The
 * next term that is missing is placed behind this one.
 *
 * The searches are ordinary ones with a forced beginning, so that beams of any size, sampling, ensembles and shortlists
 * work, and a line's answer depends on nothing but the line and the glossary. */
#include "tasks/session.h"

#include <string.h>

typedef rg_session_item item;

enum { SHORT_WORD = 4 }; /* bytes */

typedef struct { /* a line that lacks terms */
    size_t       line;
    rg_placement place;
} job;

static rg_status forced_of(rg_forced **out, rg_session *s, size_t lane)
{
    if (!s->forced[lane]) {
        const rg_model **models = rg_alloc_array(s->count, sizeof *models);
        for (size_t i = 0; models && i < s->count; i++) models[i] = s->translators[i]->model;
        const rg_status status =
            models ? rg_forced_new(&s->forced[lane], models, s->count, lane == (size_t)s->threads ? s->team : NULL)
                   : RG_ENOMEM;
        rg_free(models);
        RG_TRY(status);
    }
    *out = s->forced[lane];
    return RG_OK;
}

/* Terms that the best translation lacks; a line that was given up lacks none. */
static rg_status lacks(size_t *out, bool *missing, const item *it, const rg_translated *r)
{
    *out = 0;
    if (!it->terms.count || r->stopped || !r->count) return RG_OK;
    return rg_terms_missing(out, missing, &it->terms, r->best[0].text);
}

static const int32_t *tokens_of(const rg_translation *t) { return t->open ? t->open : t->answer->tokens; }

/* Systems without attention leave zeros. */
static bool has_attention(const rg_answer *a)
{
    for (size_t i = 0; a->attention && i < a->length * a->source_length; i++)
        if (a->attention[i] > 0) return true;
    return false;
}

/* Where the leftmost missing term of a line belongs; *out_job->line is not set when all is there. */
static rg_status plan(bool *out, job *j, rg_session *s, size_t lane, size_t line)
{
    item         *it = &s->items[line];
    rg_arena     *arena = s->arena[lane];
    rg_forced    *forced;
    rg_line_term *all;
    size_t        missing_count, count, n = 0;
    bool         *missing = rg_arena_get_zero(arena, it->terms.count + 1);
    *out = false;
    if (!missing) return RG_ENOMEM;
    RG_TRY(lacks(&missing_count, missing, it, &it->result));
    if (!missing_count) return RG_OK;
    RG_TRY(rg_terms_pieces(&all, &count, arena, &it->terms, s->translators[0]->source, &it->spans,
                           it->source.count - (it->cut ? 1 : 0)));
    for (size_t i = 0; i < count; i++)
        if (missing[all[i].term - it->terms.term]) all[n++] = all[i];
    if (!n) return RG_OK; /* past the end of what was read */
    const rg_answer *a = it->result.best[0].answer;
    const rg_lacking lacking = { .source = it->source.data,
                                 .source_length = it->source.count,
                                 .answer = tokens_of(&it->result.best[0]),
                                 .length = a->length,
                                 .kept = it->prefix.count < a->length ? it->prefix.count : a->length,
                                 .attention = has_attention(a) ? a->attention : NULL,
                                 .term = all,
                                 .terms = n,
                                 .number = s->first + line };
    RG_TRY(forced_of(&forced, s, lane));
    RG_TRY(rg_terms_place(&j->place, arena, forced, s->translators[0], &lacking));
    j->line = line;
    return *out = true, RG_OK;
}

/* What an answer must begin with: all up to the term, or (`whole`) the old answer with the term in place of its own
 * word. */
static rg_status begin_with(rg_ids *out, const rg_session *s, const job *j, bool whole)
{
    const rg_translation *best = &s->items[j->line].result.best[0];
    const int32_t        *old = tokens_of(best);
    const size_t          length = best->answer->length, rest = whole ? length - j->place.next : 0;
    RG_TRY(rg_ids_reserve(out, j->place.at + j->place.count + rest + 1));
    for (size_t i = 0; i < j->place.at; i++) out->data[out->count++] = old[i];
    for (size_t i = 0; i < j->place.count; i++) out->data[out->count++] = j->place.tokens[i];
    for (size_t i = 0; i < rest; i++) out->data[out->count++] = old[j->place.next + i];
    if (whole) out->data[out->count++] = rg_vocab_eos(s->translators[0]->target);
    return RG_OK;
}

static rg_status note_spelling(item *it, rg_arena *arena, const rg_placement *p)
{
    if (!p->spelt) return RG_OK;
    rg_spelt *more = rg_arena_get(arena, (it->spelts + 1) * sizeof *more);
    if (!more) return RG_ENOMEM;
    if (it->spelts) memcpy(more, it->spelt, it->spelts * sizeof *more);
    more[it->spelts++] = (rg_spelt){ p->at, p->count, p->text };
    it->spelt = more;
    return RG_OK;
}

/* Two forms of one word, by sight: the same first half, or short words with one beginning, such as der and die. */
static bool same_word(const char *a, size_t m, const char *b, size_t n)
{
    size_t same = 0;
    while (same < m && same < n && a[same] == b[same]) same++;
    return 2 * same >= (m > n ? m : n) || (same && m <= SHORT_WORD && n <= SHORT_WORD);
}

/* Word by word, are they the same but for inflection? */
static bool same_words(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t m = strcspn(a, " "), n = strcspn(b, " ");
        if (!same_word(a, m, b, n)) return false;
        a += m + (a[m] == ' ');
        b += n + (b[n] == ' ');
    }
    return !*a && !*b;
}

/* Answers further down the list that lack a term are left out. */
static rg_status drop_lacking(const item *it, rg_arena *arena, rg_translated *r)
{
    size_t kept = 1, n;
    bool  *missing = rg_arena_get_zero(arena, it->terms.count + 1);
    if (!missing) return RG_ENOMEM;
    for (size_t k = 1; k < r->count; k++) {
        RG_TRY(rg_terms_missing(&n, missing, &it->terms, r->best[k].text));
        if (!n) r->best[kept++] = r->best[k];
    }
    if (r->count) r->count = kept;
    return RG_OK;
}

/* Further answers are those of the other search. */
static rg_status join(rg_translated *best, rg_arena *arena, const rg_translated *other, size_t most)
{
    rg_translation *all = rg_arena_get(arena, (best->count + other->count + 1) * sizeof *all);
    if (!all) return RG_ENOMEM;
    if (best->count) memcpy(all, best->best, best->count * sizeof *all);
    for (size_t k = 0; k < other->count && best->count < most; k++) {
        bool seen = false;
        for (size_t i = 0; i < best->count && !seen; i++) seen = strcmp(all[i].text, other->best[k].text) == 0;
        if (!seen) all[best->count++] = other->best[k];
    }
    best->best = all;
    return RG_OK;
}

/* The free rest (0) takes the place of the old one (1) when the model finds it more likely and it has the same words,
 * inflected otherwise: it then agrees with the term where the old one agreed with the model's own word. Behind a term
 * that the model does not know it often leaves out words or says them twice, and finds that more likely. */
static rg_status choose(rg_session *s, rg_arena *arena, const job *j, const rg_answers *answers, const rg_ids *prefix)
{
    item         *it = &s->items[j->line];
    rg_translated found[2];
    size_t        lacking[2] = { 0 };
    bool         *missing = rg_arena_get_zero(arena, it->terms.count + 1);
    if (!missing) return RG_ENOMEM;
    RG_TRY(note_spelling(it, arena, &j->place));
    for (size_t k = 0; k < 2; k++) {
        RG_TRY(rg_session_keep(&found[k], s, arena, it, &answers[k]));
        RG_TRY(lacks(&lacking[k], missing, it, &found[k]));
    }
    const rg_translation *freely = found[0].best, *old = found[1].best;
    const size_t          best = !found[0].count || !found[1].count || lacking[0] > lacking[1] || j->place.unknown ||
                        !same_words(freely->text, old->text) || freely->answer->log_p <= old->answer->log_p;
    if (found[best].count) RG_TRY(join(&found[best], arena, &found[!best], s->config->search.n_best));
    it->result = found[best];
    it->prefix.count = 0; /* of the free answer, too: the rest is open to the terms that follow */
    for (size_t i = 0; i < prefix[0].count; i++) RG_TRY(rg_ids_add(&it->prefix, prefix[0].data[i]));
    return RG_OK;
}

static rg_status search_again(rg_session *s, rg_search *search, rg_arena *arena, const job *jobs, size_t n)
{
    const rg_answers *answers;
    rg_ids           *prefix = rg_alloc_zero(2 * n * sizeof *prefix);
    size_t           *lines = rg_arena_get(arena, 2 * n * sizeof *lines);
    rg_status         status = prefix && lines ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < 2 * n; i++) {
        lines[i] = jobs[i / 2].line;
        status = begin_with(&prefix[i], s, &jobs[i / 2], i % 2);
    }
    if (status == RG_OK) status = rg_session_search(&answers, s, search, arena, lines, prefix, 2 * n, true);
    for (size_t i = 0; status == RG_OK && i < n; i++)
        status = choose(s, arena, &jobs[i], answers + 2 * i, prefix + 2 * i);
    for (size_t i = 0; prefix && i < 2 * n; i++) rg_ids_free(&prefix[i]);
    rg_free(prefix);
    return status;
}

rg_status rg_session_terms(rg_session *s, rg_search *search, size_t lane, const size_t *lines, size_t n)
{
    rg_arena *arena = s->arena[lane];
    size_t    most = 0;
    for (size_t i = 0; i < n; i++)
        if (s->items[lines[i]].terms.count > most) most = s->items[lines[i]].terms.count;
    for (size_t pass = 0; pass < most; pass++) {
        job   *jobs = rg_arena_get(arena, (n + 1) * sizeof *jobs);
        size_t count = 0;
        if (!jobs) return RG_ENOMEM;
        for (size_t i = 0; i < n; i++) {
            bool again = false;
            if (pass < s->items[lines[i]].terms.count) RG_TRY(plan(&again, &jobs[count], s, lane, lines[i]));
            count += again;
        }
        if (!count) break;
        RG_TRY(search_again(s, search, arena, jobs, count));
    }
    for (size_t i = 0; i < n; i++)
        if (s->items[lines[i]].terms.count)
            RG_TRY(drop_lacking(&s->items[lines[i]], arena, &s->items[lines[i]].result));
    return RG_OK;
}
