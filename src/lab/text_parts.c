/* text_parts.c - lists of texts and of named pictures, for few labels and for two domains (mnist_parts.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/mnist_parts.h"
#include "regard/reader.h"

/* All rows of two columns, as "first TAB second" lines of one text; starts[i] is where row i begins. */
typedef struct {
    rg_text text;
    size_t *start, count, room;
} table;

static rg_status add_row(table *t, const rg_cell *a, const rg_cell *b)
{
    if (t->count + 1 >= t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        size_t      *larger = rg_realloc(t->start, room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        t->start = larger;
        t->room = room;
    }
    t->start[t->count++] = t->text.length;
    RG_TRY(rg_text_add(&t->text, a->bytes, a->count));
    RG_TRY(rg_text_add(&t->text, "\t", 1));
    RG_TRY(rg_text_add(&t->text, b->bytes, b->count));
    RG_TRY(rg_text_add(&t->text, "\n", 1));
    t->start[t->count] = t->text.length;
    return RG_OK;
}

static rg_status read_table(table *t, const char *path, const char *format, const char *first, const char *second)
{
    const char *const wanted[] = { first, second };
    rg_reader_config  c = RG_READER_CONFIG_DEFAULT;
    rg_reader        *r;
    bool              more = true;
    c.format = format;
    c.wanted = wanted;
    c.wanted_count = 2;
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    while (status == RG_OK && more) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more) status = add_row(t, &row.cell[0], &row.cell[1]);
    }
    rg_reader_close(r);
    return status;
}

static void free_table(table *t)
{
    rg_text_free(&t->text);
    rg_free(t->start);
}

/* ------------------------------------------------------------------------------------------------------- few labels */

typedef struct {
    uint64_t key;
    size_t   at;
} candidate;

static int by_key(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->at > b->at) - (a->at < b->at);
}

/* Random order; the first count / 2 of each of the two classes have their label written. */
static rg_status part_texts(rg_text *few, rg_text *rest, const table *t, size_t count, uint64_t seed)
{
    candidate  *c = rg_alloc_array(t->count + 1, sizeof *c);
    size_t      taken[2] = { 0, 0 };
    rg_status   status = c ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; c && i < t->count; i++) {
        rg_random r = rg_random_new(seed, i);
        c[i] = (candidate){ rg_random_u32(&r), i };
    }
    if (c) qsort(c, t->count, sizeof *c, by_key);
    for (size_t k = 0; status == RG_OK && k < t->count; k++) {
        const char  *line = t->text.data + t->start[c[k].at];
        const size_t bytes = t->start[c[k].at + 1] - t->start[c[k].at];
        const char  *tab = memchr(line, '\t', bytes);
        const bool   second = tab && line[0] == '1';
        if (!tab) continue;
        status = taken[second]++ < count / 2 ? rg_text_add(few, line, bytes)
                                             : rg_text_add(rest, tab + 1, bytes - (size_t)(tab - line) - 1);
    }
    rg_free(c);
    return status;
}

rg_status rg_lab_few_texts(const char *few, const char *rest, const char *path, size_t count, uint64_t seed)
{
    table     t = { 0 };
    rg_text   a = { 0 }, b = { 0 };
    bool      there = false;
    rg_status status = rg_file_exists(&there, rest);
    if (status == RG_OK && !there) status = read_table(&t, path, "label", "label", "text");
    if (status == RG_OK && !there) status = part_texts(&a, &b, &t, count, seed);
    if (status == RG_OK && !there) status = rg_file_replace(few, a.data, a.length);
    if (status == RG_OK && !there) status = rg_file_replace(rest, b.data, b.length); /* the last: all is there */
    free_table(&t);
    rg_text_free(&a);
    rg_text_free(&b);
    return status;
}

typedef struct {
    const table *of;
    size_t       at;
} feed;

static rg_status next_text(bool *out_more, const char **out_text, size_t *out_bytes, void *context)
{
    feed *f = context;
    *out_more = f->at < f->of->count;
    if (!*out_more) return RG_OK;
    const char *line = f->of->text.data + f->of->start[f->at], *tab = strchr(line, '\t');
    *out_text = tab + 1;
    *out_bytes = (size_t)(f->of->text.data + f->of->start[f->at + 1] - 1 - (tab + 1));
    f->at++;
    return RG_OK;
}

rg_status rg_lab_words(const char *out, const char *path)
{
    table           t = { 0 };
    feed            f = { .of = &t };
    rg_vocab_config c = RG_VOCAB_CONFIG_DEFAULT;
    rg_vocab       *vocab = NULL;
    bool            there = false;
    rg_status       status = rg_file_exists(&there, out);
    if (status == RG_OK && !there) status = rg_vocab_kind_find(&c.kind, "words");
    c.size = 0;
    c.min_count = 2;
    if (status == RG_OK && !there) status = read_table(&t, path, "label", "label", "text");
    if (status == RG_OK && !there) status = rg_vocab_train(&vocab, &c, next_text, &f);
    if (status == RG_OK && !there) status = rg_vocab_save(vocab, out);
    rg_vocab_free(vocab);
    free_table(&t);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ emoji */

enum { LISTS = 4, MOST_PICTURE = 1 << 20 };

/* Which lists an emoji is in, and the style it has there. */
static const struct {
    const char *name, *style;
    unsigned    modulo_4; /* a bit per remainder */
} list[LISTS] = { { "source", "google", 3 }, { "target", "twitter", 4 }, { "source-test", "google", 8 },
                  { "test", "twitter", 8 } };

static rg_status part_emoji(rg_text to[LISTS], const table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const char *line = t->text.data + t->start[i], *tab = strchr(line, '\t');
        if (!tab) continue;
        const long id = strtol(tab + 1, NULL, 10);
        for (size_t k = 0; k < LISTS; k++)
            if (list[k].modulo_4 >> (id & 3) & 1)
                RG_TRY(rg_text_print(&to[k], "%.*s\t%s/%04ld.png\n", (int)(tab - line), line, list[k].style, id));
    }
    return RG_OK;
}

static rg_status unpack(const char *out, const char *from, const char *style, size_t count)
{
    char     *archive = rg_format("%s/png64-%s.tar", from, style), *folder = rg_format("%s/%s", out, style);
    rg_files *files = NULL;
    rg_text   bytes = { 0 };
    rg_status status = archive && folder ? rg_files_open(&files, archive) : RG_ENOMEM;
    if (folder) (void)mkdir(folder, 0777);
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        char  name[32], *path;
        bool  there = false;
        snprintf(name, sizeof name, "%04u.png", (unsigned)i);
        rg_text_clear(&bytes);
        status = rg_files_read(&there, &bytes, files, name, MOST_PICTURE);
        if (status != RG_OK || !there) continue;
        path = rg_format("%s/%s", folder, name);
        status = path ? rg_file_replace(path, bytes.data, bytes.length) : RG_ENOMEM;
        rg_free(path);
    }
    rg_files_close(files);
    rg_text_free(&bytes);
    rg_free(archive);
    rg_free(folder);
    return status;
}

static rg_status make_emoji(const char *out, const char *from)
{
    table     t = { 0 };
    rg_text   to[LISTS] = { { 0 }, { 0 }, { 0 }, { 0 } };
    char     *names = rg_format("%s/emoji.tsv.gz", from);
    (void)mkdir(out, 0777);
    rg_status status = names ? read_table(&t, names, "tsv", "group", "id") : RG_ENOMEM;
    if (status == RG_OK) status = part_emoji(to, &t);
    if (status == RG_OK) status = unpack(out, from, "google", t.count);
    if (status == RG_OK) status = unpack(out, from, "twitter", t.count);
    for (size_t i = 0; i < LISTS; i++) { /* test.tsv is the last: all is there */
        char *file = rg_format("%s/%s.tsv", out, list[i].name);
        if (status == RG_OK) status = file ? rg_file_replace(file, to[i].data, to[i].length) : RG_ENOMEM;
        rg_free(file);
        rg_text_free(&to[i]);
    }
    free_table(&t);
    rg_free(names);
    return status;
}

rg_status rg_lab_emoji(const char *out, const char *from)
{
    char     *last = rg_format("%s/test.tsv", out);
    bool      there = false;
    rg_status status = last ? rg_file_exists(&there, last) : RG_ENOMEM;
    rg_free(last);
    return status == RG_OK && !there ? make_emoji(out, from) : status;
}
