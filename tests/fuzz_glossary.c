/* fuzz_glossary.c - any bytes as a glossary and as a line: refused, or terms that lie in the line, in order, apart from
 * each other, each with a form that is not empty and that is found in a text made of the forms (P1). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "regard/glossary.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(bool condition)
{
    if (!condition) abort();
}

static void use(const rg_glossary *g, const char *line)
{
    rg_terms t = { 0 };
    rg_text  text = { 0 };
    size_t   n, last = 0;
    must(rg_glossary_find(&t, g, line) == RG_OK);
    for (size_t i = 0; i < t.count; i++) {
        must(t.term[i].begin >= last && t.term[i].end > t.term[i].begin && t.term[i].end <= t.line.length);
        must(t.term[i].count > 0 && rg_term_form(&t.term[i], 0)[0]);
        last = t.term[i].end;
        must(rg_text_print(&text, "%s ", rg_term_form(&t.term[i], 0)) == RG_OK);
    }
    bool *missing = calloc(t.count + 1, 1);
    must(missing != NULL && rg_terms_missing(&n, missing, &t, rg_text_c(&text)) == RG_OK && n <= t.count);
    must(t.count != 1 || n == 0);
    free(missing);
    rg_text_free(&text);
    rg_terms_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t blocks = rg_base__live_blocks();
    char        *line = malloc(count + 1);
    FILE        *file = fopen("fuzzed", "wb");
    rg_glossary *g;
    must(file != NULL && line != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
    memcpy(line, bytes, count);
    line[count] = 0;
    if (rg_glossary_load(&g, "fuzzed") == RG_OK) {
        use(g, line);
        use(g, "a dog and \xe7\x8a\xac in New York, New York");
        rg_glossary_free(g);
    }
    free(line);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
