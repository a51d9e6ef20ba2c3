/* shell.c - words as a shell takes them back. */
#include <string.h>

#include "regard/base.h"

char *rg_shell_quote(const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    const size_t      bytes = strlen(word);
    if (bytes && strspn(word, safe) == bytes && *word != '-') return rg_strdup(word);
    char *out = rg_alloc(4 * bytes + 3), *at = out; /* ' becomes '\'' */
    if (!out) return NULL;
    *at++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') memcpy(at, "'\\''", 4), at += 4;
        else *at++ = *word;
    }
    *at++ = '\'';
    *at = '\0';
    return out;
}
