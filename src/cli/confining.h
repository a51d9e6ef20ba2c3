/* confining.h - the option of commands that read what strangers wrote: they give up what they do not need for it. */
#ifndef RG_CLI_CONFINING_H
#define RG_CLI_CONFINING_H

#include "regard/confine.h"
#include "regard/options.h"

#define RG_CONFINE_OPTION(settings, member)                                                                            \
    { RG_OPTION_BOOL, "confine", offsetof(settings, member), "true",                                                   \
      "give up other files, the network and other programs (Landlock, seccomp); --no-confine: do not", 0, NULL }

/* A remark on the error output, where the kernel did not do all of it. */
void rg_say_confined(const char *command, unsigned how);

/* Read `input`, what its links lead to when it is a folder, its folder when it is a file, and `beside` (may be "");
 * write `output`; nothing else from now on. */
rg_status rg_confine_files(const char *command, const char *input, const char *beside, const char *output);

#endif
