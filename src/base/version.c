/* version.c - which regard this is; the number comes from the build. */
#include "regard/version.h"

const char *rg_version(void)
{
    return REGARD_VERSION;
}
