/* queue.c - lines of all connections, translated together.
 *
 * While the thread translates, requests gather; then it takes what is there, up to a limit of lines, as one run of the session. A line's
 * answer does not depend on its neighbours, so nobody notices but the clock. */
#include "serve/serve.h"

#include <time.h>

enum { RUN_LINES = 256, BATCH_LINES = 64, LEAST_LINES = 4 };

/* Clients that were just answered ask again in a moment. As long as fewer lines wait than the last run had, it is worth a tenth of the
 * last run's time to wait for them: a run of many costs little more than a run of few. A lone client never waits. */
static void gather(rg_queue *q)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(1e9 * (q->last_seconds < 0.1 ? 0.1 * q->last_seconds : 0.01));
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    while (q->lines < q->last_lines && !q->stopping)
        if (pthread_cond_timedwait(&q->wake, &q->lock, &until) != 0) break;
}

/* Requests that fit one run, in order; NULL when it is time to go. */
static rg_request *take(rg_queue *q, size_t *lines)
{
    rg_request *first, *last = NULL;
    *lines = 0;
    pthread_mutex_lock(&q->lock);
    while (!q->first && !q->stopping) pthread_cond_wait(&q->wake, &q->lock);
    gather(q);
    first = q->first;
    for (rg_request *r = first; r && (!last || *lines + r->lines <= RUN_LINES); r = r->next) {
        *lines += r->lines;
        last = r;
    }
    if (last) {
        q->first = last->next;
        if (!q->first) q->last = NULL;
        last->next = NULL;
        q->lines -= *lines;
    }
    pthread_mutex_unlock(&q->lock);
    return first;
}

/* All answers of a line are found in one search: asking for more of them changes no better one. A batch for each thread, where there are
 * lines enough: two threads with a batch each do more than two that share the steps of one. */
static rg_session_config config_of(const rg_server *s, const rg_request *first, size_t n)
{
    rg_session_config c = RG_SESSION_CONFIG_DEFAULT;
    const size_t      threads = (size_t)s->config->threads, each = (n + threads - 1) / threads;
    c.batch = n < LEAST_LINES ? n : each < BATCH_LINES ? each : BATCH_LINES;
    c.search.beam = s->config->beam;
    c.search.normalize = s->config->normalize;
    c.max_length = RG_SERVE_PIECES;
    for (const rg_request *r = first; r; r = r->next) {
        if (r->alternatives + 1 > c.search.n_best) c.search.n_best = r->alternatives + 1;
        c.search.attention = c.search.attention || r->attention;
    }
    return c;
}

static rg_status run(const rg_translated **out, rg_server *s, rg_request *first, size_t n)
{
    const rg_session_config c = config_of(s, first, n);
    const char            **lines = rg_alloc_array(n + 1, sizeof *lines);
    size_t                  at = 0;
    if (!lines) return RG_ENOMEM;
    for (const rg_request *r = first; r; r = r->next)
        for (size_t t = 0; t < r->count; t++)
            for (size_t i = 0; i < r->texts[t].count; i++)
                if (r->texts[t].part[i].line) lines[at++] = r->texts[t].part[i].text;
    rg_status status = rg_session_run(out, s->session, &c, lines, n, 0, NULL);
    rg_free(lines);
    return status;
}

/* Everybody gets their answer as soon as it is written; records, which take another pass through the model, come last. Once resumed, a
 * request is no longer ours. */
static void hand_out(rg_request *first, const rg_translated *results, rg_status status)
{
    rg_request *records = NULL, **last = &records;
    for (rg_request *r = first, *next; r; r = next) {
        next = r->next;
        r->results = results;
        if (status == RG_OK) results += r->lines;
        if (status == RG_OK && r->attention) {
            r->next = NULL;
            *last = r;
            last = &r->next;
            continue;
        }
        if (status == RG_OK) rg_serve__translated(r, r->results);
        else rg_serve__error(r, status == RG_ENOMEM ? 503 : 500, "Cannot translate text: %s", rg_message());
        MHD_resume_connection(r->connection);
    }
    for (rg_request *r = records, *next; r; r = next) {
        next = r->next;
        rg_serve__translated(r, r->results);
        MHD_resume_connection(r->connection);
    }
}

static void *work(void *context)
{
    rg_server  *s = context;
    size_t      n;
    rg_request *first;
    while ((first = take(&s->queue, &n))) {
        const rg_translated *results = NULL;
        const double         began = rg_now();
        const rg_status      status = run(&results, s, first, n);
        s->queue.last_lines = n; /* this thread's own */
        s->queue.last_seconds = rg_now() - began;
        atomic_fetch_add(&s->batches, 1);
        atomic_fetch_add(&s->lines, n);
        hand_out(first, results, status);
        atomic_fetch_add(&s->busy_us, (unsigned long long)((rg_now() - began) * 1e6));
    }
    return NULL;
}

rg_status rg_queue_start(rg_server *s)
{
    if (pthread_create(&s->queue.thread, NULL, work, s) != 0) return rg_fail(RG_EIO, "cannot start the translating thread");
    return RG_OK;
}

/* Those still waiting are told so; the run at hand is finished. */
void rg_queue_stop(rg_server *s)
{
    pthread_mutex_lock(&s->queue.lock);
    rg_request *left = s->queue.first;
    s->queue.first = s->queue.last = NULL;
    s->queue.lines = 0;
    s->queue.stopping = true;
    pthread_cond_signal(&s->queue.wake);
    pthread_mutex_unlock(&s->queue.lock);
    for (rg_request *next; left; left = next) {
        next = left->next;
        rg_serve__error(left, 503, "The server is going down");
        MHD_resume_connection(left->connection);
    }
    pthread_join(s->queue.thread, NULL);
}

bool rg_queue_put(rg_request *r)
{
    rg_queue *q = &r->server->queue;
    pthread_mutex_lock(&q->lock);
    const bool fits = !q->stopping && q->lines + r->lines <= r->server->config->queue;
    if (fits) {
        rg_serve__phase(r, RG_PHASE_WAITING);
        MHD_suspend_connection(r->connection);
        r->next = NULL;
        *(q->last ? &q->last->next : &q->first) = r;
        q->last = r;
        q->lines += r->lines;
        pthread_cond_signal(&q->wake);
    }
    pthread_mutex_unlock(&q->lock);
    return fits;
}
