/* case_jpeg.c - a folder of JPEG files to a batch: every file is read, decoded, cut to a square of 96 x 96 pixels and
 * put into rows of numbers. Files are shared out to the threads.
 *
 * REGARD_JPEG names the folder; the first 200 of its files that end in .jpg, by name, are read. Without it there is no
 * row. */
#include "bench.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "regard/picture.h"

enum { MOST = 200,
       SIDE = 96,
       NUMBERS = SIDE * SIDE * 3 };

typedef struct {
    char     *path[MOST];
    size_t    count;
    rg_real  *rows;
    rg_status status[MOST];
    rg_team  *team;
} state;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void close_folder(state *s)
{
    for (size_t i = 0; i < s->count; i++) rg_free(s->path[i]);
    s->count = 0;
}

/* All names are looked at: the first by name stay. */
static rg_status open_folder(state *s)
{
    const char    *folder = getenv("REGARD_JPEG");
    DIR           *d = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    char         **name = NULL;
    size_t         n = 0;
    rg_status      status = d ? RG_OK : rg_fail(RG_EIO, "REGARD_JPEG names no folder");
    while (status == RG_OK && (entry = readdir(d)) != NULL) {
        const size_t bytes = strlen(entry->d_name);
        if (bytes < 5 || strcmp(entry->d_name + bytes - 4, ".jpg") != 0) continue;
        char **larger = rg_realloc(name, (n + 1) * sizeof *larger);
        if (larger) name = larger;
        if (!larger || !(name[n] = rg_format("%s/%s", folder, entry->d_name))) status = RG_ENOMEM;
        else n++;
    }
    if (d) closedir(d);
    if (n) qsort(name, n, sizeof *name, by_name);
    for (size_t i = 0; i < n; i++)
        if (status == RG_OK && s->count < MOST) s->path[s->count++] = name[i];
        else rg_free(name[i]);
    rg_free(name);
    return status == RG_OK && !s->count ? rg_fail(RG_EIO, "%s has no .jpg files", folder) : status;
}

static void describe(bench_row *out, size_t row)
{
    state s = { .count = 0 };
    (void)row;
    if (getenv("REGARD_JPEG") && open_folder(&s) == RG_OK) {
        snprintf(out->name, sizeof out->name, "%zu JPEG files to %dx%d", s.count, SIDE, SIDE);
        snprintf(out->params, sizeof out->params, "\"folder\": \"%.150s\", \"most\": %d, \"side\": %d",
                 getenv("REGARD_JPEG"), MOST, SIDE);
        out->items = (double)s.count;
    }
    close_folder(&s);
}

static void teardown(void *context)
{
    state *s = context;
    close_folder(s);
    rg_free(s->rows);
}

static rg_status setup(void *context, size_t row, rg_team *team)
{
    state *s = context;
    (void)row;
    s->team = team;
    RG_TRY(open_folder(s));
    s->rows = rg_alloc_array(s->count * NUMBERS, sizeof *s->rows);
    return s->rows ? RG_OK : RG_ENOMEM;
}

static rg_status read_one(const state *s, size_t i)
{
    rg_picture whole = { 0 }, small = { 0 };
    rg_status  status = rg_picture_load(&whole, s->path[i], 3);
    if (status == RG_OK) status = rg_picture_fit(&small, &whole, SIDE, SIDE, RG_FIT_CROP, RG_RESIZE_BILINEAR);
    for (size_t k = 0; status == RG_OK && k < NUMBERS; k++)
        s->rows[i * NUMBERS + k] = (rg_real)small.pixels[k] / 255;
    rg_picture_free(&whole);
    rg_picture_free(&small);
    return status;
}

static void read_some(void *context, int member, size_t begin, size_t end)
{
    state *s = context;
    (void)member;
    for (size_t i = begin; i < end; i++) s->status[i] = read_one(s, i);
}

static rg_status run(void *context)
{
    state *s = context;
    rg_team_for(s->team, s->count, 1, read_some, s);
    for (size_t i = 0; i < s->count; i++)
        if (s->status[i] != RG_OK) return rg_fail(s->status[i], "%s could not be read", s->path[i]);
    return RG_OK;
}

/* The mean, to one digit of a hundred: filters of two programs are not quite the same. */
static double check(void *context)
{
    const state *s = context;
    const double mean = bench_mean_abs(s->rows, s->count * NUMBERS);
    return (double)(int)(100 * mean + 0.5) / 100;
}

const bench_case bench_case_jpeg = {
    .name = "jpeg",
    .summary = "a folder of JPEG files to a batch of 96 x 96 pixels (REGARD_JPEG names it)",
    .rows = 1,
    .describe = describe,
    .bytes = sizeof(state),
    .setup = setup,
    .run = run,
    .check = check,
    .teardown = teardown,
};
