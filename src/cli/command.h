/* command.h - what a command of the program is.
 *
 * A command is one file, src/cli/cmd_<name>.c, that ends in `const rg_command rg_command_<name> = { ... };`, and one
 * word in the list of command.c. */
#ifndef RG_CLI_COMMAND_H
#define RG_CLI_COMMAND_H

#include "cli/marian.h"
#include "regard/options.h"
#include "regard/text.h"

typedef struct rg_call rg_call;

typedef struct rg_command {
    const char      *name;
    const char      *summary;   /* one line, lower case, no full stop                                        */
    const char      *arguments; /* "[TEXT...]": words that are not flags; NULL when there are none            */
    const char      *details;   /* a paragraph or more for --help and the manual; may be NULL                 */
    const rg_option *options;   /* may be NULL                                                               */
    size_t           size;      /* of the struct they fill                                                   */

    /* Option rows that depend on others, such as those of the system named by --type: called once, after a first look
     * at the words and configuration files, to add groups with rg_call_add(). May be NULL. */
    rg_status (*extend)(rg_call *call);

    /* What --help says behind the options, such as what a table holds. Options are filled as far as they could be.
     * May be NULL. */
    void (*more_help)(FILE *out, const rg_call *call);

    /* Do it. On failure the message is printed by the caller: RG_EINVAL is wrong usage (exit 2), the rest exit 1. */
    rg_status (*run)(rg_call *call);
} rg_command;

enum { RG_CALL_GROUPS = 8 };

/* One use of a command. */
struct rg_call {
    const rg_command *command;
    void             *options; /* the filled struct of command->options */
    rg_list           words;   /* what was not a flag                   */
    rg_option_group   groups[RG_CALL_GROUPS];
    size_t            count;     /* of groups; the first is the command's own */
    int               exit_code; /* a command that succeeded may still say 1  */

    bool    help, dump_config; /* asked for instead of running */
    rg_list configs;           /* -c FILE...                   */

    int                argc; /* the words as they came */
    const char *const *argv;

    rg_marian_notes marian; /* what Marian's names among the words came to */

    char *preset; /* YAML that stands before files and flags: extend() may set it, from rg_alloc; NULL: none */
};

/* Add rows whose values live in a zeroed struct of `size` bytes, freed with the call. Only inside extend(). */
rg_status rg_call_add(rg_call *call, const char *title, const rg_option *rows, size_t size);

/* Fill all groups from presets, files and words, as far as they are known: what extend() added may say what else
 * there is. Only inside extend(). */
rg_status rg_call_look(rg_call *call);

/* The values of the group with these rows, or NULL. */
void *rg_call_values(const rg_call *call, const rg_option *rows);

/* args.c: from the words after the command's name to a filled call. Always to be followed by rg_call_fini(). */
rg_status rg_call_init(rg_call *call, const rg_command *command, int argc, const char *const *argv);
void      rg_call_fini(rg_call *call);

/* args.c: is the option of that name given, on the command line or in a configuration file? */
bool rg_call_given(const rg_call *call, const char *name);

/* args.c: words as one line, a blank between them, appended to `out`. */
rg_status rg_words_join(rg_text *out, const rg_list *words);

/* The flags every command has; their offsets are into rg_call. */
const rg_option *rg_call_common(void);

/* help.c: text made from the rows. */
void rg_help_row(FILE *out, const char *name, const char *text);  /* "  NAME    text", folded at 80 columns */
void rg_help_paragraph(FILE *out, const char *text);              /* folded at 80 columns                  */
void rg_help_command(FILE *out, const rg_call *call);
void rg_help_program(FILE *out, const rg_command *const *commands);
void rg_help_manual(FILE *out, const rg_command *const *commands);
void rg_help_manual_command(FILE *out, const rg_call *call); /* the page regard-NAME(1) */

/* completion.c: the script that completes a command line in "bash", "zsh" or "fish"; RG_EINVAL: another shell. */
rg_status rg_completion_print(FILE *out, const char *shell, const rg_command *const *commands);

/* All commands, in the order of the help; ends with NULL. */
const rg_command *const *rg_command_all(void);

/* The program as it was called, quoted where a shell needs it: what to type to run it again from the current folder.
 * Never NULL. */
const char *rg_program(void);

/* The whole program: returns the exit code, 0 done, 1 failed, 2 wrong usage. */
int rg_cli_main(int argc, const char *const *argv);

#endif
