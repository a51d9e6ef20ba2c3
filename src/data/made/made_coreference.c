/* made_coreference.c - who is "it"? English sentences, with the noun it stands for as a tag, or with French translations, in which the pronoun has the gender of
 * the noun it stands for, and the last word alone tells which that is (after the example with which the Transformer was
 * introduced to the public in 2017):
 *
 *     the animal didn't cross the street because it was too tired    l' animal n' a pas traversé la rue parce qu' il ... fatigué
 *     the animal didn't cross the street because it was too wide     l' animal n' a pas traversé la rue parce qu' elle ... large
 *
 * A tenth of the combinations of animal, place and last word, and their sentences, is kept for validation, another for
 * testing: they are never trained on. */
#include "data/made/examples_made.h"

#include "base/hash.h"

typedef struct settings {
    rg_made_settings base;
} settings;

typedef struct {
    const char *english, *french;
    bool        feminine;
} noun;

static const noun animals[] = {
    { "animal", "l' animal", false },
    { "dog", "le chien", false },
    { "cat", "le chat", false },
    { "horse", "le cheval", false },
    { "cow", "la vache", true },
    { "mouse", "la souris", true },
    { "goat", "la chèvre", true },
    { "hen", "la poule", true },
};
static const noun places[] = {
    { "street", "la rue", true },
    { "road", "la route", true },
    { "river", "la rivière", true },
    { "square", "la place", true },
    { "bridge", "le pont", false },
    { "field", "le champ", false },
    { "park", "le parc", false },
    { "canal", "le canal", false },
};

/* What an animal may be, and what a place: masculine, feminine. */
static const char *const        of_animals[][3] = { { "tired", "fatigué", "fatiguée" }, { "hungry", "affamé", "affamée" }, { "old", "vieux", "vieille" }, { "scared", "effrayé", "effrayée" } },
                         *const of_places[][3] = { { "wide", "large", "large" }, { "long", "long", "longue" }, { "crowded", "bondé", "bondée" }, { "dark", "sombre", "sombre" } };
static const char *const        verbs[][2] = { { "cross", "traversé" }, { "enter", "occupé" }, { "like", "aimé" } };

enum {
    ANIMALS = sizeof animals / sizeof *animals,
    PLACES = sizeof places / sizeof *places,
    VERBS = sizeof verbs / sizeof *verbs,
    QUALITIES = sizeof of_animals / sizeof *of_animals, /* of each kind */
};

/* Who did not cross what, and why. */
typedef struct {
    const noun        *animal, *place, *it;
    const char *const *verb;
    const char *const *quality;
    uint64_t           identity; /* of animal, place and quality */
} story;

static story draw_story(rg_random *random)
{
    const uint64_t who = rg_random_below(random, ANIMALS), where = rg_random_below(random, PLACES),
                   what = rg_random_below(random, 2 * QUALITIES);
    const uint64_t combination[] = { who, where, what };
    const bool     animal = what < QUALITIES;
    return (story){ .animal = &animals[who],
                    .place = &places[where],
                    .it = animal ? &animals[who] : &places[where],
                    .verb = verbs[rg_random_below(random, VERBS)],
                    .quality = animal ? of_animals[what] : of_places[what - QUALITIES],
                    .identity = rg_hash64_of(combination, sizeof combination) | 1u << 31 };
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "2000"), RG_OPTION_END };

/* ------------------------------------------------------------------------------------------------------ translated */

static rg_status draw_pair(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const story s = draw_story(random);
    (void)m, (void)split, (void)number;
    out->identity = s.identity;
    RG_TRY(rg_text_print(&out->cell[0], "the %s didn't %s the %s because it was too %s", s.animal->english, s.verb[0],
                         s.place->english, s.quality[0]));
    return rg_text_print(&out->cell[1], "%s n' a pas %s %s parce qu' %s était trop %s", s.animal->french, s.verb[1],
                         s.place->french, s.it->feminine ? "elle" : "il", s.quality[s.it->feminine ? 2 : 1]);
}

static rg_status write_pairs(const char *out, const void *o) { return rg_made__write(&rg_generator_coreference, out, o); }

const rg_generator rg_generator_coreference = {
    .name = "coreference",
    .summary = "\"it\" is the animal or the street, and has its gender in French: which, the last word tells",
    .writes = RG_MADE_WRITES_TSV,
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_pairs,
    .columns = "en fr",
    .per_picture = 1,
    .draw = draw_pair,
};

/* ---------------------------------------------------------------------------------------------------------- tagged */

/* The same sentences; the tag of "it" is the noun it stands for. */
static rg_status draw_tags(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const story s = draw_story(random);
    (void)m, (void)split, (void)number;
    out->identity = s.identity;
    return rg_text_print(&out->cell[0],
                         "the\tO\n%s\tO\ndidn't\tO\n%s\tO\nthe\tO\n%s\tO\nbecause\tO\nit\t%s\nwas\tO\ntoo\tO\n%s\tO\n",
                         s.animal->english, s.verb[0], s.place->english, s.it->english, s.quality[0]);
}

static rg_status write_tags(const char *out, const void *o) { return rg_made__write(&rg_generator_referents, out, o); }

const rg_generator rg_generator_referents = {
    .name = "referents",
    .summary = "the sentences of coreference, a tag per word: that of \"it\" is the noun it stands for",
    .writes = RG_MADE_WRITES_TXT ": a word and its tag per line (CoNLL)",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_tags,
    .columns = "text",
    .per_picture = 1,
    .draw = draw_tags,
};
