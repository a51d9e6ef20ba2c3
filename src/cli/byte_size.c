/* byte_size.c - see byte_size.h. */
#include "cli/byte_size.h"

#include <ctype.h>
#include <string.h>

rg_status rg_byte_size_parse(size_t *out, bool *out_unit, const char *flag, const char *text)
{
    static const char units[] = "kmgt";
    char             *end;
    const double      number = rg_real_parse(text, &end);
    double            scale = 1;
    while (*end == ' ') end++;
    const char *unit = end, *found = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (found) {
        const bool binary = end[1] == 'i';
        for (const char *u = units; u <= found; u++) scale *= binary ? 1024 : 1000;
        end += 1 + binary;
    }
    if (*end == 'B' || *end == 'b') end++;
    if (end == text || *end || !(number >= 0) || number * scale > 9e15)
        return rg_fail(RG_EINVAL, "--%s %s is no number of bytes: 500MB, 2GB and 2GiB are", flag, text);
    *out_unit = end != unit;
    *out = (size_t)(number * scale);
    return RG_OK;
}
