/* names.c - the names of classes: learned from data, sorted, stored in model files, printed in answers.
 *
 *   regard-names 3 9a3f...      how many, and the checksum of what follows
 *   negative LF neutral LF positive LF */
#include "regard/examples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/words.h"

struct rg_names {
    rg_words words; /* in the order of their numbers */
    uint64_t checksum;
};

enum { MOST_NAMES = 1 << 24, MOST_BYTES = 4096 };

/* A whole number without needless signs, so that 007 and 7 stay two names. */
static bool is_number(const char *name)
{
    const char *digits = name + (*name == '-');
    size_t      count = strspn(digits, "0123456789");
    return count && count < 18 && !digits[count] && (*digits != '0' || count == 1);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b)
{
    const long long x = strtoll(*(const char *const *)a, NULL, 10), y = strtoll(*(const char *const *)b, NULL, 10);
    return x < y ? -1 : x > y ? 1 : by_bytes(a, b);
}

static rg_status add(rg_names *n, const char *name)
{
    const size_t bytes = strlen(name);
    uint32_t     id;
    if (!bytes || bytes > MOST_BYTES)
        return rg_fail(RG_EFORMAT, "a class name of %zu bytes; 1 to %d are possible", bytes, MOST_BYTES);
    if (strchr(name, '\n'))
        return rg_fail(RG_EFORMAT, "a class name of several lines: '%.*s ...'", (int)strcspn(name, "\n"), name);
    return rg_words_add(&id, &n->words, name, bytes);
}

static rg_status finish(rg_names *n)
{
    n->checksum = RG_HASH_START;
    for (size_t i = 0; i < n->words.count; i++)
        n->checksum = rg_hash_bytes(n->checksum, rg_words_get(&n->words, i), n->words.words[i].bytes + 1);
    return n->words.count <= MOST_NAMES
               ? RG_OK
               : rg_fail(RG_ELIMIT, "%zu classes; at most %d are possible", n->words.count, MOST_NAMES);
}

rg_status rg_names_new(rg_names **out, const char *const *names, size_t count)
{
    rg_names    *n = rg_alloc_zero(sizeof *n);
    const char **sorted = rg_alloc_array(count, sizeof *sorted);
    rg_status    status = n && sorted ? RG_OK : RG_ENOMEM;
    bool         numbers = true;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        sorted[i] = names[i];
        numbers = numbers && is_number(names[i]);
    }
    if (status == RG_OK && count) qsort(sorted, count, sizeof *sorted, numbers ? by_number : by_bytes);
    for (size_t i = 0; status == RG_OK && i < count; i++) status = add(n, sorted[i]); /* a repeat is found, not added */
    if (status == RG_OK) status = finish(n);
    rg_free(sorted);
    if (status == RG_OK) *out = n;
    else rg_names_free(n);
    return status;
}

void rg_names_free(rg_names *n)
{
    if (!n) return;
    rg_words_fini(&n->words);
    rg_free(n);
}

size_t rg_names_count(const rg_names *n)
{
    return n->words.count;
}

const char *rg_names_get(const rg_names *n, int32_t id)
{
    return id >= 0 && (size_t)id < n->words.count ? rg_words_get(&n->words, (size_t)id) : "";
}

int32_t rg_names_find(const rg_names *n, const char *name, size_t bytes)
{
    return (int32_t)rg_words_find(&n->words, name, bytes);
}

uint64_t rg_names_checksum(const rg_names *n)
{
    return n->checksum;
}

rg_status rg_names_print(rg_text *out, const rg_names *n, size_t most)
{
    for (size_t i = 0; i < n->words.count && i < most; i++)
        RG_TRY(rg_text_print(out, "%s%s", i ? ", " : "", rg_words_get(&n->words, i)));
    return n->words.count > most ? rg_text_add_string(out, ", ...") : RG_OK;
}

rg_status rg_names_to_bytes(rg_text *out, const rg_names *n)
{
    RG_TRY(rg_text_print(out, "regard-names %zu %016" PRIx64 "\n", n->words.count, n->checksum));
    for (size_t i = 0; i < n->words.count; i++) RG_TRY(rg_text_print(out, "%s\n", rg_words_get(&n->words, i)));
    return RG_OK;
}

static rg_status parse(rg_names *n, const char *text, size_t bytes)
{
    const char *end = text + bytes, *at = memchr(text, '\n', bytes);
    unsigned long long count;
    uint64_t           sum;
    if (!at || sscanf(text, "regard-names %llu %16" SCNx64, &count, &sum) != 2)
        return rg_fail(RG_EFORMAT, "these are not class names");
    for (at++; at < end;) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        uint32_t    id;
        if (!lf || lf == at || lf - at > MOST_BYTES || memchr(at, '\0', (size_t)(lf - at)))
            return rg_fail(RG_EFORMAT, "the class names are damaged after %zu of %llu", n->words.count, count);
        RG_TRY(rg_words_add(&id, &n->words, at, (size_t)(lf - at)));
        if (id + 1 != n->words.count)
            return rg_fail(RG_EFORMAT, "class name '%.*s' is there twice", (int)(lf - at), at);
        at = lf + 1;
    }
    RG_TRY(finish(n));
    if (n->words.count != count || n->checksum != sum)
        return rg_fail(RG_EFORMAT, "the class names are damaged: %zu of %llu, or their checksum is not %016" PRIx64,
                       n->words.count, count, sum);
    return RG_OK;
}

rg_status rg_names_from_bytes(rg_names **out, const void *bytes, size_t count)
{
    rg_names *n = rg_alloc_zero(sizeof *n);
    rg_text   text = { 0 }; /* with a NUL behind it */
    rg_status status = n ? rg_text_add(&text, bytes, count) : RG_ENOMEM;
    if (status == RG_OK) status = parse(n, text.data, text.length);
    rg_text_free(&text);
    if (status == RG_OK) *out = n;
    else rg_names_free(n);
    return status;
}
