/* cmd_version.c - which regard this is and what it runs on: what a bug report should hold. */
#include <stdio.h>

#include "cli/command.h"
#include "regard/tensor.h"
#include "regard/version.h"

static rg_status run(rg_call *call)
{
    (void)call;
    printf("regard %s\n", rg_version());
#if defined(__clang__)
    printf("compiler: clang %s\n", __clang_version__);
#elif defined(__GNUC__)
    printf("compiler: gcc %s\n", __VERSION__);
#endif
    printf("kernels: %s (of", rg_kernels_name());
    for (size_t i = 0; rg_kernels_name_at(i); i++) printf(" %s", rg_kernels_name_at(i));
    printf(")\n");
    return RG_OK;
}

const rg_command rg_command_version = {
    .name = "version",
    .summary = "print the version, the compiler and the kernels in use",
    .run = run,
};
