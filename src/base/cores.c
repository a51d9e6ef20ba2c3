/* cores.c - see cores.h. */
#define _GNU_SOURCE 1
#include "base/cores.h"

#include <sched.h>

#include "regard/base.h"

struct rg_cores {
    cpu_set_t set;
};

rg_cores *rg_cores_hold(int count)
{
    rg_cores *before = rg_alloc(sizeof *before);
    cpu_set_t some;
    if (!before) return NULL;
    CPU_ZERO(&some);
    const bool known = sched_getaffinity(0, sizeof before->set, &before->set) == 0;
    if (known && count > 0 && count < CPU_COUNT(&before->set)) {
        const int here = sched_getcpu();
        for (size_t i = 0, core = here < 0 ? 0 : (size_t)here; i < CPU_SETSIZE && CPU_COUNT(&some) < count; i++, core++)
            if (CPU_ISSET(core % CPU_SETSIZE, &before->set)) CPU_SET(core % CPU_SETSIZE, &some);
        if (sched_setaffinity(0, sizeof some, &some) == 0) return before;
    }
    rg_free(before);
    return NULL;
}

void rg_cores_release(rg_cores *before)
{
    if (before) (void)sched_setaffinity(0, sizeof before->set, &before->set);
    rg_free(before);
}
