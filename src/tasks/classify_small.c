/* classify_small.c - tiny data for every input of a classifier, from nothing. One file serves them all: a system finds
 * its column by name.
 *
 *     label TAB text TAB numbers TAB sequence TAB counts TAB picture        pictures are files of the folder pictures */
#include "tasks/classify.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static rg_status words_of_test(rg_text *out, rg_random *random, size_t class_number, size_t n)
{
    static const char *const words[] = { "ba", "de", "fi", "go", "ku", "la" }, *const marker[] = { "mau", "nue",
                                                                                                   "pio" };
    const size_t             at = (size_t)rg_random_below(random, n);
    for (size_t k = 0; k < n; k++)
        RG_TRY(rg_text_print(out, "%s%s", k ? " " : "",
                             k == at ? marker[class_number] : words[rg_random_below(random, 6)]));
    return RG_OK;
}

/* Film reviews: a few phrases, some of which say nothing, and at times one of the other opinion. */
static rg_status words_of_demo(rg_text *out, rg_random *random, size_t class_number, size_t n)
{
    enum { EACH = 8 };
    static const char *const opinion[3][EACH] = {
        { "a dull plot", "wooden dialogue", "i almost walked out", "a waste of an evening", "tired jokes",
          "far too long", "lifeless", "a mess" },
        { "it passes the time", "some good scenes , some not", "decent but forgettable", "watchable", "uneven",
          "fine for a rainy day", "average", "neither good nor bad" },
        { "a moving story", "superb acting", "i laughed and cried", "beautifully filmed", "clever and warm",
          "the best this year", "gripping", "a joy" },
    };
    static const char *const rest[] = { "the film",  "the cast",     "this director", "the second half",
                                        "the music", "on the whole", "after an hour", "for two hours" };
    for (size_t k = 0; k < n; k++) {
        const size_t other = (size_t)rg_random_below(random, 8),
                     mood = other ? class_number : (size_t)rg_random_below(random, 3);
        RG_TRY(rg_text_print(out, "%s%s : %s", k ? " , " : "", rest[rg_random_below(random, 8)],
                             opinion[mood][rg_random_below(random, EACH)]));
    }
    return RG_OK;
}

/* Three clouds on a circle; the sequence has their coordinates at the steps that are marked. */
static rg_status numbers_of(rg_text *out, rg_random *random, size_t class_number)
{
    static const double centre[3][2] = { { 2, 0 }, { -1, 1.7 }, { -1, -1.7 } };
    const double        x = centre[class_number][0] + 0.5 * rg_random_normal(random),
                 y = centre[class_number][1] + 0.5 * rg_random_normal(random);
    RG_TRY(rg_text_print(out, "\t%.3f %.3f\t", x, y));
    for (size_t k = 0; k < 4; k++)
        RG_TRY(rg_text_print(out, "%s%.3f %d", k ? "; " : "",
                             k == 1   ? x
                             : k == 2 ? y
                                      : rg_random_normal(random),
                             k == 1 || k == 2));
    return rg_text_print(out, "\t%zu:1 %zu:2", class_number, 3 + (size_t)rg_random_below(random, 5));
}

/* Pictures: a bar, lying, standing or slanting, in one of a few places. */
enum { PLACES = 3, SIDE = 8 };

static rg_status write_picture(const char *folder, size_t class_number, size_t place)
{
    unsigned char pixels[SIDE * SIDE] = { 0 };
    rg_picture    p = { SIDE, SIDE, 1, pixels };
    char         *path = rg_format("%s/%zu-%zu.png", folder, class_number, place);
    if (!path) return RG_ENOMEM;
    for (size_t i = 0; i < 4; i++) {
        const size_t x = class_number == 0 ? 1 + i : class_number == 1 ? 2 * place + 1 : 1 + i + place % 2;
        const size_t y = class_number == 0 ? 2 * place + 1 : 1 + i + (class_number == 2 ? place / 2 : 0);
        pixels[y * SIDE + x] = 255;
    }
    rg_status status = rg_picture_save(path, &p);
    rg_free(path);
    return status;
}

static rg_status write_pictures(const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return rg_fail(RG_EIO, "%s: %s", folder, strerror(errno));
    for (size_t i = 0; i < 3 * PLACES; i++) RG_TRY(write_picture(folder, i / PLACES, i % PLACES));
    return RG_OK;
}

static rg_status write_small(const char *path, size_t lines, uint64_t seed, bool demo)
{
    static const char *const names[2][3] = { { "low", "middle", "high" }, { "negative", "neutral", "positive" } };
    rg_random                random = rg_random_new(seed, 0);
    rg_text                  text = { 0 };
    rg_status                status = rg_text_print(&text, "label\ttext\tnumbers\tsequence\tcounts\tpicture\n");
    for (size_t i = 0; status == RG_OK && i < lines; i++) {
        const size_t c = (size_t)rg_random_below(&random, 3);
        status = rg_text_print(&text, "%s\t", names[demo][c]);
        if (status == RG_OK)
            status = demo ? words_of_demo(&text, &random, c, 2 + i % 3) : words_of_test(&text, &random, c, 2 + i % 5);
        if (status == RG_OK) status = numbers_of(&text, &random, c);
        if (status == RG_OK)
            status = rg_text_print(&text, "\t%zu-%u.png\n", c, (unsigned)rg_random_below(&random, PLACES));
    }
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    return status;
}

rg_status rg_classify_small(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    char      *train = rg_format("%s/train.tsv", folder), *valid = rg_format("%s/valid.tsv", folder),
         *pictures = rg_format("%s/pictures", folder);
    rg_status  status = train && valid && pictures ? write_small(train, demo ? 3000 : 60, 5, demo) : RG_ENOMEM;
    if (status == RG_OK) status = write_small(valid, demo ? 600 : 20, 6, demo);
    if (status == RG_OK) status = write_pictures(pictures);
    if (status == RG_OK)
        status = rg_text_print(
            yaml,
            "train-sets: [%s]\nvalid-sets: [%s]\npictures: %s\nmini-batch: %d\nlearn-rate: 0.01\nafter-epochs: %d\n",
            train, valid, pictures, demo ? 32 : 16, demo ? 5 : 2);
    rg_free(train);
    rg_free(valid);
    rg_free(pictures);
    return status;
}
