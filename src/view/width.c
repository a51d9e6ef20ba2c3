/* width.c - how wide a label is on a terminal, and labels that can do no harm there. */
#include "regard/view.h"
#include "view/terminal.h"

#include <string.h>
#include <utf8proc.h>

/* Not to be sent to a terminal: escape sequences (C0, C1), and marks that turn the direction of what follows. */
static bool harmful(utf8proc_int32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c;
}

static bool right_to_left(utf8proc_int32_t c)
{
    const utf8proc_property_t *p = utf8proc_get_property(c);
    return p->bidi_class == UTF8PROC_BIDI_CLASS_R || p->bidi_class == UTF8PROC_BIDI_CLASS_AL;
}

/* One code point and the bytes it took; bytes that are not UTF-8 count one by one as U+FFFD. */
static utf8proc_int32_t next(const char *text, size_t left, size_t *bytes)
{
    utf8proc_int32_t   c;
    utf8proc_ssize_t   n = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)left, &c);

    if (n <= 0 || c < 0 || harmful(c)) c = 0xfffd;
    *bytes = n > 0 ? (size_t)n : 1;
    return c;
}

static size_t width_of(utf8proc_int32_t c)
{
    int w = c == 0xfffd ? 1 : utf8proc_charwidth(c);
    return w > 0 ? (size_t)w : 0;
}

size_t rg_terminal_width(const char *text)
{
    size_t left = strlen(text), width = 0, bytes;

    for (; left; text += bytes, left -= bytes) width += width_of(next(text, left, &bytes));
    return width;
}

static void put_code_point(rg_buffer *b, utf8proc_int32_t c)
{
    utf8proc_uint8_t bytes[4];
    rg_buffer_put(b, bytes, (size_t)utf8proc_encode_char(c, bytes));
}

char *rg_terminal_safe(const char *text) { return rg_terminal_cut(text, SIZE_MAX); }

char *rg_terminal_cut(const char *text, size_t columns)
{
    rg_buffer b = RG_BUFFER_EMPTY;
    char     *out = NULL;

    rg_terminal__label(&b, text, columns, true);
    return rg_buffer_take(&out, NULL, &b) == RG_OK ? out : NULL;
}

/* In a terminal that reorders right-to-left text, an isolate keeps a label where its column is; in one that does
 * not, the marks have no width. */
static const char first_strong_isolate[] = "\xe2\x81\xa8", pop_isolate[] = "\xe2\x81\xa9",
                  left_to_right[] = "\xe2\x80\x8e";

size_t rg_terminal__label(rg_buffer *b, const char *text, size_t most, bool unicode)
{
    size_t left = strlen(text), width = 0, bytes, full = rg_terminal_width(text);
    size_t room = full > most ? most - (most > 0) : most;
    bool   rtl = false;

    for (const char *p = text; *p && !rtl; p += bytes) rtl = right_to_left(next(p, strlen(p), &bytes));
    if (rtl && unicode) rg_buffer_text(b, first_strong_isolate);
    for (; left; text += bytes, left -= bytes) {
        utf8proc_int32_t c = next(text, left, &bytes);
        size_t           w = width_of(c);
        if (width + w > room) break;
        if (c < 0x80 || unicode) put_code_point(b, c);
        else rg_buffer_repeat(b, "?", w);
        width += w;
    }
    if (full > most && most) {
        rg_buffer_text(b, unicode ? "\xe2\x80\xa6" : "~");
        width++;
    }
    if (rtl && unicode) {
        rg_buffer_text(b, pop_isolate);
        rg_buffer_text(b, left_to_right);
    }
    return width;
}
