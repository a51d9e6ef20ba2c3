/* fuzz_png.c - any bytes as a picture, from seeds that are PNG files (corpus/fuzz_png). */
#include "support/fuzz_picture.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) { return fuzz_picture(bytes, count); }

/* A header and nothing behind it: the whole files are in the corpus. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char start[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\2\10\0\0\0\0Vw\x1d\xf4";
    if (index || sizeof start - 1 > room) return 0;
    memcpy(bytes, start, sizeof start - 1);
    return sizeof start - 1;
}
