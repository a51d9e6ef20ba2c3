/* status.c - the last failure of each thread, as one line of text. */
#include "regard/base.h"

#include <string.h>

#undef rg_fail /* tools/tidy_facts.h */
#undef rg_fail_in

enum { MESSAGE_BYTES = 1024 };

static _Thread_local char message[MESSAGE_BYTES];

/* File names and lines of outside text end up in messages: nothing in them may start a new line or drive a terminal,
 * and a character that the buffer's end cut in two is dropped whole. */
static void clean(char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f) text[i] = (c == '\n' || c == '\t') ? ' ' : '?';
    }
    if (length + 1 < MESSAGE_BYTES) return;
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
    if (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0xC0) text[start - 1] = '\0';
}

rg_status rg_failv(rg_status status, const char *format, va_list args)
{
    char text[MESSAGE_BYTES]; /* the arguments may contain the old message */
    if (vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
    clean(text);
    memcpy(message, text, sizeof message);
    return status;
}

rg_status rg_fail(rg_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rg_failv(status, format, args);
    va_end(args);
    return status;
}

rg_status rg_fail_in(rg_status status, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0) length = 0;
    if ((size_t)length < sizeof text) {
        size_t left = sizeof text - (size_t)length - 1;
        size_t more = strlen(message);
        if (more > left) more = left;
        memcpy(text + length, message, more);
        text[(size_t)length + more] = '\0';
    }
    clean(text);
    memcpy(message, text, sizeof message);
    return status;
}

const char *rg_message(void)
{
    return message;
}

const char *rg_status_name(rg_status status)
{
    switch (status) {
    case RG_OK: return "RG_OK";
    case RG_ENOMEM: return "RG_ENOMEM";
    case RG_ESHAPE: return "RG_ESHAPE";
    case RG_EINVAL: return "RG_EINVAL";
    case RG_EIO: return "RG_EIO";
    case RG_EFORMAT: return "RG_EFORMAT";
    case RG_ELIMIT: return "RG_ELIMIT";
    case RG_ENUMBER: return "RG_ENUMBER";
    case RG_EMATCH: return "RG_EMATCH";
    case RG_ESTOP: return "RG_ESTOP";
    }
    return "RG_?";
}
