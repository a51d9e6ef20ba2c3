/* fuzz_doc_xliff.c - any bytes as a document of the format "xliff": it is refused, or what comes out can be read again (P1). */
#include <stdint.h>

#include "support/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_support_all_ways("xliff", bytes, count);
    return 0;
}
