/* report.c - tell whoever listens. */
#include "tasks/report.h"

#include <stdarg.h>
#include <stdio.h>

void rg_tell_log(const rg_train_report *r, const rg_train_log *log)
{
    if (r && r->log) r->log(r->context, log);
}

void rg_tell(const rg_train_report *r, const char *format, ...)
{
    char    line[1024];
    va_list args;
    if (!r || !r->say) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    r->say(r->context, line);
}

bool rg_told_to_stop(const rg_train_report *r) { return r && r->stop && r->stop(r->context); }
