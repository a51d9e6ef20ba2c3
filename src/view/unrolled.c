/* unrolled.c - see unrolled.h. */
#include "regard/unrolled.h"

#include "view/buffer.h"

#include <math.h>
#include <string.h>

enum { MOST_WORDS = 200, MOST_UNITS = 64, WEIGHTS = 4 };

/* W, U, the candidate's U of a GRU, V. */
typedef struct {
    size_t     rows, cols;
    rg_real   *data; /* owned */
    rg_tensor *on_tape;
} weight;

typedef struct {
    const rg_unrolled_options *o;
    weight                     w[WEIGHTS];
    rg_tensor                **h, **c, **logits; /* of each step, on the tape */
    rg_tensor                 *loss;
} network;

/* --------------------------------------------------------------------------------------------------------- words */

static rg_status number_of(size_t *out, rg_unrolled *u, const char *word, size_t bytes)
{
    for (*out = 0; *out < u->words; ++*out)
        if (strlen(u->word[*out]) == bytes && memcmp(u->word[*out], word, bytes) == 0) return RG_OK;
    u->word[u->words] = rg_format("%.*s", (int)bytes, word);
    return u->word[u->words++] ? RG_OK : RG_ENOMEM;
}

static rg_status read_words(rg_unrolled *u, const char *text)
{
    static const char blanks[] = " \t\n\r";
    size_t            numbers[MOST_WORDS], n = 0;
    for (const char *at = text; *(at += strspn(at, blanks)); at += strcspn(at, blanks)) {
        if (n == MOST_WORDS) return rg_fail(RG_EINVAL, "the text has more than %d words", MOST_WORDS);
        RG_TRY(number_of(&numbers[n++], u, at, strcspn(at, blanks)));
    }
    if (n < 2) return rg_fail(RG_EINVAL, "a text of %zu words: two are needed, one to read and one to predict", n);
    u->steps = n - 1;
    for (size_t t = 0; t < u->steps; t++) u->step[t].word = numbers[t], u->step[t].next = numbers[t + 1];
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------- network */

/* Uniform in +- 1 / sqrt(units). */
static rg_status draw_weights(network *n, size_t words)
{
    const size_t u = n->o->units, gates = rg_recurrence_gates(n->o->cell);
    const bool   gru = n->o->cell == RG_GRU;
    const size_t shape[WEIGHTS][2] = { { words, gates * u }, { u, gru ? 2 * u : gates * u }, { gru ? u : 0, u }, { u, words } };
    rg_random    random = rg_random_new(n->o->seed, 0);
    for (size_t i = 0; i < WEIGHTS; i++) {
        weight *w = &n->w[i];
        *w = (weight){ .rows = shape[i][0], .cols = shape[i][1] };
        if (!w->rows) continue;
        if (!(w->data = rg_alloc_array(w->rows * w->cols, sizeof *w->data))) return RG_ENOMEM;
        for (size_t k = 0; k < w->rows * w->cols; k++)
            w->data[k] = (rg_real)((2 * rg_random_uniform(&random) - 1) / sqrt((double)u));
    }
    return RG_OK;
}

static rg_status forward(network *n, rg_tape *t, const rg_unrolled *u)
{
    const size_t T = u->steps;
    for (size_t i = 0; i < WEIGHTS; i++)
        if (n->w[i].rows) n->w[i].on_tape = rg_input(t, n->w[i].data, n->w[i].rows, n->w[i].cols, NULL);
    const rg_recurrent_weights w = { .w = n->w[0].on_tape, .u = n->w[1].on_tape, .u_new = n->w[2].on_tape };
    const bool                 cells = n->o->cell == RG_LSTM;
    rg_tensor                 *h = rg_zeros(t, 1, u->units, NULL), *c = cells ? rg_zeros(t, 1, u->units, NULL) : NULL;
    rg_tensor                **kept = rg_tape_memory(t, 3 * T * sizeof *kept);
    rg_real                   *x = rg_tape_memory(t, u->words * sizeof *x);
    n->loss = NULL;
    if (!kept || !x) return rg_tape_status(t);
    n->h = kept, n->c = kept + T, n->logits = kept + 2 * T;
    for (size_t k = 0; k < T; k++) {
        const int32_t next = (int32_t)u->step[k].next;
        memset(x, 0, u->words * sizeof *x);
        x[u->step[k].word] = 1;
        h = rg_recurrent_cell(t, n->o->cell, &w, rg_input(t, x, 1, u->words, NULL), h, c, cells ? &c : NULL);
        n->h[k] = h, n->c[k] = c, n->logits[k] = rg_matmul(t, h, n->w[3].on_tape);
        rg_tensor *loss = rg_cross_entropy(t, n->logits[k], &next, 0);
        n->loss = n->loss ? rg_add(t, n->loss, loss) : loss;
    }
    return rg_tape_status(t);
}

static rg_status descend(network *n, rg_tape *t)
{
    RG_TRY(rg_tape_backward(t, n->loss));
    for (size_t i = 0; i < WEIGHTS; i++) {
        const rg_real *g = n->w[i].rows ? rg_tape_gradient(t, n->w[i].on_tape) : NULL;
        for (size_t k = 0; g && k < n->w[i].rows * n->w[i].cols; k++)
            n->w[i].data[k] -= (rg_real)(n->o->rate * (double)g[k]);
    }
    return RG_OK;
}

/* ---------------------------------------------------------------------------------------------------------- kept */

static void keep_row(double *out, const rg_tensor *x, size_t count)
{
    for (size_t i = 0; i < count; i++) out[i] = (double)rg_tensor_at(x, 0, i);
}

static void keep_step(rg_unrolled *u, size_t k, const network *n, double *numbers)
{
    rg_unrolled_step *s = &u->step[k];
    double           *h = numbers, *c = h + u->units, *y = c + u->units, sum = 0, most = -INFINITY;
    keep_row(h, n->h[k], u->units);
    if (n->o->cell == RG_LSTM) keep_row(c, n->c[k], u->units);
    keep_row(y, n->logits[k], u->words);
    for (size_t i = 0; i < u->words; i++) most = fmax(most, y[i]);
    for (size_t i = 0; i < u->words; i++) sum += y[i] = exp(y[i] - most);
    for (size_t i = 0; i < u->words; i++) y[i] /= sum;
    s->h = h, s->c = n->o->cell == RG_LSTM ? c : NULL, s->y = y;
    s->loss = -log(y[s->next]);
    s->sum = s->loss + (k ? u->step[k - 1].sum : 0);
}

static rg_status run(rg_unrolled *u, network *n, rg_tape *t)
{
    RG_TRY(draw_weights(n, u->words));
    for (size_t i = 0; i < n->o->updates; i++) {
        rg_tape_reset(t, i);
        RG_TRY(forward(n, t, u));
        RG_TRY(descend(n, t));
    }
    rg_tape_reset(t, n->o->updates);
    RG_TRY(forward(n, t, u));
    const size_t each = 2 * u->units + u->words;
    if (!(u->numbers = rg_alloc_array(u->steps * each, sizeof *u->numbers))) return RG_ENOMEM;
    for (size_t k = 0; k < u->steps; k++) keep_step(u, k, n, u->numbers + k * each);
    u->loss = (double)rg_tensor_at(n->loss, 0, 0);
    if (!isfinite(u->loss))
        return rg_fail(RG_ENUMBER, "the loss is not finite after %zu updates at rate %g; try a smaller one", n->o->updates,
                       n->o->rate);
    return RG_OK;
}

rg_status rg_unrolled_new(rg_unrolled **out, const char *text, const rg_unrolled_options *o)
{
    const rg_tape_config config = RG_TAPE_CONFIG_DEFAULT;
    network              n = { .o = o };
    rg_tape             *t = NULL;
    if (o->units < 1 || o->units > MOST_UNITS)
        return rg_fail(RG_EINVAL, "%zu units; 1 to %d can be shown", o->units, MOST_UNITS);
    rg_unrolled *u = rg_alloc_zero(sizeof *u);
    if (!u) return RG_ENOMEM;
    u->units = o->units;
    u->word = rg_alloc_zero(MOST_WORDS * sizeof *u->word);
    u->step = rg_alloc_zero(MOST_WORDS * sizeof *u->step);
    rg_status status = u->word && u->step ? read_words(u, text) : RG_ENOMEM;
    if (status == RG_OK) status = rg_tape_new(&t, &config);
    if (status == RG_OK) status = run(u, &n, t);
    for (size_t i = 0; i < WEIGHTS; i++) rg_free(n.w[i].data);
    rg_tape_free(t);
    if (status == RG_OK) *out = u;
    else rg_unrolled_free(u);
    return status;
}

void rg_unrolled_free(rg_unrolled *u)
{
    if (!u) return;
    for (size_t i = 0; u->word && i < u->words; i++) rg_free(u->word[i]);
    rg_free(u->word);
    rg_free(u->step);
    rg_free(u->numbers);
    rg_free(u);
}

/* ---------------------------------------------------------------------------------------------------------- JSON */

static void add_list(rg_buffer *b, const char *name, const double *x, size_t count)
{
    rg_buffer_format(b, ", \"%s\": [", name);
    for (size_t i = 0; i < count; i++) rg_buffer_format(b, "%s%.9g", i ? ", " : "", x[i]);
    rg_buffer_format(b, "]");
}

rg_status rg_unrolled_to_json(char **out, const rg_unrolled *u)
{
    rg_buffer b = RG_BUFFER_EMPTY;
    for (size_t i = 0; i < u->words; i++) {
        rg_buffer_format(&b, i ? ", " : "{\"words\": [");
        rg_buffer_json(&b, u->word[i]);
    }
    rg_buffer_format(&b, "], \"steps\": [");
    for (size_t k = 0; k < u->steps; k++) {
        const rg_unrolled_step *s = &u->step[k];
        rg_buffer_format(&b, "%s{\"word\": %zu, \"next\": %zu", k ? ", " : "", s->word, s->next);
        if (s->c) add_list(&b, "c", s->c, u->units);
        add_list(&b, "h", s->h, u->units);
        add_list(&b, "y", s->y, u->words);
        rg_buffer_format(&b, ", \"loss\": %.9g, \"sum\": %.9g}", s->loss, s->sum);
    }
    rg_buffer_format(&b, "], \"loss\": %.9g}", u->loss);
    return rg_buffer_take(out, NULL, &b);
}
