/* terminal_colour.c - what a terminal can do, and the escape sequences that ask for it. */
#include "view/terminal.h"

#include <stdlib.h>
#include <string.h>

static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static rg_terminal_colour detect_colour(void)
{
    const char *term = env("TERM"), *colorterm = env("COLORTERM");

    if (*env("NO_COLOR") || !*term || !strcmp(term, "dumb")) return RG_COLOUR_NONE;
    if (!strcmp(colorterm, "truecolor") || !strcmp(colorterm, "24bit") || strstr(term, "direct"))
        return RG_COLOUR_24BIT;
    return strstr(term, "256color") || *colorterm ? RG_COLOUR_256 : RG_COLOUR_NONE;
}

static bool detect_unicode(void)
{
    const char *locale = *env("LC_ALL") ? env("LC_ALL") : *env("LC_CTYPE") ? env("LC_CTYPE") : env("LANG");
    return strstr(locale, "UTF-8") || strstr(locale, "utf8") || strstr(locale, "UTF8") || strstr(locale, "utf-8");
}

/* COLORFGBG is "ink;ground" of 16 colours, where a terminal sets it: 7 and 9 .. 15 are light. */
static bool detect_light(void)
{
    const char *ground = strrchr(env("COLORFGBG"), ';');
    const int   colour = ground ? atoi(ground + 1) : 0;
    return ground && (colour == 7 || colour > 8);
}

void rg_terminal_detect(rg_terminal_options *out, bool is_terminal, int width)
{
    int columns = atoi(env("COLUMNS"));

    *out = (rg_terminal_options)RG_TERMINAL_OPTIONS_DEFAULT;
    out->colour = is_terminal ? detect_colour() : RG_COLOUR_NONE;
    out->unicode = detect_unicode();
    out->light = detect_light();
    if (width <= 0) width = columns;
    if (width > 0) out->width = width < 20 ? 20 : width > 1000 ? 1000 : width;
}

/* The nearest of the 6x6x6 cube and the 24 grays. */
static int nearest_256(const double rgb[3])
{
    static const int level[6] = { 0, 95, 135, 175, 215, 255 };
    int              index[3], gray, cube_error = 0, gray_error = 0;
    double           mean = (rgb[0] + rgb[1] + rgb[2]) / 3 * 255;

    for (int k = 0; k < 3; k++) {
        int v = (int)(rgb[k] * 255 + 0.5), best = 0;
        for (int i = 1; i < 6; i++)
            if (abs(level[i] - v) < abs(level[best] - v)) best = i;
        index[k] = best;
        cube_error += (level[best] - v) * (level[best] - v);
    }
    gray = (int)((mean - 8) / 10 + 0.5);
    gray = gray < 0 ? 0 : gray > 23 ? 23 : gray;
    for (int k = 0; k < 3; k++) {
        int d = 8 + 10 * gray - (int)(rgb[k] * 255 + 0.5);
        gray_error += d * d;
    }
    return gray_error < cube_error ? 232 + gray : 16 + 36 * index[0] + 6 * index[1] + index[2];
}

void rg_terminal__rgb(rg_buffer *b, const rg_terminal_options *o, const double rgb[3], bool ground)
{
    const int base = ground ? 48 : 38;

    if (o->colour == RG_COLOUR_NONE) return;
    if (o->colour == RG_COLOUR_256) rg_buffer_format(b, "\x1b[%d;5;%dm", base, nearest_256(rgb));
    else
        rg_buffer_format(b, "\x1b[%d;2;%d;%d;%dm", base, (int)(rgb[0] * 255 + 0.5), (int)(rgb[1] * 255 + 0.5),
                         (int)(rgb[2] * 255 + 0.5));
}

static void colour(rg_buffer *b, const rg_terminal_options *o, double value, bool ground)
{
    double rgb[3];

    rg_palette_colour(rgb, o->palette != RG_PALETTE_AUTO ? o->palette : o->light ? RG_PALETTE_BLUE
                                                                                 : RG_PALETTE_FIRE,
                      value);
    rg_terminal__rgb(b, o, rgb, ground);
}

void rg_terminal__ground(rg_buffer *b, const rg_terminal_options *o, double value)
{
    colour(b, o, value, true);
}

void rg_terminal__ink(rg_buffer *b, const rg_terminal_options *o, double value)
{
    colour(b, o, value, false);
}

void rg_terminal__dim(rg_buffer *b, const rg_terminal_options *o)
{
    if (o->colour != RG_COLOUR_NONE) rg_buffer_text(b, "\x1b[2m");
}

void rg_terminal__bold(rg_buffer *b, const rg_terminal_options *o)
{
    if (o->colour != RG_COLOUR_NONE) rg_buffer_text(b, "\x1b[1m");
}

void rg_terminal__plain(rg_buffer *b, const rg_terminal_options *o)
{
    if (o->colour != RG_COLOUR_NONE) rg_buffer_text(b, "\x1b[0m");
}
