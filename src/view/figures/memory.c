/* memory.c - a machine at work (Graves, Wayne, Danihelka 2014, figure 6): time across; on the left what came in,
 * what was added to memory and where the writing heads stood, on the right what came out, what was read and where
 * the reading heads stood. Only slots that a head used are shown. */
#include <math.h>
#include <string.h>

#include "canvas.h"

#define MOST_CELLS ((size_t)1 << 24)
#define USED       0.05f /* of a head's weight makes a slot worth showing */
#define GAP 74.0         /* for the scales of the left column, and the numbers of slots */

typedef struct {
    size_t low, count; /* shown: low and following, around the ring */
} range;

typedef struct {
    double cell, row, x[2], y[2]; /* width of a step, height of a row; where the two columns stand */
    double wide[2];               /* of their scales                                               */
    size_t steps, answer;         /* the first step that is asked for an answer                    */
    range  slots;
} sheet;

static bool is_head(const canvas *c, const rg_record_map *m)
{
    return c->record->labels[m->col_labels].kind == RG_LABEL_SLOT;
}

static const rg_record_map *find(const rg_record *r, const char *name, size_t *from)
{
    for (; *from < r->maps; ++*from)
        if (!strcmp(r->map[*from].name, name)) return &r->map[(*from)++];
    return NULL;
}

static bool slot_used(const rg_record_map *m, size_t slot)
{
    for (size_t i = 0; i < m->rows; i++)
        if (rg_map_weight(m, i, slot) >= USED) return true;
    return false;
}

static bool any_used(const canvas *c, size_t slot, size_t slots)
{
    for (size_t i = 0; i < c->record->maps; i++)
        if (is_head(c, &c->record->map[i]) && c->record->map[i].cols == slots && slot_used(&c->record->map[i], slot))
            return true;
    return false;
}

/* Memory is a ring: all but the longest run of slots that no head used, and one more at each end. */
static rg_status used_slots(range *out, const canvas *c, size_t slots)
{
    bool  *used = rg_alloc_array(slots, sizeof *used);
    size_t begin = 0, longest = 0;
    if (!used) return RG_ENOMEM;
    for (size_t s = 0; s < slots; s++) used[s] = any_used(c, s, slots);
    for (size_t s = 0; s < slots; s++) {
        size_t n = 0;
        while (n < slots && !used[(s + n) % slots]) n++;
        if (n > longest) longest = n, begin = s;
    }
    rg_free(used);
    *out = (range){ 0, slots };
    if (longest > 2 && longest < slots) *out = (range){ (begin + longest - 1) % slots, slots - longest + 2 };
    return RG_OK;
}

/* Steps across, columns `shown` of the map down. What is added and read may be negative: the middle of the colours
 * is 0 then. Inputs are drawn by their size. */
static rg_status draw_panel(canvas *c, sheet *s, int side, const char *name, const rg_record_map *m, range shown,
                            double row)
{
    const size_t rows = shown.count;
    const bool   two_ways = !strcmp(m->name, "adds") || !strcmp(m->name, "reads");
    float       *weights = NULL, *across;
    float        least = 0, most = 1e-9f;
    RG_TRY(rg_map_dense(&weights, m, MOST_CELLS));
    if (!(across = rg_alloc_array(rows * m->rows, sizeof *across))) {
        rg_free(weights);
        return RG_ENOMEM;
    }
    for (size_t i = 0; i < rows * m->rows; i++) {
        across[i] = weights[i % m->rows * m->cols + (shown.low + i / m->rows) % m->cols];
        least = fminf(least, across[i]);
        most = fmaxf(most, fabsf(across[i]));
    }
    const double low = least < 0 && two_ways ? -(double)most : 0;
    for (size_t i = 0; least < 0 && !two_ways && i < rows * m->rows; i++) across[i] = fabsf(across[i]);
    canvas_text(c, s->x[side], s->y[side], LEFT, name, 9.5, c->ink, 0);
    s->y[side] += 9;
    const double top = s->y[side], h = (double)rows * row;
    canvas_cells(c, s->x[side], top, s->cell, row, across, rows, m->rows, (double)most);
    s->wide[side] = fmax(s->wide[side], canvas_scale(c, s->x[side] + (double)m->rows * s->cell + 6, top, fmax(24, fmin(h, 60)), low, (double)most) + 6);
    if (is_head(c, m) && shown.low + rows > m->cols) { /* behind the last slot the first comes again */
        const double y = top + (double)(m->cols - shown.low) * row, x = s->x[side], dx = (double)m->rows * s->cell;
        canvas_colour(c, c->accent, 1);
        cairo_set_line_width(c->cr, 0.9);
        for (double u = 0; u + 6 <= dx; u += 6) {
            cairo_move_to(c->cr, x + u, y);
            cairo_line_to(c->cr, x + u + 1.5, y - 1.6);
            cairo_line_to(c->cr, x + u + 4.5, y + 1.6);
            cairo_line_to(c->cr, x + u + 6, y);
        }
        cairo_stroke(c->cr);
    }
    if (is_head(c, m)) {
        const rg_labels *l = &c->record->labels[m->col_labels];
        const size_t     every = row * 5 >= 9 ? 5 : row * 10 >= 9 ? 10 : 50;
        for (size_t i = 0; i < rows; i++)
            if ((shown.low + i) % m->cols % every == 0)
                canvas_text(c, s->x[side] - 4, top + ((double)i + 0.5) * row, RIGHT, l->text[(shown.low + i) % m->cols],
                            7.5, c->dim, 0);
    }
    if (s->answer > 0 && s->answer < s->steps) { /* where the question ends */
        const double dashes[] = { 2, 2 }, x = s->x[side] + (double)s->answer * s->cell;
        canvas_colour(c, c->accent, 0.9);
        cairo_set_line_width(c->cr, 0.8);
        cairo_set_dash(c->cr, dashes, 2, 0);
        cairo_move_to(c->cr, x, top);
        cairo_line_to(c->cr, x, top + h);
        cairo_stroke(c->cr);
        cairo_set_dash(c->cr, NULL, 0, 0);
    }
    s->y[side] += fmax(h, 26) + 14;
    rg_free(across);
    rg_free(weights);
    return RG_OK;
}

/* Every map of that name, one under the other. */
static rg_status draw_all(canvas *c, sheet *s, int side, const char *name, const char *title, double row)
{
    size_t               from = 0, heads = 0;
    char                 text[64];
    const rg_record_map *m;
    while (find(c->record, name, &from)) heads++;
    from = 0;
    while ((m = find(c->record, name, &from))) {
        snprintf(text, sizeof text, heads > 1 ? "%s, head %d" : "%s", title, m->head);
        if (m->rows == s->steps && m->cols)
            RG_TRY(draw_panel(c, s, side, text, m, is_head(c, m) ? s->slots : (range){ 0, m->cols }, row));
    }
    return RG_OK;
}

static void draw_times(canvas *c, const sheet *s, int side)
{
    const size_t every = s->cell * 5 >= 16 ? 5 : s->cell * 10 >= 16 ? 10 : 50;
    char         text[24];
    for (size_t i = 0; i < s->steps; i += every) {
        snprintf(text, sizeof text, "%zu", i);
        canvas_text(c, s->x[side] + ((double)i + 0.5) * s->cell, s->y[side] - 7, CENTRE, text, 7.5, c->dim, 0);
    }
    canvas_text(c, s->x[side] + (double)s->steps * s->cell / 2, s->y[side] + 4, CENTRE, "step", 8.5, c->dim, 0);
}

/* The first row of the answers that is not all zero. */
static size_t first_answer(const rg_record *r)
{
    size_t               from = 0;
    const rg_record_map *m = find(r, "output", &from);
    for (size_t i = 0; m && i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            if (rg_map_weight(m, i, j) != 0) return i;
    return 0;
}

rg_status draw_memory(canvas *c, const rg_record_map *m)
{
    sheet s = { .steps = m->rows, .answer = first_answer(c->record) };
    if (!is_head(c, m)) return rg_fail(RG_EINVAL, "map %s is not of a memory's slots", m->name);
    s.cell = fmin(9, fmax(1.5, 330.0 / (double)m->rows));
    s.row = fmin(9, fmax(3, s.cell));
    RG_TRY(used_slots(&s.slots, c, m->cols));
    s.y[0] = s.y[1] =
        canvas_heading(c, c->record->title, "time across; a wavy line is where the memory's slots begin again") + 8;
    s.x[0] = MARGIN + 18;
    s.x[1] = s.x[0] + (double)s.steps * s.cell + GAP;
    const double slot = (double)s.slots.count * s.row > 400 ? 400 / (double)s.slots.count : s.row;
    RG_TRY(draw_all(c, &s, 0, "input", "Inputs", s.row));
    RG_TRY(draw_all(c, &s, 1, "output", "Outputs", s.row));
    s.y[0] = s.y[1] = fmax(s.y[0], s.y[1]);
    RG_TRY(draw_all(c, &s, 0, "adds", "Added to memory", fmin(s.row, 5)));
    RG_TRY(draw_all(c, &s, 1, "reads", "Read from memory", fmin(s.row, 5)));
    s.y[0] = s.y[1] = fmax(s.y[0], s.y[1]);
    RG_TRY(draw_all(c, &s, 0, "write", "Write weights, slot by slot", slot));
    RG_TRY(draw_all(c, &s, 1, "read", "Read weights, slot by slot", slot));
    draw_times(c, &s, 0);
    draw_times(c, &s, 1);
    c->width = s.x[1] + (double)s.steps * s.cell + s.wide[1] + MARGIN;
    c->height = fmax(s.y[0], s.y[1]) + 8 + MARGIN;
    return RG_OK;
}
