/* fuzz_record.c - any bytes as a record: refused, or read and written back to something that reads the same (P1). */
#include "regard/view.h"
#include "support/records.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_record          *r = NULL, *again = NULL;
    char               *json = NULL, *drawn = NULL;
    size_t              length;
    rg_terminal_options options = RG_TERMINAL_OPTIONS_DEFAULT;

    if (rg_record_from_json(&r, (const char *)bytes, count) != RG_OK) return 0;
    if (rg_record_to_json(&json, &length, r, RG_WEIGHTS_AUTO) != RG_OK) abort();
    if (rg_record_from_json(&again, json, length) != RG_OK) abort();
    for (size_t m = 0; m < r->maps && m < 4; m++) {
        if (rg_terminal_draw(&drawn, r, m, &options) != RG_OK) abort();
        if (strchr(drawn, 27)) abort(); /* without colour no escape sequence, whatever the labels hold */
        rg_free(drawn);
    }
    rg_free(json);
    rg_record_free(r);
    rg_record_free(again);
    return 0;
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    rg_record *(*const makers[])(void) = { test_record_translation, test_record_graph, test_record_curves,
                                           test_record_scripts };
    rg_record *r;
    char      *json = NULL;
    size_t     length = 0;

    if (index >= 12) return 0;
    r = makers[index % 4]();
    if (rg_record_to_json(&json, &length, r, (rg_weights_as)(1 + index / 4)) != RG_OK || length > room) length = 0;
    if (length) memcpy(bytes, json, length);
    rg_free(json);
    rg_record_free(r);
    return length;
}
