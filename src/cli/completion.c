/* completion.c - scripts that complete command lines in bash, zsh and fish, made from the tables of options.
 *
 * Options that depend on others (--type of train) are asked for by a call for help with every system: the script has
 * all of them. */
#include <string.h>

#include "cli/command.h"
#include "regard/model.h"

enum { MOST = 512 };

typedef struct {
    rg_option row[MOST]; /* of one command, each name once; strings are those of the tables */
    size_t    count;
} rows;

static void add(rows *r, const rg_option *row)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->row[i].name, row->name) == 0) return;
    if (r->count < MOST) r->row[r->count++] = *row;
}

static bool add_call(rows *r, const rg_command *command, int argc, const char *const *argv)
{
    rg_call call;
    (void)rg_call_init(&call, command, argc, argv); /* asked for help, it fills what it can */
    bool typed = false;
    for (size_t g = 0; g < call.count; g++)
        for (const rg_option *row = call.groups[g].rows; row->name; row++) {
            add(r, row);
            typed = typed || (command->extend && strcmp(row->name, "type") == 0);
        }
    rg_call_fini(&call);
    return typed;
}

static void collect(rows *r, const rg_command *command)
{
    static const char *const help[] = { "--help" };
    r->count = 0;
    if (add_call(r, command, 1, help))
        for (const rg_system *const *s = rg_system_all(); *s; s++) {
            const char *const typed[] = { "--type", (*s)->name, "--help" };
            (void)add_call(r, command, 3, typed);
        }
    for (const rg_option *row = rg_call_common(); row->name; row++) add(r, row);
}

/* The words a value may be, apart by blanks; nothing where it is a number, a file or free. */
static void values(FILE *out, const rg_command *command, const rg_option *row)
{
    if (strcmp(row->name, "type") == 0 && command->extend) {
        for (const rg_system *const *s = rg_system_all(); *s; s++) fprintf(out, "%s ", (*s)->name);
        return;
    }
    if (!row->choices || (row->kind != RG_OPTION_STRING && row->kind != RG_OPTION_LIST)) return;
    for (const char *c = row->choices; *c; c++) fputc(*c == '|' ? ' ' : *c, out);
}

static bool has_values(const rg_command *command, const rg_option *row)
{
    return (strcmp(row->name, "type") == 0 && command->extend) ||
           (row->choices && (row->kind == RG_OPTION_STRING || row->kind == RG_OPTION_LIST));
}

/* ------------------------------------------------------------------------------------------------------ bash */

static void bash(FILE *out, const rg_command *const *commands, rows *r)
{
    fputs("# completes regard's command lines in bash\n_regard()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} flags= values=\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '", out);
    for (const rg_command *const *c = commands; *c; c++) fprintf(out, "%s ", (*c)->name);
    fputs("--help --version' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (const rg_command *const *c = commands; *c; c++) {
        collect(r, *c);
        fprintf(out, "    %s)\n        flags='", (*c)->name);
        for (size_t i = 0; i < r->count; i++) fprintf(out, "--%s ", r->row[i].name);
        fputs("'\n        case $prev in\n", out);
        for (size_t i = 0; i < r->count; i++) {
            if (!has_values(*c, &r->row[i])) continue;
            fprintf(out, "        --%s) values='", r->row[i].name);
            values(out, *c, &r->row[i]);
            fputs("' ;;\n", out);
        }
        fputs("        esac ;;\n", out);
    }
    fputs("    esac\n    case $cur in\n    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"
          "    *) [ -z \"$values\" ] || COMPREPLY=($(compgen -W \"$values\" -- \"$cur\")) ;;\n    esac\n}\n"
          "complete -o default -F _regard regard\n", out);
}

/* ------------------------------------------------------------------------------------------------- zsh, fish */

/* Text between single quotes; `escaped` signs get a backslash, as a specification of zsh wants it. */
static void quoted(FILE *out, const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", out);
        else if (strchr(escaped, *text)) fprintf(out, "\\%c", *text);
        else fputc(*text, out);
    }
}

static void zsh(FILE *out, const rg_command *const *commands, rows *r)
{
    fputs("#compdef regard\n# completes regard's command lines in zsh\n_regard()\n{\n    local -a commands\n    commands=(\n",
          out);
    for (const rg_command *const *c = commands; *c; c++) {
        fprintf(out, "        '%s:", (*c)->name);
        quoted(out, (*c)->summary, ":");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe 'command' commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n", out);
    for (const rg_command *const *c = commands; *c; c++) {
        collect(r, *c);
        fprintf(out, "    %s) _arguments", (*c)->name);
        for (size_t i = 0; i < r->count; i++) {
            const rg_option *row = &r->row[i];
            fprintf(out, " \\\n        '%s--%s[", row->kind == RG_OPTION_LIST ? "*" : "", row->name);
            quoted(out, row->help, "[]:\\");
            fputc(']', out);
            if (row->kind != RG_OPTION_BOOL) fprintf(out, "%s:value:", row->implicit ? ":" : "");
            if (has_values(*c, row)) fputc('(', out), values(out, *c, row), fputc(')', out);
            else if (row->kind == RG_OPTION_STRING || row->kind == RG_OPTION_LIST) fputs("_files", out);
            fputc('\'', out);
        }
        fputs(" \\\n        '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_regard \"$@\"\n", out);
}

static void fish(FILE *out, const rg_command *const *commands, rows *r)
{
    fputs("# completes regard's command lines in fish\n", out);
    for (const rg_command *const *c = commands; *c; c++) {
        fprintf(out, "complete -c regard -f -n __fish_use_subcommand -a %s -d '", (*c)->name);
        quoted(out, (*c)->summary, "\\");
        fputs("'\n", out);
    }
    for (const rg_command *const *c = commands; *c; c++) {
        collect(r, *c);
        for (size_t i = 0; i < r->count; i++) {
            const rg_option *row = &r->row[i];
            fprintf(out, "complete -c regard -n '__fish_seen_subcommand_from %s' -l %s", (*c)->name, row->name);
            if (row->letter) fprintf(out, " -s %c", row->letter);
            if (row->kind != RG_OPTION_BOOL) fputs(row->implicit ? "" : " -r", out);
            if (has_values(*c, row)) fputs(" -f -a '", out), values(out, *c, row), fputc('\'', out);
            fputs(" -d '", out);
            quoted(out, row->help, "\\");
            fputs("'\n", out);
        }
    }
}

rg_status rg_completion_print(FILE *out, const char *shell, const rg_command *const *commands)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, const rg_command *const *commands, rows *room);
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        rows *room = rg_alloc(sizeof *room);
        if (!room) return RG_ENOMEM;
        shells[i].print(out, commands, room);
        rg_free(room);
        return RG_OK;
    }
    return rg_fail(RG_EINVAL, "completion is made for bash, zsh and fish, not for %s", shell);
}
