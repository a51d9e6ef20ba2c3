/* peers.c - connections: how long they may take, and how many of them an address may hold when they run short.
 *
 * A connection that takes longer than it may for its header, its body or for reading the answer is shut down,
 * however steadily its bytes drip. When nearly all connections are taken, the address that holds most gives up the
 * oldest of those that have not asked for anything yet, so that a few addresses cannot shut the others out. */
#include "serve/serve.h"

#include <netinet/in.h>
#include <sys/socket.h>

enum { PLENTY = RG_SERVE_CONNECTIONS * 9 / 10 }; /* up to here everybody is welcome */

uint64_t rg_serve__address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    uint64_t                        hash = 14695981039346656037u; /* FNV-1a */
    if (!info || !info->client_addr) return 0;
    const struct sockaddr *from = info->client_addr;
    const bool             six = from->sa_family == AF_INET6;
    const unsigned char   *bytes = six ? (const void *)&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr
                                       : (const void *)&((const struct sockaddr_in *)(const void *)from)->sin_addr;
    for (size_t i = 0; i < (six ? 8 : 4); i++) hash = (hash ^ bytes[i]) * 1099511628211u; /* a /64 is one address */
    return hash;
}

/* Requests of an address in the minute at hand. */
bool rg_serve__over_quota(rg_request *r)
{
    rg_server *s = r->server;
    if (!s->config->per_minute) return false;
    const uint64_t address = rg_serve__address(r->connection);
    rg_quota      *q = &s->quota[address % (sizeof s->quota / sizeof *s->quota)];
    const double   now = rg_now();
    if (q->address != address || now - q->since >= 60) *q = (rg_quota){ .address = address, .since = now };
    return ++q->count > s->config->per_minute;
}

/* ------------------------------------------------------------------------------------------------------ who comes */

static unsigned *held_by(rg_server *s, const rg_peer *p) { return &s->holders[p->address % RG_SERVE_HOLDERS]; }

static void end(rg_server *s, rg_peer *p)
{
    p->ended = true;
    atomic_fetch_add(&s->late, 1);
    shutdown(p->fd, SHUT_RDWR);
}

/* Of the address that holds most: the connection that has kept us waiting longest for a header or a body. */
static void make_place(rg_server *s)
{
    rg_peer *worst = NULL;
    for (rg_peer *p = s->peers; p; p = p->next) {
        if (p->ended || (p->phase != RG_PHASE_HEADER && p->phase != RG_PHASE_BODY)) continue;
        const unsigned more = worst ? *held_by(s, worst) : 0, held = *held_by(s, p);
        if (!worst || held > more || (held == more && p->since < worst->since)) worst = p;
    }
    if (worst) end(s, worst);
}

static void arrive(rg_server *s, struct MHD_Connection *connection, void **socket_context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    rg_peer                        *p = rg_alloc_zero(sizeof *p);
    const bool                      full = atomic_fetch_add(&s->connections, 1) >= PLENTY;
    if (!p || !info) {
        rg_free(p);
        return;
    }
    *p = (rg_peer){ .fd = info->connect_fd, .since = rg_now(), .address = rg_serve__address(connection) };
    pthread_mutex_lock(&s->lock);
    if (full) make_place(s); /* not of the one who comes */
    p->next = s->peers;
    if (s->peers) s->peers->previous = p;
    s->peers = p;
    ++*held_by(s, p);
    pthread_mutex_unlock(&s->lock);
    *socket_context = p;
}

static void leave(rg_server *s, rg_peer *p)
{
    atomic_fetch_sub(&s->connections, 1);
    if (!p) return;
    pthread_mutex_lock(&s->lock);
    if (p->previous) p->previous->next = p->next;
    else s->peers = p->next;
    if (p->next) p->next->previous = p->previous;
    --*held_by(s, p);
    pthread_mutex_unlock(&s->lock);
    rg_free(p);
}

/* The library calls this before the socket is closed: the clock cannot hit another one of the same number. */
void rg_serve__connected(void *context, struct MHD_Connection *connection, void **socket_context,
                         enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        arrive(context, connection, socket_context);
    } else {
        leave(context, *socket_context);
        *socket_context = NULL;
    }
}

/* ------------------------------------------------------------------------------------------------------ deadlines */

void rg_serve__phase(rg_request *r, rg_phase phase)
{
    if (!r->peer) return;
    pthread_mutex_lock(&r->server->lock);
    r->peer->phase = phase;
    r->peer->since = rg_now();
    pthread_mutex_unlock(&r->server->lock);
}

void rg_serve__end_late(rg_server *s)
{
    const rg_serve_config *c = s->config;
    const double           now = rg_now();
    pthread_mutex_lock(&s->lock);
    for (rg_peer *p = s->peers; p; p = p->next) {
        const double most = p->phase == RG_PHASE_HEADER ? c->header_seconds : c->body_seconds;
        if (!p->ended && p->phase != RG_PHASE_WAITING && now - p->since >= most) end(s, p);
    }
    pthread_mutex_unlock(&s->lock);
}
