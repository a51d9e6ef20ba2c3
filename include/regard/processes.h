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

/* How bytes come from one process to another. Messages between two ranks arrive in the order in which they were sent
 * and expected. send and expect only start: the bytes stay where they are until `sent` or `came` has told so once for
 * each. Those two tell of the oldest message to or from that rank and wait up to `seconds` for it; 0: just look.
 * Calls come from one thread at a time. */
typedef struct rg_transport {
    void *context;
    int   rank, count;
    bool  any_thread; /* calls may come from another thread than the one that opened it */
    rg_status (*send)(void *context, int to, const void *bytes, size_t count);
    rg_status (*expect)(void *context, int from, void *bytes, size_t count);
    rg_status (*sent)(bool *out_done, void *context, int to, double seconds);
    rg_status (*came)(bool *out_done, void *context, int from, double seconds);
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
bool rg_processes_any_thread(const rg_processes *processes); /* another thread may make the calls below, one at a time */

/* Asked while it waits: once it says so, waiting ends soon. */
void rg_processes_set_stop(rg_processes *processes, bool (*stop)(void *context), void *context);

/* Every rank gives `bytes`; all[r * bytes] on all ranks is what rank r gave. RG_EIO: one did not answer. */
rg_status rg_processes_gather(void *all, rg_processes *processes, const void *own, size_t bytes);
/* What rank 0 has. The others wait without limit: it may be validating. */
rg_status rg_processes_tell(rg_processes *processes, void *bytes, size_t count);
/* A sum over all ranks in their order, part after part: the same parts on all ranks. A part goes on to the next rank
 * as soon as this one has added its own, and comes back while later parts are still on their way there. */
enum { RG_PART_BYTES = 1 << 18 }; /* at most */
typedef struct rg_ordered_sum {
    size_t parts;
    void *(*place)(void *context, size_t part, size_t *out_bytes); /* where the sum of a part goes; written after `add` */
    bool (*ready)(void *context, size_t part); /* is this rank's own there? NULL: yes. Another thread may make it so     */
    void (*add)(void *context, size_t part, void *sum, bool first); /* own onto `sum`; first: into it, nothing is there */
    void *context;
} rg_ordered_sum;
rg_status rg_processes_sum(rg_processes *processes, const rg_ordered_sum *sum);

RG_API_END
#endif
