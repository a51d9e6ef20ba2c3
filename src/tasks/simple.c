/* simple.c - the library for other languages: settings as text, answers as JSON. */
#include "regard/simple.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "regard/options.h"
#include "regard/task.h"

/* ------------------------------------------------------------------------------------------------- translating */

struct rg_simple_translator {
    rg_translator *translator;
    rg_session    *session;
};

typedef struct {
    int64_t beam, n_best, max_length, top, seed;
    double  normalize, factor, temperature;
    bool    allow_unknown, sample, attention;
} settings;

#define AT(field) offsetof(settings, field)
static const rg_option rows[] = {
    { RG_OPTION_INT, "beam-size", AT(beam), "4", "hypotheses kept", 0, "[1,1000]" },
    { RG_OPTION_INT, "n-best", AT(n_best), "1", "answers a line", 0, "[1,1000]" },
    { RG_OPTION_REAL, "normalize", AT(normalize), "1", "score is log p / length^this", 0, "[0,inf)" },
    { RG_OPTION_INT, "max-length", AT(max_length), "1000", "source tokens read", 0, "[1,1000000]" },
    { RG_OPTION_REAL, "max-length-factor", AT(factor), "2", "answers end at this times the source length", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "allow-unk", AT(allow_unknown), "true", "answers may hold the unknown word", 0, NULL },
    { RG_OPTION_BOOL, "sampling", AT(sample), "false", "draw answers", 0, NULL },
    { RG_OPTION_REAL, "temperature", AT(temperature), "1", "of the draws", 0, "(0,inf)" },
    { RG_OPTION_INT, "top", AT(top), "0", "draw among so many", 0, "[0,inf)" },
    { RG_OPTION_INT, "seed", AT(seed), "1", "of the draws", 0, "[0,inf)" },
    { RG_OPTION_BOOL, "attention", AT(attention), "false", "give the weights", 0, NULL },
    RG_OPTION_END
};

rg_status rg_simple_open(rg_simple_translator **out, const char *path, int threads)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *out = NULL;
    rg_simple_translator *t = rg_alloc_zero(sizeof *t);
    if (!t) return RG_ENOMEM;
    rg_status status = rg_translator_load(&t->translator, path);
    if (status == RG_OK) status = rg_translator_slim(t->translator);
    if (status == RG_OK)
        status = rg_session_new(&t->session, &t->translator, 1, threads > 0 ? threads : cores > 0 ? (int)cores : 1);
    if (status != RG_OK) rg_simple_close(t);
    else *out = t;
    return status;
}

void rg_simple_close(rg_simple_translator *t)
{
    if (!t) return;
    rg_session_free(t->session);
    rg_translator_free(t->translator);
    rg_free(t);
}

const char *rg_simple_language(const rg_simple_translator *t, int side) { return rg_translator_language(t->translator, side); }

static rg_status read_settings(rg_session_config *out, const char *text)
{
    settings              s = { 0 };
    const rg_option_group group = { .rows = rows, .values = &s };
    RG_TRY(rg_options_init(rows, &s));
    RG_TRY(rg_options_read_yaml(&group, 1, text, strlen(text), "settings", false)); /* no strings: nothing to free */
    if (s.n_best > s.beam)
        return rg_fail(RG_EINVAL, "n-best is %lld; beam-size %lld keeps no more", (long long)s.n_best, (long long)s.beam);
    *out = (rg_session_config)RG_SESSION_CONFIG_DEFAULT;
    rg_search_config *c = &out->search;
    c->beam = (size_t)s.beam;
    c->n_best = (size_t)s.n_best;
    c->normalize = s.normalize;
    c->length_factor = s.factor;
    c->no_unknown = !s.allow_unknown;
    c->sample = s.sample;
    c->temperature = s.temperature;
    c->top = (size_t)s.top;
    c->seed = (uint64_t)s.seed;
    c->attention = s.attention;
    out->max_length = (size_t)s.max_length;
    return RG_OK;
}

rg_status rg_simple_translate(char **out, rg_simple_translator *t, const char *const *lines, size_t n, const char *text)
{
    rg_session_config    config;
    const rg_translated *results = NULL;
    rg_text              json = { 0 };
    *out = NULL;
    RG_TRY(read_settings(&config, text ? text : ""));
    RG_TRY(rg_session_run(&results, t->session, &config, lines, n, 0, NULL));
    rg_status status = rg_text_print(&json, "[");
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        if (i) status = rg_text_print(&json, ",");
        if (status == RG_OK) status = rg_translated_json(&json, t->translator, &results[i], i);
    }
    if (status == RG_OK) status = rg_text_print(&json, "]");
    if (status == RG_OK && !(*out = rg_strdup(rg_text_c(&json)))) status = RG_ENOMEM;
    rg_text_free(&json);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- training */

typedef struct {
    bool (*tell)(void *context, const char *json);
    void *context;
    bool  told; /* to stop */
} listener;

static int append(const char *bytes, size_t count, void *text)
{
    return rg_text_add(text, bytes, count) == RG_OK ? 0 : -1;
}

static void send(listener *l, json_t *object)
{
    rg_text text = { 0 };
    if (l->tell && object && json_dump_callback(object, append, &text, JSON_COMPACT) == 0 &&
        l->tell(l->context, rg_text_c(&text)))
        l->told = true;
    rg_text_free(&text);
    json_decref(object);
}

static void on_say(void *context, const char *line) { send(context, json_pack("{s:s, s:s}", "event", "remark", "text", line)); }

static json_t *metrics_json(const rg_metrics *m)
{
    json_t *object = json_object();
    for (size_t i = 0; m && i < m->count; i++) json_object_set_new(object, m->metric[i].name, json_real(m->metric[i].value));
    return object;
}

static void on_log(void *context, const rg_train_log *log)
{
    static const struct {
        rg_train_event event;
        const char    *name;
    } names[] = { { RG_TRAIN_LOG, "log" }, { RG_TRAIN_VALID, "valid" }, { RG_TRAIN_RESUMED, "resumed" }, { RG_TRAIN_DONE, "done" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].event != log->event) continue;
        json_t *object = json_pack("{s:s, s:I, s:I}", "event", names[i].name, "step", (json_int_t)log->step, "epoch",
                                   (json_int_t)log->epoch);
        if (log->event == RG_TRAIN_LOG)
            json_object_set_new(object, "loss", json_real(log->loss)), json_object_set_new(object, "lr", json_real(log->rate));
        if (log->metrics) json_object_set_new(object, "metrics", metrics_json(log->metrics));
        if (log->path) json_object_set_new(object, "path", json_string(log->path));
        if (log->reason) json_object_set_new(object, "reason", json_string(log->reason));
        send(context, object);
    }
}

static bool on_stop(void *context) { return ((listener *)context)->told; }

rg_status rg_simple_train(const char *text, bool (*tell)(void *context, const char *json), void *context)
{
    listener              l = { .tell = tell, .context = context };
    const rg_train_report report = { .context = &l, .log = on_log, .say = on_say, .stop = on_stop };
    rg_recipe            *recipe;
    rg_learned            learned;
    RG_TRY(rg_recipe_new(&recipe, text));
    const rg_training t = rg_recipe_training(recipe, &report);
    const rg_status   status = rg_learn(NULL, &learned, &t);
    rg_recipe_free(recipe);
    return status;
}
