/* fuzz_report.c - any bytes as the log of a training: refused with its line, or drawn in the terminal and as a page
 * in which nothing of the log is markup (P1). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "regard/text.h"
#include "regard/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char *const place = "fuzz-report.file";

static void must(bool condition)
{
    if (!condition) abort();
}

static size_t occurrences(const char *text, const char *of)
{
    size_t n = 0;
    while ((text = strstr(text, of)) != NULL) n++, text++;
    return n;
}

static void draw(const rg_record *r)
{
    const rg_terminal_options options = RG_TERMINAL_OPTIONS_DEFAULT;
    char                     *drawn = NULL;
    for (size_t i = 0; i < r->curve_sets; i++) {
        must(rg_terminal_curves(&drawn, &r->curves[i], &options) == RG_OK);
        must(!strchr(drawn, 27));
        rg_free(drawn);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    rg_record   *r = NULL;
    char        *page = NULL;
    size_t       length = 0;
    FILE        *f = fopen(place, "wb");
    must(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0);
    if (rg_report_read(&r, place) == RG_OK) {
        draw(r);
        must(rg_report_write(&page, &length, place) == RG_OK);
        must(strlen(page) == length && rg_utf8_check(page, length, NULL));
        must(occurrences(page, "<script") == 1 && occurrences(page, "<marquee") == 0);
        rg_free(page);
        rg_record_free(r);
    } else {
        must(!strncmp(rg_message(), place, strlen(place)));
    }
    must(rg_base__live_blocks() == blocks);
    return 0;
}
