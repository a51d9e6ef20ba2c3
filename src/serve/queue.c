/* queue.c - requests whose lines wait: who may come in, who is next, whose time is over.
 *
 * Everything is counted in subwords, which is what a search costs, and counted before a request is let in. Two lanes
 * translate: one for lines of usual length, one for long lines, which keep a search busy for seconds and get half of
 * the threads. In each lane
 *
 *     between addresses   the one that was served least is next (start-time fair queueing), line by line
 *     within an address   by urgency = time of arrival + subwords / PATIENCE: a small request passes large ones, and nobody waits for ever
 *
 * When the queue is full, the address that fills it most loses its youngest request or is not let in; the others do
 * not notice. */
#define _GNU_SOURCE 1 /* POLLRDHUP */
#include "serve/serve.h"

#include <poll.h>
#include <time.h>

enum {
    LONG_LINE = 128, /* subwords from which a line takes the long lane                                 */
    QUANTUM = 256,   /* subwords taken from one address before the next has its turn                   */
    PATIENCE = 500,  /* subwords for which a request waits a second longer than an empty one           */
    LEAST_RUN = 64,  /* subwords of a run of a lane: as many as it translates in RUN_MS, in these bounds */
    MOST_RUN = 4096,
    RUN_MS = 250
};

/* ------------------------------------------------------------------------------------------------------- in and out */

static rg_flow *find_flow(rg_queue *q, uint64_t address)
{
    for (rg_flow *f = q->flows; f; f = f->next)
        if (f->address == address) return f;
    return NULL;
}

static rg_flow *get_flow(rg_queue *q, uint64_t address)
{
    rg_flow *f = find_flow(q, address);
    if (f || !(f = rg_alloc_zero(sizeof *f))) return f;
    *f = (rg_flow){ .next = q->flows, .address = address };
    return q->flows = f;
}

static void leave_flow(rg_queue *q, rg_flow *flow)
{
    rg_flow **at = &q->flows;
    if (--flow->requests) return;
    while (*at != flow) at = &(*at)->next;
    *at = flow->next;
    rg_free(flow);
}

/* Without an answer, from here on. */
static void join(rg_queue *q, rg_request *r, rg_flow *flow)
{
    r->flow = flow;
    r->next = q->requests;
    if (r->next) r->next->previous = r;
    q->requests = r;
    flow->requests++;
}

/* The lines of the leg that was prepared. */
static void enter(rg_queue *q, rg_request *r)
{
    r->subwords = 0;
    r->lane = RG_LANE_SHORT;
    r->watched = r->attention;
    for (size_t i = 0; i < r->ready; i++) {
        if (r->line[i]->marked) r->watched = true;
        r->subwords += r->line[i]->subwords;
        if (r->line[i]->subwords > LONG_LINE) r->lane = RG_LANE_LONG;
    }
    rg_lane *lane = &q->lane[r->lane];
    r->lines = r->ready;
    r->taken = r->finished = 0;
    r->urgency = rg_now() + (double)r->subwords / PATIENCE;
    r->flow->waiting += r->subwords;
    if (r->flow->served[r->lane] < lane->clock)
        r->flow->served[r->lane] = lane->clock; /* time spent away earns nothing */
    q->subwords += r->subwords;
    lane->lines += r->lines;
    pthread_cond_signal(&lane->wake);
}

/* Its answer is there: nothing of it waits any longer, and its connection goes on. Searches that still run for it
 * end at their next step. Once it is resumed and the lock is gone, a request that is not running is no longer ours. */
static void answer(rg_request *r, const rg_reply *reply)
{
    rg_queue *q = &r->server->queue;
    q->subwords -= r->subwords;
    r->flow->waiting -= r->subwords;
    q->lane[r->lane].lines -= r->lines - r->taken;
    r->subwords = 0;
    r->taken = r->lines;
    leave_flow(q, r->flow);
    if (r->previous) r->previous->next = r->next;
    else q->requests = r->next;
    if (r->next) r->next->previous = r->previous;
    r->reply = *reply;
    r->answered = true;
    r->parked = false;
    if (!r->running) rg_models_let_go(r);
    atomic_store(&r->unwanted, true);
    MHD_resume_connection(r->connection);
}

void rg_queue_refuse(rg_request *r, unsigned code, const char *why)
{
    rg_reply reply = { 0 };
    rg_serve__error(&reply, code, "%s", why);
    answer(r, &reply);
}

/* The youngest request of a flow that has lines waiting, of which no lane has begun one; NULL: none. */
static rg_request *youngest(rg_queue *q, const rg_flow *flow)
{
    rg_request *found = NULL;
    for (rg_request *r = q->requests; r; r = r->next)
        if (r->flow == flow && r->lines && !r->taken && (!found || r->began > found->began)) found = r;
    return found;
}

/* Room for a request of `flow`; false when the flow itself is the one that fills the queue. */
static bool make_room(rg_queue *q, size_t limit, const rg_flow *flow, size_t subwords)
{
    while (q->subwords + subwords > limit) {
        const rg_flow *most = NULL;
        for (const rg_flow *f = q->flows; f; f = f->next)
            if (!most || f->waiting > most->waiting) most = f;
        rg_request *last = most && most->waiting > flow->waiting + subwords ? youngest(q, most) : NULL;
        if (!last) return false;
        rg_queue_refuse(last, 503, "Too many requests are waiting");
    }
    return true;
}

/* Into the queue with all that is ready of it, from the HTTP thread: its connection rests from here on. */
static bool let_in(rg_request *r, bool park)
{
    rg_queue *q = &r->server->queue;
    size_t    subwords = 0;
    r->deadline = rg_now() + r->server->config->request_seconds;
    for (size_t i = 0; i < r->ready; i++) subwords += r->line[i]->subwords;
    pthread_mutex_lock(&q->lock);
    rg_flow   *flow = q->stopping ? NULL : get_flow(q, rg_serve__client(r));
    const bool fits = flow && make_room(q, r->server->config->queue, flow, subwords);
    if (fits) {
        rg_serve__phase(r, RG_PHASE_WAITING);
        MHD_suspend_connection(r->connection);
        join(q, r, flow);
        r->parked = park;
        if (park) pthread_cond_signal(&r->server->models.wake);
        else enter(q, r);
    } else if (flow) {
        flow->requests++; /* a flow that was made for nothing goes again */
        leave_flow(q, flow);
    }
    pthread_mutex_unlock(&q->lock);
    return fits;
}

bool rg_queue_put(rg_request *r) { return let_in(r, false); }
bool rg_queue_park(rg_request *r) { return let_in(r, true); }

/* ------------------------------------------------------------------------------------------------- between two legs */

void rg_queue_park_again(rg_request *r)
{
    rg_queue *q = &r->server->queue;
    pthread_mutex_lock(&q->lock);
    const bool orphan = r->orphan;
    r->running = false;
    if (!r->answered) {
        r->parked = true;
        pthread_cond_signal(&r->server->models.wake);
    }
    pthread_mutex_unlock(&q->lock);
    if (orphan) rg_serve__free(r);
}

void rg_queue_return(rg_request *r, rg_reply *reply)
{
    rg_queue *q = &r->server->queue;
    pthread_mutex_lock(&q->lock);
    const bool orphan = r->orphan;
    r->running = false;
    if (r->answered) {
        rg_free(reply->text);
        rg_models_let_go(r);
    } else if (reply->code) answer(r, reply);
    else enter(q, r);
    pthread_mutex_unlock(&q->lock);
    if (orphan) rg_serve__free(r);
}

rg_request *rg_queue_parked(rg_queue *q)
{
    rg_request *oldest = NULL;
    for (rg_request *r = q->requests; r; r = r->next)
        if (r->parked && (!oldest || r->began < oldest->began)) oldest = r;
    return oldest;
}

void rg_queue_release(rg_request *r)
{
    pthread_mutex_t *lock = &r->server->queue.lock;
    pthread_mutex_lock(lock);
    const bool running = r->running;
    r->orphan = true;
    if (!running) rg_models_let_go(r);
    pthread_mutex_unlock(lock);
    if (!running) rg_serve__free(r);
}

/* ------------------------------------------------------------------------------------------------------------ clock */

static bool has_left(const struct pollfd *p) { return p->revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL); }

/* A client that has closed its side of the connection has left. */
void rg_queue_tick(rg_server *s)
{
    rg_queue     *q = &s->queue;
    struct pollfd fd[RG_SERVE_CONNECTIONS];
    nfds_t        n = 0, at = 0;
    const double  now = rg_now();
    pthread_mutex_lock(&q->lock);
    for (const rg_request *r = q->requests; r && n < RG_SERVE_CONNECTIONS; r = r->next)
        fd[n++] = (struct pollfd){ .fd = r->peer ? r->peer->fd : -1, .events = POLLRDHUP };
    if (n && poll(fd, n, 0) < 0) n = 0;
    for (rg_request *r = q->requests, *next; r; r = next, at++) {
        next = r->next;
        if (at < n && has_left(&fd[at])) {
            rg_count_add(s, RG_COUNT_LEFT, 1);
            rg_queue_refuse(r, 499, "The client has left");
        } else if (now >= r->deadline) {
            rg_count_add(s, RG_COUNT_EXPIRED, 1);
            rg_queue_refuse(r, 503, "The text was not translated in time: send less of it at once, or try again later");
        }
    }
    pthread_mutex_unlock(&q->lock);
}

/* ------------------------------------------------------------------------------------------------------ who is next */

static bool before(const rg_request *a, const rg_request *b)
{
    const double x = a->flow->served[a->lane], y = b->flow->served[b->lane];
    return x != y ? x < y : a->urgency < b->urgency;
}

/* A run is of one model. Lines whose attention is recorded slow down those they are searched with: it has only the one
 * kind or only the other. */
static rg_request *next_request(const rg_queue *q, const rg_lane *lane)
{
    rg_request *best = NULL;
    for (rg_request *r = q->requests; r; r = r->next) {
        if (r->lane != lane->name || r->taken == r->lines) continue;
        if (lane->count && (r->watched != lane->owner[0]->watched || r->holds != lane->owner[0]->holds)) continue;
        if (!best || before(r, best)) best = r;
    }
    return best;
}

static void take_line(rg_queue *q, rg_lane *lane, rg_request *r)
{
    rg_part *line = r->line[r->taken++];
    if (!r->running) lane->holder[lane->holders++] = r;
    r->running = true;
    lane->part[lane->count] = line;
    lane->owner[lane->count++] = r;
    lane->subwords += line->subwords;
    lane->lines--;
    r->subwords -= line->subwords;
    r->flow->waiting -= line->subwords;
    r->flow->served[r->lane] += (double)line->subwords;
    q->subwords -= line->subwords;
}

/* Clients that were just answered ask again in a moment. As long as fewer lines wait than the last run had, it is
 * worth a tenth of the last run's time to wait for them: a run of many costs little more than a run of few. A lone
 * client never waits. */
static void gather(rg_queue *q, rg_lane *lane)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(1e9 * (lane->last_seconds < 0.1 ? 0.1 * lane->last_seconds : 0.01));
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    while (lane->lines < lane->last_lines && !q->stopping)
        if (pthread_cond_timedwait(&lane->wake, &q->lock, &until) != 0) break;
}

bool rg_queue_take(rg_lane *lane)
{
    rg_queue    *q = &lane->server->queue;
    const double fits = lane->speed * RUN_MS / 1000;
    const size_t most = fits < LEAST_RUN ? LEAST_RUN : fits > MOST_RUN ? MOST_RUN : (size_t)fits;
    lane->count = lane->holders = lane->subwords = 0;
    pthread_mutex_lock(&q->lock);
    while (!q->stopping && !lane->count) {
        while (!lane->lines && !q->stopping) pthread_cond_wait(&lane->wake, &q->lock);
        gather(q, lane);
        for (rg_request *r; lane->count < RG_SERVE_RUN && (r = next_request(q, lane));) {
            if (lane->count && lane->subwords + r->line[r->taken]->subwords > most) break;
            lane->clock = r->flow->served[r->lane];
            for (const size_t begin = lane->subwords; r->taken < r->lines && lane->count < RG_SERVE_RUN;) {
                const size_t next = lane->subwords + r->line[r->taken]->subwords;
                if (lane->count && (next > most || (lane->subwords > begin && next - begin > QUANTUM))) break;
                take_line(q, lane, r);
            }
        }
    }
    const bool go = !q->stopping;
    pthread_mutex_unlock(&q->lock);
    return go;
}

/* ---------------------------------------------------------------------------------------------------- a lane's side */

void rg_queue_answer(rg_request *r, rg_reply *reply)
{
    pthread_mutex_t *lock = &r->server->queue.lock;
    pthread_mutex_lock(lock);
    if (r->answered) rg_free(reply->text);
    else answer(r, reply);
    pthread_mutex_unlock(lock);
}

bool rg_queue_unwanted(const void *request)
{
    const rg_request *r = request;
    return atomic_load(&r->unwanted) || rg_now() >= r->deadline;
}

void rg_queue_drop(rg_request *r)
{
    pthread_mutex_t *lock = &r->server->queue.lock;
    pthread_mutex_lock(lock);
    const bool orphan = r->orphan;
    r->running = false;
    if (r->answered) rg_models_let_go(r);
    pthread_mutex_unlock(lock);
    if (orphan) rg_serve__free(r);
}

/* ------------------------------------------------------------------------------------------------------------- life */

rg_status rg_queue_start(rg_server *s)
{
    const int threads[RG_LANES] = { s->config->threads, s->config->threads > 1 ? s->config->threads / 2 : 1 };
    rg_status status = RG_OK;
    for (int i = 0; status == RG_OK && i < RG_LANES; i++) {
        s->queue.lane[i] = (rg_lane){ .server = s, .name = (rg_lane_name)i, .threads = threads[i] };
        status = rg_lane_start(&s->queue.lane[i]);
    }
    if (status == RG_OK) status = rg_models_start(s);
    if (status != RG_OK) rg_queue_stop(s);
    return status;
}

void rg_queue_stop(rg_server *s)
{
    rg_queue *q = &s->queue;
    pthread_mutex_lock(&q->lock);
    q->stopping = true;
    while (q->requests) rg_queue_refuse(q->requests, 503, "The server is going down");
    for (int i = 0; i < RG_LANES; i++)
        if (q->lane[i].started) pthread_cond_signal(&q->lane[i].wake);
    if (s->models.started) pthread_cond_signal(&s->models.wake);
    pthread_mutex_unlock(&q->lock);
    rg_models_join(s);
    for (int i = 0; i < RG_LANES; i++) rg_lane_join(&q->lane[i]);
}
