/* lists.c - tasks, systems, scores, reaches, metrics, generators, demos and imports as they stand in their tables. */
#include "cli/lists.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "regard/export.h"
#include "regard/import.h"
#include "regard/made.h"
#include "regard/metrics.h"
#include "regard/task.h"

const rg_option rg_list_rows[] = {
    { RG_OPTION_BOOL, "long", offsetof(rg_list_options, full), "false", "all there is to say of each", 'l', NULL },
    { RG_OPTION_BOOL, "json", offsetof(rg_list_options, json), "false", "one JSON object per line", 0, NULL },
    RG_OPTION_END
};

/* ------------------------------------------------------------------------------------------------------------ rows */

/* A further line of a row: "what: text". */
static void add(rg_list_row *r, const char *what, const char *text)
{
    const size_t at = strlen(r->more);
    if (text && *text) snprintf(r->more + at, sizeof r->more - at, "%s%s: %s", at ? "\n" : "", what, text);
}

static const char *in_to_out(const rg_task *t)
{
    static char group[160];
    snprintf(group, sizeof group, "%s -> %s", t->in, t->out);
    return group;
}

static bool task_row(rg_list_row *out, size_t i)
{
    const rg_task *t = rg_task_all()[i];
    char           names[512] = "";
    size_t         at = 0;
    if (!t) return false;
    *out = (rg_list_row){ .name = t->name, .group = in_to_out(t), .summary = t->summary };
    for (const rg_system *const *s = rg_system_all(); *s && at < sizeof names; s++)
        if ((*s)->task == t) at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", (*s)->name);
    add(out, "systems", names);
    return true;
}

/* Systems by their tasks. */
static bool system_row(rg_list_row *out, size_t i)
{
    for (const rg_task *const *t = rg_task_all(); *t; t++)
        for (const rg_system *const *s = rg_system_all(); *s; s++) {
            char use[512];
            if ((*s)->task != *t || i--) continue;
            *out = (rg_list_row){ .name = (*s)->name, .group = in_to_out(*t), .summary = (*s)->summary, .paper = (*s)->paper };
            for (const rg_attention_use *u = (*s)->uses; u && u->where; u++) {
                snprintf(use, sizeof use, "Q %s; K %s; V %s; score %s; reach %s", u->queries, u->keys, u->values,
                         u->score, u->reach);
                add(out, u->where, use);
            }
            return true;
        }
    return false;
}

static bool score_row(rg_list_row *out, size_t i)
{
    const rg_score *s = rg_score_all()[i];
    if (!s) return false;
    *out = (rg_list_row){ .name = s->name, .summary = s->formula, .paper = s->paper };
    add(out, "cost per query", s->cost);
    add(out, "note", s->note);
    return true;
}

static bool reach_row(rg_list_row *out, size_t i)
{
    static char          name[64];
    const rg_reach_kind *k = rg_reach_kinds()[i];
    if (!k) return false;
    snprintf(name, sizeof name, "%s%s", k->name, k->sized ? ":R" : "");
    *out = (rg_list_row){ .name = name, .summary = k->summary, .paper = k->paper };
    return true;
}

static bool metric_row(rg_list_row *out, size_t i)
{
    if (!i) {
        *out = (rg_list_row){ .name = "text", .summary = "BLEU, chrF, TER, ROUGE, exact lines, alignment error" };
        return true;
    }
    const rg_metric_family *f = rg_metric_family_all()[i - 1];
    if (f) *out = (rg_list_row){ .name = f->name, .summary = f->summary };
    return f != NULL;
}

static bool generator_row(rg_list_row *out, size_t i)
{
    const rg_generator *g = rg_generator_all()[i];
    if (!g) return false;
    *out = (rg_list_row){ .name = g->name, .summary = g->summary };
    add(out, "writes", g->writes);
    return true;
}

static bool demo_row(rg_list_row *out, size_t i)
{
    for (const rg_task *const *t = rg_task_all(); *t; t++)
        for (const rg_demo *d = (*t)->demos; d && d->name; d++) {
            if (i--) continue;
            *out = (rg_list_row){ .name = d->name, .group = in_to_out(*t), .summary = d->summary };
            add(out, "system", d->type);
            return true;
        }
    return false;
}

static bool import_row(rg_list_row *out, size_t i)
{
    if (!rg_import_name(i)) return false;
    *out = (rg_list_row){ .name = rg_import_name(i), .summary = rg_import_summary(i) };
    return true;
}

static bool export_row(rg_list_row *out, size_t i)
{
    if (!rg_export_name(i)) return false;
    *out = (rg_list_row){ .name = rg_export_name(i), .summary = rg_export_summary(i) };
    return true;
}

static const rg_list_kind kinds[] = {
    { "tasks", "kinds of data: what goes in and what comes out", task_row },
    { "systems", "papers as choices of queries, keys, values, score and reach", system_row },
    { "scores", "how well a query fits a key", score_row },
    { "reaches", "which keys a query may look at", reach_row },
    { "metrics", "families of metrics: evaluate --type", metric_row },
    { "generators", "what regard make makes", generator_row },
    { "demos", "what regard demo shows", demo_row },
    { "imports", "models of other programs: import --from", import_row },
    { "exports", "programs that models can be written for: export --to", export_row },
    { 0 },
};

const rg_list_kind *rg_list_kinds(void) { return kinds; }

/* -------------------------------------------------------------------------------------------------------- printing */

static bool contains(const char *text, const char *word)
{
    for (; text && *text; text++) {
        size_t n = 0;
        while (word[n] && tolower((unsigned char)text[n]) == tolower((unsigned char)word[n])) n++;
        if (!word[n]) return true;
    }
    return false;
}

static bool matches(const rg_list_row *r, const rg_list *words, size_t first)
{
    for (size_t i = first; i < words->count; i++) {
        const char *w = words->items[i];
        if (!contains(r->name, w) && !contains(r->group, w) && !contains(r->summary, w) && !contains(r->paper, w) &&
            !contains(r->more, w))
            return false;
    }
    return true;
}

static void print_json(const char *kind, const rg_list_row *r)
{
    json_t *o = json_pack("{s:s, s:s, s:s}", "kind", kind, "name", r->name, "summary", r->summary);
    if (r->group) json_object_set_new(o, "group", json_string(r->group));
    if (r->paper) json_object_set_new(o, "paper", json_string(r->paper));
    char copy[sizeof r->more];
    memcpy(copy, r->more, sizeof copy);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strstr(line, ": ");
        if (!colon) continue;
        *colon = 0;
        json_object_set_new(o, line, json_string(colon + 2));
    }
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static void print_long(const rg_list_row *r)
{
    char text[sizeof r->more];
    memcpy(text, r->more, sizeof text);
    if (r->paper) rg_help_row(stdout, "", r->paper);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) rg_help_row(stdout, "", line);
}

static const rg_list_kind *find(const char *name)
{
    char   known[256] = "";
    size_t at = 0;
    for (const rg_list_kind *k = kinds; k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    for (const rg_list_kind *k = kinds; k->name && at < sizeof known; k++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", k->name);
    rg_fail(RG_EINVAL, "there is no list of %s; there are %s", name, known);
    return NULL;
}

rg_status rg_list_print(const char *kind, const rg_list *words, size_t first, const rg_list_options *o)
{
    const rg_list_kind *k = find(kind);
    rg_list_row         r;
    char                group[160] = "";
    if (!k) return RG_EINVAL;
    for (size_t i = 0; k->row(&r, i); i++) {
        if (!matches(&r, words, first)) continue;
        if (o->json) {
            print_json(kind, &r);
            continue;
        }
        if (r.group && strcmp(r.group, group) != 0)
            printf("%s%s\n", group[0] ? "\n" : "", r.group), snprintf(group, sizeof group, "%s", r.group);
        rg_help_row(stdout, r.name, r.summary);
        if (o->full) print_long(&r);
    }
    return RG_OK;
}
