/* mpi.c - the transport of rg_processes over MPI. Calls come from one thread. Waiting polls, first at once and then with
 * short pauses, so that a stalled rank is noticed and a waiting one does not take the processor from a computing one. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "regard/processes.h"

/* What the program has is not known here: these are the module's own. */
typedef struct link {
    MPI_Comm     comm;
    MPI_Request *sent;
    size_t       sends, room;
    MPI_Request  coming; /* a receive that has begun and did not end in time */
    bool         waits;
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

/* Until `requests` are done or the time is over. */
static rg_status wait_all(bool *out_done, MPI_Request *requests, size_t count, double seconds)
{
    enum { SPINS = 2000 };
    const double          begun = now();
    const struct timespec pause = { 0, 50000 };
    int                   done = 0;
    for (size_t i = 0; !done; i++) {
        if (MPI_Testall((int)count, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) return failed("waiting");
        if (done || now() - begun > seconds) break;
        if (i > SPINS) nanosleep(&pause, NULL);
    }
    *out_done = done != 0;
    return RG_OK;
}

static rg_status send_bytes(void *context, int to, const void *bytes, size_t count)
{
    link *l = context;
    if (count > INT_MAX) return rg_fail(RG_ELIMIT, "%zu bytes are too many for one message", count);
    if (l->sends == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        MPI_Request *larger = realloc(l->sent, room * sizeof *larger);
        if (!larger) return rg_fail(RG_ENOMEM, "no memory for %zu messages", room);
        l->sent = larger;
        l->room = room;
    }
    if (MPI_Isend(bytes, (int)count, MPI_BYTE, to, 0, l->comm, &l->sent[l->sends]) != MPI_SUCCESS)
        return failed("sending");
    l->sends++;
    return RG_OK;
}

static rg_status flush(bool *out_done, void *context, double seconds)
{
    link           *l = context;
    const rg_status status = wait_all(out_done, l->sent, l->sends, seconds);
    if (status == RG_OK && *out_done) l->sends = 0;
    return status;
}

/* One receive at a time: a call after one that ended without success goes on with it. The wait is in wait_all, perhaps of
 * a later call, which is more than the checker sees.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static rg_status receive(bool *out_done, void *context, int from, void *bytes, size_t count, double seconds)
{
    link *l = context;
    if (count > INT_MAX) return rg_fail(RG_ELIMIT, "%zu bytes are too many for one message", count);
    if (!l->waits && MPI_Irecv(bytes, (int)count, MPI_BYTE, from, 0, l->comm, &l->coming) != MPI_SUCCESS)
        return failed("receiving");
    const rg_status status = wait_all(out_done, &l->coming, 1, seconds);
    l->waits = status == RG_OK && !*out_done;
    return status;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static void close_link(void *context, bool lost)
{
    link *l = context;
    if (lost) MPI_Abort(l->comm, 1);
    MPI_Finalize();
    free(l->sent);
    free(l);
    if (lost) exit(1);
}

rg_status rg_mpi__open(rg_transport *out)
{
    int   level;
    link *l = calloc(1, sizeof *l);
    if (!l) return rg_fail(RG_ENOMEM, "no memory for MPI");
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS || level < MPI_THREAD_FUNNELED) {
        free(l);
        return failed("starting");
    }
    l->comm = MPI_COMM_WORLD;
    *out = (rg_transport){
        .context = l, .send = send_bytes, .receive = receive, .flush = flush, .close = close_link
    };
    MPI_Comm_rank(l->comm, &out->rank);
    MPI_Comm_size(l->comm, &out->count);
    return RG_OK;
}
