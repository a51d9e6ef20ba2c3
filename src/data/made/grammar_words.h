/* grammar_words.h - the lexicon of the English-French grammar: what each word is and all its forms. */
#ifndef REGARD_DATA_GRAMMAR_WORDS_H
#define REGARD_DATA_GRAMMAR_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What a noun is; what a verb takes and an adjective suits. */
enum {
    WORD_PERSON = 1,
    WORD_ANIMAL = 2,
    WORD_THING = 4,
    WORD_FOOD = 8,
    WORD_PLACE = 16,
    WORD_LIVING = WORD_PERSON | WORD_ANIMAL
};

typedef struct rg_noun {
    const char *en, *en_plural, *fr, *fr_plural;
    bool        feminine, closed; /* closed: an h that does not elide (le hibou) */
    unsigned    sort;
} rg_noun;

typedef struct rg_adjective {
    const char *en, *m, *f, *m_plural, *f_plural;
    const char *m_vowel; /* masculine before a vowel where it differs: vieil; else NULL */
    bool        before;  /* stands before its noun in French */
    unsigned    suits;   /* sorts of nouns */
} rg_adjective;

enum { PERSON_I, PERSON_IT, PERSON_WE, PERSON_THEY, PERSONS };

typedef struct rg_verb {
    const char *en, *en_base, *en_particle; /* looks, look, "for"; particle NULL for most */
    const char *fr[PERSONS];                /* present */
    const char *future;                     /* stem: manger + ai a ons ont */
    unsigned    takes;                      /* sorts of object, 0: none */
} rg_verb;

enum { PREPOSITION_PLAIN, PREPOSITION_A, PREPOSITION_DE };

typedef struct rg_preposition {
    const char *en[2], *fr[2]; /* words; fr without its final à or de */
    int         kind;
    unsigned    takes;
} rg_preposition;

typedef struct rg_adverb {
    const char *en, *fr;
} rg_adverb;

extern const rg_noun        rg_nouns[];
extern const size_t         rg_noun_count;
extern const rg_adjective   rg_adjectives[];
extern const size_t         rg_adjective_count;
extern const rg_verb        rg_verbs[];
extern const size_t         rg_verb_count;
extern const rg_verb        rg_verb_be;
extern const rg_verb        rg_verb_go;
extern const rg_preposition rg_prepositions[];
extern const size_t         rg_preposition_count;
extern const rg_adverb      rg_adverbs[];
extern const size_t         rg_adverb_count;

#endif
