/* terms.c - where a wanted term belongs in an answer that lacks it.
 *
 * A source word's translation is found by taking the word away: y_j is what translates the term x_s when
 *
 *     drop_j = log p(y_j | x, y_<j) - log p(y_j | x without x_s, y_<j)
 *
 * is large. Both come from one forced pass (rg_forced), so this works for every system and for ensembles. A noun's
 * article drops too when the noun is taken away, and the noun's own word looks at it more: where there is attention,
 * the evidence is drop_j times the weight on the term, lowered for the small words of a language that is known.
 * Tokens are taken together to words; the term replaces the word with the most evidence. A term whose word the model
 * left out (no drop) is put where the answer with it is most likely. Of several forms the one with the most likely
 * answer is taken.
 *
 * Finding translations by leaving out source words: Li, Monroe, Jurafsky 2016, "Understanding neural networks through
 * representation erasure"; Ding, Xu, Koehn 2019, "Saliency-driven word alignment interpretation for NMT". */
#include "tasks/terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "tasks/content.h"

/* Chosen on sentences of the built-in grammar, and of Multi30k. */
#define LEAST_DROP 0.5 /* nats, without attention: below this nothing in the answer translates the term             */
#define LEAST 0.05 /* the same of drop times attention: 1 nat without a look at it, half of the weight without a drop */
#define SOME_DROP 0.1  /* added to the drop: a word that the rest of the source gives away drops by nothing          */
#define SOME_SEEN 0.05 /* added to the weight: a head that looks elsewhere does not rule a word out                  */
#define MOST_SEEN 0.5  /* weight of a word behind the first that belongs to the same translation                     */
#define SMALL_WORD 0.1 /* factor on the evidence of articles, prepositions and signs for a term that is none    */
#define SHARE 0.3      /* of the most evidence that a word in front of it needs to belong to the same translation    */
#define SHARE_DROP 0.7 /* the same without attention                                                                 */

/* ------------------------------------------------------------------------------------------------------- pieces */

rg_status rg_terms_pieces(rg_line_term **out, size_t *out_count, rg_arena *arena, const rg_terms *terms,
                          const rg_vocab *vocab, const rg_spans *spans, size_t pieces)
{
    rg_line_term *list = rg_arena_get(arena, (terms->count + 1) * sizeof *list);
    rg_text       normal = { 0 };
    rg_status     status = list ? RG_OK : RG_ENOMEM;
    *out = list;
    *out_count = 0;
    for (size_t i = 0; status == RG_OK && i < terms->count;
         i++) { /* what a beginning of the line becomes is as long as the line's */
        const rg_term *t = &terms->term[i];
        size_t         from = 0, to;
        rg_text_clear(&normal);
        status = rg_vocab_normalize(&normal, vocab, terms->line.data, t->begin);
        const size_t begin = normal.length;
        rg_text_clear(&normal);
        if (status == RG_OK) status = rg_vocab_normalize(&normal, vocab, terms->line.data, t->end);
        while (from < spans->count &&
               spans->data[from].end <= begin + (begin && t->begin && terms->line.data[t->begin - 1] == ' '))
            from++;
        for (to = from; to < spans->count && spans->data[to].begin < normal.length;) to++;
        if (status == RG_OK && to > from && to <= pieces) list[(*out_count)++] = (rg_line_term){ t, from, to };
    }
    rg_text_free(&normal);
    return status;
}

static bool has_letter(const char *text)
{
    uint32_t c;
    for (size_t n = strlen(text); n;) {
        const size_t              step = rg_utf8_next(&c, text, n);
        const utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)c);
        if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO) return true;
        text += step;
        n -= step;
    }
    return false;
}

static bool begins_with(const char *text, const char *mark) { return strncmp(text, mark, strlen(mark)) == 0; }

static bool has_blank(const char *piece)
{
    static const char *const blanks[] = { "\xe2\x96\x81", "\xc4\xa0", " " }; /* SentencePiece, GPT-2, characters */
    for (size_t k = 0; k < sizeof blanks / sizeof *blanks; k++)
        if (begins_with(piece, blanks[k])) return true;
    return false;
}

static bool whole_words(rg_vocab_kind kind)
{
    return kind == RG_VOCAB_WORDS || kind == RG_VOCAB_TOKENS || kind == RG_VOCAB_WORD;
}

/* Would token i become a part of a word that stood right before it? */
static bool continues(const rg_vocab *v, const int32_t *ids, size_t i)
{
    const char         *piece = rg_vocab_piece(v, ids[i]);
    const rg_vocab_kind kind = rg_vocab_kind_of(v);
    if (whole_words(kind) || rg_vocab_is_special(v, ids[i])) return ids[i] == rg_vocab_unk(v) && !whole_words(kind);
    return kind == RG_VOCAB_WORDPIECE ? begins_with(piece, "##") : !has_blank(piece) && has_letter(piece);
}

/* Does a word, or a sign between words, begin at token i? An apostrophe belongs to what is in front of it. */
static bool begins(const rg_vocab *v, const int32_t *ids, size_t i)
{
    const char         *piece = rg_vocab_piece(v, ids[i]), *before = i ? rg_vocab_piece(v, ids[i - 1]) : "";
    const rg_vocab_kind kind = rg_vocab_kind_of(v);
    if (!i || whole_words(kind) || rg_vocab_is_special(v, ids[i])) return true;
    if (kind == RG_VOCAB_WORDPIECE) return !begins_with(piece, "##");
    if (has_blank(piece)) return true;
    if (strcmp(before, "\xe2\x96\x81") == 0 || strcmp(before, " ") == 0)
        return false; /* the blank was a piece of its own */
    if (strcmp(piece, "'") == 0 || strcmp(piece, "\xe2\x80\x99") == 0) return false;
    if (begins_with(piece, "-") || (*before && before[strlen(before) - 1] == '-'))
        return false; /* T-Shirt is one word */
    return !has_letter(piece) || !has_letter(before);
}

/* The tokens of a form: at the beginning of an answer, or behind other words. */
static rg_status encode_form(rg_ids *out, const rg_vocab *v, const char *form, bool first)
{
    rg_ids    one = { 0 }, all = { 0 };
    rg_text   text = { 0 };
    rg_status status = rg_text_print(&text, first ? "%s" : "a %s", form);
    if (status == RG_OK) status = rg_vocab_encode(&all, NULL, v, rg_text_c(&text), text.length);
    if (status == RG_OK && !first) status = rg_vocab_encode(&one, NULL, v, "a", 1);
    const size_t skip = first ? (size_t)(rg_vocab_begin(v) >= 0) : one.count;
    for (size_t i = skip; status == RG_OK && i < all.count; i++) status = rg_ids_add(out, all.data[i]);
    rg_ids_free(&one);
    rg_ids_free(&all);
    rg_text_free(&text);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- scoring */

typedef struct { /* a source and an answer, </s> added to it */
    const int32_t *source, *target;
    size_t         sources, targets;
} pair;

/* log p of every token of the answers, one pair after another; borrowed until the next pass. */
static rg_status score(const double **out, rg_arena *arena, rg_forced *forced, const rg_translator *t,
                       const pair *pairs, size_t n, uint64_t number)
{
    const int32_t eos = rg_vocab_eos(t->target), bos = rg_vocab_bos(t->target), unknown = rg_vocab_unk(t->target);
    size_t        sources = 0, targets = 0;
    for (size_t i = 0; i < n; i++) sources += pairs[i].sources, targets += pairs[i].targets + 1;
    int32_t *source = rg_arena_get(arena, (sources + 1) * sizeof *source),
            *target = rg_arena_get(arena, targets * sizeof *target),
            *previous = rg_arena_get(arena, targets * sizeof *previous);
    int32_t *source_start = rg_arena_get(arena, (n + 1) * sizeof *source_start),
            *target_start = rg_arena_get(arena, (n + 1) * sizeof *target_start);
    uint64_t *lines = rg_arena_get(arena, n * sizeof *lines);
    if (!source || !target || !previous || !source_start || !target_start || !lines) return RG_ENOMEM;
    source_start[0] = target_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t *to = target + target_start[i], *before = previous + target_start[i];
        memcpy(source + source_start[i], pairs[i].source, pairs[i].sources * sizeof *source);
        for (size_t k = 0; k <= pairs[i].targets; k++) {
            const bool known = k < pairs[i].targets && (size_t)pairs[i].target[k] < rg_vocab_size(t->target);
            to[k] = k == pairs[i].targets ? eos
                    : known               ? pairs[i].target[k]
                                          : unknown; /* a copied word is unknown here */
            before[k] = k ? to[k - 1] : bos;
        }
        source_start[i + 1] = source_start[i] + (int32_t)pairs[i].sources;
        target_start[i + 1] = target_start[i] + (int32_t)pairs[i].targets + 1;
        lines[i] = number + 1;
    }
    const rg_batch batch = { .examples = n,
                             .fields = 2,
                             .field = { [RG_SOURCE] = { .layout = { .groups = n, .start = source_start },
                                                        .ids = source },
                                        [RG_TARGET] = { .layout = { .groups = n, .start = target_start },
                                                        .ids = target,
                                                        .previous = previous } },
                             .lines = lines };
    return rg_forced_run(out, forced, &batch);
}

/* log p of the answer with `tokens` in place of answer[at .. next). */
static rg_status pair_with(pair *out, rg_arena *arena, const rg_lacking *l, size_t at, size_t next,
                           const rg_ids *tokens)
{
    const size_t n = at + tokens->count + (l->length - next);
    int32_t     *target = rg_arena_get(arena, (n + 1) * sizeof *target);
    if (!target) return RG_ENOMEM;
    if (at) memcpy(target, l->answer, at * sizeof *target);
    if (tokens->count) memcpy(target + at, tokens->data, tokens->count * sizeof *target);
    if (l->length > next) memcpy(target + at + tokens->count, l->answer + next, (l->length - next) * sizeof *target);
    *out = (pair){ l->source, target, l->source_length, n };
    return RG_OK;
}

/* Which of n pairs is the most likely. */
static rg_status likeliest(size_t *out, rg_arena *arena, rg_forced *forced, const rg_translator *t, const pair *pairs,
                           size_t n, uint64_t number)
{
    const double *word;
    double        best = 0;
    *out = 0;
    RG_TRY(score(&word, arena, forced, t, pairs, n, number));
    for (size_t i = 0; i < n; i++) {
        double log_p = 0;
        for (size_t k = 0; k <= pairs[i].targets; k++) log_p += *word++;
        if (!i || log_p > best) best = log_p, *out = i;
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- placing */

/* Where words of answer[kept .. length) begin; word[count] is the end. */
static size_t cut_words(size_t *word, const rg_vocab *v, const rg_lacking *l)
{
    size_t count = 0;
    for (size_t i = l->kept; i < l->length; i++)
        if (i == l->kept || begins(v, l->answer, i)) word[count++] = i;
    word[count] = l->length;
    return count;
}

/* Words of the source that a term has. */
static size_t words_of(const rg_vocab *v, const rg_lacking *l, const rg_line_term *term)
{
    size_t n = 0;
    for (size_t i = term->from; i < term->to; i++) n += i == term->from || begins(v, l->source, i);
    return n;
}

/* The source without the pieces of a term; one unknown piece when nothing is left. */
static rg_status without(pair *out, rg_arena *arena, const rg_translator *t, const rg_lacking *l,
                         const rg_line_term *term)
{
    const size_t behind = l->source_length - term->to;
    int32_t     *source = rg_arena_get(arena, (l->source_length + 1) * sizeof *source);
    if (!source) return RG_ENOMEM;
    if (term->from) memcpy(source, l->source, term->from * sizeof *source);
    if (behind) memcpy(source + term->from, l->source + term->to, behind * sizeof *source);
    *out = (pair){ source, l->answer, term->from + behind, l->length };
    if (!out->sources) source[out->sources++] = rg_vocab_unk(t->source);
    return RG_OK;
}

/* How much word[0] .. word[1] - 1 of the answer looked at the term: of its tokens the one that did most. */
static double attended(const rg_lacking *l, const rg_line_term *term, const size_t *word)
{
    double most = 0;
    for (size_t k = word[0]; k < word[1]; k++) {
        double sum = 0;
        for (size_t j = term->from; j < term->to; j++) sum += (double)l->attention[k * l->source_length + j];
        if (sum > most) most = sum;
    }
    return most;
}

/* Evidence that a word of the answer translates a term: drop, times attention where there is one. */
static double evidence_of(const double *with, const double *less, const rg_lacking *l, const rg_line_term *term,
                          const size_t *word)
{
    double drop = 0;
    for (size_t k = word[0]; k < word[1]; k++) drop += with[k] - less[k];
    return l->attention ? (SOME_DROP + fmax(drop, 0)) * (SOME_SEEN + attended(l, term, word)) : drop;
}

/* out[i]: one of pieces from .. to - 1 belongs to a content word; the language is the one a model file names. */
static rg_status mark(bool **out, rg_arena *arena, const rg_translator *t, int side, const int32_t *ids, size_t n)
{
    char language[3] = "";
    snprintf(language, sizeof language, "%.2s", rg_translator_language(t, side)); /* pt-BR: pt */
    if (!(*out = rg_arena_get_zero(arena, n + 1))) return RG_ENOMEM;
    return rg_content_mark(*out, *language ? language : NULL, side ? t->target : t->source, ids, n);
}

static bool any(const bool *mark, size_t from, size_t to)
{
    while (from < to && !mark[from]) from++;
    return from < to;
}

/* Articles and prepositions change with the word they stand by, and are no translation of a content word. */
static rg_status lower_small_words(double *evidence, rg_arena *arena, const rg_translator *t, const rg_lacking *l,
                                   const size_t *word, size_t words)
{
    bool *source, *target;
    RG_TRY(mark(&source, arena, t, 0, l->source, l->source_length));
    RG_TRY(mark(&target, arena, t, 1, l->answer, l->length));
    for (size_t i = 0; i < l->terms; i++)
        for (size_t k = 0; any(source, l->term[i].from, l->term[i].to) && k < words; k++)
            if (!any(target, word[k], word[k + 1])) evidence[i * words + k] *= SMALL_WORD;
    return RG_OK;
}

/* The word of the answer with the most evidence among those that are `open`; `words` if there is none. */
static size_t translated_by(double *out_most, const double *evidence, const bool *taken, size_t words)
{
    size_t best = words;
    for (size_t i = 0; i < words; i++)
        if (!taken[i] && evidence[i] > *out_most) *out_most = evidence[i], best = i;
    return best;
}

/* A term of several words may be translated by several, some of them in front of the one with the most evidence, with
 * at most one in between ("porc de Guinée"). */
static size_t first_of(const double *evidence, double share, size_t best, size_t term_words)
{
    size_t first = best;
    for (size_t i = best; i > 0 && first - i < 2 && best - i + 1 < term_words; i--)
        if (evidence[i - 1] >= share * evidence[best]) first = i - 1;
    return first;
}

/* An adjective can have more evidence than the noun behind it, which looks at the term more: "kleiner Junge" of boy. */
static size_t on_to_noun(const rg_lacking *l, const rg_line_term *term, const size_t *word, size_t words, size_t first)
{
    while (l->attention && first + 1 < words && attended(l, term, word + first + 1) > MOST_SEEN &&
           attended(l, term, word + first + 1) > attended(l, term, word + first))
        first++;
    return first;
}

/* The word behind the translation that begins with `first`: the words that follow it and look at the term above all,
 * such as the rest of "cochon d'Inde", which is likely without its source, belong to it. */
static size_t end_of(const rg_vocab *v, const rg_lacking *l, const rg_line_term *term, const size_t *word, size_t words,
                     size_t first)
{
    size_t end = first + 1;
    while (l->attention && end < words && attended(l, term, word + end) > MOST_SEEN) end++;
    while (end < words && continues(v, l->answer, word[end])) end++;
    return end;
}

/* A term that nothing translates: in front of the word, or behind the last, where it is most likely. */
static rg_status insert(rg_placement *p, rg_arena *arena, rg_forced *forced, const rg_translator *t,
                        const rg_lacking *l, const size_t *word, size_t words)
{
    rg_ids    tokens = { 0 };
    size_t    best = 0, n = 0;
    size_t   *place = rg_arena_get(arena, (words + 1) * sizeof *place);
    pair     *pairs = rg_arena_get(arena, (words + 1) * sizeof *pairs);
    rg_status status =
        pairs ? encode_form(&tokens, t->target, rg_term_form(l->term[p->term].term, 0), false) : RG_ENOMEM;
    if (!place) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i <= words; i++) {
        if (i < words && continues(t->target, l->answer, word[i])) continue;
        place[n] = word[i];
        status = pair_with(&pairs[n++], arena, l, word[i], word[i], &tokens);
    }
    if (status == RG_OK && n > 1) status = likeliest(&best, arena, forced, t, pairs, n, l->number);
    if (status == RG_OK) p->at = p->next = place[best];
    rg_ids_free(&tokens);
    return status;
}

/* Does the answer itself begin with a capital that the form lacks? */
static rg_status form_text(const char **out, rg_arena *arena, const rg_translator *t, const rg_lacking *l, size_t at,
                           const char *form)
{
    rg_text    own = { 0 }, capital = { 0 }, same = { 0 };
    rg_status  status = RG_OK;
    const bool first = at == 0 || (at == 1 && rg_vocab_is_special(t->target, l->answer[0]));
    *out = form;
    if (first) status = rg_vocab_decode(&own, t->target, l->answer, l->length);
    if (first && status == RG_OK) status = rg_text_lower(&same, rg_text_c(&own), own.length);
    uint32_t a = 0, b = 0;
    if (own.length && same.length) rg_utf8_next(&a, own.data, own.length), rg_utf8_next(&b, same.data, same.length);
    if (status == RG_OK && a != b) {
        char *copy = NULL;
        status = rg_term_capital(&capital, form);
        if (status == RG_OK && !(copy = rg_arena_get(arena, capital.length + 1))) status = RG_ENOMEM;
        if (copy) memcpy(copy, rg_text_c(&capital), capital.length + 1), *out = copy;
    }
    rg_text_free(&own);
    rg_text_free(&capital);
    rg_text_free(&same);
    return status;
}

/* Whether the tokens spell the form is asked of the vocabulary: unknown characters, a vocabulary in lower case. */
static rg_status spells(bool *out, const rg_vocab *v, const rg_ids *tokens, const char *form)
{
    rg_text   text = { 0 };
    rg_status status = rg_vocab_decode(&text, v, tokens->data, tokens->count);
    if (status == RG_OK) rg_text_squeeze(&text);
    *out = status == RG_OK && strcmp(rg_text_c(&text), form) == 0;
    rg_text_free(&text);
    return status;
}

/* The form with the likeliest answer, as tokens. */
static rg_status choose_form(rg_placement *p, rg_arena *arena, rg_forced *forced, const rg_translator *t,
                             const rg_lacking *l)
{
    const rg_term *term = l->term[p->term].term;
    rg_ids         tokens[RG_GLOSSARY_FORMS] = { { 0 } };
    pair           pairs[RG_GLOSSARY_FORMS];
    const char    *text[RG_GLOSSARY_FORMS] = { "" };
    size_t         best = 0;
    rg_status      status = RG_OK;
    const bool     first = p->at == 0 || (p->at == 1 && rg_vocab_begin(t->target) >= 0);
    for (size_t k = 0; status == RG_OK && k < term->count; k++) {
        status = form_text(&text[k], arena, t, l, p->at, rg_term_form(term, k));
        if (status == RG_OK) status = encode_form(&tokens[k], t->target, text[k], first);
        if (status == RG_OK) status = pair_with(&pairs[k], arena, l, p->at, p->next, &tokens[k]);
    }
    if (status == RG_OK && term->count > 1) status = likeliest(&best, arena, forced, t, pairs, term->count, l->number);
    bool same = false;
    if (status == RG_OK) status = spells(&same, t->target, &tokens[best], text[best]);
    if (status == RG_OK && !(p->tokens = rg_arena_get(arena, (tokens[best].count + 1) * sizeof *p->tokens)))
        status = RG_ENOMEM;
    if (status == RG_OK) {
        if (tokens[best].count) memcpy(p->tokens, tokens[best].data, tokens[best].count * sizeof *p->tokens);
        p->count = tokens[best].count;
        p->text = text[best];
        p->spelt = !same;
        for (size_t i = 0; i < p->count; i++) p->unknown = p->unknown || p->tokens[i] == rg_vocab_unk(t->target);
    }
    for (size_t k = 0; k < term->count; k++) rg_ids_free(&tokens[k]);
    return status;
}

/* Each term gets a word of its own, the clearest pair of both first; the leftmost of these words is placed now. */
static size_t leftmost(size_t *out_term, bool *taken, bool *done, const rg_lacking *l, const double *evidence,
                       size_t words, const rg_vocab *source)
{
    size_t first = words;
    for (size_t round = 0; round < l->terms; round++) {
        size_t term = l->terms, word = words;
        double most = l->attention ? LEAST : LEAST_DROP;
        for (size_t i = 0; i < l->terms; i++) {
            const size_t at = done[i] ? words : translated_by(&most, evidence + i * words, taken, words);
            if (at < words) term = i, word = at;
        }
        if (term == l->terms) break;
        const size_t begin = first_of(evidence + term * words, l->attention ? SHARE : SHARE_DROP, word,
                                      words_of(source, l, &l->term[term]));
        done[term] = true;
        for (size_t k = begin; k <= word; k++) taken[k] = true;
        if (begin < first) first = begin, *out_term = term;
    }
    return first;
}

rg_status rg_terms_place(rg_placement *out, rg_arena *arena, rg_forced *forced, const rg_translator *t,
                         const rg_lacking *l)
{
    const double *log_p;
    size_t       *word = rg_arena_get(arena, (l->length + 2) * sizeof *word);
    pair         *pairs = rg_arena_get(arena, (l->terms + 1) * sizeof *pairs);
    if (!word || !pairs) return RG_ENOMEM;
    const size_t words = cut_words(word, t->target, l);
    double      *evidence = rg_arena_get(arena, (l->terms * words + 1) * sizeof *evidence);
    bool        *taken = rg_arena_get_zero(arena, words + 1), *done = rg_arena_get_zero(arena, l->terms + 1);
    if (!evidence || !taken || !done) return RG_ENOMEM;
    pairs[0] = (pair){ l->source, l->answer, l->source_length, l->length };
    for (size_t i = 0; i < l->terms; i++) RG_TRY(without(&pairs[i + 1], arena, t, l, &l->term[i]));
    RG_TRY(score(&log_p, arena, forced, t, pairs, l->terms + 1, l->number));
    for (size_t i = 0; i < l->terms; i++)
        for (size_t k = 0; k < words; k++)
            evidence[i * words + k] = evidence_of(log_p, log_p + (i + 1) * (l->length + 1), l, &l->term[i], word + k);
    RG_TRY(lower_small_words(evidence, arena, t, l, word, words));
    *out = (rg_placement){ .term = 0 };
    size_t first = leftmost(&out->term, taken, done, l, evidence, words, t->source);
    if (first < words) {
        const rg_line_term *term = &l->term[out->term];
        if (words_of(t->source, l, term) == 1) first = on_to_noun(l, term, word, words, first);
        out->at = word[first];
        out->next = word[end_of(t->target, l, term, word, words, first)];
    } else {
        RG_TRY(insert(out, arena, forced, t, l, word, words));
    }
    return choose_form(out, arena, forced, t, l);
}
