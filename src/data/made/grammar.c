/* grammar.c - writes a sentence as a small tree, then says it in English and in French.
 *
 *   sentence   subject [adverb] verb [object] [place]        present or future, plain or negated
 *   subject    I | he | she | we | noun phrase [that verb] | noun phrase and noun phrase
 *   noun phrase   determiner [adjective] [adjective] noun [of noun phrase]
 *
 * English is said first and every part remembers the numbers of its words; the French words name them as their
 * links. */
#include "regard/grammar.h"

#include <string.h>

#include "data/made/grammar_words.h"
#include "data/text/words.h"

enum { MOST_WORDS = 40, MOST_LINKS = 4, LONGEST = 14, SHORTEST = 3, NONE = -1 };

/* Words said, and for French which English words they stand for. */
typedef struct speech {
    const char *word[MOST_WORDS];
    int         link[MOST_WORDS][MOST_LINKS], links[MOST_WORDS];
    int         count;
} speech;

typedef enum determiner { THE, A, SOME, ANY_OF, THIS, MY, HIS, HER, OUR, TWO, THREE } determiner;

typedef struct phrase {
    determiner          det;
    const rg_noun      *noun;
    const rg_adjective *before, *after; /* in French; NULL: none */
    bool                plural;
    const rg_verb      *that; /* relative clause: that sleeps */
    int                 at_det, at_before, at_after, at_noun, at_that, at_that_verb;
} phrase;

typedef struct place { /* preposition and noun phrase */
    const rg_preposition *preposition;
    phrase                phrase;
    int                   at, count; /* English words of the preposition */
} place;

typedef struct sentence {
    const char   *pronoun; /* English; NULL: phrases */
    int           person;  /* of the verb */
    bool          feminine, plural;
    phrase        subject, second;
    bool          two; /* subject and second */
    const rg_verb      *verb;
    const rg_adjective *predicate;
    bool          future, negated, has_object, has_place, has_owner;
    const rg_adverb *adverb;
    phrase        object;
    place         owner, where; /* owner: "of the king" after the subject or object */
    bool          owner_of_object;
    int           at_subject, at_and, at_helper, at_not, at_adverb, at_verb, at_particle, at_predicate;
} sentence;

struct rg_grammar {
    rg_random random;
    rg_words  seen;
    rg_text   english, french, links;
};

/* ------------------------------------------------------------------------------------------------------ choosing */

static size_t pick(rg_random *r, size_t bound)
{
    return (size_t)rg_random_below(r, bound);
}

static bool chance(rg_random *r, unsigned percent)
{
    return pick(r, 100) < percent;
}

static const rg_noun *choose_noun(rg_random *r, unsigned sorts)
{
    const rg_noun *noun;
    do noun = &rg_nouns[pick(r, rg_noun_count)];
    while (!(noun->sort & sorts));
    return noun;
}

/* One that suits the noun. */
static const rg_adjective *choose_adjective(rg_random *r, const rg_noun *noun, bool before)
{
    const rg_adjective *adjective;
    do adjective = &rg_adjectives[pick(r, rg_adjective_count)];
    while (adjective->before != before || !(adjective->suits & noun->sort));
    return adjective;
}

/* `indefinite` allows some, two, three: not after a preposition, to keep "de" + "des" out. */
static phrase choose_phrase(rg_random *r, unsigned sorts, bool indefinite)
{
    static const determiner singular[] = { THE, THE, THE, A, A, THIS, MY, HIS, HER, OUR };
    static const determiner plural[] = { THE, THE, THE, THIS, MY, HIS, HER, OUR, TWO, THREE, SOME, SOME };
    phrase p = { .noun = choose_noun(r, sorts), .plural = chance(r, 35) };
    p.det = p.plural ? plural[pick(r, indefinite ? 12 : 8)] : singular[pick(r, 10)];
    if (chance(r, 30)) p.before = choose_adjective(r, p.noun, true);
    if (chance(r, p.before ? 30 : 35)) p.after = choose_adjective(r, p.noun, false);
    return p;
}

static const rg_preposition *choose_preposition(rg_random *r, const rg_verb *verb)
{
    for (;;) {
        const rg_preposition *p = &rg_prepositions[pick(r, rg_preposition_count)];
        bool goes = verb == &rg_verb_go, of = strcmp(p->en[0], "of") == 0, pour = strcmp(p->en[0], "for") == 0;
        bool to = p->kind == PREPOSITION_A, from = strcmp(p->en[0], "from") == 0;
        if (of || to != goes) continue;
        if (from && strcmp(verb->en, "arrives") != 0) continue;
        if (pour && !(verb->takes & WORD_THING)) continue;
        return p;
    }
}

static place choose_place(rg_random *r, const rg_verb *verb)
{
    place p = { .preposition = choose_preposition(r, verb) };
    p.phrase = choose_phrase(r, p.preposition->takes, false);
    return p;
}

static const rg_verb *choose_verb(rg_random *r, bool with_object)
{
    const rg_verb *verb;
    do verb = &rg_verbs[pick(r, rg_verb_count)];
    while ((verb->takes != 0) != with_object);
    return verb;
}

static void choose_subject(sentence *s, rg_random *r)
{
    static const struct { const char *word; int person; bool feminine, plural; } pronouns[] = {
        { "i", PERSON_I, false, false }, { "he", PERSON_IT, false, false }, { "she", PERSON_IT, true, false },
        { "we", PERSON_WE, false, true },
    };
    if (chance(r, 25)) {
        size_t i = pick(r, 4);
        s->pronoun = pronouns[i].word;
        s->person = pronouns[i].person;
        s->feminine = pronouns[i].feminine;
        s->plural = pronouns[i].plural;
        return;
    }
    s->subject = choose_phrase(r, WORD_LIVING, true);
    s->two = chance(r, 12);
    if (s->two) s->second = choose_phrase(r, WORD_LIVING, true);
    else if (chance(r, 12)) s->subject.that = choose_verb(r, false);
    s->plural = s->two || s->subject.plural;
    s->feminine = s->subject.noun->feminine && (!s->two || s->second.noun->feminine);
    s->person = s->plural ? PERSON_THEY : PERSON_IT;
}

/* The man and the dog are tired: it must suit both. */
static const rg_adjective *choose_predicate(rg_random *r, const sentence *s)
{
    unsigned first = s->pronoun ? WORD_PERSON : s->subject.noun->sort, second = s->two ? s->second.noun->sort : first;
    const rg_adjective *adjective;
    do adjective = &rg_adjectives[pick(r, rg_adjective_count)];
    while (!(adjective->suits & first) || !(adjective->suits & second));
    return adjective;
}

static void choose_rest(sentence *s, rg_random *r)
{
    size_t kind = pick(r, 100);
    bool   third = s->person == PERSON_IT || s->person == PERSON_THEY;
    s->future = third && chance(r, 20); /* in the first person its many forms would each be too rare to learn */
    s->negated = chance(r, 22);
    if (!s->negated && chance(r, 15)) s->adverb = &rg_adverbs[pick(r, rg_adverb_count)];
    if (kind < 15) {
        s->verb = &rg_verb_be;
        if (third && chance(r, 65)) s->predicate = choose_predicate(r, s);
        else s->has_place = true;
    } else if (kind < 25) {
        s->verb = &rg_verb_go;
        s->has_place = true;
    } else {
        s->has_object = kind >= 45;
        s->verb = choose_verb(r, s->has_object);
        s->has_place = chance(r, s->has_object ? 25 : 55) || strcmp(s->verb->en, "lives") == 0;
    }
    if (s->has_object) {
        s->object = choose_phrase(r, s->verb->takes, true);
        if (s->negated && s->object.det == SOME) s->object.det = ANY_OF;
    }
    if (s->has_place) s->where = choose_place(r, s->verb);
    if (!s->pronoun && !s->two && !s->subject.that && chance(r, 10)) s->has_owner = true;
    else if (s->has_object && chance(r, 10)) s->has_owner = s->owner_of_object = true;
    if (s->has_owner) {
        s->owner.preposition = rg_prepositions;
        for (size_t i = 0; i < rg_preposition_count; i++)
            if (strcmp(rg_prepositions[i].en[0], "of") == 0) s->owner.preposition = &rg_prepositions[i];
        s->owner.phrase = choose_phrase(r, WORD_LIVING, false);
    }
}

/* -------------------------------------------------------------------------------------------------------- English */

static int say(speech *out, const char *word)
{
    if (out->count < MOST_WORDS) out->word[out->count] = word;
    return out->count < MOST_WORDS ? out->count++ : out->count - 1;
}

static const char *english_determiner(const phrase *p)
{
    static const char *const words[] = { "the", "a", "some", "any", "this", "my", "his", "her", "our", "two", "three" };
    const char *next = p->before ? p->before->en : p->after ? p->after->en : p->noun->en;
    if (p->det == A && strchr("aeiou", next[0])) return "an";
    return p->det == THIS && p->plural ? "these" : words[p->det];
}

static void english_phrase(speech *out, phrase *p)
{
    p->at_det = say(out, english_determiner(p));
    if (p->before) p->at_before = say(out, p->before->en);
    if (p->after) p->at_after = say(out, p->after->en);
    p->at_noun = say(out, p->plural ? p->noun->en_plural : p->noun->en);
    if (!p->that) return;
    p->at_that = say(out, "that");
    p->at_that_verb = say(out, p->plural ? p->that->en_base : p->that->en);
}

static void english_place(speech *out, place *p)
{
    p->at = say(out, p->preposition->en[0]);
    if (p->preposition->en[1]) say(out, p->preposition->en[1]);
    p->count = p->preposition->en[1] ? 2 : 1;
    english_phrase(out, &p->phrase);
}

static const char *english_be(const sentence *s)
{
    return s->person == PERSON_I ? "am" : s->plural ? "are" : "is";
}

static void english_verb(speech *out, sentence *s)
{
    bool be = s->verb == &rg_verb_be, singular = s->person == PERSON_IT;
    s->at_helper = s->at_not = s->at_adverb = s->at_particle = NONE;
    if (s->future) s->at_helper = say(out, "will");
    else if (s->negated && !be) s->at_helper = say(out, singular ? "does" : "do");
    else if (be) s->at_verb = say(out, english_be(s));
    if (s->negated) s->at_not = say(out, "not");
    if (s->adverb) s->at_adverb = say(out, s->adverb->en);
    if (s->future || !be) {
        bool base = s->at_helper != NONE || !singular;
        s->at_verb = say(out, be ? "be" : base ? s->verb->en_base : s->verb->en);
    }
    if (s->verb->en_particle) s->at_particle = say(out, s->verb->en_particle);
}

static void english(speech *out, sentence *s)
{
    if (s->pronoun) {
        s->at_subject = say(out, s->pronoun);
    } else {
        english_phrase(out, &s->subject);
        if (s->has_owner && !s->owner_of_object) english_place(out, &s->owner);
        if (s->two) {
            s->at_and = say(out, "and");
            english_phrase(out, &s->second);
        }
    }
    english_verb(out, s);
    if (s->predicate) s->at_predicate = say(out, s->predicate->en);
    if (s->has_object) english_phrase(out, &s->object);
    if (s->has_owner && s->owner_of_object) english_place(out, &s->owner);
    if (s->has_place) english_place(out, &s->where);
}

/* --------------------------------------------------------------------------------------------------------- French */

static void link_to(speech *out, int word, int english_word)
{
    if (english_word != NONE && out->links[word] < MOST_LINKS) out->link[word][out->links[word]++] = english_word;
}

static int say_for(speech *out, const char *word, int english_word)
{
    int i = say(out, word);
    link_to(out, i, english_word);
    return i;
}

/* Does the word before it lose its vowel? h counts as a vowel here; words with a closed h say so. */
static bool elides(const char *word)
{
    static const char *const letters[] = { "a", "e", "i", "o", "u", "h", "à", "â", "è", "é", "ê", "î", "ô", "û", "œ" };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strncmp(word, letters[i], strlen(letters[i])) == 0) return true;
    return false;
}

static const char *agree(const rg_adjective *a, bool feminine, bool plural)
{
    if (plural) return feminine ? a->f_plural : a->m_plural;
    return feminine ? a->f : a->m;
}

static bool noun_elides(const phrase *p)
{
    return elides(p->noun->fr) && !p->noun->closed;
}

/* The adjective before the noun: un vieil homme, un bel arbre. */
static const char *french_before(const phrase *p)
{
    bool special = p->before->m_vowel && !p->noun->feminine && !p->plural && noun_elides(p);
    return special ? p->before->m_vowel : agree(p->before, p->noun->feminine, p->plural);
}

static const char *french_determiner(const phrase *p, bool vowel)
{
    bool f = p->noun->feminine;
    switch (p->det) {
    case THE: return p->plural ? "les" : vowel ? "l'" : f ? "la" : "le";
    case A: return f ? "une" : "un";
    case SOME: return !p->before ? "des" : vowel ? "d'" : "de"; /* de petits chats */
    case ANY_OF: return vowel ? "d'" : "de";
    case THIS: return p->plural ? "ces" : f ? "cette" : vowel ? "cet" : "ce";
    case MY: return p->plural ? "mes" : f && !vowel ? "ma" : "mon"; /* mon école */
    case HIS:
    case HER: return p->plural ? "ses" : f && !vowel ? "sa" : "son";
    case OUR: return p->plural ? "nos" : "notre";
    case TWO: return "deux";
    case THREE: break;
    }
    return "trois";
}

/* "à" or "de" and the article: au, aux, du, des; à l', de la; d'un. */
static void french_contract(speech *out, const phrase *p, bool vowel, int kind, const place *where)
{
    bool        de = kind == PREPOSITION_DE, f = p->noun->feminine;
    const char *melted = p->det != THE ? NULL : p->plural ? (de ? "des" : "aux") : vowel || f ? NULL : de ? "du" : "au";
    int         first = say(out, melted ? melted : de && p->det == A ? "d'" : de ? "de" : "à");
    for (int i = 0; i < where->count; i++) link_to(out, first, where->at + i);
    if (melted) link_to(out, first, p->at_det);
    else say_for(out, french_determiner(p, vowel), p->at_det);
}

static void french_phrase(speech *out, const phrase *p, int kind, const place *where, bool denied)
{
    bool vowel = p->before ? elides(french_before(p)) : noun_elides(p);
    if (kind != PREPOSITION_PLAIN) french_contract(out, p, vowel, kind, where);
    else if (denied && p->det == A) say_for(out, vowel ? "d'" : "de", p->at_det); /* il ne voit pas de chat */
    else say_for(out, french_determiner(p, vowel), p->at_det);
    if (p->before) say_for(out, french_before(p), p->at_before);
    say_for(out, p->plural ? p->noun->fr_plural : p->noun->fr, p->at_noun);
    if (p->after) say_for(out, agree(p->after, p->noun->feminine, p->plural), p->at_after);
    if (!p->that) return;
    say_for(out, "qui", p->at_that);
    say_for(out, p->that->fr[p->plural ? PERSON_THEY : PERSON_IT], p->at_that_verb);
}

static void french_place(speech *out, const place *p)
{
    for (int i = 0; i < 2 && p->preposition->fr[i]; i++) say_for(out, p->preposition->fr[i], p->at);
    french_phrase(out, &p->phrase, p->preposition->kind, p, false);
}

/* ends: room for future forms, kept by the caller while the words are in use. */
static void french_verb(speech *out, const sentence *s, char room[32])
{
    static const char *const endings[PERSONS] = { "ai", "a", "ons", "ont" };
    const char *form = s->verb->fr[s->person];
    if (s->future) {
        snprintf(room, 32, "%s%s", s->verb->future, endings[s->person]);
        form = room;
    }
    if (s->person == PERSON_I) say_for(out, !s->negated && elides(form) ? "j'" : "je", s->at_subject);
    if (s->negated) say_for(out, elides(form) ? "n'" : "ne", s->at_not);
    int verb = say_for(out, form, s->at_verb);
    link_to(out, verb, s->at_helper);
    link_to(out, verb, s->at_particle);
    if (s->negated) say_for(out, "pas", s->at_not);
    if (s->adverb) say_for(out, s->adverb->fr, s->at_adverb);
}

static void french(speech *out, const sentence *s, char room[32])
{
    if (s->pronoun) {
        if (s->person == PERSON_WE) say_for(out, "nous", s->at_subject);
        if (s->person == PERSON_IT) say_for(out, s->feminine ? "elle" : "il", s->at_subject);
    } else {
        french_phrase(out, &s->subject, PREPOSITION_PLAIN, NULL, false);
        if (s->has_owner && !s->owner_of_object) french_place(out, &s->owner);
        if (s->two) {
            say_for(out, "et", s->at_and);
            french_phrase(out, &s->second, PREPOSITION_PLAIN, NULL, false);
        }
    }
    french_verb(out, s, room);
    if (s->predicate) say_for(out, agree(s->predicate, s->feminine, s->plural), s->at_predicate);
    if (s->has_object) french_phrase(out, &s->object, PREPOSITION_PLAIN, NULL, s->negated);
    if (s->has_owner && s->owner_of_object) french_place(out, &s->owner);
    if (s->has_place) french_place(out, &s->where);
}

/* -------------------------------------------------------------------------------------------------------- writing */

static rg_status join(rg_text *out, const speech *words)
{
    rg_text_clear(out);
    for (int i = 0; i < words->count; i++) {
        bool glued = out->length && out->data[out->length - 1] == '\'';
        if (i && !glued) RG_TRY(rg_text_add(out, " ", 1));
        RG_TRY(rg_text_add_string(out, words->word[i]));
    }
    return RG_OK;
}

static rg_status print_links(rg_text *out, const speech *words)
{
    rg_text_clear(out);
    for (int i = 0; i < words->count; i++)
        for (int j = 0; j < words->links[i]; j++)
            RG_TRY(rg_text_print(out, "%s%d-%d", out->length ? " " : "", words->link[i][j], i));
    return RG_OK;
}

static rg_grammar_part part_of(const rg_text *english)
{
    uint64_t hash = rg_hash_bytes(RG_HASH_START, english->data, english->length);
    unsigned share = (unsigned)((hash ^ (hash >> 29)) % 20);
    return share == 0 ? RG_GRAMMAR_TEST : share == 1 ? RG_GRAMMAR_VALID : RG_GRAMMAR_TRAIN;
}

rg_status rg_grammar_new(rg_grammar **out, uint64_t seed)
{
    rg_grammar *g = rg_alloc_zero(sizeof *g);
    if (!g) return RG_ENOMEM;
    g->random = rg_random_new(seed, 0x6772616D);
    *out = g;
    return RG_OK;
}

void rg_grammar_free(rg_grammar *g)
{
    if (!g) return;
    rg_words_fini(&g->seen);
    rg_text_free(&g->english);
    rg_text_free(&g->french);
    rg_text_free(&g->links);
    rg_free(g);
}

rg_status rg_grammar_next(rg_grammar_pair *out, rg_grammar *g, rg_grammar_part part)
{
    enum { TRIES = 1000000 };
    for (int i = 0; i < TRIES; i++) {
        sentence s = { 0 };
        speech   en = { 0 }, fr = { 0 };
        char     room[32];
        uint32_t number;
        choose_subject(&s, &g->random);
        choose_rest(&s, &g->random);
        english(&en, &s);
        if (en.count < SHORTEST || en.count > LONGEST) continue;
        RG_TRY(join(&g->english, &en));
        if (part_of(&g->english) != part) continue;
        if (rg_words_find(&g->seen, g->english.data, g->english.length) >= 0) continue;
        french(&fr, &s, room);
        RG_TRY(join(&g->french, &fr));
        RG_TRY(print_links(&g->links, &fr));
        RG_TRY(rg_words_add(&number, &g->seen, g->english.data, g->english.length));
        *out = (rg_grammar_pair){ g->english.data, g->french.data, g->links.data };
        return RG_OK;
    }
    return rg_fail(RG_ELIMIT, "the grammar has no further sentences after %zu", g->seen.count);
}

static rg_status write_line(rg_file *file, const char *line)
{
    RG_TRY(rg_file_write(file, line, strlen(line)));
    return rg_file_write(file, "\n", 1);
}

rg_status rg_grammar_write(rg_grammar *g, rg_grammar_part part, size_t count, const char *english_path,
                           const char *french_path, const char *links_path)
{
    const char *paths[3] = { english_path, french_path, links_path };
    rg_file    *files[3] = { NULL, NULL, NULL };
    rg_status   status = RG_OK;
    for (int i = 0; i < 3 && status == RG_OK; i++)
        if (paths[i]) status = rg_file_replace_begin(&files[i], paths[i]);
    for (size_t n = 0; n < count && status == RG_OK; n++) {
        rg_grammar_pair pair;
        if ((status = rg_grammar_next(&pair, g, part)) != RG_OK) break;
        const char *lines[3] = { pair.english, pair.french, pair.links };
        for (int i = 0; i < 3 && status == RG_OK; i++)
            if (files[i]) status = write_line(files[i], lines[i]);
    }
    for (int i = 0; i < 3; i++) {
        if (!files[i]) continue;
        if (status == RG_OK) status = rg_file_replace_commit(files[i]);
        else rg_file_replace_abandon(files[i]);
    }
    return status;
}
