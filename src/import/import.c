/* import.c - from a file or folder of another program to a model of ours: find it, recognise it, copy its numbers. */
#include "regard/import.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "autograd/params.h"
#include "base/json_scan.h"
#include "data/stream.h"
#include "import/foreign.h"
#include "regard/options.h"
#include "regard/translate.h"
#include "tasks/language.h"
#include "tasks/translation.h"

#define RG_ARCHITECTURES(X) X(marian_hf) X(bart) X(marian) X(ctranslate2) X(gat) X(gpt2) X(bert) X(imagenet)
#define DECLARE(name) extern const rg_architecture rg_architecture_##name;
#define ENTRY(name) &rg_architecture_##name,
RG_ARCHITECTURES(DECLARE)
static const rg_architecture *const table[] = { RG_ARCHITECTURES(ENTRY) NULL };

const char *rg_import_name(size_t i) { return i + 1 < sizeof table / sizeof *table ? table[i]->name : NULL; }
const char *rg_import_summary(size_t i) { return i + 1 < sizeof table / sizeof *table ? table[i]->summary : NULL; }

/* ------------------------------------------------------------------------------------------------------------ files */

static rg_status read_bytes(rg_text *out, const char *path)
{
    enum { CHUNK = 1 << 20 };
    rg_file  *file = NULL;
    size_t    got = 1;
    char     *chunk = rg_alloc(CHUNK);
    rg_status status = chunk ? rg_file_open(&file, path, "rr") : RG_ENOMEM;
    while (status == RG_OK && got) {
        status = rg_file_read_some(&got, file, chunk, CHUNK);
        if (status == RG_OK) status = rg_text_add(out, chunk, got);
    }
    (void)rg_file_close(file); /* only read */
    rg_free(chunk);
    return status;
}

/* Weights hardly shrink: what grows more than 64 times (and beyond a megabyte) was not packed to be used. */
static rg_status unpack(rg_text *bytes, const char *path)
{
    enum { MOST_RATIO = 64, FREE_BYTES = 1 << 20 };
    const size_t most = bytes->length > SIZE_MAX / MOST_RATIO ? SIZE_MAX : FREE_BYTES + MOST_RATIO * bytes->length;
    rg_text      whole = { 0 };
    rg_stream    stream = { 0 };
    rg_status    status = rg_stream_open_bytes(&stream, path, bytes->data, bytes->length);
    if (status == RG_OK) status = rg_stream_read_some(&whole, &stream, most);
    if (status == RG_OK && whole.length == most)
        status = rg_fail(RG_ELIMIT, "%s grows from %zu bytes to more than %zu", path, bytes->length, most);
    rg_stream_close(&stream);
    rg_text_free(status == RG_OK ? bytes : &whole);
    if (status == RG_OK) *bytes = whole;
    return status;
}

static bool is_packed(const rg_text *bytes)
{
    const char *b = bytes->data;
    return bytes->length > 4 && (memcmp(b, "\x1F\x8B", 2) == 0 || memcmp(b, "\x28\xB5\x2F\xFD", 4) == 0);
}

static rg_status read_whole(rg_text *out, const char *path)
{
    RG_TRY(read_bytes(out, path));
    return is_packed(out) ? unpack(out, path) : RG_OK;
}

rg_status rg_foreign_file(bool *out_there, rg_text *out, const rg_foreign *f, const char *name)
{
    struct stat about;
    char       *path = rg_format("%s/%s", f->folder, name);
    if (!path) return RG_ENOMEM;
    *out_there = stat(path, &about) == 0;
    const rg_status status = *out_there ? read_whole(out, path) : RG_OK;
    rg_free(path);
    return status;
}

static rg_status find_file(char **out, const char *path, const char *pattern)
{
    DIR *folder = opendir(path);
    *out = NULL;
    if (!folder) return rg_fail(RG_EIO, "%s: cannot be listed", path);
    rg_status status = RG_OK;
    for (struct dirent *e; status == RG_OK && (e = readdir(folder));) {
        if (!rg_name_matches(pattern, e->d_name) || (*out && strcmp(*out, e->d_name) < 0)) continue;
        rg_free(*out);
        if (!(*out = rg_strdup(e->d_name))) status = RG_ENOMEM;
    }
    closedir(folder);
    return status;
}

rg_status rg_foreign_find(char **out, const rg_foreign *f, const char *const *patterns)
{
    *out = NULL;
    for (; *patterns && !*out; patterns++) RG_TRY(find_file(out, f->folder, *patterns));
    return RG_OK;
}

/* The model in a folder: the first of these that is there. */
static rg_status find_in_folder(char **out, const char *folder)
{
    static const char *const names[] = { "model.safetensors", "pytorch_model.bin", "model.bin",    "model.npz",
                                         "model*.bin",        "model*.npz",        "model*.bin.gz", "model*.npz.gz" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name;
        RG_TRY(find_file(&name, folder, names[i]));
        if (!name) continue;
        *out = rg_format("%s/%s", folder, name);
        rg_free(name);
        return *out ? RG_OK : RG_ENOMEM;
    }
    return rg_fail(RG_EIO,
                   "%s: a folder with none of model.safetensors, pytorch_model.bin, model*.bin, model*.npz, and none "
                   "of these as .gz; name the file itself",
                   folder);
}

static rg_status locate(char **out_file, char **out_folder, const char *path)
{
    struct stat about;
    const char *slash = strrchr(path, '/');
    *out_file = *out_folder = NULL;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        *out_folder = rg_strdup(path);
        return *out_folder ? find_in_folder(out_file, path) : RG_ENOMEM;
    }
    *out_file = rg_strdup(path);
    *out_folder = slash ? rg_format("%.*s", (int)(slash - path), path) : rg_strdup(".");
    return *out_file && *out_folder ? RG_OK : RG_ENOMEM;
}

static rg_status read_config(rg_foreign *f)
{
    rg_text      text = { 0 };
    json_error_t error;
    bool         there;
    rg_status    status = rg_foreign_file(&there, &text, f, "config.json");
    if (status == RG_OK && there) {
        const rg_json_scan scan = rg_json_scan_text(rg_text_c(&text), text.length);
        if (scan.depth > RG_JSON_DEPTH_MAX)
            status = rg_fail(RG_ELIMIT, "%s/config.json is nested %zu deep", f->folder, scan.depth);
        else if (!(f->config = json_loadb(rg_text_c(&text), text.length, 0, &error)))
            status = rg_fail(RG_EFORMAT, "%s/config.json: line %d: %s", f->folder, error.line, error.text);
    }
    rg_text_free(&text);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- settings */

int64_t rg_config_integer(const json_t *c, const char *key, int64_t other)
{
    const json_t *v = json_object_get(c, key);
    return json_is_integer(v) ? json_integer_value(v) : other;
}

double rg_config_real(const json_t *c, const char *key, double other)
{
    const json_t *v = json_object_get(c, key);
    return json_is_number(v) ? json_number_value(v) : other;
}

bool rg_config_flag(const json_t *c, const char *key, bool other)
{
    const json_t *v = json_object_get(c, key);
    return json_is_boolean(v) ? json_boolean_value(v) : other;
}

const char *rg_config_text(const json_t *c, const char *key, const char *other)
{
    const json_t *v = json_object_get(c, key);
    return json_is_string(v) ? json_string_value(v) : other;
}

size_t rg_foreign_layers(const rg_foreign *f, const char *pattern, size_t first)
{
    size_t n = 0;
    for (;; n++) {
        char name[RG_ARRAYS_NAME];
        rg_row_name(name, pattern, first + n);
        if (!rg_arrays_find(&f->arrays, name)) return n;
    }
}

rg_status rg_plan_translator(rg_import_plan *plan, rg_vocab *source, rg_vocab *target)
{
    rg_translator *t = rg_alloc_zero(sizeof *t);
    if (!t) {
        rg_vocab_free(source);
        rg_vocab_free(target);
        return RG_ENOMEM;
    }
    plan->assets = t;
    plan->drop = rg_translator_drop;
    RG_TRY(rg_translator_init(t, source, target));
    if (rg_vocab_eos(t->target) < 0) return rg_fail(RG_EFORMAT, "the target vocabulary has no </s>");
    plan->sizes = rg_sizes_of_text(t->source, t->target);
    return RG_OK;
}

rg_status rg_plan_language(rg_import_plan *plan, rg_vocab *vocab, size_t context)
{
    rg_language_model *m = rg_alloc_zero(sizeof *m);
    if (!m) {
        rg_vocab_free(vocab);
        return RG_ENOMEM;
    }
    m->vocab = vocab;
    plan->assets = m;
    plan->drop = rg_language_drop;
    RG_TRY(rg_language_sizes(&plan->sizes, vocab));
    RG_TRY(rg_sizes_put(&plan->sizes, "lines", 0));
    return rg_sizes_put(&plan->sizes, "context", context);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

/* Rows and columns of an array as a matrix: leading ones are nothing, a vector is one row. */
static bool as_matrix(size_t *rows, size_t *cols, const rg_array *a)
{
    size_t first = 0;
    while (first < a->ndim && a->dims[first] == 1) first++;
    *rows = *cols = 1;
    if (a->ndim - first > 2) return false;
    if (a->ndim > first) *cols = a->dims[a->ndim - 1];
    if (a->ndim - first == 2) *rows = a->dims[first];
    return true;
}

/* Copies (rows, cols), or its transpose, to columns at .. of a parameter. */
static rg_status copy_columns(const rg_foreign *f, const rg_import_row *row, const rg_param *p, size_t at, size_t width,
                              rg_array *a)
{
    size_t rows, cols;
    const bool turn = row->how & RG_IMPORT_TURN;
    if (!as_matrix(&rows, &cols, a))
        return rg_fail(RG_EMATCH, "array \"%s\" has %zu dimensions, not 2", a->name, a->ndim);
    const size_t in = turn ? cols : rows, out = turn ? rows : cols;
    const bool   flat = p->rows == 1 && rows == 1 && cols == width;             /* a vector is a row however it lies      */
    const bool   heads = p->rows == 1 && width == rows * cols;                  /* (heads, width) of a head, side by side */
    if (!flat && !heads && (in != p->rows + row->skip || out != width))
        return rg_fail(RG_EMATCH, "array \"%s\" is %zu x %zu; %s wants %zu x %zu of it", a->name, rows, cols, p->name,
                       turn ? width : p->rows + row->skip, turn ? p->rows + row->skip : width);
    float *x = rg_alloc_array(a->count + 1, sizeof *x);
    if (!x) return RG_ENOMEM;
    const rg_status status = rg_array_floats(x, &f->arrays, a);
    for (size_t r = 0; status == RG_OK && r < p->rows; r++)
        for (size_t c = 0; c < width; c++)
            p->data[r * p->cols + at + c] = (rg_real)(flat || heads ? x[c]
                                                      : turn        ? x[c * cols + r + row->skip]
                                                                    : x[(r + row->skip) * cols + c]);
    rg_free(x);
    a->used = true;
    return status;
}

/* The row of a parameter; of several the first whose array is there, else the last. */
static const rg_import_row *find_row(size_t *out_number, const rg_foreign *f, const rg_import_plan *plan,
                                     const char *name)
{
    const rg_import_row *found = NULL;
    for (const rg_import_row *row = plan->rows; row->ours; row++) {
        char   theirs[RG_ARRAYS_NAME];
        size_t number;
        if (!rg_row_matches(&number, row->ours, name)) continue;
        found = row;
        *out_number = number;
        rg_row_theirs(theirs, row, 0, number);
        if (rg_arrays_find(&f->arrays, theirs)) break;
    }
    return found;
}

static rg_status fill_param(const rg_foreign *f, const rg_import_plan *plan, const rg_param *p)
{
    size_t               number = 0;
    const rg_import_row *row = find_row(&number, f, plan, p->name);
    if (!row) return rg_fail(RG_EMATCH, "nothing is known to fill %s (%zu x %zu) from", p->name, p->rows, p->cols);
    const size_t parts = rg_row_parts(row);
    for (size_t i = 0; i < parts; i++) {
        char name[RG_ARRAYS_NAME];
        rg_row_theirs(name, row, i, number);
        rg_array *a = rg_arrays_find(&f->arrays, name);
        if (a) RG_TRY(copy_columns(f, row, p, i * (p->cols / parts), p->cols / parts, a));
        else if (!(row->how & RG_IMPORT_OPTIONAL))
            return rg_fail(RG_EMATCH, "has no array \"%s\", which %s comes from", name, p->name);
    }
    return RG_OK;
}

/* "x*", "*x", "*x*" or the name itself. */
static bool is_like(const char *name, const char *pattern)
{
    const size_t n = strlen(name), k = strlen(pattern);
    const bool   head = pattern[0] == '*', tail = k > 1 && pattern[k - 1] == '*';
    char         inside[RG_ARRAYS_NAME];
    snprintf(inside, sizeof inside, "%.*s", (int)(k - head - tail), pattern + head);
    if (head && tail) return strstr(name, inside) != NULL;
    if (head) return n >= k - 1 && strcmp(name + n - (k - 1), inside) == 0;
    if (tail) return strncmp(name, inside, k - 1) == 0;
    return strcmp(name, pattern) == 0;
}

/* An array that has no place says that the model computes something else. */
static rg_status no_strangers(const rg_foreign *f, const rg_import_plan *plan)
{
    for (size_t i = 0; i < f->arrays.count; i++) {
        const rg_array *a = &f->arrays.list[i];
        bool            known = a->used;
        for (size_t k = 0; !known && plan->unused && plan->unused[k]; k++) known = is_like(a->name, plan->unused[k]);
        if (!known)
            return rg_fail(RG_EMATCH, "has an array \"%s\" that a %s of these settings has no place for", a->name,
                           plan->system);
    }
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- the model */

static rg_status make_model(rg_model **out, const rg_import_plan *plan)
{
    const rg_system *system = rg_system_find(plan->system);
    void            *options = rg_alloc_zero(system->options_bytes);
    if (!options) return RG_ENOMEM;
    const rg_option_group group = { .rows = system->options, .values = options };
    rg_status             status = rg_options_init(system->options, options);
    if (status == RG_OK)
        status = rg_options_read_yaml(&group, 1, rg_text_c(&plan->settings), plan->settings.length,
                                      "the imported settings", false);
    if (status == RG_OK)
        status = rg_model_new_empty(out, system, options, &plan->sizes, SIZE_MAX / sizeof(rg_real) / 4, RG_WEIGHT_F32);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

/* No model has more numbers than the arrays it is made of; vectors of zeros that are not stored aside. */
static rg_status check_size(const rg_foreign *f, const rg_import_plan *plan)
{
    size_t numbers = 0;
    for (size_t i = 0; i < f->arrays.count; i++) numbers += f->arrays.list[i].count;
    for (size_t i = 0; i < RG_SIZES_MAX && plan->sizes.size[i].name[0]; i++)
        if (plan->sizes.size[i].value > numbers + 65536)
            return rg_fail(RG_EMATCH, "%s is %zu, but there are only %zu numbers", plan->sizes.size[i].name,
                           plan->sizes.size[i].value, numbers);
    return RG_OK;
}

static rg_status convert(rg_model **out, rg_import_plan *plan, rg_foreign *f, const rg_architecture *a)
{
    RG_TRY(a->plan(plan, f));
    RG_TRY(check_size(f, plan));
    RG_TRY(make_model(out, plan));
    rg_model_own(*out, plan->assets, plan->drop);
    plan->assets = NULL;
    if (plan->fill) RG_TRY(plan->fill(*out, plan, f));
    for (size_t i = 0; !plan->fill && i < rg_params_count((*out)->params); i++)
        RG_TRY(fill_param(f, plan, rg_params_at((*out)->params, i)));
    RG_TRY(no_strangers(f, plan));
    return rg_params_repack((*out)->params, NULL);
}

/* `from` NULL: by content. */
static const rg_architecture *recognise(const rg_foreign *f, const char *from)
{
    for (size_t i = 0; table[i]; i++)
        if ((!from || strcmp(from, table[i]->name) == 0) && table[i]->fits(f)) return table[i];
    if (from) {
        rg_fail(RG_EMATCH, "is no model of %s: %zu arrays (\"%s\", ...)", from, f->arrays.count,
                f->arrays.count ? f->arrays.list[0].name : "");
        return NULL;
    }
    rg_fail(RG_EMATCH, "%zu arrays in a %s file (\"%s\", ...), but of no model that is known here", f->arrays.count,
            f->arrays.format, f->arrays.count ? f->arrays.list[0].name : "");
    return NULL;
}

static rg_status import(rg_model **out, rg_text *report, rg_foreign *f, const char *from)
{
    rg_text        bytes = { 0 };
    rg_import_plan plan = { 0 };
    rg_status      status = read_whole(&bytes, f->path);
    if (status == RG_OK) status = rg_arrays_read(&f->arrays, f->path, rg_text_c(&bytes), bytes.length);
    if (status == RG_OK) status = read_config(f);
    const rg_architecture *a = status == RG_OK ? recognise(f, from) : NULL;
    if (status == RG_OK) status = a ? convert(out, &plan, f, a) : RG_EMATCH;
    if (status == RG_OK && report)
        status = rg_text_print(report, "%s: %s (%s), %zu arrays -> %s, %zu parameters\n%s", f->path, a->summary,
                               f->arrays.format, f->arrays.count, plan.system, rg_params_numbers((*out)->params),
                               rg_text_c(&plan.settings));
    if (plan.assets && plan.drop) plan.drop(plan.assets);
    rg_free(plan.assets);
    if (plan.context && plan.drop_context) plan.drop_context(plan.context);
    rg_text_free(&plan.settings);
    rg_arrays_fini(&f->arrays);
    json_decref(f->config);
    rg_text_free(&bytes);
    return status;
}

rg_status rg_import(rg_model **out, rg_text *report, const char *path)
{
    return rg_import_with(out, report, path, NULL);
}

rg_status rg_import_from(rg_model **out, rg_text *report, const char *path, const char *from)
{
    const rg_import_options options = { .from = from };
    return rg_import_with(out, report, path, &options);
}

rg_status rg_import_with(rg_model **out, rg_text *report, const char *path, const rg_import_options *options)
{
    static const rg_import_options usual = { 0 };
    const char *from = options && options->from && *options->from ? options->from : NULL;
    char *file, *folder;
    *out = NULL;
    bool known = !from;
    for (size_t i = 0; table[i] && !known; i++) known = strcmp(from, table[i]->name) == 0;
    if (!known)
        return rg_fail(RG_EINVAL,
                       "'%.40s' is no architecture that is known here; `regard list imports` has their names", from);
    rg_status status = locate(&file, &folder, path);
    if (status == RG_OK) {
        rg_foreign f = { .path = file, .folder = folder, .options = options ? options : &usual };
        status = import(out, report, &f, from);
        if (status != RG_OK && !strstr(rg_message(), file)) rg_fail_in(status, "%s: ", file);
    }
    if (status != RG_OK) {
        rg_model_free(*out);
        *out = NULL;
    }
    rg_free(file);
    rg_free(folder);
    return status;
}
