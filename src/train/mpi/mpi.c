/* mpi.c - the transport of rg_processes over MPI. Calls come from one thread at a time. Waiting polls, first at once and
 * then with short pauses, so that a stalled rank is noticed and a waiting one does not take the processor from a computing
 * one. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "regard/processes.h"

typedef struct queue { /* messages to or from one rank, the oldest first */
    MPI_Request *request;
    size_t       first, count, room;
} queue;

typedef struct link {
    MPI_Comm comm;
    int      count;
    queue   *to, *from; /* of each rank */
} link;

RG_API_BEGIN
rg_status rg_mpi__open(rg_transport *out); /* what rg_processes_open looks for */
RG_API_END

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rg_status failed(const char *what) { return rg_fail(RG_EIO, "MPI: %s failed", what); }

/* Room for one more request, which begins as none. */
static MPI_Request *push(queue *q)
{
    if (q->first && q->first + q->count == q->room) {
        memmove(q->request, q->request + q->first, q->count * sizeof *q->request);
        q->first = 0;
    }
    if (q->count == q->room) {
        const size_t room = q->room ? 2 * q->room : 64;
        MPI_Request *larger = realloc(q->request, room * sizeof *larger);
        if (!larger) return NULL;
        q->request = larger;
        q->room = room;
    }
    MPI_Request *request = &q->request[q->first + q->count++];
    *request = MPI_REQUEST_NULL;
    return request;
}

/* The oldest of a queue: until it is over or the time is. */
static rg_status wait_oldest(bool *out_done, queue *q, double seconds)
{
    enum { SPINS = 2000 };
    const double          begun = now();
    const struct timespec pause = { 0, 50000 };
    int                   done = 0;
    if (!q->count) return rg_fail(RG_EINVAL, "MPI: no message to wait for");
    for (size_t i = 0; !done; i++) {
        if (MPI_Test(&q->request[q->first], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return failed("waiting");
        if (done || now() - begun > seconds || seconds <= 0) break;
        if (i > SPINS) nanosleep(&pause, NULL);
    }
    *out_done = done != 0;
    if (done) q->first++, q->count--;
    if (!q->count) q->first = 0;
    return RG_OK;
}

/* The wait is in wait_oldest, in a later call, which is more than the checker sees.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static rg_status send_bytes(void *context, int to, const void *bytes, size_t count)
{
    link        *l = context;
    MPI_Request *request = push(&l->to[to]);
    if (count > INT_MAX) return rg_fail(RG_ELIMIT, "%zu bytes are too many for one message", count);
    if (!request) return rg_fail(RG_ENOMEM, "no memory for messages to rank %d", to);
    if (MPI_Isend(bytes, (int)count, MPI_BYTE, to, 0, l->comm, request) != MPI_SUCCESS) return failed("sending");
    return RG_OK;
}

static rg_status expect(void *context, int from, void *bytes, size_t count)
{
    link        *l = context;
    MPI_Request *request = push(&l->from[from]);
    if (count > INT_MAX) return rg_fail(RG_ELIMIT, "%zu bytes are too many for one message", count);
    if (!request) return rg_fail(RG_ENOMEM, "no memory for messages from rank %d", from);
    if (MPI_Irecv(bytes, (int)count, MPI_BYTE, from, 0, l->comm, request) != MPI_SUCCESS) return failed("receiving");
    return RG_OK;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static rg_status sent(bool *out_done, void *context, int to, double seconds)
{
    return wait_oldest(out_done, &((link *)context)->to[to], seconds);
}

static rg_status came(bool *out_done, void *context, int from, double seconds)
{
    return wait_oldest(out_done, &((link *)context)->from[from], seconds);
}

static void free_link(link *l)
{
    for (int i = 0; l && l->to && l->from && i < l->count; i++) free(l->to[i].request), free(l->from[i].request);
    if (l) free(l->to), free(l->from);
    free(l);
}

static void close_link(void *context, bool lost)
{
    link *l = context;
    if (lost) MPI_Abort(l->comm, 1);
    MPI_Finalize();
    free_link(l);
    if (lost) exit(1);
}

rg_status rg_mpi__open(rg_transport *out)
{
    int   level;
    link *l = calloc(1, sizeof *l);
    if (!l) return rg_fail(RG_ENOMEM, "no memory for MPI");
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS || level < MPI_THREAD_FUNNELED) {
        free(l);
        return failed("starting");
    }
    l->comm = MPI_COMM_WORLD;
    *out = (rg_transport){ .context = l, .send = send_bytes, .expect = expect, .sent = sent, .came = came,
                           .close = close_link, .any_thread = level >= MPI_THREAD_SERIALIZED };
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_RETURN); /* a lost rank must not end this one before it has saved */
    MPI_Comm_rank(l->comm, &out->rank);
    MPI_Comm_size(l->comm, &out->count);
    l->count = out->count;
    l->to = calloc((size_t)l->count, sizeof *l->to);
    l->from = calloc((size_t)l->count, sizeof *l->from);
    if (l->to && l->from) return RG_OK;
    MPI_Finalize();
    free_link(l);
    return rg_fail(RG_ENOMEM, "no memory for %d ranks", out->count);
}
