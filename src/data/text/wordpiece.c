/* wordpiece.c - BERT's tokeniser (Devlin et al. 2019): words and punctuation, then the longest beginning that is a
 * piece, then ##rest.
 *
 *   clean      control characters go, blanks become one, CJK characters are words of their own
 *   uncased    lower case, accents (marks of the canonical decomposition) dropped
 *   words      cut at blanks; every punctuation character is a word
 *   pieces     unaffable -> un ##aff ##able; a word with a part that is no piece, or of more than 100 characters, is [UNK]
 *
 * The prepared text has a blank between words, so that joined pieces give it back. */
#include "data/text/vocab.h"

#include <string.h>
#include <utf8proc.h>

enum { WORD_CHARACTERS = 100 };

static bool is_blank(uint32_t c)
{
    const utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return c == '\t' || c == '\n' || c == '\r' || (k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP);
}

/* Cc, Cf, Co and what has no character; also what the cleaning leaves of bytes that were no text. */
static bool is_dropped(uint32_t c)
{
    const utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return c == 0 || c == 0xFFFD || k == UTF8PROC_CATEGORY_CN || k == UTF8PROC_CATEGORY_CC ||
           k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO;
}

static bool is_ideograph(uint32_t c)
{
    static const uint32_t ranges[][2] = { { 0x4E00, 0x9FFF },   { 0x3400, 0x4DBF },   { 0x20000, 0x2A6DF },
                                          { 0x2A700, 0x2B73F }, { 0x2B740, 0x2B81F }, { 0x2B820, 0x2CEAF },
                                          { 0xF900, 0xFAFF },   { 0x2F800, 0x2FA1F } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

/* ASCII signs count as punctuation though Unicode calls some of them symbols: ^ $ ` + and others. */
static bool is_punctuation(uint32_t c)
{
    const utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

/* --------------------------------------------------------------------------------------------------------- cleaning */

static rg_status add_apart(rg_text *out, uint32_t c)
{
    RG_TRY(rg_text_add(out, " ", 1));
    RG_TRY(rg_utf8_add(out, c));
    return rg_text_add(out, " ", 1);
}

/* `line` is UTF-8. Dropped characters go, blanks are blanks, ideographs stand apart. */
static rg_status clean(rg_text *out, const char *line, size_t bytes)
{
    for (size_t at = 0, step; at < bytes; at += step) {
        uint32_t c;
        step = rg_utf8_next(&c, line + at, bytes - at);
        if (is_blank(c)) RG_TRY(rg_text_add(out, " ", 1));
        else if (is_dropped(c)) continue;
        else if (is_ideograph(c)) RG_TRY(add_apart(out, c));
        else RG_TRY(rg_text_add(out, line + at, step));
    }
    return RG_OK;
}

/* One character without its marks. Ideographs and Hangul decompose into what is no mark and stay decomposed. */
static rg_status add_bare(rg_text *out, uint32_t c)
{
    utf8proc_int32_t       parts[32];
    const utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, 32, UTF8PROC_DECOMPOSE, &(int){ 0 });
    for (utf8proc_ssize_t i = 0; i < n && i < 32; i++)
        if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) RG_TRY(rg_utf8_add(out, (uint32_t)parts[i]));
    return RG_OK;
}

static rg_status fold(rg_text *out, const char *text, size_t bytes)
{
    rg_text   lower = { 0 };
    rg_status status = rg_text_lower(&lower, text, bytes);
    for (size_t at = 0, step; status == RG_OK && at < lower.length; at += step) {
        uint32_t c;
        step = rg_utf8_next(&c, lower.data + at, lower.length - at);
        status = add_bare(out, c);
    }
    rg_text_free(&lower);
    return status;
}

/* One blank between words, punctuation apart. */
static rg_status space_words(rg_text *out, const char *text, size_t bytes)
{
    bool blank = false; /* is one due before the next character? */
    for (size_t at = 0, step; at < bytes; at += step) {
        uint32_t c;
        step = rg_utf8_next(&c, text + at, bytes - at);
        const bool alone = is_punctuation(c);
        if (c == ' ') {
            blank = true;
            continue;
        }
        if ((blank || alone) && out->length) RG_TRY(rg_text_add(out, " ", 1));
        RG_TRY(rg_text_add(out, text + at, step));
        blank = alone;
    }
    return RG_OK;
}

static rg_status prepare(rg_text *out, const rg_vocab *v, const char *line, size_t bytes)
{
    rg_text   valid = { 0 }, cleaned = { 0 }, folded = { 0 };
    rg_status status = rg_utf8_repair(&valid, line, bytes);
    rg_text_clear(out);
    if (status == RG_OK) status = clean(&cleaned, rg_text_c(&valid), valid.length);
    const bool uncased = v->form == RG_TEXT_LOWER;
    if (status == RG_OK && uncased) status = fold(&folded, rg_text_c(&cleaned), cleaned.length);
    const rg_text *text = uncased ? &folded : &cleaned;
    if (status == RG_OK) status = space_words(out, rg_text_c(text), text->length);
    rg_text_free(&valid);
    rg_text_free(&cleaned);
    rg_text_free(&folded);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

/* The end of the longest piece that begins at text[begin] of a word that ends at `end`; begin: there is none. `name`
 * holds "##" in front. */
static size_t longest_piece(const rg_vocab *v, char *name, const char *text, size_t word, size_t begin, size_t end)
{
    for (size_t to = end; to > begin; to--) {
        if (to < end && ((unsigned char)text[to] & 0xC0) == 0x80) continue; /* inside a character */
        memcpy(name + 2, text + begin, to - begin);
        const size_t skip = begin == word ? 2 : 0;
        if (rg_words_find(&v->pieces, name + skip, to - begin + 2 - skip) >= 0) return to;
    }
    return begin;
}

static rg_status unknown(const rg_vocab *v, size_t begin, size_t end, rg_piece_sink *sink, void *context)
{
    return sink(context, rg_words_get(&v->pieces, (size_t)v->unk), v->pieces.words[v->unk].bytes, begin, end);
}

static rg_status cut_word(const rg_vocab *v, const char *text, size_t begin, size_t end, rg_piece_sink *sink,
                          void *context)
{
    char   name[2 + 4 * WORD_CHARACTERS] = "##";
    size_t ends[WORD_CHARACTERS], count = 0, characters = 0;
    for (size_t at = begin; at < end; at++) characters += ((unsigned char)text[at] & 0xC0) != 0x80;
    if (characters > WORD_CHARACTERS) return unknown(v, begin, end, sink, context);
    for (size_t at = begin; at < end; at = ends[count++]) {
        ends[count] = longest_piece(v, name, text, begin, at, end);
        if (ends[count] == at) return unknown(v, begin, end, sink, context);
    }
    for (size_t i = 0, at = begin; i < count; at = ends[i++]) {
        const size_t skip = i ? 0 : 2;
        memcpy(name + 2, text + at, ends[i] - at);
        RG_TRY(sink(context, name + skip, ends[i] - at + 2 - skip, at, ends[i]));
    }
    return RG_OK;
}

static rg_status cut(const rg_vocab *v, const char *text, size_t bytes, rg_piece_sink *sink, void *context)
{
    for (size_t at = 0; at < bytes;) {
        const char  *blank = memchr(text + at, ' ', bytes - at);
        const size_t end = blank ? (size_t)(blank - text) : bytes;
        if (end > at) RG_TRY(cut_word(v, text, at, end, sink, context));
        at = end + 1;
    }
    return RG_OK;
}

static rg_status join(rg_text *out, const rg_vocab *v, const int32_t *ids, size_t count, const char *const *instead)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        const char *other = instead ? instead[i] : NULL, *piece = other ? other : rg_vocab_piece(v, ids[i]);
        if (!other && ids[i] != v->unk && rg_vocab_is_special(v, ids[i])) continue;
        const bool rest = !other && strncmp(piece, "##", 2) == 0 && piece[2];
        if (!rest && !first) RG_TRY(rg_text_add(out, " ", 1));
        RG_TRY(rg_text_add_string(out, rest ? piece + 2 : piece));
        first = false;
    }
    return rg_text_add(out, "", 0);
}

const rg_cutter rg_cutter_wordpiece = { RG_VOCAB_WORDPIECE, NULL, prepare, cut, join, NULL };
