/* args.c - from words to values: defaults, then a preset, then configuration files, then flags, wherever they stand.
 *
 *     --flag VALUE   --flag=VALUE   --flag (true)   --no-flag (false)   --list A B C   -f VALUE   --   word
 *
 * A value may start with a minus when a digit follows it. Everything after `--` is a word. */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"

/* Flags every command has. They fill the call itself. */
static const rg_option common[] = {
    { RG_OPTION_LIST, "config", offsetof(rg_call, configs), "",
      "read options from YAML files; keys are the long flag names", 'c' },
    { RG_OPTION_BOOL, "dump-config", offsetof(rg_call, dump_config), "false",
      "print all options as YAML instead of running" },
    { RG_OPTION_BOOL, "help", offsetof(rg_call, help), "false", "print this instead of running", 'h' },
    RG_OPTION_END,
};

const rg_option *rg_call_common(void)
{
    return common;
}

static const rg_option none[] = {RG_OPTION_END};

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* ----------------------------------------------------------------------------------------------- one look */

typedef struct look {
    rg_option_group groups[RG_CALL_GROUPS + 2]; /* the call's, the common ones, Marian's */
    size_t          count;
    bool            lenient; /* unknown flags are skipped: their rows may come later */
    rg_call        *call;
    const rg_option *lists[32]; /* that were given in this reading */
    size_t           listed;
    rg_unknown_options unknown;
} look;

static rg_status add_word(rg_call *call, const char *word)
{
    char **larger = rg_realloc(call->words.items, (call->words.count + 1) * sizeof(char *));
    if (!larger) return RG_ENOMEM;
    call->words.items = larger;
    if (!(larger[call->words.count] = rg_strdup(word))) return RG_ENOMEM;
    call->words.count++;
    return RG_OK;
}

/* The row a flag means; *negated for --no-<bool>. NULL when there is none. */
static const rg_option *match(const look *l, const char *name, size_t *group, bool *negated)
{
    const rg_option *row = rg_option_find(l->groups, l->count, name, group);
    *negated = false;
    if (row || strncmp(name, "no-", 3)) return row;
    row = rg_option_find(l->groups, l->count, name + 3, group);
    if (!row || row->kind != RG_OPTION_BOOL) return NULL;
    *negated = true;
    return row;
}

/* A text that looks like a flag and is none: '--character_coverage=1 --byte_fallback=true'. */
static bool is_text(const look *l, const char *word)
{
    char         name[128];
    size_t       group;
    bool         negated;
    const size_t n = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "= ") : 0;
    if (!n || n >= sizeof name || !word[2 + n]) return false;
    snprintf(name, sizeof name, "%.*s", (int)n, word + 2);
    return !match(l, name, &group, &negated) && !rg_marian_name(l->call, name, 0);
}

/* Would the row take this word? A flag that may stand alone takes what it can use. */
static bool usable(const look *l, const rg_option *row, const char *word)
{
    char *end;
    if (is_flag(word)) return row->kind == RG_OPTION_STRING && is_text(l, word);
    if (!row->implicit || row->kind == RG_OPTION_STRING) return true;
    (void)rg_real_parse(word, &end);
    return end != word;
}

/* How many of the words that follow belong to this row. */
static size_t take(const look *l, const rg_option *row, int left, const char *const *words)
{
    size_t count = 0;
    switch (row->kind) {
    case RG_OPTION_LIST:
        while (count < (size_t)left && !is_flag(words[count])) count++;
        return count;
    case RG_OPTION_BOOL: return left && (!strcmp(words[0], "true") || !strcmp(words[0], "false")) ? 1 : 0;
    case RG_OPTION_INT:
    case RG_OPTION_REAL:
    case RG_OPTION_STRING: break;
    }
    return left && usable(l, row, words[0]) ? 1 : 0;
}

/* Of a flag that Marian has and we do not, or that nobody has: *used words. */
static rg_status read_unknown(look *l, const char *flag, const char *value, int left, const char *const *words,
                              size_t *used)
{
    const bool  is_long = flag[1] == '-';
    const char *name = rg_marian_name(l->call, is_long ? flag + 2 : NULL, is_long ? 0 : flag[1]);
    bool        known = false;
    size_t      count = 0;
    if (name && !value) count = rg_marian_take(l->call, name, left, words);
    if (name)
        RG_TRY(rg_options_try(&known, l->groups, l->count, name, value ? 1 : count, value ? &value : words));
    *used += count;
    if (known || l->lenient) return RG_OK;
    while (!name && *used <= (size_t)left && !is_flag(words[*used - 1])) ++*used; /* its words, most likely */
    rg_unknown_options_add(&l->unknown, l->groups, l->count, flag, 0);
    return RG_OK;
}

/* A list that is given again goes on: -m A -m B is -m A B. What it was by default or in a file is replaced. */
static rg_status set_words(look *l, const rg_option *row, void *values, size_t count, const char *const *words)
{
    bool again = false, known; /* by the row, or by Marian's values for it */
    for (size_t i = 0; i < l->listed; i++) again |= l->lists[i] == row;
    if (row->kind == RG_OPTION_LIST && !again && l->listed < sizeof l->lists / sizeof *l->lists)
        l->lists[l->listed++] = row;
    if (!again) return rg_options_try(&known, l->groups, l->count, row->name, count, words);
    const rg_list *old = (const rg_list *)(const void *)((const char *)values + row->offset);
    const char   **all = rg_alloc_array(old->count + count, sizeof *all);
    if (!all) return RG_ENOMEM;
    for (size_t i = 0; i < old->count; i++) all[i] = old->items[i];
    for (size_t i = 0; i < count; i++) all[old->count + i] = words[i];
    const rg_status status = rg_option_set(row, values, old->count + count, all);
    rg_free(all);
    return status;
}

/* Read the flag at words[0]; *used is how many words it took. */
static rg_status read_flag(look *l, int left, const char *const *words, size_t *used)
{
    char             name[128];
    const char      *equals = words[0][1] == '-' ? strchr(words[0], '=') : NULL;
    const char      *value = equals ? equals + 1 : NULL;
    const rg_option *row;
    size_t           group;
    bool             negated = false;

    *used = 1;
    if (words[0][1] == '-') {
        snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - words[0] - 2 : 120), words[0] + 2);
        row = match(l, name, &group, &negated);
    } else { /* -m VALUE, -mVALUE */
        snprintf(name, sizeof name, "%.120s", words[0] + 1);
        row = rg_option_find_letter(l->groups, l->count, words[0][1], &group);
        if (words[0][2]) value = words[0] + 2;
    }
    if (!row) {
        char flag[128];
        snprintf(flag, sizeof flag, words[0][1] == '-' ? "--%.120s" : "-%.1s", name);
        return read_unknown(l, flag, value, left - 1, words + 1, used);
    }

    void *values = l->groups[group].values;
    if (negated) {
        static const char *const no[] = {"false"};
        return value ? rg_fail(RG_EINVAL, "--%s takes no value", name) : rg_option_set(row, values, 1, no);
    }
    if (value) return set_words(l, row, values, 1, &value);
    size_t count = take(l, row, left - 1, words + 1);
    *used += count;
    if (count == 0 && row->kind != RG_OPTION_BOOL && !row->implicit)
        return rg_fail(RG_EINVAL, "--%s needs a value", row->name);
    return set_words(l, row, values, count, words + 1);
}

static rg_status read_words(look *l, int argc, const char *const *argv)
{
    for (int i = 0; i < argc;) {
        size_t used = 1;
        if (!strcmp(argv[i], "--")) {
            for (i++; i < argc; i++) RG_TRY(add_word(l->call, argv[i]));
        } else if (is_flag(argv[i])) {
            RG_TRY(read_flag(l, argc - i, argv + i, &used));
            i += (int)used;
        } else {
            RG_TRY(add_word(l->call, argv[i++]));
        }
    }
    return rg_unknown_options_check(&l->unknown);
}

static void free_words(rg_list *list)
{
    for (size_t i = 0; i < list->count; i++) rg_free(list->items[i]);
    rg_free(list->items);
    *list = (rg_list){0, NULL};
}

static rg_status reset(rg_call *call)
{
    free_words(&call->words);
    for (size_t g = 0; g < call->count; g++) {
        rg_options_fini(call->groups[g].rows, call->groups[g].values);
        RG_TRY(rg_options_init(call->groups[g].rows, call->groups[g].values));
    }
    return RG_OK;
}

/* Defaults, files, flags. The first reading of the words is for the names of the files. */
static rg_status look_at(rg_call *call, int argc, const char *const *argv, bool lenient)
{
    look first = { .count = 1, .lenient = true, .call = call },
         second = { .count = call->count + 2, .lenient = lenient, .call = call };
    first.groups[0] = (rg_option_group){ .title = "common", .rows = common, .values = call };
    memcpy(second.groups, call->groups, call->count * sizeof *call->groups);
    second.groups[call->count] = (rg_option_group){ .rows = none, .values = call, .other = rg_marian_set };
    second.groups[call->count + 1] = first.groups[0]; /* not for files */
    call->marian = (rg_marian_notes){ .lenient = lenient };

    RG_TRY(read_words(&first, argc, argv));
    RG_TRY(reset(call));
    if (call->preset)
        RG_TRY(rg_options_read_yaml(call->groups, call->count, call->preset, strlen(call->preset), "preset", true));
    for (size_t i = 0; i < call->configs.count; i++)
        RG_TRY(rg_options_read_file(second.groups, call->count + 1, call->configs.items[i], lenient));
    return read_words(&second, argc, argv);
}

/* --------------------------------------------------------------------------------------------------- calls */

rg_status rg_call_add(rg_call *call, const char *title, const rg_option *rows, size_t size)
{
    if (call->count == RG_CALL_GROUPS) return rg_fail(RG_ELIMIT, "more than %d groups of options", RG_CALL_GROUPS);
    void *values = rg_alloc_zero(size ? size : 1);
    if (!values) return RG_ENOMEM;
    call->groups[call->count++] = (rg_option_group){ .title = title, .rows = rows, .values = values };
    return rg_options_init(rows, values);
}

void *rg_call_values(const rg_call *call, const rg_option *rows)
{
    for (size_t g = 0; g < call->count; g++)
        if (call->groups[g].rows == rows) return call->groups[g].values;
    return NULL;
}

rg_status rg_call_look(rg_call *call) { return look_at(call, call->argc, call->argv, true); }

rg_status rg_call_init(rg_call *call, const rg_command *command, int argc, const char *const *argv)
{
    *call = (rg_call){.command = command, .argc = argc, .argv = argv};
    RG_TRY(rg_call_add(call, "options", command->options ? command->options : none, command->size));
    call->options = call->groups[0].values;
    if (command->extend) {
        RG_TRY(look_at(call, argc, argv, true));
        RG_TRY(command->extend(call));
    }
    RG_TRY(look_at(call, argc, argv, false));
    RG_TRY(rg_marian_check(call));
    if (call->words.count && !command->arguments)
        return rg_fail(RG_EINVAL, "what is \"%s\"? This command takes options only", call->words.items[0]);
    return RG_OK;
}

void rg_call_fini(rg_call *call)
{
    rg_free(call->preset);
    for (size_t g = 0; g < call->count; g++) {
        rg_options_fini(call->groups[g].rows, call->groups[g].values);
        rg_free(call->groups[g].values);
    }
    free_words(&call->words);
    rg_options_fini(common, call);
    *call = (rg_call){0};
}

bool rg_call_given(const rg_call *call, const char *name)
{
    const rg_option       row[] = { { RG_OPTION_LIST, name, 0, "", "", 0, NULL, NULL }, RG_OPTION_END };
    const size_t          n = strlen(name);
    rg_list               list = { 0, NULL };
    const rg_option_group group = { .rows = row, .values = &list };
    bool                  given = false;
    for (int i = 0; i < call->argc && strcmp(call->argv[i], "--") != 0; i++) {
        const char *word = call->argv[i];
        given = given || (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
                          (!word[2 + n] || word[2 + n] == '='));
    }
    for (size_t i = 0; i < call->configs.count && !given; i++)
        given = rg_options_read_file(&group, 1, call->configs.items[i], true) == RG_OK && list.count;
    rg_options_fini(row, &list);
    return given;
}

rg_status rg_words_join(rg_text *out, const rg_list *words)
{
    for (size_t i = 0; i < words->count; i++) RG_TRY(rg_text_print(out, "%s%s", i ? " " : "", words->items[i]));
    return RG_OK;
}
