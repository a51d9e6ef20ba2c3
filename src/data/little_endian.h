/* little_endian.h - numbers in files, the lowest byte first, whatever the machine has. */
#ifndef REGARD_DATA_LITTLE_ENDIAN_H
#define REGARD_DATA_LITTLE_ENDIAN_H

#include "regard/text.h"

/* The number in 1 to 8 bytes. */
static inline uint64_t rg_little_get(const unsigned char *at, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) n |= (uint64_t)at[i] << 8 * i;
    return n;
}

/* Appended in so many bytes. */
static inline rg_status rg_little_add(rg_text *out, uint64_t number, size_t bytes)
{
    unsigned char b[8];
    for (size_t i = 0; i < bytes; i++) b[i] = (unsigned char)(number >> 8 * i);
    return rg_text_add(out, b, bytes);
}

#endif
