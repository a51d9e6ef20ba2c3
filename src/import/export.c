/* export.c - from a model of ours to files of another program: choose the exporter, check, turn and name arrays,
 * write. */
#include "import/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autograd/params.h"
#include "base/number.h"

#define RG_EXPORTERS(X) X(huggingface) X(marian) X(sentencepiece)
#define DECLARE(name) extern const rg_exporter rg_exporter_##name;
#define ENTRY(name) &rg_exporter_##name,
RG_EXPORTERS(DECLARE)
static const rg_exporter *const table[] = { RG_EXPORTERS(ENTRY) NULL };

const char *rg_export_name(size_t i) { return i + 1 < sizeof table / sizeof *table ? table[i]->name : NULL; }
const char *rg_export_summary(size_t i) { return i + 1 < sizeof table / sizeof *table ? table[i]->summary : NULL; }

/* ----------------------------------------------------------------------------------------------------------- checks */

static bool same_value(const char *a, const char *b)
{
    char        *end_a, *end_b;
    const double x = rg_real_parse(a, &end_a), y = rg_real_parse(b, &end_b);
    return strcmp(a, b) == 0 || (*a && *b && !*end_a && !*end_b && x == y);
}

rg_status rg_export_check(const rg_exporting *e, const rg_export_rule *rules, const char *whose)
{
    if (rg_params_get_weights(e->model->params) != RG_WEIGHT_F32)
        return rg_fail(RG_EMATCH, "its weights are in %s: export the float32 model that they were made of",
                       rg_weights_name(rg_params_get_weights(e->model->params)));
    for (; rules->setting; rules++) {
        char        room[RG_SETTING];
        bool        good = false;
        const char *value = strcmp(rules->setting, "type") == 0 ? e->model->system->name
                                                                : rg_setting(room, e->settings, rules->setting, "");
        for (size_t i = 0; i < 5 && rules->good[i]; i++) good = good || same_value(value, rules->good[i]);
        if (!good)
            return rg_fail(RG_EMATCH, "its setting %s: %s cannot be written for %s, which has %s%s%s", rules->setting,
                           value, whose, rules->good[0], rules->good[1] ? " or " : "",
                           rules->good[1] ? rules->good[1] : "");
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- arrays */

void rg_export_arrays_free(rg_export_arrays *a)
{
    for (size_t i = 0; i < a->count; i++) {
        rg_free(a->list[i].name);
        rg_free(a->list[i].data);
    }
    rg_free(a->list);
    *a = (rg_export_arrays){ 0 };
}

static const rg_import_row *find_row(size_t *out_number, const rg_import_row *rows, unsigned holds, const char *name)
{
    for (; rows->ours; rows++)
        if (rg_row_matches(out_number, rows->ours, name) && !(rows->how & RG_EXPORT_IF & ~holds)) return rows;
    return NULL;
}

/* Columns at .. at + width - 1 of a parameter, turned where theirs are, below the zeros that theirs begin with. */
static rg_status take_columns(rg_export_array *out, const rg_import_row *row, const rg_param *p, size_t at,
                              size_t width, bool lines)
{
    const bool   turn = (row->how & RG_IMPORT_TURN) && p->rows > 1;
    const size_t rows = p->rows + row->skip;
    out->param = p;
    out->ndim = p->rows == 1 && !lines && !(row->how & RG_EXPORT_LINE) ? 1 : 2;
    out->dims[0] = out->ndim == 1 || turn ? width : rows;
    out->dims[1] = turn ? rows : width;
    if (!(out->data = rg_alloc_zero((rows * width + 1) * sizeof *out->data))) return RG_ENOMEM;
    for (size_t r = 0; r < p->rows; r++)
        for (size_t c = 0; c < width; c++)
            out->data[turn ? c * rows + r + row->skip : (r + row->skip) * width + c] =
                (float)p->data[r * p->cols + at + c];
    return RG_OK;
}

static rg_status add_param(rg_export_arrays *out, const rg_param *p, const rg_import_row *rows, unsigned holds,
                           bool lines, const char *whose)
{
    size_t               number;
    const rg_import_row *row = find_row(&number, rows, holds, p->name);
    if (!row)
        return rg_fail(RG_EMATCH, "%s has no place for the parameter %s (%zu x %zu)", whose, p->name, p->rows, p->cols);
    const size_t     parts = rg_row_parts(row), width = p->cols / parts;
    rg_export_array *list = rg_realloc(out->list, (out->count + parts) * sizeof *list);
    if (!list) return RG_ENOMEM;
    out->list = list;
    for (size_t i = 0; i < parts; i++) {
        char name[RG_ARRAYS_NAME];
        rg_row_theirs(name, row, i, number);
        rg_export_array *a = &list[out->count++];
        *a = (rg_export_array){ .name = rg_strdup(name) };
        if (!a->name) return RG_ENOMEM;
        RG_TRY(take_columns(a, row, p, i * width, width, lines));
    }
    return RG_OK;
}

rg_status rg_export_arrays_of(rg_export_arrays *out, const rg_exporting *e, const rg_import_row *rows, unsigned holds,
                              bool lines, const char *whose)
{
    *out = (rg_export_arrays){ 0 };
    for (size_t i = 0; i < rg_params_count(e->model->params); i++)
        RG_TRY(add_param(out, rg_params_at(e->model->params, i), rows, holds, lines, whose));
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ files */

rg_status rg_export_file(const rg_exporting *e, const char *name, const void *bytes, size_t count)
{
    if (mkdir(e->path, 0777) != 0 && errno != EEXIST)
        return rg_fail(RG_EIO, "%s: cannot be made: %s", e->path, strerror(errno));
    char *path = rg_format("%s/%s", e->path, name);
    if (!path) return RG_ENOMEM;
    rg_status status = rg_file_replace(path, bytes, count);
    if (status == RG_OK && e->report) status = rg_text_print(e->report, "%s: %zu bytes\n", path, count);
    rg_free(path);
    return status;
}

rg_status rg_export(rg_text *report, const rg_model *model, const char *path, const rg_export_options *options)
{
    const rg_exporter *exporter = NULL;
    for (size_t i = 0; table[i] && !exporter; i++)
        if (strcmp(table[i]->name, options->to) == 0) exporter = table[i];
    if (!exporter)
        return rg_fail(RG_EINVAL, "'%.40s' is nothing that models are written for: huggingface, marian, sentencepiece",
                       options->to);
    if (strcmp(options->to, "marian") != 0 && (options->int8 || options->npz))
        return rg_fail(RG_EINVAL, "%s is a form of Marian's files", options->int8 ? "int8" : "npz");
    const rg_option_group group = { .rows = model->system->options, .values = model->options };
    char                 *settings = rg_options_yaml(&group, 1);
    if (!settings) return RG_ENOMEM;
    const rg_exporting e = { .model = model,
                             .translator = model->system->task->translates ? model->assets : NULL,
                             .settings = settings,
                             .path = path,
                             .options = options,
                             .report = report };
    const rg_status    status = exporter->write(&e);
    rg_free(settings);
    return status;
}
