/* training.c - a training run on the console: a bar with time left on a terminal, Marian-like lines otherwise, JSON
 * lines for `regard report`. */
#include "cli/training.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/lines.h"
#include "cli/tensorboard.h"

/* ----------------------------------------------------------------------------------------------------- signals */

/* A signal can reach nothing but a flag. */
static volatile sig_atomic_t asked_to_stop;
static const int             signals[RG_CONSOLE_SIGNALS] = { SIGTERM, SIGINT, SIGHUP };

static void on_signal(int number)
{
    (void)number;
    asked_to_stop = 1;
}

static void take_signals(rg_console *c)
{
    const struct sigaction action = { .sa_handler = on_signal };
    asked_to_stop = 0;
    for (size_t i = 0; i < RG_CONSOLE_SIGNALS; i++) {
        sigaction(signals[i], NULL, &c->old[i]);
        if (signals[i] == SIGHUP && c->old[i].sa_handler == SIG_IGN) continue; /* nohup */
        sigaction(signals[i], &action, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------------ ticker */

static const char stopped_early[] = "stopped as asked before the first update: there is nothing to save yet\n";

static void draw(rg_console *c) { rg_progress_part(c->bar, c->part, c->title, c->note); }

/* Learning a vocabulary is one call into SentencePiece, which cannot be interrupted. Before the first update nothing
 * is lost by leaving. */
static void leave_if_asked(rg_console *c)
{
    if (!c->preparing || !asked_to_stop) c->asked_at = -1;
    else if (c->asked_at < 0) c->asked_at = rg_now();
    else if (rg_now() - c->asked_at > 0.3) {
        rg_progress_clear(c->bar);
        (void)!write(STDERR_FILENO, stopped_early, sizeof stopped_early - 1);
        _exit(0);
    }
}

/* Without a bar: something is read within two seconds, whatever takes longer. */
static void say_what_is_under_way(rg_console *c)
{
    if (c->terminal || c->quiet || c->spoken || !c->title[0] || rg_now() - c->started < 1) return;
    fprintf(stderr, "%s ...\n", c->title);
    c->spoken = true;
}

static void *tick(void *context)
{
    rg_console *c = context;
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->wake, &c->lock, &until);
        if (c->closing) break;
        draw(c);
        say_what_is_under_way(c);
        leave_if_asked(c);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- open, close */

rg_status rg_console_open(rg_console *c, const char *json_path, bool new_log, bool quiet)
{
    *c = (rg_console){ .started = rg_now(),
                       .quiet = quiet,
                       .samples = true,
                       .unit = "words",
                       .title = "preparing",
                       .open = true,
                       .preparing = true,
                       .asked_at = -1,
                       .terminal = !quiet && isatty(fileno(stderr)) == 1 };
    take_signals(c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    c->ticking =
        pthread_create(&c->ticker, NULL, tick, c) == 0; /* without it the clock stands still between updates, no more */
    if (json_path && *json_path && !(c->json = fopen(json_path, new_log ? "w" : "a"))) {
        const int why = errno;
        rg_console_close(c);
        return rg_fail(RG_EIO, "%s: cannot write: %s", json_path, strerror(why));
    }
    return RG_OK;
}

static rg_status open_log(FILE **out, const char *path)
{
    if (*path && !(*out = fopen(path, "a"))) return rg_fail(RG_EIO, "%s: cannot write: %s", path, strerror(errno));
    return RG_OK;
}

rg_status rg_console_log_to(rg_console *c, const char *log, const char *valid_log)
{
    RG_TRY(open_log(&c->log, log));
    return open_log(&c->valid_log, valid_log);
}

rg_status rg_console_events_to(rg_console *c, const char *folder)
{
    return *folder ? rg_events_open(&c->events, folder) : RG_OK;
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
    if (!c->open) return;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    if (c->ticking) pthread_join(c->ticker, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    rg_progress_end(c->bar);
    drop_samples(c);
    if (c->json) fclose(c->json);
    if (c->events && rg_events_failed(c->events)) fprintf(stderr, "the event files for TensorBoard could not be written\n");
    rg_events_close(c->events);
    if (c->log) fclose(c->log);
    if (c->valid_log) fclose(c->valid_log);
    rg_free(c->reason);
    rg_free(c->model);
    for (size_t i = 0; i < RG_CONSOLE_SIGNALS; i++) sigaction(signals[i], &c->old[i], NULL);
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
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "source", c->sample[i].source, "reference",
                                              c->sample[i].reference, "output", c->sample[i].output));
    return list;
}

static void json_event(rg_console *c, const rg_train_log *log)
{
    if (log->event ==
        RG_TRAIN_START) { /* what follows replaces lines of later steps, which an earlier run may have left */
        write_json(c, json_pack("{s:I, s:s}", "step", (json_int_t)log->step, "begin", log->step ? "resumed" : "new"));
    } else if (log->event == RG_TRAIN_LOG) {
        json_t *phases = log->phase_count ? json_object() : NULL;
        for (size_t i = 0; i < log->phase_count; i++)
            json_object_set_new(phases, log->phases[i].name, json_real(log->phases[i].loss));
        json_t *notes = log->notes ? json_object() : NULL;
        for (size_t i = 0; log->notes && i < log->notes->count; i++)
            json_object_set_new(notes, log->notes->metric[i].name, json_real(log->notes->metric[i].value));
        char weights[17];
        snprintf(weights, sizeof weights, "%016llx", (unsigned long long)log->weights);
        write_json(c,
                   json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o*, s:s, s:o*, s:o*}", "step",
                             (json_int_t)log->step, "epoch", (json_int_t)log->epoch, "loss", log->loss, "lr", log->rate,
                             "words_per_second", log->seconds > 0 ? log->cost / log->seconds : 0.0, "words", log->cost,
                             "seconds", log->seconds, "grad_norm", log->norm, "clipped", log->clipped, "cpu_seconds",
                             log->cpu_seconds, "exchange_seconds", log->exchange > 0 ? json_real(log->exchange) : NULL,
                             "weights", weights, "phases", phases, "objective", notes));
    } else if (log->event == RG_TRAIN_VALID) {
        json_t *valid = json_object();
        for (size_t i = 0; i < log->metrics->count; i++)
            json_object_set_new(valid, log->metrics->metric[i].name, json_real(log->metrics->metric[i].value));
        write_json(c, json_pack("{s:I, s:I, s:o, s:o}", "step", (json_int_t)log->step, "epoch", (json_int_t)log->epoch,
                                "valid", valid, "samples", samples_json(c)));
    }
}

/* -------------------------------------------------------------------------------------------------- TensorBoard */

static void events_of(rg_console *c, const rg_train_log *log, const char *group, const rg_metrics *metrics)
{
    for (size_t i = 0; metrics && i < metrics->count; i++) {
        char tag[RG_METRIC_NAME + 16];
        snprintf(tag, sizeof tag, "%s/%s", group, metrics->metric[i].name);
        rg_events_scalar(c->events, log->step, tag, metrics->metric[i].value);
    }
}

static void write_events(rg_console *c, const rg_train_log *log)
{
    if (!c->events) return;
    if (log->event == RG_TRAIN_START) rg_events_start(c->events, log->step);
    if (log->event == RG_TRAIN_VALID) events_of(c, log, "valid", log->metrics);
    if (log->event != RG_TRAIN_LOG) return;
    const struct {
        const char *tag;
        double      value;
    } numbers[] = { { "train/loss", log->loss }, { "train/learning_rate", log->rate }, { "train/gradient_norm", log->norm },
                    { "train/words_per_second", log->seconds > 0 ? log->cost / log->seconds : 0 }, { "train/epoch", (double)log->epoch } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) rg_events_scalar(c->events, log->step, numbers[i].tag, numbers[i].value);
    for (size_t i = 0; i < log->phase_count; i++) {
        char tag[96];
        snprintf(tag, sizeof tag, "train/loss_%.64s", log->phases[i].name);
        rg_events_scalar(c->events, log->step, tag, log->phases[i].loss);
    }
    events_of(c, log, "objective", log->notes);
}

/* ------------------------------------------------------------------------------------------------------- people */

/* "[2024-05-01 12:00:00] Ep. 1 : ...": whole, as programs that read logs want it. */
static void write_log(FILE *file, const char *line)
{
    char      when[40] = "";
    time_t    now = time(NULL);
    struct tm local;
    if (!file) return;
    if (localtime_r(&now, &local)) strftime(when, sizeof when, "[%Y-%m-%d %H:%M:%S] ", &local);
    fprintf(file, "%s%s\n", when, line);
    fflush(file);
}

static void put_line(rg_console *c, bool shown, const char *text)
{
    write_log(c->log, text);
    if (c->quiet || !shown) return;
    c->spoken = true;
    rg_progress_clear(c->bar);
    rg_lines_fold(stderr, text, 2);
}

static void print_folded(rg_console *c, const char *format, ...) RG_PRINTF(2, 3);
static void print_folded(rg_console *c, const char *format, ...)
{
    char    text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_line(c, true, text);
}

static void print_sample(rg_console *c, const char *mark, const char *text)
{
    if (c->quiet || !text || !*text) return;
    rg_progress_clear(c->bar);
    fputs(mark, stderr);
    char *line = rg_strdup(text); /* texts of several lines on one */
    for (char *at = line; at && *at; at++)
        if (*at == '\n') *at = ' ';
    rg_lines_cut(stderr, line ? line : text, RG_LINE_COLUMNS - strlen(mark));
    rg_free(line);
}

static void print_valid(rg_console *c, const rg_train_log *log)
{
    for (size_t i = 0; i < log->metrics->count; i++) {
        const rg_metric *m = &log->metrics->metric[i];
        char             verdict[64] = "new best";
        if (m->stalled)
            snprintf(verdict, sizeof verdict, "stalled %llu (best %.4f)", (unsigned long long)m->stalled, m->best);
        if (i == 0)
            snprintf(c->last_valid, sizeof c->last_valid, "  %.12s %.2f",
                     strcmp(m->name, "loss") == 0 ? "valid" : m->name, m->value);
        char line[256];
        snprintf(line, sizeof line, "[valid] Ep. %llu : Up. %llu : %s : %.4f : %s", (unsigned long long)log->epoch,
                 (unsigned long long)log->step, m->name, m->value, verdict);
        write_log(c->valid_log, line);
        put_line(c, true, line);
    }
    for (size_t i = 0; c->samples && i < c->samples_held; i++) {
        print_sample(c, "        ", c->sample[i].source);
        print_sample(c, "     -> ", c->sample[i].output);
        print_sample(c, "      = ", c->sample[i].reference);
    }
    drop_samples(c);
}

static void print_average(rg_console *c, const rg_train_log *log)
{
    c->averaged = log->chosen;
    c->mean = log->metrics ? log->metrics->metric[0].value : (double)NAN;
    if (!log->metrics || !log->last) {
        print_folded(c,
                     "%s is the mean of %zu saved models; without --valid-sets nobody knows whether it is better than "
                     "the last weights",
                     log->path, log->averaged);
        return;
    }
    const double mean = log->metrics->metric[0].value, last = log->last->metric[0].value;
    print_folded(c, "%s holds %s: %s %.2f, against %.2f of %s", log->path,
                 log->chosen ? "the mean of the saved models" : "the last weights", log->metrics->metric[0].name,
                 log->chosen ? mean : last, log->chosen ? last : mean,
                 log->chosen ? "the last weights" : "the mean of the saved models");
}

/* 950 -> "950", 12345 -> "12.3k" */
static void short_number(char out[32], double x)
{
    if (x >= 1e6) snprintf(out, 32, "%.1fM", x * 1e-6);
    else if (x >= 1e4) snprintf(out, 32, "%.1fk", x * 1e-3);
    else snprintf(out, 32, "%.0f", x);
}

/* The bar's numbers are means since the last log line; right behind it they are those of a batch or two, so the old
 * ones stay for a second. */
static void show_update(rg_console *c, const rg_train_log *log)
{
    if (!c->bar) return;
    if (log->seconds >= 1 || log->event == RG_TRAIN_LOG || c->loss == 0) {
        c->loss = log->loss;
        c->speed = log->seconds > 0 ? log->cost / log->seconds : 0;
    }
    char speed[32], update[32] = "";
    short_number(speed, c->speed);
    if (log->part < 0) snprintf(update, sizeof update, "update %llu  ", (unsigned long long)log->step);
    c->part = log->part;
    snprintf(c->title, sizeof c->title, "epoch %llu", (unsigned long long)log->epoch);
    snprintf(c->note, sizeof c->note, "%sloss %.3f  %s %s/s%s", update, c->loss, speed, c->unit, c->last_valid);
    draw(c);
}

/* On a terminal the bar says it; the file has every line. */
static void print_update(rg_console *c, const rg_train_log *log, bool shown)
{
    char   cost[256], line[512];
    size_t at = (size_t)snprintf(cost, sizeof cost, "Cost %.5g", log->loss);
    for (size_t i = 0; i < log->phase_count && at < sizeof cost; i++) /* the losses of phases have no common mean */
        at = (i ? at : 0) + (size_t)snprintf(cost + (i ? at : 0), sizeof cost - (i ? at : 0), "%s%s %.5g",
                                             i ? " : " : "", log->phases[i].name, log->phases[i].loss);
    for (size_t i = 0; log->notes && i < log->notes->count && at < sizeof cost; i++)
        at += (size_t)snprintf(cost + at, sizeof cost - at, " : %s %.4g", log->notes->metric[i].name,
                               log->notes->metric[i].value);
    snprintf(line, sizeof line, "Ep. %llu : Up. %llu : %s : %.0f %s/s : gNorm %.3g : L.r. %.2e",
             (unsigned long long)log->epoch, (unsigned long long)log->step, cost,
             log->seconds > 0 ? log->cost / log->seconds : 0.0, c->unit, log->norm, log->rate);
    put_line(c, shown, line);
}

/* The first update of a run is a line too, so that nobody waits for the first hundred to see a loss; where every update is
 * one, it comes once. */
static void print_first(rg_console *c, const rg_train_log *log)
{
    if (c->bar || c->first || c->silent) return;
    c->first = log->step;
    print_update(c, log, true);
}

static void new_bar(rg_console *c, const char *title)
{
    rg_progress_end(c->bar);
    c->bar = NULL;
    c->phase_began = rg_now();
    c->part = -1;
    c->note[0] = '\0';
    snprintf(c->title, sizeof c->title, "%s", title);
    if (c->terminal && *title) (void)rg_progress_new(&c->bar, stderr, title, 0); /* no bar is no failure */
}

static void keep_result(rg_console *c, const rg_train_log *log)
{
    rg_free(c->reason);
    rg_free(c->model);
    c->steps = log->step;
    c->best = log->chosen;
    c->reason = rg_strdup(log->reason ? log->reason : "");
    c->model = log->path ? rg_strdup(log->path) : NULL;
    if (log->metrics) c->metrics = *log->metrics;
    new_bar(c, "");
}

/* ------------------------------------------------------------------------------------------------------- report */

static void on_log(void *context, const rg_train_log *log)
{
    rg_console *c = context;
    pthread_mutex_lock(&c->lock);
    json_event(c, log);
    write_events(c, log);
    switch (log->event) {
    case RG_TRAIN_RESUMED:
        print_folded(c, "resuming after %llu updates from %s", (unsigned long long)log->step, log->path);
        if (log->reason) print_folded(c, "changed since: %s", log->reason);
        break;
    case RG_TRAIN_START:
        c->preparing = false;
        new_bar(c, "training");
        break;
    case RG_TRAIN_UPDATE:
        show_update(c, log);
        print_first(c, log);
        break;
    case RG_TRAIN_LOG:
        if (c->bar) show_update(c, log);
        if (c->first != log->step) print_update(c, log, !c->bar);
        break;
    case RG_TRAIN_VALID: print_valid(c, log); break;
    case RG_TRAIN_AVERAGED: print_average(c, log); break;
    case RG_TRAIN_DONE: keep_result(c, log); break;
    case RG_TRAIN_SAVED:
    case RG_TRAIN_EPOCH: break;
    }
    pthread_mutex_unlock(&c->lock);
}

static void on_say(void *context, const char *line)
{
    rg_console *c = context;
    pthread_mutex_lock(&c->lock);
    print_folded(c, "%s", line);
    pthread_mutex_unlock(&c->lock);
}

static void on_begin(void *context, const char *doing)
{
    rg_console *c = context;
    pthread_mutex_lock(&c->lock);
    if (*doing) print_folded(c, "%s", doing);
    new_bar(c, *doing ? "elapsed" : "");
    draw(c);
    pthread_mutex_unlock(&c->lock);
}

static void on_reading(void *context, uint64_t lines)
{
    rg_console  *c = context;
    const double passed = rg_now() - c->phase_began;
    char         count[32], rate[32];
    pthread_mutex_lock(&c->lock);
    short_number(count, (double)lines);
    short_number(rate, passed > 0 ? (double)lines / passed : 0);
    snprintf(c->note, sizeof c->note, "%s lines  %s/s", count, rate);
    draw(c);
    pthread_mutex_unlock(&c->lock);
}

static void on_sample(void *context, uint64_t step, const char *source, const char *reference, const char *output)
{
    rg_console *c = context;
    (void)step;
    if (c->samples_held == RG_CONSOLE_SAMPLES) return;
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
    return (rg_train_report){ .context = c,
                              .log = on_log,
                              .say = on_say,
                              .sample = on_sample,
                              .stop = on_stop,
                              .begin = on_begin,
                              .reading = on_reading };
}

/* ---------------------------------------------------------------------------------------------------- the end */

void rg_console_say(rg_console *c, const char *format, ...)
{
    char    text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    on_say(c, text);
}

void rg_console_command(rg_console *c, const char *format, ...)
{
    va_list args;
    if (c->quiet) return;
    va_start(args, format);
    fputs("  ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void say_best(rg_console *c)
{
    const rg_metric *m = &c->metrics.metric[0];
    const double     end = c->averaged ? c->mean : m->value;
    const char      *whose = c->averaged ? "mean" : "last weights";
    if (c->best) rg_console_say(c, "best %s: %.2f, in %s; the %s: %.2f", m->name, m->best, c->model, whose, end);
    else if (m->higher ? end >= m->best : end <= m->best)
        rg_console_say(c, "best %s: %.2f, in %s", m->name, end, c->model);
    else
        rg_console_say(c, "%s of the %s: %.2f, in %s; the best was %.2f, its weights were not kept", m->name, whose,
                       end, c->model, m->best);
}

void rg_console_summary(rg_console *c)
{
    const unsigned seconds = (unsigned)(rg_now() - c->started + 0.5);
    rg_console_say(c, "Done after %llu updates, %u:%02u:%02u: %s", (unsigned long long)c->steps, seconds / 3600,
                   seconds / 60 % 60, seconds % 60, c->reason ? c->reason : "");
    if (c->model && c->metrics.count) say_best(c);
    else if (c->model) rg_console_say(c, "the model: %s", c->model);
}
