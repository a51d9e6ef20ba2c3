/* processes.c - what ranks say to each other. Small things go by way of rank 0, which so learns who does not answer;
 * ordered_sum.c has the sums. */
#include "train/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/module.h"

enum { PATIENCE = 10 }; /* how much longer the others wait for rank 0, which saves and validates */

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
    if (transport.count == 1) { /* each rank would train alone, all of them to the same file */
        transport.close(transport.context, false);
        return rg_fail(RG_EMATCH, "mpirun started several processes, and MPI knows of this one only: mpirun is of another MPI "
                                  "(Open MPI, MPICH) than regard-mpi.so was built with");
    }
    rg_status status = rg_processes_new(out, &transport, seconds);
    if (status != RG_OK) transport.close(transport.context, true);
    return status;
}

void rg_processes_close(rg_processes *p)
{
    if (!p) return;
    p->transport.close(p->transport.context, p->lost);
    rg_free(p->slots);
    rg_free(p);
}

int  rg_processes_rank(const rg_processes *p) { return p ? p->transport.rank : 0; }
int  rg_processes_count(const rg_processes *p) { return p ? p->transport.count : 1; }
bool rg_processes_lost(const rg_processes *p) { return p && p->lost; }
bool rg_processes_any_thread(const rg_processes *p) { return p && p->transport.any_thread; }

void rg_processes_set_stop(rg_processes *p, bool (*stop)(void *context), void *context)
{
    p->stop = stop;
    p->stop_context = context;
}

/* ------------------------------------------------------------------------------------------------------- waiting */

rg_wait rg_processes__wait(const rg_processes *p, double seconds)
{
    return (rg_wait){ .seconds = seconds, .until = rg_now() + seconds, .stop = p->stop };
}

double rg_processes__patience(const rg_processes *p) { return p->transport.rank ? PATIENCE * p->seconds : p->seconds; }

bool rg_processes__out_of_patience(const rg_processes *p, rg_wait *wait)
{
    const double now = rg_now(), grace = 0.4;
    if (wait->stop && wait->stop(p->stop_context)) {
        wait->stop = NULL;
        wait->stopped = true;
        if (wait->until > now + grace) wait->until = now + grace;
    }
    return now > wait->until;
}

rg_status rg_processes__lose(rg_processes *p, const rg_wait *wait, int first, int last)
{
    char who[64];
    p->lost = true;
    if (first == last) snprintf(who, sizeof who, "rank %d", first);
    else snprintf(who, sizeof who, "one of ranks %d to %d", first, last);
    if (wait->stopped) return rg_fail(RG_EIO, "asked to stop, and %s did not answer any more", who);
    return rg_fail(RG_EIO, "%s has not answered for %.3g seconds (--rank-timeout)", who, wait->seconds);
}

rg_status rg_processes__broken(rg_processes *p, int rank, rg_status status)
{
    if (status == RG_EIO) p->lost = true;
    return status == RG_OK ? RG_OK : rg_fail_in(status, "rank %d did not answer any more: ", rank);
}

/* In slices, so that a signal is seen: mpirun sends one to all when a rank has died, and soon another that cannot be
 * caught. */
static rg_status wait_for(rg_processes *p, int rank, double seconds,
                          rg_status (*over)(bool *out_done, void *context, int rank, double seconds))
{
    const double slice = 0.1;
    rg_wait      wait = rg_processes__wait(p, seconds);
    for (bool done = false; !done;) {
        RG_TRY(rg_processes__broken(p, rank, over(&done, p->transport.context, rank, slice)));
        if (!done && rg_processes__out_of_patience(p, &wait)) return rg_processes__lose(p, &wait, rank, rank);
    }
    return RG_OK;
}

static rg_status receive_for(rg_processes *p, int from, void *bytes, size_t count, double seconds)
{
    RG_TRY(rg_processes__broken(p, from, p->transport.expect(p->transport.context, from, bytes, count)));
    return wait_for(p, from, seconds, p->transport.came);
}

static rg_status receive(rg_processes *p, int from, void *bytes, size_t count)
{
    return receive_for(p, from, bytes, count, rg_processes__patience(p));
}

static rg_status send(rg_processes *p, int to, const void *bytes, size_t count)
{
    return rg_processes__broken(p, to, p->transport.send(p->transport.context, to, bytes, count));
}

static rg_status flush(rg_processes *p, int to) { return wait_for(p, to, rg_processes__patience(p), p->transport.sent); }

static rg_status send_all(rg_processes *p, const void *bytes, size_t count) /* by rank 0 */
{
    for (int r = 1; r < p->transport.count; r++) RG_TRY(send(p, r, bytes, count));
    for (int r = 1; r < p->transport.count; r++) RG_TRY(flush(p, r));
    return RG_OK;
}

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
    return send_all(p, all, whole);
}

rg_status rg_processes_tell(rg_processes *p, void *bytes, size_t count)
{
    const double without_limit = 1e9;
    if (rg_processes_count(p) == 1) return RG_OK;
    return p->transport.rank ? receive_for(p, 0, bytes, count, without_limit) : send_all(p, bytes, count);
}
