/* made_grammar.c - `regard make grammar`: English sentences, their French translations and the links between their
 * words. */
#include "regard/grammar.h"
#include "regard/made.h"

#include <string.h>

typedef struct {
    char   *part;
    int64_t count, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_INT, "count", offsetof(settings, count), "1000", "sentences", 'n', "[1,10000000]" },
    { RG_OPTION_STRING, "part", offsetof(settings, part), "train", "which sentences; no sentence belongs to two parts",
      0, "train|valid|test" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the sentences", 0, "[0,inf)" },
    RG_OPTION_END
};

static rg_grammar_part part_of(const char *name)
{
    return strcmp(name, "train") == 0   ? RG_GRAMMAR_TRAIN
           : strcmp(name, "valid") == 0 ? RG_GRAMMAR_VALID
                                        : RG_GRAMMAR_TEST;
}

static rg_status write_grammar(const char *out, const void *values)
{
    const settings *s = values;
    rg_grammar     *grammar = NULL;
    char *english = rg_format("%s.en", out), *french = rg_format("%s.fr", out), *links = rg_format("%s.links", out);
    rg_status       status = english && french && links ? rg_grammar_new(&grammar, (uint64_t)s->seed) : RG_ENOMEM;
    if (status == RG_OK) status = rg_grammar_write(grammar, part_of(s->part), (size_t)s->count, english, french, links);
    rg_grammar_free(grammar);
    rg_free(english);
    rg_free(french);
    rg_free(links);
    return status;
}

const rg_generator rg_generator_grammar = {
    .name = "grammar",
    .summary = "English sentences and their French translations, from a small grammar",
    .writes = "OUT.en, OUT.fr, OUT.links (word alignments in Pharaoh form)",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_grammar,
};
