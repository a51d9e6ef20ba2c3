/* metrics.c - counters, gauges and a histogram of durations, as Prometheus reads them. */
#include "serve/serve.h"

static void metric(rg_text *out, const char *name, const char *type, const char *help, double value)
{
    rg_text_print(out, "# HELP regard_%s %s\n# TYPE regard_%s %s\nregard_%s %.17g\n", name, help, name, type, name,
                  value);
}

static void durations(rg_text *out, rg_server *s)
{
    unsigned long long sum = 0;
    rg_text_print(out, "# HELP regard_request_seconds From the header of a request to its answer\n# TYPE "
                       "regard_request_seconds histogram\n");
    for (size_t i = 0; i < RG_SERVE_BUCKETS; i++)
        rg_text_print(out, "regard_request_seconds_bucket{le=\"%g\"} %llu\n", rg_serve__buckets[i],
                      sum += atomic_load(&s->duration[i]));
    sum += atomic_load(&s->duration[RG_SERVE_BUCKETS]);
    rg_text_print(out,
                  "regard_request_seconds_bucket{le=\"+Inf\"} %llu\nregard_request_seconds_sum "
                  "%.6f\nregard_request_seconds_count %llu\n",
                  sum, (double)atomic_load(&s->duration_us) * 1e-6, sum);
}

bool rg_serve__metrics(rg_request *r)
{
    rg_server *s = r->server;
    rg_text    out = { 0 };
    pthread_mutex_lock(&s->queue.lock);
    const double waiting = (double)s->queue.subwords,
                 lines = (double)(s->queue.lane[RG_LANE_SHORT].lines + s->queue.lane[RG_LANE_LONG].lines),
                 loaded = (double)s->models.loaded;
    pthread_mutex_unlock(&s->queue.lock);
    rg_text_print(
        &out, "# HELP regard_requests_total Requests answered, by status code\n# TYPE regard_requests_total counter\n");
    for (unsigned code = 0; code < RG_SERVE_CODES; code++) {
        const unsigned long long n = atomic_load(&s->codes[code]);
        if (n) rg_text_print(&out, "regard_requests_total{code=\"%u\"} %llu\n", code, n);
    }
    durations(&out, s);
    metric(&out, "requests_in_flight", "gauge", "Requests begun and not yet answered", (double)atomic_load(&s->active));
    metric(&out, "queue_lines", "gauge", "Lines waiting to be translated", lines);
    metric(&out, "queue_subwords", "gauge", "Subwords of these lines", waiting);
    metric(&out, "left_total", "counter", "Requests given up because the client had left",
           (double)atomic_load(&s->left));
    metric(&out, "expired_total", "counter", "Requests given up because their deadline had passed",
           (double)atomic_load(&s->expired));
    metric(&out, "lines_total", "counter", "Lines translated", (double)atomic_load(&s->lines));
    metric(&out, "batches_total", "counter", "Runs of the translator", (double)atomic_load(&s->batches));
    metric(&out, "translating_seconds_total", "counter", "Time spent in them", (double)atomic_load(&s->busy_us) * 1e-6);
    metric(&out, "models", "gauge", "Models that are served", (double)s->models.count);
    metric(&out, "models_in_memory", "gauge", "Models that are loaded", loaded);
    metric(&out, "model_loads_total", "counter", "Models loaded because they were asked for",
           (double)atomic_load(&s->loads));
    metric(&out, "connections", "gauge", "Open connections", (double)atomic_load(&s->connections));
    metric(&out, "late_connections_total", "counter", "Connections closed because a deadline had passed",
           (double)atomic_load(&s->late));
    metric(&out, "uptime_seconds", "gauge", "Time since the start", rg_now() - s->started);
    r->reply.text = out.data;
    r->reply.bytes = out.length;
    r->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    r->reply.code = 200;
    return false;
}
