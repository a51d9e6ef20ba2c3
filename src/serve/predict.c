/* predict.c - models that do not translate: texts in, the rows of their task's answers out, as JSON.
 *
 *     {"q": "a slow film", "top": 3, "attention": true}   ->   {"rows": [{"label": ..., "probability": ...}], "record": {...}}
 *     {"q": ["one", "two"]}                               ->   {"rows": [[...], [...]]}
 *
 * Fields beside q are what can be asked of the task (the rows of `regard predict --help`). Texts wait, take turns
 * and expire as lines to translate do; between two texts a lane asks whether anybody still waits. */
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regard/record.h"

void rg_serve__drop_asking(rg_request *r)
{
    if (!r->asking) return;
    const rg_task *task = r->server->model->system->task;
    if (task->asking) rg_options_fini(task->asking, r->asking);
    rg_free(r->asking);
    r->asking = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static bool set_option(rg_request *r, const rg_option *row, const json_t *value)
{
    char        number[32];
    const char *word = json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value)), word = number;
    else if (json_is_real(value)) snprintf(number, sizeof number, "%.17g", json_real_value(value)), word = number;
    else if (json_is_boolean(value)) word = json_is_true(value) ? "true" : "false";
    if (word && rg_option_set(row, r->asking, 1, &word) == RG_OK) return true;
    rg_serve__error(&r->reply, 400, "Invalid request: %s", word ? rg_message() : row->name);
    return false;
}

static bool read_options(rg_request *r, const json_t *fields)
{
    const rg_task *task = r->server->model->system->task;
    const json_t  *attention = json_object_get(fields, "attention");
    r->attention =
        json_is_true(attention) || (json_is_string(attention) && strcmp(json_string_value(attention), "true") == 0);
    if (!(r->asking = rg_alloc_zero(task->asking_bytes + 1)) ||
        (task->asking && rg_options_init(task->asking, r->asking) != RG_OK))
        return rg_serve__error(&r->reply, 503, "No memory"), false;
    for (const rg_option *row = task->asking; row && row->name; row++) {
        const json_t *value = json_object_get(fields, row->name);
        if (value && !json_is_null(value) && !set_option(r, row, value)) return false;
    }
    return true;
}

/* What a text costs in the queue: its words. */
static size_t words_in(const char *text)
{
    size_t n = 1;
    for (; *text; text++) n += *text == ' ' || *text == '\n';
    return n;
}

static bool add_text(rg_request *r, const char *text)
{
    rg_segments *s = &r->texts[r->count++];
    if (!(s->part = rg_alloc_zero(sizeof *s->part)) || !(s->kept = rg_strdup(text)))
        return rg_serve__error(&r->reply, 503, "No memory"), false;
    s->count = s->lines = 1;
    s->part->text = s->kept;
    s->part->segments = s;
    s->part->line = true;
    s->part->subwords = words_in(text);
    r->line[r->ready++] = s->part;
    return true;
}

static bool read_texts(rg_request *r, const json_t *q)
{
    const rg_serve_config *c = r->server->config;
    size_t                 all = 0, cost = 0;
    r->array = json_is_array(q);
    const size_t n = r->array ? json_array_size(q) : 1;
    if (!n || (!r->array && !json_is_string(q)))
        return rg_serve__error(&r->reply, 400, "Invalid request: missing q parameter, a text or a list of texts"),
               false;
    if (n > RG_SERVE_TEXTS)
        return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%d)", n,
                               RG_SERVE_TEXTS),
               false;
    if (r->attention && n != 1)
        return rg_serve__error(&r->reply, 400, "Invalid request: the record of one text, not of %zu", n), false;
    r->texts = rg_alloc_zero((n + 1) * sizeof *r->texts);
    r->line = rg_alloc_array(n + 1, sizeof *r->line);
    if (!r->texts || !r->line) return rg_serve__error(&r->reply, 503, "No memory"), false;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(r->array ? json_array_get(q, i) : q);
        if (!text) return rg_serve__error(&r->reply, 400, "Invalid request: q is a string or a list of strings"), false;
        all += rg_serve__characters(text);
        if (all > c->char_limit)
            return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu) exceeds text limit (%zu)", all,
                                   c->char_limit),
                   false;
        if (!add_text(r, text)) return false;
        cost += r->line[i]->subwords;
    }
    if (cost > c->queue)
        return rg_serve__error(&r->reply, 400, "Invalid request: request (%zu words) exceeds the queue (%zu)", cost,
                               c->queue),
               false;
    return true;
}

bool rg_serve__predict(rg_request *r)
{
    bool queued = false;
    if (r->server->translates) return rg_serve__error(&r->reply, 404, "This model translates: POST /translate"), false;
    json_t *fields = rg_serve__fields(r);
    if (!fields) return false;
    if (rg_serve__allowed(r, fields) && read_options(r, fields) && read_texts(r, json_object_get(fields, "q")) &&
        !(queued = rg_queue_put(r)))
        rg_serve__error(&r->reply, 503, "Too many requests are waiting");
    json_decref(fields);
    return queued;
}

/* The same, for models whose answer is a class. */
bool rg_serve__classify(rg_request *r)
{
    size_t classes;
    if (r->server->translates) return rg_serve__error(&r->reply, 404, "Not Found"), false;
    if (rg_sizes_get(&classes, &r->server->model->sizes, "classes")) return rg_serve__predict(r);
    return rg_serve__error(&r->reply, 404, "Not Found"), false;
}

/* --------------------------------------------------------------------------------------------------------- answers */

/* Rows of one text. */
typedef struct {
    const char *names[256]; /* of the columns: they are the task's until its answer is over */
    size_t      count;
    json_t     *rows, *record;
    rg_request *request;
} answer;

static rg_status take_columns(void *context, const char *const *names, size_t count)
{
    answer *a = context;
    if (count > sizeof a->names / sizeof *a->names)
        return rg_fail(RG_ELIMIT, "%zu columns; at most %zu are sent", count, sizeof a->names / sizeof *a->names);
    for (a->count = 0; a->count < count; a->count++)
        if (!(a->names[a->count] = rg_strdup(names[a->count]))) return RG_ENOMEM;
    return RG_OK;
}

static rg_status take_row(void *context, const rg_value *cells)
{
    answer *a = context;
    json_t *row = json_object();
    for (size_t i = 0; row && i < a->count; i++) {
        const rg_value *c = &cells[i];
        json_t         *value = c->text     ? json_string(c->text)
                                : c->digits ? json_real(c->number)
                                            : json_integer((json_int_t)c->number);
        if (json_object_set_new(row, a->names[i], value) != 0)
            return json_decref(row), rg_fail(RG_EFORMAT, "%s cannot be written as JSON", a->names[i]);
    }
    return row && json_array_append_new(a->rows, row) == 0 ? RG_OK : RG_ENOMEM;
}

static rg_status take_record(void *context, const rg_record *record)
{
    answer *a = context;
    char   *text = NULL;
    size_t  bytes;
    RG_TRY(rg_record_to_json(&text, &bytes, record, RG_WEIGHTS_NUMBERS));
    a->record = json_loadb(text, bytes, 0, NULL);
    rg_free(text);
    return a->record ? RG_OK : RG_ENOMEM;
}

static void ignore(void *context, const char *line) { (void)context, (void)line; }
static bool unwanted(void *context) { return rg_queue_unwanted(((answer *)context)->request); }

static rg_status ask(json_t **out_rows, json_t **out_record, rg_request *r, char *text)
{
    const rg_model   *m = r->server->model;
    answer            a = { .rows = json_array(), .request = r };
    const rg_sink     sink = { .context = &a,
                               .columns = take_columns,
                               .row = take_row,
                               .note = ignore,
                               .record = r->attention ? take_record : NULL,
                               .stop = unwanted };
    const rg_list     words = { 1, &text };
    const rg_question q = { .options = r->asking, .words = &words, .input = NULL, .threads = 1, .sink = &sink };
    rg_status         status = a.rows ? m->system->task->answer(m, &q) : RG_ENOMEM;
    for (size_t i = 0; i < a.count; i++) rg_free((char *)a.names[i]);
    *out_rows = a.rows;
    *out_record = a.record;
    return status;
}

/* The rows of a text are kept as JSON until all texts of its request have theirs. */
static void finish(rg_request *r, json_t *record)
{
    rg_reply reply = { 0 };
    json_t  *object = json_object(), *rows = json_array();
    for (size_t i = 0; i < r->lines; i++) json_array_append_new(rows, json_loads(r->line[i]->best[0], 0, NULL));
    json_object_set(object, "rows", r->array ? rows : json_array_get(rows, 0));
    json_decref(rows);
    if (record) json_object_set(object, "record", record);
    rg_serve__answer(&reply, 200, object);
    rg_queue_answer(r, &reply);
}

static rg_status keep_rows(rg_part *line, const json_t *rows)
{
    char *text = json_dumps(rows, JSON_COMPACT);
    line->best = rg_alloc_zero(sizeof *line->best);
    if (text && line->best) line->best[0] = rg_strdup(text), line->count = 1;
    free(text);
    return line->best && line->best[0] ? RG_OK : RG_ENOMEM;
}

void rg_serve__predicted(rg_lane *l)
{
    for (size_t i = 0; i < l->count; i++) {
        rg_request *r = l->owner[i];
        rg_reply    reply = { 0 };
        json_t     *rows = NULL, *record = NULL;
        if (rg_queue_unwanted(r)) continue; /* the clock answers */
        rg_status status = ask(&rows, &record, r, l->part[i]->segments->kept);
        if (status == RG_OK) status = keep_rows(l->part[i], rows);
        if (status == RG_ESTOP) {
            /* given up in the middle: the clock answers here too */
        } else if (status != RG_OK) {
            rg_serve__error(&reply, status == RG_ENOMEM ? 503 : 500, "Cannot answer: %s", rg_message());
            rg_queue_answer(r, &reply);
        } else if (++r->finished == r->lines) finish(r, record);
        json_decref(rows);
        json_decref(record);
    }
}
