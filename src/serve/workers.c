/* workers.c - a server of several processes: one that only watches, and workers that take connections at the socket
 * they all have.
 *
 *     watcher --+-- worker 0   threads, queue, models          the weights that were loaded before the fork are
 *               +-- worker 1   threads, queue, models          one copy in memory: nobody writes to them
 *
 * A worker that ends, for whatever reason, is started again; no answer of another is lost. All of them see the
 * watcher's end of a pipe close, when it is told to stop or when it dies, and drain. */
#define _GNU_SOURCE 1 /* pipe2 */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 100 };
static const double soon = 1; /* seconds that a worker has lived before it is started again */

typedef struct {
    pid_t  id; /* 0: it has ended */
    double since;
} worker;

typedef rg_status worker_function(rg_server *server, int listening, int stop);

static void begin(rg_server *s, worker *w, size_t number, int listening, const int hold[2], worker_function *work)
{
    w->since = rg_now();
    w->id = fork();
    if (w->id != 0) {
        if (w->id < 0) w->id = 0; /* no process to be had: tried again soon */
        return;
    }
    close(hold[1]);
    s->counters = &s->all[number];
    for (int i = 0; i < RG_COUNT_GAUGES; i++) atomic_store(&s->counters->value[i], 0);
    _exit(work(s, listening, hold[0]) == RG_OK ? 0 : 1);
}

/* Has it ended? */
static bool gone(worker *w)
{
    if (w->id && waitpid(w->id, NULL, WNOHANG) == w->id) w->id = 0;
    return !w->id;
}

static void watch(rg_server *s, worker *all, int listening, const int hold[2], worker_function *work)
{
    for (size_t i = 0; i < s->processes; i++) {
        if (!gone(&all[i]) || rg_now() - all[i].since < soon) continue;
        atomic_fetch_add(&s->all[i].value[RG_COUNT_RESTARTS], 1);
        begin(s, &all[i], i, listening, hold, work);
    }
}

/* They drain by themselves; one that does not is ended. */
static void wait_for_all(rg_server *s, worker *all)
{
    const double until = rg_now() + s->config->drain_seconds + 5;
    size_t       left = s->processes;
    while (left && rg_now() < until) {
        left = 0;
        for (size_t i = 0; i < s->processes; i++) left += !gone(&all[i]);
        if (left) poll(NULL, 0, 20);
    }
    for (size_t i = 0; i < s->processes; i++) {
        if (!all[i].id) continue;
        kill(all[i].id, SIGKILL);
        waitpid(all[i].id, NULL, 0);
    }
}

rg_status rg_serve__workers(rg_server *s, int listening, int stop, worker_function *work)
{
    int     hold[2];
    worker *all = rg_alloc_zero(s->processes * sizeof *all);
    if (!all || pipe2(hold, O_CLOEXEC) != 0) {
        rg_free(all);
        close(listening);
        return rg_fail(RG_EIO, "processes cannot be started: %s", strerror(errno));
    }
    for (size_t i = 0; i < s->processes; i++) begin(s, &all[i], i, listening, hold, work);
    for (struct pollfd p = { .fd = stop, .events = POLLIN };
         poll(&p, 1, TICK_MS) == 0 || (p.revents == 0 && errno == EINTR);)
        watch(s, all, listening, hold, work);
    close(listening); /* nobody connects any more once the workers have closed theirs */
    close(hold[1]);
    wait_for_all(s, all);
    close(hold[0]);
    rg_free(all);
    return RG_OK;
}
