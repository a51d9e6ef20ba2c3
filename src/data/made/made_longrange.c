/* made_longrange.c - sentences whose last word depends on a cue that stands many words before it.
 *
 *   "John arrived early at the train station and FILLER waited until 2pm for the train"
 *   "Rachel was at home when the doorbell rang, FILLER she opened the door"
 *   "Le chat FILLER boit du lait"
 *
 * --distance is the number of filler words; with 0 these are the sentences as they stand in the lectures. A sentence of fillers belongs to one
 * split only. Columns: the whole text, the cue, the last word. */
#include "data/made/examples_made.h"

#include "base/hash.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          distance;
} settings;

enum { FRAMES = 3, CUES = 4, FILLERS = 24 };

static const struct {
    const char *start[CUES], *cue[CUES], *end, *answer[CUES];
    const char *filler[FILLERS];
} frames[FRAMES] = {
    { { "John arrived early at the train station and", "John arrived early at the airport and",
        "John arrived early at the harbour and", "John arrived early at the bus stop and" },
      { "train station", "airport", "harbour", "bus stop" },
      "waited until 2pm for the",
      { "train", "plane", "boat", "bus" },
      { "quietly", "slowly",  "often", "again", "there",     "outside", "inside", "calmly",
        "alone",   "still",   "twice", "soon",  "yesterday", "usually", "gladly", "rarely",
        "almost",  "perhaps", "later", "early", "maybe",     "surely",  "indeed", "simply" } },
    { { "Rachel was at home when the doorbell rang,", "Rachel was at home when the timer rang,",
        "Rachel was at home when the alarm rang,", "Rachel was at home when the telephone rang," },
      { "doorbell", "timer", "alarm", "telephone" },
      "she opened the",
      { "door", "oven", "window", "drawer" },
      { "quietly", "slowly",  "often", "again", "there",     "outside", "inside", "calmly",
        "alone",   "still",   "twice", "soon",  "yesterday", "usually", "gladly", "rarely",
        "almost",  "perhaps", "later", "early", "maybe",     "surely",  "indeed", "simply" } },
    { { "Le chat", "Le baron", "Le pirate", "Le soldat" },
      { "chat", "baron", "pirate", "soldat" },
      "boit du",
      { "lait", "thé", "rhum", "vin" },
      { "souvent",   "toujours", "encore",  "demain",  "vite",      "ici",     "hier",   "parfois",
        "dehors",    "dedans",   "bien",    "mal",     "presque",   "surtout", "jamais", "vraiment",
        "doucement", "seul",     "partout", "ensuite", "longtemps", "tôt",     "tard",   "aussi" } },
};

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    const size_t    f = (size_t)rg_random_below(random, FRAMES), cue = (size_t)rg_random_below(random, CUES);
    rg_text        *text = &out->cell[0];
    (void)split, (void)number;
    RG_TRY(rg_text_add_string(text, frames[f].start[cue]));
    for (int64_t i = 0; i < s->distance; i++)
        RG_TRY(rg_text_print(text, " %s", frames[f].filler[rg_random_below(random, FILLERS)]));
    RG_TRY(rg_text_print(text, " %s %s", frames[f].end, frames[f].answer[cue]));
    RG_TRY(rg_text_add_string(&out->cell[1], frames[f].cue[cue]));
    RG_TRY(rg_text_add_string(&out->cell[2], frames[f].answer[cue]));
    if (s->distance >= 4) out->identity = rg_hash64_of(text->data, text->length) | 1u << 31; /* shorter ones are too few to be shared out */
    return RG_OK;
}

static const rg_option options[] = { RG_MADE_ROWS(settings, "10000"),
                                     { RG_OPTION_INT, "distance", offsetof(settings, distance), "20", "filler words", 0,
                                       "[0,1000]", NULL },
                                     RG_OPTION_END };

static rg_status write_sentences(const char *out, const void *o)
{
    return rg_made__write(&rg_generator_longrange, out, o);
}

const rg_generator rg_generator_longrange = { "longrange",
                                              "sentences whose last word depends on a cue many words before it",
                                              RG_MADE_WRITES_TSV,
                                              options,
                                              sizeof(settings),
                                              write_sentences,
                                              "text cue answer",
                                              1,
                                              draw };
