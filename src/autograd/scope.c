/* scope.c - names with dots, and its backward pass. */
#include "autograd/scope.h"

#include <stdio.h>
#include <string.h>

bool rg_scope_push(rg_scope *s, const char *format, va_list args)
{
    size_t at = strlen(s->text);
    if (s->depth++ >= RG_SCOPE_DEPTH) return false;
    s->before[s->depth - 1] = at;
    if (at && at + 1 < sizeof s->text) s->text[at++] = '.';
    const int n = vsnprintf(s->text + at, sizeof s->text - at, format, args);
    return n >= 0 && (size_t)n < sizeof s->text - at;
}

void rg_scope_pop(rg_scope *s)
{
    if (s->depth == 0) return;
    if (--s->depth < RG_SCOPE_DEPTH) s->text[s->before[s->depth]] = 0;
}

bool rg_scope_join(const rg_scope *s, const char *name, char *out, size_t room)
{
    const int n = snprintf(out, room, "%s%s%s", s->text, s->text[0] ? "." : "", name);
    return n >= 0 && (size_t)n < room;
}
