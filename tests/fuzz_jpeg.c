/* fuzz_jpeg.c - any bytes as a picture, from seeds that are JPEG files (corpus/fuzz_jpeg). */
#include "support/fuzz_picture.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) { return fuzz_picture(bytes, count); }

/* A header and nothing behind it: the whole files are in the corpus. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char start[] = "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0";
    if (index || sizeof start - 1 > room) return 0;
    memcpy(bytes, start, sizeof start - 1);
    return sizeof start - 1;
}
