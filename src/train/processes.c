/* processes.c - what ranks say to each other. Small things go by way of rank 0, which so learns who does not answer;
 * sums go along the ranks in pieces, each rank adding to what the one before it sends, and come back from the last:
 *
 *     rank 0   g0  ->  rank 1   g0 + g1  ->  rank 2   (g0 + g1) + g2          a piece after the other, so all work at once
 *     rank 0   <-----------------------------  rank 2   the sum, handed back from rank to rank */
#include "regard/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/module.h"

enum { PIECE = 1 << 18,
       PATIENCE = 10 }; /* bytes; how much longer the others wait for rank 0, which saves and validates */

struct rg_processes {
    rg_transport transport;
    double       seconds;
    bool         lost;
    bool (*stop)(void *context);
    void *stop_context;
};

typedef rg_status opener(rg_transport *out);

/* Started by mpirun (Open MPI, MPICH and their kin say so in the environment), with others? */
static bool started_together(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && atoi(value) > 1) return true;
    }
    return false;
}

rg_status rg_processes_new(rg_processes **out, const rg_transport *transport, double seconds)
{
    *out = rg_alloc_zero(sizeof **out);
    if (!*out) return RG_ENOMEM;
    (*out)->transport = *transport;
    (*out)->seconds = seconds;
    return RG_OK;
}

rg_status rg_processes_open(rg_processes **out, double seconds)
{
    rg_module_function *function = NULL;
    rg_transport        transport = { 0 };
    *out = NULL;
    if (!started_together()) return RG_OK;
    RG_TRY(rg_module_open(&function, "mpi", "rg_mpi__open"));
    RG_TRY(((opener *)function)(&transport));
    rg_status status = rg_processes_new(out, &transport, seconds);
    if (status != RG_OK) transport.close(transport.context, true);
    return status;
}

void rg_processes_close(rg_processes *p)
{
    if (!p) return;
    p->transport.close(p->transport.context, p->lost);
    rg_free(p);
}

int  rg_processes_rank(const rg_processes *p) { return p ? p->transport.rank : 0; }
int  rg_processes_count(const rg_processes *p) { return p ? p->transport.count : 1; }
bool rg_processes_lost(const rg_processes *p) { return p && p->lost; }

void rg_processes_set_stop(rg_processes *p, bool (*stop)(void *context), void *context)
{
    p->stop = stop;
    p->stop_context = context;
}

/* ------------------------------------------------------------------------------------------------------- waiting */

static rg_status lose(rg_processes *p, int rank, double seconds, bool stopped)
{
    p->lost = true;
    if (stopped) return rg_fail(RG_EIO, "asked to stop, and rank %d did not answer any more", rank);
    return rg_fail(RG_EIO, "rank %d has not answered for %.3g seconds (--rank-timeout)", rank, seconds);
}

/* Wait in slices, so that a signal is seen: mpirun sends one to all when a rank has died, and soon another that cannot be
 * caught. */
static rg_status wait_for(rg_processes *p, int from, void *bytes, size_t count, double seconds)
{
    const double slice = 0.1, grace = 0.4;
    bool         done = false, stopped = false;
    double       left = seconds;
    while (!done) {
        if (bytes) RG_TRY(p->transport.receive(&done, p->transport.context, from, bytes, count, slice));
        else RG_TRY(p->transport.flush(&done, p->transport.context, slice));
        if (done) break;
        left -= slice;
        if (!stopped && p->stop && p->stop(p->stop_context)) {
            stopped = true;
            if (left > grace) left = grace;
        }
        if (left <= 0) return lose(p, from, seconds, stopped);
    }
    return RG_OK;
}

static double patience(const rg_processes *p) { return p->transport.rank ? PATIENCE * p->seconds : p->seconds; }

static rg_status receive(rg_processes *p, int from, void *bytes, size_t count)
{
    return wait_for(p, from, bytes, count, patience(p));
}

static rg_status send(rg_processes *p, int to, const void *bytes, size_t count)
{
    return p->transport.send(p->transport.context, to, bytes, count);
}

static rg_status flush(rg_processes *p, int to) { return wait_for(p, to, NULL, 0, patience(p)); }

/* -------------------------------------------------------------------------------------------------- small things */

rg_status rg_processes_gather(void *all, rg_processes *p, const void *own, size_t bytes)
{
    const int    rank = rg_processes_rank(p), count = rg_processes_count(p);
    const size_t whole = bytes * (size_t)count;
    memcpy((char *)all + (size_t)rank * bytes, own, bytes);
    if (count == 1) return RG_OK;
    if (rank) {
        RG_TRY(send(p, 0, own, bytes));
        RG_TRY(flush(p, 0));
        return receive(p, 0, all, whole);
    }
    for (int r = 1; r < count; r++) RG_TRY(receive(p, r, (char *)all + (size_t)r * bytes, bytes));
    for (int r = 1; r < count; r++) RG_TRY(send(p, r, all, whole));
    return flush(p, 1);
}

rg_status rg_processes_tell(rg_processes *p, void *bytes, size_t count)
{
    const double without_limit = 1e9;
    if (rg_processes_count(p) == 1) return RG_OK;
    if (p->transport.rank) return wait_for(p, 0, bytes, count, without_limit);
    for (int r = 1; r < p->transport.count; r++) RG_TRY(send(p, r, bytes, count));
    return flush(p, 1);
}

/* ----------------------------------------------------------------------------------------------------------- sums */

rg_status rg_processes_sum(rg_processes *p, void *sum, size_t count, size_t each, rg_processes_add *add, void *context)
{
    const int    rank = rg_processes_rank(p), last = rg_processes_count(p) - 1;
    const size_t most = PIECE / each, room = count < most ? count : most;
    char        *at = sum, *before = rank ? rg_alloc((room + 1) * each) : NULL;
    rg_status    status = rank && !before ? RG_ENOMEM : RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i += most) { /* there */
        const size_t n = count - i < most ? count - i : most;
        if (rank) status = receive(p, rank - 1, before, n * each);
        if (status != RG_OK) break;
        add(context, i, n, before);
        if (rank < last) status = send(p, rank + 1, at + i * each, n * each);
    }
    if (status == RG_OK && rank < last) status = flush(p, rank + 1);
    for (size_t i = 0; status == RG_OK && i < count; i += most) { /* and back */
        const size_t n = count - i < most ? count - i : most;
        if (rank < last) status = receive(p, rank + 1, at + i * each, n * each);
        if (status == RG_OK && rank) status = send(p, rank - 1, at + i * each, n * each);
    }
    if (status == RG_OK && rank) status = flush(p, rank - 1);
    rg_free(before);
    return status;
}
