/* fuzz_numbers.c - any bytes as a file of numbers: refused with its line, or rows that hold together (P1, P6). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "cli/numbers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char *const place = "fuzz-numbers.file";

static void must(bool condition)
{
    if (!condition) abort();
}

static void check(const rg_numbers *n)
{
    must(n->rows && n->cols && n->groups && n->start[0] == 0 && (size_t)n->start[n->groups] == n->rows);
    for (size_t g = 0; g < n->groups; g++) must(n->start[g] < n->start[g + 1]);
    for (size_t i = 1; i < n->rows; i++) must(n->line[i] > n->line[i - 1]);
    for (size_t i = 0; i < n->rows * n->cols; i++) must(isfinite((double)n->data[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    rg_numbers   n;
    FILE        *f = fopen(place, "wb");
    must(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0);
    if (rg_numbers_read(&n, place) == RG_OK) {
        check(&n);
        rg_numbers_free(&n);
    } else {
        must(!strncmp(rg_message(), place, strlen(place)));
    }
    must(rg_base__live_blocks() == blocks);
    return 0;
}
