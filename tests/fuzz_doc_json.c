/* fuzz_doc_json.c - any bytes as a document of the format "json": it is refused, or what comes out can be read again (P1). */
#include <stdint.h>

#include "support/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_support_all_ways("json", bytes, count);
    return 0;
}
