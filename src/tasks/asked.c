/* asked.c - inputs that a model is asked about: the words of a command, lines of a file or of standard input,
 * pictures, recordings. They are collected in a store of examples until a batch is full or the next line would have to be waited
 * for, and then answered in order. */
#include <string.h>
#include <strings.h>

#include "regard/picture.h"
#include "regard/supervised.h"
#include "tasks/batches.h"

enum { AT_ONCE = 64, MOST_PIXELS = 1 << 18 }; /* inputs of a batch, pixels of them */

/* An input that waits for its answer. */
typedef struct {
    size_t   name, text, fault, bytes; /* of its strings; SIZE_MAX: there is none */
    size_t   height, width;
    uint64_t number;
    bool     empty;
} waiting;

typedef struct {
    const rg_model      *model;
    const rg_question   *question;
    const rg_field_spec *spec;
    size_t               fields;
    const char          *second; /* of every input; NULL: it stands behind a tab */
    rg_answer_one       *each;
    void                *context;
    rg_tape             *tape;
    rg_examples         *store;
    rg_text              strings;
    waiting              input[AT_ONCE];
    size_t               count;
    uint64_t             number;
    bool                 answered; /* something: records are of the first */
    const rg_cell       *cell;     /* of the last input, while it is answered at once */
    size_t               pixels;   /* that wait */
    uint64_t             broken;   /* files that could not be read */
} asking;

/* Inputs are files, named by their paths. */
static bool are_files(const asking *x) { return x->spec->kind == RG_FIELD_PIXELS || x->spec->rows; }

void rg_asked_note(const rg_question *q, const rg_asked *asked, const char *what)
{
    char line[200];
    snprintf(line, sizeof line, "text %llu %s", (unsigned long long)asked->number, what);
    if (q->sink->note) q->sink->note(q->sink->context, line);
}

rg_status rg_asked_wanted(const rg_question *q)
{
    return q->sink->stop && q->sink->stop(q->sink->context) ? rg_fail(RG_ESTOP, "nobody waits for the answer") : RG_OK;
}

rg_status rg_asked_fault(const rg_question *q, const rg_asked *asked, size_t columns)
{
    const bool named = strncmp(asked->fault, asked->name, strlen(asked->name)) == 0;
    char      *line = rg_format("%s%s%s", named ? "" : asked->name, named ? "" : ": ", asked->fault);
    rg_value  *cells = rg_alloc_array(columns + 3, sizeof *cells);
    rg_status  status = line && cells ? RG_OK : RG_ENOMEM;
    if (status == RG_OK && q->sink->note) q->sink->note(q->sink->context, line);
    for (size_t i = 0; status == RG_OK && i < columns; i++)
        cells[i] = (rg_value){ .text = i == 0 ? asked->name : i == 1 ? "-" : i == 2 ? "error" : "" };
    if (status == RG_OK) status = q->sink->row(q->sink->context, cells);
    rg_free(line);
    rg_free(cells);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- answers */

static rg_status predict(rg_batch *batch, const rg_tensor **out, asking *x)
{
    bool more;
    *out = NULL;
    if (!rg_examples_count(x->store)) return RG_OK;
    RG_TRY(rg_examples_seal(x->store));
    RG_TRY(rg_examples_next_in_epoch(&more, batch, x->store));
    rg_tape_reset(x->tape, 0);
    if (x->model->system->predict) *out = x->model->system->predict(x->tape, x->model, batch);
    return rg_tape_status(x->tape);
}

static rg_status answer_waiting(asking *x)
{
    const size_t     count = x->count;
    rg_batch         batch = { 0 };
    const rg_tensor *answers;
    size_t           example = 0;
    x->count = 0; /* also after a failure: nothing is answered twice */
    RG_TRY(rg_asked_wanted(x->question));
    RG_TRY(predict(&batch, &answers, x));
    for (size_t i = 0; i < count; i++) {
        const waiting *w = &x->input[i];
        rg_asked one = { .number = w->number, .bytes = w->bytes, .tape = x->tape, .explain = x->question->explain };
        one.name = w->name == SIZE_MAX ? NULL : x->strings.data + w->name;
        one.text = w->text == SIZE_MAX ? NULL : x->strings.data + w->text;
        if (!w->empty) one.batch = &batch, one.answers = answers, one.example = example++;
        one.cell = count == 1 ? x->cell : NULL;
        one.fault = w->fault == SIZE_MAX ? NULL : x->strings.data + w->fault;
        one.height = w->height, one.width = w->width;
        RG_TRY(x->each(x->context, &one));
    }
    x->answered = x->answered || count;
    x->pixels = 0;
    rg_text_clear(&x->strings);
    rg_examples_clear(x->store);
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- inputs */

static rg_status keep(size_t *out, rg_text *strings, const char *text, size_t bytes)
{
    *out = SIZE_MAX;
    if (!text) return RG_OK;
    *out = strings->length;
    RG_TRY(rg_text_add(strings, text, bytes));
    return rg_text_add(strings, "", 1);
}

/* A picture or recording that cannot be read does not end the others. */
static rg_status set_aside(asking *x, waiting *w, rg_status status)
{
    if (status == RG_ENOMEM) return status;
    RG_TRY(keep(&w->fault, &x->strings, rg_message(), strlen(rg_message())));
    w->empty = true;
    x->broken++;
    return RG_OK;
}

static rg_status store(asking *x, waiting *w, const char *name, const rg_cell *cell, const char *second)
{
    const bool     pixels = x->spec->kind == RG_FIELD_PIXELS, files = are_files(x);
    const rg_cell  cells[2] = {
         *cell, { .bytes = second, .count = second ? strlen(second) : 0, .missing = !second || !*second }
    };
    const uint64_t before = rg_examples_count(x->store);
    const uint64_t cropped =
        before || rg_examples_counts(x->store)->files ? rg_examples_counts(x->store)->faults[0].cropped.count : 0;
    size_t         channels;
    rg_status      status =
        files && !cell->count ? rg_fail(RG_EFORMAT, "the file is empty") : rg_examples_add(x->store, cells, w->number);
    if (status == RG_OK && pixels) status = rg_pixels_measure(&w->height, &w->width, &channels, cell);
    if (status != RG_OK && files) return set_aside(x, w, status);
    if (status != RG_OK && name) return rg_fail_in(status, "%s: ", name);
    if (status != RG_OK) return rg_fail_in(status, "input %llu: ", (unsigned long long)w->number);
    w->empty = rg_examples_count(x->store) == before;
    if (rg_examples_counts(x->store)->files && rg_examples_counts(x->store)->faults[0].cropped.count > cropped) {
        const rg_asked one = { .number = w->number };
        rg_asked_note(x->question, &one, "is longer than the model's positions: its end was left out");
    }
    return RG_OK;
}

static rg_status wait(asking *x, const rg_cell *cell)
{
    const waiting *w = &x->input[x->count++];
    x->pixels +=
        w->height && x->spec->decode ? rg_model_size(x->model, "height") * rg_model_size(x->model, "width") : 0;
    if (x->count < AT_ONCE && x->pixels < MOST_PIXELS && (x->answered || !x->question->sink->record)) return RG_OK;
    x->cell = cell;
    const rg_status answered = answer_waiting(x);
    x->cell = NULL;
    return answered;
}

static rg_status add(asking *x, const char *name, const char *text, const rg_cell *cell, const char *second)
{
    waiting *w = &x->input[x->count];
    *w = (waiting){ .fault = SIZE_MAX, .bytes = cell->count, .number = ++x->number };
    RG_TRY(store(x, w, name, cell, second));
    RG_TRY(keep(&w->name, &x->strings, name, name ? strlen(name) : 0));
    if (text) RG_TRY(keep(&w->text, &x->strings, text, cell->count));
    else RG_TRY(keep(&w->text, &x->strings, second, second ? strlen(second) : 0));
    return wait(x, cell);
}

/* A file that cannot be opened. */
static rg_status add_broken(asking *x, const char *name, rg_status status)
{
    waiting *w = &x->input[x->count];
    *w = (waiting){ .text = SIZE_MAX, .number = ++x->number };
    RG_TRY(set_aside(x, w, status));
    RG_TRY(keep(&w->name, &x->strings, name, strlen(name)));
    return wait(x, NULL);
}

static rg_status add_text(asking *x, const char *text, size_t bytes)
{
    const rg_cell cell = { .bytes = text, .count = bytes, .missing = !bytes };
    return add(x, NULL, text, &cell, NULL);
}

/* A picture file is one input; of an idx file, a folder or an archive every picture is. */
static rg_status add_picture_file(asking *x, const char *path, const char *second)
{
    rg_text   bytes = { 0 };
    rg_files *here = NULL;
    bool      there = false;
    char     *slash = strrchr(path, '/'),
         *folder = slash ? rg_format("%.*s", (int)(slash - path + 1), path) : rg_strdup("./");
    rg_status status = folder ? rg_files_open(&here, folder) : RG_ENOMEM;
    if (status == RG_OK) status = rg_files_read(&there, &bytes, here, slash ? slash + 1 : path, (size_t)256 << 20);
    if (status == RG_OK && !there) status = rg_fail(RG_EIO, "%s: there is no such file", path);
    const rg_cell cell = { .bytes = rg_text_c(&bytes), .count = bytes.length, .missing = !bytes.length };
    status = status == RG_OK       ? add(x, path, NULL, &cell, second)
             : status == RG_ENOMEM ? status
                                   : add_broken(x, path, status);
    rg_files_close(here);
    rg_text_free(&bytes);
    rg_free(folder);
    return status;
}

static rg_status add_pictures_of(asking *x, const char *path, const char *second)
{
    const char *const        wanted[] = { x->spec->rows ? "sound" : "picture" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 1;
    RG_TRY(rg_reader_open(&r, path, &c));
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        char *name = row.member ? rg_strdup(row.member) : rg_format("%s:%llu", path, (unsigned long long)row.line);
        status = name ? add(x, name, NULL, &row.cell[0], second) : RG_ENOMEM;
        rg_free(name);
    }
    rg_reader_close(r);
    return status;
}

static bool is_single_file(const char *path)
{
    static const char *const endings[] = { ".png", ".jpg", ".jpeg", ".wav" };
    const char              *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0) return true;
    return false;
}

static rg_status add_picture(asking *x, const char *path, const char *second)
{
    return is_single_file(path) ? add_picture_file(x, path, second) : add_pictures_of(x, path, second);
}

/* A path; where two things are asked for, a tab and the second. */
static rg_status add_path(asking *x, const char *line)
{
    const char *tab = x->fields > 1 && !x->second ? strchr(line, '\t') : NULL;
    if (x->fields < 2 || x->second) return add_picture(x, line, x->second);
    if (!tab || !tab[1])
        return rg_fail(RG_EFORMAT, "'%.60s': a line is a %s, a tab and a %s", line, x->spec[0].name, x->spec[1].name);
    char           *path = rg_format("%.*s", (int)(tab - line), line);
    const rg_status status = path ? add_picture(x, path, tab + 1) : RG_ENOMEM;
    rg_free(path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- questions */

static rg_status add_words(asking *x, const rg_list *words)
{
    rg_text   line = { 0 };
    rg_status status = RG_OK;
    const bool files = are_files(x),
               pair = files && x->fields > 1 && !x->second && words->count > 1;
    if (files && !pair) {
        for (size_t i = 0; i < words->count; i++) RG_TRY(add_path(x, words->items[i]));
        return RG_OK;
    }
    for (size_t i = pair; status == RG_OK && i < words->count; i++)
        status = rg_text_print(&line, "%s%s", i > pair ? " " : "", words->items[i]);
    if (status == RG_OK)
        status = pair ? add_picture(x, words->items[0], rg_text_c(&line)) : add_text(x, rg_text_c(&line), line.length);
    rg_text_free(&line);
    return status;
}

static rg_status add_lines(asking *x, rg_lines *lines)
{
    for (bool more = true;;) {
        rg_line line;
        if (x->count && rg_lines_would_wait(lines)) RG_TRY(answer_waiting(x));
        RG_TRY(rg_lines_next(&more, &line, lines));
        if (!more) return rg_note_line_faults(x->question->sink, lines);
        if (are_files(x)) RG_TRY(add_path(x, line.text));
        else RG_TRY(add_text(x, line.text, line.bytes));
    }
}

static rg_status add_all(asking *x)
{
    const rg_question *q = x->question;
    rg_lines          *lines;
    if (q->words && q->words->count) return add_words(x, q->words);
    if (!q->input) return rg_fail(RG_EINVAL, "which text? give its words behind the options");
    if (are_files(x) && (x->fields < 2 || x->second) && strcmp(q->input, "-") != 0)
        return add_path(x, q->input);
    RG_TRY(rg_lines_open(&lines, q->input, NULL));
    const rg_status status = add_lines(x, lines);
    rg_lines_close(lines);
    return status;
}

rg_status rg_supervised_answer(const rg_model *m, const rg_question *q, const rg_field_spec *input, rg_answer_one *each,
                               void *context)
{
    return rg_supervised_ask(m, q, input, 1, NULL, each, context);
}

rg_status rg_supervised_ask(const rg_model *m, const rg_question *q, const rg_field_spec *inputs, size_t fields,
                            const char *second, rg_answer_one *each, void *context)
{
    const rg_examples_config in_order = { .batch = AT_ONCE, .memory = SIZE_MAX };
    rg_tape_config           config = { .record = false };
    asking                   x = {
                          .model = m, .question = q, .spec = inputs, .fields = fields, .second = second, .each = each, .context = context
    };
    rg_status                status = q->threads > 1 ? rg_team_new(&config.team, q->threads) : RG_OK;
    if (status == RG_OK) status = rg_tape_new(&x.tape, &config);
    if (status == RG_OK) status = rg_examples_new(&x.store, &in_order, inputs, fields);
    if (status == RG_OK) {
        status = add_all(&x);
        if (x.count) { /* a line that is wrong does not take the answers before it away */
            char           *why = status == RG_OK ? NULL : rg_strdup(rg_message());
            const rg_status answered = answer_waiting(&x);
            if (status == RG_OK) status = answered;
            else if (why) rg_fail(status, "%s", why);
            rg_free(why);
        }
        if (status == RG_OK && x.broken)
            status = rg_fail(RG_EFORMAT, "%llu of %llu %s could not be read", (unsigned long long)x.broken,
                             (unsigned long long)x.number, inputs->rows ? "recordings" : "pictures");
    }
    rg_examples_free(x.store);
    rg_tape_free(x.tape);
    rg_team_free(config.team);
    rg_text_free(&x.strings);
    return status;
}
