/* rows_audit.c - part of a run again: because resuming is exact to the bit, a stretch from a checkpoint must come to
 * the weights whose hashes stand in the log of the run.
 *
 *     OUT/NAME.sSEED/model.safetensors.jsonl               {"step": 2300, ..., "weights": "3b1c..."}
 *                    model.safetensors.checkpoint.prev     copied to OUT/NAME.sSEED/audit/, resumed, compared, removed
 */
#include "lab/rows.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENOUGH = 5 }; /* lines of the log that are compared */

typedef struct {
    uint64_t step, weights;
} mark;

typedef struct {
    const rg_lab *lab;
    mark         *marks; /* of the log, by step */
    size_t        count;
    size_t        same, other, met; /* hashes that agree, that do not; log lines met */
} audit;

/* ------------------------------------------------------------------------------------------------------- the log */

/* A resumed run repeats the steps after its checkpoint: the later line counts, and must say the same. */
static void add_mark(audit *a, const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "weights"));
    const mark  m = { (uint64_t)json_integer_value(json_object_get(object, "step")),
                     text ? strtoull(text, NULL, 16) : 0 };
    if (!text) return;
    while (a->count && a->marks[a->count - 1].step >= m.step) a->count--;
    a->marks[a->count++] = m;
}

static rg_status read_marks(audit *a, const char *log)
{
    rg_line_list lines = { 0 };
    rg_status    status = rg_line_list_read(&lines, log, -1);
    if (status == RG_OK && !(a->marks = rg_alloc_array(lines.count + 1, sizeof *a->marks))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < lines.count; i++) {
        json_t *object = json_loads(lines.line[i], 0, NULL);
        if (object) add_mark(a, object);
        json_decref(object);
    }
    rg_line_list_free(&lines);
    if (status == RG_OK && !a->count)
        status = rg_fail(RG_EINVAL, "%s has no hashes of weights: it was written by an earlier program", log);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- the stretch */

static void compare(void *context, const rg_train_log *log)
{
    audit *a = context;
    if (log->event != RG_TRAIN_LOG) return;
    a->met++;
    for (size_t i = 0; i < a->count; i++) {
        if (a->marks[i].step != log->step) continue;
        const bool same = a->marks[i].weights == log->weights;
        *(same ? &a->same : &a->other) += 1;
        fprintf(a->lab->out, "update %" PRIu64 ": weights %016" PRIx64 "%s", log->step, log->weights,
                same ? ", as in the log\n" : ", but in the log ");
        if (!same) fprintf(a->lab->out, "%016" PRIx64 "\n", a->marks[i].weights);
    }
}

static bool enough(void *context)
{
    const audit *a = context;
    return a->other || a->met >= ENOUGH;
}

/* Weights are not averaged at the end: the saved models of the run are not there. */
static rg_status train(audit *a, const rg_row_run *run, const char *folder)
{
    const rg_train_report report = { .context = a, .log = compare, .stop = enough };
    const char           *none = "0";
    rg_recipe            *recipe = NULL;
    RG_TRY(rg_row_recipe(&recipe, run, folder));
    rg_status status = rg_recipe_set(recipe, "average", 1, &none);
    if (status == RG_OK) {
        const rg_training t = rg_recipe_training(recipe, &report);
        status = rg_learn(NULL, NULL, &t);
    }
    rg_recipe_free(recipe);
    return status == RG_ESTOP ? RG_OK : status;
}

/* ---------------------------------------------------------------------------------------------------------- files */

static rg_status copy(const char *from, const char *to)
{
    rg_file      *in = NULL, *out = NULL;
    unsigned char block[65536];
    size_t        got = 1;
    rg_status     status = rg_file_open(&in, from, "rb");
    if (status == RG_OK) status = rg_file_open(&out, to, "wb");
    while (status == RG_OK && got) {
        status = rg_file_read_some(&got, in, block, sizeof block);
        if (status == RG_OK && got) status = rg_file_write(out, block, got);
    }
    const rg_status closed = rg_file_close(out);
    rg_file_close(in);
    return status == RG_OK ? closed : status;
}

/* The checkpoint before the last one, else the last. */
static rg_status copy_checkpoint(const char *from, const char *to)
{
    static const char *const endings[] = { ".prev", "" };
    char                    *target = rg_format("%s/model.safetensors.checkpoint", to);
    rg_status                status = target ? RG_OK : RG_ENOMEM;
    bool                     there = false;
    for (size_t i = 0; status == RG_OK && !there && i < 2; i++) {
        char *path = rg_format("%s/model.safetensors.checkpoint%s", from, endings[i]);
        status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
        if (status == RG_OK && there) status = copy(path, target);
        rg_free(path);
    }
    if (status == RG_OK && !there) status = rg_fail(RG_EINVAL, "%s has no checkpoint to begin from", from);
    rg_free(target);
    return status;
}

/* What the training wrote, and the folder. */
static rg_status remove_folder(const char *folder)
{
    DIR           *d = opendir(folder);
    rg_status      status = d ? RG_OK : rg_fail(RG_EIO, "cannot read the folder %s: %s", folder, strerror(errno));
    struct dirent *entry;
    while (status == RG_OK && (entry = readdir(d))) {
        char *path = rg_format("%s/%s", folder, entry->d_name);
        if (!path) status = RG_ENOMEM;
        else if (strncmp(entry->d_name, "model", 5) == 0) status = rg_file_remove(path);
        rg_free(path);
    }
    if (d) closedir(d);
    if (status == RG_OK && rmdir(folder) != 0)
        status = rg_fail(RG_EIO, "cannot remove the folder %s: %s", folder, strerror(errno));
    return status;
}

/* NAME.sSEED, the last part of the folder, names the row. */
static rg_status find_run(rg_row_run *run, const char *folder)
{
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    for (const rg_row *r = run->job->grid->rows; r->name; r++) {
        const size_t n = strlen(r->name);
        if (strncmp(name, r->name, n) != 0 || strncmp(name + n, ".s", 2) != 0) continue;
        run->row = r;
        run->seed = strtoll(name + n + 2, NULL, 10);
        return RG_OK;
    }
    return rg_fail(RG_EINVAL, "%s is not the folder of a row's run, NAME.sSEED", folder);
}

static rg_status audit_in(audit *a, const rg_row_run *run, const char *place)
{
    if (mkdir(place, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "cannot make the folder %s: %s", place, strerror(errno));
    RG_TRY(copy_checkpoint(run->folder, place));
    rg_status status = train(a, run, place);
    return status == RG_OK ? remove_folder(place) : status;
}

static rg_status verdict(bool *holds, const audit *a, const char *log)
{
    *holds = a->other == 0;
    if (!a->same && !a->other)
        return rg_fail(RG_EINVAL, "%s has no hash behind its checkpoint: nothing can be compared", log);
    fprintf(a->lab->out, "%s: %zu of %zu hashes agree\n", log, a->same, a->same + a->other);
    return RG_OK;
}

rg_status rg_grid_audit(bool *holds, const rg_grid_job *job, const char *log)
{
    const char *slash = strrchr(log, '/');
    char       *folder = slash ? rg_format("%.*s", (int)(slash - log), log) : rg_strdup(".");
    char       *place = folder ? rg_format("%s/audit", folder) : NULL;
    rg_row_run  run = { .job = job, .folder = folder };
    audit       a = { .lab = job->lab };
    rg_status   status = place ? find_run(&run, folder) : RG_ENOMEM;
    if (status == RG_OK) status = read_marks(&a, log);
    if (status == RG_OK) status = audit_in(&a, &run, place);
    if (status == RG_OK) status = verdict(holds, &a, log);
    rg_free(a.marks);
    rg_free(place);
    rg_free(folder);
    return status;
}
