/* utf8.c - is it UTF-8, and if not, make it so; normal forms by utf8proc.
 *
 * Well-formed UTF-8 is table 3-7 of the Unicode standard: the second byte's range depends on the first. */
#include "regard/text.h"

#include <string.h>
#include <utf8proc.h>

#define REPLACEMENT 0xFFFDu

static bool within(unsigned char byte, unsigned low, unsigned high)
{
    return byte >= low && byte <= high;
}

/* Length of the well-formed character at s, 0 if there is none. */
static size_t formed(const unsigned char *s, size_t n)
{
    unsigned c = s[0], low = 0x80, high = 0xBF;
    size_t   length;
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) length = 2;
    else if (c >= 0xE0 && c <= 0xEF) length = 3;
    else if (c >= 0xF0 && c <= 0xF4) length = 4;
    else return 0;
    if (n < length) return 0;
    if (c == 0xE0) low = 0xA0;  /* overlong  */
    if (c == 0xED) high = 0x9F; /* surrogate */
    if (c == 0xF0) low = 0x90;  /* overlong  */
    if (c == 0xF4) high = 0x8F; /* past U+10FFFF */
    if (!within(s[1], low, high)) return 0;
    for (size_t i = 2; i < length; i++)
        if (!within(s[i], 0x80, 0xBF)) return 0;
    return length;
}

bool rg_utf8_check(const char *text, size_t bytes, size_t *out_at)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0, step; i < bytes; i += step) {
        step = formed(s + i, bytes - i);
        if (!step) {
            if (out_at) *out_at = i;
            return false;
        }
    }
    return true;
}

size_t rg_utf8_next(uint32_t *out, const char *text, size_t bytes)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t               length = formed(s, bytes);
    switch (length) {
    case 1: *out = s[0]; break;
    case 2: *out = ((s[0] & 0x1Fu) << 6) | (s[1] & 0x3Fu); break;
    case 3: *out = ((s[0] & 0x0Fu) << 12) | ((s[1] & 0x3Fu) << 6) | (s[2] & 0x3Fu); break;
    case 4: *out = ((s[0] & 0x07u) << 18) | ((s[1] & 0x3Fu) << 12) | ((s[2] & 0x3Fu) << 6) | (s[3] & 0x3Fu); break;
    default: *out = REPLACEMENT; return 1; /* not valid after all: step over one byte */
    }
    return length;
}

rg_status rg_utf8_add(rg_text *text, uint32_t character)
{
    utf8proc_uint8_t   bytes[4];
    utf8proc_ssize_t   length = utf8proc_encode_char((utf8proc_int32_t)character, bytes);
    return rg_text_add(text, bytes, (size_t)length);
}

/* ----------------------------------------------------------------------------------------------- normal forms */

static const char *const form_names[RG_TEXT_FORMS] = { "nfc", "nfkc", "none", "lower", "exact" };

rg_status rg_text_form_find(rg_text_form *out, const char *name)
{
    for (int i = 0; i < RG_TEXT_FORMS; i++) {
        if (strcmp(name, form_names[i]) == 0) {
            *out = (rg_text_form)i;
            return RG_OK;
        }
    }
    return rg_fail(RG_EINVAL, "no normal form is called \"%s\"; there are nfc, nfkc, none, lower and exact", name);
}

const char *rg_text_form_name(rg_text_form form)
{
    return form_names[form];
}

/* Characters that would end a line somewhere, or mean nothing in text. TAB stays: it separates fields. */
static bool is_control(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029;
}

/* Append the line with faults repaired. *plain tells that no character from U+0300 on is in it: such text is its own
 * NFC. */
static rg_status repair(rg_text *out, const char *line, size_t bytes, unsigned *faults, bool *plain)
{
    const unsigned char *s = (const unsigned char *)line;
    *plain = true;
    for (size_t i = 0, step; i < bytes; i += step) {
        size_t run = 0; /* printable ASCII in one go */
        while (i + run < bytes && s[i + run] >= 0x20 && s[i + run] < 0x7F) run++;
        if (run) RG_TRY(rg_text_add(out, line + i, run));
        if ((step = run) != 0) continue;

        uint32_t c;
        step = formed(s + i, bytes - i);
        if (step && s[i] != '\0') {
            rg_utf8_next(&c, line + i, bytes - i);
            if (c >= 0x300) *plain = false;
            RG_TRY(is_control(c) ? rg_text_add(out, " ", 1) : rg_text_add(out, line + i, step));
            continue;
        }
        *faults |= step ? RG_LINE_NUL : RG_LINE_BAD_UTF8;
        *plain = false;
        step = 1;
        RG_TRY(rg_utf8_add(out, REPLACEMENT));
    }
    return RG_OK;
}

/* Replace out[from..] by its normal form. Decomposition goes to a block of ours: utf8proc would take its own memory. */
static rg_status normalize(rg_text *out, size_t from, rg_text_form form)
{
    utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | (form == RG_TEXT_NFKC ? UTF8PROC_COMPAT : 0);
    const utf8proc_uint8_t *text = (const utf8proc_uint8_t *)out->data + from;
    utf8proc_ssize_t        bytes = (utf8proc_ssize_t)(out->length - from);

    utf8proc_ssize_t count = utf8proc_decompose(text, bytes, NULL, 0, options);
    if (count < 0) return rg_fail(RG_EFORMAT, "cannot normalise a line: %s", utf8proc_errmsg(count));
    utf8proc_int32_t *codes = rg_alloc_array((size_t)count + 1, sizeof *codes);
    if (!codes) return RG_ENOMEM;
    count = utf8proc_decompose(text, bytes, codes, count, options);
    if (count >= 0) count = utf8proc_normalize_utf32(codes, count, options);
    rg_status status = RG_OK;
    if (count < 0) {
        status = rg_fail(RG_EFORMAT, "cannot normalise a line: %s", utf8proc_errmsg(count));
    } else {
        out->length = from;
        out->data[from] = '\0';
        for (utf8proc_ssize_t i = 0; i < count && status == RG_OK; i++) status = rg_utf8_add(out, (uint32_t)codes[i]);
    }
    rg_free(codes);
    return status;
}

/* Replace out[from..] by its lower case. */
static rg_status lower_from(rg_text *out, size_t from)
{
    rg_text   lower = { 0 };
    rg_status status = rg_text_lower(&lower, out->data + from, out->length - from);
    out->length = from;
    if (status == RG_OK) status = rg_text_add(out, lower.data, lower.length);
    rg_text_free(&lower);
    return status;
}

rg_status rg_text_clean(rg_text *out, const char *line, size_t bytes, rg_text_form form, unsigned *out_faults)
{
    size_t   from = out->length;
    unsigned faults = 0;
    bool     plain;
    if (bytes && line[bytes - 1] == '\r') bytes--;
    RG_TRY(repair(out, line, bytes, &faults, &plain));
    if (!out->data) RG_TRY(rg_text_add(out, "", 0));
    if (form == RG_TEXT_LOWER) RG_TRY(lower_from(out, from));
    bool done = form == RG_TEXT_AS_IS || (form != RG_TEXT_NFKC && plain);
    if (!done && out->length > from) RG_TRY(normalize(out, from, form));
    if (out_faults) *out_faults = faults;
    return RG_OK;
}

rg_status rg_utf8_repair(rg_text *out, const char *text, size_t bytes)
{
    for (size_t good; !rg_utf8_check(text, bytes, &good); text += good + 1, bytes -= good + 1) {
        RG_TRY(rg_text_add(out, text, good));
        RG_TRY(rg_utf8_add(out, 0xFFFD));
    }
    return rg_text_add(out, text, bytes);
}

/* ------------------------------------------------------------------------------------------------ small things */

static bool is_blank(uint32_t c)
{
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x85 || utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}

void rg_text_squeeze(rg_text *text)
{
    size_t to = 0;
    bool   waiting = false; /* a blank seen after some text, not yet written */
    for (size_t i = 0, step; i < text->length; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text->data + i, text->length - i);
        if (is_blank(c)) {
            waiting = to > 0;
            continue;
        }
        if (waiting) text->data[to++] = ' ';
        waiting = false;
        memmove(text->data + to, text->data + i, step);
        to += step;
    }
    text->length = to;
    if (text->data) text->data[to] = '\0';
}

/* Letters with case, and marks that do not interrupt a word: what the rule of the final sigma looks at. */
static bool is_cased(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT;
}

static bool is_ignorable(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK || c == '\'' || c == '.' || c == ':' ||
           c == 0xB7 || c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027;
}

static bool letter_follows(const char *text, size_t bytes)
{
    for (size_t i = 0, step; i < bytes; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + i, bytes - i);
        if (!is_ignorable(c)) return is_cased(c);
    }
    return false;
}

rg_status rg_text_lower(rg_text *out, const char *text, size_t bytes)
{
    bool after_letter = false;
    for (size_t i = 0, step; i < bytes; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + i, bytes - i);
        uint32_t lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
        if (c == 0x3A3 && after_letter && !letter_follows(text + i + step, bytes - i - step)) lower = 0x3C2; /* final sigma */
        if (c == 0x130) { /* capital I with dot: i and the dot */
            RG_TRY(rg_text_add(out, "i", 1));
            lower = 0x307;
        }
        RG_TRY(rg_utf8_add(out, lower));
        if (!is_ignorable(c)) after_letter = is_cased(c);
    }
    return rg_text_add(out, "", 0);
}
