/* tidy_facts.h - what the static analyser cannot see from inside one file. Included first by tools/tidy, never by the
 * build.
 *
 * A call of rg_fail() records a failure, so it never returns RG_OK. Without this every "status == RG_OK" after it
 * has a second, impossible branch in which nothing was set. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* as the files that ask for it do: this header comes before them */
#endif
#include "regard/base.h"

static inline rg_status rg_fail__known(rg_status status)
{
    if (status == RG_OK) __builtin_unreachable();
    return status;
}
#define rg_fail(...)    rg_fail__known(rg_fail(__VA_ARGS__))
#define rg_fail_in(...) rg_fail__known(rg_fail_in(__VA_ARGS__))
