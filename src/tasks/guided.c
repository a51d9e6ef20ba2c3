/* guided.c - the loss of a translation and of one head's alignment (Garg et al. 2019, section 4):
 *
 *     L = L_translation + weight * L_links          L_links: src/attention/guided.c
 *
 * The head's weights are what a watcher sees, so that every system that looks at its source can be guided: the
 * Transformer shows all rows of a batch at once, recurrent systems those of one step after another. Links of words
 * become links of their subwords; </s> and words without a link are left alone.
 *
 * The row that predicts a token does not know it yet. With `shift` the links of a token are learned by the row behind it,
 * which has read it (Chen, Liu, Chen, Jiang, Liu 2020, "Accurate word alignment induction from neural machine
 * translation"). */
#include "tasks/guided.h"

#include <string.h>

#include "attention/guided.h"

enum { POINTS = 64 };

struct rg_guided {
    rg_guided_config     config;
    rg_word_links       *links;
    const rg_translator *translator;
    char                *point;
};

void rg_guided_free(rg_guided *g)
{
    if (!g) return;
    rg_word_links_free(g->links);
    rg_free(g->point);
    rg_free(g);
}

const char *rg_guided_point(const rg_guided *g) { return g->point; }

/* ------------------------------------------------------------------------------------------------ which head */

typedef struct {
    const rg_translator *translator;
    size_t               source, target; /* rows of the pair */
    struct {
        char  *name;
        size_t heads, rows;
    } point[POINTS];
    size_t points;
    bool   out_of_memory;
} probe;

static bool looks_at_source(const rg_translator *t, const char *name)
{
    return rg_attention_use_crosses(rg_attention_use_find(t->model->system->uses, name));
}

static bool probe_wants(void *context, const char *name)
{
    return looks_at_source(((probe *)context)->translator, name);
}

static void probe_see(void *context, const char *name, const rg_tensor *x, const void *data)
{
    probe          *p = context;
    const rg_reach *reach = data;
    size_t          i = 0;
    if (!reach || !reach->begin || reach->Nk != p->source || rg_tensor_rows(x) != reach->P) return;
    while (i < p->points && strcmp(p->point[i].name, name) != 0) i++;
    if (i == POINTS) return;
    if (i == p->points) {
        if (!(p->point[i].name = rg_strdup(name))) p->out_of_memory = true;
        if (p->out_of_memory) return;
        p->point[i].heads = rg_tensor_cols(x);
        p->points++;
    }
    p->point[i].rows += reach->Nq;
}

static rg_status choose(rg_guided *g, const probe *p)
{
    const char *system = g->translator->model->system->name;
    size_t      found[POINTS], n = 0;
    for (size_t i = 0; i < p->points; i++)
        if (p->point[i].rows == p->target) found[n++] = i;
    if (!n) return rg_fail(RG_EINVAL, "a %s has no attention over its source that could be guided", system);
    if (g->config.layer > n)
        return rg_fail(RG_EINVAL, "--guided-alignment-layer %zu: the %s has %zu that look at the source",
                       g->config.layer, system, n);
    const size_t i = found[g->config.layer ? g->config.layer - 1 : n - 1];
    if (g->config.head >= (int)p->point[i].heads)
        return rg_fail(RG_EINVAL, "--guided-alignment-head %d: %s has %zu, counted from 0", g->config.head,
                       p->point[i].name, p->point[i].heads);
    return (g->point = rg_strdup(p->point[i].name)) ? RG_OK : RG_ENOMEM;
}

static rg_status find_point(rg_guided *g, rg_corpus *corpus)
{
    const rg_model      *m = g->translator->model;
    const rg_tape_config config = { .record = false };
    probe                p = { .translator = g->translator };
    const rg_watcher     watcher = { &p, probe_wants, probe_see };
    rg_tape             *tape = NULL;
    rg_batch             b;
    RG_TRY(rg_corpus_pair(&b, corpus, 0));
    p.source = (size_t)b.field[RG_SOURCE].layout.start[1];
    p.target = (size_t)b.field[RG_TARGET].layout.start[1];
    rg_status status = rg_tape_new(&tape, &config);
    if (status == RG_OK) {
        rg_tape_set_watcher(tape, &watcher);
        m->system->loss(tape, m, &b);
        status = p.out_of_memory ? RG_ENOMEM : rg_tape_status(tape);
    }
    if (status == RG_OK) status = choose(g, &p);
    for (size_t i = 0; i < p.points; i++) rg_free(p.point[i].name);
    rg_tape_free(tape);
    return status;
}

rg_status rg_guided_new(rg_guided **out, const rg_guided_config *config, rg_word_links *links,
                        rg_translator *translator, rg_corpus *corpus)
{
    rg_guided *g = rg_alloc_zero(sizeof *g);
    *out = NULL;
    if (!g) rg_word_links_free(links);
    if (!g) return RG_ENOMEM;
    g->config = *config;
    g->links = links;
    g->translator = translator;
    rg_status status = find_point(g, corpus);
    char     *name = status == RG_OK ? rg_strdup(g->point) : NULL;
    if (status == RG_OK && !name) status = RG_ENOMEM;
    if (status != RG_OK) {
        rg_guided_free(g);
        return status;
    }
    rg_free(translator->alignment_name);
    translator->alignment_name = name;
    translator->alignment_head = config->head;
    translator->alignment_shift = config->shift;
    *out = g;
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- its loss */

typedef struct {
    const rg_guided *g;
    rg_tape         *tape;
    const rg_batch  *batch;
    size_t          *row;                       /* of each example: target rows that were seen */
    int             *source_word, *target_word; /* of all rows of the batch */
    rg_tensor       *loss;                      /* so far; NULL: none */
} guiding;

/* The word of each row of a side, or its number among the example's tokens; -1 for </s>. */
static int *number_rows(rg_tape *t, const rg_field *field, const rg_vocab *v, bool tokens, size_t examples)
{
    const int32_t *start = field->layout.start;
    int           *word = rg_tape_memory(t, ((size_t)start[examples] + 1) * sizeof *word);
    for (size_t i = 0; word && i < examples; i++) {
        const size_t n = (size_t)(start[i + 1] - start[i]), end = n && field->ids[start[i + 1] - 1] == rg_vocab_eos(v);
        if (!tokens) rg_word_links_number(word + start[i], v, field->ids + start[i], n - end);
        for (size_t k = 0; k < n; k++)
            if (tokens || k >= n - end) word[(size_t)start[i] + k] = k >= n - end ? -1 : (int)k;
    }
    return word;
}

static bool wants(void *context, const char *name) { return strcmp(((guiding *)context)->g->point, name) == 0; }

/* The example whose source has this row. */
static size_t example_of(const rg_batch *b, int32_t row)
{
    size_t low = 0, high = b->examples;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (b->field[RG_SOURCE].layout.start[middle] <= row) low = middle;
        else high = middle;
    }
    return low;
}

/* The pairs of query q that its target row is linked with. */
static void mark_query(unsigned char *mark, guiding *x, const rg_reach *reach, size_t q)
{
    const size_t  e = example_of(x->batch, reach->begin[q]);
    const int32_t first = x->batch->field[RG_TARGET].layout.start[e],
                  target = first + (int32_t)x->row[e]++ - (x->g->config.shift ? 1 : 0);
    const uint16_t(*link)[2] = NULL;
    if (target < first || target >= x->batch->field[RG_TARGET].layout.start[e + 1] || x->target_word[target] < 0) return;
    const size_t n = rg_word_links_of(&link, x->g->links, x->batch->lines[e]);
    for (size_t k = 0; k < n; k++)
        for (size_t p = reach->first[q]; link[k][1] == x->target_word[target] && p < reach->first[q + 1]; p++)
            if (x->source_word[(size_t)reach->begin[q] + (p - reach->first[q])] == link[k][0]) mark[p] = 1;
}

static void see(void *context, const char *name, const rg_tensor *a, const void *data)
{
    guiding        *x = context;
    const rg_reach *reach = data;
    (void)name;
    if (!reach || !reach->begin || rg_tensor_rows(a) != reach->P) return;
    unsigned char *mark = rg_tape_memory(x->tape, reach->P + 1);
    if (!mark) return; /* the tape knows */
    memset(mark, 0, reach->P + 1);
    for (size_t q = 0; q < reach->Nq; q++) mark_query(mark, x, reach, q);
    /* A watcher may look, not touch; this one adds a consumer of the weights, which changes none of their numbers. */
    rg_tensor *loss = rg_guided_loss(x->tape, (rg_tensor *)a, reach, mark, x->g->config.head);
    x->loss = x->loss ? rg_add(x->tape, x->loss, loss) : loss;
}

rg_loss rg_guided_loss_of(const rg_guided *g, rg_tape *t, const rg_batch *batch)
{
    const rg_translator *r = g->translator;
    const bool           tokens = rg_word_links_are_of_tokens(g->links);
    guiding              x = { .g = g, .tape = t, .batch = batch };
    const rg_watcher     watcher = { &x, wants, see };
    x.row = rg_tape_memory(t, (batch->examples + 1) * sizeof *x.row);
    x.source_word = number_rows(t, &batch->field[RG_SOURCE], r->source, tokens, batch->examples);
    x.target_word = number_rows(t, &batch->field[RG_TARGET], r->target, tokens, batch->examples);
    if (!x.row || !x.source_word || !x.target_word) return (rg_loss){ 0 };
    memset(x.row, 0, (batch->examples + 1) * sizeof *x.row);
    rg_tape_set_watcher(t, &watcher);
    rg_loss loss = r->model->system->loss(t, r->model, batch);
    rg_tape_set_watcher(t, NULL);
    if (loss.sum && x.loss) loss.sum = rg_add(t, loss.sum, rg_scale(t, x.loss, g->config.weight));
    return loss;
}
