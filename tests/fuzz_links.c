/* fuzz_links.c - any bytes as lines of Pharaoh links, 0-1 2?3: refused, or counted so that the error rate is one (P1).
 *
 * Two readers: that of `regard evaluate --metrics aer` (two lines: output and reference) and that of `regard heads
 * --gold`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define rg_head_ranks_new    fuzzed_ranks_new
#define rg_head_ranks_free   fuzzed_ranks_free
#define rg_head_ranks_choose fuzzed_ranks_choose
#include "tasks/heads.c"

#include "base/seams.h"
#include "regard/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(bool condition)
{
    if (!condition) abort();
}

static void use_aer(const char *output, const char *reference)
{
    rg_aer aer = { 0 };
    if (rg_aer_add(&aer, output, reference) == RG_OK) {
        must(aer.in_sure <= aer.in_possible && aer.in_possible <= aer.links && aer.in_sure <= aer.sure);
        must(rg_aer_rate(&aer) >= 0 && rg_aer_rate(&aer) <= 1);
    } else {
        must(!strncmp(rg_message(), "output: ", 8) || !strncmp(rg_message(), "reference: ", 11));
    }
}

/* The number of sure links is the number of sure cells. */
static void use_gold(const char *text)
{
    static unsigned char gold[WORDS][WORDS];
    ranking              r = { .gold = gold };
    const rg_line        line = { .text = text, .bytes = strlen(text), .number = 7 };
    size_t               sure = 0;
    if (read_gold(&r, &line) != RG_OK) {
        must(!strncmp(rg_message(), "line 7: ", 8));
        return;
    }
    for (size_t i = 0; i < WORDS; i++)
        for (size_t j = 0; j < WORDS; j++) sure += gold[i][j] == 2;
    must((double)sure == r.links);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    char        *text = malloc(count + 1);
    must(text != NULL);
    memcpy(text, bytes, count);
    text[count] = 0;
    char *second = strchr(text, '\n');
    if (second) *second++ = 0;
    use_aer(text, second ? second : text);
    use_gold(text);
    free(text);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
