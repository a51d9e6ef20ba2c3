/* fuzz_html.c - any bytes as HTML: cut into lines and written again, as the same text and with its words in another order. No tag is lost, no
 * text changes. */
#include <stddef.h>
#include <stdint.h>

#include "support/markup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char        text[1025];
    rg_segments s;
    if (size > sizeof text - 1) return 0;
    memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        if (!text[i]) text[i] = '<';
    text[size] = 0;
    rg_free(rg_support_same(text));
    if (rg_segments_cut_html(&s, text, false) != RG_OK) return 0;
    rg_segments_free(&s);
    rg_random   random = rg_random_new(size, 1);
    const char *problem = rg_support_shuffled(text, &random);
    if (problem) {
        fprintf(stderr, "%s\n%s\n", text, problem);
        __builtin_trap();
    }
    return 0;
}
