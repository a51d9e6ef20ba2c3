/* lane.c - a thread that translates what the queue gives it, run by run.
 *
 * Lines of all connections are translated together. A line's answer does not depend on its neighbours, so nobody
 * notices but the clock; a line that cannot be translated is tried again alone, so that it spoils no other. */
#include "serve/serve.h"

#include <time.h>

enum { BATCH_LINES = 64 };

/* Asked by the search once per step and line: is anybody still waiting for it? */
static bool unwanted(void *context, uint64_t number)
{
    const rg_lane *l = context;
    return rg_queue_unwanted(l->owner[number]);
}

/* All answers of a line are found in one search: asking for more of them changes no better one. */
static rg_session_config config_of(rg_lane *l, size_t from, size_t n)
{
    const rg_serve_config *s = l->server->config;
    rg_session_config      c = RG_SESSION_CONFIG_DEFAULT;
    c.batch = BATCH_LINES;
    c.search.beam = s->beam;
    c.search.normalize = s->normalize;
    c.search.stop = unwanted;
    c.search.stop_context = l;
    c.max_length = RG_SERVE_LONGEST;
    for (size_t i = from; i < from + n; i++) {
        const rg_request *r = l->owner[i];
        if (r->alternatives + 1 > c.search.n_best) c.search.n_best = r->alternatives + 1;
        c.search.attention = r->watched;
    }
    return c;
}

static rg_status search(const rg_translated **out, rg_lane *l, size_t from, size_t n)
{
    rg_session_config  c = config_of(l, from, n);
    const char        *lines[RG_SERVE_RUN];
    const rg_glossary *glossary[RG_SERVE_RUN];
    rg_session        *session;
    RG_TRY(rg_models_session(&session, l, l->owner[from]->holds));
    for (size_t i = 0; i < n; i++) {
        lines[i] = l->part[from + i]->text;
        glossary[i] = l->owner[from + i]->glossary;
        if (glossary[i]) c.glossary = glossary;
    }
    return rg_session_run(out, session, &c, lines, n, from, NULL);
}

/* One line has its result, or a status that says why not. The last line of a request makes its answer, or is the end
 * of a leg. */
static void deliver(rg_request *r, rg_part *line, const rg_translated *result, rg_status status)
{
    rg_reply reply = { 0 };
    if (status == RG_OK && !result->stopped)
        status = rg_segments_translated(line, r->holds->translator, result);
    if (status == RG_OK && !result->stopped && r->scores && r->at + 1 == r->legs)
        status = rg_scores_of(&line->score, r->holds->translator, result);
    if (status == RG_OK && !result->stopped) rg_recent_keep(r, line, result);
    if (status != RG_OK)
        rg_serve__error(&reply, status == RG_ENOMEM ? 503 : 500, "Cannot translate text: %s", rg_message());
    else if (result->stopped) return; /* the clock answers */
    else if (++r->finished == r->lines) {
        if (r->at + 1 < r->legs) r->advance = true;
        else rg_serve__translated(&reply, r, result);
    }
    if (reply.code) rg_queue_answer(r, &reply);
}

/* Everybody gets their answer as soon as it is written; records, which take another pass through the model, come
 * last. */
static void translate(rg_lane *l, size_t from, size_t n)
{
    const rg_translated *results = NULL;
    const rg_status      status = search(&results, l, from, n);
    if (status != RG_OK && n > 1) {
        for (size_t i = 0; i < n; i++) translate(l, from + i, 1);
        return;
    }
    for (int records = 0; records < 2; records++)
        for (size_t i = 0; i < n; i++)
            if (l->owner[from + i]->attention == records)
                deliver(l->owner[from + i], l->part[from + i], status == RG_OK ? &results[i] : NULL, status);
}

static void *work(void *context)
{
    rg_lane   *l = context;
    rg_server *s = l->server;
    while (rg_queue_take(l)) {
        const double began = rg_now();
        if (s->translates) translate(l, 0, l->count);
        else rg_serve__predicted(l);
        for (size_t i = 0; i < l->holders; i++)
            if (l->holder[i]->advance) rg_serve__advance(l->holder[i]);
            else rg_queue_drop(l->holder[i]);
        l->last_lines = l->count;
        l->last_seconds = rg_now() - began;
        const double speed = (double)l->subwords / (l->last_seconds + 1e-6);
        l->speed += (l->speed > 0 ? 0.3 : 1) * (speed - l->speed);
        rg_count_add(s, RG_COUNT_BATCHES, 1);
        rg_count_add(s, RG_COUNT_LINES, l->count);
        rg_count_add(s, RG_COUNT_BUSY_US, (unsigned long long)(l->last_seconds * 1e6));
    }
    return NULL;
}

rg_status rg_lane_start(rg_lane *l)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->wake, &clock);
    pthread_condattr_destroy(&clock);
    l->started = pthread_create(&l->thread, NULL, work, l) == 0;
    if (l->started) return RG_OK;
    pthread_cond_destroy(&l->wake);
    return rg_fail(RG_EIO, "cannot start a translating thread");
}

void rg_lane_join(rg_lane *l)
{
    if (!l->started) return;
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->wake);
    l->started = false;
}
