/* fuzz_idx.c - any bytes as an idx file (P1, P2): no more items than the header says, none that is not there. */
#include "support/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const wanted[] = { "label", "picture" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_status                status;
    config.format = "idx";
    config.wanted = wanted;
    config.wanted_count = 2;
    config.max_bytes = 1000;
    const uint64_t rows = fuzz_read(&status, &config, bytes, count);
    const bool     gzip = count >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
    must(gzip || rows <= count);
    if (status == RG_OK && !gzip)
        must(rows == ((uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 | (uint64_t)bytes[6] << 8 | bytes[7]));
    return 0;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const uint8_t pictures[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                        0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9 };
    static const uint8_t colours[] = { 0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3 };
    static const struct { const uint8_t *bytes; size_t count; } seeds[] = {
        { pictures, sizeof pictures }, { labels, sizeof labels }, { colours, sizeof colours } };
    if (index >= 3 || seeds[index].count > room) return 0;
    memcpy(bytes, seeds[index].bytes, seeds[index].count);
    return seeds[index].count;
}
