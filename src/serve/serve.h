/* serve.h - what the parts of the server share.
 *
 *   server.c    daemon, clock, drain                                    peers.c     connections: deadlines, shares of each address
 *   handle.c    one request: limits, body, routes                       fields.c    JSON, forms and queries as one object
 *   api.c       LibreTranslate's fields and answers                     detect.c    which of the two languages
 *   queue.c     who waits, who is next, whose time is over              lane.c      a thread that translates what is next
 *   predict.c   /v1/predict: models that do not translate                page_predict.c  their page
 *   segments.c  a text cut into lines to translate and what stays       markup.h    the same of HTML, and the tags inside a line
 *
 * A request belongs to the HTTP thread. From rg_queue_put() to its answer its connection is suspended, and the lock
 * of the queue guards it: whoever answers it first (a lane that has translated it, the clock whose deadline has
 * passed, the drain) resumes the connection, once. A lane that still works on a request nobody wants any more frees
 * it afterwards (`running`, `orphan`). */
#ifndef RG_SERVE_SERVE_H
#define RG_SERVE_SERVE_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serve/module.h"

enum {
    RG_SERVE_BODY = 1 << 20,     /* bytes of a body                      */
    RG_SERVE_LINE = 8 << 10,     /* of a request line                    */
    RG_SERVE_HEADER = 32 << 10,  /* of a header section                  */
    RG_SERVE_TEXTS = 256,        /* texts of one request                 */
    RG_SERVE_LONGEST = 1000,     /* subwords of one line                 */
    RG_SERVE_WATCHED = 256,      /* of a line whose record is asked      */
    RG_SERVE_RUN = 256,          /* lines that a lane translates together */
    RG_SERVE_CONNECTIONS = 1000, /* of all addresses                     */
    RG_SERVE_HOLDERS = 4096,     /* buckets that count the connections of addresses */
    RG_SERVE_CODES = 600,
    RG_SERVE_BUCKETS = 11        /* of the histogram of durations         */
};

/* A tag inside a line, as html.c found it. */
typedef enum rg_mark_kind {
    RG_MARK_ELEMENT, /* both tags are on the line                     */
    RG_MARK_OPEN,    /* the closing one is not                        */
    RG_MARK_CLOSE,   /* the opening one is not                        */
    RG_MARK_POINT,   /* stands alone: img, a comment                  */
    RG_MARK_KEEP     /* an element that is not translated             */
} rg_mark_kind;
typedef struct rg_mark {
    rg_mark_kind kind;
    size_t       begin, end; /* bytes of the line's text that it encloses */
    int          parent;     /* the mark around it, or -1                 */
    bool         spaced;     /* around nothing, with a blank on both sides, of which the line has one */
    char        *open, *close; /* of OPEN, CLOSE and POINT only `open`; of KEEP it is the whole element */
} rg_mark;

/* A text: parts that are copied and lines that are translated. */
typedef struct rg_part {
    char  *text;
    bool   line;
    size_t subwords; /* of a line */
    char **best;     /* its translations, best first, once they are there */
    size_t count;
    rg_mark *mark; /* tags inside a line */
    size_t   marks;
} rg_part;
typedef struct rg_segments {
    rg_part *part;
    size_t   count, room, lines;
    const char *language; /* it is in, found or said; borrowed */
    double      confidence;
} rg_segments;

rg_status rg_segments_cut(rg_segments *out, const char *text); /* rg_segments_free also after a failure */
/* Of HTML. aligned: translations come with attention, by which tags find their place (markup.h). */
rg_status rg_segments_cut_html(rg_segments *out, const char *text, bool aligned);
rg_status rg_segments_keep(rg_segments *out, const char *text);           /* nothing of it is translated */
void      rg_segments_free(rg_segments *segments);
/* Keep what became of a line, as it will stand in the text; of HTML with its tags. */
rg_status rg_segments_translated(rg_part *line, const rg_translator *translator, const rg_translated *result,
                                 bool html);
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

typedef struct rg_reply {
    unsigned    code; /* 0: not there yet */
    char       *text;
    size_t      bytes;
    const char *type; /* NULL: JSON */
} rg_reply;

/* What one address asked for and has not got. Exists as long as it has requests in the queue. */
typedef enum rg_lane_name { RG_LANE_SHORT, RG_LANE_LONG, RG_LANES } rg_lane_name;
typedef struct rg_flow {
    struct rg_flow *next;
    uint64_t        address;
    size_t          requests, waiting;  /* waiting: subwords that no lane has taken yet    */
    double          served[RG_LANES];   /* subwords a lane has taken: who has least is next */
} rg_flow;

typedef struct rg_request {
    rg_server             *server;
    struct MHD_Connection *connection;
    rg_peer               *peer;
    bool                   dispatched;
    const char            *allow; /* methods of the address, for 405 and OPTIONS */
    double                 began;
    rg_text                body;
    rg_reply               reply;

    rg_segments *texts;
    size_t       count, lines, alternatives;
    const char  *source, *target; /* codes of the configuration, or "auto" */
    bool         array, html, attention, detected;
    void        *asking; /* of /v1/predict: filled from the rows of the task, NULL: not asked */

    /* In the queue, under its lock. */
    struct rg_request *next, *previous; /* of those without an answer */
    rg_flow           *flow;
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

/* A thread that translates: its session, and the lines of the run at hand. */
typedef struct rg_lane {
    rg_server     *server;
    rg_lane_name   name;
    rg_session    *session;
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

struct rg_server {
    const rg_serve_config *config; /* the settings below */
    rg_serve_config        settings;
    rg_model              *model;
    rg_translator         *translator; /* NULL: the model does not translate */
    struct MHD_Daemon     *daemon;
    char                  *page;
    size_t                 page_bytes;
    rg_queue               queue;
    rg_quota               quota[1024]; /* of the HTTP thread */

    pthread_mutex_t lock; /* of peers */
    rg_peer        *peers;
    unsigned        holders[RG_SERVE_HOLDERS]; /* connections of the addresses of a bucket */
    double          started;

    atomic_bool   draining;
    atomic_size_t active; /* requests begun and not completed */
    atomic_ullong codes[RG_SERVE_CODES], lines, batches, late, left, expired, connections;
    atomic_ullong busy_us; /* of the translating thread */
    atomic_ullong duration[RG_SERVE_BUCKETS + 1], duration_us;
};

/* peers.c */
uint64_t rg_serve__address(struct MHD_Connection *connection); /* a number for each address; of IPv6 for each /64 */
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

/* api.c: each sets the answer, or has put the request into the queue and says true: it is then no longer the
 * caller's. */
bool rg_serve__translate(rg_request *request, bool attention);
bool rg_serve__detect(rg_request *request);
bool rg_serve__languages(rg_request *request);
bool rg_serve__settings(rg_request *request);
bool rg_serve__metrics(rg_request *request);
/* On a lane: the answer of a request whose lines are translated; `result` is that of its only line when its record
 * is asked for. No answer when nobody waits for it any more. */
void rg_serve__translated(rg_reply *reply, const rg_request *request, const rg_translated *result);

/* predict.c: the same for models that do not translate. rg_serve__predicted answers the lines of a lane's run. */
bool rg_serve__predict(rg_request *request);
bool rg_serve__classify(rg_request *request);
void rg_serve__predicted(rg_lane *lane);
void rg_serve__drop_asking(rg_request *request);
extern const char rg_serve__predict_page[];

/* api.c */
bool rg_serve__allowed(rg_request *request, const json_t *fields); /* the API key; else the answer says so */
size_t rg_serve__characters(const char *text);

/* detect.c: 0 .. 1 for the source language against the target language. */
rg_status rg_serve__source_likelihood(double *out, const rg_server *server, const char *text);

/* queue.c */
rg_status rg_queue_start(rg_server *server);
void      rg_queue_stop(rg_server *server);     /* answers 503 to all; searches end at their next step */
bool      rg_queue_put(rg_request *request);    /* suspends its connection; false: full */
void      rg_queue_release(rg_request *request); /* the HTTP thread has done with it */
void      rg_queue_tick(rg_server *server);     /* deadlines that have passed, clients that left */
/* A lane's side: the lines of the next run into lane->part and lane->owner; false when it is time to go. */
bool      rg_queue_take(rg_lane *lane);
void      rg_queue_answer(rg_request *request, rg_reply *reply); /* takes the reply over, whether somebody still wants it or not */
bool      rg_queue_unwanted(const void *request); /* somebody has answered it, or its deadline has passed: do no more for it */
void      rg_queue_drop(rg_request *request);   /* the lane has done with it, for this run */

/* lane.c */
rg_status rg_lane_start(rg_lane *lane, int threads);
void      rg_lane_join(rg_lane *lane); /* after rg_queue_stop has said so */

#endif
