/* peers.c - connections: how long they may take, and how many of them an address may hold when they run short.
 *
 * A connection that takes longer than it may for its header, its body or for reading the answer is shut down,
 * however steadily its bytes drip. When nearly all connections are taken, the address that holds most gives up the
 * oldest of those that have not asked for anything yet, so that a few addresses cannot shut the others out. */
#include "serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { PLENTY = RG_SERVE_CONNECTIONS * 9 / 10 }; /* up to here everybody is welcome */

/* FNV-1a. */
static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* Of IPv6 a /64 is one address. */
static uint64_t number_of_six(const struct in6_addr *six) { return hash_of(six->s6_addr, 8); }
static uint64_t number_of_four(const struct in_addr *four)
{
    return hash_of((const unsigned char *)four, sizeof *four);
}

uint64_t rg_serve__address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return 0;
    const void *from = info->client_addr;
    return info->client_addr->sa_family == AF_INET6 ? number_of_six(&((const struct sockaddr_in6 *)from)->sin6_addr)
                                                    : number_of_four(&((const struct sockaddr_in *)from)->sin_addr);
}

/* The last address of the header is the one the proxy in front of us has seen; those before it are hearsay. */
uint64_t rg_serve__client(const rg_request *r)
{
    const char *list = r->server->config->behind_proxy
                           ? MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "X-Forwarded-For")
                           : NULL;
    const char     *last = list ? strrchr(list, ',') : NULL;
    struct in6_addr six;
    struct in_addr  four;
    if (last || list) last = last ? last + 1 : list;
    while (last && *last == ' ') last++;
    if (last && inet_pton(AF_INET, last, &four) == 1) return number_of_four(&four);
    if (last && inet_pton(AF_INET6, last, &six) == 1) return number_of_six(&six);
    return rg_serve__address(r->connection);
}

/* Requests of an address in the minute at hand. */
bool rg_serve__over_quota(rg_request *r)
{
    rg_server *s = r->server;
    if (!s->config->per_minute) return false;
    const uint64_t address = rg_serve__client(r);
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
    rg_count_add(s, RG_COUNT_LATE, 1);
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
    const bool                      full = rg_count_add(s, RG_COUNT_CONNECTIONS, 1) >= PLENTY;
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
    rg_count_less(s, RG_COUNT_CONNECTIONS);
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
