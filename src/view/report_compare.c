/* report_compare.c - several training runs in one record: a set of curves per quantity, a series per run. */
#include "regard/view.h"

#include <string.h>

/* "Validation" and "bleu": "Validation: bleu"; "Learning rate" and "learning rate" need one of them. */
static char *set_title(const rg_curves *c, const rg_series *s)
{
    const bool one = strncasecmp(c->title, s->name, strlen(c->title)) == 0 || strcmp(c->title, "Speed") == 0;
    return one ? rg_strdup(c->title) : rg_format("%s: %s", c->title, s->name);
}

static bool find_set(size_t *out, const rg_record *r, const char *title)
{
    for (size_t i = 0; i < r->curve_sets; i++)
        if (strcmp(r->curves[i].title, title) == 0) return *out = i, true;
    return false;
}

static rg_status add_run(rg_record *all, const rg_record *run, const char *name)
{
    for (size_t i = 0; i < run->curve_sets; i++) {
        const rg_curves *c = &run->curves[i];
        for (size_t k = 0; k < c->count; k++) {
            const rg_series *s = &c->series[k];
            size_t           at = 0;
            char            *title = set_title(c, s);
            rg_status        status = title ? RG_OK : RG_ENOMEM;
            if (status == RG_OK && !find_set(&at, all, title))
                status = rg_record_add_curves(&at, all, title, c->x_name, c->y_name, c->x_log, c->y_log);
            if (status == RG_OK) status = rg_record_add_series(all, at, name, s->x, s->y, s->count);
            rg_free(title);
            RG_TRY(status);
        }
    }
    return RG_OK;
}

/* Characters that all names begin with, up to and with the last slash among them: runs are told apart by the rest. */
static size_t common_part(const char *const *name, size_t count)
{
    size_t same = 0, slash = 0;
    for (;; same++) {
        for (size_t i = 0; i < count; i++)
            if (!name[i][same] || name[i][same] != name[0][same]) return slash;
        if (name[0][same] == '/') slash = same + 1;
    }
}

rg_status rg_report_compare(rg_record **out, const char *const *runs, size_t count)
{
    const size_t cut = count > 1 ? common_part(runs, count) : 0;
    rg_record   *all = NULL;
    *out = NULL;
    RG_TRY(rg_record_new(&all, "Runs compared", "training"));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < count; i++) {
        rg_record *one = NULL;
        for (size_t k = 0; k < i; k++)
            if (strcmp(runs[i], runs[k]) == 0) status = rg_fail(RG_EINVAL, "%s is given twice", runs[i]);
        if (status == RG_OK) status = rg_report_read(&one, runs[i]);
        if (status == RG_OK) status = add_run(all, one, runs[i] + cut);
        rg_record_free(one);
    }
    if (status != RG_OK) rg_record_free(all);
    else *out = all;
    return status;
}
