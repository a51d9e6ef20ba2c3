/* heads.c - ranks the heads that look at the source by how well they align.
 *
 * Each pair goes through the model with the reference as its answer; a head links every target piece with the source
 * piece it looks at most, </s> left out on both sides. Against the aligner the score is the share of its links found,
 * of all and of those between content
 * words (content.h), by which the heads are ordered; against gold links, piece links become word links and the score is 1 - AER,  AER = 1 -
 * (|A n S| + |A n P|) / (|A| + |S|). */
#include "regard/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/content.h"
#include "tasks/word_links.h"

enum { POINTS = 64, WORDS = 256 };

typedef struct {
    char   *name;
    size_t  heads, row;
    double *hit, *sure_hit, *made, *content; /* heads + 1 each, the last is the mean */
} point;

typedef struct {
    const rg_translator *translator;
    const int32_t       *link;   /* of the target pieces of the pair at hand; NULL: gold */
    unsigned char      (*gold)[WORDS]; /* [source word][target word]: 2 sure, 1 possible */
    int                 *source_word, *target_word;
    size_t               source_length, target_length; /* pieces, </s> not counted */
    double               links;                        /* the aligner's, or sure ones */
    double               content_links;                /* the aligner's between content words */
    bool                *source_content, *target_content; /* of the pieces of the pair at hand */
    const char          *source_language, *target_language; /* whose small words are no content; NULL: none is known */
    point                point[POINTS];
    size_t               points;
    bool                 shift;
    rg_status            status;
} ranking;

/* ------------------------------------------------------------------------------------------------------ watching */

static bool wants(void *context, const char *name)
{
    const ranking *r = context;
    return rg_attention_use_crosses(rg_attention_use_find(r->translator->model->system->uses, name));
}

static point *point_of(ranking *r, const char *name, size_t heads)
{
    for (size_t i = 0; i < r->points; i++)
        if (strcmp(r->point[i].name, name) == 0) return r->point[i].heads == heads ? &r->point[i] : NULL;
    if (r->points == POINTS) return NULL;
    point  *p = &r->point[r->points];
    double *numbers = rg_alloc_zero(4 * (heads + 1) * sizeof *numbers);
    char   *copy = rg_strdup(name);
    if (!numbers || !copy) {
        rg_free(numbers);
        rg_free(copy);
        r->status = RG_ENOMEM;
        return NULL;
    }
    *p = (point){ .name = copy, .heads = heads, .hit = numbers, .sure_hit = numbers + heads + 1, .made = numbers + 2 * (heads + 1),
                  .content = numbers + 3 * (heads + 1) };
    r->points++;
    return p;
}

static void count(ranking *r, point *p, size_t head, size_t row, size_t best)
{
    if (r->link) {
        if (r->link[row] < 0 || (size_t)r->link[row] != best) return;
        p->hit[head]++;
        p->content[head] += r->source_content[best] && r->target_content[row];
        return;
    }
    const int i = r->source_word[best], j = r->target_word[row];
    if (i >= WORDS || j >= WORDS) return;
    p->made[head]++;
    p->hit[head] += r->gold[i][j] >= 1;
    p->sure_hit[head] += r->gold[i][j] == 2;
}

/* Rows of one step, or of all: they come in order. */
static void see(void *context, const char *name, const rg_tensor *x, const void *data)
{
    ranking        *r = context;
    const rg_reach *reach = data;
    const size_t    H = rg_tensor_cols(x);
    if (!reach || reach->Nk != r->source_length + 1 || rg_tensor_rows(x) != reach->P || r->status != RG_OK) return;
    point *p = point_of(r, name, H);
    if (!p) return;
    for (size_t q = 0; q < reach->Nq; q++, p->row++) {
        const size_t token = r->shift ? p->row - 1 : p->row; /* before the first there is none: past all others */
        if (token >= r->target_length || reach->first[q + 1] - reach->first[q] != reach->Nk) continue;
        for (size_t h = 0; h <= H; h++) {
            size_t best = 0;
            double most = -1;
            for (size_t k = 0; k < r->source_length; k++) {
                const rg_real *a = rg_tensor_row(x, reach->first[q] + k);
                double         weight = 0;
                if (h < H) weight = (double)a[h];
                else
                    for (size_t g = 0; g < H; g++) weight += (double)a[g];
                if (weight > most) {
                    most = weight;
                    best = k;
                }
            }
            count(r, p, h, token, best);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- words */

/* "0-1 2?3": sure and possible links. */
static rg_status read_gold(ranking *r, const rg_line *line)
{
    memset(r->gold, 0, WORDS * sizeof *r->gold);
    for (const char *at = line->text; *at;) {
        char      *end;
        while (*at == ' ' || *at == '\t') at++;
        if (!*at) break;
        const long i = strtol(at, &end, 10);
        const char kind = *end;
        if (end == at || (kind != '-' && kind != '?' && kind != 'p'))
            return rg_fail(RG_EFORMAT, "line %llu: \"%.20s\" is no link; 3-4 is one, 3?4 a possible one",
                           (unsigned long long)line->number, at);
        at = end + 1;
        const long j = strtol(at, &end, 10);
        if (end == at || i < 0 || j < 0)
            return rg_fail(RG_EFORMAT, "line %llu: a link without a word", (unsigned long long)line->number);
        at = end;
        const unsigned char mark = kind == '-' ? 2 : 1;
        if (i < WORDS && j < WORDS && mark > r->gold[i][j]) { /* a link said twice counts once, sure before possible */
            r->gold[i][j] = mark;
            r->links += mark == 2;
        }
    }
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- ranking */

/* The aligner's links, and whose small words the corpus has. */
static rg_status align_all(rg_linked_corpus *c, ranking *r, rg_corpus *corpus, int iterations)
{
    rg_small_words source = { 0 }, target = { 0 };
    RG_TRY(rg_linked_corpus_make(c, corpus, iterations));
    for (uint64_t p = 0; p < rg_corpus_pairs(corpus); p++) {
        const size_t *from = c->source_start + p, *to = c->target_start + p;
        RG_TRY(rg_content_count(&source, r->translator->source, c->source.data + from[0], from[1] - from[0]));
        RG_TRY(rg_content_count(&target, r->translator->target, c->target.data + to[0], to[1] - to[0]));
    }
    r->source_language = rg_content_language(&source);
    r->target_language = rg_content_language(&target);
    return RG_OK;
}

static rg_status watch_pair(ranking *r, rg_tape *tape, const rg_batch *b)
{
    const rg_watcher watcher = { r, wants, see };
    const rg_model  *m = r->translator->model;
    for (size_t i = 0; i < r->points; i++) r->point[i].row = 0;
    rg_tape_reset(tape, 0);
    rg_tape_set_watcher(tape, &watcher);
    m->system->loss(tape, m, b);
    rg_tape_set_watcher(tape, NULL);
    RG_TRY(rg_tape_status(tape));
    return r->status;
}

static rg_status mark_content(ranking *r, const rg_batch *b)
{
    rg_free(r->source_content);
    rg_free(r->target_content);
    r->target_content = NULL;
    if (!(r->source_content = rg_alloc_zero(r->source_length + 1)) ||
        !(r->target_content = rg_alloc_zero(r->target_length + 1)))
        return RG_ENOMEM;
    RG_TRY(rg_content_mark(r->source_content, r->source_language, r->translator->source, b->field[RG_SOURCE].ids,
                           r->source_length));
    return rg_content_mark(r->target_content, r->target_language, r->translator->target, b->field[RG_TARGET].ids,
                           r->target_length);
}

static rg_status run(ranking *r, rg_corpus *corpus, const rg_head_ranks_config *c, size_t *out_pairs)
{
    const rg_tape_config config = { .record = false };
    rg_tape             *tape = NULL;
    rg_lines            *gold = NULL;
    rg_linked_corpus     linked = { 0 };
    rg_ids               source_words = { 0 }, target_words = { 0 };
    rg_status            status = rg_tape_new(&tape, &config);
    if (status == RG_OK)
        status = c->gold ? rg_lines_open(&gold, c->gold, NULL) : align_all(&linked, r, corpus, c->iterations);
    for (uint64_t p = 0; status == RG_OK && p < rg_corpus_pairs(corpus) && p < c->most; p++) {
        rg_batch b;
        if ((status = rg_corpus_pair(&b, corpus, p)) != RG_OK) break;
        r->source_length = (size_t)b.field[RG_SOURCE].layout.start[1] - 1;
        r->target_length = (size_t)b.field[RG_TARGET].layout.start[1] - 1;
        if (gold) {
            rg_line line = { 0 };
            bool    more = true;
            while (status == RG_OK && more && line.number < b.lines[0]) status = rg_lines_next(&more, &line, gold);
            if (status == RG_OK && !more)
                status = rg_fail(RG_EMATCH, "%s ends before line %llu", c->gold, (unsigned long long)b.lines[0]);
            if (status == RG_OK && (status = read_gold(r, &line)) != RG_OK) rg_fail_in(status, "%s, ", c->gold);
            if (status == RG_OK) status = rg_ids_reserve(&source_words, r->source_length);
            if (status == RG_OK) status = rg_ids_reserve(&target_words, r->target_length);
            if (status != RG_OK) break;
            rg_content_number(r->source_word = source_words.data, r->translator->source, b.field[RG_SOURCE].ids,
                              r->source_length);
            rg_content_number(r->target_word = target_words.data, r->translator->target, b.field[RG_TARGET].ids,
                              r->target_length);
        } else {
            r->link = linked.link + linked.target_start[p];
            if ((status = mark_content(r, &b)) != RG_OK) break;
            for (size_t j = 0; j < r->target_length; j++) {
                r->links += r->link[j] >= 0;
                r->content_links += r->link[j] >= 0 && r->target_content[j] && r->source_content[r->link[j]];
            }
        }
        status = watch_pair(r, tape, &b);
        *out_pairs = (size_t)p + 1;
    }
    rg_ids_free(&source_words);
    rg_ids_free(&target_words);
    rg_lines_close(gold);
    rg_linked_corpus_free(&linked);
    rg_tape_free(tape);
    return status;
}

static int best_first(const void *a, const void *b)
{
    const rg_head_score *x = a, *y = b;
    if (x->content != y->content) return x->content > y->content ? -1 : 1;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    const int name = strcmp(x->name, y->name);
    return name ? name : x->head - y->head;
}

static rg_status collect(rg_head_ranks *out, const ranking *r, bool gold)
{
    size_t n = 0;
    for (size_t i = 0; i < r->points; i++) n += r->point[i].heads + 1;
    if (!n)
        return rg_fail(RG_EINVAL, "a %s does not look at its source: there is no head to rank",
                       r->translator->model->system->name);
    if (!(out->score = rg_alloc_zero(n * sizeof *out->score))) return RG_ENOMEM;
    out->links = (size_t)r->links;
    out->content_links = (size_t)r->content_links;
    out->source_language = r->source_language;
    out->target_language = r->target_language;
    for (size_t i = 0; i < r->points; i++) {
        const point *p = &r->point[i];
        for (size_t h = 0; h <= p->heads; h++) {
            if (h == p->heads && p->heads == 1) continue; /* the mean of one */
            const double   of = gold ? p->made[h] + r->links : r->links;
            rg_head_score *s = &out->score[out->count];
            if (!(s->name = rg_strdup(p->name))) return RG_ENOMEM;
            s->head = h == p->heads ? -1 : (int)h;
            s->score = of > 0 ? (gold ? p->hit[h] + p->sure_hit[h] : p->hit[h]) / of : 0;
            s->content = r->content_links > 0 ? p->content[h] / r->content_links : 0;
            out->count++;
        }
    }
    qsort(out->score, out->count, sizeof *out->score, best_first);
    return RG_OK;
}

rg_status rg_head_ranks_new(rg_head_ranks **out, const rg_translator *translator, rg_corpus *corpus,
                            const rg_head_ranks_config *config)
{
    ranking  *r = rg_alloc_zero(sizeof *r);
    rg_head_ranks *heads = rg_alloc_zero(sizeof *heads);
    rg_status status = r && heads ? RG_OK : RG_ENOMEM;
    *out = NULL;
    if (status == RG_OK) r->translator = translator, r->shift = config->shift;
    if (status == RG_OK && config->gold && !(r->gold = rg_alloc_zero(WORDS * sizeof *r->gold))) status = RG_ENOMEM;
    if (status == RG_OK) status = run(r, corpus, config, &heads->pairs);
    if (status == RG_OK) status = collect(heads, r, config->gold != NULL);
    for (size_t i = 0; r && i < r->points; i++) {
        rg_free(r->point[i].name);
        rg_free(r->point[i].hit);
    }
    if (r) {
        rg_free(r->gold);
        rg_free(r->source_content);
        rg_free(r->target_content);
    }
    rg_free(r);
    if (status != RG_OK) rg_head_ranks_free(heads);
    else *out = heads;
    return status;
}

void rg_head_ranks_free(rg_head_ranks *heads)
{
    if (!heads) return;
    for (size_t i = 0; i < heads->count; i++) rg_free(heads->score[i].name);
    rg_free(heads->score);
    rg_free(heads);
}

rg_status rg_head_ranks_choose(rg_translator *t, const rg_head_score *score, bool shift)
{
    char *name = rg_strdup(score->name);
    if (!name) return RG_ENOMEM;
    rg_free(t->alignment_name);
    t->alignment_name = name;
    t->alignment_head = score->head;
    t->alignment_shift = shift;
    return RG_OK;
}
