/* help.c - what --help and the manual say, made from the tables. */
#include <string.h>

#include "cli/command.h"
#include "regard/version.h"

enum { COLUMN = 30, WIDTH = 80 };

static const char *value_word(const rg_option *row)
{
    switch (row->kind) {
    case RG_OPTION_INT: return " N";
    case RG_OPTION_REAL: return " X";
    case RG_OPTION_STRING: return " TEXT";
    case RG_OPTION_LIST: return " TEXT...";
    case RG_OPTION_BOOL: break;
    }
    return "";
}

/* Words of `text` from column `at`, folded at WIDTH, later lines starting at `indent`; a line feed in the text ends
 * a line. */
static void fold(FILE *out, const char *text, int at, int indent)
{
    for (int blanks = 0; *text;) { /* blanks: owed before the next word, so that none stands at the end of a line */
        const int length = (int)strcspn(text, " \n");
        if (at > indent && at + blanks + length > WIDTH) fputc('\n', out), at = 0, blanks = indent;
        if (length) at += fprintf(out, "%*s%.*s", blanks, "", length, text), blanks = 0;
        text += length;
        if (*text == '\n') fputc('\n', out), at = 0, blanks = indent;
        else if (*text) blanks = at > indent ? 1 : blanks + 1; /* a line may be indented further */
        if (*text) text++;
    }
    fputc('\n', out);
}

/* The value that is in force: what a task, a preset, files or flags before --help said; without values, the row's
 * default. */
static void in_force(char *out, size_t room, const rg_option *row, const void *values)
{
    const void *at = values ? (const char *)values + row->offset : NULL;
    snprintf(out, room, "%s", row->value);
    if (!at) return;
    switch (row->kind) {
    case RG_OPTION_INT: snprintf(out, room, "%lld", (long long)*(const int64_t *)at); break;
    case RG_OPTION_REAL: snprintf(out, room, "%.10g", *(const double *)at); break;
    case RG_OPTION_STRING: snprintf(out, room, "%s", *(char *const *)at ? *(char *const *)at : ""); break;
    case RG_OPTION_BOOL: snprintf(out, room, "%s", *(const bool *)at ? "true" : "false"); break;
    case RG_OPTION_LIST: {
        const rg_list *list = at;
        size_t         used = 0;
        out[0] = 0;
        for (size_t i = 0; i < list->count && used < room; i++)
            used += (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", list->items[i]);
        break;
    }
    }
}

static void describe(char *line, size_t room, const rg_option *row, const void *values)
{
    char value[256];
    in_force(value, sizeof value, row, values);
    int used = snprintf(line, room, "%s", row->help);
    const bool words = row->choices && (row->kind == RG_OPTION_STRING || row->kind == RG_OPTION_LIST);
    if (words && used >= 0 && (size_t)used < room)
        used += snprintf(line + used, room - (size_t)used, ": %s", row->choices);
    bool shown = *value && row->kind != RG_OPTION_BOOL;
    if (row->kind == RG_OPTION_BOOL) shown = !strcmp(value, "true");
    if (shown && used >= 0 && (size_t)used < room) snprintf(line + used, room - (size_t)used, " (%s)", value);
}

static void help_row(FILE *out, const rg_option *row, const void *values)
{
    char line[1024], letter[8] = "    ";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int at = fprintf(out, "  %s--%s%s", letter, row->name, value_word(row));
    if (at >= COLUMN) fprintf(out, "\n%*s", COLUMN, "");
    else fprintf(out, "%*s", COLUMN - at, "");
    describe(line, sizeof line, row, values);
    fold(out, line, COLUMN, COLUMN);
}

void rg_help_row(FILE *out, const char *name, const char *text)
{
    const int at = fprintf(out, "  %-12s ", name);
    if (at > 15) fputc('\n', out), fprintf(out, "%*s", 15, "");
    fold(out, text, 15, 15);
}

void rg_help_paragraph(FILE *out, const char *text) { fold(out, text, 0, 0); }

void rg_help_command(FILE *out, const rg_call *call)
{
    const rg_command *command = call->command;
    fprintf(out, "usage: regard %s [OPTION...]%s%s\n\n", command->name, command->arguments ? " " : "",
            command->arguments ? command->arguments : "");
    fold(out, command->summary, 0, 0);
    if (command->details) {
        fputc('\n', out);
        fold(out, command->details, 0, 0);
    }
    for (size_t g = 0; g < call->count; g++) {
        if (!call->groups[g].rows->name) continue;
        fprintf(out, "\n%s:\n", call->groups[g].title);
        for (const rg_option *row = call->groups[g].rows; row->name; row++) help_row(out, row, call->groups[g].values);
    }
    if (command->more_help) command->more_help(out, call);
    fprintf(out, "\ncommon to all commands:\n");
    for (const rg_option *row = rg_call_common(); row->name; row++) help_row(out, row, NULL);
}

void rg_help_program(FILE *out, const rg_command *const *commands)
{
    fprintf(
        out,
        "usage: regard COMMAND [OPTION...]\n\ntrains, runs and shows attention models on ordinary CPUs\n\ncommands:\n");
    for (; *commands; commands++) rg_help_row(out, (*commands)->name, (*commands)->summary);
    fprintf(out, "\nregard COMMAND --help tells more; regard --version tells which regard this is.\n"
                 "Exit codes: 0 done, 1 failed, 2 wrong usage.\n");
}

/* -------------------------------------------------------------------------------------------------- manual */

/* Text in roff: a backslash is escaped, and a dot or quote at the start of a line, and a minus is a minus. */
static void roff(FILE *out, const char *text)
{
    for (bool start = true; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '\\') fputs("\\e", out);
        else if (*text == '-') fputs("\\-", out);
        else if (*text == '|' || *text == '/') fprintf(out, "%c\\:", *text); /* a line may end there */
        else fputc(*text, out);
        start = *text == '\n';
    }
}

static void roff_row(FILE *out, const rg_option *row)
{
    char line[1024];
    fputs(".TP\n.B ", out);
    if (row->letter) fprintf(out, "\\-%c, ", row->letter);
    fputs("\\-\\-", out);
    roff(out, row->name);
    roff(out, value_word(row));
    fputc('\n', out);
    describe(line, sizeof line, row, NULL);
    roff(out, line);
    fputc('\n', out);
}

static void roff_command_title(FILE *out, const rg_command *c)
{
    roff(out, c->summary);
    fputs(".\n", out);
    if (c->details) fputs(".PP\n", out), roff(out, c->details), fputc('\n', out);
}

static void roff_upper(FILE *out, const char *text)
{
    for (; *text; text++) fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

void rg_help_manual_command(FILE *out, const rg_call *call)
{
    const rg_command *c = call->command;
    fputs(".TH REGARD\\-", out);
    roff_upper(out, c->name);
    fprintf(out, " 1 \"\" \"regard %s\" \"User Commands\"\n.ad l\n.nh\n.SH NAME\nregard\\-%s \\- ", rg_version(), c->name);
    roff(out, c->summary);
    fprintf(out, "\n.SH SYNOPSIS\n.B regard %s\n[\\fIOPTION\\fR...]", c->name);
    if (c->arguments) fputc(' ', out), roff(out, c->arguments);
    fputs("\n.SH DESCRIPTION\n", out);
    roff_command_title(out, c);
    for (size_t g = 0; g < call->count; g++) {
        if (!call->groups[g].rows->name) continue;
        fputs(".SH ", out);
        roff_upper(out, call->groups[g].title);
        fputc('\n', out);
        for (const rg_option *row = call->groups[g].rows; row->name; row++) roff_row(out, row);
    }
    fputs(".SH COMMON OPTIONS\n", out);
    for (const rg_option *row = rg_call_common(); row->name; row++) roff_row(out, row);
    fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.\n.SH SEE ALSO\n.BR regard (1)\n", out);
}

void rg_help_manual(FILE *out, const rg_command *const *commands)
{
    fprintf(out, ".TH REGARD 1 \"\" \"regard %s\" \"User Commands\"\n.ad l\n.nh\n", rg_version());
    fputs(".SH NAME\nregard \\- attention models on ordinary CPUs\n"
          ".SH SYNOPSIS\n.B regard\n.I COMMAND\n[\\fIOPTION\\fR...]\n"
          ".SH DESCRIPTION\nTrains, runs and shows attention models. Options may also stand in YAML files given by\n"
          ".BR \\-c ;\ntheir keys are the long flag names.\n.SH COMMANDS\n", out);
    for (; *commands; commands++) {
        const rg_command *c = *commands;
        fprintf(out, ".SS regard %s%s%s\n", c->name, c->arguments ? " " : "", c->arguments ? c->arguments : "");
        roff(out, c->summary);
        fprintf(out, ".\nOptions:\n.BR regard\\-%s (1).\n", c->name);
    }
    fputs(".SH COMMON OPTIONS\n", out);
    for (const rg_option *row = rg_call_common(); row->name; row++) roff_row(out, row);
    fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.\n", out);
}
