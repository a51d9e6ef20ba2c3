/* language_mask.c - see language_mask.h. */
#include "tasks/language_mask.h"

#include <math.h>
#include <string.h>

#include "data/text/words.h"

typedef struct {
    uint64_t from, end; /* tokens of the text; `end` is behind the </s> of the last line */
} document;

typedef struct {
    document *at;
    size_t    count, room;
    uint64_t  tokens; /* of all */
} documents;

struct rg_masked {
    rg_masked_config config;
    documents        documents; /* one of the whole text where nobody asks for them */
    size_t           inside;    /* most tokens of a window that are text            */
    uint64_t         windows, batches;
    rg_place         place;
    int32_t         *input, *target, *segment, *start, *follows, *follows_start, *token;
    uint64_t        *lines;
};

/* ------------------------------------------------------------------------------------------------------- documents */

static rg_status add_document(documents *d, uint64_t from, uint64_t end)
{
    if (d->count == d->room) {
        const size_t room = d->room ? 2 * d->room : 64;
        document    *more = rg_realloc(d->at, room * sizeof *more);
        if (!more) return RG_ENOMEM;
        d->at = more;
        d->room = room;
    }
    d->at[d->count++] = (document){ from, end };
    d->tokens += end - from;
    return RG_OK;
}

/* Runs of tokens between empty lines, which are </s> alone. */
static rg_status find_documents(documents *out, const rg_text_range *text, int32_t eos)
{
    enum { AT_ONCE = 4096 };
    int32_t  *ids = rg_alloc_array(AT_ONCE, sizeof *ids);
    uint64_t  from = 0;
    bool      begins = true, inside = false; /* a line; a document */
    rg_status status = ids ? RG_OK : RG_ENOMEM;
    for (uint64_t at = 0; status == RG_OK && at < text->count;) {
        const uint64_t left = text->count - at;
        const size_t   n = left < AT_ONCE ? (size_t)left : AT_ONCE;
        status = rg_running_read(ids, text->text, text->from + at, n);
        for (size_t i = 0; status == RG_OK && i < n; i++) {
            const bool empty = begins && ids[i] == eos;
            if (empty && inside) status = add_document(out, from, at + i);
            if (!inside && !empty) from = at + i;
            inside = !empty;
            begins = ids[i] == eos;
        }
        at += n;
    }
    if (status == RG_OK && inside) status = add_document(out, from, text->count);
    rg_free(ids);
    return status;
}

rg_status rg_masked_documents(uint64_t *out, const rg_text_range *text, int32_t eos)
{
    documents       found = { 0 };
    const rg_status status = find_documents(&found, text, eos);
    *out = found.count;
    rg_free(found.at);
    return status;
}

/* The document of a token, or the next one behind it. */
static size_t document_of(const documents *d, uint64_t token)
{
    size_t low = 0, high = d->count - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->at[middle].end > token) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* ----------------------------------------------------------------------------------------------------------- making */

static rg_status prepare(rg_masked *m)
{
    const rg_masked_config *o = &m->config;
    const size_t            signs = o->documents ? 3 : 2;
    if (o->context < signs + 2)
        return rg_fail(RG_EINVAL, "--context %zu: a window has <s>, </s>%s and two tokens of text at least", o->context,
                       o->documents ? ", </s>" : "");
    m->inside = o->context - signs;
    if (o->documents) RG_TRY(find_documents(&m->documents, &o->text, rg_vocab_eos(o->vocab)));
    else RG_TRY(add_document(&m->documents, 0, o->text.count));
    if (o->documents && m->documents.count < 2)
        return rg_fail(RG_EINVAL, "pairs of segments need two documents at least, with an empty line between them");
    if (!m->documents.tokens) return rg_fail(RG_EINVAL, "a text without a token has no window");
    m->windows = (o->text.count + m->inside - 1) / m->inside;
    m->batches = (m->windows + o->batch - 1) / o->batch;
    return RG_OK;
}

rg_status rg_masked_new(rg_masked **out, const rg_masked_config *config)
{
    size_t rows;
    *out = NULL;
    if (!config->batch || !rg_size_mul(&rows, config->batch, config->context) || rows > INT32_MAX)
        return rg_fail(RG_ELIMIT, "a batch of %zu windows of %zu rows", config->batch, config->context);
    rg_masked *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    m->config = *config;
    m->input = rg_alloc_array(rows, sizeof *m->input);
    m->target = rg_alloc_array(rows, sizeof *m->target);
    m->segment = rg_alloc_array(rows, sizeof *m->segment);
    m->token = rg_alloc_array(config->context, sizeof *m->token);
    m->start = rg_alloc_zero((config->batch + 1) * sizeof *m->start);
    m->follows = rg_alloc_array(config->batch, sizeof *m->follows);
    m->follows_start = rg_alloc_zero((config->batch + 1) * sizeof *m->follows_start);
    m->lines = rg_alloc_array(config->batch, sizeof *m->lines);
    const bool there =
        m->input && m->target && m->segment && m->token && m->start && m->follows && m->follows_start && m->lines;
    rg_status  status = there ? prepare(m) : RG_ENOMEM;
    if (status != RG_OK) rg_masked_free(m);
    else *out = m;
    return status;
}

void rg_masked_free(rg_masked *m)
{
    if (!m) return;
    rg_free(m->input);
    rg_free(m->target);
    rg_free(m->segment);
    rg_free(m->token);
    rg_free(m->start);
    rg_free(m->follows);
    rg_free(m->follows_start);
    rg_free(m->lines);
    rg_free(m->documents.at);
    rg_free(m);
}

/* --------------------------------------------------------------------------------------------------------- windows */

/* A window that grows. */
typedef struct {
    int32_t *input, *target, *segment;
    size_t   rows;
} window;

static void add_row(window *w, int32_t token, int32_t segment)
{
    w->input[w->rows] = token;
    w->target[w->rows] = -1;
    w->segment[w->rows++] = segment;
}

/* n tokens from `at` on, behind them </s> unless it is there already. */
static rg_status add_text(rg_masked *m, window *w, uint64_t at, size_t n, int32_t segment)
{
    const rg_masked_config *o = &m->config;
    const int32_t           eos = rg_vocab_eos(o->vocab);
    RG_TRY(rg_running_read(m->token, o->text.text, o->text.from + at, n));
    for (size_t i = 0; i < n; i++) add_row(w, m->token[i], segment);
    if (!n || m->token[n - 1] != eos) add_row(w, eos, segment);
    return RG_OK;
}

/* Where the line of token `at` begins, if that is not further back than a window. */
static rg_status line_start(uint64_t *out, rg_masked *m, const document *d, uint64_t at)
{
    const uint64_t back = at - d->from < m->inside ? at - d->from : m->inside;
    *out = at;
    if (!back) return RG_OK;
    RG_TRY(rg_running_read(m->token, m->config.text.text, m->config.text.from + at - back, (size_t)back));
    for (size_t i = (size_t)back; i > 0; i--)
        if (m->token[i - 1] == rg_vocab_eos(m->config.vocab)) return *out = at - back + i, RG_OK;
    if (back == at - d->from) *out = d->from;
    return RG_OK;
}

/* How many of n tokens from `at` on are the first segment: up to an end of line that is drawn, half of them where
 * there is none. */
static rg_status split(size_t *out, rg_masked *m, uint64_t at, size_t n, rg_random *random)
{
    size_t ends = 0;
    RG_TRY(rg_running_read(m->token, m->config.text.text, m->config.text.from + at, n));
    for (size_t i = 0; i + 1 < n; i++) ends += m->token[i] == rg_vocab_eos(m->config.vocab);
    *out = n > 1 ? n / 2 : n;
    if (!ends) return RG_OK;
    uint64_t which = rg_random_below(random, ends);
    for (size_t i = 0; i + 1 < n; i++)
        if (m->token[i] == rg_vocab_eos(m->config.vocab) && !which--) return *out = i + 1, RG_OK;
    return RG_OK;
}

static rg_status add_other(rg_masked *m, window *w, size_t not_this, size_t most, rg_random *random)
{
    const size_t which = (not_this + 1 + (size_t)rg_random_below(random, m->documents.count - 1)) % m->documents.count;
    const document *d = &m->documents.at[which];
    uint64_t        at;
    RG_TRY(line_start(&at, m, d, d->from + rg_random_below(random, d->end - d->from)));
    const uint64_t left = d->end - at;
    return add_text(m, w, at, left < most ? (size_t)left : most, 1);
}

/* Two segments: the second follows the first, or is of another document. */
static rg_status add_pair(rg_masked *m, window *w, int32_t *follows, uint64_t at, rg_random *random)
{
    const size_t    which = document_of(&m->documents, at);
    const document *d = &m->documents.at[which];
    uint64_t        from;
    size_t          first;
    RG_TRY(line_start(&from, m, d, at < d->from ? d->from : at));
    const uint64_t left = d->end - from;
    const size_t   n = left < m->inside ? (size_t)left : m->inside;
    RG_TRY(split(&first, m, from, n, random));
    *follows = first == n || rg_random_below(random, 2);
    add_row(w, rg_vocab_bos(m->config.vocab), 0);
    RG_TRY(add_text(m, w, from, first, 0));
    return *follows ? add_other(m, w, which, m->inside > first ? m->inside - first : 1, random)
                    : add_text(m, w, from + first, n - first, 1);
}

static int32_t any_piece(const rg_vocab *vocab, rg_random *random)
{
    enum { TRIES = 100 };
    int32_t token = 0;
    for (int i = 0; i < TRIES; i++)
        if (!rg_vocab_is_special(vocab, token = (int32_t)rg_random_below(random, rg_vocab_size(vocab)))) break;
    return token;
}

/* Choose exactly the share of the tokens, each equally likely, one at least. */
static void hide(rg_masked *m, window *w, rg_random *random)
{
    const rg_masked_config *o = &m->config;
    size_t                  left = 0;
    for (size_t i = 0; i < w->rows; i++) left += !rg_vocab_is_special(o->vocab, w->input[i]);
    size_t want = (size_t)floor(o->share * (double)left + 0.5);
    if (!want && left) want = 1;
    for (size_t i = 0; i < w->rows; i++) {
        if (rg_vocab_is_special(o->vocab, w->input[i])) continue;
        const bool chosen = rg_random_below(random, left--) < want;
        if (!chosen) continue;
        const uint64_t how = rg_random_below(random, 10);
        want--;
        w->target[i] = w->input[i];
        if (how < 8) w->input[i] = o->mask;
        else if (how == 8) w->input[i] = any_piece(o->vocab, random);
    }
}

static rg_status add_window(rg_masked *m, rg_batch *out, uint64_t at, rg_random *random)
{
    const rg_masked_config *o = &m->config;
    const size_t            g = out->examples, row = (size_t)m->start[g];
    window                  w = { m->input + row, m->target + row, m->segment + row, 0 };
    const uint64_t          left = o->text.count - at;
    m->follows[g] = -1;
    if (o->documents) RG_TRY(add_pair(m, &w, &m->follows[g], at, random));
    else {
        add_row(&w, rg_vocab_bos(o->vocab), 0);
        RG_TRY(add_text(m, &w, at, left < m->inside ? (size_t)left : m->inside, 0));
    }
    hide(m, &w, random);
    m->lines[g] = o->text.from + at + 1;
    m->start[g + 1] = (int32_t)(row + w.rows);
    m->follows_start[g + 1] = o->documents ? (int32_t)(g + 1) : 0;
    out->examples++;
    return RG_OK;
}

rg_status rg_masked_next(bool *out_more, rg_batch *out, rg_masked *m)
{
    const rg_masked_config *o = &m->config;
    *out = (rg_batch){ .fields = 4, .lines = m->lines };
    *out_more = m->place.batch < m->batches;
    if (!*out_more) {
        m->place = (rg_place){ .epoch = m->place.epoch + 1 };
        return RG_OK;
    }
    const uint64_t first = m->place.batch * o->batch, left = m->windows - first, n = left < o->batch ? left : o->batch;
    rg_random      random = rg_random_new(o->seed, (m->place.epoch << 32) + m->place.batch);
    for (uint64_t w = 0; w < n; w++) {
        const uint64_t most = o->text.count > m->inside ? o->text.count - m->inside + 1 : 1;
        RG_TRY(add_window(m, out, o->random ? rg_random_below(&random, most) : (first + w) * m->inside, &random));
    }
    const rg_layout rows = { .groups = out->examples, .start = m->start },
                    pairs = { .groups = out->examples, .start = m->follows_start };
    out->field[RG_SOURCE] = (rg_field){ .kind = RG_FIELD_IDS, .layout = rows, .ids = m->input };
    out->field[RG_TARGET] = (rg_field){ .kind = RG_FIELD_IDS, .layout = rows, .ids = m->target };
    out->field[RG_SEGMENTS] = (rg_field){ .kind = RG_FIELD_TAGS, .layout = rows, .ids = m->segment };
    out->field[RG_FOLLOWS] = (rg_field){ .kind = RG_FIELD_CLASS, .layout = pairs, .ids = m->follows };
    m->place.batch++;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------------ place */

double   rg_masked_epoch_part(const rg_masked *m) { return (double)m->place.batch / (double)m->batches; }
rg_place rg_masked_tell(const rg_masked *m) { return m->place; }

rg_status rg_masked_seek(rg_masked *m, rg_place place)
{
    if (place.batch > m->batches)
        return rg_fail(RG_EMATCH, "batch %llu of an epoch of %llu", (unsigned long long)place.batch,
                       (unsigned long long)m->batches);
    m->place = (rg_place){ .epoch = place.epoch, .batch = place.batch };
    return RG_OK;
}

uint64_t rg_masked_checksum(const rg_masked *m)
{
    const rg_masked_config *o = &m->config;
    const uint64_t settings[] = { o->text.from, o->text.count, o->batch, o->context, (uint64_t)(o->share * 1e6),
                                  o->random,    o->documents,  o->seed };
    return rg_hash_bytes(rg_running_checksum(o->text.text), settings, sizeof settings);
}
