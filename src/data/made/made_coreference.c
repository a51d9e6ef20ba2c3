/* made_coreference.c - who is "it"? English sentences and their French translations, in which the pronoun has the gender of
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
    { "animal", "l' animal", false }, { "dog", "le chien", false }, { "cat", "le chat", false },
    { "horse", "le cheval", false },  { "cow", "la vache", true },  { "mouse", "la souris", true },
    { "goat", "la chèvre", true },    { "hen", "la poule", true },
};
static const noun places[] = {
    { "street", "la rue", true },    { "road", "la route", true },  { "river", "la rivière", true },
    { "square", "la place", true },  { "bridge", "le pont", false }, { "field", "le champ", false },
    { "park", "le parc", false },    { "canal", "le canal", false },
};

/* What an animal may be, and what a place: masculine, feminine. */
static const char *const of_animals[][3] = { { "tired", "fatigué", "fatiguée" }, { "hungry", "affamé", "affamée" },
                                             { "old", "vieux", "vieille" },      { "scared", "effrayé", "effrayée" } },
    *const of_places[][3] = { { "wide", "large", "large" }, { "long", "long", "longue" },
                              { "crowded", "bondé", "bondée" }, { "dark", "sombre", "sombre" } };
static const char *const verbs[][2] = { { "cross", "traversé" }, { "enter", "occupé" }, { "like", "aimé" } };

enum {
    ANIMALS = sizeof animals / sizeof *animals,
    PLACES = sizeof places / sizeof *places,
    VERBS = sizeof verbs / sizeof *verbs,
    QUALITIES = sizeof of_animals / sizeof *of_animals, /* of each kind */
};

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const uint64_t who = rg_random_below(random, ANIMALS), where = rg_random_below(random, PLACES),
                   what = rg_random_below(random, 2 * QUALITIES);
    const uint64_t combination[] = { who, where, what };
    (void)m, (void)split, (void)number;
    const bool               animal = what < QUALITIES;
    const noun              *it = animal ? &animals[who] : &places[where];
    const char *const *const verb = verbs[rg_random_below(random, VERBS)];
    const char *const *const quality = animal ? of_animals[what] : of_places[what - QUALITIES];
    out->identity = rg_hash64_of(combination, sizeof combination) | 1u << 31;
    RG_TRY(rg_text_print(&out->cell[0], "the %s didn't %s the %s because it was too %s", animals[who].english, verb[0],
                         places[where].english, quality[0]));
    return rg_text_print(&out->cell[1], "%s n' a pas %s %s parce qu' %s était trop %s", animals[who].french, verb[1],
                         places[where].french, it->feminine ? "elle" : "il", quality[it->feminine ? 2 : 1]);
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "2000"), RG_OPTION_END };

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
    .draw = draw,
};
