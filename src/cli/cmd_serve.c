/* cmd_serve.c - answer over HTTP until told to stop: translations, or whatever a model that reads texts answers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/byte_size.h"
#include "cli/command.h"
#include "cli/choose_shortlist.h"
#include "cli/confining.h"
#include "cli/directions.h"
#include "cli/weights.h"
#include "regard/serve.h"

typedef struct {
    rg_list models;
    char   *host, *api_key, *source, *target, *pivot, *suggestions, *resident, *cache;
    int64_t port, beam, threads, queue, char_limit, per_address, per_minute, workers, suggestions_mb;
    double  normalize, header_seconds, body_seconds, drain_seconds, request_seconds;
    bool    confine, behind_proxy;
    rg_weights_choice keep;
    rg_list shortlist;
    bool    split, no_files;
    char   *memory;
    int64_t file_bytes;
} settings;

static const rg_option options[] = {
    { RG_OPTION_LIST, "model", offsetof(settings, models), "",
      "model files, and folders of them; SOURCE:TARGET=FILE where a file does not name its languages", 'm', NULL },
    { RG_OPTION_STRING, "resident", offsetof(settings, resident), "8",
      "models in memory at most, or their bytes: 2GB; others are loaded when they are asked for", 0, NULL },
    { RG_OPTION_STRING, "cache", offsetof(settings, cache), "64MB",
      "bytes of recent translations, which are not made again; 0: none are kept", 0, NULL },
    { RG_OPTION_STRING, "pivot", offsetof(settings, pivot), "en",
      "language to go through, if it leads there, where there is no model; none: never", 0, NULL },
    { RG_OPTION_STRING, "host", offsetof(settings, host), "127.0.0.1",
      "address to listen on; 0.0.0.0 is every one of this machine", 0, NULL },
    { RG_OPTION_INT, "port", offsetof(settings, port), "8080", "port; 0: any free one", 'p', "[0,65535]" },
    { RG_OPTION_STRING, "api-key", offsetof(settings, api_key), "",
      "requests must carry this key; better REGARD_API_KEY, which others cannot see", 0, NULL },
    { RG_OPTION_STRING, "source-lang", offsetof(settings, source), "",
      "language translated from: en; empty: as the model file says", 0, NULL, "source" },
    { RG_OPTION_STRING, "target-lang", offsetof(settings, target), "", "language translated to, likewise", 0, NULL,
      "target" },
    { RG_OPTION_INT, "beam-size", offsetof(settings, beam), "4", "hypotheses kept; alternatives are among them", 'b',
      "[1,1000]" },
    { RG_OPTION_REAL, "normalize", offsetof(settings, normalize), "1", "score is log p / length^this", 'n', "[0,inf)" },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "0",
      "threads of a worker; 0: as many as there are cores for it", 0, "[0,1024]" },
    { RG_OPTION_INT, "workers", offsetof(settings, workers), "1",
      "processes that share the port; one that ends is started again", 0, "[1,1024]" },
    { RG_OPTION_INT, "queue", offsetof(settings, queue), "65536", "subwords that may wait; beyond, 503", 0, "[1,inf)" },
    { RG_OPTION_INT, "char-limit", offsetof(settings, char_limit), "5000", "characters of one request", 0,
      "[1,1048576]" },
    { RG_OPTION_INT, "connections", offsetof(settings, per_address), "256", "connections of one address", 0,
      "[1,100000]" },
    { RG_OPTION_INT, "req-limit", offsetof(settings, per_minute), "0",
      "requests of one address in a minute; beyond, 429; 0: any number", 0, "[0,inf)" },
    { RG_OPTION_STRING, "suggestions", offsetof(settings, suggestions), "",
      "file to which POST /suggest adds lines; empty: it takes none", 0, NULL },
    { RG_OPTION_INT, "suggestions-mb", offsetof(settings, suggestions_mb), "16", "MiB that file may have", 0,
      "[1,1048576]" },
    { RG_OPTION_BOOL, "behind-proxy", offsetof(settings, behind_proxy), "false",
      "X-Forwarded-For says who asks: only where nobody but the proxy can connect", 0, NULL },
    { RG_OPTION_REAL, "request-seconds", offsetof(settings, request_seconds), "30",
      "time for waiting and translating; beyond, 503", 0, "(0,inf)" },
    { RG_OPTION_REAL, "header-seconds", offsetof(settings, header_seconds), "10", "time for a whole header", 0,
      "(0,inf)" },
    { RG_OPTION_REAL, "body-seconds", offsetof(settings, body_seconds), "30",
      "time for a whole body, and for reading the answer", 0, "(0,inf)" },
    { RG_OPTION_REAL, "drain-seconds", offsetof(settings, drain_seconds), "10",
      "time for what was asked before SIGTERM", 0, "[0,inf)" },
    RG_CONFINE_OPTION(settings, confine),
    RG_WEIGHTS_OPTIONS(settings, keep),
    RG_SHORTLIST_OPTION(settings, shortlist),
    { RG_OPTION_STRING, "memory", offsetof(settings, memory), "",
      "translation memory, .tmx, .xlf or .tsv: a sentence that is in it is copied, not translated", 0, NULL },
    { RG_OPTION_BOOL, "disable-files-translation", offsetof(settings, no_files), "false", "no /translate_file", 0, NULL },
    { RG_OPTION_INT, "file-limit", offsetof(settings, file_bytes), "2097152", "bytes of a file to translate", 0,
      "[1,67108864]" },
    { RG_OPTION_BOOL, "split-sentences", offsetof(settings, split), "true",
      "translate sentence by sentence; false: whole lines", 0, NULL },
    RG_OPTION_END
};

static void say_address(void *context, const char *address)
{
    const rg_serve_config *c = context;
    if (c->confine) rg_say_confined("serve", *c->confined);
    printf("regard serve: %s\n", address);
    fflush(stdout);
}

/* SIGTERM and SIGINT as something to read, for every thread there will be. */
static rg_status catch_signals(int *out)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || (*out = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
        return rg_fail(RG_EIO, "signals cannot be waited for");
    return RG_OK;
}

/* --resident 8 is a number of models, --resident 2GB of bytes. */
static rg_status read_sizes(rg_serve_config *c, const settings *s)
{
    enum { MOST_MODELS = 10000 };
    size_t n;
    bool   unit;
    RG_TRY(rg_byte_size_parse(&c->cache_bytes, &unit, "cache", s->cache));
    RG_TRY(rg_byte_size_parse(&n, &unit, "resident", s->resident));
    if (!n || (!unit && n > MOST_MODELS))
        return rg_fail(RG_EINVAL, "--resident %s: 1 to %d models, or bytes with a unit such as 2GB", s->resident,
                       MOST_MODELS);
    c->resident = unit ? MOST_MODELS : n;
    c->resident_bytes = unit ? n : 0;
    return RG_OK;
}

static rg_serve_config config_of(const settings *s, unsigned *confined)
{
    rg_serve_config c = RG_SERVE_CONFIG_DEFAULT;
    const long      cores = sysconf(_SC_NPROCESSORS_ONLN);
    c.host = s->host;
    c.port = (int)s->port;
    c.api_key = *s->api_key ? s->api_key : getenv("REGARD_API_KEY");
    c.source = s->source;
    c.target = s->target;
    c.threads = s->threads ? (int)s->threads : cores > s->workers ? (int)(cores / s->workers) : 1;
    c.workers = (size_t)s->workers;
    c.beam = (size_t)s->beam;
    c.normalize = s->normalize;
    c.queue = (size_t)s->queue;
    c.char_limit = (size_t)s->char_limit;
    c.per_address = (size_t)s->per_address;
    c.per_minute = (size_t)s->per_minute;
    c.header_seconds = s->header_seconds;
    c.body_seconds = s->body_seconds;
    c.drain_seconds = s->drain_seconds;
    c.request_seconds = s->request_seconds;
    c.weights = rg_weights_chosen(&s->keep);
    c.split_sentences = s->split;
    c.files = !s->no_files;
    c.memory = s->memory;
    c.file_bytes = (size_t)s->file_bytes;
    c.pivot = s->pivot;
    c.suggestions = s->suggestions;
    c.suggestions_bytes = (size_t)s->suggestions_mb << 20;
    c.confine = s->confine;
    c.behind_proxy = s->behind_proxy;
    c.confined = confined;
    return c;
}

/* One model, of any kind. */
static rg_status serve_one(const settings *s, const rg_serve_config *c, const rg_serve_direction *only, int stop)
{
    rg_model       *model = NULL;
    rg_serve_config named = *c;
    rg_status       status = rg_model_load_as(&model, only->path, NULL, c->weights);
    if (status == RG_OK && model->system->task->translates) status = rg_translator_slim(model->assets);
    if (status == RG_OK && s->shortlist.count)
        status = model->system->task->translates
                     ? rg_shortlist_use(model->assets, &s->shortlist)
                     : rg_fail(RG_EINVAL, "--shortlist is for models that translate; %s does not", only->path);
    if (only->source) named.source = only->source;
    if (only->target) named.target = only->target;
    if (status == RG_OK) status = rg_serve_model(&named, model, stop, say_address, &named);
    if (status == RG_EMATCH && !rg_message_names(only->path)) rg_fail_in(status, "%s: ", only->path);
    rg_model_free(model);
    return status;
}

static rg_status serve_several(const settings *s, rg_serve_config *c, const rg_directions *found, int stop)
{
    if (*s->source || *s->target)
        return rg_fail(RG_EINVAL,
                       "--source-lang and --target-lang are for one model; there are %zu: -m SOURCE:TARGET=FILE",
                       found->count);
    if (s->shortlist.count)
        return rg_fail(RG_EINVAL,
                       "--shortlist is for one model; there are %zu (models keep theirs: `regard shortlist`)",
                       found->count);
    return rg_serve_models(c, found->direction, found->count, stop, say_address, c);
}

static rg_status run(rg_call *call)
{
    const settings       *s = call->options;
    unsigned              confined = 0;
    rg_serve_config       c = config_of(s, &confined);
    rg_directions         found = { 0 };
    int                   stop = -1;
    RG_TRY(read_sizes(&c, s));
    rg_status             status = rg_directions_find(&found, &s->models);
    if (status == RG_OK) status = catch_signals(&stop);
    if (status == RG_OK)
        status = found.count == 1 ? serve_one(s, &c, &found.direction[0], stop) : serve_several(s, &c, &found, stop);
    rg_directions_free(&found);
    if (stop >= 0) close(stop);
    return status;
}

const rg_command rg_command_serve = {
    .name = "serve",
    .summary = "answer over HTTP: LibreTranslate's API or /v1/predict, and a page to type into",
    .details =
        "Prints its address and serves until SIGTERM or SIGINT, then answers what was asked before and ends. Open the "
        "address in a browser to type and see translation and attention. POST /translate and /detect, GET /languages, "
        "/health, /spec and /metrics are LibreTranslate's; POST /v1/attention gives the record of a line. Models that "
        "do not "
        "translate "
        "answer POST /v1/predict, classifiers also /classify. Several models (-m DIR, -m A B) are served together by "
        "the languages they name; where there is no model from one to the other, two are asked (docs/serve.md).",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
