/* entities.c - characters of HTML: &eacute; &#233; &#xE9; are one é. What is no entity known here is text, as
 * browsers have it. */
#include "serve/markup.h"

#include <string.h>

enum { LATIN = 160, LONGEST = 10 }; /* the first of the 96 upper Latin-1 characters; bytes of a name or number */

static const char latin[] =
    " nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute "
    "micro "
    "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil "
    "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave "
    "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml "
    "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute "
    "thorn yuml ";

static const struct {
    const char *name;
    unsigned    code;
} others[] = {
    { "amp", 38 },      { "lt", 60 },       { "gt", 62 },       { "quot", 34 },     { "apos", 39 },
    { "OElig", 338 },   { "oelig", 339 },   { "Scaron", 352 },  { "scaron", 353 },  { "Yuml", 376 },
    { "ensp", 8194 },   { "emsp", 8195 },   { "thinsp", 8201 }, { "zwnj", 8204 },   { "zwj", 8205 },
    { "lrm", 8206 },    { "rlm", 8207 },    { "ndash", 8211 },  { "mdash", 8212 },  { "lsquo", 8216 },
    { "rsquo", 8217 },  { "sbquo", 8218 },  { "ldquo", 8220 },  { "rdquo", 8221 },  { "bdquo", 8222 },
    { "dagger", 8224 }, { "Dagger", 8225 }, { "bull", 8226 },   { "hellip", 8230 }, { "permil", 8240 },
    { "prime", 8242 },  { "Prime", 8243 },  { "lsaquo", 8249 }, { "rsaquo", 8250 }, { "euro", 8364 },
    { "trade", 8482 },  { "larr", 8592 },   { "uarr", 8593 },   { "rarr", 8594 },   { "darr", 8595 },
    { "minus", 8722 },  { "infin", 8734 },  { "ne", 8800 },     { "le", 8804 },     { "ge", 8805 },
};

static unsigned named(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].name) == bytes && memcmp(others[i].name, name, bytes) == 0) return others[i].code;
    unsigned code = LATIN;
    for (const char *at = latin + 1; *at; code++) {
        const size_t n = strcspn(at, " ");
        if (n == bytes && memcmp(at, name, n) == 0) return code;
        at += n + (at[n] != 0);
    }
    return 0;
}

/* #233 or #xE9 */
static unsigned numbered(const char *text, size_t bytes)
{
    const unsigned base = bytes > 1 && (text[1] | 32) == 'x' ? 16 : 10;
    unsigned       code = 0;
    size_t         i = base == 16 ? 2 : 1;
    if (i == bytes) return 0;
    for (; i < bytes; i++) {
        const char     c = (char)(text[i] | 32);
        const unsigned digit = text[i] >= '0' && text[i] <= '9' ? (unsigned)(text[i] - '0')
                               : c >= 'a' && c <= 'f'           ? (unsigned)(c - 'a' + 10)
                                                                : 99;
        if (digit >= base) return 0;
        code = code * base + digit; /* at most LONGEST digits: it does not overflow where it matters */
        if (code > 0x10FFFF) return 0;
    }
    if (code >= 0xD800 && code < 0xE000) return 0;
    return code == 9 || code == 10 || code == 13 ? ' ' : code < 32 || code == 127 ? 0 : code;
}

static rg_status add_code(rg_text *out, unsigned code)
{
    char         bytes[4];
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 0; code >>= 6)
        bytes[i] = (char)(i ? 0x80 | (code & 0x3F) : n == 1 ? code : ((0xF00u >> n) & 0xFF) | code);
    return rg_text_add(out, bytes, n);
}

rg_status rg_html__character(rg_text *out, const char *text, size_t end, size_t *at)
{
    const char *from = text + *at;
    size_t      n = 1;
    if (*from == '&') {
        while (n <= LONGEST && *at + n < end && from[n] != ';') n++;
        if (n > 1 && n <= LONGEST && *at + n < end) {
            const unsigned code = from[1] == '#' ? numbered(from + 1, n - 1) : named(from + 1, n - 1);
            *at += n + 1;
            if (code) return add_code(out, code);
            *at -= n + 1;
        }
    }
    ++*at;
    return rg_text_add(out, from, 1);
}

rg_status rg_html__escape(rg_text *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char *entity = text[i] == '&'   ? "&amp;"
                             : text[i] == '<' ? "&lt;"
                             : text[i] == '>' ? "&gt;"
                                              : NULL; /* quotes may stand */
        RG_TRY(entity ? rg_text_add_string(out, entity) : rg_text_add(out, text + i, 1));
    }
    return RG_OK;
}
