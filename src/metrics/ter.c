/* ter.c - translation edit rate (Snover et al. 2006): insertions, deletions, substitutions and shifts of phrases, over
 * the reference's length, by tercom's greedy search with the limits sacreBLEU gives it.
 *
 *   repeat   align hypothesis and reference by edit distance
 *            try moving each phrase of the hypothesis that also stands in the reference to where the reference has it
 *            keep the move that saves most (ties: longer, earlier, to an earlier place) while one saves anything
 *   TER = (moves + edit distance) / reference words
 *
 * Edit distance looks only 25 cells to each side of the diagonal. Stats: edits (fewest of several references), mean
 * reference length. */
#include "metrics/metric.h"

#include <math.h>
#include <string.h>

enum { LONGEST_SHIFT = 10, FARTHEST_SHIFT = 50, BEAM = 25, MOST_CANDIDATES = 1000 };
enum { FAR = 1 << 29 };
typedef enum operation { NOTHING, SUBSTITUTE, INSERT, DELETE, UNDEFINED } operation; /* rewriting hypothesis into reference */

typedef struct problem {
    const int32_t *ref;
    size_t         ref_count, count; /* words of reference, of hypothesis */
    int32_t       *hyp, *shifted, *best;
    int32_t       *cost;      /* (count + 1) x (ref_count + 1) */
    unsigned char *op;        /* the same */
    unsigned char *hyp_wrong, *ref_wrong;
    int32_t       *align; /* hypothesis word at or before each reference word; -1 before the first */
} problem;

/* ------------------------------------------------------------------------------------------------- edit distance */

static void relax(problem *p, size_t at, int32_t cost, operation op)
{
    if (cost >= p->cost[at]) return;
    p->cost[at] = cost;
    p->op[at] = (unsigned char)op;
}

static void fill_row(problem *p, const int32_t *words, size_t i, size_t begin, size_t end)
{
    size_t width = p->ref_count + 1, row = i * width;
    for (size_t j = begin; j < end; j++) {
        if (j == 0) {
            p->cost[row] = p->cost[row - width] + 1;
            p->op[row] = DELETE;
            continue;
        }
        bool same = words[i - 1] == p->ref[j - 1];
        relax(p, row + j, p->cost[row - width + j - 1] + !same, same ? NOTHING : SUBSTITUTE);
        relax(p, row + j, p->cost[row - width + j] + 1, DELETE);
        relax(p, row + j, p->cost[row + j - 1] + 1, INSERT);
    }
}

static int32_t edit_distance(problem *p, const int32_t *words)
{
    size_t width = p->ref_count + 1, cells = (p->count + 1) * width;
    double ratio = p->count ? (double)p->ref_count / (double)p->count : 1;
    size_t beam = BEAM < ratio / 2 ? (size_t)ceil(ratio / 2 + BEAM) : BEAM;
    for (size_t i = width; i < cells; i++) p->cost[i] = FAR;
    memset(p->op + width, UNDEFINED, cells - width);
    for (size_t j = 0; j < width; j++) {
        p->cost[j] = (int32_t)j;
        p->op[j] = INSERT;
    }
    for (size_t i = 1; i <= p->count; i++) {
        size_t diagonal = (size_t)floor((double)i * ratio);
        size_t begin = diagonal > beam ? diagonal - beam : 0, end = diagonal + beam < width ? diagonal + beam : width;
        fill_row(p, words, i, begin, i == p->count ? width : end);
    }
    return p->cost[cells - 1];
}

/* From the operations of the last edit_distance: which words are wrong, and where reference words stand in the
 * hypothesis. */
static void trace(problem *p)
{
    size_t i = p->count, j = p->ref_count, width = p->ref_count + 1;
    while (i > 0 || j > 0) {
        unsigned char op = p->op[i * width + j];
        if (op == INSERT || i == 0) {
            j--;
            p->align[j] = (int32_t)i - 1;
            p->ref_wrong[j] = 1;
        } else if (op == DELETE || j == 0) {
            p->hyp_wrong[--i] = 1;
        } else {
            i--;
            j--;
            p->align[j] = (int32_t)i;
            p->hyp_wrong[i] = p->ref_wrong[j] = op == SUBSTITUTE;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- shifts */

/* Write hyp with `length` words from `start` moved to `target`. */
static void perform(problem *p, size_t start, size_t length, size_t target)
{
    size_t to = target < start ? target : target > start + length ? target - length : target; /* where the phrase begins then */
    if (to + length > p->count) to = p->count - length;
    for (size_t i = 0, from = 0; i < p->count; i++) {
        if (i >= to && i < to + length) {
            p->shifted[i] = p->hyp[start + i - to];
            continue;
        }
        if (from == start) from += length;
        p->shifted[i] = p->hyp[from++];
    }
}

typedef struct shift {
    int32_t saved;
    size_t  length, start, target;
    bool    found;
} shift;

static bool better(const shift *a, const shift *b)
{
    if (!b->found) return true;
    if (a->saved != b->saved) return a->saved > b->saved;
    if (a->length != b->length) return a->length > b->length;
    if (a->start != b->start) return a->start < b->start;
    return a->target < b->target;
}

static bool any_wrong(const unsigned char *wrong, size_t begin, size_t length)
{
    return memchr(wrong + begin, 1, length) != NULL;
}

/* Try the places where the phrase hyp[h ..] = ref[r ..] could go. */
static size_t try_phrase(problem *p, shift *best, int32_t before, size_t h, size_t r, size_t length)
{
    size_t  tried = 0;
    int64_t previous = -1;
    if (!any_wrong(p->hyp_wrong, h, length) || !any_wrong(p->ref_wrong, r, length)) return 0;
    if (p->align[r] >= (int32_t)h && p->align[r] < (int32_t)(h + length)) return 0;
    for (size_t k = 0; k <= length; k++) { /* after reference word r + k - 1 */
        int64_t target = r + k == 0 ? 0 : p->align[r + k - 1] + 1;
        if (target == previous) continue;
        previous = target;
        perform(p, h, length, (size_t)target);
        shift now = { 0, length, h, (size_t)target, true };
        now.saved = before - edit_distance(p, p->shifted);
        tried++;
        if (!better(&now, best)) continue;
        *best = now;
        memcpy(p->best, p->shifted, p->count * sizeof *p->best);
    }
    return tried;
}

/* The best shift of hyp; *candidates counts those tried over all rounds. */
static shift find_shift(problem *p, size_t *candidates)
{
    shift   best = { 0 };
    int32_t before = edit_distance(p, p->hyp);
    trace(p);
    for (size_t h = 0; h < p->count; h++) {
        for (size_t r = 0; r < p->ref_count; r++) {
            if ((h > r ? h - r : r - h) > FARTHEST_SHIFT) continue;
            for (size_t n = 1; n <= LONGEST_SHIFT && h + n <= p->count && r + n <= p->ref_count; n++) {
                if (p->hyp[h + n - 1] != p->ref[r + n - 1]) break;
                *candidates += try_phrase(p, &best, before, h, r, n);
                if (*candidates >= MOST_CANDIDATES) return best;
            }
        }
    }
    return best;
}

static int32_t count_edits(problem *p)
{
    int32_t shifts = 0;
    size_t  candidates = 0;
    for (;;) {
        shift best = find_shift(p, &candidates);
        if (candidates >= MOST_CANDIDATES || best.saved <= 0) break;
        memcpy(p->hyp, p->best, p->count * sizeof *p->hyp);
        shifts++;
    }
    return shifts + edit_distance(p, p->hyp);
}

static rg_status edits(double *out, const rg_ids *hyp, const rg_ids *ref)
{
    *out = (double)hyp->count;
    if (!ref->count) return RG_OK;
    size_t  cells, bytes, n = hyp->count;
    problem p = { .ref = ref->data, .ref_count = ref->count, .count = n };
    if (!rg_size_mul(&cells, n + 1, ref->count + 1) || !rg_size_mul(&bytes, cells, 5) || bytes > (size_t)1 << 30)
        return rg_fail(RG_ELIMIT, "TER of %zu words against %zu needs too much memory", n, ref->count);
    int32_t *block = rg_alloc_array(cells + 3 * n + ref->count, sizeof *block);
    p.op = rg_alloc_zero(cells + n + ref->count);
    if (block && p.op) {
        p.cost = block;
        p.hyp = block + cells;
        p.shifted = p.hyp + n;
        p.best = p.shifted + n;
        p.align = p.best + n;
        p.hyp_wrong = p.op + cells;
        p.ref_wrong = p.hyp_wrong + n;
        if (n) memcpy(p.hyp, hyp->data, n * sizeof *p.hyp);
        *out = (double)count_edits(&p);
    }
    rg_status status = block && p.op ? RG_OK : RG_ENOMEM;
    rg_free(block);
    rg_free(p.op);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- the metric */

/* What stands alone in tercom's normal form, beside the rules for "." "," "-" and 's. */
static bool is_western(unsigned char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

/* s in place of text, or as the same string with one more rule applied. */
static rg_status swap(rg_text *text, rg_text *next, rg_status status)
{
    rg_text_free(text);
    *text = *next;
    *next = (rg_text){ 0 };
    return status;
}

static rg_status replace(rg_text *text, const char *what, const char *by)
{
    rg_text     out = { 0 };
    rg_status   status = RG_OK;
    const char *at = rg_text_c(text), *found;
    while (status == RG_OK && (found = strstr(at, what)) != NULL) {
        status = rg_text_add(&out, at, (size_t)(found - at));
        if (status == RG_OK) status = rg_text_add_string(&out, by);
        at = found + strlen(what);
    }
    if (status == RG_OK) status = rg_text_add_string(&out, at);
    return swap(text, &out, status);
}

static rg_status split_punctuation(rg_text *text)
{
    rg_text   out = { 0 };
    rg_status status = rg_text_add(&out, " ", 1);
    for (size_t i = 0; i < text->length && status == RG_OK; i++) {
        unsigned char c = (unsigned char)text->data[i];
        status = is_western(c) ? rg_text_print(&out, " %c ", c) : rg_text_add(&out, &c, 1);
    }
    if (status == RG_OK) status = rg_text_add(&out, "  ", 2); /* the blank at the end, split like any other */
    return swap(text, &out, status);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_dot(char c)
{
    return c == '.' || c == ',';
}

/* Neighbours a b with a matching pair of tests: "a b " or " a b", left to right without overlap. UTF-8 bytes are not
 * digits, so bytes serve as well as characters: the first byte of a pair is never split from the rest of its
 * character. */
static rg_status split_pairs(rg_text *text, int rule)
{
    rg_text   out = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; i < text->length && status == RG_OK; i++) {
        char a = text->data[i], b = text->data[i + 1]; /* the NUL at the end matches nothing */
        bool last = i + 1 >= text->length;
        bool match = !last && (rule == 0   ? !is_digit(a) && is_dot(b)
                               : rule == 1 ? is_dot(a) && !is_digit(b)
                                           : is_digit(a) && b == '-');
        if (!match) {
            status = rg_text_add(&out, &a, 1);
            continue;
        }
        status = rule == 1 ? rg_text_print(&out, " %c %c", a, b) : rg_text_print(&out, "%c %c ", a, b);
        i++;
    }
    return swap(text, &out, status);
}

static rg_status normalize(rg_text *text)
{
    RG_TRY(replace(text, "&quot;", "\""));
    RG_TRY(replace(text, "&amp;", "&"));
    RG_TRY(replace(text, "&lt;", "<"));
    RG_TRY(replace(text, "&gt;", ">"));
    RG_TRY(split_punctuation(text));
    RG_TRY(replace(text, "'s ", " 's "));
    for (int rule = 0; rule < 3; rule++) RG_TRY(split_pairs(text, rule));
    return RG_OK;
}

static rg_status words_of(rg_ids *out, rg_scorer *s, const char *line)
{
    rg_text_clear(&s->text);
    RG_TRY(rg_text_lower(&s->text, line, strlen(line)));
    if (s->config.normalized) RG_TRY(normalize(&s->text));
    return rg_word_ids(out, &s->words, rg_text_c(&s->text), s->text.length);
}

static rg_status ter_segment(double *stats, rg_scorer *s, const char *hypothesis, const char *const *references,
                             size_t count)
{
    RG_TRY(words_of(&s->hypothesis, s, hypothesis));
    for (size_t r = 0; r < count; r++) {
        double now;
        RG_TRY(words_of(&s->reference, s, references[r]));
        RG_TRY(edits(&now, &s->hypothesis, &s->reference));
        if (r == 0 || now < stats[0]) stats[0] = now;
        stats[1] += (double)s->reference.count / (double)count;
    }
    return RG_OK;
}

static double ter_score(const rg_scorer *s, const double *sums, bool sentence)
{
    (void)s;
    (void)sentence;
    return sums[1] > 0 ? 100 * sums[0] / sums[1] : sums[0] > 0 ? 100 : 0;
}

static rg_status ter_signature(rg_text *out, const rg_scorer *s)
{
    return rg_text_print(out, "nrefs:%zu|case:lc|tok:tercom|norm:%s|punct:yes|asian:no|version:2.6.0", s->references,
                         s->config.normalized ? "yes" : "no");
}

const rg_metric rg_metric_ter = { .name = "ter", .title = "TER", .stats = 2, .segment = ter_segment, .score = ter_score,
                                  .signature = ter_signature };
