/* command.c - the table of commands and the words before one. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "regard/version.h"

int rg_cli_main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--man")) return 0;
    if (argc == 2 && !strcmp(argv[1], "--version")) return printf("regard %s\n", rg_version()) < 0;
    fprintf(stderr, "usage: regard COMMAND\n");
    return 2;
}
