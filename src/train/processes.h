/* processes.h - the inside of the ranks, for what is said (processes.c) and what is summed (ordered_sum.c). */
#ifndef RG_TRAIN_PROCESSES_H
#define RG_TRAIN_PROCESSES_H

#include "regard/processes.h"

struct rg_processes {
    rg_transport transport;
    double       seconds; /* that rank 0 waits */
    bool         lost;
    bool (*stop)(void *context);
    void *stop_context;
    char *slots; /* of sums; NULL before the first */
};

/* Somebody is waited for. Once the program is asked to stop, not for long any more. */
typedef struct rg_wait {
    double seconds, until;
    bool (*stop)(void *context); /* NULL: nobody asks, or it was asked already */
    bool stopped;
} rg_wait;

rg_wait rg_processes__wait(const rg_processes *processes, double seconds); /* from now on */
double  rg_processes__patience(const rg_processes *processes);             /* seconds this rank waits for another */
bool    rg_processes__out_of_patience(const rg_processes *processes, rg_wait *wait);

/* One of these ranks does not answer: the processes are lost. RG_EIO. */
rg_status rg_processes__lose(rg_processes *processes, const rg_wait *wait, int first, int last);
/* What the transport said of a rank: when it failed, the processes are lost. */
rg_status rg_processes__broken(rg_processes *processes, int rank, rg_status status);

#endif
