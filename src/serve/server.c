/* server.c - the daemon's life: listen, keep deadlines, drain.
 *
 * One thread speaks HTTP (libmicrohttpd, epoll), one for each lane translates, and the caller's keeps the clock: of
 * connections (peers.c) and of requests that wait or are translated (queue.c). */
#include "serve/serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "regard/confine.h"
#include "regard/view.h"

enum { TICK_MS = 100 };

/* ------------------------------------------------------------------------------------------------------- listen */

static rg_status try_address(int *out, const struct addrinfo *a)
{
    const int yes = 1, fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (fd < 0) return RG_EIO;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 511) != 0) {
        const int reason = errno;
        close(fd);
        errno = reason;
        return RG_EIO;
    }
    *out = fd;
    return RG_OK;
}

/* A listening socket, and its address as a URL. */
static rg_status listen_on(int *out, char *url, size_t room, const rg_serve_config *c)
{
    const struct addrinfo   hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo        *list = NULL;
    struct sockaddr_storage bound = { 0 };
    socklen_t               size = sizeof bound;
    char                    port[16], host[64];
    rg_status               status = RG_EIO;
    snprintf(port, sizeof port, "%d", c->port);
    const int failed = getaddrinfo(c->host, port, &hints, &list);
    if (failed) return rg_fail(RG_EIO, "%s is no address of this machine: %s", c->host, gai_strerror(failed));
    errno = 0;
    for (const struct addrinfo *a = list; a && status != RG_OK; a = a->ai_next) status = try_address(out, a);
    freeaddrinfo(list);
    if (status != RG_OK) return rg_fail(RG_EIO, "cannot listen on %s port %d: %s", c->host, c->port, strerror(errno));
    if (getsockname(*out, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(host, sizeof host, "%s", "?");
    snprintf(url, room, bound.ss_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
    return RG_OK;
}

/* %XX of paths and queries. A zero byte would end the text early; 0xFF instead is no UTF-8 and fits no path, so that
 * it is refused. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    for (char *at = text; (at = strstr(at, "%00")); at += 3) at[1] = at[2] = 'F';
    return MHD_http_unescape(text);
}

static rg_status start_daemon(rg_server *s, int listening)
{
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                                 rg_serve__handle, s, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_NOTIFY_COMPLETED,
                                 rg_serve__completed, s, MHD_OPTION_NOTIFY_CONNECTION, rg_serve__connected, s,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)RG_SERVE_CONNECTIONS,
                                 MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                                 (unsigned)s->config->per_address, MHD_OPTION_CONNECTION_TIMEOUT, 60u,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(RG_SERVE_HEADER + RG_SERVE_LINE + 8192),
                                 MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (s->daemon) return RG_OK;
    close(listening);
    return rg_fail(RG_EIO, "the HTTP server cannot be started: %s", strerror(errno));
}

/* -------------------------------------------------------------------------------------------------------- serve */

static void wait_ms(int ms) { poll(NULL, 0, ms); }

static void tick(rg_server *s)
{
    rg_serve__end_late(s);
    rg_queue_tick(s);
    rg_count_gauges(s);
}

/* No more connections; what was asked is answered, as far as the time allows; at its end searches are given up and
 * the rest is refused, with a little time left for the last answers to leave. Nothing in flight must be seen twice:
 * a request may stand unread in its socket. */
static void drain(rg_server *s)
{
    const double all = s->config->drain_seconds, until = rg_now() + all, enough = until - (all < 2 ? all / 4 : 0.5);
    atomic_store(&s->draining, true);
    const int listening = MHD_quiesce_daemon(s->daemon);
    for (int quiet = 0; quiet < 3 && rg_now() < enough; wait_ms(20)) {
        quiet = rg_count_get(s, RG_COUNT_ACTIVE) ? 0 : quiet + 1;
        tick(s);
    }
    rg_queue_stop(s);
    do wait_ms(20);
    while (rg_count_get(s, RG_COUNT_ACTIVE) && rg_now() < until);
    MHD_stop_daemon(s->daemon);
    if (listening >= 0) close(listening);
}

/* Everything is open: models that are loaded later are read from their folders, since a file that was replaced is
 * another one. */
static rg_status confine(rg_server *s)
{
    const size_t n = s->models.count;
    char       **folder = rg_alloc_zero((n + 1) * sizeof *folder);
    unsigned     how = 0;
    rg_status    status = folder ? RG_OK : RG_ENOMEM;
    size_t       count = 0;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        if (!s->models.model[i].path) continue;
        char *copy = rg_strdup(s->models.model[i].path), *slash = copy ? strrchr(copy, '/') : NULL;
        if (slash) slash[slash == copy] = 0;
        else if (copy) snprintf(copy, strlen(copy) + 1, ".");
        if (copy) folder[count++] = copy;
        else status = RG_ENOMEM;
    }
    const rg_confinement c = { .read = (const char *const *)folder, .reads = count };
    if (status == RG_OK) status = rg_confine(&how, &c);
    if (status == RG_OK && s->config->confined) *s->config->confined = how;
    for (size_t i = 0; i < count; i++) rg_free(folder[i]);
    rg_free(folder);
    return status;
}

/* One process of the server: from its threads to the end of its drain. Takes the socket over. */
static rg_status work(rg_server *s, int listening, int stop)
{
    rg_status status = rg_queue_start(s);
    if (status != RG_OK) {
        close(listening);
        return status;
    }
    if ((status = start_daemon(s, listening)) != RG_OK) {
        rg_queue_stop(s);
        return status;
    }
    for (struct pollfd p = { .fd = stop, .events = POLLIN };
         poll(&p, 1, TICK_MS) == 0 || (p.revents == 0 && errno == EINTR);)
        tick(s);
    drain(s);
    return RG_OK;
}

static rg_status serve(rg_server *s, int stop, void (*ready)(void *context, const char *address), void *context)
{
    char      url[128];
    int       listening = -1;
    rg_status status = listen_on(&listening, url, sizeof url, s->config);
    if (status != RG_OK) return status;
    if (s->config->confine && (status = confine(s)) != RG_OK) {
        close(listening);
        return status;
    }
    if (ready) ready(context, url); /* who connects from here on waits in the socket until it is looked at */
    return s->config->workers > 1 ? rg_serve__workers(s, listening, stop, work) : work(s, listening, stop);
}

/* The page of translators is the viewer's; of others a plain one. */
static rg_status make_page(rg_server *s)
{
    const rg_page_options live = { .live = true };
    if (s->translates) return rg_page_write(&s->page, &s->page_bytes, NULL, &live);
    if (!(s->page = rg_strdup(rg_serve__predict_page))) return RG_ENOMEM;
    s->page_bytes = strlen(s->page);
    return RG_OK;
}

static rg_status check_model(const rg_model *model)
{
    const rg_task *task = model->system->task;
    if (rg_model_size(model, "channels")) /* its inputs are names of files: nobody outside may choose those */
        return rg_fail(RG_EMATCH, "a model that reads pictures cannot be served: `regard predict` answers files");
    if (!task->texts || !task->texts(model) || !task->answer)
        return rg_fail(RG_EMATCH, "a model for '%s' (%s -> %s) reads no texts: it cannot be served", task->name,
                       task->in, task->out);
    return RG_OK;
}

static rg_status check_config(const rg_serve_config *config)
{
    if (config->port < 0 || config->port > 65535 || config->beam < 1 || config->threads < 1 || config->queue < 1 ||
        config->char_limit < 1 || !(config->request_seconds > 0) || config->resident < 1 || config->workers > 1024)
        return rg_fail(RG_EINVAL,
                       "port %d, beam %zu, %d threads, queue of %zu, %zu characters, %g seconds, %zu models in memory: "
                       "one is out of range",
                       config->port, config->beam, config->threads, config->queue, config->char_limit,
                       config->request_seconds, config->resident);
    return RG_OK;
}

/* The pairs of each direction. Files without languages are of one direction. */
static rg_status open_memory(rg_server *s)
{
    const char *path = s->config->memory;
    size_t      found = 0;
    if (!path || !*path) return RG_OK;
    const size_t n = strlen(path);
    if (s->models.count > 1 && (n < 4 || strcmp(path + n - 4, ".tmx") != 0))
        return rg_fail(RG_EINVAL, "%s: it names no languages, and there are %zu directions: a .tmx names them", path,
                       s->models.count);
    for (size_t i = 0; i < s->models.count; i++) {
        rg_served      *m = &s->models.model[i];
        const rg_status status =
            rg_translation_memory_open(&m->memory, path, m->source, m->target, RG_TRANSLATION_MEMORY_BYTES);
        if (status != RG_OK && (status != RG_EFORMAT || s->models.count == 1)) return status;
        found += m->memory != NULL;
    }
    return found ? RG_OK : rg_fail(RG_EFORMAT, "%s: no pair of texts of any direction in it", path);
}

static rg_status open_server(rg_server *s, const rg_serve_direction *direction, size_t count)
{
    if (!count) return rg_fail(RG_EINVAL, "no model to serve");
    RG_TRY(check_config(s->config));
    for (size_t i = 0; i < count; i++)
        if (direction[i].model) RG_TRY(check_model(direction[i].model));
    RG_TRY(rg_models_open(s, direction, count));
    s->translates = s->models.model[0].translator != NULL;
    s->model = count == 1 ? s->models.model[0].model : NULL;
    s->settings.source = s->models.model[0].source;
    s->settings.target = s->models.model[0].target;
    RG_TRY(rg_suggestions_open(s));
    if (s->translates) RG_TRY(rg_files_store_open(s));
    if (s->translates && s->config->cache_bytes) RG_TRY(rg_store_open(&s->cache, s->config->cache_bytes));
    if (s->translates) RG_TRY(open_memory(s));
    if (s->translates && s->config->split_sentences) RG_TRY(rg_sentences_new(&s->sentences, s->settings.source));
    if (s->models.count > 1 && rg_languages_new(&s->detector) != RG_OK) s->detector = NULL; /* who asks is told */
    return make_page(s);
}

rg_status rg_serve__models(const rg_serve_config *config, const rg_serve_direction *direction, size_t count, int stop,
                           void (*ready)(void *context, const char *address), void *context)
{
    rg_server *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->settings = *config;
    s->config = &s->settings;
    s->started = rg_now();
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->queue.lock, NULL);
    rg_status status = open_server(s, direction, count);
    if (status == RG_OK) status = rg_counters_open(s, config->workers > 1 ? config->workers : 1);
    if (status == RG_OK) status = serve(s, stop, ready, context);
    rg_counters_close(s);
    if (rg_file_close(s->suggestions) != RG_OK && status == RG_OK) status = RG_EIO;
    rg_models_close(s);
    rg_sentences_free(s->sentences);
    rg_languages_free(s->detector);
    rg_store_close(s->files);
    rg_store_close(s->cache);
    rg_free(s->page);
    pthread_mutex_destroy(&s->queue.lock);
    pthread_mutex_destroy(&s->lock);
    rg_free(s);
    return status;
}
