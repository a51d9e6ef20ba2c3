/* serve.h - what the parts of the server share.
 *
 *   server.c    daemon, clock, drain                                    peers.c     connections: deadlines, shares of each address
 *   handle.c    one request: limits, body, answer                       fields.c    JSON, forms and queries as one object
 *   routes.c    which address is answered by which function             metrics.c   /metrics, counters
 *   spec.c      /spec                                                   suggest.c   /suggest
 *   api.c       LibreTranslate's fields and answers                     languages.c  codes, names, /languages, /detect
 *   models.c    directions, pivots, models loaded on demand              detect.c    which language a text is in
 *   workers.c   several processes                                       scores.c    how sure the model was
 *   queue.c     who waits, who is next, whose time is over              lane.c      a thread that translates what is next
 *   predict.c   /v1/predict: models that do not translate                page_predict.c  their page
 *   terms_field.c  the glossary of a request
 *   segments.c  a text as lines to translate (regard/document.h)         files.c     /translate_file
 *   store.c     bytes that all processes have                           cache.c     recent translations
 *
 * A request belongs to the HTTP thread. From rg_queue_put() to its answer its connection is suspended, and the lock
 * of the queue guards it: whoever answers it first (a lane that has translated it, the clock whose deadline has
 * passed, the drain) resumes the connection, once. A lane that still works on a request nobody wants any more frees
 * it afterwards (`running`, `orphan`).
 *
 * A request is translated in legs, one per model: one, or two by way of a third language. Before a leg it holds the
 * model, which then stays in memory; a model that is not there is loaded by a thread of its own while the request
 * waits (`parked`). Between two legs it belongs to the thread that made the last line of the first (`advance`). */
#ifndef RG_SERVE_SERVE_H
#define RG_SERVE_SERVE_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "regard/document.h"
#include "regard/language_guess.h"
#include "regard/translation_memory.h"
#include "regard/glossary.h"
#include "serve/module.h"
#include "serve/store.h"

enum {
    RG_SERVE_BODY = 1 << 20,     /* bytes of a body                      */
    RG_SERVE_LINE = 8 << 10,     /* of a request line                    */
    RG_SERVE_HEADER = 32 << 10,  /* of a header section                  */
    RG_SERVE_TEXTS = 256,        /* texts of one request                 */
    RG_SERVE_TERMS = 1000,       /* of the glossary of one request       */
    RG_SERVE_LONGEST = 1000,     /* subwords of one line                 */
    RG_SERVE_WATCHED = 256,      /* of a line whose record is asked      */
    RG_SERVE_RUN = 256,          /* lines that a lane translates together */
    RG_SERVE_CONNECTIONS = 1000, /* of all addresses                     */
    RG_SERVE_HOLDERS = 4096,     /* buckets that count the connections of addresses */
    RG_SERVE_CODES = 600,
    RG_SERVE_BUCKETS = 11        /* of the histogram of durations         */
};

/* A line, or a sentence of one. */
typedef struct rg_part {
    const char *text; /* of the document */
    bool   line;
    const struct rg_segments *segments; /* it is of */
    size_t number;                      /* in their document */
    bool   marked;                      /* has tags, which attention places */
    size_t subwords;
    char **best;     /* its translations, best first, as they will stand in the text, once they are there */
    size_t count;
    json_t *score;   /* how sure the model was; NULL: nobody asks, or it was copied from a memory */
} rg_part;

/* A text or file: a document (regard/document.h), whose sentences are the lines to translate. */
typedef struct rg_segments {
    rg_document *document; /* NULL: nothing of it is translated */
    char        *kept;     /* then this is it */
    rg_part     *part;
    size_t       count, lines;
} rg_segments;

/* A text as it came, or as the leg before left it. */
typedef struct rg_asked_text {
    char       *text;
    const char *language; /* it is in, found or said; borrowed */
    double      confidence;
    bool        keep; /* nothing of it is translated: it is in the target language already */
} rg_asked_text;

/* rg_segments_free also after a failure. */
rg_status rg_segments_cut(rg_segments *out, const char *bytes, size_t count, const rg_document_config *config);
rg_status rg_segments_keep(rg_segments *out, const char *text); /* nothing of it is translated */
void      rg_segments_free(rg_segments *segments);
/* Keep what became of a line, as it will stand in the text. */
rg_status rg_segments_translated(rg_part *line, const rg_translator *translator, const rg_translated *result);
/* A line that is in the memory has its translation; false: it is not. */
bool rg_segments_recalled(rg_part *line, const rg_translation_memory *memory);
/* The whole again, with translation number `rank` (or the last there is) of each line. */
rg_status rg_segments_join(rg_text *out, const rg_segments *segments, size_t rank);

#define RG_SERVE_UNKNOWN "und" /* the code of a language that is not known (ISO 639-2) */

typedef enum rg_phase { RG_PHASE_HEADER, RG_PHASE_BODY, RG_PHASE_WAITING, RG_PHASE_ANSWER } rg_phase;

/* One connection: for deadlines and shares. */
typedef struct rg_peer {
    struct rg_peer *next, *previous;
    uint64_t        address;
    int             fd;
    rg_phase        phase;
    double          since;
    bool            ended; /* shut down for being late */
} rg_peer;

typedef struct rg_server rg_server;
typedef enum rg_lane_name { RG_LANE_SHORT, RG_LANE_LONG, RG_LANES } rg_lane_name;

typedef struct rg_reply {
    unsigned    code; /* 0: not there yet */
    char       *text;
    size_t      bytes;
    const char *type; /* NULL: JSON */
    bool        attached; /* to be saved, not shown: what a stranger sent is no page of ours */
} rg_reply;

/* What one address asked for and has not got. Exists as long as it has requests in the queue. */
typedef struct rg_flow {
    struct rg_flow *next;
    uint64_t        address;
    size_t          requests, waiting;  /* waiting: subwords that no lane has taken yet    */
    double          served[RG_LANES];   /* subwords a lane has taken: who has least is next */
} rg_flow;

/* One model: a direction. What it has in memory is guarded by the lock of the queue. */
typedef struct rg_served {
    const char    *path; /* NULL: it came loaded and is never dropped */
    char          *source, *target;
    rg_model      *model;      /* NULL: not in memory */
    rg_translator *translator; /* NULL: it does not translate, or is not in memory */
    size_t         holders;    /* requests that need it */
    bool           leaving;    /* nobody else may hold it: it is dropped when the last has done */
    double         used;
    uint64_t       stamp; /* which file it was loaded from, for the cache; 0: it changed meanwhile */
    size_t         bytes; /* of memory it takes; not in memory: that it took, or its file has      */
    rg_session    *session[RG_LANES]; /* made by the lanes */
    rg_translation_memory *memory; /* texts that are copied; NULL: none */
} rg_served;

typedef struct rg_models {
    rg_served     *model;
    size_t         count, most, loaded; /* most: that may be in memory */
    size_t         most_bytes, loaded_bytes; /* the same in bytes; most_bytes 0: any number */
    const char   **language;            /* sources by their code, then what is only a target */
    size_t         languages, sources;
    pthread_t      thread; /* loads what is asked for; only where not all may be in memory */
    bool           started;
    pthread_cond_t wake;
} rg_models;

/* The file of a form. */
typedef struct rg_upload {
    const char               *bytes; /* of the body */
    size_t                    count;
    char                      name[256]; /* as the client calls it: its ending is the format; "": none came */
    const rg_document_format *format;
    bool                      direct; /* the answer is the file */
    char                     *between; /* what the first of two models made of it, then `bytes`; NULL: nothing yet */
} rg_upload;

typedef struct rg_request {
    rg_server             *server;
    struct MHD_Connection *connection;
    rg_peer               *peer;
    bool                   dispatched;
    const char            *allow; /* methods of the address, for 405 and OPTIONS */
    double                 began;
    rg_text                body;
    rg_reply               reply;

    rg_asked_text *input;
    rg_segments *texts; /* the inputs, cut for the leg at hand */
    size_t       count, lines, alternatives;
    const char  *source, *target; /* codes of the server, or "auto" */
    bool         array, html, attention, detected, scores;
    rg_served   *leg[2]; /* the models that translate it, one after the other */
    size_t       legs, at;
    size_t       ready;   /* lines of the leg that is being prepared */
    bool         advance; /* a lane has made the last line of a leg that is not the last */
    rg_upload    upload;   /* of /translate_file; its format NULL: it is another request */
    rg_glossary *glossary; /* terms it wants; NULL: none */
    void        *asking; /* of /v1/predict: filled from the rows of the task, NULL: not asked */

    /* In the queue, under its lock. */
    struct rg_request *next, *previous; /* of those without an answer */
    rg_flow           *flow;
    rg_served         *holds;           /* the model of its leg, kept in memory for it */
    bool               parked;          /* until its model is loaded */
    rg_lane_name       lane;
    rg_part          **line;            /* all of its lines */
    size_t             subwords;        /* of the lines no lane has taken yet */
    size_t             taken, finished; /* lines */
    double             urgency;         /* requests of an address are served in this order */
    double             deadline;        /* set once */
    bool               watched;         /* its searches record attention, which takes longer: for its record, or to place tags */
    bool               running, orphan, answered;
    atomic_bool        unwanted;        /* the search asks */
} rg_request;

/* A thread that translates: the lines of the run at hand, all by one model. */
typedef struct rg_lane {
    rg_server     *server;
    rg_lane_name   name;
    int            threads;
    pthread_t      thread;
    bool           started;
    pthread_cond_t wake;
    size_t         lines;       /* waiting, under the queue's lock               */
    double         clock;       /* `served` of the flow that was chosen last     */
    rg_part       *part[RG_SERVE_RUN];
    rg_request    *owner[RG_SERVE_RUN];
    rg_request    *holder[RG_SERVE_RUN]; /* each owner once */
    size_t         count, holders, subwords;
    size_t         last_lines;  /* of the run before, and how long it took       */
    double         last_seconds, speed; /* subwords a second, smoothed           */
} rg_lane;

typedef struct rg_queue {
    pthread_mutex_t lock;
    rg_lane         lane[RG_LANES];
    rg_request     *requests; /* without an answer */
    rg_flow        *flows;
    size_t          subwords; /* waiting */
    bool            stopping;
} rg_queue;

typedef struct rg_quota {
    uint64_t address;
    double   since;
    size_t   count;
} rg_quota;

/* What /metrics tells, of one process. Gauges of the queue and of models are brought up to date by the clock. */
typedef enum rg_count {
    RG_COUNT_ACTIVE, /* requests begun and not completed */
    RG_COUNT_QUEUE_LINES,
    RG_COUNT_QUEUE_SUBWORDS,
    RG_COUNT_CONNECTIONS,
    RG_COUNT_LOADED, /* models in memory */
    RG_COUNT_LOADED_BYTES,
    RG_COUNT_GAUGES, /* those before begin at 0 when a process starts again */
    RG_COUNT_LEFT = RG_COUNT_GAUGES,
    RG_COUNT_EXPIRED,
    RG_COUNT_LINES,
    RG_COUNT_BATCHES,
    RG_COUNT_BUSY_US, /* of the translating threads */
    RG_COUNT_LOADS,
    RG_COUNT_CACHE_HITS,
    RG_COUNT_CACHE_MISSES,
    RG_COUNT_LATE,
    RG_COUNT_RESTARTS,
    RG_COUNT_DURATION_US,
    RG_COUNTS
} rg_count;
typedef struct rg_counters {
    atomic_ullong value[RG_COUNTS], codes[RG_SERVE_CODES], duration[RG_SERVE_BUCKETS + 1];
} rg_counters;

struct rg_server {
    const rg_serve_config *config; /* the settings below */
    rg_serve_config        settings;
    rg_models              models;
    rg_model              *model;      /* the only one, which may not translate; NULL: there are several */
    bool                   translates;
    rg_store              *files;     /* translated ones, to be fetched */
    rg_languages          *detector;  /* of languages, where there are several; NULL: it is not installed */
    rg_store              *cache;     /* recent translations; NULL: none are kept */
    rg_sentences          *sentences; /* others are made like it; NULL: lines stay whole */
    struct MHD_Daemon     *daemon;
    rg_file               *suggestions; /* NULL: they are not taken */
    char                  *page;
    size_t                 page_bytes;
    rg_queue               queue;
    rg_quota               quota[1024]; /* of the HTTP thread */

    pthread_mutex_t lock; /* of peers */
    rg_peer        *peers;
    unsigned        holders[RG_SERVE_HOLDERS]; /* connections of the addresses of a bucket */
    double          started;

    atomic_bool  draining;
    rg_counters *counters;  /* of this process: one of `all` */
    rg_counters *all;       /* in memory that the processes share */
    size_t       processes; /* of these */
};

/* peers.c */
uint64_t rg_serve__address(struct MHD_Connection *connection); /* a number for each address; of IPv6 for each /64 */
uint64_t rg_serve__client(const rg_request *request);          /* the same of who asks, who may stand behind a proxy */
void     rg_serve__connected(void *context, struct MHD_Connection *connection, void **socket_context,
                             enum MHD_ConnectionNotificationCode what);
void     rg_serve__phase(rg_request *request, rg_phase phase);
void     rg_serve__end_late(rg_server *server); /* connections past their deadline */
bool     rg_serve__over_quota(rg_request *request);

/* handle.c */
enum MHD_Result rg_serve__handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_bytes, void **state);
void            rg_serve__completed(void *context, struct MHD_Connection *connection, void **state,
                                    enum MHD_RequestTerminationCode why);
/* Set the answer: JSON of `value` (taken over), or {"error": ...}. */
void rg_serve__answer(rg_reply *reply, unsigned code, json_t *value);
void rg_serve__error(rg_reply *reply, unsigned code, const char *format, ...) RG_PRINTF(3, 4);
void rg_serve__free(rg_request *request);

extern const double rg_serve__buckets[RG_SERVE_BUCKETS]; /* seconds */

/* fields.c: NULL when the answer says what is wrong with them. */
json_t *rg_serve__fields(rg_request *request);
/* terms_field.c: reads the field `glossary`, if there is one. False: the answer says what is wrong with it. */
bool rg_serve__glossary(rg_request *request, const json_t *fields);

/* routes.c: the answers to requests, by address. Each sets the answer, or has put the request into the queue and says
 * true: it is then no longer the caller's. */
typedef bool rg_answerer(rg_request *request);
typedef struct rg_route {
    const char  *path;
    bool         post;
    rg_answerer *answer;
    bool         translators; /* there for models that translate only */
    bool         others;      /* for those that do not                */
} rg_route;
const rg_route *rg_serve__routes(size_t *out_count);
bool            rg_serve__route(rg_request *request, const char *url, const char *method);

/* api.c */
rg_answerer rg_serve__translate, rg_serve__attention;
/* Cut the texts of a request whose model it holds and count what its leg costs: request->ready lines. On any thread:
 * that of HTTP, a lane (the second leg), the one that loads models. False: the reply says why not. */
bool rg_serve__prepare(rg_reply *reply, rg_request *request);
/* On a thread that has the request (`running`): its next leg, or the one that waited for its model. */
void rg_serve__advance(rg_request *request);
void rg_serve__resume(rg_request *request);
/* On a lane: the answer of a request whose lines are translated; `result` is that of its only line when its record
 * is asked for. No answer when nobody waits for it any more. */
void rg_serve__translated(rg_reply *reply, const rg_request *request, const rg_translated *result);

/* scores.c: of one line; and of a request, from its lines */
rg_status rg_scores_of(json_t **out, const rg_translator *translator, const rg_translated *result);
json_t   *rg_scores_json(const rg_request *request);

/* cache.c: a line that was translated lately has its translations again; false: it has not. And what a search found, for
 * the next one who asks. */
bool rg_recent_recall(rg_part *line, const rg_request *request);
void rg_recent_keep(const rg_request *request, const rg_part *line, const rg_translated *result);

/* suggest.c */
rg_answerer rg_serve__suggest;
rg_status   rg_suggestions_open(rg_server *server);

/* spec.c */
rg_answerer rg_serve__spec;
json_t     *rg_serve__describe(bool translates);

/* languages.c */
rg_answerer rg_serve__detect, rg_serve__languages, rg_serve__settings;
const char *rg_serve__language_name(const char *code);
const char *rg_serve__language_of(const rg_server *server, const char *code); /* the server's own string; NULL: it has none */
bool        rg_serve__read_languages(rg_request *request, const json_t *fields);
void        rg_serve__no_pair(rg_reply *reply, const rg_server *server, const char *from, const char *to);

/* metrics.c */
rg_answerer        rg_serve__metrics;
rg_status          rg_counters_open(rg_server *server, size_t processes);
void               rg_counters_close(rg_server *server);
unsigned long long rg_count_add(rg_server *server, rg_count what, unsigned long long n); /* what it was before */
void               rg_count_less(rg_server *server, rg_count what);
unsigned long long rg_count_get(const rg_server *server, rg_count what);
void               rg_count_gauges(rg_server *server); /* of the queue and of models */

/* workers.c: several that take connections at one socket; one that ends is started again. `work` serves until its
 * descriptor can be read. Gives back when all have ended after `stop`. */
rg_status rg_serve__workers(rg_server *server, int listening, int stop,
                             rg_status (*work)(rg_server *server, int listening, int stop));

/* models.c */
rg_status rg_models_open(rg_server *server, const rg_serve_direction *direction, size_t count);
void      rg_models_close(rg_server *server);
rg_status rg_models_start(rg_server *server); /* the thread that loads, where one is needed */
void      rg_models_join(rg_server *server);  /* after rg_queue_stop has said so */
/* The models from one language to another: one, two by way of a third language, or 0. */
size_t    rg_models_path(rg_served *out[2], const rg_server *server, const char *from, const char *to);
bool      rg_models_hold(rg_request *request);     /* the model of its leg; false: it is not in memory */
void      rg_models_let_go(rg_request *request);   /* under the lock of the queue */
rg_status rg_models_session(rg_session **out, const rg_lane *lane, rg_served *model);

/* api.c: the rest of a request for a file, which is read: its languages, and into the queue. */
bool rg_serve__begin_file(rg_request *request);

/* files.c */
rg_status rg_files_store_open(rg_server *server);
bool      rg_serve__translate_file(rg_request *request);
bool      rg_serve__download(rg_request *request, const char *url); /* false: the address is another one */
void      rg_serve__file_translated(rg_reply *reply, const rg_request *request);
rg_status rg_serve__file_between(rg_request *request); /* what the leg has made of it is the file of the next */
json_t   *rg_serve__file_endings(void);

/* predict.c: the same for models that do not translate. rg_serve__predicted answers the lines of a lane's run. */
rg_answerer rg_serve__predict, rg_serve__classify;
void rg_serve__predicted(rg_lane *lane);
void rg_serve__drop_asking(rg_request *request);
extern const char rg_serve__predict_page[];

/* api.c */
bool rg_serve__allowed(rg_request *request, const json_t *fields); /* the API key; else the answer says so */
size_t rg_serve__characters(const char *text);

/* detect.c: the languages of the server that a text may be in, likeliest first; confidences are 0 .. 1. Of a server
 * with one direction these are its two languages. 0 of them: it cannot be told. */
enum { RG_SERVE_GUESSES = 3 };
typedef struct rg_guess {
    const char *language;
    double      confidence;
} rg_guess;
rg_status rg_serve__guess(rg_guess out[RG_SERVE_GUESSES], size_t *out_count, const rg_server *server, const char *text,
                          bool html);

/* queue.c */
rg_status rg_queue_start(rg_server *server);
void      rg_queue_stop(rg_server *server);     /* answers 503 to all; searches end at their next step */
bool      rg_queue_put(rg_request *request);    /* suspends its connection; false: full */
bool      rg_queue_park(rg_request *request);   /* the same, until its model is there */
/* From a thread that has the request: it waits for its model; it has an answer (taken over), or lines to translate. */
void      rg_queue_park_again(rg_request *request);
void      rg_queue_return(rg_request *request, rg_reply *reply);
rg_request *rg_queue_parked(rg_queue *queue);   /* the oldest that waits for its model; under the lock */
void      rg_queue_refuse(rg_request *request, unsigned code, const char *why); /* under the lock */
void      rg_queue_release(rg_request *request); /* the HTTP thread has done with it */
void      rg_queue_tick(rg_server *server);     /* deadlines that have passed, clients that left */
/* A lane's side: the lines of the next run into lane->part and lane->owner; false when it is time to go. */
bool      rg_queue_take(rg_lane *lane);
void      rg_queue_answer(rg_request *request, rg_reply *reply); /* takes the reply over, whether somebody still wants it or not */
bool      rg_queue_unwanted(const void *request); /* somebody has answered it, or its deadline has passed: do no more for it */
void      rg_queue_drop(rg_request *request);   /* the lane has done with it, for this run */

/* lane.c */
rg_status rg_lane_start(rg_lane *lane);
void      rg_lane_join(rg_lane *lane); /* after rg_queue_stop has said so */

#endif
