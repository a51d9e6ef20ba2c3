/* protect.c - what a translation copies letter by letter: addresses and placeholders.
 *
 *     https://example.org/a?b   www.example.org   me@example.org
 *     %s %1$d %5.2f %%   %(name)s %{name} %<n>d %name%   {name} {0} {{x}}   ${x} #{x} */
#include "data/documents/documents.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 512 }; /* bytes of a placeholder */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (c & 0x80); }

static size_t digits(const char *text, size_t n, size_t at)
{
    while (at < n && isdigit((unsigned char)text[at])) at++;
    return at;
}

/* The bracket that closes the one at text[0], or 0. */
static size_t balanced(const char *text, size_t n, char open, char close)
{
    size_t depth = 0;
    for (size_t i = 0; i < n && i < LONGEST; i++) {
        if (text[i] == open) depth++;
        else if (text[i] == close && --depth == 0) return i + 1;
    }
    return 0;
}

/* {name} without blanks, {n, plural, ...}, {{ anything }} */
static size_t braces(const char *text, size_t n)
{
    const size_t end = balanced(text, n, '{', '}');
    if (end < 3) return 0;
    if (text[1] == '{') return end;
    const char *comma = memchr(text, ',', end);
    for (size_t i = 1; i + 1 < (comma ? (size_t)(comma - text) : end); i++)
        if (isspace((unsigned char)text[i]) || (text[i] & 0x80)) return 0;
    if (!comma) return end;
    static const char *const kinds[] = { "plural", "select", "selectordinal", "number", "date", "time", "choice" };
    const char              *kind = comma + 1 + strspn(comma + 1, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(kind, kinds[i], strlen(kinds[i])) == 0) return end;
    return 0;
}

/* %1$-5.2lf */
static size_t conversion(const char *text, size_t n)
{
    size_t at = digits(text, n, 1);
    if (at > 1 && at < n && text[at] == '$') at++;
    else at = 1;
    while (at < n && strchr("-+#0", text[at]) && text[at]) at++;
    at = digits(text, n, at);
    if (at < n && text[at] == '*') at++;
    if (at < n && text[at] == '.') at = digits(text, n, at + 1);
    while (at < n && strchr("hlLqjzt", text[at]) && text[at]) at++;
    return at < n && text[at] && strchr("diouxXeEfFgGaAcspn@", text[at]) ? at + 1 : 0;
}

static size_t percent(const char *text, size_t n, char before)
{
    if (n < 2) return 0;
    if (text[1] == '%') return 2;
    const char   close = text[1] == '(' ? ')' : text[1] == '{' ? '}' : text[1] == '<' ? '>' : 0;
    const size_t end = close ? balanced(text + 1, n - 1, text[1], close) : 0;
    if (end > 2) {
        const bool bare = memchr(text, ' ', end + 1) != NULL;
        if (bare) return 0;
        return close == '}' ? end + 1 : end + 1 < n && isalpha((unsigned char)text[end + 1]) ? end + 2 : 0;
    }
    size_t name = 1;
    while (name < n && (isalnum((unsigned char)text[name]) || text[name] == '_')) name++;
    if (name > 2 && name < n && text[name] == '%' && isalpha((unsigned char)text[1])) return name + 1; /* %name% */
    if (isdigit((unsigned char)before)) return 0;                                                      /* 100%d */
    return conversion(text, n);
}

/* ------------------------------------------------------------------------------------------------------- addresses */

/* Up to a blank or quote, without the point or bracket that belongs to the sentence. */
static size_t url_end(const char *text, size_t n)
{
    size_t end = 0, round = 0;
    while (end < n && !strchr(" \t\r\n\"<>", text[end]) && strncmp(text + end, "\xc2\xa0", 2) != 0 &&
           strncmp(text + end, "\xe2\x80", 2) != 0) {
        round += text[end] == '(';
        if (text[end] == ')') {
            if (!round) break;
            round--;
        }
        end++;
    }
    while (end && strchr(".,;:!?'*", text[end - 1])) end--;
    return end;
}

static size_t url(const char *text, size_t n)
{
    size_t at = 0;
    if (n > 4 && strncasecmp(text, "www.", 4) == 0) {
        const size_t end = url_end(text, n);
        return end > 5 && memchr(text + 4, '.', end - 4) ? end : 0;
    }
    if (n > 8 && strncasecmp(text, "mailto:", 7) == 0) return url_end(text, n);
    while (at < n && at < 16 && (isalnum((unsigned char)text[at]) || strchr("+-.", text[at]))) at++;
    if (!at || at + 3 >= n || strncmp(text + at, "://", 3) != 0) return 0;
    const size_t end = url_end(text, n);
    return end > at + 3 ? end : 0;
}

/* The length of an address that begins here. */
static size_t address(const char *text, size_t n)
{
    size_t at = 0, domain, dot = 0;
    while (at < n && at < 64 && (isalnum((unsigned char)text[at]) || strchr("._%+-", text[at]))) at++;
    if (!at || at >= n || text[at] != '@') return 0;
    for (domain = ++at; at < n && at - domain < 255 && (isalnum((unsigned char)text[at]) || strchr(".-", text[at]));
         at++)
        if (text[at] == '.' && at > domain && at + 1 < n && isalpha((unsigned char)text[at + 1])) dot = at;
    while (at > domain && strchr(".-", text[at - 1])) at--;
    return dot && at > dot + 2 ? at : 0;
}

static size_t protected_at(const char *text, size_t n, char before)
{
    if (text[0] == '%') return percent(text, n, before);
    if (text[0] == '{') return braces(text, n);
    if ((text[0] == '$' || text[0] == '#') && n > 3 && text[1] == '{') {
        const size_t end = balanced(text + 1, n - 1, '{', '}');
        return end ? end + 1 : 0;
    }
    if (is_word(before) || !isalnum((unsigned char)text[0])) return 0;
    const size_t found = url(text, n);
    return found ? found : address(text, n);
}

rg_status rg_protect__find(rg_spans *out, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t n = protected_at(text + at, bytes - at, at ? text[at - 1] : ' ');
        if (n) RG_TRY(rg_spans_add(out, at, at + n));
        at += n ? n : 1;
    }
    return RG_OK;
}
