/* byte_size.h - numbers of bytes as people write them: 64MB, 2 GiB, 500k. */
#ifndef RG_CLI_BYTE_SIZE_H
#define RG_CLI_BYTE_SIZE_H

#include "regard/base.h"

/* K, M, G, T with or without a B count by 1000, Ki, Mi, Gi, Ti by 1024; *out_unit says whether there was a unit at all.
 * RG_EINVAL names the flag. */
rg_status rg_byte_size_parse(size_t *out, bool *out_unit, const char *flag, const char *text);

#endif
