/* state.c - named numbers, texts and bytes that survive in a checkpoint.
 *
 * Numbers are kept as the text that reads back as the same bits, because a checkpoint's metadata are texts. */
#include "train/state.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 200 };

rg_status rg_state_new(rg_state **out)
{
    *out = rg_alloc_zero(sizeof **out);
    return *out ? RG_OK : RG_ENOMEM;
}

void rg_state_clear(rg_state *s)
{
    for (size_t i = 0; i < s->count; i++) {
        rg_free(s->entry[i].key);
        rg_free(s->entry[i].value);
    }
    s->count = 0;
}

void rg_state_free(rg_state *s)
{
    if (!s) return;
    rg_state_clear(s);
    rg_free(s->entry);
    rg_free(s);
}

static rg_state_entry *find(const rg_state *s, const char *key)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->entry[i].key, key) == 0) return &s->entry[i];
    return NULL;
}

static rg_status check_key(const char *key)
{
    size_t n = strlen(key);
    bool   good = n > 0 && n <= KEY_MAX;
    for (size_t i = 0; i < n && good; i++) good = key[i] > ' ' && key[i] < 127;
    return good ? RG_OK : rg_fail(RG_EINVAL, "'%.40s' cannot be the name of a saved value", key);
}

static rg_status make_room(rg_state *s)
{
    if (s->count < s->room) return RG_OK;
    size_t          room = s->room ? 2 * s->room : 16;
    rg_state_entry *entry = rg_realloc(s->entry, room * sizeof *entry);
    if (!entry) return RG_ENOMEM;
    s->entry = entry;
    s->room = room;
    return RG_OK;
}

/* Everything that can fail comes before anything changes. */
static rg_status put(rg_state *s, const char *key, const void *value, size_t bytes, bool text)
{
    RG_TRY(check_key(key));
    size_t whole;
    if (!rg_size_add(&whole, bytes, 1)) return rg_fail(RG_ELIMIT, "the value of '%s' is too large", key);
    char *copy = rg_alloc(whole);
    if (!copy) return RG_ENOMEM;
    if (bytes) memcpy(copy, value, bytes);
    copy[bytes] = 0;
    rg_state_entry *entry = find(s, key);
    if (entry) {
        rg_free(entry->value);
    } else {
        char *name = make_room(s) == RG_OK ? rg_strdup(key) : NULL;
        if (!name) {
            rg_free(copy);
            return RG_ENOMEM;
        }
        entry = &s->entry[s->count++];
        entry->key = name;
    }
    entry->value = copy;
    entry->bytes = bytes;
    entry->text = text;
    return RG_OK;
}

rg_status rg_state_put_text(rg_state *s, const char *key, const char *value)
{
    return put(s, key, value, strlen(value), true);
}

rg_status rg_state_put_bytes(rg_state *s, const char *key, const void *bytes, size_t count)
{
    return put(s, key, bytes, count, false);
}

rg_status rg_state_put_count(rg_state *s, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return rg_state_put_text(s, key, text);
}

rg_status rg_state_put_number(rg_state *s, const char *key, double value)
{
    char text[40];
    rg_real_print(text, sizeof text, 17, value);
    return rg_state_put_text(s, key, text);
}

bool rg_state_has(const rg_state *s, const char *key) { return find(s, key) != NULL; }

static rg_status get(const rg_state_entry **out, const rg_state *s, const char *key, bool text)
{
    *out = find(s, key);
    if (!*out) return rg_fail(RG_EMATCH, "no value '%s' was saved", key);
    if ((*out)->text != text)
        return rg_fail(RG_EMATCH, "the saved value '%s' is %s", key, text ? "bytes, not a text" : "a text, not bytes");
    return RG_OK;
}

rg_status rg_state_get_text(const char **out, const rg_state *s, const char *key)
{
    const rg_state_entry *entry;
    RG_TRY(get(&entry, s, key, true));
    *out = entry->value;
    return RG_OK;
}

rg_status rg_state_get_bytes(const void **out, size_t *out_count, const rg_state *s, const char *key)
{
    const rg_state_entry *entry;
    RG_TRY(get(&entry, s, key, false));
    *out = entry->value;
    *out_count = entry->bytes;
    return RG_OK;
}

rg_status rg_state_get_count(uint64_t *out, const rg_state *s, const char *key)
{
    const char *text;
    char       *end;
    RG_TRY(rg_state_get_text(&text, s, key));
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return rg_fail(RG_EMATCH, "the saved value '%s' is '%.40s', not a count", key, text);
    *out = value;
    return RG_OK;
}

rg_status rg_state_get_number(double *out, const rg_state *s, const char *key)
{
    const char *text;
    char       *end;
    RG_TRY(rg_state_get_text(&text, s, key));
    double value = rg_real_parse(text, &end);
    if (end == text || *end) return rg_fail(RG_EMATCH, "the saved value '%s' is '%.40s', not a number", key, text);
    *out = value;
    return RG_OK;
}

static bool bytes_within(const rg_state *a, const rg_state *b)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->entry[i].text) continue;
        const rg_state_entry *other = find(b, a->entry[i].key);
        if (!other || other->text || other->bytes != a->entry[i].bytes ||
            memcmp(other->value, a->entry[i].value, other->bytes) != 0)
            return false;
    }
    return true;
}

bool rg_state_same_bytes(const rg_state *a, const rg_state *b) { return bytes_within(a, b) && bytes_within(b, a); }

rg_status rg_state__add(rg_state *s, const rg_state *from)
{
    for (size_t i = 0; i < from->count; i++)
        RG_TRY(put(s, from->entry[i].key, from->entry[i].value, from->entry[i].bytes, from->entry[i].text));
    return RG_OK;
}
