/* translation_memory.c - exact matches: an open hash table over texts with squeezed blanks. */
#include "regard/translation_memory.h"

#include <string.h>

#include "base/hash.h"
#include "regard/reader.h"

typedef struct {
    size_t source, target; /* where they stand in `texts`, one more; 0: an empty slot */
} slot;

struct rg_translation_memory {
    rg_text texts; /* a NUL behind each */
    slot   *slots; /* a power of two, at most half of them in use */
    size_t  room, count;
};

static const char *at(const rg_translation_memory *m, size_t place) { return rg_text_c(&m->texts) + place - 1; }

/* The slot of a text: where it is, or where it would be. */
static slot *slot_of(const rg_translation_memory *m, const char *text, size_t bytes)
{
    size_t i = (size_t)rg_hash64_of(text, bytes) & (m->room - 1);
    while (m->slots[i].source && strcmp(at(m, m->slots[i].source), text) != 0) i = (i + 1) & (m->room - 1);
    return &m->slots[i];
}

static rg_status grow(rg_translation_memory *m)
{
    rg_translation_memory larger = { .texts = m->texts, .room = m->room ? 2 * m->room : 1024, .count = m->count };
    if (!(larger.slots = rg_alloc_zero(larger.room * sizeof *larger.slots))) return RG_ENOMEM;
    for (size_t i = 0; i < m->room; i++) {
        if (!m->slots[i].source) continue;
        const char *text = at(m, m->slots[i].source);
        *slot_of(&larger, text, strlen(text)) = m->slots[i];
    }
    rg_free(m->slots);
    *m = larger;
    return RG_OK;
}

static rg_status keep(size_t *out, rg_translation_memory *m, const char *text, size_t bytes)
{
    *out = m->texts.length + 1;
    RG_TRY(rg_text_add(&m->texts, text, bytes));
    return rg_text_add(&m->texts, "", 1);
}

static rg_status squeezed(rg_text *out, const char *text, size_t bytes)
{
    rg_text_clear(out);
    RG_TRY(rg_text_clean(out, text, bytes, RG_TEXT_NFC, NULL));
    rg_text_squeeze(out);
    return RG_OK;
}

static rg_status add(rg_translation_memory *m, const rg_text *source, const rg_text *target)
{
    if (2 * (m->count + 1) > m->room) RG_TRY(grow(m));
    slot *s = slot_of(m, rg_text_c(source), source->length);
    if (!s->source) {
        RG_TRY(keep(&s->source, m, rg_text_c(source), source->length));
        m->count++;
    } else if (strcmp(at(m, s->target), rg_text_c(target)) == 0) return RG_OK;
    return keep(&s->target, m, rg_text_c(target), target->length);
}

static rg_status read_rows(rg_translation_memory *m, rg_reader *r, size_t most)
{
    rg_text   source = { 0 }, target = { 0 };
    rg_status status = RG_OK;
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        status = squeezed(&source, row.cell[0].bytes, row.cell[0].count);
        if (status == RG_OK) status = squeezed(&target, row.cell[1].bytes, row.cell[1].count);
        if (status == RG_OK && source.length && target.length) status = add(m, &source, &target);
        if (status == RG_OK && m->texts.length > most)
            status = rg_fail(RG_ELIMIT, "%s: more than %zu bytes of text", rg_reader_name(r), most);
    }
    rg_text_free(&source);
    rg_text_free(&target);
    return status;
}

rg_status rg_translation_memory_open(rg_translation_memory **out, const char *path, const char *source,
                                     const char *target, size_t most)
{
    static const char *const wanted[] = { "source", "target" };
    rg_reader_config         c = RG_READER_CONFIG_DEFAULT;
    rg_reader               *r = NULL;
    char                     languages[64] = "";
    const size_t             n = strlen(path);
    *out = NULL;
    if (n > 4 && strcmp(path + n - 4, ".tmx") == 0 && source && *source && target && *target)
        snprintf(languages, sizeof languages, "%.30s,%.30s", source, target);
    c.columns = languages;
    c.wanted = wanted;
    c.wanted_count = 2;
    rg_translation_memory *m = rg_alloc_zero(sizeof *m);
    rg_status              status = m ? grow(m) : RG_ENOMEM;
    if (status == RG_OK) status = rg_reader_open(&r, path, &c);
    if (status == RG_OK) status = read_rows(m, r, most);
    rg_reader_close(r);
    if (status == RG_OK && !m->count)
        status = rg_fail(RG_EFORMAT, "%s: no pair of texts%s%s in it", path, *languages ? " of the languages " : "", languages);
    if (status == RG_OK) *out = m;
    else rg_translation_memory_free(m);
    return status;
}

void rg_translation_memory_free(rg_translation_memory *m)
{
    if (!m) return;
    rg_text_free(&m->texts);
    rg_free(m->slots);
    rg_free(m);
}

size_t rg_translation_memory_count(const rg_translation_memory *m) { return m->count; }

const char *rg_translation_memory_find(const rg_translation_memory *m, const char *text)
{
    rg_text     key = { 0 };
    const char *found = NULL;
    if (squeezed(&key, text, strlen(text)) == RG_OK && key.length) {
        const slot *s = slot_of(m, rg_text_c(&key), key.length);
        if (s->source) found = at(m, s->target);
    }
    rg_text_free(&key);
    return found;
}
