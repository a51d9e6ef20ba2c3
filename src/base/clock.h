/* clock.h - processor time, beside rg_now() of base.h. */
#ifndef RG_BASE_CLOCK_H
#define RG_BASE_CLOCK_H

double rg_cpu_now(void); /* seconds of processor time of all threads of this process */

#endif
