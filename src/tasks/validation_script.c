/* validation_script.c - a metric that a command of the user's prints: one number on its standard output. */
#include "tasks/validation_script.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* PATH with its own words as the shell takes them, then the arguments and the file, quoted. */
static rg_status command_of(rg_text *out, const char *script, const rg_list *args, const char *file)
{
    RG_TRY(rg_text_print(out, "%s", script));
    for (size_t i = 0; i <= args->count; i++) {
        const char *word = i < args->count ? args->items[i] : file;
        char       *quoted = word ? rg_shell_quote(word) : NULL;
        if (!word) break;
        const rg_status status = quoted ? rg_text_print(out, " %s", quoted) : RG_ENOMEM;
        rg_free(quoted);
        RG_TRY(status);
    }
    return RG_OK;
}

/* What it printed is its last lines' worth: a score stands on a line of its own or begins one. */
static rg_status number_of(double *out, const char *printed, const char *command)
{
    char *end;
    *out = rg_real_parse(printed, &end);
    if (end == printed || !isfinite(*out))
        return rg_fail(RG_EFORMAT, "%.200s: should print one number, but printed \"%.80s\"", command,
                       printed[strspn(printed, " \t\n")] ? printed : "nothing");
    return RG_OK;
}

static rg_status run(double *out, const char *command)
{
    char   printed[4096];
    FILE  *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): the user's own command is what is asked for */
    size_t used = 0, got;
    if (!pipe) return rg_fail(RG_EIO, "cannot run %.200s: %s", command, strerror(errno));
    while ((got = fread(printed + used, 1, sizeof printed - 1 - used, pipe)) > 0) used += got;
    printed[used] = '\0';
    while (used == sizeof printed - 1 && fgetc(pipe) != EOF) {} /* the rest is not looked at */
    const int code = pclose(pipe);
    if (code == -1 || !WIFEXITED(code))
        return rg_fail(RG_EIO, "%.200s: ended by signal %d", command, code == -1 ? 0 : WTERMSIG(code));
    if (WEXITSTATUS(code)) return rg_fail(RG_EIO, "%.200s: ended with status %d", command, WEXITSTATUS(code));
    return number_of(out, printed, command);
}

rg_status rg_script_metric(double *out, const char *script, const rg_list *args, const char *file)
{
    rg_text   command = { 0 };
    rg_status status = command_of(&command, script, args, file);
    if (status == RG_OK) status = run(out, rg_text_c(&command));
    rg_text_free(&command);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "--valid-script-path: ");
}

rg_status rg_script_file_name(rg_text *out, const char *form, const rg_trainer_counts *c)
{
    const struct {
        char     letter;
        uint64_t value;
    } parts[] = { { 'E', c->epoch }, { 'B', c->epoch_batches }, { 'U', c->updates }, { 'T', c->labels } };
    for (const char *at = form; *at;) {
        size_t i = 0;
        while (i < 4 && !(at[0] == '{' && at[1] == parts[i].letter && at[2] == '}')) i++;
        RG_TRY(i < 4 ? rg_text_print(out, "%llu", (unsigned long long)parts[i].value) : rg_text_add(out, at, 1));
        at += i < 4 ? 3 : 1;
    }
    return RG_OK;
}
