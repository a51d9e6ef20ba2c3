/* session.c - translating lines: encode, sort by length, search batches on all threads, decode, hand back in order.
 *
 * Every line is searched as if it were alone (decode.h), so how lines are batched and who searches them is only a
 * matter of speed. */
#include "regard/lexicon.h"
#include "tasks/session.h"
#include "tasks/translation.h"

#include <stdlib.h>
#include <string.h>

typedef rg_session_item item;
typedef rg_session_part span;

/* --------------------------------------------------------------------------------------------------------- life */

static rg_status open_searches(rg_session *s)
{
    const rg_model **models = rg_alloc_array(s->count, sizeof *models);
    rg_status        status = models ? rg_team_new(&s->team, s->threads) : RG_ENOMEM;
    for (size_t i = 0; models && i < s->count; i++) models[i] = s->translators[i]->model;
    if (status == RG_OK && s->threads > 1) status = rg_search_new(&s->wide, models, s->count, s->team);
    for (int i = 0; status == RG_OK && i < s->threads; i++)
        status = rg_search_new(&s->search[i], models, s->count, NULL);
    for (int i = 0; status == RG_OK && i <= s->threads; i++) status = rg_arena_new(&s->arena[i], 1 << 16);
    rg_free(models);
    return status;
}

static rg_status same_vocabularies(rg_translator *const *t, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (rg_vocab_checksum(t[i]->source) != rg_vocab_checksum(t[0]->source) ||
            rg_vocab_checksum(t[i]->target) != rg_vocab_checksum(t[0]->target))
            return rg_fail(RG_EMATCH, "model %zu has other vocabularies than model 1: an ensemble shares them", i + 1);
    return RG_OK;
}

rg_status rg_session_new(rg_session **out, rg_translator *const *translators, size_t count, int threads)
{
    *out = NULL;
    if (threads < 1) return rg_fail(RG_EINVAL, "%d threads", threads);
    RG_TRY(same_vocabularies(translators, count));
    rg_session *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->count = count;
    s->threads = threads;
    rg_translator **copy = rg_alloc_array(count, sizeof *copy);
    s->search = rg_alloc_zero((size_t)threads * sizeof(rg_search *));
    s->arena = rg_alloc_zero(((size_t)threads + 1) * sizeof(rg_arena *));
    s->forced = rg_alloc_zero(((size_t)threads + 1) * sizeof(rg_forced *));
    s->status = rg_alloc_zero((size_t)threads * sizeof *s->status);
    s->message = rg_alloc_zero((size_t)threads * sizeof *s->message);
    s->translators = copy;
    rg_status status = copy && s->search && s->arena && s->forced && s->status && s->message ? RG_OK : RG_ENOMEM;
    if (copy) memcpy(copy, translators, count * sizeof *copy);
    if (status == RG_OK) status = open_searches(s);
    if (status != RG_OK) {
        rg_session_free(s);
        return status;
    }
    *out = s;
    return RG_OK;
}

void rg_session_free(rg_session *s)
{
    if (!s) return;
    for (int i = 0; s->search && i < s->threads; i++) rg_search_free(s->search[i]);
    for (int i = 0; s->arena && i <= s->threads; i++) rg_arena_free(s->arena[i]);
    for (int i = 0; s->forced && i <= s->threads; i++) rg_forced_free(s->forced[i]);
    for (size_t i = 0; i < s->room; i++) {
        rg_terms_free(&s->items[i].terms);
        rg_ids_free(&s->items[i].source);
        rg_ids_free(&s->items[i].prefix);
        rg_text_free(&s->items[i].line);
        rg_spans_free(&s->items[i].spans);
        rg_ids_free(&s->items[i].copies);
        rg_open_words_free(s->items[i].words);
    }
    rg_search_free(s->wide);
    rg_team_free(s->team);
    rg_free((void *)s->translators);
    rg_free(s->search);
    rg_free(s->arena);
    rg_free(s->forced);
    rg_free(s->items);
    rg_free(s->order);
    rg_free(s->parts);
    rg_free(s->status);
    rg_free(s->message);
    rg_free(s);
}

/* ----------------------------------------------------------------------------------------------------- encoding */

static rg_status make_room(rg_session *s, size_t n)
{
    if (n <= s->room) return RG_OK;
    item *items = rg_realloc(s->items, n * sizeof *items);
    if (!items) return RG_ENOMEM;
    memset(items + s->room, 0, (n - s->room) * sizeof *items);
    s->items = items;
    s->room = n;
    size_t *order = rg_realloc(s->order, n * sizeof *order);
    if (order) s->order = order;
    span *parts = rg_realloc(s->parts, n * sizeof *parts);
    if (parts) s->parts = parts;
    return order && parts ? RG_OK : RG_ENOMEM;
}

static bool copies(const rg_session *s) { return s->translators[0]->model->copies; }

/* The line again, openly: what is unknown can be copied. it->source holds the pieces the model reads, eos among
 * them. */
static rg_status encode_copies(item *it, const rg_vocab *vocab, const char *line)
{
    rg_ids    open = { 0 }, numbers = { 0 }, ids = { 0 };
    rg_status status = it->words ? RG_OK : rg_open_words_new(&it->words);
    if (status != RG_OK) return status;
    rg_open_words_clear(it->words);
    status = rg_encode_open(&open, vocab, it->words, line, strlen(line));
    const size_t n = it->source.count, words = n - (n && it->source.data[n - 1] == rg_vocab_eos(vocab));
    if (status == RG_OK) status = rg_ids_reserve(&it->copies, n + 1);
    if (status == RG_OK) status = rg_ids_reserve(&numbers, n + 1);
    if (status == RG_OK) status = rg_ids_reserve(&ids, n + 1);
    if (status == RG_OK && n) {
        it->extra = rg_copies_source(ids.data, it->copies.data, numbers.data, open.data, words, vocab);
        for (size_t i = words; i < n; i++) it->copies.data[i] = -1;
    }
    rg_ids_free(&open);
    rg_ids_free(&numbers);
    rg_ids_free(&ids);
    return status;
}

static rg_status encode(rg_session *s, item *it, const char *line, const char *prefix, const rg_glossary *glossary)
{
    const rg_translator *t = s->translators[0];
    it->source.count = it->prefix.count = it->spans.count = 0;
    it->cut = it->extra = it->spelts = 0;
    it->result = (rg_translated){ 0 };
    rg_text_clear(&it->line);
    if (glossary) RG_TRY(rg_glossary_find(&it->terms, glossary, line));
    else rg_terms_free(&it->terms);
    const bool replace = s->config->replace_unknown || s->config->search.attention || it->terms.count;
    RG_TRY(rg_vocab_encode(&it->source, replace ? &it->spans : NULL, t->source, line, strlen(line)));
    if (replace) RG_TRY(rg_vocab_normalize(&it->line, t->source, line, strlen(line)));
    if (it->source.count > s->most) {
        it->cut = it->source.count - s->most;
        it->source.count = s->most;
    }
    if (it->source.count && rg_vocab_eos(t->source) >= 0) RG_TRY(rg_ids_add(&it->source, rg_vocab_eos(t->source)));
    if (copies(s)) RG_TRY(encode_copies(it, t->source, line));
    if (prefix && *prefix) RG_TRY(rg_vocab_encode(&it->prefix, NULL, t->target, prefix, strlen(prefix)));
    if (!it->prefix.count && rg_vocab_begin(t->target) >= 0) RG_TRY(rg_ids_add(&it->prefix, rg_vocab_begin(t->target)));
    return RG_OK;
}

typedef struct {
    size_t length, index;
    bool   terms;
} by_length;

static int longest_first(const void *a, const void *b)
{
    const by_length *x = a, *y = b;
    if (x->terms != y->terms) return x->terms ? -1 : 1;
    if (x->length != y->length) return x->length < y->length ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* Few hypotheses: what a step does is to read weights, so all threads read them once, each its part, instead of each
 * thread all of them for lines of its own. */
static bool shares_steps(const rg_session *s, size_t lines)
{
    enum { EACH = 2 }; /* hypotheses per thread; with four small int8 models are faster the other way */
    const size_t beam = s->config->search.beam;
    return s->wide && (lines < 2 || (beam <= EACH * (size_t)s->threads / lines && lines <= s->config->batch));
}

/* Lines of like length together; the longest first, so that no thread is left with a long batch at the end. Few
 * lines are one batch, or shared out, one batch a thread. Lines with terms are among themselves: their searches record
 * attention, which takes another path with other last bits. */
static rg_status plan(rg_session *s, size_t n)
{
    by_length *key = rg_alloc_array(n, sizeof *key);
    size_t     used = 0;
    if (!key) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (s->items[i].source.count)
            key[used++] = (by_length){ s->items[i].source.count, i, s->items[i].terms.count > 0 };
    qsort(key, used, sizeof *key, longest_first);
    for (size_t i = 0; i < used; i++) s->order[i] = key[i].index;
    s->together = shares_steps(s, used);
    const size_t threads = s->together ? 1 : (size_t)s->threads, share = (used + threads - 1) / threads,
                 most = share < s->config->batch ? share : s->config->batch;
    const size_t beam = s->config->search.beam,
                 room = s->config->batch_words / (beam > 2 ? beam / 2 : 1); /* memory grows with words and beam */
    s->batches = 0;
    for (size_t i = 0, words = 0; i < used; i++) {
        span *last = s->batches ? &s->parts[s->batches - 1] : NULL;
        words += key[i].length;
        if (!last || last->count >= most || words > room || key[i].terms != key[i - 1].terms) {
            s->parts[s->batches++] = (span){ i, 0 };
            words = key[i].length;
        }
        s->parts[s->batches - 1].count++;
    }
    rg_free(key);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------- searching */

static void *copy(rg_arena *arena, const void *from, size_t bytes)
{
    void *to = from ? rg_arena_get(arena, bytes) : NULL;
    if (to) memcpy(to, from, bytes);
    return to;
}

/* The source piece that token k of an answer looked at most. */
static size_t most_attended(const rg_answer *a, size_t k)
{
    const rg_real *row = a->attention + k * a->source_length;
    size_t         best = 0;
    for (size_t j = 1; j + 1 < a->source_length; j++) /* not the closing </s> */
        if (row[j] > row[best]) best = j;
    return best;
}

/* The text of the line that source piece j stands for, without the blank before it. */
static char *source_word(rg_arena *arena, const item *it, size_t j)
{
    const rg_span part = it->spans.data[j];
    const size_t  begin = part.begin + (part.begin < part.end && it->line.data[part.begin] == ' '),
                 bytes = part.end - begin;
    char         *word = rg_arena_get_zero(arena, bytes + 1);
    if (word) memcpy(word, it->line.data + begin, bytes);
    return word;
}

/* A copied word, by its number among those of the line. */
static const char *copied(const rg_session *s, const item *it, int32_t token)
{
    const size_t V = rg_vocab_size(s->translators[0]->target);
    return (size_t)token >= V && it->words ? rg_open_words_get(it->words, (size_t)token - V) : NULL;
}

/* For every unknown word of the answer the source word it looked at; *out is NULL when there is none. */
static rg_status stand_ins(const char ***out, const int32_t **open, const rg_session *s, rg_arena *arena, rg_answer *a,
                           const item *it)
{
    const int32_t unknown = rg_vocab_unk(s->translators[0]->target);
    *out = NULL;
    for (size_t k = 0; k < a->length; k++) {
        const char *same = copied(s, it, a->tokens[k]);
        if (same && !*out && !(*out = rg_arena_get_zero(arena, a->length * sizeof **out))) return RG_ENOMEM;
        if (same && !((*out)[k] = copy(arena, same, strlen(same) + 1))) return RG_ENOMEM;
        if (same && !*open && !(*open = copy(arena, a->tokens, (a->length + 1) * sizeof *a->tokens))) return RG_ENOMEM;
        if (same) a->tokens[k] = unknown; /* outside of the vocabulary it has no piece */
        if (same || !s->config->replace_unknown || !a->attention || a->tokens[k] != unknown) continue;
        if (!*out && !(*out = rg_arena_get_zero(arena, a->length * sizeof **out))) return RG_ENOMEM;
        const char *word = source_word(arena, it, most_attended(a, k));
        const char *known = word && s->config->lexicon ? rg_lexicon_find(s->config->lexicon, word) : NULL;
        if (!((*out)[k] = known ? known : word)) return RG_ENOMEM;
    }
    return RG_OK;
}

/* Terms that their tokens do not spell: the text stands at the first of them, the others give nothing. */
static rg_status spell_terms(const char ***out, int32_t **tokens, const rg_session *s, rg_arena *arena,
                             const rg_answer *a, const item *it)
{
    const rg_vocab     *v = s->translators[0]->target;
    const rg_vocab_kind kind = rg_vocab_kind_of(v);
    const bool          marked =
        kind == RG_VOCAB_UNIGRAM || kind == RG_VOCAB_BPE || kind == RG_VOCAB_CHAR || kind == RG_VOCAB_PIECES;
    if (!it->spelts) return RG_OK;
    if (!*out && !(*out = rg_arena_get_zero(arena, (a->length + 1) * sizeof **out))) return RG_ENOMEM;
    if (!(*tokens = copy(arena, a->tokens, (a->length + 1) * sizeof *a->tokens))) return RG_ENOMEM;
    for (size_t i = 0; i < it->spelts; i++) {
        const rg_spelt *p = &it->spelt[i];
        const bool      blank = p->at && (marked || kind == RG_VOCAB_CHARACTERS || kind == RG_VOCAB_BYTES);
        const size_t    bytes = strlen(p->text) + 4;
        char           *text = rg_arena_get(arena, bytes);
        if (!text) return RG_ENOMEM;
        snprintf(text, bytes, "%s%s", blank ? (marked ? "\xe2\x96\x81" : " ") : "", p->text);
        for (size_t k = p->at; k < p->at + p->count && k < a->length; k++) {
            (*out)[k] = k == p->at ? text : NULL;
            if (k > p->at) (*tokens)[k] = rg_vocab_bos(v);
        }
    }
    return RG_OK;
}

static rg_status write_text(rg_session *s, rg_translation *b, rg_arena *arena, rg_answer *a, const item *it)
{
    rg_text      text = { 0 };
    const char **instead;
    char       **out = &b->text;
    int32_t     *tokens = a->tokens;
    b->open = NULL;
    RG_TRY(stand_ins(&instead, &b->open, s, arena, a, it));
    RG_TRY(spell_terms(&instead, &tokens, s, arena, a, it));
    b->words = instead;
    rg_status status = rg_vocab_decode_with(&text, s->translators[0]->target, tokens, a->length, instead);
    *out = status == RG_OK ? rg_arena_get(arena, text.length + 1) : NULL;
    if (status == RG_OK && !*out) status = RG_ENOMEM;
    if (status == RG_OK) memcpy(*out, rg_text_c(&text), text.length + 1);
    rg_text_free(&text);
    return status;
}

/* What unknown pieces of the source stand for; *out is NULL when all are known, or nobody asks. */
static rg_status unknown_texts(const char ***out, const rg_session *s, rg_arena *arena, const item *it)
{
    const int32_t unknown = rg_vocab_unk(s->translators[0]->source);
    *out = NULL;
    for (size_t j = 0; j < it->spans.count && j < it->source.count; j++) {
        if (it->source.data[j] != unknown) continue;
        if (!*out && !(*out = rg_arena_get_zero(arena, it->source.count * sizeof **out))) return RG_ENOMEM;
        if (!((*out)[j] = source_word(arena, it, j))) return RG_ENOMEM;
    }
    return RG_OK;
}

/* Answers live until the search's next batch: keep what is asked for. */
rg_status rg_session_keep(rg_translated *out, rg_session *s, rg_arena *arena, item *it, const rg_answers *answers)
{
    rg_answer      *kept = rg_arena_get(arena, (answers->count + 1) * sizeof *kept);
    rg_translation *best = rg_arena_get(arena, (answers->count + 1) * sizeof *best);
    if (!kept || !best) return RG_ENOMEM;
    for (size_t k = 0; k < answers->count; k++) {
        const rg_answer *a = &answers->answer[k];
        kept[k] = *a;
        kept[k].tokens = copy(arena, a->tokens, (a->length + 1) * sizeof *a->tokens);
        kept[k].word = copy(arena, a->word, (a->length + (a->cut ? 0 : 1)) * sizeof *a->word);
        kept[k].attention = copy(arena, a->attention, (a->length + 1) * a->source_length * sizeof *a->attention);
        if (!kept[k].tokens || !kept[k].word || (a->attention && !kept[k].attention)) return RG_ENOMEM;
        best[k].answer = &kept[k];
        RG_TRY(write_text(s, &best[k], arena, &kept[k], it));
    }
    const char **texts;
    RG_TRY(unknown_texts(&texts, s, arena, it));
    *out = (rg_translated){ .source_text = texts,
                            .best = best,
                            .count = answers->count,
                            .source = it->source.data,
                            .source_length = it->source.count,
                            .copies = it->words ? it->copies.data : NULL,
                            .extra = it->words ? it->extra : 0,
                            .cut = it->cut,
                            .stopped = answers->stopped };
    return RG_OK;
}

/* Nobody wants any line of the batch: it is not even encoded. */
static bool unwanted(rg_session *s, span batch)
{
    const rg_search_config *c = &s->config->search;
    for (size_t i = 0; i < batch.count; i++)
        if (!c->stop || !c->stop(c->stop_context, s->first + s->order[batch.from + i])) return false;
    for (size_t i = 0; i < batch.count; i++) {
        item *it = &s->items[s->order[batch.from + i]];
        it->result = (rg_translated){
            .source = it->source.data, .source_length = it->source.count, .cut = it->cut, .stopped = true
        };
    }
    return true;
}

static rg_search_config search_config(const rg_session *s, bool scored, bool terms)
{
    rg_search_config c = s->config->search;
    c.attention = c.attention || s->config->replace_unknown || terms; /* which place terms, too */
    if (!c.attention_name && s->translators[0]->alignment_name[0]) {
        c.attention_name = s->translators[0]->alignment_name;
        c.attention_head = s->translators[0]->alignment_head;
        c.attention_shift = s->translators[0]->alignment_shift;
    }
    c.unknown = rg_vocab_unk(s->translators[0]->target);
    if (!rg_extracts(c.extract)) memcpy(c.extract, s->translators[0]->extract, sizeof c.extract);
    if (!c.shortlist && !s->config->whole) c.shortlist = s->translators[0]->shortlist;
    c.unscored = c.unscored && !scored;
    return c;
}

rg_status rg_session_search(const rg_answers **out, rg_session *s, rg_search *search, rg_arena *arena,
                            const size_t *lines, const rg_ids *prefix, size_t n, bool scored)
{
    size_t words = 0, extra = 0;
    bool   forced = false, terms = false;
    for (size_t i = 0; i < n; i++) {
        words += s->items[lines[i]].source.count;
        terms = terms || s->items[lines[i]].terms.count;
        forced = forced || prefix[i].count;
    }
    int32_t  *start = rg_arena_get(arena, (n + 1) * sizeof *start), *ids = rg_arena_get(arena, words * sizeof *ids);
    int32_t  *copied_as = copies(s) ? rg_arena_get(arena, words * sizeof *copied_as) : NULL;
    uint64_t *number = rg_arena_get(arena, n * sizeof *number);
    if (!start || !ids || !number || (copies(s) && !copied_as)) return RG_ENOMEM;
    start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const item *it = &s->items[lines[i]];
        memcpy(ids + start[i], it->source.data, it->source.count * sizeof *ids);
        if (copied_as) memcpy(copied_as + start[i], it->copies.data, it->source.count * sizeof *ids);
        if (it->extra > extra) extra = it->extra;
        start[i + 1] = start[i] + (int32_t)it->source.count;
        number[i] = s->first + lines[i];
    }
    const rg_field source = {
        .layout = { .groups = n, .start = start }, .ids = ids, .copies = copied_as, .extra = extra
    };
    const rg_search_config config = search_config(s, scored, terms);
    return rg_search_run(out, search, &config, &source, number, forced ? prefix : NULL);
}

static rg_status search_batch(rg_session *s, rg_search *search, size_t lane, span batch)
{
    const rg_answers *answers;
    rg_arena         *arena = s->arena[lane];
    const size_t     *lines = s->order + batch.from;
    if (unwanted(s, batch)) return RG_OK;
    rg_ids *prefix = rg_arena_get(arena, batch.count * sizeof *prefix);
    if (!prefix) return RG_ENOMEM;
    for (size_t i = 0; i < batch.count; i++) prefix[i] = s->items[lines[i]].prefix;
    RG_TRY(rg_session_search(&answers, s, search, arena, lines, prefix, batch.count, false));
    for (size_t i = 0; i < batch.count; i++) {
        item *it = &s->items[lines[i]];
        RG_TRY(rg_session_keep(&it->result, s, arena, it, &answers[i]));
    }
    return s->config->glossary ? rg_session_terms(s, search, lane, lines, batch.count) : RG_OK;
}

/* One thread: take batches until there are none. */
static void work(void *context, int member, size_t begin, size_t end)
{
    rg_session *s = context;
    for (size_t lane = begin; lane < end; lane++) {
        rg_status status = RG_OK;
        for (size_t b; status == RG_OK && (b = atomic_fetch_add(&s->next, 1)) < s->batches;)
            status = search_batch(s, s->search[lane], lane, s->parts[b]);
        s->status[lane] = status;
        if (status != RG_OK) snprintf(s->message[lane], sizeof s->message[lane], "%s", rg_message());
    }
    (void)member;
}

rg_status rg_session_run(const rg_translated **out, rg_session *s, const rg_session_config *config,
                         const char *const *lines, size_t n, uint64_t first, const char *const *prefix)
{
    s->config = config;
    s->first = first;
    if (config->batch < 1 || config->max_length < 1)
        return rg_fail(RG_EINVAL, "batches of %zu lines of %zu tokens", config->batch, config->max_length);
    s->most = config->max_length;
    for (size_t i = 0; i < s->count; i++) {
        const size_t longest = s->translators[i]->model->longest;
        if (longest && s->most > longest - 1) s->most = longest - 1;
    }
    RG_TRY(make_room(s, n));
    for (int i = 0; i <= s->threads; i++) rg_arena_reset(s->arena[i]);
    for (size_t i = 0; i < n; i++) RG_TRY(encode(s, &s->items[i], lines[i], prefix ? prefix[i] : NULL,
                                                  config->glossary ? config->glossary[i] : NULL));
    RG_TRY(plan(s, n));
    if (s->together || s->batches == 1) {
        rg_search *search = s->together ? s->wide : s->search[0];
        for (size_t b = 0; b < s->batches; b++) RG_TRY(search_batch(s, search, (size_t)s->threads, s->parts[b]));
    } else if (s->batches > 1) {
        atomic_store(&s->next, 0);
        rg_team_for(s->team, (size_t)s->threads, 1, work, s);
        for (int i = 0; i < s->threads; i++)
            if (s->status[i] != RG_OK) return rg_fail(s->status[i], "%s", s->message[i]);
    }
    rg_translated *results = rg_arena_get(s->arena[s->threads], (n + 1) * sizeof *results);
    if (!results) return RG_ENOMEM;
    for (size_t i = 0; i < n; i++) results[i] = s->items[i].result;
    *out = results;
    return RG_OK;
}

char *rg_session_line(rg_session *s, const char *line)
{
    const rg_session_config config = RG_SESSION_CONFIG_DEFAULT;
    const rg_translated    *result;
    if (rg_session_run(&result, s, &config, &line, 1, 1, NULL) != RG_OK) return NULL;
    return rg_strdup(result->count ? result->best[0].text : "");
}
