/* training.c - a training run on the console: a bar with time left on a terminal, Marian-like lines otherwise, JSON lines for `regard
 * report`. */
#include "cli/training.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A signal can reach nothing but a flag. */
static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
    (void)number;
    asked_to_stop = 1;
}

rg_status rg_console_open(rg_console *c, const char *json_path, uint64_t total_updates, bool quiet)
{
    *c = (rg_console){ .total = total_updates, .started = rg_now(), .quiet = quiet, .samples = true, .unit = "words" };
    asked_to_stop = 0;
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (json_path && *json_path && !(c->json = fopen(json_path, "a"))) return rg_fail(RG_EIO, "%s: cannot write: %s", json_path, strerror(errno));
    if (!quiet && isatty(fileno(stderr)) && total_updates) return rg_progress_new(&c->bar, stderr, "training", total_updates);
    return RG_OK;
}

static void drop_samples(rg_console *c)
{
    for (size_t i = 0; i < c->samples_held; i++) {
        rg_free(c->sample[i].source);
        rg_free(c->sample[i].reference);
        rg_free(c->sample[i].output);
    }
    c->samples_held = 0;
}

void rg_console_close(rg_console *c)
{
    rg_progress_end(c->bar);
    drop_samples(c);
    if (c->json) fclose(c->json);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    *c = (rg_console){ 0 };
}

/* -------------------------------------------------------------------------------------------------- JSON lines */

static void write_json(rg_console *c, json_t *object)
{
    if (c->json) {
        json_dumpf(object, c->json, JSON_COMPACT);
        fputc('\n', c->json);
        fflush(c->json);
    }
    json_decref(object);
}

static json_t *samples_json(const rg_console *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->samples_held; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "source", c->sample[i].source, "reference", c->sample[i].reference,
                                              "output", c->sample[i].output));
    return list;
}

static void json_event(rg_console *c, const rg_train_log *log)
{
    if (log->event == RG_TRAIN_LOG) {
        write_json(c, json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "step", (json_int_t)log->step, "epoch",
                                (json_int_t)log->epoch, "loss", log->loss, "lr", log->rate, "words_per_second",
                                log->seconds > 0 ? log->cost / log->seconds : 0.0, "words", log->cost, "seconds", log->seconds, "grad_norm",
                                log->norm, "clipped", log->clipped));
    } else if (log->event == RG_TRAIN_VALID) {
        json_t *valid = json_object();
        for (size_t i = 0; i < log->metrics->count; i++)
            json_object_set_new(valid, log->metrics->metric[i].name, json_real(log->metrics->metric[i].value));
        write_json(c, json_pack("{s:I, s:I, s:o, s:o}", "step", (json_int_t)log->step, "epoch", (json_int_t)log->epoch, "valid", valid,
                                "samples", samples_json(c)));
    }
}

/* ------------------------------------------------------------------------------------------------------- people */

static void print_line(const rg_console *c, const char *format, ...) RG_PRINTF(2, 3);
static void print_line(const rg_console *c, const char *format, ...)
{
    if (c->quiet) return;
    va_list args;
    va_start(args, format);
    if (c->bar) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void print_valid(rg_console *c, const rg_train_log *log)
{
    for (size_t i = 0; i < log->metrics->count; i++) {
        const rg_metric *m = &log->metrics->metric[i];
        if (i == 0) snprintf(c->last_valid, sizeof c->last_valid, "%s %.2f", m->name, m->value);
        if (m->stalled)
            print_line(c, "[valid] Ep. %llu : Up. %llu : %s : %.4f : stalled %llu times (last best: %.4f)", (unsigned long long)log->epoch,
                       (unsigned long long)log->step, m->name, m->value, (unsigned long long)m->stalled, m->best);
        else
            print_line(c, "[valid] Ep. %llu : Up. %llu : %s : %.4f : new best", (unsigned long long)log->epoch,
                       (unsigned long long)log->step, m->name, m->value);
    }
    for (size_t i = 0; c->samples && i < c->samples_held; i++)
        print_line(c, "        %s\n     -> %s\n      = %s", c->sample[i].source, c->sample[i].output, c->sample[i].reference);
}

static void print_average(const rg_console *c, const rg_train_log *log)
{
    if (!log->metrics || !log->last) {
        print_line(c, "%s is the mean of %zu saved models; without --valid-sets nobody knows whether it is better", log->path, log->averaged);
        return;
    }
    const rg_metric *mean = &log->metrics->metric[0], *last = &log->last->metric[0];
    print_line(c, "%s is %s: %s %.2f; %s has %.2f", log->path, log->chosen ? "the mean of the saved models" : "the last weights", mean->name,
               log->chosen ? mean->value : last->value, log->chosen ? "the last weights" : "the mean of the saved models",
               log->chosen ? last->value : mean->value);
}

static void on_log(void *context, const rg_train_log *log)
{
    rg_console *c = context;
    json_event(c, log);
    if (log->event == RG_TRAIN_LOG && c->bar) {
        char note[256];
        snprintf(note, sizeof note, "loss %.3f, %.0f %s/s%s%s", log->loss, log->seconds > 0 ? log->cost / log->seconds : 0.0, c->unit,
                 c->last_valid[0] ? ", " : "", c->last_valid);
        rg_progress_set(c->bar, log->step, note);
    } else if (log->event == RG_TRAIN_LOG) {
        print_line(c, "Ep. %llu : Up. %llu : Cost %.5f : Time %.2fs : %.2f %s/s : gNorm %.4f : L.r. %.4e", (unsigned long long)log->epoch,
                   (unsigned long long)log->step, log->loss, log->seconds, log->seconds > 0 ? log->cost / log->seconds : 0.0, c->unit,
                   log->norm, log->rate);
    } else if (log->event == RG_TRAIN_VALID) {
        print_valid(c, log);
        drop_samples(c);
    } else if (log->event == RG_TRAIN_RESUMED) {
        print_line(c, "resuming after %llu updates from %s", (unsigned long long)log->step, log->path);
        if (log->reason) print_line(c, "changed since: %s", log->reason);
    } else if (log->event == RG_TRAIN_AVERAGED) {
        print_average(c, log);
    } else if (log->event == RG_TRAIN_DONE) {
        print_line(c, "Done after %llu updates: %s", (unsigned long long)log->step, log->reason ? log->reason : "");
    }
}

static void on_say(void *context, const char *line) { print_line(context, "%s", line); }

static void on_sample(void *context, uint64_t step, const char *source, const char *reference, const char *output)
{
    rg_console *c = context;
    (void)step;
    if (c->samples_held == sizeof c->sample / sizeof *c->sample) return;
    c->sample[c->samples_held].source = rg_strdup(source);
    c->sample[c->samples_held].reference = rg_strdup(reference);
    c->sample[c->samples_held++].output = rg_strdup(output);
}

static bool on_stop(void *context)
{
    (void)context;
    return asked_to_stop;
}

rg_train_report rg_console_report(rg_console *c)
{
    return (rg_train_report){ .context = c, .log = on_log, .say = on_say, .sample = on_sample, .stop = on_stop };
}
