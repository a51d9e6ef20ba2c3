/* cache.c - recent translations: a sentence that was translated a moment ago is not searched for again.
 *
 *     key     model, its file, how many answers, links or scores wanted, text of the sentence
 *     value   answers | links of each (where tags go) | scores
 *
 * What is kept is what the search found, before it is put into a document, so that the answer has the bytes it would
 * have had. Requests with a glossary and records of attention are not kept. */
#include "serve/serve.h"

#include <string.h>

static bool asks_for_scores(const rg_request *r) { return r->scores && r->at + 1 == r->legs; }

static bool can_be_kept(const rg_request *r)
{
    return r->server->cache && r->holds && r->holds->stamp && !r->glossary && !r->attention;
}

static rg_status key_of(rg_text *out, const rg_request *r, const rg_part *line)
{
    return rg_text_print(out, "%td %016llx %zu %d%d\n%s", r->holds - r->server->models.model,
                         (unsigned long long)r->holds->stamp, r->alternatives, line->marked, asks_for_scores(r),
                         line->text);
}

/* -------------------------------------------------------------------------------------------------------- writing */

static rg_status add_count(rg_text *out, size_t count)
{
    const uint64_t n = count;
    return rg_text_add(out, &n, sizeof n);
}

static rg_status add_bytes(rg_text *out, const void *bytes, size_t count)
{
    RG_TRY(add_count(out, count));
    return count ? rg_text_add(out, bytes, count) : RG_OK;
}

static rg_status add_links(rg_text *out, const rg_links *l)
{
    RG_TRY(add_count(out, l->targets));
    RG_TRY(add_count(out, l->sources));
    RG_TRY(add_bytes(out, l->target, l->targets * sizeof *l->target));
    RG_TRY(add_bytes(out, l->source, l->source ? l->sources * sizeof *l->source : 0));
    return add_bytes(out, l->sum, l->sum ? l->targets * (l->sources + 1) * sizeof *l->sum : 0);
}

static rg_status add_answer(rg_text *out, const rg_request *r, const rg_part *line, const rg_translated *result,
                            size_t rank)
{
    const char *text = result->best[rank].text;
    rg_links    links = { 0 };
    rg_status   status = add_bytes(out, text, strlen(text) + 1);
    if (status == RG_OK && line->marked) status = rg_links_make(&links, r->holds->translator, line->text, result, rank);
    if (status == RG_OK && line->marked) status = add_links(out, &links);
    rg_links_free(&links);
    return status;
}

static rg_status add_score(rg_text *out, const json_t *score)
{
    char           *text = score ? json_dumps(score, JSON_COMPACT) : NULL;
    const rg_status status = text ? add_bytes(out, text, strlen(text) + 1) : RG_ENOMEM;
    free(text);
    return status;
}

void rg_recent_keep(const rg_request *r, const rg_part *line, const rg_translated *result)
{
    rg_text      key = { 0 }, value = { 0 };
    const size_t most = r->alternatives + 1, count = result->count < most ? result->count : most;
    if (!can_be_kept(r) || !count) return;
    rg_status status = key_of(&key, r, line);
    if (status == RG_OK) status = add_count(&value, count);
    for (size_t k = 0; status == RG_OK && k < count; k++) status = add_answer(&value, r, line, result, k);
    if (status == RG_OK && asks_for_scores(r)) status = add_score(&value, line->score);
    const rg_store_piece whole = { value.data, value.length };
    if (status == RG_OK) rg_store_put(r->server->cache, key.data, key.length, &whole, 1);
    rg_text_free(&key);
    rg_text_free(&value);
}

/* -------------------------------------------------------------------------------------------------------- reading */

typedef struct {
    const char *at;
    size_t      left;
} cursor;

static bool take(void *out, cursor *c, size_t bytes)
{
    if (bytes > c->left) return false;
    if (bytes) memcpy(out, c->at, bytes);
    c->at += bytes;
    c->left -= bytes;
    return true;
}

static bool take_count(size_t *out, cursor *c, size_t most)
{
    uint64_t n;
    if (!take(&n, c, sizeof n) || n > most) return false;
    *out = (size_t)n;
    return true;
}

/* Bytes that begin with their number, which may be 0: a copy, or NULL. */
static bool take_array(void *out, cursor *c, size_t expected)
{
    size_t n;
    void  *copy = NULL;
    if (!take_count(&n, c, c->left) || (n && n != expected) || (n && !(copy = rg_alloc(n)))) return false;
    memcpy(out, &copy, sizeof copy);
    return take(copy, c, n);
}

static bool take_links(rg_links *l, cursor *c)
{
    const size_t most = c->left / sizeof(double);
    return take_count(&l->targets, c, most) && take_count(&l->sources, c, most) &&
           take_array(&l->target, c, l->targets * sizeof *l->target) &&
           take_array(&l->source, c, l->sources * sizeof *l->source) &&
           take_array(&l->sum, c, l->targets * (l->sources + 1) * sizeof *l->sum);
}

/* The text stays in the cursor's bytes. */
static const char *take_text(cursor *c)
{
    size_t      n;
    const char *text = NULL;
    if (!take_count(&n, c, c->left) || !n || n > c->left || c->at[n - 1]) return NULL;
    text = c->at;
    c->at += n;
    c->left -= n;
    return text;
}

static bool take_answer(rg_part *line, cursor *c, size_t rank)
{
    rg_links    links = { 0 };
    rg_text     out = { 0 };
    const char *text = take_text(c);
    const bool  good = text && (!line->marked || take_links(&links, c)) &&
                      rg_document_render(&out, line->segments->document, line->number, text,
                                         line->marked ? &links : NULL) == RG_OK &&
                      (line->best[rank] = rg_strdup(rg_text_c(&out)));
    rg_links_free(&links);
    rg_text_free(&out);
    return good;
}

static void forget(rg_part *line)
{
    for (size_t k = 0; line->best && k < line->count; k++) rg_free(line->best[k]);
    rg_free(line->best);
    json_decref(line->score);
    line->best = NULL;
    line->score = NULL;
    line->count = 0;
}

static bool read_all(rg_part *line, cursor *c, const rg_request *r)
{
    const char *score = NULL;
    size_t      count;
    if (!take_count(&count, c, r->alternatives + 1) || !(line->best = rg_alloc_zero((count + 1) * sizeof *line->best)))
        return false;
    for (; line->count < count; line->count++)
        if (!take_answer(line, c, line->count)) return false;
    if (!asks_for_scores(r)) return true;
    return (score = take_text(c)) && (line->score = json_loads(score, 0, NULL));
}

bool rg_recent_recall(rg_part *line, const rg_request *r)
{
    rg_text key = { 0 }, value = { 0 };
    if (!can_be_kept(r)) return false;
    bool found = key_of(&key, r, line) == RG_OK && rg_store_get(&value, r->server->cache, key.data, key.length, 0) &&
                 read_all(line, &(cursor){ value.data, value.length }, r);
    if (!found) forget(line);
    rg_count_add(r->server, found ? RG_COUNT_CACHE_HITS : RG_COUNT_CACHE_MISSES, 1);
    rg_text_free(&key);
    rg_text_free(&value);
    return found;
}
