/* server.c - the daemon's life: listen, keep deadlines, drain.
 *
 * One thread speaks HTTP (libmicrohttpd, epoll), one translates, and the caller's keeps the clock: a connection that takes longer than
 * it may for its header, its body or for reading the answer is shut down, however steadily its bytes drip. */
#include "serve/serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "regard/view.h"

enum { CONNECTIONS = 1000, TICK_MS = 100 };

/* -------------------------------------------------------------------------------------------------- connections */

static void connected(void *context, struct MHD_Connection *connection, void **socket_context, enum MHD_ConnectionNotificationCode what)
{
    rg_server *s = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        rg_peer                        *peer = rg_alloc_zero(sizeof *peer);
        atomic_fetch_add(&s->connections, 1);
        if (!peer || !info) {
            rg_free(peer);
            return;
        }
        *peer = (rg_peer){ .fd = info->connect_fd, .since = rg_now() };
        pthread_mutex_lock(&s->lock);
        peer->next = s->peers;
        if (s->peers) s->peers->previous = peer;
        s->peers = peer;
        pthread_mutex_unlock(&s->lock);
        *socket_context = peer;
        return;
    }
    rg_peer *peer = *socket_context; /* called before the socket is closed: the clock cannot hit another one of the same number */
    atomic_fetch_sub(&s->connections, 1);
    if (!peer) return;
    pthread_mutex_lock(&s->lock);
    if (peer->previous) peer->previous->next = peer->next;
    else s->peers = peer->next;
    if (peer->next) peer->next->previous = peer->previous;
    pthread_mutex_unlock(&s->lock);
    rg_free(peer);
    *socket_context = NULL;
}

void rg_serve__phase(rg_request *r, rg_phase phase)
{
    if (!r->peer) return;
    pthread_mutex_lock(&r->server->lock);
    r->peer->phase = phase;
    r->peer->since = rg_now();
    pthread_mutex_unlock(&r->server->lock);
}

static void end_late_ones(rg_server *s)
{
    const rg_serve_config *c = s->config;
    const double           now = rg_now();
    pthread_mutex_lock(&s->lock);
    for (rg_peer *p = s->peers; p; p = p->next) {
        const double most = p->phase == RG_PHASE_HEADER ? c->header_seconds : c->body_seconds;
        if (p->ended || p->phase == RG_PHASE_WAITING || now - p->since < most) continue;
        p->ended = true;
        atomic_fetch_add(&s->late, 1);
        shutdown(p->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->lock);
}

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
    struct sockaddr_storage bound;
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
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(host, sizeof host, "%s", "?");
    snprintf(url, room, bound.ss_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
    return RG_OK;
}

static rg_status start_daemon(rg_server *s, int listening)
{
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, rg_serve__handle, s,
                                 MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_NOTIFY_COMPLETED, rg_serve__completed, s,
                                 MHD_OPTION_NOTIFY_CONNECTION, connected, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                                 MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)s->config->per_address, MHD_OPTION_CONNECTION_TIMEOUT, 60u,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(RG_SERVE_HEADER + RG_SERVE_LINE + 8192),
                                 MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (s->daemon) return RG_OK;
    close(listening);
    return rg_fail(RG_EIO, "the HTTP server cannot be started: %s", strerror(errno));
}

/* -------------------------------------------------------------------------------------------------------- serve */

static void wait_ms(int ms) { poll(NULL, 0, ms); }

/* No more connections; what was asked is answered, as far as the time allows. Nothing in flight must be seen twice: a request may stand
 * unread in its socket. */
static void drain(rg_server *s)
{
    const double until = rg_now() + s->config->drain_seconds;
    atomic_store(&s->draining, true);
    const int listening = MHD_quiesce_daemon(s->daemon);
    for (int quiet = 0; quiet < 3 && rg_now() < until; wait_ms(20)) {
        quiet = atomic_load(&s->active) ? 0 : quiet + 1;
        end_late_ones(s);
    }
    rg_queue_stop(s);
    for (int i = 0; i < 50 && atomic_load(&s->active); i++) wait_ms(20); /* the last answers leave */
    MHD_stop_daemon(s->daemon);
    if (listening >= 0) close(listening);
}

static rg_status serve(rg_server *s, int stop, void (*ready)(void *context, const char *address), void *context)
{
    char      url[128];
    int       listening = -1;
    rg_status status = listen_on(&listening, url, sizeof url, s->config);
    if (status != RG_OK) return status;
    if ((status = rg_queue_start(s)) != RG_OK) {
        close(listening);
        return status;
    }
    if ((status = start_daemon(s, listening)) != RG_OK) {
        rg_queue_stop(s);
        return status;
    }
    if (ready) ready(context, url);
    for (struct pollfd p = { .fd = stop, .events = POLLIN }; poll(&p, 1, TICK_MS) == 0 || (p.revents == 0 && errno == EINTR);)
        end_late_ones(s);
    drain(s);
    return RG_OK;
}

rg_status rg_serve_run(const rg_serve_config *config, rg_translator *translator, int stop,
                       void (*ready)(void *context, const char *address), void *context)
{
    const rg_page_options live = { .live = true };
    if (config->port < 0 || config->port > 65535 || config->beam < 1 || config->threads < 1 || config->queue < 1 || config->char_limit < 1)
        return rg_fail(RG_EINVAL, "port %d, beam %zu, %d threads, queue of %zu, %zu characters: one is out of range", config->port,
                       config->beam, config->threads, config->queue, config->char_limit);
    rg_server *s = rg_alloc_zero(sizeof *s);
    if (!s) return RG_ENOMEM;
    s->config = config;
    s->translator = translator;
    s->started = rg_now();
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->queue.lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->queue.wake, &clock);
    pthread_condattr_destroy(&clock);
    rg_status status = rg_page_write(&s->page, &s->page_bytes, NULL, &live);
    if (status == RG_OK) status = rg_session_new(&s->session, &translator, 1, config->threads);
    if (status == RG_OK) status = serve(s, stop, ready, context);
    rg_session_free(s->session);
    rg_free(s->page);
    pthread_cond_destroy(&s->queue.wake);
    pthread_mutex_destroy(&s->queue.lock);
    pthread_mutex_destroy(&s->lock);
    rg_free(s);
    return status;
}
