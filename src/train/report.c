/* report.c - tell whoever listens. */
#include "regard/learning.h"

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

rg_status rg_check_stop(const rg_train_report *r)
{
    return rg_told_to_stop(r) ? rg_fail(RG_ESTOP, "asked to stop") : RG_OK;
}

void rg_tell_begin(const rg_train_report *r, const char *format, ...)
{
    char    doing[1024];
    va_list args;
    if (!r || !r->begin) return;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    r->begin(r->context, doing);
}

void rg_tell_over(const rg_train_report *r)
{
    if (r && r->begin) r->begin(r->context, "");
}

static bool go_on(void *context, uint64_t lines)
{
    const rg_train_report *r = context;
    if (r && r->reading) r->reading(r->context, lines);
    return !rg_told_to_stop(r);
}

rg_read_watch rg_report_watch(const rg_train_report *r)
{
    return (rg_read_watch){ .go_on = go_on, .context = (void *)r };
}
