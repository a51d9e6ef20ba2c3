/* metrics.c - counters, gauges and a histogram of durations, as Prometheus reads them: sums over the processes of the
 * server, which count in memory that they share. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "serve/serve.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ------------------------------------------------------------------------------------------------------- counting */

rg_status rg_counters_open(rg_server *s, size_t processes)
{
    void *memory = mmap(NULL, processes * sizeof *s->all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return rg_fail(RG_ENOMEM, "no memory that processes share: %s", strerror(errno));
    s->all = s->counters = memory;
    s->processes = processes;
    return RG_OK;
}

void rg_counters_close(rg_server *s)
{
    if (s->all) munmap(s->all, s->processes * sizeof *s->all);
    s->all = s->counters = NULL;
}

unsigned long long rg_count_add(rg_server *s, rg_count what, unsigned long long n)
{
    return atomic_fetch_add(&s->counters->value[what], n);
}

void rg_count_less(rg_server *s, rg_count what) { atomic_fetch_sub(&s->counters->value[what], 1); }

unsigned long long rg_count_get(const rg_server *s, rg_count what) { return atomic_load(&s->counters->value[what]); }

void rg_count_gauges(rg_server *s)
{
    pthread_mutex_lock(&s->queue.lock);
    const size_t waiting = s->queue.subwords,
                 lines = s->queue.lane[RG_LANE_SHORT].lines + s->queue.lane[RG_LANE_LONG].lines,
                 loaded = s->models.loaded, bytes = s->models.loaded_bytes;
    pthread_mutex_unlock(&s->queue.lock);
    atomic_store(&s->counters->value[RG_COUNT_QUEUE_LINES], lines);
    atomic_store(&s->counters->value[RG_COUNT_QUEUE_SUBWORDS], waiting);
    atomic_store(&s->counters->value[RG_COUNT_LOADED], loaded);
    atomic_store(&s->counters->value[RG_COUNT_LOADED_BYTES], bytes);
}

/* -------------------------------------------------------------------------------------------------------- telling */

static const struct {
    rg_count    what;
    const char *name, *type, *help;
    double      unit;
} metrics[] = {
    { RG_COUNT_ACTIVE, "requests_in_flight", "gauge", "Requests begun and not yet answered", 1 },
    { RG_COUNT_QUEUE_LINES, "queue_lines", "gauge", "Lines waiting to be translated", 1 },
    { RG_COUNT_QUEUE_SUBWORDS, "queue_subwords", "gauge", "Subwords of these lines", 1 },
    { RG_COUNT_LEFT, "left_total", "counter", "Requests given up because the client had left", 1 },
    { RG_COUNT_EXPIRED, "expired_total", "counter", "Requests given up because their deadline had passed", 1 },
    { RG_COUNT_LINES, "lines_total", "counter", "Lines translated", 1 },
    { RG_COUNT_BATCHES, "batches_total", "counter", "Runs of the translator", 1 },
    { RG_COUNT_BUSY_US, "translating_seconds_total", "counter", "Time spent in them", 1e-6 },
    { RG_COUNT_LOADED, "models_in_memory", "gauge", "Models that are loaded, of all processes", 1 },
    { RG_COUNT_LOADED_BYTES, "models_bytes", "gauge", "Bytes of memory that their weights take", 1 },
    { RG_COUNT_LOADS, "model_loads_total", "counter", "Models loaded because they were asked for", 1 },
    { RG_COUNT_CACHE_HITS, "cache_hits_total", "counter", "Lines answered from recent translations", 1 },
    { RG_COUNT_CACHE_MISSES, "cache_misses_total", "counter", "Lines looked for among them in vain", 1 },
    { RG_COUNT_CONNECTIONS, "connections", "gauge", "Open connections", 1 },
    { RG_COUNT_LATE, "late_connections_total", "counter", "Connections closed because a deadline had passed", 1 },
    { RG_COUNT_RESTARTS, "worker_restarts_total", "counter", "Processes that ended and were started again", 1 },
};

static void metric(rg_text *out, const char *name, const char *type, const char *help, double value)
{
    rg_text_print(out, "# HELP regard_%s %s\n# TYPE regard_%s %s\nregard_%s %.17g\n", name, help, name, type, name,
                  value);
}

static unsigned long long sum(const rg_server *s, rg_count what)
{
    unsigned long long all = 0;
    for (size_t i = 0; i < s->processes; i++) all += atomic_load(&s->all[i].value[what]);
    return all;
}

static void answers(rg_text *out, const rg_server *s)
{
    rg_text_print(
        out, "# HELP regard_requests_total Requests answered, by status code\n# TYPE regard_requests_total counter\n");
    for (unsigned code = 0; code < RG_SERVE_CODES; code++) {
        unsigned long long n = 0;
        for (size_t i = 0; i < s->processes; i++) n += atomic_load(&s->all[i].codes[code]);
        if (n) rg_text_print(out, "regard_requests_total{code=\"%u\"} %llu\n", code, n);
    }
}

static void durations(rg_text *out, const rg_server *s)
{
    unsigned long long all = 0;
    rg_text_print(out, "# HELP regard_request_seconds From the header of a request to its answer\n# TYPE "
                       "regard_request_seconds histogram\n");
    for (size_t k = 0; k <= RG_SERVE_BUCKETS; k++) {
        for (size_t i = 0; i < s->processes; i++) all += atomic_load(&s->all[i].duration[k]);
        if (k < RG_SERVE_BUCKETS)
            rg_text_print(out, "regard_request_seconds_bucket{le=\"%g\"} %llu\n", rg_serve__buckets[k], all);
    }
    rg_text_print(out,
                  "regard_request_seconds_bucket{le=\"+Inf\"} %llu\nregard_request_seconds_sum "
                  "%.6f\nregard_request_seconds_count %llu\n",
                  all, (double)sum(s, RG_COUNT_DURATION_US) * 1e-6, all);
}

bool rg_serve__metrics(rg_request *r)
{
    rg_server *s = r->server;
    rg_text    out = { 0 };
    rg_count_gauges(s);
    answers(&out, s);
    durations(&out, s);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        metric(&out, metrics[i].name, metrics[i].type, metrics[i].help,
               (double)sum(s, metrics[i].what) * metrics[i].unit);
    metric(&out, "models", "gauge", "Models that are served", (double)s->models.count);
    metric(&out, "workers", "gauge", "Processes of the server", (double)s->processes);
    metric(&out, "uptime_seconds", "gauge", "Time since the start", rg_now() - s->started);
    r->reply.text = out.data;
    r->reply.bytes = out.length;
    r->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    r->reply.code = 200;
    return false;
}
