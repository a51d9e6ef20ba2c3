/* main.c - where the program starts; command.c has the table of commands. */
#include "cli/command.h"

int main(int argc, char **argv)
{
    return rg_cli_main(argc, (const char *const *)argv);
}
