/* progress.c - one line on a terminal that says how far something is:
 *
 *     epoch 3  [=============>            ]  52 %  1.2k/s  eta 0:41  loss 2.31       counted: rg_progress_set
 *     epoch 3  [=============>            ]  52 %  0:41 left  loss 2.31               by share: rg_progress_part
 *     epoch 3  12:41  loss 2.31                                                       nobody knows how much it is
 *
 * Nothing is written when the stream is not a terminal. NO_COLOR (no-color.org) leaves out the colour. */
#define _GNU_SOURCE 1
#include "regard/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
enum { LINE_BYTES = 1024, BAR_MOST = 40, BAR_LEAST = 4 };

struct rg_progress {
    FILE *stream;
    char *title;
    uint64_t total;
    double began, drawn; /* when; drawn < 0: not yet */
    double from;         /* share that was done when it began: a resumed run is not faster for it; < 0: not known yet */
    bool terminal, colour;
};

rg_status rg_progress_new(rg_progress **out, FILE *stream, const char *title, uint64_t total)
{
    *out = NULL;
    rg_progress *p = rg_alloc_zero(sizeof *p);
    if (p == NULL) return RG_ENOMEM;
    if ((p->title = rg_strdup(title)) == NULL) {
        rg_free(p);
        return RG_ENOMEM;
    }
    const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool dumb = kind != NULL && strcmp(kind, "dumb") == 0;
    p->stream = stream;
    p->total = total;
    p->began = rg_now();
    p->drawn = p->from = -1;
    p->terminal = !dumb && isatty(fileno(stream)) == 1;
    p->colour = no_colour == NULL || no_colour[0] == '\0';
    *out = p;
    return RG_OK;
}

static size_t columns_of(FILE *stream)
{
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/* Columns that text takes, counting one for each character of UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* Cuts text to `columns` at a character. */
static void cut(char *text, size_t columns)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80) continue;
        if (columns-- == 0) {
            *text = '\0';
            return;
        }
    }
}

static void format_rate(char out[32], double rate)
{
    if (rate >= 1e9) snprintf(out, 32, "%.1fG/s", rate * 1e-9);
    else if (rate >= 1e6) snprintf(out, 32, "%.1fM/s", rate * 1e-6);
    else if (rate >= 1e3) snprintf(out, 32, "%.1fk/s", rate * 1e-3);
    else snprintf(out, 32, "%.1f/s", rate);
}

static void format_left(char out[32], double seconds)
{
    if (!(seconds >= 0 && seconds < 360000)) {
        snprintf(out, 32, "--:--");
        return;
    }
    unsigned s = (unsigned)(seconds + 0.5);
    if (s >= 3600) snprintf(out, 32, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
    else snprintf(out, 32, "%u:%02u", s / 60, s % 60);
}

/* Title, bar where there is room for one (part >= 0), tail. */
static void draw_line(rg_progress *p, double part, const char *tail)
{
    char line[LINE_BYTES], bar[BAR_MOST + 1];
    size_t columns = columns_of(p->stream), taken = width_of(p->title) + width_of(tail) + 7;
    size_t bar_width = columns > taken + BAR_LEAST ? columns - taken : 0;
    if (bar_width > BAR_MOST) bar_width = BAR_MOST;
    if (part < 0) bar_width = 0;
    size_t full = (size_t)(part * (double)bar_width);
    for (size_t i = 0; i < bar_width; i++) bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[bar_width] = '\0';

    snprintf(line, sizeof line, bar_width > 0 ? "%s  [%s]  %s" : "%s  %s%s", p->title, bar, tail);
    cut(line, columns > 1 ? columns - 1 : 1); /* the last column would wrap */
    fprintf(p->stream, p->colour ? "\r\033[K\033[36m%s\033[0m" : "\r\033[K%s", line);
    fflush(p->stream);
}

static void draw(rg_progress *p, uint64_t done, const char *note)
{
    char rate[32], left[32], tail[LINE_BYTES];
    double passed = rg_now() - p->began;
    double speed = passed > 0 ? (double)done / passed : 0;
    double part = p->total == 0 ? -1 : (double)done / (double)p->total;
    if (part > 1) part = 1;
    uint64_t ahead = done < p->total ? p->total - done : 0;

    format_rate(rate, speed);
    format_left(left, speed > 0 ? (double)ahead / speed : -1);
    if (p->total == 0) snprintf(tail, sizeof tail, "%ju  %s  %s", (uintmax_t)done, rate, note);
    else snprintf(tail, sizeof tail, "%3d %%  %s  eta %s  %s", (int)(100 * part), rate, left, note);
    draw_line(p, part, tail);
}

static void draw_part(rg_progress *p, double part, const char *note)
{
    char time[32], tail[LINE_BYTES];
    double passed = rg_now() - p->began;
    if (part > 1) part = 1;
    if (p->from < 0 && part >= 0) p->from = part;
    double done = part - p->from; /* since it began */
    format_left(time, part < 0 ? passed : done > 0 ? passed * (1 - part) / done : -1);
    if (part < 0) snprintf(tail, sizeof tail, "%s  %s", time, note);
    else snprintf(tail, sizeof tail, "%3d %%  %s left  %s", (int)(100 * part), time, note);
    draw_line(p, part, tail);
}

static bool too_soon(rg_progress *p)
{
    double now = rg_now();
    if (p->drawn >= 0 && now - p->drawn < REDRAW_SECONDS) return true;
    p->drawn = now;
    return false;
}

void rg_progress_part(rg_progress *p, double part, const char *title, const char *note)
{
    if (p == NULL || !p->terminal || too_soon(p)) return;
    if (strcmp(title, p->title) != 0) {
        char *copy = rg_strdup(title);
        if (copy != NULL) {
            rg_free(p->title);
            p->title = copy;
        }
    }
    draw_part(p, part, note == NULL ? "" : note);
}

void rg_progress_clear(rg_progress *p)
{
    if (p == NULL || p->drawn < 0) return;
    fputs("\r\033[K", p->stream);
    fflush(p->stream);
    p->drawn = -1; /* the next call draws at once */
}

void rg_progress_set(rg_progress *p, uint64_t done, const char *note)
{
    if (p == NULL || !p->terminal) return;
    if (too_soon(p) && done != p->total) return;
    draw(p, done, note == NULL ? "" : note);
}

void rg_progress_end(rg_progress *p)
{
    if (p == NULL) return;
    rg_progress_clear(p);
    rg_free(p->title);
    rg_free(p);
}
