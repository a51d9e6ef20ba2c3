/* beam.c - beams of all sources, side by side. Hypotheses form a tree: each remembers its token, its parent and its
 * sums, so that extending one costs a node and nothing is copied. */
#include "decode/beam.h"

#include <math.h>
#include <string.h>

typedef struct node {
    const struct node *parent;
    int32_t            token;
    double             log_p, word; /* sum, and of this token */
    size_t             length;      /* tokens from the root   */
    size_t             group;       /* of a diverse search    */
    const rg_real     *attention;   /* what was looked at when this token was chosen; NULL: not asked */
    size_t             id;          /* among the candidates that are traced; 0: the root              */
    double            *covered;     /* attention each source word received so far; NULL: no coverage  */
} node;

typedef struct {
    node  *end;
    double score;
    bool   cut;
} finished;

typedef struct { /* one source */
    node         **live;
    size_t         lives, most; /* most: slots left */
    size_t        *slots;       /* left in each group; NULL: one group */
    finished      *done;
    size_t         dones;
    size_t         words;  /* source length */
    const int32_t *source; /* its tokens; NULL: not looked at */
    size_t         limit;  /* tokens an answer may have, eos among them */
    uint64_t       number;
    bool           stopped;
    const int32_t *prefix;
    size_t         prefixes;
    const int32_t *list;    /* the token of each column of scores; NULL: its number */
    size_t         columns;
    size_t         traced; /* candidates that were told of */
} beam;

typedef struct {
    double  log_p, word, key; /* key: what is compared */
    size_t  row;              /* among the beam's live */
    int32_t token;
    size_t  group;
} candidate;

enum { RUN = 256,    /* columns of the vocabulary that are looked at together       */
       LIKELIEST = 4 }; /* tokens that are told of beside one that was drawn, at most */

struct rg_beams {
    rg_arena        *arena;
    rg_search_config config;
    rg_beam_words    words;
    beam            *beam;
    size_t           sources;
    int32_t         *tokens, *parents;
    size_t           lives, steps;
    const beam      *now;  /* whose scores are looked at */
    candidate       *best; /* beam width */
    const candidate *chosen; /* by earlier groups at this step */
    size_t           choices;
    rg_real         *most; /* the largest score of every run of a row */
    rg_real         *raised; /* a row of scores with what words of the source get; NULL: nothing is added */
    rg_real         *heap; /* scores of a row, where only some may be drawn; NULL: all may */
};

rg_status rg_beams_new(rg_beams **out)
{
    *out = rg_alloc_zero(sizeof **out);
    return *out ? RG_OK : RG_ENOMEM;
}

void rg_beams_free(rg_beams *b) { rg_free(b); }
size_t rg_beams_live(const rg_beams *b) { return b->lives; }
const int32_t *rg_beams_tokens(const rg_beams *b) { return b->tokens; }

const int32_t *rg_beams_parents(const rg_beams *b, size_t *out_n)
{
    *out_n = b->lives;
    return b->parents;
}

static node *new_node(rg_beams *b)
{
    return rg_arena_get_zero(b->arena, sizeof(node));
}

static rg_status start_beam(rg_beams *b, size_t i, size_t words, uint64_t number, const rg_ids *prefix)
{
    const size_t B = b->config.sample ? b->config.n_best : b->config.beam;
    beam        *m = &b->beam[i];
    *m = (beam){ .most = B, .words = words, .number = number, .columns = b->words.count };
    if (b->words.list) {
        m->list = b->words.list + b->words.start[i];
        m->columns = b->words.start[i + 1] - b->words.start[i];
    }
    if (prefix) m->prefix = prefix[i].data, m->prefixes = prefix[i].count;
    for (size_t k = 0; k < m->prefixes; k++)
        if (m->prefix[k] < 0 || (size_t)m->prefix[k] >= b->words.count)
            return rg_fail(RG_EINVAL, "source %zu: forced token %d is not among %zu", i, m->prefix[k], b->words.count);
    const double limit = b->config.length_factor * (double)words + (double)b->config.length_extra + (double)m->prefixes;
    m->limit = limit < 1 ? 1 : limit > 1e6 ? 1000000 : (size_t)limit;
    if (b->config.longest && m->limit > b->config.longest) m->limit = b->config.longest;
    m->live = rg_arena_get(b->arena, B * sizeof *m->live);
    m->done = rg_arena_get(b->arena, (B + 1) * sizeof *m->done);
    const size_t groups = b->config.groups;
    if (groups > 1 && !(m->slots = rg_arena_get(b->arena, groups * sizeof *m->slots))) return RG_ENOMEM;
    for (size_t g = 0; m->slots && g < groups; g++) m->slots[g] = B / groups;
    node *root = new_node(b);
    if (!m->live || !m->done || !root) return RG_ENOMEM;
    root->token = b->words.bos;
    if (b->config.coverage != 0 && !(root->covered = rg_arena_get_zero(b->arena, words * sizeof *root->covered)))
        return RG_ENOMEM;
    m->live[0] = root; /* one, not B copies: the first step has one hypothesis to extend */
    m->lives = 1;
    return RG_OK;
}

/* Candidates beyond the beam that are looked for, because somebody wants to see what is dropped. */
static size_t beside(const rg_search_config *c)
{
    if (!c->trace || c->sample || c->groups > 1) return 0;
    return c->beam > 4 ? c->beam : 4;
}

rg_status rg_beams_start(rg_beams *b, rg_arena *arena, const rg_search_config *c, const rg_beam_words *words,
                         const rg_layout *sources, const uint64_t *numbers, const rg_ids *prefix)
{
    const size_t most = sources->groups * (c->sample ? c->n_best : c->beam);
    *b = (rg_beams){ .arena = arena, .config = *c, .words = *words, .sources = sources->groups, .lives = sources->groups };
    b->beam = rg_arena_get(arena, (sources->groups + 1) * sizeof *b->beam);
    b->tokens = rg_arena_get(arena, (most + 1) * sizeof *b->tokens);
    b->parents = rg_arena_get(arena, (most + 1) * sizeof *b->parents);
    b->best = rg_arena_get(arena, (c->beam + beside(c) + LIKELIEST + 1) * sizeof *b->best);
    b->most = rg_arena_get(arena, (words->count / RUN + 1) * sizeof *b->most);
    if (!b->beam || !b->tokens || !b->parents || !b->best || !b->most) return RG_ENOMEM;
    const bool some = c->sample && (c->top || (c->top_p > 0 && c->top_p < 1));
    if (words->source && !(b->raised = rg_arena_get(arena, words->count * sizeof *b->raised))) return RG_ENOMEM;
    if (some && !(b->heap = rg_arena_get(arena, words->count * sizeof *b->heap))) return RG_ENOMEM;
    for (size_t i = 0; i < sources->groups; i++) {
        RG_TRY(start_beam(b, i, (size_t)(sources->start[i + 1] - sources->start[i]), numbers ? numbers[i] : i, prefix));
        b->tokens[i] = words->bos;
        if (words->source) b->beam[i].source = words->source + sources->start[i];
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- choosing */

/* Better: the higher key; of equals the earlier row, then the smaller token, so that ties have one answer. */
static bool better(const candidate *x, const candidate *y)
{
    if (x->key != y->key) return x->key > y->key;
    return x->row != y->row ? x->row < y->row : x->token < y->token;
}

static size_t insert(candidate *best, size_t count, size_t most, candidate c)
{
    size_t at = count < most ? count : most;
    while (at > 0 && better(&c, &best[at - 1])) at--;
    if (at >= most) return count;
    if (count < most) count++;
    memmove(best + at + 1, best + at, (count - 1 - at) * sizeof *best);
    best[at] = c;
    return count;
}

static int32_t token_of(const beam *m, size_t column) { return m->list ? m->list[column] : (int32_t)column; }

/* Where a token stands among the columns; `columns` if it is not listed. */
static size_t column_of(const beam *m, int32_t token)
{
    size_t low = 0, high = m->columns;
    if (!m->list) return (size_t)token;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->list[middle] < token) low = middle + 1;
        else high = middle;
    }
    return low < m->columns && m->list[low] == token ? low : m->columns;
}

static bool allowed(const rg_beams *b, int32_t token)
{
    return (token != b->words.bos || token == b->words.eos) && !(b->config.no_unknown && token == b->config.unknown);
}

/* What a token loses because earlier groups chose it at this step. */
static double worn(const rg_beams *b, int32_t token)
{
    double times = 0;
    for (size_t k = 0; k < b->choices; k++) times += b->chosen[k].token == token;
    return times * b->config.diversity;
}

static size_t scan_run(rg_beams *b, size_t count, size_t most, const rg_real *scores, size_t from, double base,
                       double lse, size_t row)
{
    const size_t left = b->now->columns - from, end = from + (left < RUN ? left : RUN);
    for (size_t j = from; j < end; j++) {
        const double word = (double)scores[j] - lse;
        if (count == most && base + word < b->best[most - 1].key) continue;
        const int32_t token = token_of(b->now, j);
        if (!isfinite(word) || !allowed(b, token)) continue;
        const candidate c = {
            .log_p = base + word, .word = word, .key = base + word - worn(b, token), .row = row, .token = token
        };
        count = insert(b->best, count, most, c);
    }
    return count;
}

/* Runs of columns whose largest score cannot enter the beam are passed over; the run with the largest of all comes
 * first, so that most can be. The order of runs does not matter: `better` knows what to do with equals. */
static size_t scan_row(rg_beams *b, size_t count, size_t most, const rg_real *scores, double base, double lse,
                       size_t row)
{
    const size_t V = b->now->columns, runs = (V + RUN - 1) / RUN;
    size_t       first = 0;
    for (size_t r = 0; r < runs; r++) {
        const size_t left = V - r * RUN;
        b->most[r] = rg_kernel()->max(left < RUN ? left : RUN, scores + r * RUN);
        if (b->most[r] > b->most[first]) first = r;
    }
    count = scan_run(b, count, most, scores, first * RUN, base, lse, row);
    for (size_t r = 0; r < runs; r++) {
        if (r == first || (count == most && base + ((double)b->most[r] - lse) < b->best[most - 1].key)) continue;
        count = scan_run(b, count, most, scores, r * RUN, base, lse, row);
    }
    return count;
}

/* Heap order: heap[0] is the largest of n. */
static void sink(rg_real *heap, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[at] >= heap[child]) return;
        const rg_real swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* The smallest score that may be drawn: of the `top` largest, the fewest whose probabilities add up to top_p of
 * theirs. Popping the heap leaves the largest scores at its end. */
static double least_drawn(rg_beams *b, const rg_real *scores)
{
    rg_real *heap = b->heap;
    size_t   n = 0, kept = 0;
    double   total = 0, mass = 0;
    for (size_t j = 0; j < b->now->columns; j++)
        if (allowed(b, token_of(b->now, j)) && isfinite(scores[j])) heap[n++] = scores[j];
    if (!n) return -INFINITY;
    for (size_t i = n / 2; i-- > 0;) sink(heap, n, i);
    const double high = (double)heap[0], p = b->config.top_p > 0 ? b->config.top_p : 1;
    const size_t top = b->config.top && b->config.top < n ? b->config.top : n;
    if (top == n)
        for (size_t j = 0; j < n; j++) total += exp(((double)heap[j] - high) / b->config.temperature);
    while (kept < top && !(top == n && mass >= p * total)) {
        const rg_real largest = heap[0];
        heap[0] = heap[n - ++kept];
        heap[n - kept] = largest;
        sink(heap, n - kept, 0);
        mass += exp(((double)largest - high) / b->config.temperature);
    }
    if (top < n) total = mass;
    mass = 0;
    for (size_t k = 1; k < kept; k++) {
        mass += exp(((double)heap[n - k] - high) / b->config.temperature);
        if (mass >= p * total) return (double)heap[n - k];
    }
    return (double)heap[n - kept];
}

/* One token by its probability at a temperature: the largest of (log p / T + Gumbel noise). */
static candidate draw(rg_beams *b, const beam *m, const rg_real *scores, double base, double lse, size_t row)
{
    const size_t V = m->columns;
    rg_random    random = rg_random_new(b->config.seed, (m->number * 1009 + row) * 100003 + b->steps);
    const double floor = b->heap ? least_drawn(b, scores) : -INFINITY;
    candidate    best = { .key = -INFINITY, .log_p = NAN, .row = row, .token = b->words.eos };
    for (size_t j = 0; j < V; j++) {
        const double noise = -log(-log(rg_random_uniform(&random) + 1e-300) + 1e-300);
        const int32_t token = token_of(m, j);
        if ((double)scores[j] < floor || !allowed(b, token)) continue;
        const double word = (double)scores[j] - lse, key = word / b->config.temperature + noise;
        if (key > best.key)
            best = (candidate){ .log_p = base + word, .word = word, .key = key, .row = row, .token = token };
    }
    return best;
}

/* The largest logit is the likeliest token: with one hypothesis nothing needs their sum, unless the answer's
 * probability is asked for. */
static bool unscored(const rg_beams *b)
{
    return b->config.unscored && !b->config.trace && b->config.beam == 1 && !b->config.sample;
}

/* A probability of 0, as float has it in an ensemble, does not end an answer that must begin so. */
static double at_least(double word, double least) { return word < least ? least : word; }

/* The scores of a hypothesis with what words of its source get. */
static const rg_real *raise_row(rg_beams *b, const beam *m, const node *n, const rg_real *row)
{
    if (!b->raised) return row;
    memcpy(b->raised, row, b->words.count * sizeof *row);
    rg_extract_add(b->raised, b->config.extract, m->source, m->words, b->words.count,
                   n->parent ? n->parent->token : -1, n->token);
    return b->raised;
}

/* Diverse beam search: the groups choose one after another, each among its own hypotheses; what all have begun with
 * belongs to every group. */
static size_t choose_by_groups(rg_beams *b, const beam *m, const rg_real *scores, size_t ld)
{
    candidate *all = b->best;
    size_t     count = 0;
    for (size_t g = 0; g < b->config.groups; g++) {
        size_t own = 0;
        b->best = all + count;
        b->chosen = all;
        b->choices = count;
        for (size_t i = 0; m->slots[g] && i < m->lives; i++) {
            const rg_real *row = scores + i * ld;
            if (m->live[i]->length > m->prefixes && m->live[i]->group != g) continue;
            const double lse = (double)rg_kernel()->softmax(m->columns, NULL, row);
            own = scan_row(b, own, m->slots[g], raise_row(b, m, m->live[i], row), m->live[i]->log_p, lse, i);
        }
        for (size_t k = 0; k < own; k++) b->best[k].group = g;
        count += own;
    }
    b->best = all;
    b->choices = 0;
    return count;
}

/* The candidates of one source, best first, in b->best; returns how many. */
static size_t choose(rg_beams *b, const beam *m, const rg_real *scores, size_t ld)
{
    b->now = m;
    if (m->slots && b->steps >= m->prefixes) return choose_by_groups(b, m, scores, ld);
    const size_t V = m->columns;
    const bool   summed = !unscored(b);
    size_t       count = 0;
    for (size_t i = 0; i < m->lives; i++) {
        const rg_real *row = scores + i * ld;
        const double   base = m->live[i]->log_p, lse = summed ? (double)rg_kernel()->softmax(V, NULL, row) : 0;
        if (b->steps < m->prefixes) {
            const int32_t token = m->prefix[b->steps];
            const size_t  column = column_of(m, token);
            const double  word = at_least(column < V ? (double)row[column] - lse : -1e4, -1e4);
            b->best[count++] =
                (candidate){ .log_p = base + word, .word = word, .key = base + word, .row = i, .token = token };
        } else if (b->config.sample) {
            const size_t draws = i == 0 && m->lives == 1 && b->steps == m->prefixes ? m->most : 1;
            for (size_t k = 0; k < draws; k++) {
                candidate c = draw(b, m, row, base, lse, draws > 1 ? k : i);
                c.row = i;
                b->best[count++] = c;
            }
        } else {
            count = scan_row(b, count, m->most + beside(&b->config), raise_row(b, m, m->live[i], row), base, lse, i);
        }
    }
    for (size_t i = 0; !summed && i < count; i++)
        if (isfinite(b->best[i].log_p)) b->best[i].log_p = b->best[i].word = 0;
    return count;
}

/* ---------------------------------------------------------------------------------------------------- extending */

/* What log p is divided by: length^alpha, or ((5 + length) / 6)^alpha. */
static double divisor(const rg_search_config *c, size_t length)
{
    if (!(c->normalize > 0)) return 1;
    return pow(c->gnmt ? (5 + (double)length) / 6 : (double)length, c->normalize);
}

/* score = log p / divisor + penalty * words + coverage * sum_i log min(1, covered_i) */
static double final_score(const rg_beams *b, const beam *m, const node *n)
{
    const rg_search_config *c = &b->config;
    double                  score = n->log_p / divisor(c, n->length);
    score += c->word_penalty * (double)n->length;
    for (size_t i = 0; n->covered && i < m->words; i++) score += c->coverage * log(fmin(1, fmax(n->covered[i], 1e-10)));
    return score;
}

static rg_status look(rg_beams *b, node *n, const rg_step_attention *seen, size_t row)
{
    n->covered = n->parent->covered;
    if (!seen || !seen->rows) return RG_OK;
    if (seen->out_of_memory) return rg_fail(RG_ENOMEM, "no memory for the attention of %zu hypotheses", seen->rows);
    const size_t first = seen->first[row], count = seen->first[row + 1] - first;
    if (b->config.attention) {
        rg_real *copy = rg_arena_get(b->arena, count * sizeof *copy);
        if (!copy) return RG_ENOMEM;
        memcpy(copy, seen->weights + first, count * sizeof *copy);
        n->attention = copy;
    }
    if (!n->parent->covered) return RG_OK;
    if (!(n->covered = rg_arena_get(b->arena, count * sizeof *n->covered))) return RG_ENOMEM;
    for (size_t i = 0; i < count; i++) n->covered[i] = n->parent->covered[i] + (double)seen->weights[first + i];
    return RG_OK;
}

/* Can a live hypothesis still get past the worst answer that counts? log p only falls, unless words of the source are
 * raised; the most a length can do for it is the limit's. */
static bool hopeless(const rg_beams *b, const beam *m)
{
    if (m->dones < b->config.n_best || b->config.word_penalty > 0 || b->config.sample || b->raised) return false;
    double worst = INFINITY;
    for (size_t i = 0; i < m->dones; i++) worst = fmin(worst, m->done[i].score);
    for (size_t i = 0; i < m->lives; i++) {
        const double bound = m->live[i]->log_p / divisor(&b->config, m->limit);
        if (bound > worst) return false;
    }
    return true;
}

static void tell(rg_beams *b, beam *m, const candidate *c, const node *parent, rg_beam_fate fate, double score)
{
    if (!b->config.trace) return;
    const rg_beam_event event = { .number = m->number,
                                  .step = b->steps,
                                  .id = ++m->traced,
                                  .parent = parent->id,
                                  .token = c->token,
                                  .word = c->word,
                                  .log_p = c->log_p,
                                  .score = score,
                                  .fate = fate };
    b->config.trace(b->config.trace_context, &event);
}

static void finish(rg_beams *b, beam *m, node *n, bool cut)
{
    m->done[m->dones++] = (finished){ n, final_score(b, m, n), cut };
    if (m->most) m->most--;
    if (m->slots && m->slots[n->group]) m->slots[n->group]--;
}

/* Extend one beam by its chosen candidates. `row` is the number of its first live hypothesis among all; parents and
 * tokens of the survivors are appended. */
static rg_status extend(rg_beams *b, beam *m, size_t count, const rg_step_attention *seen, size_t row, size_t *lives)
{
    node       **old = m->live;
    const size_t from = *lives;
    node       **next = rg_arena_get(b->arena, (count + 1) * sizeof *next);
    if (!next) return RG_ENOMEM;
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        const candidate *c = &b->best[k];
        if (!isfinite(c->log_p)) continue;
        node *n = new_node(b);
        if (!n) return RG_ENOMEM;
        *n = (node){ .parent = old[c->row], .token = c->token, .log_p = c->log_p, .word = c->word, .length = old[c->row]->length + 1,
                      .group = c->group };
        RG_TRY(look(b, n, seen, row + c->row));
        const bool at_end = c->token == b->words.eos && !b->config.endless, cut = !at_end && n->length >= m->limit;
        tell(b, m, c, n->parent, at_end ? RG_BEAM_FINISHED : cut ? RG_BEAM_CUT : RG_BEAM_KEPT,
             at_end || cut ? final_score(b, m, n) : 0);
        n->id = m->traced;
        if (at_end || cut) {
            finish(b, m, n, cut);
            continue;
        }
        next[kept++] = n;
        b->tokens[*lives] = c->token;
        b->parents[(*lives)++] = (int32_t)(row + c->row);
    }
    m->live = next;
    m->lives = kept;
    if (hopeless(b, m)) {
        *lives = from;
        m->lives = 0;
    }
    return RG_OK;
}

/* Somebody no longer wants this source: nothing of it lives, and what was finished does not count. */
static bool give_up(const rg_beams *b, beam *m)
{
    if (!b->config.stop || !b->config.stop(b->config.stop_context, m->number)) return false;
    m->lives = m->dones = 0;
    return m->stopped = true;
}

/* The likeliest tokens that were not drawn, behind each of the `lives` hypotheses that were extended; the `drawn` ones
 * are in b->best. */
static void tell_undrawn(rg_beams *b, beam *m, const rg_real *scores, size_t ld, node *const *old, size_t lives,
                         size_t drawn)
{
    candidate *all = b->best;
    b->now = m;
    b->best = all + drawn;
    for (size_t i = 0; i < lives; i++) {
        const double lse = (double)rg_kernel()->softmax(m->columns, NULL, scores + i * ld);
        const size_t n = scan_row(b, 0, LIKELIEST, scores + i * ld, old[i]->log_p, lse, i);
        for (size_t k = 0; k < n; k++) {
            bool was = false;
            for (size_t j = 0; j < drawn && !was; j++) was = all[j].row == i && all[j].token == b->best[k].token;
            if (!was) tell(b, m, &b->best[k], old[i], RG_BEAM_DROPPED, 0);
        }
    }
    b->best = all;
}

rg_status rg_beams_step(rg_beams *b, const rg_real *scores, size_t ld, const rg_step_attention *seen)
{
    size_t row = 0, lives = 0;
    for (size_t i = 0; i < b->sources; i++) {
        beam        *m = &b->beam[i];
        const size_t before = m->lives;
        if (!before) continue;
        if (give_up(b, m)) {
            row += before;
            continue;
        }
        const size_t found = choose(b, m, scores + row * ld, ld), wanted = m->most,
                     count = beside(&b->config) && b->steps >= m->prefixes && found > wanted ? wanted : found;
        node *const *old = m->live;
        RG_TRY(extend(b, m, count, seen, row, &lives));
        for (size_t k = count; k < found; k++)
            if (isfinite(b->best[k].log_p)) tell(b, m, &b->best[k], old[b->best[k].row], RG_BEAM_DROPPED, 0);
        if (b->config.trace && b->config.sample && b->steps >= m->prefixes)
            tell_undrawn(b, m, scores + row * ld, ld, old, before, found);
        row += before;
    }
    b->lives = lives;
    b->steps++;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ answers */

static rg_status write_answer(rg_answer *out, const rg_beams *b, const beam *m, const finished *f)
{
    const size_t all = f->end->length, words = f->cut ? all : all - 1; /* eos is not a word */
    *out = (rg_answer){ .length = words, .log_p = f->end->log_p, .score = f->score, .cut = f->cut, .source_length = m->words };
    out->tokens = rg_arena_get(b->arena, (words + 1) * sizeof *out->tokens);
    out->word = rg_arena_get(b->arena, all * sizeof *out->word);
    if (b->config.attention)
        out->attention = rg_arena_get_zero(b->arena, (words + 1) * m->words * sizeof *out->attention);
    if (!out->tokens || !out->word || (b->config.attention && !out->attention)) return RG_ENOMEM;
    for (const node *n = f->end; n->parent; n = n->parent) {
        const size_t at = n->length - 1;
        out->word[at] = n->word;
        if (at < words) out->tokens[at] = n->token;
        const bool shifted = b->config.attention_shift, last = n == f->end; /* nothing comes behind the last: its own */
        if (out->attention && n->attention && (!shifted || last))
            memcpy(out->attention + at * m->words, n->attention, m->words * sizeof *n->attention);
        if (out->attention && n->attention && shifted && at > 0)
            memcpy(out->attention + (at - 1) * m->words, n->attention, m->words * sizeof *n->attention);
    }
    return RG_OK;
}

/* Best first; of equals the one that was finished first. */
static void rank(finished *done, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && done[j].score > done[j - 1].score; j--) {
            const finished swap = done[j];
            done[j] = done[j - 1];
            done[j - 1] = swap;
        }
}

rg_status rg_beams_answers(const rg_answers **out, rg_beams *b)
{
    rg_answers *all = rg_arena_get(b->arena, (b->sources + 1) * sizeof *all);
    if (!all) return RG_ENOMEM;
    for (size_t i = 0; i < b->sources; i++) {
        beam *m = &b->beam[i];
        rank(m->done, m->dones);
        if (!m->stopped && (!m->dones || !isfinite(m->done[0].score)))
            return rg_fail(RG_ENUMBER,
                           "line %llu: no answer has a finite score; the model's weights give infinite numbers",
                           (unsigned long long)m->number + 1);
        const size_t count = m->dones < b->config.n_best ? m->dones : b->config.n_best;
        all[i] = (rg_answers){ .count = count,
                               .stopped = m->stopped,
                               .answer = rg_arena_get(b->arena, (count + 1) * sizeof(rg_answer)) };
        if (!all[i].answer) return RG_ENOMEM;
        for (size_t k = 0; k < count; k++) RG_TRY(write_answer(&all[i].answer[k], b, m, &m->done[k]));
    }
    *out = all;
    return RG_OK;
}
