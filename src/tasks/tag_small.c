/* tag_small.c - sentences of a small grammar with people, places and firms, tagged B-, I- and O. Some names are of two kinds: the words around
 * them tell ("washington said", "in washington"). */
#include <string.h>

#include "tasks/tag.h"

enum { NAMES = 10, PATTERNS = 6 };

static const char *const person[NAMES] = { "anna", "john smith", "washington", "maria", "paris jones", "lee", "ida may", "jordan", "omar", "kim lee" };
static const char *const place[NAMES] = { "paris", "new york", "washington", "oslo", "jordan", "rome", "san marino", "kiel", "peru", "south bay" };
static const char *const firm[NAMES] = { "acme", "ford", "north bank", "zenith", "jordan steel", "paris air", "lumen", "delta works", "ibis", "omega" };

/* P, L and F are replaced by a name. */
static const char *const pattern[PATTERNS] = { "P said that F will open in L", "yesterday P flew to L",      "F hired P",
                                               "P and P met in L",             "the office of F in L closed", "nobody in L knows P" };

static rg_status write_name(rg_text *out, rg_random *random, char kind)
{
    const char *const *list = kind == 'P' ? person : kind == 'L' ? place : firm;
    const char        *name = list[rg_random_below(random, NAMES)], *type = kind == 'P' ? "PER" : kind == 'L' ? "LOC" : "ORG";
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

static rg_status write_small(const char *path, size_t sentences, uint64_t seed)
{
    rg_random random = rg_random_new(seed, 0);
    rg_text   text = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < sentences; i++) status = write_sentence(&text, &random);
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_tag_small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    char      *train = rg_format("%s/train.conll", folder), *valid = rg_format("%s/valid.conll", folder);
    rg_status  status = train && valid ? write_small(train, demo ? 1500 : 60, 5) : RG_ENOMEM;
    if (status == RG_OK) status = write_small(valid, demo ? 300 : 12, 6);
    if (status == RG_OK)
        status = rg_text_print(yaml, "train-sets: [%s]\nvalid-sets: [%s]\nmini-batch: %d\nlearn-rate: 0.005\nafter-epochs: %d\n", train, valid,
                               demo ? 32 : 16, demo ? 6 : 2);
    rg_free(train);
    rg_free(valid);
    return status;
}
