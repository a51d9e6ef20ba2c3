/* log.c - remarks of the library, handed to whoever asked for them. */
#include "regard/base.h"

static struct {
    rg_log_sink *sink;
    void *context;
} target; /* written once, before other threads exist */

void rg_log_to(rg_log_sink *sink, void *context)
{
    target.sink = sink;
    target.context = context;
}

void rg_log(rg_log_level level, const char *format, ...)
{
    if (target.sink == NULL) return;
    char line[2048];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length < 0) return;
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    target.sink(target.context, level, line);
}
