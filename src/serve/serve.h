/* serve.h - what the parts of the server share.
 *
 *   server.c    daemon, connections and their deadlines, drain          handle.c    one request: limits, body, routes
 *   fields.c    JSON, forms and queries as one object                   api.c       LibreTranslate's fields and answers
 *   queue.c     waiting lines, the thread that translates them
 *   segments.c  a text cut into lines to translate and what stays       detect.c    which of the two languages
 *
 * A request belongs to the HTTP thread; while it waits in the queue it is suspended and belongs to the translating thread, which gives
 * it back by resuming it. */
#ifndef RG_SERVE_SERVE_H
#define RG_SERVE_SERVE_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "regard/serve.h"

enum {
    RG_SERVE_BODY = 1 << 20,     /* bytes of a body                      */
    RG_SERVE_LINE = 8 << 10,     /* of a request line                    */
    RG_SERVE_HEADER = 32 << 10,  /* of a header section                  */
    RG_SERVE_TEXTS = 256,        /* texts of one request                 */
    RG_SERVE_PIECES = 1000,      /* pieces of one line                   */
    RG_SERVE_WATCHED = 256,      /* pieces of a line whose record is asked */
    RG_SERVE_CODES = 600,
    RG_SERVE_BUCKETS = 11        /* of the histogram of durations         */
};

/* A text: parts that are copied and lines that are translated. */
typedef struct rg_part {
    char *text;
    bool  line;
} rg_part;
typedef struct rg_segments {
    rg_part *part;
    size_t   count, room, lines;
    const char *language; /* it is in, found or said; borrowed */
    double      confidence;
} rg_segments;

rg_status rg_segments_cut(rg_segments *out, const char *text, bool html); /* rg_segments_free also after a failure */
rg_status rg_segments_keep(rg_segments *out, const char *text);           /* nothing of it is translated */
void      rg_segments_free(rg_segments *segments);
/* The whole again, with answer number `rank` (or the last there is) of each line. `results` has segments->lines entries. */
rg_status rg_segments_join(rg_text *out, const rg_segments *segments, const rg_translated *results, size_t rank, bool html);

typedef enum rg_phase { RG_PHASE_HEADER, RG_PHASE_BODY, RG_PHASE_WAITING, RG_PHASE_ANSWER } rg_phase;

/* One connection: for deadlines. */
typedef struct rg_peer {
    struct rg_peer *next, *previous;
    int             fd;
    rg_phase        phase;
    double          since;
    bool            ended; /* shut down for being late */
} rg_peer;

typedef struct rg_server rg_server;

typedef struct rg_request {
    rg_server             *server;
    struct MHD_Connection *connection;
    rg_peer               *peer;
    struct rg_request     *next; /* in the queue */
    bool                   dispatched;
    const char            *allow; /* methods of the address, for 405 and OPTIONS */
    double                 began;
    unsigned               code; /* of the answer; 0: not there yet */
    rg_text                body;
    char                  *answer;
    size_t                 answer_bytes;
    const char            *type;

    const rg_translated *results; /* of its lines, until it is answered */

    rg_segments *texts;
    size_t       count, lines, alternatives;
    const char  *source, *target; /* codes of the configuration, or "auto" */
    bool         array, html, attention, detected;
} rg_request;

typedef struct rg_queue {
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    pthread_t       thread;
    rg_request     *first, *last;
    size_t          lines;
    bool            stopping;
    size_t          last_lines; /* of the run before, and how long it took */
    double          last_seconds;
} rg_queue;

typedef struct rg_quota {
    uint64_t address;
    double   since;
    size_t   count;
} rg_quota;

struct rg_server {
    const rg_serve_config *config;
    rg_translator         *translator;
    rg_session            *session;
    struct MHD_Daemon     *daemon;
    char                  *page;
    size_t                 page_bytes;
    rg_queue               queue;
    rg_quota               quota[1024]; /* of the HTTP thread */

    pthread_mutex_t lock; /* of peers */
    rg_peer        *peers;
    double          started;

    atomic_bool   draining;
    atomic_size_t active; /* requests begun and not completed */
    atomic_ullong codes[RG_SERVE_CODES], lines, batches, late, connections;
    atomic_ullong busy_us; /* of the translating thread */
    atomic_ullong duration[RG_SERVE_BUCKETS + 1], duration_us;
};

void rg_serve__phase(rg_request *request, rg_phase phase);

/* handle.c */
enum MHD_Result rg_serve__handle(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                                 const char *data, size_t *data_bytes, void **state);
void rg_serve__completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why);
/* Set the answer: JSON of `value` (taken over), or {"error": ...}. */
void rg_serve__answer(rg_request *request, unsigned code, json_t *value);
void rg_serve__error(rg_request *request, unsigned code, const char *format, ...) RG_PRINTF(3, 4);

extern const double rg_serve__buckets[RG_SERVE_BUCKETS]; /* seconds */

/* fields.c: NULL when the answer says what is wrong with them. */
json_t *rg_serve__fields(rg_request *request);

/* api.c: each sets the answer, or has put the request into the queue and says true: it is then no longer the caller's. */
bool rg_serve__translate(rg_request *request, bool attention);
bool rg_serve__detect(rg_request *request);
bool rg_serve__languages(rg_request *request);
bool rg_serve__settings(rg_request *request);
bool rg_serve__metrics(rg_request *request);
/* On the translating thread: results of the request's lines. */
void rg_serve__translated(rg_request *request, const rg_translated *results);

/* detect.c: 0 .. 1 for the source language against the target language. */
rg_status rg_serve__source_likelihood(double *out, const rg_server *server, const char *text);

/* queue.c */
rg_status rg_queue_start(rg_server *server);
void      rg_queue_stop(rg_server *server); /* finishes the run at hand, answers 503 to the rest */
bool      rg_queue_put(rg_request *request); /* suspends its connection; false: full */

#endif
