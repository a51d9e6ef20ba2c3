/* confine.h - the two halves of rg_confine(), for itself and its tests. */
#ifndef RG_BASE_CONFINE_H
#define RG_BASE_CONFINE_H

#include "regard/confine.h"

/* Landlock: adds RG_CONFINED_FILES and RG_CONFINED_NETWORK to *how as far as the kernel has them. */
rg_status rg_confine__files(unsigned *how, const rg_confinement *confinement);
/* seccomp: adds RG_CONFINED_CALLS. */
rg_status rg_confine__calls(unsigned *how, const rg_confinement *confinement);

#endif
