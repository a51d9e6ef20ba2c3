/* ngram.c - see ngram.h. One table of all 1-, 2- and 3-grams, by open addressing; a 1- or 2-gram is also a context. */
#include "lab/ngram.h"

#include <math.h>

#include "lab/lm_judge.h"
#include "regard/text.h"

typedef struct {
    uint64_t key;          /* 0: free */
    uint32_t count, types; /* how often it occurs; how many different tokens follow it */
    uint32_t total;        /* how often a token follows it */
    double   lower;        /* sum over those that follow it of their p by the shorter context */
} entry;

struct rg_ngram {
    entry *slot;
    size_t slots, used, V;
    double discount[RG_NGRAM_ORDER + 1], tokens, types; /* types: different single tokens */
};

/* ------------------------------------------------------------------------------------------------------------ table */

/* n tokens, 20 bits each, below a 1 that tells n. */
static uint64_t key_of(const int32_t *ids, size_t n)
{
    uint64_t key = 1;
    for (size_t i = 0; i < n; i++) key = key << 20 | (uint64_t)ids[i];
    return key;
}

static size_t place(const rg_ngram *m, uint64_t key)
{
    uint64_t h = key * 0x9E3779B97F4A7C15u;
    size_t   at = (size_t)(h ^ h >> 29) & (m->slots - 1);
    while (m->slot[at].key && m->slot[at].key != key) at = (at + 1) & (m->slots - 1);
    return at;
}

static rg_status grow(rg_ngram *m)
{
    rg_ngram larger = { .slots = m->slots ? 2 * m->slots : 1 << 12 };
    if (2 * (m->used + 1) <= m->slots) return RG_OK;
    if (!(larger.slot = rg_alloc_zero(larger.slots * sizeof *larger.slot))) return RG_ENOMEM;
    for (size_t i = 0; i < m->slots; i++)
        if (m->slot[i].key) larger.slot[place(&larger, m->slot[i].key)] = m->slot[i];
    rg_free(m->slot);
    m->slot = larger.slot;
    m->slots = larger.slots;
    return RG_OK;
}

/* NULL: it is not there. */
static const entry *find(const rg_ngram *m, const int32_t *ids, size_t n)
{
    const entry *e = &m->slot[place(m, key_of(ids, n))];
    return e->key ? e : NULL;
}

static rg_status add(rg_ngram *m, const int32_t *ids, size_t n)
{
    RG_TRY(grow(m));
    entry *e = &m->slot[place(m, key_of(ids, n))];
    if (!e->key) {
        e->key = key_of(ids, n);
        m->used++;
        if (n == 1) m->types++;
        else m->slot[place(m, key_of(ids, n - 1))].types++; /* the context was counted before */
    }
    e->count++;
    if (n > 1) m->slot[place(m, key_of(ids, n - 1))].total++;
    return RG_OK;
}

/* --------------------------------------------------------------------------------------------------- probabilities */

static double p_of(const rg_ngram *m, const int32_t *ids, size_t n);

/* The share of p(. | context) that is left to tokens which never followed it, over what the shorter context gives
 * them. */
static double weight_of(const rg_ngram *m, const entry *context, size_t n)
{
    const double left = m->discount[n] * (double)context->types / (double)context->total;
    return context->lower < 1 ? left / (1 - context->lower) : 0;
}

/* p(last of ids | the n - 1 before it). */
static double p_of(const rg_ngram *m, const int32_t *ids, size_t n)
{
    const entry *e = find(m, ids, n);
    if (n == 1) {
        const double left = m->discount[1] * m->types / m->tokens / (double)m->V;
        return (e ? ((double)e->count - m->discount[1]) / m->tokens : 0) + left;
    }
    const entry *context = find(m, ids, n - 1);
    if (!context || !context->total) return p_of(m, ids + 1, n - 1);
    if (e) return ((double)e->count - m->discount[n]) / (double)context->total;
    return weight_of(m, context, n) * p_of(m, ids + 1, n - 1);
}

double rg_ngram_p(const rg_ngram *m, const int32_t *before, size_t n, int32_t w)
{
    int32_t      ids[RG_NGRAM_ORDER] = { 0 };
    const size_t used = n < RG_NGRAM_ORDER - 1 ? n : RG_NGRAM_ORDER - 1;
    for (size_t i = 0; i < used; i++) ids[i] = before[n - used + i];
    ids[used] = w;
    return p_of(m, ids, used + 1);
}

/* --------------------------------------------------------------------------------------------------------- counting */

static size_t order_of(uint64_t key)
{
    size_t n = 0;
    while (n < RG_NGRAM_ORDER && key >> (20 * (n + 1))) n++;
    return n;
}

static void find_discounts(rg_ngram *m)
{
    double once[RG_NGRAM_ORDER + 1] = { 0 }, twice[RG_NGRAM_ORDER + 1] = { 0 };
    for (size_t i = 0; i < m->slots; i++) {
        if (!m->slot[i].key) continue;
        const size_t n = order_of(m->slot[i].key);
        once[n] += m->slot[i].count == 1;
        twice[n] += m->slot[i].count == 2;
    }
    for (size_t n = 1; n <= RG_NGRAM_ORDER; n++)
        m->discount[n] = once[n] > 0 ? once[n] / (once[n] + 2 * twice[n]) : 0.5;
}

/* `lower` of all contexts of n - 1 tokens: those of shorter ones are there. */
static void sum_lower(rg_ngram *m, size_t n)
{
    const uint64_t mask = RG_NGRAM_VOCABULARY - 1;
    for (size_t i = 0; i < m->slots; i++) {
        const uint64_t key = m->slot[i].key;
        int32_t        ids[RG_NGRAM_ORDER] = { 0 };
        if (!key || order_of(key) != n) continue;
        for (size_t k = 0; k < n; k++) ids[k] = (int32_t)(key >> (20 * (n - 1 - k)) & mask);
        m->slot[place(m, key_of(ids, n - 1))].lower += p_of(m, ids + 1, n - 1);
    }
}

rg_status rg_ngram_new(rg_ngram **out, const int32_t *ids, size_t count, size_t V)
{
    *out = NULL;
    if (V > RG_NGRAM_VOCABULARY)
        return rg_fail(RG_ELIMIT, "%zu different tokens; n-grams are counted of at most %d", V, RG_NGRAM_VOCABULARY);
    if (!count) return rg_fail(RG_EINVAL, "a text without tokens has no n-grams");
    rg_ngram *m = rg_alloc_zero(sizeof *m);
    if (!m) return RG_ENOMEM;
    m->V = V;
    m->tokens = (double)count;
    rg_status status = RG_OK;
    for (size_t n = 1; n <= RG_NGRAM_ORDER; n++) /* contexts first */
        for (size_t i = 0; status == RG_OK && i + n <= count; i++) status = add(m, ids + i, n);
    if (status == RG_OK) find_discounts(m);
    for (size_t n = 2; status == RG_OK && n <= RG_NGRAM_ORDER; n++) sum_lower(m, n);
    if (status == RG_OK) *out = m;
    else rg_ngram_free(m);
    return status;
}

void rg_ngram_free(rg_ngram *m)
{
    if (m) rg_free(m->slot);
    rg_free(m);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static rg_status learn_tokens(rg_vocab **out, const char *path)
{
    rg_vocab_config    c = RG_VOCAB_CONFIG_DEFAULT;
    const rg_text_side side = { path, -1 };
    RG_TRY(rg_vocab_kind_find(&c.kind, "tokens"));
    c.size = 0;
    return rg_vocab_train_files(out, &c, &side, 1);
}

rg_status rg_ngram_perplexity(double *out, size_t *out_entries, const char *train, const char *test)
{
    rg_vocab *vocab = NULL;
    rg_ngram *m = NULL;
    int32_t  *learned = NULL, *asked = NULL;
    size_t    n = 0, k = 0;
    double    nats = 0;
    rg_status status = learn_tokens(&vocab, train);
    if (status == RG_OK) status = rg_lab_tokens(&learned, &n, vocab, train, 0);
    if (status == RG_OK) status = rg_ngram_new(&m, learned, n, rg_vocab_size(vocab));
    if (status == RG_OK) status = rg_lab_tokens(&asked, &k, vocab, test, 0);
    for (size_t i = 1; status == RG_OK && i < k; i++) nats -= log(rg_ngram_p(m, asked, i, asked[i]));
    if (status == RG_OK) *out = exp(nats / (double)(k - 1)), *out_entries = m->used;
    rg_ngram_free(m);
    rg_vocab_free(vocab);
    rg_free(learned);
    rg_free(asked);
    return status;
}
