/* scope.h - where we are in a model: "encoder.0.self". Parameters and tapes name things by it.
 *
 * A part may hold dots itself: push "encoder.0", push "self", pop -> "encoder.0" again. */
#ifndef RG_AUTOGRAD_SCOPE_H
#define RG_AUTOGRAD_SCOPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { RG_SCOPE_ROOM = 256, RG_SCOPE_DEPTH = 32 };

typedef struct {
    char   text[RG_SCOPE_ROOM];
    size_t depth;
    size_t before[RG_SCOPE_DEPTH]; /* length of the text before each push */
} rg_scope;

/* Returns false when the scope is too long or too deep: its text is then cut, and pop still undoes it. */
bool rg_scope_push(rg_scope *scope, const char *format, va_list args);
void rg_scope_pop(rg_scope *scope);

/* "encoder.0.self" and "wq" -> "encoder.0.self.wq"; returns false when it does not fit and was cut. */
bool rg_scope_join(const rg_scope *scope, const char *name, char *out, size_t room);

#endif
