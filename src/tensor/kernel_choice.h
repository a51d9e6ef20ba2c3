/* kernel_choice.h - was the kernel table that REGARD_CPU names there? */
#ifndef RG_TENSOR_KERNEL_CHOICE_H
#define RG_TENSOR_KERNEL_CHOICE_H

#include "regard/base.h"

/* RG_EINVAL lists the tables of this machine and build when REGARD_CPU names none of them. The library goes on with the best one. */
rg_status rg_kernels_check(void);

#endif
