/* terminal.c - a map as a heat map of characters.
 *
 *             ┌ the                 Columns are named by a staircase: every label is written the way it is read,
 *             │ ┌ agreement        whatever its script, and a line leads down to its column. Beyond 32 columns the
 *             │ │ ┌ on             letters are stacked; beyond three panels the matrix is joined into a picture in
 *         l' ██                     which each cell is the maximum of many.
 *     accord   ██                                                                                              */
#include "view/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

enum {
    LABEL_MOST = 24,
    TAIL_MOST = 14,
    STAIRS_MOST = 32,
    LETTERS_MOST = 12,
    PANELS_MOST = 3,
    ROLE = 10,
    FEW_ROWS = 16,
    SENTENCE_MOST = 400
};

typedef struct drawing {
    rg_buffer                 *b;
    const rg_terminal_options *o;
    const rg_record_map              *m;
    const rg_labels           *rows, *cols;
    const float               *w;    /* rows x cols */
    double                     top;  /* the weight of the strongest colour */
    double                     low;  /* of the weakest: 0, or -top         */
    size_t                     side; /* columns of the row labels */
    size_t                     cell; /* columns of a weight       */
    size_t                     room; /* lines of the window for the matrix and its letters */
    size_t                     left; /* lines for links                                    */
    bool                       stacked; /* letters of columns are stacked, which takes fewer lines */
} drawing;

static size_t most_width(const rg_labels *l, size_t most)
{
    size_t width = 0;

    for (size_t i = 0; i < l->count && width < most; i++) {
        size_t w = rg_terminal_width(l->text[i]);
        width = w > width ? w : width;
    }
    return width < most ? width : most;
}

static void put_cell(const drawing *d, double value, size_t width)
{
    static const char *const blocks[] = { " ", "·", "░", "▒", "▓", "█" };
    static const char *const ascii[] = { " ", ".", ":", "+", "#", "@" };
    static const char *const below[] = { " ", "-", "-", "=", "=", "%" }; /* 0, as other weights are above it */
    double                   v = d->top > 0 ? value / d->top : 0;
    const bool               minus = v < -0.02;
    rg_terminal__ground(d->b, d->o, v);
    v = fabs(v);
    int                      shade = v <= 0.02 ? 0 : v < 0.1 ? 1 : v < 0.3 ? 2 : v < 0.55 ? 3 : v < 0.8 ? 4 : 5;
    if (d->o->colour != RG_COLOUR_NONE) rg_buffer_repeat(d->b, " ", width);
    else if (minus) rg_buffer_repeat(d->b, below[shade], width);
    else rg_buffer_repeat(d->b, d->o->unicode ? blocks[shade] : ascii[shade], width);
}

static void end_line(const drawing *d)
{
    rg_terminal__plain(d->b, d->o);
    rg_buffer_text(d->b, "\n");
}

/* Line j names column j; the lines of the columns before it pass by on its left. */
static void put_stairs(const drawing *d, size_t first, size_t end)
{
    const char *corner = d->o->unicode ? "┌ " : ", ", *line = d->o->unicode ? "│" : "|";

    for (size_t j = first; j < end; j++) {
        size_t x = d->side + 1 + d->cell * (j - first) + 2;
        size_t room = (size_t)d->o->width > x + 1 ? (size_t)d->o->width - x : 1;
        rg_buffer_repeat(d->b, " ", d->side + 1);
        rg_terminal__dim(d->b, d->o);
        for (size_t k = first; k < j; k++) {
            rg_buffer_text(d->b, line);
            rg_buffer_repeat(d->b, " ", d->cell - 1);
        }
        rg_buffer_text(d->b, corner);
        rg_terminal__plain(d->b, d->o);
        rg_terminal__label(d->b, d->cols->text[j], room, d->o->unicode);
        rg_buffer_text(d->b, "\n");
    }
}

/* The n-th visible character of a text with its combining marks, as bytes [begin, end); false past the last. */
static bool letter(const char *text, size_t n, const char **begin, const char **end)
{
    size_t left = strlen(text), seen = 0;
    bool   found = false;

    while (left) {
        utf8proc_int32_t c;
        utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)left, &c);
        bool             mark = bytes > 0 && c >= 0x300 && utf8proc_charwidth(c) == 0;
        if (bytes <= 0) bytes = 1;
        if (!mark || !seen) {
            if (found) return true;
            if (seen++ == n) {
                *begin = text;
                found = true;
            }
        }
        text += bytes;
        left -= (size_t)bytes;
        *end = text;
    }
    return found;
}

/* Letters of the longest of columns first .. end-1, as far as they are stacked. */
static size_t letters_of(const drawing *d, size_t first, size_t end)
{
    size_t tall = 0;

    for (size_t j = first; j < end; j++)
        for (const char *a, *z; tall < LETTERS_MOST && letter(d->cols->text[j], tall, &a, &z);) tall++;
    return tall;
}

/* One line of them; words stand on the matrix: short ones start lower. */
static void put_letter_line(const drawing *d, size_t line, size_t tall, size_t first, size_t end)
{
    for (size_t j = first; j < end; j++) {
        const char *a, *z;
        size_t      width = 0, length = 0;
        char        one[64];
        while (length < tall && letter(d->cols->text[j], length, &a, &z)) length++;
        if (line + length >= tall && letter(d->cols->text[j], line + length - tall, &a, &z) &&
            (size_t)(z - a) < sizeof one) {
            memcpy(one, a, (size_t)(z - a));
            one[z - a] = 0;
            width = rg_terminal__label(d->b, one, d->cell, d->o->unicode);
        }
        rg_buffer_repeat(d->b, " ", d->cell > width ? d->cell - width : 0);
    }
}

static void put_letters(const drawing *d, size_t first, size_t end)
{
    const size_t tall = letters_of(d, first, end);

    for (size_t line = 0; line < tall; line++) {
        rg_buffer_repeat(d->b, " ", d->side + 1);
        put_letter_line(d, line, tall, first, end);
        rg_buffer_text(d->b, "\n");
    }
}

static void put_row(const drawing *d, size_t i, size_t first, size_t end)
{
    const size_t width = rg_terminal_width(d->rows->text[i]);

    rg_buffer_repeat(d->b, " ", d->side > width ? d->side - width : 0);
    rg_terminal__label(d->b, d->rows->text[i], d->side, d->o->unicode);
    rg_buffer_text(d->b, " ");
    for (size_t j = first; j < end; j++) put_cell(d, (double)d->w[i * d->m->cols + j], d->cell);
    rg_terminal__plain(d->b, d->o);
}

/* Rows that do not fit the window's height, in blocks of `each` side by side. */
static void put_folded(const drawing *d, size_t each)
{
    const size_t tall = letters_of(d, 0, d->m->cols), blocks = (d->m->rows + each - 1) / each;

    for (size_t line = 0; line < tall; line++) {
        for (size_t k = 0; k < blocks; k++) {
            rg_buffer_repeat(d->b, " ", d->side + 1);
            put_letter_line(d, line, tall, 0, d->m->cols);
            rg_buffer_text(d->b, k + 1 < blocks ? "  " : "\n");
        }
    }
    for (size_t i = 0; i < each; i++) {
        for (size_t k = 0; k < blocks && k * each + i < d->m->rows; k++) {
            if (k) rg_buffer_text(d->b, "  ");
            put_row(d, k * each + i, 0, d->m->cols);
        }
        end_line(d);
    }
}

static void put_panel(const drawing *d, size_t first, size_t end)
{
    if (end - first <= STAIRS_MOST && !d->stacked) put_stairs(d, first, end);
    else put_letters(d, first, end);
    for (size_t i = 0; i < d->m->rows; i++) {
        put_row(d, i, first, end);
        end_line(d);
    }
}

/* ------------------------------------------------------------------------------------- joined into a picture */

static double most_of(const drawing *d, size_t y, size_t x, size_t down, size_t across)
{
    double most = 0;

    for (size_t i = y * down; i < (y + 1) * down && i < d->m->rows; i++)
        for (size_t j = x * across; j < (x + 1) * across && j < d->m->cols; j++) {
            double v = (double)d->w[i * d->m->cols + j];
            most = fabs(v) > fabs(most) ? v : most;
        }
    return most;
}

static void put_overview(const drawing *d)
{
    size_t side = 6, wide = (size_t)d->o->width - side - 1, tall = d->room;
    bool   halves = d->o->colour != RG_COLOUR_NONE && d->o->unicode;
    size_t pixels = halves ? 2 * tall : tall;
    size_t across = (d->m->cols + wide - 1) / wide, down = (d->m->rows + pixels - 1) / pixels;

    /* Square pixels where a character is half as wide as tall; a few long rows are kept apart and named. */
    if (d->m->rows <= FEW_ROWS) halves = false, down = 1, side = d->side < 6 ? 6 : d->side;
    else if (halves) across = down = across > down ? across : down;
    else if (down < 2 * across) down = 2 * across;
    else across = (down + 1) / 2;
    wide = (size_t)d->o->width - side - 1;
    if (d->m->cols > across * wide) across = (d->m->cols + wide - 1) / wide;
    if (down * across > 1) {
        rg_terminal__dim(d->b, d->o);
        rg_buffer_format(d->b, "each dot is the maximum of %zu x %zu\n", down, across);
        rg_terminal__plain(d->b, d->o);
    }
    for (size_t y = 0; y * down < d->m->rows; y += halves ? 2 : 1) {
        rg_terminal__dim(d->b, d->o);
        if (down == 1 && d->m->rows <= FEW_ROWS) {
            size_t width = rg_terminal_width(d->rows->text[y]);
            rg_buffer_repeat(d->b, " ", side > width ? side - width : 0);
            rg_terminal__label(d->b, d->rows->text[y], side, d->o->unicode);
            rg_buffer_text(d->b, " ");
        } else if (y % 10 == 0) rg_buffer_format(d->b, "%*zu ", (int)side, y * down);
        else rg_buffer_repeat(d->b, " ", side + 1);
        rg_terminal__plain(d->b, d->o);
        for (size_t x = 0; x * across < d->m->cols; x++) {
            double upper = most_of(d, y, x, down, across);
            if (!halves) {
                put_cell(d, upper, 1);
                continue;
            }
            rg_terminal__ink(d->b, d->o, d->top > 0 ? upper / d->top : 0);
            rg_terminal__ground(d->b, d->o, d->top > 0 ? most_of(d, y + 1, x, down, across) / d->top : 0);
            rg_buffer_text(d->b, "▀");
        }
        end_line(d);
    }
}

/* -------------------------------------------------------------------------------------------------- strips */

/* Names of columns, as many as have room beside each other. */
static void put_axis(const drawing *d, size_t places, size_t across)
{
    const size_t room = (size_t)d->o->width - d->side - 1;
    size_t       x = 0;

    rg_buffer_repeat(d->b, " ", d->side + 1);
    rg_terminal__dim(d->b, d->o);
    for (size_t j = 0; j < places; j++) {
        const char  *text = d->cols->text[j * across];
        const size_t at = j * d->cell, width = rg_terminal_width(text);
        if ((x && at < x + 3) || at + width > room) continue;
        rg_buffer_repeat(d->b, " ", at - x);
        x = at + rg_terminal__label(d->b, text, width, d->o->unicode);
    }
    end_line(d);
}

/* Columns are strips of a picture, such as times of a recording: as many together as make one line, under an axis. */
static void put_strips(drawing *d)
{
    const size_t room = (size_t)d->o->width - d->side - 1, across = (d->m->cols + room - 1) / room,
                 places = (d->m->cols + across - 1) / across;

    d->cell = 2 * places <= room ? 2 : 1;
    put_axis(d, places, across);
    for (size_t i = 0; i < d->m->rows; i++) {
        const size_t width = rg_terminal_width(d->rows->text[i]);
        rg_buffer_repeat(d->b, " ", d->side > width ? d->side - width : 0);
        rg_terminal__label(d->b, d->rows->text[i], d->side, d->o->unicode);
        rg_buffer_text(d->b, " ");
        for (size_t j = 0; j < places; j++) put_cell(d, most_of(d, i, j, 1, across), d->cell);
        end_line(d);
    }
}

/* ---------------------------------------------------------------------------------------------------- around */

static void put_scale(const drawing *d)
{
    int room = d->o->width - (int)d->side - 10, steps = room < 4 ? 4 : room > 20 ? 20 : room;

    char low[16];

    snprintf(low, sizeof low, "%.3g", d->low);
    rg_buffer_repeat(d->b, " ", d->side > strlen(low) ? d->side - strlen(low) : 0);
    rg_buffer_format(d->b, "%s ", low);
    for (int i = 0; i <= steps; i++) put_cell(d, d->low + (d->top - d->low) * i / steps, 1);
    rg_terminal__plain(d->b, d->o);
    rg_buffer_format(d->b, " %.3g\n", d->top);
}

/* One row of weights under a text: words first .. end-1 and below each its shade, as wide as the word. */
static void put_words(const drawing *d, size_t first, size_t end)
{
    for (size_t j = first; j < end; j++) {
        rg_terminal__label(d->b, d->cols->text[j], LABEL_MOST, d->o->unicode);
        rg_buffer_text(d->b, j + 1 < end ? " " : "\n");
    }
    for (size_t j = first; j < end; j++) {
        size_t width = rg_terminal_width(d->cols->text[j]);
        put_cell(d, (double)d->w[j], width > LABEL_MOST ? LABEL_MOST : width);
        rg_terminal__plain(d->b, d->o);
        rg_buffer_text(d->b, j + 1 < end ? " " : "\n");
    }
}

static void put_sentence(const drawing *d)
{
    for (size_t first = 0, end; first < d->m->cols; first = end) {
        size_t used = 0;
        for (end = first; end < d->m->cols; end++) {
            size_t width = rg_terminal_width(d->cols->text[end]);
            used += (width > LABEL_MOST ? LABEL_MOST : width) + 1;
            if (end > first && used > (size_t)d->o->width + 1) break;
        }
        put_words(d, first, end);
    }
    rg_buffer_text(d->b, "\n");
    put_scale(d);
}

static void put_matrix(drawing *d)
{
    if (d->m->rows == 1 && d->m->cols > 1 && d->cols->kind == RG_LABEL_TOKEN && d->m->cols <= SENTENCE_MOST) {
        put_sentence(d);
        return;
    }
    size_t tail = most_width(d->cols, TAIL_MOST) + 2, width = (size_t)d->o->width, fit;

    d->side = most_width(d->rows, width / 3 < LABEL_MOST ? width / 3 : LABEL_MOST);
    d->cell = 2;
    if (rg_labels_are_strips(d->cols) && d->m->rows < d->room) {
        put_strips(d);
        rg_buffer_text(d->b, "\n");
        put_scale(d);
        return;
    }
    if (d->m->cols > STAIRS_MOST) tail = 0;
    fit = width > d->side + 1 + tail + 2 ? (width - d->side - 1 - tail) / d->cell : 1;
    const size_t panels = (d->m->cols + fit - 1) / fit, letters = letters_of(d, 0, d->m->cols);
    const size_t stairs = d->m->cols > STAIRS_MOST ? letters : d->m->cols;
    d->stacked = stairs + panels * d->m->rows > d->room && letters < stairs;
    const size_t each = d->room > letters + 1 ? d->room - letters : 1, /* rows of a block that is folded */
        blocks = (d->m->rows + each - 1) / each, wide = d->side + 3 + d->cell * d->m->cols;
    if (panels == 1 && letters + d->m->rows > d->room && each >= 4 && blocks * wide <= width + 2)
        put_folded(d, each);
    else if (d->m->cols > PANELS_MOST * fit || d->m->rows > d->room) {
        put_overview(d);
    } else {
        for (size_t first = 0; first < d->m->cols; first += fit) {
            if (first) rg_buffer_text(d->b, "\n");
            put_panel(d, first, first + fit < d->m->cols ? first + fit : d->m->cols);
        }
    }
    rg_buffer_text(d->b, "\n");
    put_scale(d);
}

/* The strongest links in as many columns as fit:   le → the  0.93 */
static rg_status put_links(const drawing *d)
{
    size_t   most = d->o->links > 0 ? (size_t)d->o->links : 0, count, left, right, each, columns, lines;
    rg_link *links = rg_alloc_array(most + 1, sizeof *links);

    if (!links) return RG_ENOMEM;
    count = rg_map_strongest(links, d->m, 1e-6f, most);
    left = right = 1;
    for (size_t i = 0; i < count; i++) {
        size_t a = rg_terminal_width(d->rows->text[links[i].row]), z = rg_terminal_width(d->cols->text[links[i].col]);
        left = a > left ? a : left;
        right = z > right ? z : right;
    }
    left = left > LABEL_MOST ? LABEL_MOST : left;
    right = right > LABEL_MOST ? LABEL_MOST : right;
    each = left + right + 4 + 6 + 3;
    columns = (size_t)d->o->width / each > 1 ? (size_t)d->o->width / each : 1;
    if (d->left < count && columns * d->left < count) count = columns * d->left;
    lines = (count + columns - 1) / columns;
    if (count) rg_buffer_text(d->b, "\n");
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = line; i < count; i += lines) {
            const char *a = d->rows->text[links[i].row], *z = d->cols->text[links[i].col];
            size_t      w = rg_terminal_width(a);
            rg_buffer_repeat(d->b, " ", left > w ? left - w : 0);
            rg_terminal__label(d->b, a, left, d->o->unicode);
            rg_terminal__ink(d->b, d->o, 0.35 + 0.6 * (d->top > 0 ? (double)links[i].weight / d->top : 0));
            rg_buffer_text(d->b, d->o->unicode ? " → " : " -> ");
            rg_terminal__plain(d->b, d->o);
            w = rg_terminal__label(d->b, z, right, d->o->unicode);
            rg_buffer_repeat(d->b, " ", right - w);
            rg_terminal__dim(d->b, d->o);
            rg_buffer_format(d->b, " %5.2f", (double)links[i].weight);
            rg_terminal__plain(d->b, d->o);
            if (i + lines < count) rg_buffer_text(d->b, "   ");
        }
        rg_buffer_text(d->b, "\n");
    }
    rg_free(links);
    return RG_OK;
}

/* The line under a map, folded at blanks. */
static rg_status put_faithfulness(const drawing *d)
{
    char *text = rg_faithfulness_text(&d->m->faith);

    if (!text) return RG_ENOMEM;
    if (*text) rg_buffer_text(d->b, "\n");
    rg_terminal__dim(d->b, d->o);
    for (char *at = text; *at;) {
        size_t n = strlen(at);
        if (n > (size_t)d->o->width)
            for (n = (size_t)d->o->width; n > 1 && at[n] != ' ';) n--;
        rg_buffer_format(d->b, "%.*s\n", (int)n, at);
        at += n + (at[n] == ' ');
    }
    rg_terminal__plain(d->b, d->o);
    rg_free(text);
    return RG_OK;
}

static void put_heading(const drawing *d, const rg_record *r)
{
    const char *dot = d->o->unicode ? " · " : ", ", *role;
    size_t      width;

    if (d->o->bare) rg_buffer_text(d->b, "\n");
    if (*r->title && !d->o->bare) {
        rg_terminal__bold(d->b, d->o);
        rg_terminal__label(d->b, r->title, (size_t)d->o->width, d->o->unicode);
        end_line(d);
    }
    for (size_t i = 0; i < r->texts && !d->o->bare; i++) {
        rg_terminal__dim(d->b, d->o);
        role = r->text[i].chosen ? "chosen" : r->text[i].role;
        width = rg_terminal_width(role);
        rg_buffer_repeat(d->b, " ", width < ROLE ? ROLE - width : 0);
        rg_terminal__label(d->b, role, ROLE, d->o->unicode);
        rg_buffer_text(d->b, "  ");
        rg_terminal__plain(d->b, d->o);
        rg_terminal__label(d->b, r->text[i].text, (size_t)d->o->width - ROLE - 2, d->o->unicode);
        rg_buffer_text(d->b, "\n");
    }
    rg_terminal__dim(d->b, d->o);
    rg_terminal__label(d->b, d->m->name, (size_t)d->o->width, d->o->unicode);
    if (d->m->layer >= 0) rg_buffer_format(d->b, "%slayer %d", dot, d->m->layer);
    if (d->m->head >= 0) rg_buffer_format(d->b, "%shead %d", dot, d->m->head);
    if (d->m->step >= 0) rg_buffer_format(d->b, "%sstep %d", dot, d->m->step);
    rg_buffer_format(d->b, "%s%zu x %zu", dot, d->m->rows, d->m->cols);
    rg_terminal__plain(d->b, d->o);
    rg_buffer_text(d->b, "\n\n");
}

static size_t lines_of(const rg_buffer *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->used; i++) n += b->data[i] == '\n';
    return n;
}

/* Weights over parts of a picture, in colours that can show it. */
static bool is_lit(const drawing *d)
{
    return d->o->colour != RG_COLOUR_NONE && d->o->unicode && d->cols->picture && d->cols->boxes && d->low >= 0 &&
           !rg_labels_are_strips(d->cols);
}

rg_status rg_terminal_draw(char **out, const rg_record *r, size_t map, const rg_terminal_options *options)
{
    rg_terminal_options o = *options;
    rg_buffer           b = RG_BUFFER_EMPTY;
    rg_status           status = RG_OK;
    float              *w = NULL;
    drawing             d = { .b = &b, .o = &o };

    if (map >= r->maps) return rg_fail(RG_EINVAL, "map %zu of a record with %zu", map, r->maps);
    o.width = o.width < 20 ? 20 : o.width;
    o.height = o.height < 1 ? 1 : o.height;
    d.m = &r->map[map];
    d.rows = &r->labels[d.m->row_labels];
    d.cols = &r->labels[d.m->col_labels];
    for (size_t i = 0; i < (d.m->from ? d.m->edges : d.m->rows * d.m->cols); i++)
        if (fabs((double)d.m->weights[i]) > d.top) d.top = fabs((double)d.m->weights[i]);
    for (size_t i = 0; i < (d.m->from ? d.m->edges : d.m->rows * d.m->cols); i++)
        if ((double)d.m->weights[i] < -0.02 * d.top) d.low = -d.top;
    put_heading(&d, r);
    const size_t around = (o.bare ? 1 : r->texts + (*r->title != 0)) + 2 + 2 + (d.m->faith.measured ? 3 : 0);
    const bool   low = o.height < 60; /* a window: the matrix first, links where lines are left */
    d.room = !low ? (size_t)o.height : (size_t)o.height > around + 6 ? (size_t)o.height - around - 1 : 5;
    /* A graph of many nodes is mostly empty: its links say more than its matrix. */
    if (!d.m->from || d.m->rows * d.m->cols <= 64 * 64) {
        if ((status = rg_map_dense(&w, d.m, RG_RECORD_MAX_WEIGHTS)) != RG_OK) goto done;
        d.w = w;
        if (rg_map_is_sheet(r, d.m)) {
            status = rg_terminal__sheet(&b, d.cols, d.room, &o);
            goto done;
        }
        if (d.m->rows && d.m->cols && is_lit(&d)) status = rg_terminal__lit(&b, d.rows, d.cols, w, d.room, &o);
        else if (d.m->rows && d.m->cols) put_matrix(&d);
        if (status != RG_OK) goto done;
    }
    d.left = SIZE_MAX;
    if (low) {
        const size_t used = lines_of(&b) + (d.m->faith.measured ? 3 : 0) + 2;
        d.left = (size_t)o.height > used ? (size_t)o.height - used : 0;
    }
    status = put_links(&d);
    if (status == RG_OK) status = put_faithfulness(&d);
done:
    rg_free(w);
    if (status == RG_OK) return rg_buffer_take(out, NULL, &b);
    rg_buffer_fini(&b);
    return status;
}
