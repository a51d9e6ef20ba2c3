/* fuzz_reader.h - any bytes as a file of one format: read without harm, rows hold together, refusals name the file
 * (P1, P2). */
#ifndef TESTS_SUPPORT_FUZZ_READER_H
#define TESTS_SUPPORT_FUZZ_READER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "regard/reader.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

/* Returns the rows that were read; *out_status how it ended. */
static uint64_t fuzz_read(rg_status *out_status, const rg_reader_config *config, const uint8_t *bytes, size_t count)
{
    rg_reader *r = NULL;
    uint64_t   rows = 0, line = 0;
    rg_status  status = rg_reader_open_bytes(&r, bytes, count, config);
    must((status == RG_OK) == (r != NULL));
    for (bool more = true; status == RG_OK && more;) {
        rg_row row;
        status = rg_reader_next(&more, &row, r);
        if (status != RG_OK || !more) break;
        must(row.line > line);
        line = row.line;
        rows++;
        for (size_t i = 0; i < config->wanted_count; i++) {
            const rg_cell *cell = &row.cell[i];
            must(cell->bytes && cell->bytes[cell->count] == '\0');
            must(!cell->missing || cell->count == 0);
            must(!cell->height || cell->height * cell->width * cell->channels == cell->count);
            must(!(row.faults & RG_LINE_TOO_LONG) || cell->missing);
        }
    }
    must(status == RG_OK || rg_message()[0]);
    rg_reader_close(r);
    *out_status = status;
    return rows;
}

static inline size_t fuzz_seed_of(uint8_t *bytes, size_t room, unsigned index, const char *const *seeds, size_t count)
{
    if (index >= count || strlen(seeds[index]) > room) return 0;
    memcpy(bytes, seeds[index], strlen(seeds[index]));
    return strlen(seeds[index]);
}

/* A target of a format of text. */
#define FUZZ_READER(FORMAT, FIRST, SECOND, ...)                                                               \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)                                            \
    {                                                                                                         \
        static const char *const wanted[] = { FIRST, SECOND };                                                \
        static const char *const columns[] = { "", "2,1", "1,2-", SECOND "," FIRST };                         \
        rg_reader_config         config = RG_READER_CONFIG_DEFAULT;                                           \
        rg_status                status;                                                                      \
        config.format = FORMAT;                                                                               \
        config.wanted = wanted;                                                                               \
        config.wanted_count = 2;                                                                              \
        config.columns = columns[count % 4];                                                                  \
        config.max_bytes = 1000;                                                                              \
        (void)fuzz_read(&status, &config, bytes, count);                                                      \
        return 0;                                                                                             \
    }                                                                                                         \
    size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)                                             \
    {                                                                                                         \
        static const char *const seeds[] = { __VA_ARGS__ };                                                   \
        return fuzz_seed_of(bytes, room, index, seeds, sizeof seeds / sizeof *seeds);                         \
    }

#endif
