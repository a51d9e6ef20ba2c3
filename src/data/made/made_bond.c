/* made_bond.c - a language of introductions, so small that it is learned in seconds: after "I am Bond , James" comes
 * "Bond". */
#include "data/made/examples_made.h"

typedef struct settings {
    rg_made_settings base;
} settings;

enum { NAMES = 4, MOODS = 4 };

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    static const char *const last[NAMES] = { "Bond", "McGuire", "Leiter", "Lynd" }, *const first[NAMES] = {
        "James", "Jerry", "Felix", "Vesper"
    };
    static const char *const moods[MOODS] = { "tired", "late", "hungry", "here" };
    const size_t             who = (size_t)rg_random_below(random, NAMES);
    (void)m, (void)split, (void)number;
    switch (rg_random_below(random, 3)) {
    case 0: return rg_text_print(&out->cell[0], "I am %s , %s %s !", last[who], first[who], last[who]);
    case 1: return rg_text_print(&out->cell[0], "my name is %s , %s %s", last[who], first[who], last[who]);
    default: return rg_text_print(&out->cell[0], "I am %s !", moods[rg_random_below(random, MOODS)]);
    }
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "2000"), RG_OPTION_END };

static rg_status write_lines(const char *out, const void *o) { return rg_made__write(&rg_generator_bond, out, o); }

const rg_generator rg_generator_bond = { "bond",
                                         "introductions: after \"I am Bond , James\" comes \"Bond\"",
                                         RG_MADE_WRITES_TXT,
                                         options,
                                         sizeof(settings),
                                         write_lines,
                                         "text",
                                         1,
                                         draw };
