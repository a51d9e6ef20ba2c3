/* translation_headlines.c - made news and their headlines, a CSV file: what the demo of headlines learns from.
 *
 *   "motek of oslo bought gadin for 40 million dollars on friday , officials said ."  ->  "motek buys gadin"
 *
 * Firms have a new name in every row, so that a title can only be right by copying. */
#include "tasks/translation.h"

#include <string.h>

#define PICK(random, list) list[rg_random_below(random, sizeof list / sizeof *list)]

static const char *const cities[] = { "bonn", "rome", "oslo", "kyiv", "lima", "cairo" };
static const char *const days[] = { "monday", "tuesday", "friday", "sunday" };
static const char *const woes[] = { "a fire", "a storm", "a strike", "a flood" };
static const char *const tellers[] = { "officials", "brokers", "the mayor", "a spokesman" };

/* Two or three syllables and a last letter, 8 bytes at most. */
static void make_name(char *out, rg_random *r)
{
    static const char first[] = "bdfgklmnprstvz", vowels[] = "aeiou", last[] = "knrstz";
    const size_t      n = 2 + (size_t)rg_random_below(r, 2);
    for (size_t i = 0; i < n; i++) {
        *out++ = first[rg_random_below(r, sizeof first - 1)];
        *out++ = vowels[rg_random_below(r, sizeof vowels - 1)];
    }
    *out++ = last[rg_random_below(r, sizeof last - 1)];
    *out = '\0';
}

static rg_status add_row(rg_text *csv, rg_random *r, size_t number)
{
    char        a[12], b[12];
    const char *city = PICK(r, cities), *day = PICK(r, days), *woe = PICK(r, woes), *told = PICK(r, tellers);
    const int   kind = (int)rg_random_below(r, 4), n = 2 + (int)rg_random_below(r, 90);
    make_name(a, r);
    make_name(b, r);
    RG_TRY(rg_text_print(csv, "%zu,\"", number + 1));
    switch (kind) {
    case 0:
        RG_TRY(rg_text_print(csv, "%s of %s bought %s for %d million dollars on %s , %s said .", a, city, b, n, day, told));
        return rg_text_print(csv, "\",%s buys %s\n", a, b);
    case 1:
        RG_TRY(rg_text_print(csv, "shares of %s fell %d percent on %s after %s left talks in %s .", a, n, day, b, city));
        return rg_text_print(csv, "\",%s shares fall after talks\n", a);
    case 2:
        RG_TRY(rg_text_print(csv, "the city of %s will ask %s for help after %s , %s told %s .", city, a, woe, told, b));
        return rg_text_print(csv, "\",%s asks %s for help\n", city, a);
    default:
        RG_TRY(rg_text_print(csv, "%s closed the works of %s in %s on %s , and %d people of %s came to help .", woe, a,
                             city, day, n, b));
        return rg_text_print(csv, "\",%s works closed\n", a);
    }
}

rg_status rg_translation_headlines(rg_text *yaml, const char *folder, rg_small_size size)
{
    static const char *const names[] = { "news.csv", "valid.csv" };
    const bool               demo = size == RG_SMALL_DEMO;
    const size_t             rows[] = { demo ? 4000 : 60, demo ? 200 : 20 };
    for (size_t k = 0; k < 2; k++) {
        rg_random r = rg_random_new(12, k);
        rg_text   csv = { 0 };
        char     *path = rg_format("%s/%s", folder, names[k]);
        rg_status status = path ? rg_text_add_string(&csv, "id,text,title\n") : RG_ENOMEM;
        for (size_t i = 0; status == RG_OK && i < rows[k]; i++) status = add_row(&csv, &r, i);
        if (status == RG_OK) status = rg_file_replace(path, csv.data, csv.length);
        rg_text_free(&csv);
        rg_free(path);
        RG_TRY(status);
    }
    return rg_text_print(yaml,
                         "train-sets: [%s/news.csv]\nvalid-sets: [%s/valid.csv]\ncolumns: text,title\n"
                         "vocab-kind: words\n"
                         "dim-vocabs: [0]\nvocab-min-count: %d\nmini-batch-words: %d\nlr-warmup: 4\nafter-batches: %d\n"
                         "valid-freq: %d\nbeam-size: 2\n",
                         folder, folder, demo ? 20 : 3, demo ? 200 : 60, demo ? 400 : 6, demo ? 200 : 3);
}
