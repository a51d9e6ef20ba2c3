/* fuzz_tar.c - any bytes as an archive (P1, P2): no member has a name that leaves it, or more bytes than there are.
 * The checksums of headers are made right first, so that what is behind them is reached. */
#include "support/fuzz_reader.h"

enum { BLOCK = 512 };

static void sum_up(uint8_t *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++) sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
}

static void check_members(const rg_reader_config *config, const uint8_t *bytes, size_t count)
{
    rg_reader *r = NULL;
    rg_status  status = rg_reader_open_bytes(&r, bytes, count, config);
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        must(row.member[0] != '/' && !strstr(row.member, "/../") && strncmp(row.member, "../", 3) != 0);
        must(row.cell[1].count <= count || (bytes[0] == 0x1F && bytes[1] == 0x8B));
    }
    rg_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const wanted[] = { "path", "picture", "label" };
    rg_reader_config         config = RG_READER_CONFIG_DEFAULT;
    rg_status                status;
    config.format = "tar";
    config.wanted = wanted;
    config.wanted_count = count % 2 ? 3 : 2;
    config.max_bytes = 100000;
    (void)fuzz_read(&status, &config, bytes, count);
    uint8_t *copy = malloc(count + 1);
    memcpy(copy, bytes, count);
    for (size_t at = 0; at + BLOCK <= count; at += BLOCK)
        if (memcmp(copy + at + 257, "ustar", 5) == 0) sum_up(copy + at);
    (void)fuzz_read(&status, &config, copy, count);
    check_members(&config, copy, count);
    free(copy);
    return 0;
}

static size_t put(uint8_t *at, const char *name, char type, const char *content)
{
    const size_t bytes = strlen(content), blocks = (bytes + BLOCK - 1) / BLOCK;
    memset(at, 0, BLOCK * (1 + blocks));
    strcpy((char *)at, name);
    snprintf((char *)at + 124, 12, "%011o", (unsigned)bytes);
    at[156] = (uint8_t)type;
    memcpy(at + 257, "ustar\0" "00", 8);
    memcpy(at + BLOCK, content, bytes);
    sum_up(at);
    return BLOCK * (1 + blocks);
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    size_t count = 0;
    if (index > 3 || room < 16 * BLOCK) return 0;
    if (index == 1) count += put(bytes + count, "x", 'x', "22 path=dog/renamed.p\n8 size=3\n");
    if (index == 2) count += put(bytes + count, "long", 'L', "cat/a-long-name-that-would-not-fit-anywhere-else.png");
    if (index == 3) count += put(bytes + count, "../evil", '0', "x");
    count += put(bytes + count, "cat/", '5', "");
    count += put(bytes + count, "cat/1.png", '0', "abc");
    count += put(bytes + count, "flat", '0', "");
    memset(bytes + count, 0, 2 * BLOCK);
    return count + 2 * BLOCK;
}
