/* rows_run.c - one run of a row: the training its words describe, its verdict, and result.json. */
#include "lab/rows.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *rg_row_folder(const rg_grid_job *job, const rg_row *row, int64_t seed)
{
    return rg_format("%s/%s.s%lld%s", job->out, row->name, (long long)seed, job->settings->quick ? ".quick" : "");
}

/* ------------------------------------------------------------------------------------------------------------ files */

static rg_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "cannot make the folder %s: %s", path, strerror(errno));
    return RG_OK;
}

rg_status rg_row_save(const char *folder, const char *name, const char *text)
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

static rg_status remove_file(const char *folder, const char *name)
{
    char     *path = rg_format("%s/%s", folder, name);
    rg_status status = path ? rg_file_remove(path) : RG_ENOMEM;
    rg_free(path);
    return status;
}

/* Everything that decides the weights but the data, the limit of epochs and the seed. */
static char *options_of(const rg_grid_job *job, const rg_row *row)
{
    const char *extra = job->settings->extra, *quick = job->settings->quick && job->grid->quick ? job->grid->quick : "";
    if (row->of) return rg_format("of %s", row->of);
    return rg_format("%s%s%s%s%s", row->options, *quick ? " " : "", quick, *extra ? " " : "", extra);
}

/* The folder is there and belongs to these options. */
static rg_status claim_folder(const rg_grid_job *job, const rg_row *row, const char *folder)
{
    static const char *const made[] = { "result.json",
                                        "failed",
                                        "model.safetensors.checkpoint",
                                        "model.safetensors.checkpoint.prev",
                                        "model.best-bleu.safetensors",
                                        "model.safetensors.jsonl" };
    char                    *now = options_of(job, row), *then = NULL;
    rg_status                status = now ? make_folder(job->out) : RG_ENOMEM;
    if (status == RG_OK) status = make_folder(folder);
    if (status == RG_OK) status = read_text(&then, folder, "options");
    const bool differs = status == RG_OK && then[0] && strcmp(now, then) != 0;
    if (differs && !job->settings->overwrite)
        status = rg_fail(RG_EMATCH,
                         "%s was trained with other options:\n  then: %s\n  now:  %s\n--overwrite trains it again; "
                         "another --out keeps both",
                         folder, then, now);
    for (size_t i = 0; status == RG_OK && differs && i < sizeof made / sizeof *made; i++)
        status = remove_file(folder, made[i]);
    if (status == RG_OK) status = rg_row_save(folder, "options", now);
    rg_free(now);
    rg_free(then);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- results */

static rg_status write_result(const rg_row_run *run, const rg_results *r)
{
    char   *words = options_of(run->job, run->row);
    json_t *object =
        words ? json_pack("{s:s, s:I, s:s}", "row", run->row->name, "seed", (json_int_t)run->seed, "options", words)
              : NULL;
    json_t *numbers = json_object();
    for (size_t i = 0; i < r->count; i++) {
        const double x = r->item[i].value;
        json_object_set_new(numbers, r->item[i].name, isfinite(x) ? json_real(x) : json_null());
    }
    json_object_set_new(object, "results", numbers);
    char     *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    rg_status status = text ? rg_row_save(run->folder, "result.json", text) : RG_ENOMEM;
    free(text);
    json_decref(object);
    rg_free(words);
    return status;
}

static rg_status parse_result(rg_results *r, const char *path)
{
    json_error_t where;
    json_t      *object = json_load_file(path, 0, &where), *value;
    const char  *name;
    rg_status    status = RG_OK;
    if (!object) return rg_fail(RG_EFORMAT, "%s, line %d: %s", path, where.line, where.text);
    json_t *numbers = json_object_get(object, "results");
    if (!json_object_size(numbers))
        status = rg_fail(RG_EFORMAT, "%s has no results; the run is judged again when its row is chosen", path);
    json_object_foreach(numbers, name, value) if (status == RG_OK) status =
        rg_results_set(r, name, json_is_number(value) ? json_number_value(value) : (double)NAN);
    json_decref(object);
    return status;
}

/* A file of an older program, or a damaged one, counts as none. */
static rg_status read_result(bool *found, rg_results *out, const rg_grid_job *job, const char *folder)
{
    char     *path = rg_format("%s/result.json", folder);
    rg_status status = path ? rg_file_exists(found, path) : RG_ENOMEM;
    if (status == RG_OK && *found) status = parse_result(out, path);
    if (status == RG_EFORMAT) {
        fprintf(job->lab->notes, "%s\n", rg_message());
        rg_results_free(out);
        *found = false;
        status = RG_OK;
    }
    rg_free(path);
    return status;
}

rg_status rg_row_read(bool *found, rg_results *out, const rg_grid_job *job, const rg_row *row, int64_t seed)
{
    char     *folder = rg_row_folder(job, row, seed), *now = options_of(job, row), *then = NULL;
    rg_status status = folder && now ? read_text(&then, folder, "options") : RG_ENOMEM;
    *found = false;
    if (status == RG_OK && strcmp(now, then) == 0) status = read_result(found, out, job, folder);
    else if (status == RG_OK && then[0])
        fprintf(job->lab->notes, "%s was trained with other options and is left out\n", folder);
    rg_free(folder);
    rg_free(now);
    rg_free(then);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- training */

/* {data} and {out} are folders, {seed} the seed, {ROW} the folder of another row's first seed. */
static rg_status place_words(rg_words *w, const rg_row_run *run)
{
    char seed[24], mark[64];
    snprintf(seed, sizeof seed, "%lld", (long long)run->seed);
    RG_TRY(rg_words_place(w, "{data}", run->job->settings->data));
    RG_TRY(rg_words_place(w, "{out}", run->job->out));
    RG_TRY(rg_words_place(w, "{seed}", seed));
    for (const rg_row *row = run->job->grid->rows; row->name; row++) {
        char     *folder = rg_row_folder(run->job, row, 1);
        rg_status status = folder ? RG_OK : RG_ENOMEM;
        snprintf(mark, sizeof mark, "{%.40s}", row->name);
        if (status == RG_OK) status = rg_words_place(w, mark, folder);
        rg_free(folder);
        RG_TRY(status);
    }
    return RG_OK;
}

/* The row's own words override the log's; what the experiment decides overrides both. Tasks that print nothing while they
 * learn are logged all the same: epochs and minutes of the table come from there. */
static rg_status make_words(rg_words *w, const rg_row_run *run, const char *folder)
{
    const rg_grid_settings *s = run->job->settings;
    char                   *text = options_of(run->job, run->row);
    rg_status               status = text ? rg_words_split(w, "--disp-freq 100") : RG_ENOMEM;
    if (status == RG_OK) status = rg_words_split(w, text);
    rg_free(text);
    RG_TRY(status);
    RG_TRY(place_words(w, run));
    if (run->job->grid->data) RG_TRY(run->job->grid->data(w, run->job, run->row));
    RG_TRY(rg_words_split(w, "--model"));
    RG_TRY(rg_row_words_add(w, rg_format("%s/model.safetensors", folder)));
    RG_TRY(rg_words_split(w, "--keep-best --seed"));
    RG_TRY(rg_row_words_add(w, rg_format("%lld", (long long)run->seed)));
    RG_TRY(rg_words_split(w, "--cpu-threads"));
    RG_TRY(rg_row_words_add(w, rg_format("%lld", (long long)s->threads)));
    if (!s->epochs) return RG_OK;
    RG_TRY(rg_words_split(w, "--after-epochs"));
    return rg_row_words_add(w, rg_format("%lld", (long long)s->epochs));
}

rg_status rg_row_recipe(rg_recipe **out, const rg_row_run *run, const char *folder)
{
    rg_words  words = { 0 };
    rg_status status = make_words(&words, run, folder);
    *out = NULL;
    if (status == RG_OK) status = rg_words_recipe(out, &words);
    rg_words_free(&words);
    return status;
}

static rg_status learn(rg_results *out, const rg_row_run *run)
{
    rg_learned    learned = { 0 };
    const rg_lab *lab = run->job->lab;
    char         *log = run->training ? rg_format("%s.jsonl", run->training->learning->model) : NULL;
    rg_status     status = log ? lab->learn(lab->context, &learned, run->training, log) : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < learned.final.count; i++)
        status = rg_results_set(out, learned.final.metric[i].name, learned.final.metric[i].value);
    rg_free(log);
    return status;
}

static rg_status train_and_judge(rg_results *out, const rg_row_run *run)
{
    const rg_grid_settings *s = run->job->settings;
    double                  units = 0;
    if (!s->judge && !run->row->of) RG_TRY(learn(out, run));
    if (run->job->grid->judge) RG_TRY(run->job->grid->judge(out, run));
    RG_TRY(rg_results_set(out, "epochs_cap", s->judge ? -1 : (double)s->epochs)); /* -1: judged before its end */
    RG_TRY(rg_row_log(out, &units, run->folder));
    const double unit = rg_results_get(out, "flops_unit");
    if (isfinite(unit)) RG_TRY(rg_results_set(out, "flops_training", unit * units));
    RG_TRY(remove_file(run->folder, "failed"));
    return write_result(run, out);
}

/* A run whose numbers are no longer finite is a result of the experiment, not the end of it. */
static rg_status note_failure(bool *out_failed, const rg_row_run *run, rg_status status)
{
    if (status != RG_ENUMBER) return status;
    *out_failed = true;
    fprintf(run->job->lab->notes, "%s, seed %lld: %s\n", run->row->name, (long long)run->seed, rg_message());
    return rg_row_save(run->folder, "failed", rg_message());
}

static rg_status begin(rg_results *out, bool *out_failed, const rg_grid_job *job, const rg_row *row, int64_t seed,
                       const char *folder)
{
    rg_recipe  *recipe = NULL;
    rg_training training;
    rg_row_run  run = { .job = job, .row = row, .seed = seed, .folder = folder };
    rg_status   status = RG_OK;
    fprintf(job->lab->notes, "== %s, seed %lld\n", row->name, (long long)seed);
    if (!row->of) status = rg_row_recipe(&recipe, &run, folder);
    if (recipe) {
        training = rg_recipe_training(recipe, NULL);
        run.training = &training;
    }
    if (status == RG_OK) status = note_failure(out_failed, &run, train_and_judge(out, &run));
    rg_recipe_free(recipe);
    return status;
}

/* Can it be judged without training: has it weights, or are the runs it is made of finished? */
static rg_status ready(bool *out, const rg_grid_job *job, const rg_row *row, const char *folder)
{
    *out = true;
    if (row->of) {
        const rg_row *of = job->grid->rows;
        while (of->name && strcmp(of->name, row->of) != 0) of++;
        for (int64_t seed = 1; of->name && *out && seed <= (of->seeds ? of->seeds : 1); seed++) {
            rg_results ignored = { 0 };
            RG_TRY(rg_row_read(out, &ignored, job, of, seed));
            rg_results_free(&ignored);
        }
        if (!*out) fprintf(job->lab->notes, "%s waits for the seeds of %s\n", row->name, row->of);
        return RG_OK;
    }
    if (!job->settings->judge) return RG_OK;
    char     *path = rg_format("%s/model.safetensors", folder);
    rg_status status = path ? rg_file_exists(out, path) : RG_ENOMEM;
    rg_free(path);
    return status;
}

rg_status rg_row_train(rg_results *out, bool *out_failed, const rg_grid_job *job, const rg_row *row, int64_t seed)
{
    char     *folder = rg_row_folder(job, row, seed);
    bool      found = false, there = true;
    rg_status status = folder ? RG_OK : RG_ENOMEM;
    *out_failed = false;
    if (status == RG_OK) status = ready(&there, job, row, folder);
    if (status == RG_OK && there) status = claim_folder(job, row, folder);
    if (status == RG_OK && there) status = read_result(&found, out, job, folder);
    const bool finished = found && rg_results_get(out, "epochs_cap") == (double)job->settings->epochs;
    if (status == RG_OK && there && !finished) {
        rg_results_free(out);
        status = begin(out, out_failed, job, row, seed, folder);
    }
    rg_free(folder);
    return status;
}

rg_status rg_row_state(char **out, const rg_grid_job *job, const rg_row *row, int64_t seed)
{
    char      *folder = rg_row_folder(job, row, seed), *options = NULL, *failure = NULL;
    rg_results log = { 0 };
    double     units;
    rg_status  status = folder ? read_text(&options, folder, "options") : RG_ENOMEM;
    if (status == RG_OK) status = read_text(&failure, folder, "failed");
    if (status == RG_OK && options[0]) status = rg_row_log(&log, &units, folder);
    if (status == RG_OK) {
        const double updates = rg_results_get(&log, "updates");
        *out = !options[0]  ? rg_strdup("")
               : failure[0] ? rg_format("failed: %s", failure)
                            : rg_format("not finished, %.0f updates so far", isfinite(updates) ? updates : 0);
        if (!*out) status = RG_ENOMEM;
    }
    rg_results_free(&log);
    rg_free(folder);
    rg_free(options);
    rg_free(failure);
    return status;
}
