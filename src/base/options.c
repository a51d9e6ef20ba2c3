/* options.c - rows of settings: defaults, setting from words, finding, writing as YAML. options_yaml.c reads YAML. */
#include "regard/options.h"
#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *field(const rg_option *row, void *values)
{
    return (char *)values + row->offset;
}

/* ------------------------------------------------------------------------------------------------ one value */

/* Does x lie in the row's interval: "[0,1)", "(0,inf)"? */
static rg_status check_range(const rg_option *row, double x, const char *word)
{
    if (!row->choices) return RG_OK;
    char        *at;
    const double low = rg_real_parse(row->choices + 1, &at), high = rg_real_parse(at + 1, &at);
    const bool   low_open = row->choices[0] == '(', high_open = *at == ')';
    if ((low_open ? x > low : x >= low) && (high_open ? x < high : x <= high)) return RG_OK;
    if (isinf(high))
        return rg_fail(RG_EINVAL, "--%s is %s; it should be %s %g", row->name, word, low_open ? "above" : "at least",
                       low);
    return rg_fail(RG_EINVAL, "--%s is %s; it should be %s %g and %s %g", row->name, word,
                   low_open ? "above" : "at least", low, high_open ? "below" : "at most", high);
}

/* A number, which may end in K, M or G. */
static double parse_scaled(const char *word, char **end)
{
    static const struct {
        char   letter;
        double factor;
    } scales[] = { { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 } };
    const double x = rg_real_parse(word, end);
    for (size_t i = 0; *end != word && i < sizeof scales / sizeof *scales; i++)
        if (**end == scales[i].letter && !(*end)[1]) return ++*end, x * scales[i].factor;
    return x;
}

static rg_status set_int(const rg_option *row, int64_t *out, const char *word)
{
    char *end;
    errno = 0;
    int64_t n = strtoll(word, &end, 10);
    if (end == word || *end || errno) {
        const double x = parse_scaled(word, &end); /* 1e6 and 16K are whole numbers too */
        if (end == word || *end || !(fabs(x) < 9e15) || x != floor(x))
            return rg_fail(RG_EINVAL, "--%s takes a whole number, not \"%s\"", row->name, word);
        n = (int64_t)x;
    }
    RG_TRY(check_range(row, (double)n, word));
    *out = n;
    return RG_OK;
}

static rg_status set_real(const rg_option *row, double *out, const char *word)
{
    char  *end;
    double x = parse_scaled(word, &end);
    if (end == word || *end || !isfinite(x))
        return rg_fail(RG_EINVAL, "--%s takes a number, not \"%s\"", row->name, word);
    RG_TRY(check_range(row, x, word));
    *out = x;
    return RG_OK;
}

static rg_status set_bool(const rg_option *row, bool *out, const char *word)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (!strcmp(word, yes[i])) return *out = true, RG_OK;
        if (!strcmp(word, no[i])) return *out = false, RG_OK;
    }
    return rg_fail(RG_EINVAL, "--%s takes true or false, not \"%s\"", row->name, word);
}

static rg_status set_string(char **out, const char *word)
{
    char *copy = rg_strdup(word);
    if (!copy) return RG_ENOMEM;
    rg_free(*out);
    *out = copy;
    return RG_OK;
}

static void free_list(rg_list *list)
{
    for (size_t i = 0; i < list->count; i++) rg_free(list->items[i]);
    rg_free(list->items);
    *list = (rg_list){0, NULL};
}

static rg_status set_list(rg_list *out, size_t count, const char *const *words)
{
    rg_list list = {0, rg_alloc_array(count ? count : 1, sizeof(char *))};
    if (!list.items) return RG_ENOMEM;
    for (; list.count < count; list.count++)
        if (!(list.items[list.count] = rg_strdup(words[list.count]))) return free_list(&list), RG_ENOMEM;
    free_list(out);
    *out = list;
    return RG_OK;
}

static rg_status check_choice(const rg_option *row, const char *word)
{
    size_t length = strlen(word);
    for (const char *c = row->choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (!strncmp(c, word, length) && (c[length] == '|' || !c[length])) return RG_OK;
    return rg_fail(RG_EINVAL, "--%s is one of %s, not \"%s\"", row->name, row->choices, word);
}

rg_status rg_option_set(const rg_option *row, void *values, size_t count, const char *const *words)
{
    void *out = field(row, values);

    if (count == 0 && row->implicit && row->kind != RG_OPTION_LIST) return rg_option_set(row, values, 1, &row->implicit);
    if (row->choices && (row->kind == RG_OPTION_STRING || row->kind == RG_OPTION_LIST))
        for (size_t i = 0; i < count; i++) RG_TRY(check_choice(row, words[i]));
    if (row->kind == RG_OPTION_LIST) return set_list(out, count, words);
    if (row->kind == RG_OPTION_BOOL && count == 0) return *(bool *)out = true, RG_OK;
    if (count != 1) return rg_fail(RG_EINVAL, "--%s takes one value, not %zu", row->name, count);
    switch (row->kind) {
    case RG_OPTION_INT: return set_int(row, out, words[0]);
    case RG_OPTION_REAL: return set_real(row, out, words[0]);
    case RG_OPTION_BOOL: return set_bool(row, out, words[0]);
    case RG_OPTION_STRING: return set_string(out, words[0]);
    case RG_OPTION_LIST: break;
    }
    return rg_fail(RG_EINVAL, "--%s has an unknown kind %d", row->name, (int)row->kind);
}

/* ------------------------------------------------------------------------------------------------- defaults */

/* Split a list's default at spaces, in place. */
static rg_status set_default_list(const rg_option *row, void *values)
{
    const char *words[64];
    size_t      count = 0;
    char       *text = rg_strdup(row->value), *rest = NULL;
    if (!text) return RG_ENOMEM;
    for (char *word = strtok_r(text, " ", &rest); word && count < 64; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    rg_status status = rg_option_set(row, values, count, words);
    rg_free(text);
    return status;
}

static void clear(const rg_option *row, void *values)
{
    if (row->kind == RG_OPTION_STRING) *(char **)field(row, values) = NULL;
    if (row->kind == RG_OPTION_LIST) *(rg_list *)field(row, values) = (rg_list){0, NULL};
}

rg_status rg_options_init(const rg_option *rows, void *values)
{
    rg_status status = RG_OK;
    for (const rg_option *row = rows; row->name; row++) clear(row, values);
    for (const rg_option *row = rows; row->name && status == RG_OK; row++) {
        rg_option free_choice = *row; /* "" may stand for "not chosen" */
        if (!*row->value) free_choice.choices = NULL;
        status = row->kind == RG_OPTION_LIST ? set_default_list(&free_choice, values)
                                             : rg_option_set(&free_choice, values, 1, &row->value);
    }
    if (status != RG_OK) rg_options_fini(rows, values);
    return status;
}

void rg_options_fini(const rg_option *rows, void *values)
{
    for (const rg_option *row = rows; row->name; row++) {
        if (row->kind == RG_OPTION_STRING) rg_free(*(char **)field(row, values));
        if (row->kind == RG_OPTION_LIST) free_list(field(row, values));
        clear(row, values);
    }
}

/* -------------------------------------------------------------------------------------------------- finding */

const rg_option *rg_option_find(const rg_option_group *groups, size_t count, const char *name, size_t *out_group)
{
    for (size_t g = 0; g < count; g++)
        for (const rg_option *row = groups[g].rows; row->name; row++)
            if (!strcmp(row->name, name)) return *out_group = g, row;
    return NULL;
}

const rg_option *rg_option_find_letter(const rg_option_group *groups, size_t count, char letter, size_t *out_group)
{
    for (size_t g = 0; g < count; g++)
        for (const rg_option *row = groups[g].rows; row->name; row++)
            if (row->letter && row->letter == letter) return *out_group = g, row;
    return NULL;
}

enum { LONGEST_NAME = 64 };

/* Insertions, removals, changes and swaps of neighbours that lead from a to b (optimal string alignment). */
static size_t typing_errors(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][LONGEST_NAME + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    if (n > LONGEST_NAME || m > LONGEST_NAME) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *spare = before;
        before = last, last = now, now = spare;
    }
    return last[m];
}

static void consider(const char **best, size_t *errors, const char *name, const char *word)
{
    size_t length = strlen(name), e = typing_errors(name, word);
    if (length >= 2 && !strncmp(name, word, length)) e = 1; /* the beginning of it */
    if (e < *errors && e <= (length < 4 ? 1 : 1 + length / 4)) *best = word, *errors = e;
}

const char *rg_nearest(const char *name, const char *const *words)
{
    const char *best = NULL;
    size_t      errors = SIZE_MAX;
    for (; *words; words++) consider(&best, &errors, name, *words);
    return best;
}

rg_status rg_options_try(bool *out_known, const rg_option_group *groups, size_t count, const char *name, size_t words,
                         const char *const *word)
{
    size_t group;
    *out_known = false;
    for (size_t g = 0; g < count && !*out_known; g++)
        if (groups[g].other) RG_TRY(groups[g].other(groups[g].values, name, words, word, out_known));
    if (*out_known) return RG_OK;
    const rg_option *row = rg_option_find(groups, count, name, &group);
    *out_known = row != NULL;
    return row ? rg_option_set(row, groups[group].values, words, word) : RG_OK;
}

/* What a name that no row has may mean: an earlier name (*out_was) or the nearest; NULL: nothing near. */
static const char *meant(const rg_option_group *groups, size_t count, const char *name, bool *out_was)
{
    const char *best = NULL;
    size_t      errors = SIZE_MAX;
    *out_was = false;
    for (size_t g = 0; g < count; g++)
        for (const rg_option *row = groups[g].rows; row->name; row++) {
            if (row->was && strcmp(row->was, name) == 0) return *out_was = true, row->name;
            consider(&best, &errors, name, row->name);
        }
    return best;
}

rg_status rg_options_set(const rg_option_group *groups, size_t count, const char *name, size_t words,
                         const char *const *word)
{
    bool known;
    RG_TRY(rg_options_try(&known, groups, count, name, words, word));
    if (known) return RG_OK;
    rg_unknown_options unknown = { 0 };
    char              *flag = rg_format("--%s", name);
    if (!flag) return RG_ENOMEM;
    rg_unknown_options_add(&unknown, groups, count, flag, 0);
    rg_free(flag);
    return rg_unknown_options_check(&unknown);
}

void rg_unknown_options_add(rg_unknown_options *u, const rg_option_group *groups, size_t count, const char *flag,
                            size_t line)
{
    bool         was = false;
    char         where[40] = "", hint[104] = "";
    const char  *near = strncmp(flag, "--", 2) == 0 ? meant(groups, count, flag + 2, &was) : NULL;
    const size_t used = strlen(u->list);
    if (line) snprintf(where, sizeof where, "line %zu", line);
    if (near) snprintf(hint, sizeof hint, was ? "it is --%.80s now" : "did you mean --%.80s?", near);
    if (!u->count++) {
        u->line = line;
        snprintf(u->first, sizeof u->first, "%s%sthere is no option %.80s%s%s", where, line ? ": " : "", flag,
                 near ? was ? " any more: " : "; " : "", hint);
    }
    const bool note = line || near;
    snprintf(u->list + used, sizeof u->list - used, "%s%.80s%s%s%s%s%s", used ? ", " : "", flag, note ? " (" : "",
             where, line && near ? "; " : "", hint, note ? ")" : "");
}

rg_status rg_unknown_options_check(const rg_unknown_options *u)
{
    if (!u->count) return RG_OK;
    if (u->count == 1) return rg_fail(RG_EINVAL, "%s", u->first);
    if (!u->line) return rg_fail(RG_EINVAL, "there are no such %zu options: %s", u->count, u->list);
    return rg_fail(RG_EINVAL, "line %zu: there are no such %zu options: %s", u->line, u->count, u->list);
}

/* ------------------------------------------------------------------------------------------------- as YAML */

typedef struct text {
    char  *bytes;
    size_t used, room;
    bool   failed;
} text;

static void put_bytes(text *t, const char *bytes, size_t count)
{
    if (t->failed) return;
    if (count >= t->room - t->used) {
        size_t room = (t->used + count + 1) * 2;
        char  *larger = rg_realloc(t->bytes, room);
        if (!larger) {
            t->failed = true;
            return;
        }
        t->bytes = larger, t->room = room;
    }
    memcpy(t->bytes + t->used, bytes, count);
    t->bytes[t->used += count] = 0;
}

static void put(text *t, const char *word)
{
    put_bytes(t, word, strlen(word));
}

/* A double-quoted YAML scalar: right for every string. */
static void put_quoted(text *t, const char *word)
{
    put(t, "\"");
    for (const char *c = word; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\') snprintf(escape, sizeof escape, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f) snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)*c);
        else escape[0] = *c, escape[1] = 0;
        put(t, escape);
    }
    put(t, "\"");
}

static void put_value(text *t, const rg_option *row, void *values)
{
    char number[40];
    switch (row->kind) {
    case RG_OPTION_INT:
        snprintf(number, sizeof number, "%" PRId64, *(int64_t *)field(row, values));
        put(t, number);
        break;
    case RG_OPTION_REAL: /* as short as reads back the same */
        rg_real_print_double(number, sizeof number, 6, *(double *)field(row, values));
        put(t, number);
        break;
    case RG_OPTION_BOOL: put(t, *(bool *)field(row, values) ? "true" : "false"); break;
    case RG_OPTION_STRING: put_quoted(t, *(char **)field(row, values)); break;
    case RG_OPTION_LIST: {
        const rg_list *list = field(row, values);
        put(t, "[");
        for (size_t i = 0; i < list->count; i++) put(t, i ? ", " : ""), put_quoted(t, list->items[i]);
        put(t, "]");
        break;
    }
    }
}

char *rg_options_yaml(const rg_option_group *groups, size_t count)
{
    text t = {rg_alloc(1024), 0, 1024, false};
    if (!t.bytes) return NULL;
    t.bytes[0] = 0;
    for (size_t g = 0; g < count; g++)
        for (const rg_option *row = groups[g].rows; row->name; row++) {
            put(&t, row->name);
            put(&t, ": ");
            put_value(&t, row, groups[g].values);
            put(&t, "\n");
        }
    if (!t.failed) return t.bytes;
    rg_free(t.bytes);
    return NULL;
}
