/* models.c - the directions of a server: which models lead from one language to another, and which are in memory.
 *
 *     en -> fr   a.safetensors  in memory                 de -> fr   is not there: by way of en, two legs
 *     de -> en   b.safetensors  in memory
 *     en -> cs   c.safetensors  on disk: loaded when it is asked for, in the place of the one used least lately
 *
 * Requests hold the model they are translated by. A model that has to make place is first closed to new requests and
 * dropped when the last one has let it go, so that as many are in memory as may be, and never more. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --------------------------------------------------------------------------------------------------------- memory */

/* A number for the file that a path names now; 0: it cannot be told. */
static uint64_t stamp_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) return 0;
    const uint64_t part[] = { (uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec,
                              (uint64_t)s.st_mtim.tv_nsec };
    uint64_t       stamp = 1;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        stamp = (stamp ^ part[i]) * 0x9E3779B97F4A7C15u + (stamp >> 29);
    return stamp ? stamp : 1;
}

static size_t file_bytes(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && s.st_size > 0 ? (size_t)s.st_size : 0;
}

/* What makes a model too large to be in memory at all, even alone. */
static rg_status check_bytes(const rg_served *m, const rg_serve_config *c)
{
    if (!c->resident_bytes || m->bytes <= c->resident_bytes) return RG_OK;
    return rg_fail(RG_ELIMIT, "%s takes %zu bytes of memory, and models may take %zu (--resident)", m->path, m->bytes,
                   c->resident_bytes);
}

static rg_status load(rg_served *m, const rg_serve_config *c)
{
    rg_model      *model = NULL;
    const uint64_t stamp = stamp_of(m->path);
    RG_TRY(rg_model_load_as(&model, m->path, NULL, c->weights));
    rg_status status = model->system->task->translates
                           ? rg_translator_slim(model->assets)
                           : rg_fail(RG_EMATCH, "%s: the model does not translate", m->path);
    if (status == RG_OK) {
        m->bytes = rg_params_bytes(model->params);
        status = check_bytes(m, c);
    }
    if (status != RG_OK) {
        rg_model_free(model);
        return status;
    }
    m->model = model;
    m->translator = model->assets;
    m->stamp = stamp == stamp_of(m->path) ? stamp : 0;
    return RG_OK;
}

/* Nobody holds it. */
static void drop(rg_served *m)
{
    for (int i = 0; i < RG_LANES; i++) {
        rg_session_free(m->session[i]);
        m->session[i] = NULL;
    }
    if (m->path) rg_model_free(m->model);
    m->model = NULL;
    m->translator = NULL;
}

bool rg_models_hold(rg_request *r)
{
    rg_served *m = r->leg[r->at];
    pthread_mutex_lock(&r->server->queue.lock);
    rg_models_let_go(r);
    const bool there = m->model && !m->leaving;
    if (there) {
        r->holds = m;
        m->holders++;
        m->used = rg_now();
    }
    pthread_mutex_unlock(&r->server->queue.lock);
    return there;
}

void rg_models_let_go(rg_request *r)
{
    rg_served *m = r->holds;
    r->holds = NULL;
    if (m && --m->holders == 0 && m->leaving) pthread_cond_signal(&r->server->models.wake);
}

/* Only the lane itself, and whoever drops a model that nobody holds, touches its sessions. */
rg_status rg_models_session(rg_session **out, const rg_lane *lane, rg_served *m)
{
    rg_session **session = &m->session[lane->name];
    if (!*session) RG_TRY(rg_session_new(session, &m->translator, 1, lane->threads));
    *out = *session;
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- loading */

static rg_served *least_lately_used(rg_models *all)
{
    rg_served *found = NULL;
    for (size_t i = 0; i < all->count; i++) {
        rg_served *m = &all->model[i];
        if (m->path && m->model && (!found || m->used < found->used)) found = m;
    }
    return found;
}

static bool is_full(const rg_models *all, size_t bytes)
{
    return all->loaded >= all->most || (all->most_bytes && all->loaded && all->loaded_bytes + bytes > all->most_bytes);
}

static void count_in(rg_models *all, const rg_served *m)
{
    all->loaded++;
    all->loaded_bytes += m->bytes;
}

/* For a model of so many bytes. Under the lock, which it gives away while it waits. */
static void make_place(rg_server *s, size_t bytes)
{
    rg_models *all = &s->models;
    while (is_full(all, bytes) && !s->queue.stopping) {
        rg_served *m = least_lately_used(all);
        if (!m) return;
        m->leaving = true;
        while (m->holders && !s->queue.stopping) pthread_cond_wait(&all->wake, &s->queue.lock);
        if (!m->holders) {
            drop(m);
            all->loaded--;
            all->loaded_bytes -= m->bytes;
        }
        m->leaving = false;
    }
}

static void refuse_all(rg_server *s, const rg_served *m, const char *why)
{
    for (rg_request *r = s->queue.requests, *next; r; r = next) {
        next = r->next;
        if (r->parked && r->leg[r->at] == m) rg_queue_refuse(r, 500, why);
    }
}

/* Under the lock. The file is read without it, into a copy that nobody sees. How large it is once it is loaded is known
 * afterwards: only then is the place it needs made exactly. */
static void bring(rg_server *s, rg_served *m)
{
    rg_served fresh = *m;
    make_place(s, m->bytes);
    if (s->queue.stopping) return;
    pthread_mutex_unlock(&s->queue.lock);
    const rg_status status = load(&fresh, s->config);
    pthread_mutex_lock(&s->queue.lock);
    if (status == RG_OK) {
        make_place(s, fresh.bytes);
        m->model = fresh.model;
        m->translator = fresh.translator;
        m->bytes = fresh.bytes;
        m->stamp = fresh.stamp;
        m->used = rg_now();
        count_in(&s->models, m);
        rg_count_add(s, RG_COUNT_LOADS, 1);
    } else refuse_all(s, m, rg_message());
}

static void *load_what_is_asked_for(void *context)
{
    rg_server *s = context;
    rg_queue  *q = &s->queue;
    pthread_mutex_lock(&q->lock);
    while (!q->stopping) {
        rg_request *r = rg_queue_parked(q);
        if (!r) {
            pthread_cond_wait(&s->models.wake, &q->lock);
            continue;
        }
        rg_served *m = r->leg[r->at];
        if (!m->model) {
            bring(s, m);
            continue;
        }
        r->parked = false;
        r->running = true;
        pthread_mutex_unlock(&q->lock);
        rg_serve__resume(r);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

rg_status rg_models_start(rg_server *s)
{
    if (s->models.loaded == s->models.count) return RG_OK;
    pthread_cond_init(&s->models.wake, NULL);
    s->models.started = pthread_create(&s->models.thread, NULL, load_what_is_asked_for, s) == 0;
    if (s->models.started) return RG_OK;
    pthread_cond_destroy(&s->models.wake);
    return rg_fail(RG_EIO, "cannot start the thread that loads models");
}

void rg_models_join(rg_server *s)
{
    if (!s->models.started) return;
    pthread_join(s->models.thread, NULL);
    pthread_cond_destroy(&s->models.wake);
    s->models.started = false;
}

/* ----------------------------------------------------------------------------------------------------- directions */

static rg_served *direct(const rg_models *all, const char *from, const char *to)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->model[i].source, from) == 0 && strcmp(all->model[i].target, to) == 0) return &all->model[i];
    return NULL;
}

/* Through the language that is preferred, else through the first that leads there. */
size_t rg_models_path(rg_served *out[2], const rg_server *s, const char *from, const char *to)
{
    const rg_models *all = &s->models;
    const char      *wanted = s->config->pivot && *s->config->pivot ? s->config->pivot : "en";
    size_t           legs = 0;
    if ((out[0] = direct(all, from, to))) return 1;
    if (strcmp(from, to) == 0 || strcmp(wanted, "none") == 0) return 0;
    for (size_t i = 0; i < all->count; i++) {
        rg_served *first = &all->model[i], *second;
        if (strcmp(first->source, from) != 0 || !(second = direct(all, first->target, to))) continue;
        if (legs && strcmp(first->target, wanted) != 0) continue;
        out[0] = first;
        out[1] = second;
        legs = 2;
    }
    return legs;
}

static bool listed(const rg_models *all, const char *code)
{
    for (size_t i = 0; i < all->languages; i++)
        if (strcmp(all->language[i], code) == 0) return true;
    return false;
}

static int by_code(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static rg_status list_languages(rg_models *all)
{
    if (!(all->language = rg_alloc_array(2 * all->count, sizeof *all->language))) return RG_ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        if (!listed(all, all->model[i].source)) all->language[all->languages++] = all->model[i].source;
    all->sources = all->languages;
    for (size_t i = 0; i < all->count; i++)
        if (!listed(all, all->model[i].target)) all->language[all->languages++] = all->model[i].target;
    qsort(all->language, all->sources, sizeof *all->language, by_code);
    qsort(all->language + all->sources, all->languages - all->sources, sizeof *all->language, by_code);
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------------- life */

/* As given, as the model file says, or not known: nothing is invented. */
static rg_status set_language(char **out, const char *given, const char *stored)
{
    *out = rg_strdup(given && *given ? given : stored && *stored ? stored : RG_SERVE_UNKNOWN);
    return *out ? RG_OK : RG_ENOMEM;
}

static rg_status stored_languages(rg_served *m, const rg_serve_direction *d, const rg_state *state)
{
    static const char *const key[2] = { "language.source", "language.target" };
    const char              *code[2] = { "", "" }, *name;
    RG_TRY(rg_state_get_text(&name, state, "regard.task"));
    const rg_task *task = rg_task_find(name);
    if (!task || !task->translates)
        return rg_fail(RG_EMATCH, "%s: a model for '%s'; several models are served together when all translate",
                       m->path, name);
    for (int side = 0; side < 2; side++)
        if (rg_state_has(state, key[side])) RG_TRY(rg_state_get_text(&code[side], state, key[side]));
    RG_TRY(set_language(&m->source, d->source, code[0]));
    return set_language(&m->target, d->target, code[1]);
}

static rg_status open_one(rg_served *m, const rg_serve_direction *d)
{
    rg_state *state = NULL;
    if (d->model) {
        m->model = d->model;
        m->bytes = rg_params_bytes(d->model->params);
        m->stamp = 1;
        m->translator = d->model->system->task->translates ? d->model->assets : NULL;
        RG_TRY(set_language(&m->source, d->source, m->translator ? rg_translator_language(m->translator, 0) : NULL));
        return set_language(&m->target, d->target, m->translator ? rg_translator_language(m->translator, 1) : NULL);
    }
    m->path = d->path;
    m->bytes = file_bytes(d->path);
    RG_TRY(rg_state_new(&state));
    rg_status status = rg_model_file_state(state, d->path);
    if (status == RG_OK) status = stored_languages(m, d, state);
    rg_state_free(state);
    return status;
}

static const char *name_of(const rg_served *m) { return m->path ? m->path : "a model"; }

/* Several models can be told apart only by languages that are known and differ. */
static rg_status check_directions(const rg_models *all)
{
    for (size_t i = 0; i < all->count && all->count > 1; i++) {
        const rg_served *m = &all->model[i], *same = direct(all, m->source, m->target);
        if (!m->translator && m->model)
            return rg_fail(RG_EMATCH, "%s does not translate; several models are served together when all do",
                           name_of(m));
        if (strcmp(m->source, RG_SERVE_UNKNOWN) == 0 || strcmp(m->target, RG_SERVE_UNKNOWN) == 0)
            return rg_fail(RG_EMATCH,
                           "%s does not say which languages it translates; among several models name them: -m "
                           "SOURCE:TARGET=%s, such as en:fr=%s",
                           name_of(m), name_of(m), name_of(m));
        if (same != m)
            return rg_fail(RG_EMATCH, "%s and %s both translate from %s to %s: serve one of them", name_of(same),
                           name_of(m), m->source, m->target);
    }
    return RG_OK;
}

rg_status rg_models_open(rg_server *s, const rg_serve_direction *direction, size_t count)
{
    rg_models *all = &s->models;
    all->most = s->config->resident;
    all->most_bytes = s->config->resident_bytes;
    if (!(all->model = rg_alloc_zero(count * sizeof *all->model))) return RG_ENOMEM;
    for (all->count = 0; all->count < count;) {
        rg_served *m = &all->model[all->count];
        all->count++; /* so that what it has so far is freed */
        RG_TRY(open_one(m, &direction[all->count - 1]));
    }
    RG_TRY(check_directions(all));
    for (size_t i = 0; i < count; i++) { /* as many as may be in memory; what came loaded is there */
        rg_served *m = &all->model[i];
        if (!m->model && is_full(all, m->bytes)) continue;
        if (!m->model) RG_TRY(load(m, s->config));
        if (m->path && is_full(all, m->bytes)) drop(m); /* it is larger than its file */
        else count_in(all, m);
    }
    return list_languages(all);
}

void rg_models_close(rg_server *s)
{
    for (size_t i = 0; i < s->models.count; i++) {
        drop(&s->models.model[i]);
        rg_free(s->models.model[i].source);
        rg_free(s->models.model[i].target);
        rg_translation_memory_free(s->models.model[i].memory);
    }
    rg_free(s->models.language);
    rg_free(s->models.model);
    s->models = (rg_models){ 0 };
}
