/* multi30k_run.c - one run of a row: the words of `regard train`, the training, its log, and result.json.
 *
 *     OUT/NAME.sSEED/options               what it is trained with, written first
 *                    model.safetensors     and what else `regard train` writes
 *                    test2016.TARGET       the translation that was judged
 *                    result.json           written last: the run is finished */
#include "cli/reproduce/multi30k.h"
#include "cli/command.h"
#include "cli/training.h"
#include "tasks/translation.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define AT(field) offsetof(multi30k_result, field)

const multi30k_field multi30k_fields[] = {
    { "bleu", AT(bleu) }, { "bleu_cased", AT(bleu_cased) }, { "chrf", AT(chrf) }, { "perplexity", AT(perplexity) }, { "word_perplexity", AT(word_perplexity) },
    { "valid_bleu", AT(valid_bleu) }, { "parameters", AT(parameters) }, { "flops_word", AT(flops_word) }, { "flops_training", AT(flops_training) },
    { "updates", AT(updates) }, { "epochs", AT(epochs) }, { "seconds", AT(seconds) }, { "words_second", AT(words_second) },
    { "translate_seconds", AT(translate_seconds) }, { "epochs_cap", AT(epochs_cap) }, { NULL, 0 }
};

static double *field_of(multi30k_result *r, const multi30k_field *f) { return (double *)(void *)((char *)r + f->offset); }

char *multi30k_folder(const multi30k_job *job, const multi30k_row *row, int64_t seed)
{
    return rg_format("%s/%s.s%lld%s", job->out, row->name, (long long)seed, job->quick ? ".quick" : "");
}

/* ------------------------------------------------------------------------------------------------------------ files */

static rg_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return rg_fail(RG_EIO, "cannot make the folder %s: %s", path, strerror(errno));
    return RG_OK;
}

rg_status multi30k_save(const char *folder, const char *name, const char *text)
{
    char     *path = rg_format("%s/%s", folder, name);
    rg_status status = path ? rg_file_replace(path, text, strlen(text)) : RG_ENOMEM;
    rg_free(path);
    return status;
}

/* The first line of FOLDER/NAME; an empty string when there is no such file. To be freed. */
static rg_status read_text(char **out, const char *folder, const char *name)
{
    rg_line_list list = { 0 };
    bool         there = false;
    char        *path = rg_format("%s/%s", folder, name);
    rg_status    status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
    *out = NULL;
    if (status == RG_OK && there) status = rg_line_list_read(&list, path, -1);
    if (status == RG_OK && !(*out = rg_strdup(list.count ? list.line[0] : ""))) status = RG_ENOMEM;
    rg_line_list_free(&list);
    rg_free(path);
    return status;
}

/* Everything that decides the weights but the data, the limit of epochs and the seed. */
static char *options_of(const multi30k_job *job, const multi30k_row *row)
{
    static const char quick[] =
        " --after-batches 60 --valid-freq 60 --save-freq 30 --disp-freq 10 --lr-warmup 20 --exponential-smoothing 0.05 --average 0";
    return rg_format("%s%s%s%s", row->options, job->quick ? quick : "", job->extra[0] ? " " : "", job->extra);
}

static rg_status remove_files(const char *folder)
{
    static const char *const names[] = { "result.json", "model.safetensors.checkpoint", "model.safetensors.checkpoint.prev",
                                         "model.best-bleu.safetensors", "model.safetensors.jsonl" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char     *path = rg_format("%s/%s", folder, names[i]);
        rg_status status = path ? rg_file_remove(path) : RG_ENOMEM;
        rg_free(path);
        RG_TRY(status);
    }
    return RG_OK;
}

/* The folder is there and belongs to these options. */
static rg_status claim_folder(const multi30k_job *job, const multi30k_row *row, const char *folder)
{
    char     *now = options_of(job, row), *then = NULL;
    rg_status status = now ? make_folder(job->out) : RG_ENOMEM;
    if (status == RG_OK) status = make_folder(folder);
    if (status == RG_OK) status = read_text(&then, folder, "options");
    if (status == RG_OK && then[0] && strcmp(now, then) != 0) {
        if (!job->overwrite)
            status =
                rg_fail(RG_EMATCH,
                        "%s was trained with other options:\n  then: %s\n  now:  %s\n--overwrite trains it again; another --out keeps both",
                        folder, then, now);
        else status = remove_files(folder);
    }
    if (status == RG_OK) status = multi30k_save(folder, "options", now);
    rg_free(now);
    rg_free(then);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- results */

static rg_status write_result(const char *folder, const multi30k_row *row, int64_t seed, const char *words, multi30k_result *r)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:s}", "row", row->name, "source", row->source, "target", row->target, "seed",
                               (json_int_t)seed, "options", words);
    json_t *classes = json_array();
    for (const multi30k_field *f = multi30k_fields; f->name; f++) json_object_set_new(object, f->name, json_real(*field_of(r, f)));
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) json_array_append_new(classes, json_pack("[f, f]", r->class_lines[b], r->class_bleu[b]));
    json_object_set_new(object, "by_length", classes);
    char     *text = json_dumps(object, JSON_INDENT(2));
    rg_status status = text ? multi30k_save(folder, "result.json", text)
                            : rg_fail(RG_ENUMBER, "the figures of %s cannot be written: one of them is not finite", row->name);
    free(text);
    json_decref(object);
    return status;
}

static rg_status parse_result(multi30k_result *r, const char *path)
{
    json_error_t where;
    json_t      *object = json_load_file(path, 0, &where);
    if (!object) return rg_fail(RG_EFORMAT, "%s, line %d: %s", path, where.line, where.text);
    bool good = true;
    for (const multi30k_field *f = multi30k_fields; f->name; f++) {
        const json_t *value = json_object_get(object, f->name);
        good = good && json_is_number(value);
        *field_of(r, f) = json_number_value(value);
    }
    const json_t *classes = json_object_get(object, "by_length");
    good = good && json_array_size(classes) == MULTI30K_CLASSES;
    for (size_t b = 0; b < MULTI30K_CLASSES; b++) {
        const json_t *pair = json_array_get(classes, b);
        r->class_lines[b] = json_number_value(json_array_get(pair, 0));
        r->class_bleu[b] = json_number_value(json_array_get(pair, 1));
    }
    json_decref(object);
    return good ? RG_OK : rg_fail(RG_EFORMAT, "%s lacks figures; remove it and the run is judged again", path);
}

static rg_status read_result(bool *found, multi30k_result *out, const char *folder)
{
    char     *path = rg_format("%s/result.json", folder);
    rg_status status = path ? rg_file_exists(found, path) : RG_ENOMEM;
    if (status == RG_OK && *found) status = parse_result(out, path);
    rg_free(path);
    return status;
}

rg_status multi30k_read(bool *found, multi30k_result *out, const multi30k_job *job, const multi30k_row *row, int64_t seed)
{
    char     *folder = multi30k_folder(job, row, seed), *now = options_of(job, row), *then = NULL;
    rg_status status = folder && now ? read_text(&then, folder, "options") : RG_ENOMEM;
    *found = false;
    if (status == RG_OK && strcmp(now, then) == 0) status = read_result(found, out, folder);
    else if (status == RG_OK && then[0]) fprintf(stderr, "%s was trained with other options and is left out\n", folder);
    if (status == RG_EFORMAT) { /* of an older program, or damaged: the other rows still have their table */
        fprintf(stderr, "%s\n", rg_message());
        *found = false;
        status = RG_OK;
    }
    rg_free(folder);
    rg_free(now);
    rg_free(then);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- training */

typedef struct {
    char       *storage[12];
    const char *word[256];
    int         count;
    size_t      stored;
} words;

static void free_words(words *w)
{
    for (size_t i = 0; i < w->stored; i++) rg_free(w->storage[i]);
}

static rg_status add_words(words *w, char *text, bool split)
{
    if (!text) return RG_ENOMEM;
    w->storage[w->stored++] = text;
    if (!split) {
        w->word[w->count++] = text;
        return RG_OK;
    }
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (w->count > 200) return rg_fail(RG_ELIMIT, "more than 200 words of options");
        w->word[w->count++] = word;
    }
    return RG_OK;
}

static rg_status add_file(words *w, const char *flag, const multi30k_job *job, const char *set, const char *language)
{
    char *path;
    RG_TRY(multi30k_file(&path, job, set, language));
    if (flag) w->word[w->count++] = flag;
    return add_words(w, path, false);
}

/* The row's own words come first: what the experiment decides overrides them. */
static rg_status make_words(words *w, const multi30k_job *job, const multi30k_row *row, const char *folder, int64_t seed)
{
    *w = (words){ 0 };
    RG_TRY(add_words(w, options_of(job, row), true));
    RG_TRY(add_file(w, "--train-sets", job, "train", row->source));
    RG_TRY(add_file(w, NULL, job, "train", row->target));
    RG_TRY(add_file(w, "--valid-sets", job, "val", row->source));
    RG_TRY(add_file(w, NULL, job, "val", row->target));
    w->word[w->count++] = "--model";
    RG_TRY(add_words(w, rg_format("%s/model.safetensors", folder), false));
    RG_TRY(add_words(w, rg_format("--keep-best --seed %lld --cpu-threads %lld", (long long)seed, (long long)job->threads), true));
    return job->epochs ? add_words(w, rg_format("--after-epochs %lld", (long long)job->epochs), true) : RG_OK;
}

static const rg_system *system_of(const rg_call *call)
{
    size_t           group = 0;
    const rg_option *row = rg_option_find(call->groups, call->count, "type", &group);
    return row ? rg_system_find(*(char **)(void *)((char *)call->groups[group].values + row->offset)) : NULL;
}

/* Through the command's own rows and the task's own code: nothing here is special to the experiment. */
static rg_status train(const rg_call *call)
{
    const rg_system   *system = system_of(call);
    const rg_learning *learning = rg_call_values(call, rg_learning_rows);
    if (!system || system->task != &rg_task_translation) return rg_fail(RG_EINVAL, "the row does not train a translator");
    char      *log = rg_format("%s.jsonl", learning->model);
    rg_console console = { 0 };
    rg_status  status = log ? rg_console_open(&console, log, learning->overwrite, false) : RG_ENOMEM;
    if (status == RG_OK) {
        const rg_train_report report = rg_console_report(&console);
        const rg_training     t = { .system = system,
                                    .system_options = rg_call_values(call, system->options),
                                    .task_options = rg_call_values(call, system->task->options),
                                    .learning = learning,
                                    .report = &report };
        status = rg_learn(NULL, NULL, &t);
        rg_console_close(&console);
    }
    rg_free(log);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- its log */

typedef struct {
    double step, epoch, seconds, words, speed;
} log_line;

static int by_speed(const void *a, const void *b)
{
    const double x = ((const log_line *)a)->speed, y = ((const log_line *)b)->speed;
    return (x > y) - (x < y);
}

/* A resumed run repeats the steps after its last checkpoint: the later line counts. */
static size_t add_log(log_line *lines, size_t count, const json_t *object)
{
    const log_line l = { json_number_value(json_object_get(object, "step")), json_number_value(json_object_get(object, "epoch")),
                         json_number_value(json_object_get(object, "seconds")), json_number_value(json_object_get(object, "words")),
                         json_number_value(json_object_get(object, "words_per_second")) };
    if (!json_object_get(object, "loss")) return count;
    while (count && lines[count - 1].step >= l.step) count--;
    lines[count++] = l;
    return count;
}

/* Updates, epochs, seconds and the median speed; *pieces: target pieces learned from. */
static rg_status read_log(multi30k_result *r, double *pieces, const char *folder)
{
    rg_line_list text = { 0 };
    char        *path = rg_format("%s/model.safetensors.jsonl", folder);
    rg_status    status = path ? rg_line_list_read(&text, path, -1) : RG_ENOMEM;
    log_line    *lines = status == RG_OK ? rg_alloc_array(text.count + 1, sizeof *lines) : NULL;
    size_t       count = 0;
    if (status == RG_OK && !lines) status = RG_ENOMEM;
    *pieces = 0;
    for (size_t i = 0; status == RG_OK && i < text.count; i++) {
        json_t *object = json_loads(text.line[i], 0, NULL); /* a killed run may leave half a line */
        if (object) count = add_log(lines, count, object);
        json_decref(object);
    }
    if (status == RG_OK && count) {
        r->updates = lines[count - 1].step;
        r->epochs = lines[count - 1].epoch;
        for (size_t i = 0; i < count; i++) r->seconds += lines[i].seconds, *pieces += lines[i].words;
        qsort(lines, count, sizeof *lines, by_speed);
        r->words_second = lines[count / 2].speed;
    }
    rg_line_list_free(&text);
    rg_free(lines);
    rg_free(path);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- one run */

static rg_status train_and_judge(multi30k_result *out, const multi30k_job *job, const multi30k_row *row, const char *folder, int64_t seed)
{
    words     w;
    rg_call   train_call = { 0 };
    double    pieces = 0;
    extern const rg_command rg_command_train;
    fprintf(stderr, "== %s, seed %lld\n", row->name, (long long)seed);
    rg_status status = make_words(&w, job, row, folder, seed);
    if (status == RG_OK) status = rg_call_init(&train_call, &rg_command_train, w.count, w.word);
    if (status == RG_OK && !job->judge) status = train(&train_call);
    *out = (multi30k_result){ .epochs_cap = job->judge ? -1 : (double)job->epochs };
    if (status == RG_OK) {
        const rg_translation_options *o = rg_call_values(&train_call, rg_translation_rows);
        status = multi30k_judge(out, job, row, folder, o->normalize, o->max_length_factor);
    }
    if (status == RG_OK) status = read_log(out, &pieces, folder);
    out->flops_training *= pieces; /* of one piece until now */
    char *text = options_of(job, row);
    if (status == RG_OK) status = text ? write_result(folder, row, seed, text, out) : RG_ENOMEM;
    rg_free(text);
    rg_call_fini(&train_call);
    free_words(&w);
    return status;
}

rg_status multi30k_begun(bool *out, const multi30k_job *job, const multi30k_row *row, int64_t seed)
{
    char     *folder = multi30k_folder(job, row, seed), *path = folder ? rg_format("%s/model.safetensors", folder) : NULL;
    rg_status status = path ? rg_file_exists(out, path) : RG_ENOMEM;
    rg_free(path);
    rg_free(folder);
    return status;
}

rg_status multi30k_run(multi30k_result *out, const multi30k_job *job, const multi30k_row *row, int64_t seed)
{
    char     *folder = multi30k_folder(job, row, seed);
    bool      found = false;
    rg_status status = folder ? claim_folder(job, row, folder) : RG_ENOMEM;
    if (status == RG_OK) status = read_result(&found, out, folder);
    const bool finished = found && out->epochs_cap == (double)job->epochs;
    if (status == RG_OK && !finished) status = train_and_judge(out, job, row, folder, seed);
    rg_free(folder);
    return status;
}
