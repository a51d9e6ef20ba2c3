/* cores.h - hold threads of a library that starts as many as it likes to some cores. */
#ifndef REGARD_BASE_CORES_H
#define REGARD_BASE_CORES_H

/* The calling thread, and threads that it starts from here on, run on at most `count` cores: the one it is on and
 * those behind it, of those it may use. 0, or as many as there are, changes nothing. Returns what rg_cores_release
 * takes to undo it: NULL when nothing was changed. */
typedef struct rg_cores rg_cores;
rg_cores               *rg_cores_hold(int count);
void                    rg_cores_release(rg_cores *before); /* NULL is fine */

#endif
