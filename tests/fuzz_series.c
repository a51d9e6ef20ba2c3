/* fuzz_series.c - any bytes as a file of running numbers: refused with its name, or rows of finite numbers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "tasks/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static char place[] = "fuzz-series.file";

static void must(bool condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t  blocks = rg_base__live_blocks();
    char         *path = place;
    const rg_list files = { 1, &path };
    rg_series     x;
    FILE         *f = fopen(place, "wb");
    must(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0);
    if (rg_series_read(&x, &files, 0) == RG_OK) {
        must(x.rows >= 2 && x.width >= 1);
        for (size_t i = 0; i < x.rows * x.width; i++) must(isfinite((double)x.value[i]));
        rg_series_free(&x);
    } else must(strstr(rg_message(), place) != NULL);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
