/* pictured_tables.c - see pictured_tables.h. */
#include "lab/pictured_tables.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/words.h"
#include "regard/picture.h"
#include "regard/reader.h"

enum { TRAIN, VALID, TEST, PARTS, RARE = 10, SIDE = 16, NUMBERS = SIDE * SIDE * 3, MOST_FREQUENT = 30 };

static const char *const part_names[PARTS] = { "train", "valid", "test" };

static rg_status write_parts(rg_text text[PARTS], const char *folder)
{
    for (size_t k = 0; k < PARTS; k++) {
        char     *path = rg_format("%s/%s.tsv", folder, part_names[k]);
        rg_status status = path ? rg_file_replace(path, text[k].data, text[k].length) : RG_ENOMEM;
        rg_free(path);
        RG_TRY(status);
    }
    return RG_OK;
}

static void free_parts(rg_text text[PARTS])
{
    for (size_t k = 0; k < PARTS; k++) rg_text_free(&text[k]);
}

/* What is done with each row of a table. */
typedef rg_status on_row(void *context, const rg_cell *cell);

static rg_status read_table(const char *data, const char *name, const char *const *wanted, size_t columns,
                            on_row *each, void *context)
{
    rg_reader_config c = RG_READER_CONFIG_DEFAULT;
    rg_reader       *r = NULL;
    char            *path = rg_format("%s/%s", data, name);
    c.wanted = wanted, c.wanted_count = columns, c.header = RG_HEADER_YES;
    rg_status status = path ? rg_reader_open(&r, path, &c) : RG_ENOMEM;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = each(context, row.cell);
    }
    rg_reader_close(r);
    rg_free(path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ emoji */

typedef struct {
    rg_words tags;
    rg_text  text[PARTS];
    size_t   row;
} emoji;

static rg_status count_tags(void *context, const rg_cell *cell)
{
    emoji *e = context;
    for (const char *at = cell[1].bytes; *at;) {
        const size_t bytes = strcspn(at, "|");
        uint32_t     id = 0;
        if (bytes) RG_TRY(rg_words_add(&id, &e->tags, at, bytes));
        if (bytes) e->tags.words[id].count++;
        at += bytes + (at[bytes] != 0);
    }
    return RG_OK;
}

static rg_status write_emoji(void *context, const rg_cell *cell)
{
    emoji       *e = context;
    const size_t number = e->row++, part = number % 10 == 0 ? TEST : number % 10 == 1 ? VALID : TRAIN;
    rg_text     *to = &e->text[part];
    size_t       kept = 0;
    for (const char *at = cell[1].bytes; *at;) {
        const size_t  bytes = strcspn(at, "|");
        const int64_t id = rg_words_find(&e->tags, at, bytes);
        if (bytes && id >= 0 && e->tags.words[id].count >= RARE) {
            if (!kept) RG_TRY(rg_text_print(to, "%04ld.png\t", strtol(cell[0].bytes, NULL, 10)));
            RG_TRY(rg_text_print(to, "%s%.*s", kept++ ? "|" : "", (int)bytes, at));
        }
        at += bytes + (at[bytes] != 0);
    }
    return kept ? rg_text_add_string(to, "\n") : RG_OK;
}

rg_status pictured_emoji(const char *folder, const char *data)
{
    static const char *const wanted[] = { "id", "tags_en" };
    emoji                    e = { 0 };
    rg_status                status = read_table(data, "emoji/emoji.tsv.gz", wanted, 2, count_tags, &e);
    for (size_t k = 0; status == RG_OK && k < PARTS; k++) status = rg_text_add_string(&e.text[k], "picture\ttags\n");
    if (status == RG_OK) status = read_table(data, "emoji/emoji.tsv.gz", wanted, 2, write_emoji, &e);
    if (status == RG_OK) status = write_parts(e.text, folder);
    rg_words_fini(&e.tags);
    free_parts(e.text);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- recipes */

static rg_status write_recipe(void *context, const rg_cell *cell)
{
    rg_text *text = context;
    for (size_t k = 0; k < PARTS; k++)
        if (strcmp(cell[0].bytes, part_names[k]) == 0 && cell[1].count)
            return rg_text_print(&text[k], "%s\t%s\t%s\t%s\n", cell[1].bytes, cell[2].bytes, cell[3].bytes,
                                 cell[4].bytes);
    return RG_OK;
}

rg_status pictured_recipes(const char *folder, const char *data)
{
    static const char *const wanted[] = { "split", "image", "title", "ingredients", "directions" };
    rg_text                  text[PARTS] = { { 0 } };
    rg_status                status = RG_OK;
    for (size_t k = 0; status == RG_OK && k < PARTS; k++)
        status = rg_text_add_string(&text[k], "picture\ttitle\tingredients\tdirections\n");
    if (status == RG_OK) status = read_table(data, "recipes/recipes.tsv.gz", wanted, 5, write_recipe, text);
    if (status == RG_OK) status = write_parts(text, folder);
    free_parts(text);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- controls */

enum { MOST_LABELS = 64 };

typedef struct {
    float    pixels[NUMBERS];
    uint32_t label[MOST_LABELS];
    size_t   labels;
} item;

typedef struct {
    item  *items;
    size_t count, room;
} pile;

static rg_status add_item(pile *p, rg_words *names, const rg_cell *cell)
{
    rg_picture whole = { 0 }, small = { 0 };
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 256;
        item        *items = rg_realloc(p->items, room * sizeof *items);
        if (!items) return RG_ENOMEM;
        p->items = items, p->room = room;
    }
    item *i = &p->items[p->count];
    memset(i, 0, sizeof *i);
    RG_TRY(rg_picture_decode(&whole, cell[0].bytes, cell[0].count, 3));
    rg_status status = rg_picture_fit(&small, &whole, SIDE, SIDE, RG_FIT_STRETCH, RG_RESIZE_AREA);
    for (size_t k = 0; status == RG_OK && k < NUMBERS; k++) i->pixels[k] = (float)small.pixels[k];
    for (const char *at = cell[1].bytes; status == RG_OK && *at && i->labels < MOST_LABELS;) {
        const size_t bytes = strcspn(at, "|");
        if (bytes) status = rg_words_add(&i->label[i->labels++], names, at, bytes);
        at += bytes + (at[bytes] != 0);
    }
    rg_picture_free(&whole);
    rg_picture_free(&small);
    if (status == RG_OK) p->count++;
    return status;
}

static rg_status read_pile(pile *out, rg_words *names, const char *folder, const char *part, const char *archive)
{
    static const char *const wanted[] = { "picture", "tags" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    char                    *path = rg_format("%s/%s.tsv", folder, part);
    c.wanted = wanted, c.wanted_count = 2, c.files = archive;
    rg_status status = path ? rg_reader_open(&r, path, &c) : RG_ENOMEM;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more && !(row.faults & RG_ROW_ABSENT)) status = add_item(out, names, row.cell);
    }
    rg_reader_close(r);
    rg_free(path);
    return status;
}

/* 2 tp / (2 tp + fp + fn) = 2 tp / (said + true) */
typedef struct {
    size_t right, said, truly;
} sums;

static void compare(sums *s, const uint32_t *said, size_t n, const item *truth)
{
    s->said += n, s->truly += truth->labels;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < truth->labels; k++) s->right += said[i] == truth->label[k];
}

static double f1(const sums *s) { return s->said + s->truly ? 2 * (double)s->right / (double)(s->said + s->truly) : 0; }

static double distance(const item *a, const item *b)
{
    double d = 0;
    for (size_t k = 0; k < NUMBERS; k++) {
        const double e = (double)(a->pixels[k] - b->pixels[k]);
        d += e * e;
    }
    return d;
}

static double nearest(const pile *train, const pile *test)
{
    sums s = { 0 };
    for (size_t i = 0; i < test->count; i++) {
        const item *best = &train->items[0];
        double      least = distance(best, &test->items[i]);
        for (size_t k = 1; k < train->count; k++) {
            const double d = distance(&train->items[k], &test->items[i]);
            if (d < least) least = d, best = &train->items[k];
        }
        compare(&s, best->label, best->labels, &test->items[i]);
    }
    return f1(&s);
}

static double of_all(const pile *p, const uint32_t *said, size_t n)
{
    sums s = { 0 };
    for (size_t i = 0; i < p->count; i++) compare(&s, said, n, &p->items[i]);
    return f1(&s);
}

/* Labels one after another, the most frequent first, as long as the training data like it. */
static double frequent(const pile *train, const pile *test, rg_words *names)
{
    uint32_t said[MOST_FREQUENT];
    size_t   best = 0;
    double   most = -1;
    for (size_t i = 0; i < train->count; i++)
        for (size_t k = 0; k < train->items[i].labels; k++) names->words[train->items[i].label[k]].count++;
    for (size_t n = 0; n < MOST_FREQUENT && n < names->count; n++) {
        size_t top = 0;
        for (size_t k = 1; k < names->count; k++)
            if (names->words[k].count > names->words[top].count) top = k;
        said[n] = (uint32_t)top;
        names->words[top].count = 0;
        const double now = of_all(train, said, n + 1);
        if (now > most) most = now, best = n + 1;
    }
    return of_all(test, said, best);
}

rg_status rg_set_controls_of(rg_set_controls *out, const char *folder, const char *archive)
{
    pile      train = { 0 }, test = { 0 };
    rg_words  names = { 0 };
    rg_status status = read_pile(&train, &names, folder, "train", archive);
    if (status == RG_OK) status = read_pile(&test, &names, folder, "test", archive);
    if (status == RG_OK && (!train.count || !test.count))
        status = rg_fail(RG_EFORMAT, "%s: no pictures to compare with", folder);
    if (status == RG_OK)
        *out = (rg_set_controls){ .nearest = nearest(&train, &test), .frequent = frequent(&train, &test, &names) };
    rg_free(train.items);
    rg_free(test.items);
    rg_words_fini(&names);
    return status;
}
