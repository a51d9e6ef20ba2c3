/* tags.c - tags of HTML and XML by their bytes. */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool rg_tag__is(const char *at)
{
    return at[0] == '<' && (isalpha((unsigned char)at[1]) || at[1] == '!' || at[1] == '?' ||
                            (at[1] == '/' && isalpha((unsigned char)at[2])));
}

/* Behind `what`, which ends what began before `at`; `bytes` when it is not there. */
static size_t behind(const char *text, size_t bytes, size_t at, const char *what)
{
    const size_t n = strlen(what);
    for (; at + n <= bytes; at++) {
        const char *first = memchr(text + at, what[0], bytes - at - n + 1);
        if (!first) break;
        at = (size_t)(first - text);
        if (memcmp(first, what, n) == 0) return at + n;
    }
    return bytes;
}

/* Quotes may hold a >, unless they are never closed. */
size_t rg_tag__end(const char *text, size_t bytes, size_t at)
{
    if (bytes - at >= 4 && memcmp(text + at, "<!--", 4) == 0) return behind(text, bytes, at + 4, "-->");
    if (bytes - at >= 9 && memcmp(text + at, "<![CDATA[", 9) == 0) return behind(text, bytes, at + 9, "]]>");
    char quote = 0, last = 0;
    for (size_t i = at + 1; i < bytes; i++) {
        if (quote) quote = text[i] == quote ? 0 : quote;
        else if ((text[i] == '"' || text[i] == '\'') && last == '=') quote = text[i];
        else if (text[i] == '>') return i + 1;
        if (!isspace((unsigned char)text[i])) last = text[i];
    }
    return behind(text, bytes, at, ">");
}

void rg_tag__name(char out[RG_MARK_NAME], const char *tag)
{
    size_t n = 0;
    out[0] = 0;
    if (*tag != '<') return; /* the end of the text: nothing may be read behind it */
    for (tag += tag[1] == '/' ? 2 : 1;
         n < RG_MARK_NAME - 1 && (isalnum((unsigned char)*tag) || *tag == '-' || *tag == ':' || *tag == '_'); tag++)
        out[n++] = (char)tolower((unsigned char)*tag);
    out[n] = 0;
}

bool rg_word_in(const char *list, const char *word)
{
    const size_t n = strlen(word);
    if (!n) return false;
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if (at > list && at[-1] == ' ' && at[n] == ' ') return true;
    return false;
}

bool rg_tag__next(rg_attribute *out, const char *tag, size_t bytes, size_t *at)
{
    size_t i = *at;
    if (!i) { /* behind the name of the tag */
        while (i < bytes && !strchr(" \t\r\n/>", tag[i])) i++;
    }
    while (i < bytes && strchr(" \t\r\n/", tag[i])) i++;
    out->name = (rg_range){ i, i };
    while (i < bytes && !strchr(" \t\r\n/>=", tag[i])) i++;
    if (i < bytes && i == out->name.begin && tag[i] == '=') i++; /* a name may begin with it */
    out->name.end = i;
    if (out->name.end == out->name.begin) return false;
    while (i < bytes && isspace((unsigned char)tag[i])) i++;
    out->value = (rg_range){ i, i };
    out->quote = 0;
    if (i < bytes && tag[i] == '=') {
        for (i++; i < bytes && isspace((unsigned char)tag[i]);) i++;
        out->quote = i < bytes && (tag[i] == '"' || tag[i] == '\'') ? tag[i++] : 0;
        out->value.begin = i;
        while (i < bytes && (out->quote ? tag[i] != out->quote : !strchr(" \t\r\n>", tag[i]))) i++;
        if (!out->quote && i + 1 == bytes && tag[i] == '>' && i > out->value.begin && tag[i - 1] == '/') i--; /* a=b/> */
        out->value.end = i;
        i += out->quote && i < bytes ? 1 : 0;
    }
    *at = i;
    return true;
}

bool rg_tag__named(const char *tag, rg_range range, const char *name)
{
    return range.end - range.begin == strlen(name) && strncasecmp(tag + range.begin, name, strlen(name)) == 0;
}

size_t rg_tag__value(const char **out, const char *tag, size_t bytes, const char *name)
{
    rg_attribute a;
    for (size_t at = 0; rg_tag__next(&a, tag, bytes, &at);) {
        if (!rg_tag__named(tag, a.name, name)) continue;
        *out = tag + a.value.begin;
        return a.value.end - a.value.begin;
    }
    return 0;
}

size_t rg_tag__element_end(size_t *out_close, const char *text, size_t bytes, size_t at, const char *name)
{
    char   other[RG_MARK_NAME];
    size_t depth = 1;
    for (const char *tag; at < bytes && (tag = memchr(text + at, '<', bytes - at));) {
        at = (size_t)(tag - text);
        const size_t end = rg_tag__is(tag) ? rg_tag__end(text, bytes, at) : at + 1;
        rg_tag__name(other, tag);
        if (strcmp(other, name) == 0) {
            if (tag[1] != '/') depth += !rg_tag__closes_itself(text, end);
            else if (--depth == 0) {
                if (out_close) *out_close = at;
                return end;
            }
        }
        at = end;
    }
    if (out_close) *out_close = bytes;
    return bytes;
}

bool rg_tag__closes_itself(const char *text, size_t end)
{
    return end >= 2 && text[end - 2] == '/' && text[end - 1] == '>';
}
