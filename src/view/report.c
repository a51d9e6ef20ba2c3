/* report.c - a training log (JSON lines) as curves, as samples, as one page. */
#include "view/page.h"
#include "view/record_files.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_LINE = 1 << 20,
       MOST_SERIES = 48,
       MOST_STEPS = 1 << 16,
       MOST_SHEETS = 12 };
static const size_t most_log = (size_t)256 << 20;

/* A series that grows line by line. */
typedef struct growing {
    char   *name; /* the series' name in its set, also its key */
    size_t  set;  /* index into sets[]                        */
    double *x, *y;
    size_t  count, room;
} growing;

typedef struct set_kind {
    const char *title, *y_name;
    bool        log;
} set_kind;

enum { LOSS,
       PHASES,
       OBJECTIVES,
       SCORE,
       PERPLEXITY,
       OTHER,
       RATE,
       NORM,
       SPEED,
       SETS };
static const set_kind sets[SETS] = {
    { "Loss", "loss for each token", false },
    { "Loss of each phase", "loss", false },
    { "Objectives", "value", false },
    { "Validation", "score", false },
    { "Perplexity", "perplexity", true },
    { "Other validation", "value", false },
    { "Learning rate", "learning rate", false },
    { "Gradient norm", "norm before clipping", true },
    { "Speed", "words per second", false },
};

typedef struct log_state {
    growing series[MOST_SERIES];
    size_t  count;
    json_t *samples; /* of the last line that has some; borrowed from `last` */
    json_t *last;
    double  sample_step;
    double  step;  /* of the line before */
    double *valid; /* steps of validations */
    size_t  valids, valid_room;
} log_state;

/* Forget points past `step`, or from it on: a run that was resumed repeats what came after its checkpoint, one that
 * starts again repeats all. */
static void forget(log_state *s, double step, bool itself)
{
    for (size_t i = 0; i < s->count; i++) {
        growing *g = &s->series[i];
        while (g->count && (g->x[g->count - 1] > step || (itself && g->x[g->count - 1] == step))) g->count--;
    }
    while (s->valids && (s->valid[s->valids - 1] > step || (itself && s->valid[s->valids - 1] == step))) s->valids--;
}

static rg_status add_valid(log_state *s, double step)
{
    if (s->valids == MOST_STEPS || (s->valids && s->valid[s->valids - 1] == step)) return RG_OK;
    if (s->valids == s->valid_room) {
        const size_t room = s->valid_room ? 2 * s->valid_room : 64;
        double      *grown = rg_realloc(s->valid, room * sizeof *grown);
        if (!grown) return RG_ENOMEM;
        s->valid = grown;
        s->valid_room = room;
    }
    s->valid[s->valids++] = step;
    return RG_OK;
}

static rg_status add_point(log_state *s, size_t set, const char *name, double x, double y)
{
    growing *g = NULL;

    if (!isfinite(x) || !isfinite(y)) return RG_OK;
    for (size_t i = 0; i < s->count && !g; i++)
        if (s->series[i].set == set && !strcmp(s->series[i].name, name)) g = &s->series[i];
    if (!g) {
        char *copy;
        if (s->count == MOST_SERIES) return RG_OK; /* more names than a page can show */
        if (!(copy = rg_strdup(name))) return RG_ENOMEM;
        g = &s->series[s->count++];
        *g = (growing){ .name = copy, .set = set };
    }
    if (g->count == g->room) {
        size_t  room = g->room ? 2 * g->room : 64;
        double *grown;
        if (!(grown = rg_realloc(g->x, room * sizeof *grown))) return RG_ENOMEM;
        g->x = grown;
        if (!(grown = rg_realloc(g->y, room * sizeof *grown))) return RG_ENOMEM;
        g->y = grown;
        g->room = room;
    }
    if (g->count && g->x[g->count - 1] == x) g->count--; /* the later line counts */
    g->x[g->count] = x;
    g->y[g->count++] = y;
    return RG_OK;
}

static size_t set_of(const char *metric)
{
    static const char *const scores[] = { "bleu", "chrf", "chrf++", "chrfpp", "ter", "rouge", "accuracy", "f1" };

    if (!strcmp(metric, "loss")) return LOSS;
    if (!strcmp(metric, "perplexity") || !strcmp(metric, "ppl")) return PERPLEXITY;
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        if (!strcmp(metric, scores[i])) return SCORE;
    return OTHER;
}

/* Numbers of an object of the line: losses of phases, what objectives say of themselves. */
static rg_status add_named(log_state *s, json_t *object, size_t set, double step)
{
    const char *name;
    json_t     *value;
    if (!json_is_object(object)) return RG_OK;
    json_object_foreach(object, name, value)
    {
        if (json_is_number(value)) RG_TRY(add_point(s, set, name, step, json_number_value(value)));
    }
    return RG_OK;
}

static rg_status take_line(log_state *s, json_t *line)
{
    static const struct {
        const char *key;
        size_t      set;
        const char *name;
    } plain[] = { { "loss", LOSS, "training" }, { "lr", RATE, "learning rate" }, { "grad_norm", NORM, "gradient norm" },
                  { "words_per_second", SPEED, "words per second" } };
    double      step = json_number_value(json_object_get(line, "step"));
    json_t     *valid = json_object_get(line, "valid"), *samples = json_object_get(line, "samples"), *value;
    const char *metric, *begin = json_string_value(json_object_get(line, "begin"));

    if (begin) forget(s, step, strcmp(begin, "new") == 0);
    else if (step < s->step) forget(s, step, true); /* logs of older versions do not say so */
    s->step = step;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        json_t *v = json_object_get(line, plain[i].key);
        if (json_is_number(v)) RG_TRY(add_point(s, plain[i].set, plain[i].name, step, json_number_value(v)));
    }
    RG_TRY(add_named(s, json_object_get(line, "phases"), PHASES, step));
    RG_TRY(add_named(s, json_object_get(line, "objective"), OBJECTIVES, step));
    if (json_is_object(valid)) RG_TRY(add_valid(s, step));
    if (json_is_object(valid))
        json_object_foreach(valid, metric, value) if (json_is_number(value)) RG_TRY(add_point(
            s, set_of(metric), strcmp(metric, "loss") ? metric : "validation", step, json_number_value(value)));
    if (json_is_array(samples) && json_array_size(samples)) {
        json_decref(s->last);
        s->last = json_incref(line);
        s->samples = samples;
        s->sample_step = step;
    }
    return RG_OK;
}

/* A run that was killed leaves half a line at the end; anywhere else a bad line is a damaged file. */
static rg_status read_lines(log_state *s, const char *path, char *text, size_t bytes)
{
    size_t number = 0;

    for (char *at = text, *end; at < text + bytes; at = end + 1) {
        rg_status    status;
        json_error_t error;
        json_t      *line;
        bool         whole;
        end = memchr(at, '\n', (size_t)(text + bytes - at));
        whole = end != NULL;
        if (!end) end = text + bytes;
        number++;
        if (end == at) continue;
        if (end - at > MOST_LINE)
            return rg_fail(RG_ELIMIT, "%s: line %zu is longer than %d bytes", path, number, MOST_LINE);
        if ((status = rg_view__check_depth(at, (size_t)(end - at))) != RG_OK)
            return rg_fail_in(status, "%s: line %zu: ", path, number);
        line = json_loadb(at, (size_t)(end - at), 0, &error);
        if (!line && !whole) return RG_OK;
        if (!json_is_object(line)) {
            json_decref(line);
            return rg_fail(RG_EFORMAT, "%s: line %zu is not a JSON object%s%s", path, number, line ? "" : ": ",
                           line ? "" : error.text);
        }
        status = take_line(s, line);
        json_decref(line);
        if (status != RG_OK) return status;
    }
    return RG_OK;
}

static rg_status add_samples(rg_record *r, const log_state *s)
{
    static const char *const roles[] = { "source", "reference", "output" };

    for (size_t i = 0; i < json_array_size(s->samples) && i < 64; i++)
        for (int k = 0; k < 3; k++) {
            json_t *v = json_object_get(json_array_get(s->samples, i), roles[k]);
            if (json_is_string(v) && *json_string_value(v))
                RG_TRY(rg_record_add_text(r, roles[k], json_string_value(v), 0, false));
        }
    return RG_OK;
}

/* The sheets of samples that validations left beside the model (docs/record.md), spread over the run, the last one
 * among them. `log` ends with ".jsonl". */
static rg_status add_sheets(rg_record *r, const log_state *s, const char *log)
{
    const size_t end = strlen(log), n = s->valids < MOST_SHEETS ? s->valids : MOST_SHEETS;
    if (end < 6 || strcmp(log + end - 6, ".jsonl") != 0) return RG_OK;
    for (size_t i = 0; i < n; i++) {
        const double      step = s->valid[s->valids - 1 - (n - 1 - i) * (s->valids - 1) / (n > 1 ? n - 1 : 1)];
        char              name[48], *bytes = NULL;
        char             *path = rg_format("%.*s.samples/%06.0f.png", (int)(end - 6), log, step);
        struct stat       st;
        size_t            count = 0, labels = 0;
        const char *const text[] = { name };
        rg_status         status = path ? RG_OK : RG_ENOMEM;
        snprintf(name, sizeof name, "samples at step %.0f", step);
        if (path && stat(path, &st) == 0) {
            status = rg_view__read_file(&bytes, &count, path, RG_RECORD_MAX_PICTURE);
            if (status == RG_OK) status = rg_record_add_labels(&labels, r, name, RG_LABEL_REGION, text, 1);
            if (status == RG_OK) status = rg_record_set_picture(r, labels, bytes, count);
        }
        rg_free(path);
        rg_free(bytes);
        RG_TRY(status);
    }
    return RG_OK;
}

static bool in_set(const growing *g, size_t set) { return g->set == set && g->count; }

static bool any_point(const log_state *s)
{
    size_t points = 0;
    for (size_t i = 0; i < s->count; i++) points += s->series[i].count;
    return points > 0;
}

static rg_status add_curves(rg_record *r, const log_state *s)
{
    for (size_t set = 0; set < SETS; set++) {
        size_t curves;
        bool   any = false;
        for (size_t i = 0; i < s->count; i++) any = any || in_set(&s->series[i], set);
        if (!any) continue;
        RG_TRY(rg_record_add_curves(&curves, r, sets[set].title, "step", sets[set].y_name, false, sets[set].log));
        for (size_t i = 0; i < s->count; i++)
            if (in_set(&s->series[i], set))
                RG_TRY(rg_record_add_series(r, curves, s->series[i].name, s->series[i].x, s->series[i].y,
                                            s->series[i].count));
    }
    return RG_OK;
}

/* Where a run's log lies, seen from what people name: a model has it beside itself, a folder inside, a log is it. */
static const char *const log_places[] = { ".jsonl", "/log.jsonl", "/model.safetensors.jsonl" };

static rg_status find_log(char **out, const char *path)
{
    struct stat st;

    for (size_t i = 0; i < sizeof log_places / sizeof *log_places; i++) {
        if (!(*out = rg_format("%s%s", path, log_places[i]))) return RG_ENOMEM;
        if (stat(*out, &st) == 0) return RG_OK;
        rg_free(*out);
    }
    *out = NULL;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return rg_fail(RG_EIO, "%s: neither log.jsonl nor model.safetensors.jsonl is in this folder", path);
    return (*out = rg_strdup(path)) ? RG_OK : RG_ENOMEM;
}

rg_status rg_report_read(rg_record **out, const char *run)
{
    rg_status  status;
    rg_record *r = NULL;
    log_state  s = { .count = 0 };
    char      *text = NULL, *path = NULL;
    size_t     bytes = 0;

    if ((status = find_log(&path, run)) != RG_OK ||
        (status = rg_view__read_file(&text, &bytes, path, most_log)) != RG_OK ||
        (status = read_lines(&s, path, text, bytes)) != RG_OK)
        goto done;
    if (!any_point(&s)) {
        status = rg_fail(RG_EFORMAT, "%s: no line has a loss, a rate or a validation", path);
        goto done;
    }
    if ((status = rg_record_new(&r, run, "training")) != RG_OK || (status = add_curves(r, &s)) != RG_OK ||
        (status = add_samples(r, &s)) != RG_OK || (status = add_sheets(r, &s, path)) != RG_OK)
        goto done;
    *out = r;
    r = NULL;
done:
    for (size_t i = 0; i < s.count; i++) {
        rg_free(s.series[i].name);
        rg_free(s.series[i].x);
        rg_free(s.series[i].y);
    }
    rg_free(s.valid);
    json_decref(s.last);
    rg_record_free(r);
    rg_free(text);
    rg_free(path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ page */

static const rg_series *find_series(const rg_record *r, const char *title, const char *name)
{
    for (size_t i = 0; i < r->curve_sets; i++)
        for (size_t k = 0; !strcmp(r->curves[i].title, title) && k < r->curves[i].count; k++)
            if (!strcmp(r->curves[i].series[k].name, name)) return &r->curves[i].series[k];
    return NULL;
}

static void put_tile(rg_buffer *b, const char *name, int digits, double value, const char *note, double step)
{
    rg_buffer_format(b, "<div class=\"tile\"><b>%s</b><span>%.*f</span><i>%s%.0f</i></div>\n", name, digits, value,
                     note, step);
}

static size_t best_point(const rg_series *s, bool least)
{
    size_t best = 0;

    for (size_t i = 1; i < s->count; i++)
        if (least ? s->y[i] < s->y[best] : s->y[i] > s->y[best]) best = i;
    return best;
}

static void put_tiles(rg_buffer *b, const rg_record *r)
{
    const rg_series *loss = find_series(r, "Loss", "training"), *valid = find_series(r, "Loss", "validation");
    const rg_series *bleu = find_series(r, "Validation", "bleu"), *chrf = find_series(r, "Validation", "chrf");
    const rg_series *ppl = find_series(r, "Perplexity", "perplexity"),
                    *speed = find_series(r, "Speed", "words per second");
    double sum = 0;

    rg_buffer_text(b, "<div class=\"tiles\">\n");
    if (loss) put_tile(b, "Training loss", 3, loss->y[loss->count - 1], "at step ", loss->x[loss->count - 1]);
    if (valid)
        put_tile(b, "Best validation loss", 3, valid->y[best_point(valid, true)], "at step ",
                 valid->x[best_point(valid, true)]);
    if (ppl)
        put_tile(b, "Best perplexity", 3, ppl->y[best_point(ppl, true)], "at step ", ppl->x[best_point(ppl, true)]);
    if (bleu)
        put_tile(b, "Best BLEU", 1, bleu->y[best_point(bleu, false)], "at step ", bleu->x[best_point(bleu, false)]);
    if (chrf)
        put_tile(b, "Best chrF", 1, chrf->y[best_point(chrf, false)], "at step ", chrf->x[best_point(chrf, false)]);
    for (size_t i = 0; speed && i < speed->count; i++) sum += speed->y[i];
    if (speed)
        put_tile(b, "Words per second", 0, sum / (double)speed->count, "mean to step ", speed->x[speed->count - 1]);
    rg_buffer_text(b, "</div>\n");
}

static void put_samples(rg_buffer *b, const rg_record *r)
{
    if (!r->texts) return;
    rg_buffer_text(b, "<h2>Samples</h2>\n<div class=\"samples\">\n");
    for (size_t i = 0; i < r->texts; i++) {
        if (!strcmp(r->text[i].role, "source")) rg_buffer_text(b, "<hr>");
        rg_buffer_format(b, "<p class=\"%s\"><b>%s</b><span dir=\"auto\">", r->text[i].role, r->text[i].role);
        rg_buffer_html(b, r->text[i].text);
        rg_buffer_text(b, "</span></p>\n");
    }
    rg_buffer_text(b, "</div>\n");
}

static void put_sheets(rg_buffer *b, const rg_record *r)
{
    if (!r->label_lists) return;
    rg_buffer_text(b, "<h2>Sheets of samples</h2>\n<div class=\"sheets\">\n");
    for (size_t i = 0; i < r->label_lists; i++) {
        const rg_labels *l = &r->labels[i];
        rg_buffer_text(b, "<figure><img alt=\"\" src=\"data:image/png;base64,");
        rg_buffer_base64(b, l->picture, l->picture_bytes);
        rg_buffer_text(b, "\"><figcaption>");
        rg_buffer_html(b, l->name);
        rg_buffer_text(b, "</figcaption></figure>\n");
    }
    rg_buffer_text(b, "</div>\n");
}

static const char style[] =
    "<style>.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:12px 0 20px}.tile{border:1px solid "
    "var(--line);border-radius:8px;"
    "padding:8px 14px;display:grid}.tile b{font-weight:500;color:var(--dim);font-size:.8rem}.tile "
    "span{font-size:1.5rem;"
    "font-variant-numeric:tabular-nums}.tile i{font-style:normal;color:var(--dim);font-size:.75rem}.samples "
    "p{display:flex;gap:12px;"
    "margin:2px 0}.samples b{min-width:6em;font-weight:500;color:var(--dim);font-size:.85rem}.samples .output "
    "span{font-weight:600}"
    ".samples hr{border:0;border-top:1px solid var(--line)}.sheets{display:flex;flex-wrap:wrap;gap:12px}.sheets "
    "figure{margin:0}.sheets img{width:232px;image-rendering:pixelated;border:1px solid var(--line)}.sheets "
    "figcaption{color:var(--dim);font-size:.8rem}</style>\n";

/* Light or dark as the reader's system has it; the button changes it. */
static const char script[] =
    "<script>(()=>{const "
    "d=document.documentElement;if(!d.dataset.theme)d.dataset.theme=matchMedia('(prefers-color-scheme: "
    "dark)').matches?'dark':'light';document.getElementById('theme').onclick=()=>{d.dataset.theme=d.dataset.theme==='"
    "dark'?'light':"
    "'dark'}})()</script>\n";

rg_status rg_report_write_record(char **out, size_t *out_bytes, const rg_record *r, const char *heading)
{
    rg_status status;
    rg_buffer b = RG_BUFFER_EMPTY;

    rg_page__begin(&b, r->title, false, false);
    rg_buffer_text(&b, style);
    rg_buffer_text(&b, "<header><div><h1>");
    rg_buffer_html(&b, heading);
    rg_buffer_text(&b, "</h1><p>");
    rg_buffer_html(&b, r->title);
    rg_buffer_text(&b,
                   "</p></div><button id=\"theme\" type=\"button\" aria-label=\"Light or dark\">◐</button></header>\n");
    put_tiles(&b, r);
    rg_buffer_text(&b, "<section id=\"curves\">\n");
    status = rg_page__curves(&b, r);
    rg_buffer_text(&b, "</section>\n");
    put_samples(&b, r);
    put_sheets(&b, r);
    rg_buffer_text(&b, script);
    rg_buffer_text(&b, "</body>\n</html>\n");
    if (status == RG_OK) return rg_buffer_take(out, out_bytes, &b);
    rg_buffer_fini(&b);
    return status;
}

rg_status rg_report_write(char **out, size_t *out_bytes, const char *run)
{
    rg_record *r = NULL;
    RG_TRY(rg_report_read(&r, run));
    const rg_status status = rg_report_write_record(out, out_bytes, r, "Training");
    rg_record_free(r);
    return status;
}
