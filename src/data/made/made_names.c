/* made_names.c - `regard make names`: sentences of a small grammar with people, places and firms, a word and its tag
 * B-, I- or O per line and an empty line behind each sentence (CoNLL). Some names are of two kinds: the words around
 * them tell ("washington said", "in washington"). */
#include <string.h>

#include "regard/made.h"
#include "regard/text.h"

typedef struct {
    int64_t count, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "count", offsetof(settings, count), "1500", "sentences", 'n', "[1,10000000]" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the sentences", 0, "[0,inf)" },
    RG_OPTION_END
};

enum { NAMES = 10, PATTERNS = 6 };

static const char *const person[NAMES] = { "anna", "john smith", "washington", "maria", "paris jones",
                                           "lee",  "ida may",    "jordan",     "omar",  "kim lee" };
static const char *const place[NAMES] = { "paris", "new york",   "washington", "oslo", "jordan",
                                          "rome",  "san marino", "kiel",       "peru", "south bay" };
static const char *const firm[NAMES] = { "acme",      "ford",  "north bank",  "zenith", "jordan steel",
                                         "paris air", "lumen", "delta works", "ibis",   "omega" };

/* P, L and F are replaced by a name. */
static const char *const pattern[PATTERNS] = {
    "P said that F will open in L", "yesterday P flew to L", "F hired P", "P and P met in L",
    "the office of F in L closed",  "nobody in L knows P"
};

static rg_status write_name(rg_text *out, rg_random *random, char kind)
{
    const char *const *list = kind == 'P' ? person : kind == 'L' ? place : firm;
    const char *name = list[rg_random_below(random, NAMES)], *type = kind == 'P' ? "PER" : kind == 'L' ? "LOC" : "ORG";
    for (bool first = true; *name; first = false) {
        const size_t n = strcspn(name, " ");
        RG_TRY(rg_text_print(out, "%.*s\t%c-%s\n", (int)n, name, first ? 'B' : 'I', type));
        name += n + (name[n] == ' ');
    }
    return RG_OK;
}

static rg_status write_sentence(rg_text *out, rg_random *random)
{
    for (const char *at = pattern[rg_random_below(random, PATTERNS)]; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == 1 && strchr("PLF", *at)) RG_TRY(write_name(out, random, *at));
        else RG_TRY(rg_text_print(out, "%.*s\tO\n", (int)n, at));
        at += n + (at[n] == ' ');
    }
    return rg_text_add_string(out, "\n");
}

static rg_status write_names(const char *path, const void *values)
{
    const settings *s = values;
    rg_random       random = rg_random_new((uint64_t)s->seed, 0);
    rg_text         text = { 0 };
    rg_file        *file;
    RG_TRY(rg_file_replace_begin(&file, path));
    rg_status status = RG_OK;
    for (int64_t i = 0; status == RG_OK && i < s->count; i++) {
        rg_text_clear(&text);
        status = write_sentence(&text, &random);
        if (status == RG_OK) status = rg_file_write(file, text.data, text.length);
    }
    if (status == RG_OK) status = rg_file_replace_commit(file);
    else rg_file_replace_abandon(file);
    rg_text_free(&text);
    return status;
}

const rg_generator rg_generator_names = {
    .name = "names",
    .summary = "sentences with names of people, places and firms, a tag per word",
    .writes = "OUT: a word and its tag per line, an empty line behind each sentence (CoNLL)",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_names,
};
