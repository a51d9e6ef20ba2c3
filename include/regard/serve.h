/* serve.h - the HTTP server: LibreTranslate's API for translators, /v1/predict for other models that read texts, the
 * page with a box to type into, records of attention. docs/serve.md has the rest.
 *
 * It lives in the module regard-serve.so, which the first call opens: nobody else waits for an HTTP library to be
 * loaded. */
#ifndef REGARD_SERVE_H
#define REGARD_SERVE_H

#include "regard/task.h"
#include "regard/translate.h"

RG_API_BEGIN

typedef struct rg_serve_config {
    const char *host;        /* an address of this machine                                                     */
    int         port;        /* 0: any free one                                                                */
    const char *api_key;     /* NULL or "": nobody is asked                                                    */
    const char *source, *target; /* language codes (en, fr); NULL or "": what the model file says, else "und"   */
    int         threads;     /* of the translator                                                              */
    size_t      beam;        /* also the most answers a text can have                                          */
    double      normalize;
    size_t      queue;       /* subwords waiting; more are answered 503                                        */
    size_t      char_limit;  /* characters of one request                                                      */
    size_t      per_address; /* connections of one address                                                     */
    size_t      per_minute;  /* requests of one address, 429 beyond; 0: any number                             */
    double      header_seconds, body_seconds, drain_seconds; /* absolute, not between reads                     */
    const char *memory;      /* a translation memory (.tmx, .xlf, .tsv): what is in it is copied; NULL or "": none */
    bool        files;       /* is /translate_file open?                                                       */
    size_t      file_bytes;  /* of a file with its form                                                        */
    bool        split_sentences; /* translate sentence by sentence; false: whole lines, as they come            */
    double      request_seconds; /* for waiting and translating together; beyond, 503                          */
    rg_weights  weights;     /* of models that are loaded from files                                           */
    size_t      resident;    /* models in memory at most; beyond, the one that was used least lately makes place */
    size_t      resident_bytes; /* the same in bytes of their weights; 0: any number                           */
    size_t      cache_bytes; /* of recent translations, which are not searched for again; 0: none are kept     */
    const char *pivot;       /* through which directions without a model go, if it leads there; "": en; "none"  */
    const char *suggestions; /* file to which /suggest adds lines; NULL or "": it answers 403                  */
    size_t      suggestions_bytes; /* that it may have                                                         */
    bool        behind_proxy; /* X-Forwarded-For says who asks; only where nobody but the proxy can connect    */
    size_t      workers;     /* processes that share the port, each with threads and a queue; 0, 1: this one    */
    bool        confine;     /* the process, for good (regard/confine.h): for programs that do nothing else. It reads
                              * the folders of its models and writes nothing but what is open                  */
    unsigned   *confined;    /* what the kernel did of that; NULL: nobody asks                                 */
} rg_serve_config;
#define RG_SERVE_CONFIG_DEFAULT                                                                                             \
    { .host = "127.0.0.1", .port = 8080, .threads = 1, .beam = 4, .normalize = 1, .queue = 65536, \
      .char_limit = 5000, .per_address = 256, .header_seconds = 10, .body_seconds = 30, .drain_seconds = 10, \
      .file_bytes = 2 << 20, .request_seconds = 30, .weights = RG_WEIGHT_STORED, .resident = 8, .suggestions_bytes = 16 << 20 }

/* One model of several. */
typedef struct rg_serve_direction {
    const char *path;            /* its file; read when it is asked for, where not all fit into memory    */
    rg_model   *model;           /* or a model that is loaded; borrowed, and in memory all the time       */
    const char *source, *target; /* its languages; NULL or "": what the file says, which several must say */
} rg_serve_direction;

/* Serve until `stop` (a pipe, a signalfd) can be read; then take no more connections, answer what was asked, and
 * return. `ready` is called once with the address. The translator is borrowed. RG_EIO when the module is not
 * installed. */
rg_status rg_serve_run(const rg_serve_config *config, rg_translator *translator, int stop,
                       void (*ready)(void *context, const char *address), void *context);

/* The same with any model. RG_EMATCH: its task reads no texts. */
rg_status rg_serve_model(const rg_serve_config *config, rg_model *model, int stop,
                         void (*ready)(void *context, const char *address), void *context);

/* The same with several that translate. No two in the same direction; where there is no model from one language to
 * another, two that lead there by way of a third are asked one after the other. All but the number `resident` are
 * loaded when they are asked for. */
rg_status rg_serve_models(const rg_serve_config *config, const rg_serve_direction *models, size_t count, int stop,
                          void (*ready)(void *context, const char *address), void *context);

RG_API_END
#endif
