/* made_frames.c - `regard make frames`: requests with their semantic frame, a word and its tag per line (CoNLL), in one
 * of two domains.
 *
 *   B-FRAME   the word that calls the frame: book, reserve, ...        B-PLACE, B-DAY, B-COUNT   its arguments
 *
 * The domains, travel and restaurants, share the tags, the days and the small words; carrier phrases, triggers and
 * places differ. A tagger of one meets the other with unknown words: what domain-adversarial training (--objective
 * domain) is for. */
#include <string.h>

#include "regard/made.h"
#include "regard/text.h"

typedef struct {
    char   *domain;
    int64_t count, seed;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "domain", offsetof(settings, domain), "travel", "which of the two", 0, "travel|restaurants",
      NULL },
    { RG_OPTION_INT, "count", offsetof(settings, count), "1500", "sentences", 'n', "[1,10000000]", NULL },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "of the sentences", 0, "[0,inf)", NULL },
    RG_OPTION_END
};

enum { EACH = 6, PATTERNS = 4 };

typedef struct {
    const char *trigger[EACH], *place[EACH], *thing[EACH], *pattern[PATTERNS];
} domain;

/* T, P, D, N and O are replaced by a trigger, a place, a day, a number and a thing. */
static const domain domains[2] = {
    { { "book", "find", "cancel", "change", "buy", "show" },
      { "paris", "oslo", "rome", "kiel", "lima", "bern" },
      { "flight", "train", "ticket", "seat", "bus", "ferry" },
      { "please T a O from P to P on D", "T N O to P for D", "i want to T my O to P", "T the first O on D" } },
    { { "reserve", "order", "drop", "move", "get", "list" },
      { "luigi", "bistro", "corner", "garden", "harbour", "tavern" },
      { "table", "menu", "dinner", "lunch", "meal", "room" },
      { "could you T a O at P on D", "T N O at P for D", "we would like to T our O at P", "T the quiet O on D" } },
};
static const char *const day[EACH] = { "monday", "tuesday", "friday", "sunday", "today", "tomorrow" };
static const char *const number[EACH] = { "two", "three", "four", "five", "six", "seven" };

static rg_status write_word(rg_text *out, rg_random *random, const domain *d, char kind)
{
    const size_t k = (size_t)rg_random_below(random, EACH);
    switch (kind) {
    case 'T': return rg_text_print(out, "%s\tB-FRAME\n", d->trigger[k]);
    case 'P': return rg_text_print(out, "%s\tB-PLACE\n", d->place[k]);
    case 'D': return rg_text_print(out, "%s\tB-DAY\n", day[k]);
    case 'N': return rg_text_print(out, "%s\tB-COUNT\n", number[k]);
    default: return rg_text_print(out, "%s\tO\n", d->thing[k]);
    }
}

static rg_status write_sentence(rg_text *out, rg_random *random, const domain *d)
{
    for (const char *at = d->pattern[rg_random_below(random, PATTERNS)]; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == 1 && strchr("TPDNO", *at)) RG_TRY(write_word(out, random, d, *at));
        else RG_TRY(rg_text_print(out, "%.*s\tO\n", (int)n, at));
        at += n + (at[n] == ' ');
    }
    return rg_text_add_string(out, "\n");
}

static rg_status write_frames(const char *path, const void *values)
{
    const settings *s = values;
    rg_random       random = rg_random_new((uint64_t)s->seed, 0);
    rg_text         text = { 0 };
    rg_status       status = RG_OK;
    for (int64_t i = 0; status == RG_OK && i < s->count; i++)
        status = write_sentence(&text, &random, &domains[strcmp(s->domain, "travel") != 0]);
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

const rg_generator rg_generator_frames = {
    .name = "frames",
    .summary = "requests with the word that calls a frame and its arguments, in two domains",
    .writes = "OUT: a word and its tag per line, an empty line behind each sentence (CoNLL)",
    .options = options,
    .options_bytes = sizeof(settings),
    .write = write_frames,
};
