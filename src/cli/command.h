/* command.h - what a command of the program is. */
#ifndef RG_CLI_COMMAND_H
#define RG_CLI_COMMAND_H

/* The whole program: returns the exit code, 0 done, 1 failed, 2 wrong usage. */
int rg_cli_main(int argc, char **argv);

#endif
