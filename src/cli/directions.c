/* directions.c - see directions.h */
#include "cli/directions.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "regard/text.h"

enum { MOST = 10000 }; /* models of a server */

void rg_directions_free(rg_directions *d)
{
    for (size_t i = 0; i < d->count; i++) {
        rg_free((char *)d->direction[i].path);
        rg_free((char *)d->direction[i].source);
        rg_free((char *)d->direction[i].target);
    }
    rg_free(d->direction);
    *d = (rg_directions){ 0 };
}

/* Takes the strings over. */
static rg_status add(rg_directions *d, char *path, char *source, char *target)
{
    if (path && d->count == d->room && d->room < MOST) {
        const size_t        room = d->room ? 2 * d->room : 8;
        rg_serve_direction *more = rg_realloc(d->direction, room * sizeof *more);
        if (more) d->direction = more, d->room = room;
    }
    if (path && d->count < d->room) {
        d->direction[d->count++] = (rg_serve_direction){ .path = path, .source = source, .target = target };
        return RG_OK;
    }
    const rg_status status = path && d->room >= MOST ? rg_fail(RG_ELIMIT, "more than %d models", MOST) : RG_ENOMEM;
    rg_free(path);
    rg_free(source);
    rg_free(target);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- folders */

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Checkpoints and records end the same way: only what says that it translates. */
static bool translates(const char *path)
{
    rg_state   *state = NULL;
    const char *name;
    bool        yes = false;
    if (rg_state_new(&state) == RG_OK && rg_model_file_state(state, path) == RG_OK &&
        rg_state_get_text(&name, state, "regard.task") == RG_OK) {
        const rg_task *task = rg_task_find(name);
        yes = task && task->translates;
    }
    rg_state_free(state);
    return yes;
}

static int is_model_name(const struct dirent *entry)
{
    static const char end[] = ".safetensors";
    const size_t      n = strlen(entry->d_name), m = sizeof end - 1;
    return n > m && entry->d_name[0] != '.' && strcmp(entry->d_name + n - m, end) == 0;
}

static rg_status add_folder(rg_directions *d, const char *folder)
{
    struct dirent **entry = NULL;
    const size_t    before = d->count;
    rg_status       status = RG_OK;
    const int       n = scandir(folder, &entry, is_model_name, alphasort);
    if (n < 0) return rg_fail(RG_EIO, "%s: the folder cannot be read", folder);
    for (int i = 0; i < n; i++) {
        rg_text path = { 0 };
        if (status == RG_OK) status = rg_text_print(&path, "%s/%s", folder, entry[i]->d_name);
        if (status == RG_OK && translates(rg_text_c(&path)))
            status = add(d, rg_strdup(rg_text_c(&path)), NULL, NULL);
        else if (status == RG_OK)
            fprintf(stderr, "regard serve: %s is left out: it is not a model that translates\n", rg_text_c(&path));
        rg_text_free(&path);
        free(entry[i]);
    }
    free(entry);
    if (status == RG_OK && d->count == before)
        status = rg_fail(RG_EINVAL, "%s: the folder has no model that translates (NAME.safetensors)", folder);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- words */

static char *part(const char *from, const char *to)
{
    char *copy = rg_alloc((size_t)(to - from) + 1);
    if (!copy) return NULL;
    memcpy(copy, from, (size_t)(to - from));
    copy[to - from] = 0;
    return copy;
}

/* en:fr=FILE, unless there is a file of that whole name. */
static rg_status add_word(rg_directions *d, const char *word)
{
    struct stat facts;
    const char *colon = strchr(word, ':'), *equal = strchr(word, '=');
    const bool  named =
        colon && equal && colon > word && colon + 1 < equal && !memchr(word, '/', (size_t)(equal - word));
    if (is_folder(word)) return add_folder(d, word);
    if (!named || stat(word, &facts) == 0) return add(d, rg_strdup(word), NULL, NULL);
    char *source = part(word, colon), *target = part(colon + 1, equal);
    if (!source || !target) {
        rg_free(source);
        rg_free(target);
        return RG_ENOMEM;
    }
    return add(d, rg_strdup(equal + 1), source, target);
}

rg_status rg_directions_find(rg_directions *out, const rg_list *words)
{
    for (size_t i = 0; i < words->count; i++) RG_TRY(add_word(out, words->items[i]));
    return out->count ? RG_OK : rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors, or a folder of them");
}
