/* speech_data.c - see speech_data.h. Rows of readers and rows of experiments are both called rg_row: they do not meet in
 * one file. */
#include "lab/speech_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/reader.h"
#include "regard/sound.h"

enum { TRAIN, VALID, TEST, PARTS, MOST_SPEAKERS = 64, NAME = 40, SHORTEST = 3, LONGEST = 7 };

static const char *const part_names[PARTS] = { "train", "valid", "test" };
static const size_t      strings[PARTS] = { 4000, 300, 500 };

/* "7_theo_12.wav" */
typedef struct {
    char     file[NAME + 16], speaker[NAME];
    int      digit;
    long     number;
    rg_sound sound;
} recording;

typedef struct {
    recording *all;
    size_t     count, room;
} collection;

static void free_collection(collection *c)
{
    for (size_t i = 0; i < c->count; i++) rg_sound_free(&c->all[i].sound);
    rg_free(c->all);
    *c = (collection){ 0 };
}

static bool parse(recording *out, const char *name)
{
    char        *end;
    const size_t bytes = strlen(name) > 2 ? strcspn(name + 2, "_") : 0;
    if (name[0] < '0' || name[0] > '9' || name[1] != '_' || !bytes || bytes >= NAME || name[2 + bytes] != '_') return false;
    out->digit = name[0] - '0';
    snprintf(out->speaker, sizeof out->speaker, "%.*s", (int)bytes, name + 2);
    out->number = strtol(name + 3 + bytes, &end, 10);
    snprintf(out->file, sizeof out->file, "%.*s.wav", (int)(end - name), name);
    return end > name + 3 + bytes && !*end && strlen(name) < NAME + 10;
}

static rg_status add(collection *c, const rg_cell *name, const rg_cell *bytes)
{
    recording r = { 0 };
    if (!parse(&r, name->bytes)) return RG_OK;
    RG_TRY(rg_sound_decode(&r.sound, bytes->bytes, bytes->count));
    if (c->count == c->room) {
        const size_t room = c->room ? 2 * c->room : 512;
        recording   *grown = rg_realloc(c->all, room * sizeof *grown);
        if (!grown) return rg_sound_free(&r.sound), RG_ENOMEM;
        c->all = grown, c->room = room;
    }
    c->all[c->count++] = r;
    return RG_OK;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const recording *)x)->file, ((const recording *)y)->file);
}

/* The archive or folder below DATA that is there. */
static char *find_recordings(const char *data)
{
    static const char *const names[] = { "recordings.tar.gz", "recordings.tar", "recordings" };
    struct stat              about;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = rg_format("%s/%s", data, names[i]);
        if (path && stat(path, &about) == 0) return path;
        rg_free(path);
    }
    return rg_strdup(data);
}

static rg_status read_all(collection *c, const char *data)
{
    static const char *const wanted[] = { "name", "sound" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    char                    *path = find_recordings(data);
    config.wanted = wanted, config.wanted_count = 2;
    rg_status status = path ? rg_reader_open(&r, path, &config) : RG_ENOMEM;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status == RG_OK && more && (status = add(c, &row.cell[0], &row.cell[1])) != RG_OK)
            rg_reader_blame(status, r, &row);
    }
    if (status == RG_OK && !c->count)
        status = rg_fail(RG_EFORMAT, "%s: no recording is called DIGIT_SPEAKER_NUMBER.wav", path);
    rg_reader_close(r);
    rg_free(path);
    if (c->count) qsort(c->all, c->count, sizeof *c->all, by_name);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static size_t part_of(const recording *r) { return r->number < 5 ? TEST : r->number < 10 ? VALID : TRAIN; }

/* Without a speaker: the usual parts. */
static size_t part_without(const recording *r, const char *speaker)
{
    if (!speaker) return part_of(r);
    return strcmp(r->speaker, speaker) == 0 ? TEST : r->number < 10 ? VALID : TRAIN;
}

static rg_status save_text(const char *folder, const char *start, const char *part, const rg_text *text)
{
    char     *path = rg_format("%s/%s-%s.tsv", folder, start, part);
    rg_status status = path ? rg_file_replace(path, rg_text_c(text), text->length) : RG_ENOMEM;
    rg_free(path);
    return status;
}

static rg_status write_table(const collection *c, const char *folder, const char *name, const char *speaker, size_t part)
{
    rg_text   text = { 0 };
    rg_status status = rg_text_add_string(&text, "label\tsound\n");
    for (size_t i = 0; status == RG_OK && i < c->count; i++)
        if (part_without(&c->all[i], speaker) == part)
            status = rg_text_print(&text, "%d\trecordings/%s\n", c->all[i].digit, c->all[i].file);
    if (status == RG_OK) status = save_text(folder, name, part_names[part], &text);
    rg_text_free(&text);
    return status;
}

/* Thousands of files, which "complete" vouches for: without a sync for each. */
static rg_status save_sound(const char *path, const rg_sound *sound)
{
    rg_text   bytes = { 0 };
    rg_file  *file = NULL;
    rg_status status = rg_sound_encode(&bytes, sound);
    if (status == RG_OK) status = rg_file_open(&file, path, "wb");
    if (status == RG_OK) status = rg_file_write(file, bytes.data, bytes.length);
    const rg_status closed = rg_file_close(file);
    rg_text_free(&bytes);
    return status == RG_OK ? closed : status;
}

static rg_status write_recordings(const collection *c, const char *folder)
{
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < c->count; i++) {
        char *path = rg_format("%s/recordings/%s", folder, c->all[i].file);
        status = path ? save_sound(path, &c->all[i].sound) : RG_ENOMEM;
        rg_free(path);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- strings */

/* One of a speaker's recordings of a part. */
static const recording *pick(const collection *c, const char *speaker, size_t part, rg_random *random)
{
    for (;;) {
        const recording *r = &c->all[rg_random_below(random, c->count)];
        if (part_of(r) == part && (!speaker || strcmp(r->speaker, speaker) == 0)) return r;
    }
}

/* Up to 0.1 s of silence behind each. */
static rg_status join(rg_sound *out, const recording *const *some, size_t n, rg_random *random)
{
    const size_t rate = some[0]->sound.rate;
    size_t       gap[LONGEST], all = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        gap[i] = (size_t)rg_random_below(random, rate / 10);
        all += some[i]->sound.count + gap[i];
        if (some[i]->sound.rate != rate)
            return rg_fail(RG_EFORMAT, "%s has %zu samples a second, %s has %zu", some[i]->file, some[i]->sound.rate,
                           some[0]->file, rate);
    }
    RG_TRY(rg_sound_new(out, rate, all));
    for (size_t i = 0; i < n; i++) {
        memcpy(out->samples + at, some[i]->sound.samples, some[i]->sound.count * sizeof *out->samples);
        at += some[i]->sound.count + gap[i];
    }
    return RG_OK;
}

static rg_status write_string(rg_text *table, const collection *c, const char *folder, size_t part, size_t number)
{
    rg_random        random = rg_random_new(20 + part, number);
    const recording *some[LONGEST];
    const size_t     n = SHORTEST + (size_t)rg_random_below(&random, LONGEST - SHORTEST + 1);
    rg_sound         sound = { 0 };
    some[0] = pick(c, NULL, part, &random);
    for (size_t i = 1; i < n; i++) some[i] = pick(c, some[0]->speaker, part, &random);
    char     *path = rg_format("%s/strings/%s-%05zu.wav", folder, part_names[part], number + 1);
    rg_status status = path ? join(&sound, some, n, &random) : RG_ENOMEM;
    if (status == RG_OK) status = save_sound(path, &sound);
    if (status == RG_OK) status = rg_text_print(table, "strings/%s-%05zu.wav\t", part_names[part], number + 1);
    for (size_t i = 0; status == RG_OK && i < n; i++) status = rg_text_print(table, "%d", some[i]->digit);
    if (status == RG_OK) status = rg_text_print(table, "\n");
    rg_sound_free(&sound);
    rg_free(path);
    return status;
}

static rg_status write_strings(const collection *c, const char *folder, size_t part, bool quick)
{
    const size_t count = quick ? 20 : strings[part];
    rg_text      table = { 0 };
    rg_status    status = rg_text_add_string(&table, "sound\ttext\n");
    for (size_t i = 0; status == RG_OK && i < count; i++) status = write_string(&table, c, folder, part, i);
    if (status == RG_OK) status = save_text(folder, "strings", part_names[part], &table);
    rg_text_free(&table);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static bool has_parts(const collection *c)
{
    size_t seen[PARTS] = { 0 };
    for (size_t i = 0; i < c->count; i++) seen[part_of(&c->all[i])]++;
    return seen[TRAIN] && seen[VALID] && seen[TEST];
}

static rg_status make_folder(const char *folder, const char *below)
{
    char     *path = rg_format("%s%s", folder, below);
    rg_status status = !path                                               ? RG_ENOMEM
                       : mkdir(path, 0777) == 0 || errno == EEXIST ? RG_OK
                                                                   : rg_fail(RG_EIO, "%s: %s", path, strerror(errno));
    rg_free(path);
    return status;
}

static rg_status write_everything(const collection *c, const char *folder, bool quick)
{
    rg_status status = has_parts(c) ? RG_OK
                                    : rg_fail(RG_EFORMAT, "of %zu recordings none has a number 0 - 4, 5 - 9 or more: "
                                                          "all three parts are needed", c->count);
    if (status == RG_OK) status = make_folder(folder, "");
    if (status == RG_OK) status = make_folder(folder, "/recordings");
    if (status == RG_OK) status = make_folder(folder, "/strings");
    if (status == RG_OK) status = write_recordings(c, folder);
    for (size_t part = 0; status == RG_OK && part < PARTS; part++) {
        status = write_table(c, folder, "digits", NULL, part);
        if (status == RG_OK) status = write_strings(c, folder, part, quick);
        for (size_t i = 0; status == RG_OK && i < c->count; i++) { /* once for each speaker */
            size_t k = 0;
            while (strcmp(c->all[k].speaker, c->all[i].speaker) != 0) k++;
            if (k == i) status = write_table(c, folder, c->all[i].speaker, c->all[i].speaker, part);
        }
    }
    return status;
}

rg_status rg_speech_make(const char *folder, const char *data, bool quick)
{
    collection c = { 0 };
    rg_status  status = read_all(&c, data);
    if (status == RG_OK) status = write_everything(&c, folder, quick);
    free_collection(&c);
    return status;
}
