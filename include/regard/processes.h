/* processes.h - one training in several processes: the ranks of `mpirun -n N regard train ...`.
 *
 *     workers are numbered over all processes:   rank 0: 0 .. W-1    rank 1: W .. 2W-1    ...
 *
 * Every rank reads the data and cuts batches into the same shares, computes its own, and all sum gradients in the order
 * of the workers' numbers: two ranks of one worker have the bits of one process of two workers. Rank 0 validates, logs and
 * writes files. docs/scaling.md has the rest.
 *
 * MPI lives in the module regard-mpi.so, which is opened only in a process that mpirun has started. */
#ifndef REGARD_PROCESSES_H
#define REGARD_PROCESSES_H

#include "regard/base.h"

RG_API_BEGIN

typedef struct rg_processes rg_processes;

/* How bytes come from one process to another. Each call ends after `seconds` without success. */
typedef struct rg_transport {
    void *context;
    int   rank, count;
    rg_status (*send)(void *context, int to, const void *bytes, size_t count); /* starts; `bytes` stay until flush */
    rg_status (*receive)(bool *out_done, void *context, int from, void *bytes, size_t count, double seconds);
    rg_status (*flush)(bool *out_done, void *context, double seconds); /* everything was sent */
    void (*close)(void *context, bool lost); /* lost: somebody is gone; end all processes and this one */
} rg_transport;

/* The processes that this one was started with. *out NULL: it was started alone, or as the only one. RG_EIO: MPI is
 * not installed. `seconds`: how long rank 0 waits for another one before the run ends. */
rg_status rg_processes_open(rg_processes **out, double seconds);
/* Over any transport, which is taken over. */
rg_status rg_processes_new(rg_processes **out, const rg_transport *transport, double seconds);
/* After a rank was lost this ends the process, with status 1. NULL is fine. */
void rg_processes_close(rg_processes *processes);

int  rg_processes_rank(const rg_processes *processes);  /* 0 for NULL */
int  rg_processes_count(const rg_processes *processes); /* 1 for NULL */
bool rg_processes_lost(const rg_processes *processes);  /* one does not answer any more */

/* Asked while it waits: once it says so, waiting ends soon. */
void rg_processes_set_stop(rg_processes *processes, bool (*stop)(void *context), void *context);

/* Every rank gives `bytes`; all[r * bytes] on all ranks is what rank r gave. RG_EIO: one did not answer. */
rg_status rg_processes_gather(void *all, rg_processes *processes, const void *own, size_t bytes);
/* What rank 0 has. The others wait without limit: it may be validating. */
rg_status rg_processes_tell(rg_processes *processes, void *bytes, size_t count);
/* Numbers as they come along the ranks: `add` puts numbers from .. from + count of what this rank has onto `before`
 * (NULL for rank 0), into `sum`, which all ranks then have as the last one made it. */
typedef void rg_processes_add(void *context, size_t from, size_t count, const void *before);
rg_status rg_processes_sum(rg_processes *processes, void *sum, size_t count, size_t bytes_each, rg_processes_add *add,
                           void *context);

RG_API_END
#endif
