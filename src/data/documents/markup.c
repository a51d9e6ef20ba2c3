/* markup.c - a line's tags, put back into its translation.
 *
 * The translation is cut into units: words, runs of punctuation, single signs of scripts without blanks. For a mark
 * over the source bytes [b, e) unit u has the mass
 *
 *     m[u] = attention of u to [b, e)  /  attention of u to the line
 *
 * and the mark gets the run of units, within those of the mark around it and without those of its sisters, for which
 * the sum of m[u] - max m / 2 is largest. So every element stands once, nested as it was, and around something where
 * anything is left. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>

enum { NEAR = 8 }; /* subwords beside a point that are asked where it goes */
#define UNSURE 0.2 /* mass below which words are not taken for what a mark encloses */

typedef struct {
    const rg_document_part  *line;
    const char     *text;
    const rg_links *links;
    size_t          units;
    rg_range       *unit;  /* bytes of the translation */
    int            *owner; /* the innermost mark around each unit, or -1 */
    double         *mass;
    rg_range       *place; /* units of each mark */
    size_t         *order; /* marks, outer ones first */
    unsigned       *depth;
    bool           *eaten;   /* a mark that stands for the blank behind it was just written */
    bool           *dropped; /* units that are written elsewhere; before, bytes at which units begin */
} placing;

/* ---------------------------------------------------------------------------------------------------------- units */

typedef enum { BLANK, PUNCTUATION, WORD, SIGN } class_of_character;

/* Signs: from CJK radicals to Yi, kana and ideographs among them; compatibility forms; and ideographs of the other
 * planes; and Thai. */
static class_of_character class_at(const char *text, size_t *bytes)
{
    const unsigned char *c = (const unsigned char *)text;
    *bytes = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < *bytes; i++)
        if (!c[i]) *bytes = i;
    if (c[0] == ' ' || c[0] == '\t' || (c[0] == 0xC2 && c[1] == 0xA0)) return BLANK;
    if (c[0] < 0x80) return isalnum(c[0]) ? WORD : PUNCTUATION;
    if (c[0] == 0xC2 && (c[1] == 0xAB || c[1] == 0xBB || c[1] == 0xBF || c[1] == 0xA1))
        return PUNCTUATION;                               /* « » ¿ ¡ */
    if (c[0] == 0xE2 && c[1] == 0x80) return PUNCTUATION; /* dashes, quotes, … */
    if (c[0] == 0xE3 && c[1] == 0x80) return PUNCTUATION; /* 、 。 「 」 */
    if (c[0] == 0xE0 && (c[1] == 0xB8 || c[1] == 0xB9)) return SIGN;
    if ((c[0] == 0xE2 && c[1] >= 0xBA) || (c[0] >= 0xE3 && c[0] <= 0xE9) || c[0] == 0xF0) return SIGN;
    return WORD;
}

/* What is kept and stands in the translation letter by letter begins and ends units: "{name}" of "({name})". */
static void find_edges(bool *edge, const placing *p)
{
    for (size_t i = 0; i < p->line->marks; i++) {
        const rg_mark *m = &p->line->mark[i];
        const size_t   n = m->end - m->begin;
        if (m->kind != RG_MARK_KEEP || !n) continue;
        const char first = p->line->text[m->begin];
        for (const char *at = p->text; (at = strchr(at, first)); at++)
            if (strncmp(at, p->line->text + m->begin, n) == 0) edge[at - p->text] = edge[(size_t)(at - p->text) + n] = true;
    }
}

static void cut_units(placing *p, const bool *edge)
{
    class_of_character last = BLANK;
    for (size_t at = 0, n; p->text[at]; at += n) {
        const class_of_character c = class_at(p->text + at, &n);
        for (size_t i = 1; i < n; i++)
            if (edge[at + i]) n = i; /* never inside of a character, unless the text is no UTF-8 */
        const bool alone = strchr("(){}[]<>%$", p->text[at]) || (at && strchr("(){}[]<>%$", p->text[at - 1]));
        if (c != BLANK && (c != last || c == SIGN || alone || edge[at])) p->unit[p->units++] = (rg_range){ at, at };
        if (c != BLANK) p->unit[p->units - 1].end = at + n;
        last = c;
    }
}

/* The columns of the source subwords that lie in [begin, end). */
static rg_range columns(const rg_links *l, size_t begin, size_t end)
{
    rg_range c = { 0, 0 };
    while (c.begin < l->sources && l->source[c.begin] < (double)begin) c.begin++;
    for (c.end = c.begin; c.end < l->sources && l->source[c.end] < (double)end;) c.end++;
    return c;
}

/* m[u]; the largest is returned. Subwords and units come in order: each subword is looked at once or twice. */
static double weigh(placing *p, rg_range column)
{
    const rg_links *l = p->links;
    double          largest = 0;
    for (size_t u = 0, first = 0; u < p->units; u++) {
        double mine = 0, all = 0;
        while (first < l->targets && l->target[first].end <= p->unit[u].begin) first++;
        for (size_t k = first; k < l->targets && l->target[k].begin < p->unit[u].end; k++) {
            const double *sum = l->sum + k * (l->sources + 1);
            mine += sum[column.end] - sum[column.begin];
            all += sum[l->sources];
        }
        p->mass[u] = all > 0 ? mine / all : 0;
        if (p->mass[u] > largest) largest = p->mass[u];
    }
    return largest;
}

/* ---------------------------------------------------------------------------------------------------------- places */

/* The unit in `room` that looks most at the first (or last) of the columns that is looked at; room.end: none does. */
static size_t best_unit(placing *p, rg_range column, rg_range room, bool last)
{
    const size_t all = column.end - column.begin, n = all < NEAR ? all : NEAR;
    for (size_t j = 0; j < n; j++) {
        const size_t at = last ? column.end - 1 - j : column.begin + j;
        size_t       best = room.begin;
        if (weigh(p, (rg_range){ at, at + 1 }) == 0) continue;
        for (size_t u = room.begin; u < room.end; u++)
            if (p->mass[u] > p->mass[best]) best = u;
        return best;
    }
    return room.end;
}

/* Before which unit a point of the source goes: behind the word it stood behind, or before the one it stood before. */
static size_t point_of(placing *p, const rg_mark *m, rg_range room)
{
    const rg_mark *around = m->parent < 0 ? NULL : &p->line->mark[m->parent];
    if (m->begin <= (around ? around->begin : 0) || room.begin == room.end) return room.begin;
    if (m->begin >= (around ? around->end : strlen(p->line->text))) return room.end;
    const bool   left = p->line->text[m->begin] == ' ';
    const size_t unit =
        best_unit(p, left ? columns(p->links, 0, m->begin) : columns(p->links, m->begin, (size_t)-1), room, left);
    return left && unit < room.end ? unit + 1 : unit;
}

/* The best run of free units. A tag without its partner encloses what stands to that end of the line. */
static rg_range run_of(const placing *p, const rg_mark *m, rg_range room, double floor)
{
    rg_range best = { room.end, room.end };
    double   most = 0, sum = 0;
    bool     any = false;
    size_t   from = room.begin;
    for (size_t u = room.begin; u < room.end; u++) {
        if (p->owner[u] != m->parent) {
            if (m->kind == RG_MARK_CLOSE) break;
            from = u + 1;
            sum = 0;
            if (m->kind == RG_MARK_OPEN) any = false;
            continue;
        }
        if (m->kind == RG_MARK_ELEMENT || m->kind == RG_MARK_KEEP) {
            if (sum < 0) sum = 0, from = u;
        }
        sum += p->mass[u] - floor;
        if (m->kind == RG_MARK_OPEN || (any && sum <= most)) continue;
        best = (rg_range){ from, u + 1 };
        most = sum;
        any = true;
    }
    if (m->kind != RG_MARK_OPEN) return best;
    sum = most = 0;
    for (size_t u = room.end; u-- > from;) {
        sum += p->mass[u] - floor;
        if (best.begin == room.end || sum > most) best.begin = u, most = sum;
    }
    return best;
}

/* A sentence's point is not part of its last word, even where one subword holds both. */
static rg_range trim(const placing *p, const rg_mark *m, rg_range r)
{
    const char *source = p->line->text;
    size_t      last = m->end - 1, bytes;
    while (last > m->begin && ((unsigned char)source[last] & 0xC0) == 0x80) last--;
    if (class_at(source + last, &bytes) != PUNCTUATION)
        while (r.end > r.begin + 1 && class_at(p->text + p->unit[r.end - 1].begin, &bytes) == PUNCTUATION) r.end--;
    if (class_at(source + m->begin, &bytes) != PUNCTUATION)
        while (r.end > r.begin + 1 && class_at(p->text + p->unit[r.begin].begin, &bytes) == PUNCTUATION) r.begin++;
    return r;
}

/* All of what is around it: no attention is needed to see that. */
static bool covers(const placing *p, const rg_mark *m)
{
    const rg_mark *around = m->parent < 0 ? NULL : &p->line->mark[m->parent];
    return m->begin <= (around ? around->begin : 0) && m->end >= (around ? around->end : strlen(p->line->text));
}

/* The units that are a copy of [m->begin, m->end) of the source and begin with unit u; 0: they are none. */
static size_t copy_at(const placing *p, const rg_mark *m, size_t u, size_t end)
{
    const size_t at = p->unit[u].begin, n = m->end - m->begin;
    size_t       last = u;
    if (strncmp(p->text + at, p->line->text + m->begin, n) != 0) return 0;
    while (last < end && p->owner[last] == p->owner[u] && p->unit[last].end < at + n) last++;
    return last < end && p->owner[last] == p->owner[u] && p->unit[last].end == at + n ? last + 1 - u : 0;
}

/* What is kept and stands in the translation letter by letter needs no attention: the copy nearest to its place. */
static bool find_copy(const placing *p, const rg_mark *m, rg_range room, rg_range *out)
{
    const double ideal = (double)m->begin * (double)strlen(p->text) / (double)(p->line->bytes + 1);
    double       nearest = -1;
    for (size_t u = room.begin; u < room.end; u++) {
        const size_t units = p->owner[u] == m->parent && !p->dropped[u] ? copy_at(p, m, u, room.end) : 0;
        if (!units) continue;
        const double at = (double)p->unit[u].begin, far = at > ideal ? at - ideal : ideal - at;
        if (nearest >= 0 && far >= nearest) continue;
        nearest = far;
        *out = (rg_range){ u, u + units };
    }
    return nearest >= 0;
}

/* A copy outside of what is around the mark: the mark is written where it belongs, and the copy is not. */
static void drop_copy(placing *p, const rg_mark *m)
{
    for (size_t u = 0; u < p->units; u++) {
        const bool   kept = p->owner[u] >= 0 && p->line->mark[p->owner[u]].kind == RG_MARK_KEEP;
        const size_t units = kept || p->dropped[u] ? 0 : copy_at(p, m, u, p->units);
        for (size_t k = 0; k < units; k++) p->dropped[u + k] = true;
        if (units) return;
    }
}

static void place(placing *p, size_t i)
{
    const rg_mark *m = &p->line->mark[i];
    const rg_range room = m->parent < 0 ? (rg_range){ 0, p->units } : p->place[m->parent];
    if (m->kind == RG_MARK_POINT || m->begin == m->end) {
        const size_t at = m->kind == RG_MARK_OPEN    ? room.end
                          : m->kind == RG_MARK_CLOSE ? room.begin
                                                     : point_of(p, m, room);
        p->place[i] = (rg_range){ at, at };
        return;
    }
    if (m->kind == RG_MARK_KEEP) {
        const bool copied = find_copy(p, m, room, &p->place[i]);
        for (size_t u = p->place[i].begin; copied && u < p->place[i].end; u++) p->owner[u] = (int)i;
        if (copied) return;
        drop_copy(p, m);
    }
    const bool   whole = covers(p, m);
    const double largest = weigh(p, columns(p->links, m->begin, m->end));
    p->place[i] = run_of(p, m, room, whole ? -1 : largest / 2);
    if (m->kind == RG_MARK_KEEP && largest < UNSURE) { /* nobody knows which words stand for it: none is replaced */
        p->place[i].end = p->place[i].begin;
        return;
    }
    if (!whole && (m->kind == RG_MARK_ELEMENT || m->kind == RG_MARK_KEEP)) p->place[i] = trim(p, m, p->place[i]);
    for (size_t u = p->place[i].begin; u < p->place[i].end; u++) p->owner[u] = (int)i;
}

/* Nothing may stand inside what is kept: it goes behind it. */
static void clear_keeps(placing *p)
{
    for (size_t k = 0; k < p->line->marks; k++) {
        if (p->line->mark[k].kind != RG_MARK_KEEP) continue;
        for (size_t i = 0; i < p->line->marks; i++)
            if (i != k && p->place[i].begin == p->place[i].end && p->place[i].begin > p->place[k].begin &&
                p->place[i].begin < p->place[k].end)
                p->place[i] = (rg_range){ p->place[k].end, p->place[k].end };
    }
}

static rg_status make(placing *p)
{
    const size_t   marks = p->line->marks, bytes = strlen(p->text);
    const rg_mark *mark = p->line->mark;
    p->unit = rg_alloc_array(bytes + 1, sizeof *p->unit);
    p->owner = rg_alloc_array(bytes + 1, sizeof *p->owner);
    p->mass = rg_alloc_array(bytes + 1, sizeof *p->mass);
    p->place = rg_alloc_array(marks + 1, sizeof *p->place);
    p->order = rg_alloc_array(marks + 1, sizeof *p->order);
    p->depth = rg_alloc_zero((marks + 1) * sizeof *p->depth);
    if (!p->unit || !p->owner || !p->mass || !p->place || !p->order || !p->depth) return RG_ENOMEM;
    if (!(p->dropped = rg_alloc_zero(bytes + 1))) return RG_ENOMEM;
    find_edges(p->dropped, p);
    cut_units(p, p->dropped);
    memset(p->dropped, 0, bytes + 1);
    for (size_t u = 0; u < p->units; u++) p->owner[u] = -1;
    unsigned deepest = 0;
    size_t   n = 0;
    for (size_t i = 0; i < marks; i++) {
        for (int at = mark[i].parent; at >= 0; at = mark[at].parent) p->depth[i]++;
        if (p->depth[i] > deepest) deepest = p->depth[i];
    }
    for (unsigned d = 0; d <= deepest; d++)
        for (size_t i = 0; i < marks; i++)
            if (p->depth[i] == d) p->order[n++] = i;
    for (size_t i = 0; i < marks; i++) place(p, p->order[i]);
    clear_keeps(p);
    return RG_OK;
}

/* -------------------------------------------------------------------------------------------------------- writing */

static bool is_empty(const placing *p, size_t i) { return p->place[i].begin == p->place[i].end; }

/* A mark around nothing, with those inside it. Marks are nested at most twice 64 deep (cutter.c). */
static rg_status write_empty(rg_text *out, const placing *p, size_t i)
{
    const rg_mark *m = &p->line->mark[i];
    if (m->kind != RG_MARK_CLOSE) RG_TRY(rg_text_add_string(out, m->open));
    for (size_t k = 0; k < p->line->marks; k++)
        if (p->line->mark[k].parent == (int)i) RG_TRY(write_empty(out, p, k));
    if (m->kind == RG_MARK_CLOSE) RG_TRY(rg_text_add_string(out, m->open));
    if (m->close) RG_TRY(rg_text_add_string(out, m->close));
    if (m->instead) *p->eaten = true;
    return m->spaced ? rg_text_add_string(out, " ") : RG_OK;
}

/* A mark around nothing at u: does it stand before the blank there, with the word before it? Behind that word stood
 * a blank in the source. */
static bool stands_left(const placing *p, size_t i, size_t u)
{
    const rg_mark *m = &p->line->mark[i];
    if (u == p->units || (m->parent >= 0 && p->place[m->parent].end == u)) return true;
    return u > 0 && p->line->text[m->begin] == ' ' && !(m->parent >= 0 && p->place[m->parent].begin == u);
}

/* It is written with the mark around nothing that it is in. */
static bool is_inside(const placing *p, size_t i)
{
    const int parent = p->line->mark[i].parent;
    return parent >= 0 && is_empty(p, (size_t)parent);
}

static rg_status write_ends(rg_text *out, const placing *p, size_t u)
{
    for (size_t n = p->line->marks; n-- > 0;) {
        const size_t   i = p->order[n];
        const rg_mark *m = &p->line->mark[i];
        if (p->place[i].end != u) continue;
        if (is_empty(p, i)) continue;
        for (size_t k = 0; k < p->line->marks; k++) /* what stands at its very end */
            if (p->line->mark[k].parent == (int)i && is_empty(p, k) && p->place[k].end == u)
                RG_TRY(write_empty(out, p, k));
        if (m->kind == RG_MARK_ELEMENT) RG_TRY(rg_text_add_string(out, m->close));
        if (m->kind == RG_MARK_CLOSE) RG_TRY(rg_text_add_string(out, m->open));
    }
    for (size_t i = 0; i < p->line->marks; i++) {
        const int parent = p->line->mark[i].parent;
        if (!is_empty(p, i) || p->place[i].end != u || is_inside(p, i) || (parent >= 0 && p->place[parent].end == u))
            continue;
        if (stands_left(p, i, u)) RG_TRY(write_empty(out, p, i));
    }
    return RG_OK;
}

static rg_status write_begins(rg_text *out, const placing *p, size_t u)
{
    for (size_t n = 0; n < p->line->marks; n++) {
        const size_t   i = p->order[n];
        const rg_mark *m = &p->line->mark[i];
        if (p->place[i].begin != u) continue;
        if (is_empty(p, i)) {
            if (!is_inside(p, i) && !stands_left(p, i, u)) RG_TRY(write_empty(out, p, i));
        } else if (m->kind != RG_MARK_CLOSE) {
            RG_TRY(rg_text_add_string(out, m->open)); /* of a keep: the whole element */
        }
    }
    return RG_OK;
}

static rg_status write_all(rg_text *out, const placing *p)
{
    size_t written = 0; /* bytes of the translation */
    for (size_t u = 0; u <= p->units; u++) {
        RG_TRY(write_ends(out, p, u));
        if (u == p->units) break;
        if (p->dropped[u]) { /* with the blank before it */
            RG_TRY(write_begins(out, p, u));
            written = p->unit[u].end;
            continue;
        }
        if (*p->eaten && written < p->unit[u].begin && p->text[written] == ' ') written++;
        *p->eaten = false;
        RG_TRY(p->line->escape(out, p->text + written, p->unit[u].begin - written));
        RG_TRY(write_begins(out, p, u));
        *p->eaten = false;
        written = p->unit[u].begin;
        const int owner = p->owner[u];
        if (owner >= 0 && p->line->mark[owner].kind == RG_MARK_KEEP) {
            u = p->place[owner].end - 1;
            written = p->unit[u].end;
            continue;
        }
        RG_TRY(p->line->escape(out, p->text + written, p->unit[u].end - written));
        written = p->unit[u].end;
    }
    return p->line->escape(out, p->text + written, strlen(p->text + written));
}

rg_status rg_markup_write(rg_text *out, const rg_document_part *line, const char *translation, const rg_links *links)
{
    bool      eaten = false;
    placing   p = { .line = line, .text = translation, .links = links, .eaten = &eaten };
    rg_status status = make(&p);
    if (status == RG_OK) status = write_all(out, &p);
    rg_free(p.unit);
    rg_free(p.owner);
    rg_free(p.mass);
    rg_free(p.place);
    rg_free(p.order);
    rg_free(p.depth);
    rg_free(p.dropped);
    return status;
}
