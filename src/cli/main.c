/* main.c - where the program starts; command.c has the table of commands. */
#include "cli/command.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argc, char **argv)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 19); /* blocks that grow give their old memory back, instead of leaving holes */
#endif
    return rg_cli_main(argc, (const char *const *)argv);
}
