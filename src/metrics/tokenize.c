/* tokenize.c - the tokenisers of BLEU: what mteval-v13a and v14 do with regular expressions, as passes over characters.
 *
 * A pass replaces matches from left to right without overlap, so a match uses up both characters it looked at. */
#include "metrics/metric.h"

#include <string.h>
#include <utf8proc.h>

static const char *const names[RG_TOKENIZERS] = { "13a", "intl", "char", "none", "zh" };

rg_status rg_tokenizer_find(rg_tokenizer *out, const char *name)
{
    for (int i = 0; i < RG_TOKENIZERS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (rg_tokenizer)i;
            return RG_OK;
        }
    }
    return rg_fail(RG_EINVAL, "no tokeniser is called \"%s\"; there are 13a, intl, char, none and zh", name);
}

const char *rg_tokenizer_name(rg_tokenizer tokenizer)
{
    return names[tokenizer];
}

bool rg_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

rg_status rg_codes_of(rg_ids *out, const char *text, size_t bytes)
{
    out->count = 0;
    for (size_t i = 0, step; i < bytes; i += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + i, bytes - i);
        RG_TRY(rg_ids_add(out, (int32_t)c));
    }
    return RG_OK;
}

/* ----------------------------------------------------------------------------------------------------- classes */

typedef bool is_class(int32_t c);

static bool is_digit(int32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_dot(int32_t c)
{
    return c == '.' || c == ',';
}

static bool is_dash(int32_t c)
{
    return c == '-';
}

static bool no_digit(int32_t c)
{
    return !is_digit(c);
}

/* ASCII punctuation that always stands alone: not ' , - . and not digits and letters. */
static bool is_western(int32_t c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

static bool in_category(int32_t c, utf8proc_category_t first, utf8proc_category_t last)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category >= first && category <= last;
}

static bool no_number(int32_t c)
{
    return !in_category(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

static bool is_punctuation(int32_t c)
{
    return in_category(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

static bool is_symbol(int32_t c)
{
    return in_category(c, UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SO);
}

/* The ranges of the widespread Chinese script. Two of its bounds were meant to lie beyond U+FFFF but are read as
 * shorter escapes; comparable scores need the ranges that are really used, so U+2001-2A6D and U+2F81-2FA1 count as
 * Chinese. */
static bool is_chinese(int32_t c)
{
    static const int32_t ranges[][2] = {
        { 0x3400, 0x4DB5 }, { 0x4E00, 0x9FA5 }, { 0x9FA6, 0x9FBB }, { 0xF900, 0xFA2D }, { 0xFA30, 0xFA6A },
        { 0xFA70, 0xFAD9 }, { 0x2001, 0x2A6D }, { 0x2F81, 0x2FA1 }, { 0xFF00, 0xFFEF }, { 0x2E80, 0x2EFF },
        { 0x3000, 0x303F }, { 0x31C0, 0x31EF }, { 0x2F00, 0x2FDF }, { 0x2FF0, 0x2FFF }, { 0x3100, 0x312F },
        { 0x31A0, 0x31BF }, { 0xFE10, 0xFE1F }, { 0xFE30, 0xFE4F }, { 0x2600, 0x26FF }, { 0x2700, 0x27BF },
        { 0x3200, 0x32FF }, { 0x3300, 0x33FF },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------- passes */

static rg_status add3(rg_ids *out, int32_t a, int32_t b, int32_t c)
{
    RG_TRY(rg_ids_add(out, a));
    RG_TRY(rg_ids_add(out, b));
    return rg_ids_add(out, c);
}

/* Each character of the class gets blanks on both sides. */
static rg_status pass_one(rg_ids *text, is_class *alone)
{
    rg_ids    out = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; i < text->count && status == RG_OK; i++) {
        int32_t c = text->data[i];
        status = alone(c) ? add3(&out, ' ', c, ' ') : rg_ids_add(&out, c);
    }
    rg_ids_free(text);
    *text = out;
    return status;
}

/* Two neighbours of the classes: "ab" becomes "a b " (blank_after) or " a b". */
static rg_status pass_two(rg_ids *text, is_class *first, is_class *second, bool blank_after)
{
    rg_ids    out = { 0 };
    rg_status status = RG_OK;
    for (size_t i = 0; i < text->count && status == RG_OK; i++) {
        const int32_t *c = text->data + i;
        bool           match = i + 1 < text->count && first(c[0]) && second(c[1]);
        if (!match) {
            status = rg_ids_add(&out, c[0]);
            continue;
        }
        if (!blank_after) status = rg_ids_add(&out, ' ');
        if (status == RG_OK) status = add3(&out, c[0], ' ', c[1]);
        if (status == RG_OK && blank_after) status = rg_ids_add(&out, ' ');
        i++;
    }
    rg_ids_free(text);
    *text = out;
    return status;
}

/* The part shared by 13a and zh. */
static rg_status western(rg_ids *text)
{
    RG_TRY(pass_one(text, is_western));
    RG_TRY(pass_two(text, no_digit, is_dot, true));
    RG_TRY(pass_two(text, is_dot, no_digit, false));
    return pass_two(text, is_digit, is_dash, true);
}

static rg_status international(rg_ids *text)
{
    RG_TRY(pass_two(text, no_number, is_punctuation, true));
    RG_TRY(pass_two(text, is_punctuation, no_number, false));
    return pass_one(text, is_symbol);
}

static bool any(int32_t c)
{
    (void)c;
    return true;
}

/* Replace a string everywhere, to `by`. */
static rg_status replace(rg_text *text, const char *what, const char *by)
{
    rg_text     out = { 0 };
    rg_status   status = RG_OK;
    const char *at = rg_text_c(text), *found;
    if (!strstr(at, what)) return RG_OK;
    while (status == RG_OK && (found = strstr(at, what)) != NULL) {
        status = rg_text_add(&out, at, (size_t)(found - at));
        if (status == RG_OK) status = rg_text_add_string(&out, by);
        at = found + strlen(what);
    }
    if (status == RG_OK) status = rg_text_add_string(&out, at);
    rg_text_free(text);
    *text = out;
    return status;
}

/* 13a reads the entities of SGML, and looks at a line with a blank on both ends. */
static rg_status prepare_13a(rg_text *line)
{
    RG_TRY(replace(line, "<skipped>", ""));
    RG_TRY(replace(line, "&quot;", "\""));
    RG_TRY(replace(line, "&amp;", "&"));
    RG_TRY(replace(line, "&lt;", "<"));
    RG_TRY(replace(line, "&gt;", ">"));
    rg_text   out = { 0 };
    rg_status status = rg_text_print(&out, " %s ", rg_text_c(line));
    rg_text_free(line);
    *line = out;
    return status;
}

/* Blanks at the end go before anything else; zh drops those in front too. */
static void trim(const char **line, size_t *bytes, bool front)
{
    size_t   end = 0, begin = 0;
    uint32_t c;
    for (size_t i = 0, step; i < *bytes; i += step) {
        step = rg_utf8_next(&c, *line + i, *bytes - i);
        if (!rg_is_space(c)) end = i + step;
        else if (front && end == 0) begin = i + step;
    }
    *line += begin;
    *bytes = end > begin ? end - begin : 0;
}

static rg_status tokenize_codes(rg_ids *codes, rg_tokenizer tokenizer)
{
    switch (tokenizer) {
    case RG_TOKENIZE_13A: return western(codes);
    case RG_TOKENIZE_INTL: return international(codes);
    case RG_TOKENIZE_CHAR: return pass_one(codes, any);
    case RG_TOKENIZE_ZH: RG_TRY(pass_one(codes, is_chinese)); return western(codes);
    default: return RG_OK;
    }
}

static rg_status add_squeezed(rg_text *out, const rg_ids *codes)
{
    bool   waiting = false;
    size_t from = out->length;
    for (size_t i = 0; i < codes->count; i++) {
        uint32_t c = (uint32_t)codes->data[i];
        if (rg_is_space(c)) {
            waiting = out->length > from;
            continue;
        }
        if (waiting) RG_TRY(rg_text_add(out, " ", 1));
        waiting = false;
        RG_TRY(rg_utf8_add(out, c));
    }
    return RG_OK;
}

rg_status rg_tokenize(rg_text *out, rg_tokenizer tokenizer, const char *line, size_t bytes)
{
    rg_ids  codes = { 0 };
    rg_text text = { 0 };
    trim(&line, &bytes, tokenizer == RG_TOKENIZE_ZH);
    rg_status status = rg_text_add(&text, line, bytes);
    if (status == RG_OK && tokenizer == RG_TOKENIZE_13A) status = prepare_13a(&text);
    if (status == RG_OK) status = rg_codes_of(&codes, rg_text_c(&text), text.length);
    if (status == RG_OK) status = tokenize_codes(&codes, tokenizer);
    if (status == RG_OK) status = add_squeezed(out, &codes);
    if (status == RG_OK) status = rg_text_add(out, "", 0);
    rg_ids_free(&codes);
    rg_text_free(&text);
    return status;
}

rg_status rg_word_ids(rg_ids *out, rg_words *words, const char *text, size_t bytes)
{
    size_t   begin = 0;
    uint32_t c, id;
    out->count = 0;
    for (size_t i = 0, step; i <= bytes; i += step) {
        step = 1;
        bool space = i == bytes;
        if (!space) {
            step = rg_utf8_next(&c, text + i, bytes - i);
            space = rg_is_space(c);
        }
        if (!space) continue;
        if (i > begin) {
            RG_TRY(rg_words_add(&id, words, text + begin, i - begin));
            RG_TRY(rg_ids_add(out, (int32_t)id));
        }
        begin = i + step;
    }
    return RG_OK;
}
