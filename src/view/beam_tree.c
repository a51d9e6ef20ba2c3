/* beam_tree.c - a beam search as a tree: what each step kept, dropped and finished, as a record of kind "beam".
 *
 *     labels "hypotheses"   "WORD · LOG P", one per candidate, the root first, with its place: step across, a row down
 *     map    "beam"         every edge; its weight is p of the word
 *     maps   "kept" "dropped" "finished" "answer"   the same edges by what became of them; "answer" is the best path
 *
 * Read from the root along "answer", the words are the answer, and the product of the weights is its probability. */
#include <math.h>
#include <string.h>

#include "regard/view.h"

typedef struct branch {
    uint64_t      number; /* of the source */
    rg_beam_event event;
    size_t first, next; /* child, sibling; 0: none. Of the root and of others alike, numbers are ids of this source */
    float         row;
    bool          answer;
} branch;

struct rg_beam_tree {
    branch   *branch;
    size_t    count, room;
    rg_status status;
};

rg_status rg_beam_tree_new(rg_beam_tree **out)
{
    *out = rg_alloc_zero(sizeof **out);
    return *out ? RG_OK : RG_ENOMEM;
}

void rg_beam_tree_free(rg_beam_tree *t)
{
    if (!t) return;
    rg_free(t->branch);
    rg_free(t);
}

void rg_beam_tree_clear(rg_beam_tree *t) { t->count = 0; }

void rg_beam_tree_note(void *context, const rg_beam_event *event)
{
    rg_beam_tree *t = context;
    if (t->status != RG_OK) return;
    if (t->count == t->room) {
        const size_t more = t->room ? 2 * t->room : 256;
        branch      *grown = rg_realloc(t->branch, more * sizeof *grown);
        if (!grown) {
            t->status = RG_ENOMEM;
            return;
        }
        t->branch = grown;
        t->room = more;
    }
    t->branch[t->count++] = (branch){ .number = event->number, .event = *event };
}

/* ------------------------------------------------------------------------------------------------------ one source */

/* The branches of a source by id, 1 .. n; element 0 is the root. */
static rg_status gather(branch **out, size_t *out_count, const rg_beam_tree *t, uint64_t number)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) n += t->branch[i].number == number;
    branch *b = rg_alloc_zero((n + 1) * sizeof *b);
    if (!b) return RG_ENOMEM;
    for (size_t i = 0; i < t->count; i++) {
        const branch *x = &t->branch[i];
        if (x->number != number) continue;
        if (x->event.id < 1 || x->event.id > n || x->event.parent >= x->event.id) {
            rg_free(b);
            return rg_fail(RG_EINVAL, "a trace of %zu candidates names number %zu", n, x->event.id);
        }
        b[x->event.id] = *x;
    }
    *out = b;
    *out_count = n + 1;
    return RG_OK;
}

static bool ends(const branch *b) { return b->event.fate == RG_BEAM_FINISHED || b->event.fate == RG_BEAM_CUT; }

/* Before another child: what is not dropped, then the likelier one. */
static bool before(const branch *a, const branch *b)
{
    const bool x = a->event.fate != RG_BEAM_DROPPED, y = b->event.fate != RG_BEAM_DROPPED;
    return x != y ? x : a->event.log_p > b->event.log_p;
}

static void link_children(branch *b, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t *at = &b[b[i].event.parent].first;
        while (*at && before(&b[*at], &b[i])) at = &b[*at].next;
        b[i].next = *at;
        *at = i;
    }
}

/* Rows: a column is a step. The first child stands in its parent's row, so that a beam of one is a line; what was
 * dropped beside it in the next free rows of that column; another child that goes on, in a row below everything. Depth
 * first without recursion: children are placed when their parent is reached. */
static rg_status place(branch *b, size_t n)
{
    size_t steps = 1, at = 0;
    float  lowest = 0;
    for (size_t i = 1; i < n; i++) steps = b[i].event.step + 2 > steps ? b[i].event.step + 2 : steps;
    float *used = rg_alloc_zero((steps + 1) * sizeof *used); /* the first free row of a column */
    if (!used) return RG_ENOMEM;
    while (true) {
        bool below = false; /* the first child is placed */
        for (size_t k = b[at].first; k; k = b[k].next) {
            const size_t s = b[k].event.step + 1;
            if (below && b[k].event.fate != RG_BEAM_DROPPED) continue;
            b[k].row = used[s] > b[at].row ? used[s] : b[at].row;
            used[s] = b[k].row + 1;
            lowest = used[s] > lowest ? used[s] : lowest;
            below = true;
        }
        size_t go = b[at].first;
        while (!go && at) {
            go = b[at].next;
            at = b[at].event.parent;
        }
        if (!go) break;
        if (go != b[at].first && b[go].event.fate != RG_BEAM_DROPPED) {
            b[go].row = lowest++;
            used[b[go].event.step + 1] = b[go].row + 1;
        }
        at = go;
    }
    rg_free(used);
    return RG_OK;
}

/* The path of the finished hypothesis with the best score; of equals the one that was finished first. */
static size_t mark_answer(branch *b, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (ends(&b[i]) && (!best || b[i].event.score > b[best].event.score)) best = i;
    for (size_t i = best; i; i = b[i].event.parent) b[i].answer = true;
    return best;
}

/* ---------------------------------------------------------------------------------------------------------- record */

static char *label(const branch *b, const char *word)
{
    if (!b->event.id) return rg_strdup(word);
    return ends(b) ? rg_format("%s · %.2f · %.3f", word, b->event.log_p, b->event.score)
                   : rg_format("%s · %.2f", word, b->event.log_p);
}

static rg_status add_labels(size_t *out, rg_record *r, const branch *b, size_t n, rg_token_name *name,
                            const void *context)
{
    char    **text = rg_alloc_zero((n + 1) * sizeof *text);
    float    *places = rg_alloc_array(2 * n + 1, sizeof *places);
    rg_status status = text && places ? RG_OK : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < n; i++) {
        if (!(text[i] = label(&b[i], i ? name(context, b[i].event.token) : "<s>"))) status = RG_ENOMEM;
        places[2 * i] = i ? (float)b[i].event.step + 1 : 0;
        places[2 * i + 1] = b[i].row;
    }
    if (status == RG_OK)
        status = rg_record_add_labels(out, r, "hypotheses", RG_LABEL_NODE, (const char *const *)text, n);
    if (status == RG_OK) status = rg_record_set_places(r, *out, places);
    for (size_t i = 0; text && i < n; i++) rg_free(text[i]);
    rg_free(text);
    rg_free(places);
    return status;
}

static bool belongs(const branch *b, size_t map)
{
    const bool in[] = { true, b->event.fate == RG_BEAM_KEPT, b->event.fate == RG_BEAM_DROPPED, ends(b), b->answer };
    return in[map];
}

static rg_status add_maps(rg_record *r, size_t labels, const branch *b, size_t n)
{
    static const char *const names[] = { "beam", "kept", "dropped", "finished", "answer" };
    uint32_t                *from = rg_alloc_array(n + 1, sizeof *from), *to = rg_alloc_array(n + 1, sizeof *to);
    rg_real                 *p = rg_alloc_array(n + 1, sizeof *p);
    rg_status                status = from && to && p ? RG_OK : RG_ENOMEM;
    for (size_t m = 0; status == RG_OK && m < sizeof names / sizeof *names; m++) {
        const rg_map_place place = { names[m], -1, -1, -1, -1 };
        size_t             edges = 0;
        for (size_t i = 1; i < n; i++)
            if (belongs(&b[i], m)) {
                from[edges] = (uint32_t)b[i].event.parent;
                to[edges] = (uint32_t)i;
                p[edges++] = (rg_real)exp(b[i].event.word);
            }
        if (edges) status = rg_record_add_edges(NULL, r, place, labels, labels, from, to, p, edges);
    }
    rg_free(from);
    rg_free(to);
    rg_free(p);
    return status;
}

rg_status rg_beam_tree_record(rg_record **out, const rg_beam_tree *t, uint64_t number, const char *title,
                              rg_token_name *name, const void *context)
{
    branch   *b = NULL;
    size_t    n = 0, labels = 0;
    *out = NULL;
    RG_TRY(t->status);
    RG_TRY(gather(&b, &n, t, number));
    link_children(b, n);
    const size_t best = mark_answer(b, n);
    rg_status    status = place(b, n);
    if (status == RG_OK)
        status = n > 1 ? rg_record_new(out, title, "beam") : rg_fail(RG_EINVAL, "the trace has no candidate");
    if (status == RG_OK) status = add_labels(&labels, *out, b, n, name, context);
    if (status == RG_OK) status = add_maps(*out, labels, b, n);
    char *note =
        best ? rg_format("answer: log p %.4f, score %.4f; under a word log p so far, of finished ones the score too",
                         b[best].event.log_p, b[best].event.score)
             : rg_strdup("no hypothesis was finished");
    if (status == RG_OK) status = note ? rg_record_add_text(*out, "note", note, 0, false) : RG_ENOMEM;
    rg_free(note);
    rg_free(b);
    if (status == RG_OK) return RG_OK;
    rg_record_free(*out);
    *out = NULL;
    return status;
}
