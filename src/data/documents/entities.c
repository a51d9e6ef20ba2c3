/* entities.c - characters of HTML: &eacute; &#233; &#xE9; are one é. What is no entity is text, as browsers have it. */
#include "data/documents/documents.h"
#include "data/documents/entity_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32, LONGEST_BARE = 6 }; /* bytes of a name; of one that needs no semicolon */

static int compare(const char *a, size_t n, const char *row) /* with the name at row, which ends at ! or a blank */
{
    const size_t k = strcspn(row, "! ");
    const int    order = memcmp(a, row, n < k ? n : k);
    return order ? order : n < k ? -1 : n > k;
}

/* The entry of a name: "eacute! E9 "; NULL: there is none. */
static const char *entry_of(const char *name, size_t n)
{
    size_t low = 0, high = rg_entity_rows;
    while (high - low > 1) { /* the last row whose first name is not behind it */
        const size_t middle = (low + high) / 2;
        if (compare(name, n, rg_entity_names[middle]) < 0) high = middle;
        else low = middle;
    }
    for (const char *at = rg_entity_names[low]; *at;) {
        if (compare(name, n, at) == 0) return at;
        at += strcspn(at, " ") + 1;
        at += strcspn(at, " ") + 1;
    }
    return NULL;
}

static rg_status add_entry(rg_text *out, const char *entry)
{
    const char *at = entry + strcspn(entry, " ");
    char       *end;
    do {
        const unsigned long code = strtoul(at + 1, &end, 16);
        RG_TRY(rg_utf8_add(out, code == 9 || code == 10 ? ' ' : (uint32_t)code)); /* &Tab; &NewLine; */
        at = end;
    } while (*at == '+');
    return RG_OK;
}

/* #233 or #xE9: 0 when it is none, or not to be written as a character. */
static uint32_t numbered(const char *text, size_t bytes)
{
    const unsigned base = bytes > 1 && (text[1] | 32) == 'x' ? 16 : 10;
    size_t         i = base == 16 ? 2 : 1;
    uint32_t       code = 0;
    if (i >= bytes) return 0;
    for (; i < bytes; i++) {
        const char     c = (char)(text[i] | 32);
        const unsigned digit = text[i] >= '0' && text[i] <= '9' ? (unsigned)(text[i] - '0')
                               : c >= 'a' && c <= 'f'           ? (unsigned)(c - 'a' + 10)
                                                                : 99;
        if (digit >= base) return 0;
        code = code * base + digit;
        if (code > 0x10FFFF) return 0;
    }
    if (code >= 0xD800 && code < 0xE000) return 0;
    return code == 9 || code == 10 || code == 13 ? ' ' : code < 32 || code == 127 ? 0 : code;
}

/* The reference at text[0], which is &, with n bytes; *used: its length, 0: it is none. */
static rg_status reference(rg_text *out, const char *text, size_t n, size_t *used)
{
    size_t      k = 1;
    const char *entry;
    *used = 0;
    while (k < n && k <= LONGEST && (isalnum((unsigned char)text[k]) || (k == 1 && text[k] == '#'))) k++;
    const bool closed = k < n && text[k] == ';';
    if (text[1] == '#') {
        const uint32_t code = closed ? numbered(text + 1, k - 1) : 0;
        if (!code) return RG_OK;
        *used = k + 1;
        return rg_utf8_add(out, code);
    }
    if (closed && (entry = entry_of(text + 1, k - 1))) {
        *used = k + 1;
        return add_entry(out, entry);
    }
    for (size_t bare = k - 1 < LONGEST_BARE ? k - 1 : LONGEST_BARE; bare >= 2; bare--) {
        if (!(entry = entry_of(text + 1, bare)) || entry[bare] != '!') continue;
        *used = bare + 1;
        return add_entry(out, entry);
    }
    return RG_OK;
}

rg_status rg_html__character(rg_text *out, const char *text, size_t end, size_t *at)
{
    size_t used = 0;
    if (text[*at] == '&') RG_TRY(reference(out, text + *at, end - *at, &used));
    if (!used) RG_TRY(rg_text_add(out, text + *at, 1));
    *at += used ? used : 1;
    return RG_OK;
}

static rg_status escape(rg_text *out, const char *text, size_t bytes, bool quotes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char *entity = text[i] == '&'              ? "&amp;"
                             : text[i] == '<'            ? "&lt;"
                             : text[i] == '>'            ? "&gt;"
                             : quotes && text[i] == '"'  ? "&quot;"
                             : quotes && text[i] == '\'' ? "&#39;"
                                                         : NULL;
        RG_TRY(entity ? rg_text_add_string(out, entity) : rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}

rg_status rg_html__escape(rg_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, false); }
rg_status rg_html__escape_value(rg_text *out, const char *text, size_t bytes) { return escape(out, text, bytes, true); }
