/* version.h - which regard this is. */
#ifndef REGARD_VERSION_H
#define REGARD_VERSION_H

#include "regard/base.h"

RG_API_BEGIN

/* "0.1.0": of the library that is loaded, which may differ from the headers compiled against. */
const char *rg_version(void);

RG_API_END
#endif
