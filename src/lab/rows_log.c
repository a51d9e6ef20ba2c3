/* rows_log.c - what the JSON lines of a training say: updates, epochs, time, speed. */
#include "lab/rows.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
    double step, epoch, seconds, cpu, words, speed;
} log_line;

static int by_speed(const void *a, const void *b)
{
    const double x = ((const log_line *)a)->speed, y = ((const log_line *)b)->speed;
    return (x > y) - (x < y);
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* A resumed run repeats the steps after its last checkpoint: the later line counts. */
static size_t add_line(log_line *lines, size_t count, const json_t *object)
{
    const log_line l = { number(object, "step"),        number(object, "epoch"), number(object, "seconds"),
                         number(object, "cpu_seconds"), number(object, "words"), number(object, "words_per_second") };
    if (!json_object_get(object, "loss")) return count;
    while (count && lines[count - 1].step >= l.step) count--;
    lines[count++] = l;
    return count;
}

static rg_status sum_up(rg_results *out, double *units, log_line *lines, size_t count)
{
    double seconds = 0, cpu = 0;
    if (!count) return RG_OK;
    RG_TRY(rg_results_set(out, "updates", lines[count - 1].step));
    RG_TRY(rg_results_set(out, "epochs", lines[count - 1].epoch));
    for (size_t i = 0; i < count; i++) seconds += lines[i].seconds, cpu += lines[i].cpu, *units += lines[i].words;
    RG_TRY(rg_results_set(out, "seconds", seconds));
    if (cpu > 0) RG_TRY(rg_results_set(out, "cpu_seconds", cpu));
    qsort(lines, count, sizeof *lines, by_speed);
    return rg_results_set(out, "units_second", lines[count / 2].speed);
}

/* All lines of the log; none where there is no file. */
static rg_status read_log(rg_line_list *out, const char *folder)
{
    char     *path = rg_format("%s/model.safetensors.jsonl", folder);
    bool      there = false;
    rg_status status = path ? rg_file_exists(&there, path) : RG_ENOMEM;
    if (status == RG_OK && there) status = rg_line_list_read(out, path, -1);
    rg_free(path);
    return status;
}

rg_status rg_row_log(rg_results *out, double *units, const char *folder)
{
    rg_line_list text = { 0 };
    rg_status    status = read_log(&text, folder);
    log_line    *lines = NULL;
    size_t       count = 0;
    *units = 0;
    if (status == RG_OK && !(lines = rg_alloc_array(text.count + 1, sizeof *lines))) status = RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < text.count; i++) {
        json_t *object = json_loads(text.line[i], 0, NULL); /* a killed run may leave half a line */
        if (object) count = add_line(lines, count, object);
        json_decref(object);
    }
    if (status == RG_OK) status = sum_up(out, units, lines, count);
    rg_line_list_free(&text);
    rg_free(lines);
    return status;
}

/* What validations said of a metric, in order: with the update at which they did. */
typedef void on_validation(void *context, double step, double value);

static rg_status each_validation(const char *folder, const char *metric, on_validation *each, void *context)
{
    rg_line_list text = { 0 };
    rg_status    status = read_log(&text, folder);
    for (size_t i = 0; status == RG_OK && i < text.count; i++) {
        json_t       *object = json_loads(text.line[i], 0, NULL);
        const json_t *value = json_object_get(json_object_get(object, "valid"), metric);
        if (json_is_number(value)) each(context, number(object, "step"), json_number_value(value));
        json_decref(object);
    }
    rg_line_list_free(&text);
    return status;
}

typedef struct {
    bool   there;
    double least, last;
} extremes;

static void note(void *context, double step, double value)
{
    extremes *x = context;
    (void)step;
    x->there = true;
    x->last = value;
    x->least = fmin(x->least, value);
}

rg_status rg_row_validations(bool *there, double *least, double *last, const char *folder, const char *metric)
{
    extremes x = { .least = INFINITY };
    RG_TRY(each_validation(folder, metric, note, &x));
    *there = x.there;
    *least = x.least;
    *last = x.last;
    return RG_OK;
}

typedef struct {
    double bound, step;
    bool   there;
} crossing;

static void cross(void *context, double step, double value)
{
    crossing *x = context;
    if (x->there || value < x->bound) return;
    x->there = true;
    x->step = step;
}

rg_status rg_row_reached(bool *there, double *updates, const char *folder, const char *metric, double bound)
{
    crossing x = { .bound = bound };
    RG_TRY(each_validation(folder, metric, cross, &x));
    *there = x.there;
    *updates = x.step;
    return RG_OK;
}
