/* command.c - the table of commands, and the way from the words of a command line to one of them. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cli/lines.h"
#include "regard/tensor.h"
#include "regard/version.h"

static char *program; /* argv[0], quoted; written once, before anything else runs */

const char *rg_program(void) { return program ? program : "regard"; }

/* One word per line, in the order --help shows them. */
#define RG_COMMANDS(X) \
    X(demo) \
    X(train) \
    X(translate) \
    X(score) \
    X(evaluate) \
    X(average) \
    X(tune) \
    X(quantize) \
    X(shortlist) \
    X(clean) \
    X(distill) \
    X(import) \
    X(export) \
    X(predict) \
    X(attack) \
    X(shift) \
    X(rank) \
    X(generate) \
    X(serve) \
    X(make) \
    X(show) \
    X(heads) \
    X(report) \
    X(trace) \
    X(gradients) \
    X(attend) \
    X(list) \
    X(systems) \
    X(scores) \
    X(explain) \
    X(reproduce) \
    X(version)

#define DECLARE(name) extern const rg_command rg_command_##name;
#define ENTRY(name)   &rg_command_##name,
RG_COMMANDS(DECLARE)
static const rg_command *const table[] = {RG_COMMANDS(ENTRY) NULL};

const rg_command *const *rg_command_all(void)
{
    return table;
}

static const rg_command *find(const char *name)
{
    for (size_t i = 0; table[i]; i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof table / sizeof *table];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) names[i] = table[i] ? table[i]->name : NULL;
    const char *near = rg_nearest(name, names);
    if (near) fprintf(stderr, "regard: there is no command %s; did you mean %s?\n", name, near);
    else fprintf(stderr, "regard: there is no command %s; regard --help lists them\n", name);
    return 2;
}

static void log_line(void *context, rg_log_level level, const char *line)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

/* Output that did not arrive is a failure, also when only the last flush finds out. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "regard: cannot write to standard output: %s\n", strerror(errno));
    return code ? code : 1;
}

static int report(const rg_command *command, rg_status status)
{
    fflush(stdout);
    fprintf(stderr, "regard %s: %s\n", command->name, rg_message());
    if (status != RG_EINVAL) return 1;
    fprintf(stderr, "regard %s --help lists the options\n", command->name);
    return 2;
}

static bool is_quiet(const rg_call *call)
{
    size_t           group;
    const rg_option *row = rg_option_find(call->groups, call->count, "quiet", &group);
    return row && row->kind == RG_OPTION_BOOL && *(const bool *)((const char *)call->groups[group].values + row->offset);
}

static int run(const rg_command *command, int argc, const char *const *argv)
{
    rg_call   call;
    int       code = 0;
    rg_status status = rg_call_init(&call, command, argc, argv);

    if (call.help) {
        rg_help_command(stdout, &call);
    } else if (status != RG_OK) {
        code = report(command, status);
        if (status == RG_EFORMAT || status == RG_EIO) code = 2; /* a configuration file that cannot be used */
    } else if (call.dump_config) {
        char *yaml = rg_options_yaml(call.groups, call.count);
        if (yaml) fputs(yaml, stdout);
        else code = report(command, RG_ENOMEM);
        rg_free(yaml);
    } else {
        status = rg_kernels_check();
        if (status == RG_OK && !is_quiet(&call)) rg_marian_remark(stderr, &call);
        if (status == RG_OK) status = command->run(&call);
        code = status == RG_OK ? call.exit_code : report(command, status);
    }
    rg_call_fini(&call);
    return code;
}

/* The manual of the program, of one command, or the names that have one ("commands"). */
static int manual(const char *name)
{
    static const char *const help[] = { "--help" };
    rg_call                  call;
    if (!name) rg_help_manual(stdout, table);
    for (size_t i = 0; name && !strcmp(name, "commands") && table[i]; i++) printf("%s\n", table[i]->name);
    if (!name || !strcmp(name, "commands")) return finish(0);
    if (!find(name)) return unknown_command(name);
    (void)rg_call_init(&call, find(name), 1, help); /* a call for help fills what it can */
    rg_help_manual_command(stdout, &call);
    rg_call_fini(&call);
    return finish(0);
}

int rg_cli_main(int argc, const char *const *argv)
{
    static const char *const help[] = {"--help"};

    if (argc > 0 && argv[0] && argv[0][0]) {
        rg_free(program);
        program = rg_shell_quote(argv[0]);
    }
    signal(SIGPIPE, SIG_IGN); /* a closed pipe or a full quota comes back as an error of the write */
    signal(SIGXFSZ, SIG_IGN);
    (void)rg_kernels_check(); /* chosen in silence: a command says what is wrong */
    rg_log_to(log_line, NULL);

    if (argc < 2) {
        rg_help_program(stderr, table);
        return 2;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--version")) {
        printf("regard %s\n", rg_version());
    } else if (!strcmp(word, "--man")) {
        return manual(argc > 2 ? argv[2] : NULL);
    } else if (!strcmp(word, "--completion")) {
        if (argc == 3 && rg_completion_print(stdout, argv[2], table) == RG_OK) return finish(0);
        fprintf(stderr, "regard --completion bash|zsh|fish prints what completes a command line there\n");
        return 2;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc == 2)) {
        rg_help_program(stdout, table);
    } else if (!strcmp(word, "help")) {
        return find(argv[2]) ? finish(run(find(argv[2]), 1, help)) : unknown_command(argv[2]);
    } else {
        return find(word) ? finish(run(find(word), argc - 2, argv + 2)) : unknown_command(word);
    }
    return finish(0);
}
