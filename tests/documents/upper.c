/* upper.c - document_upper FORMAT same|reverse IN OUT [IN OUT ...]: documents "translated" to capital letters, in the
 * same or in the opposite order of words, linked one to one. Tests of documents need no model with it. Prints the
 * sentences. */
#include <ctype.h>

#include "data/documents/sentences.h"
#include "support/markup.h"

/* Words in capitals, reversed or not; links of the words. */
static char *translate(rg_links *links, const char *line, bool reverse)
{
    const size_t bytes = strlen(line);
    rg_range    *word = rg_alloc_array(bytes + 1, sizeof *word);
    int         *order = rg_alloc_array(bytes + 1, sizeof *order);
    char        *out = rg_alloc(bytes + 2);
    size_t       at = 0;
    if (!word || !order || !out) abort();
    const size_t n = rg_support_words(word, line);
    for (size_t k = 0; k < n; k++) {
        order[k] = (int)(reverse ? n - 1 - k : k);
        const rg_range w = word[order[k]];
        if (k) out[at++] = ' ';
        for (size_t i = w.begin; i < w.end; i++) out[at++] = (char)toupper((unsigned char)line[i]);
    }
    out[at] = 0;
    *links = rg_support_links(line, out, order);
    rg_free(word);
    rg_free(order);
    return out;
}

static const char *rendered(void *context, size_t i) { return ((char **)context)[i]; }

static void check(rg_status status)
{
    if (status == RG_OK) return;
    fprintf(stderr, "%s\n", rg_message());
    exit(1);
}

static void translate_file(const rg_document_config *c, bool reverse, const char *from, const char *to)
{
    rg_document *d;
    rg_text      bytes = { 0 }, out = { 0 };
    check(rg_document_read_file(&bytes, from));
    check(rg_document_read(&d, rg_text_c(&bytes), bytes.length, c));
    char **all = rg_alloc_zero((rg_document_count(d) + 1) * sizeof *all);
    if (!all) abort();
    for (size_t i = 0; i < rg_document_count(d); i++) {
        rg_links links;
        rg_text  text = { 0 };
        char    *translation = translate(&links, rg_document_text(d, i), reverse);
        printf("%s\n", rg_document_text(d, i));
        check(rg_document_render(&text, d, i, translation, &links));
        all[i] = rg_strdup(rg_text_c(&text));
        rg_text_free(&text);
        rg_links_free(&links);
        rg_free(translation);
    }
    check(rg_document_join(&out, d, rendered, all));
    check(rg_file_replace(to, rg_text_c(&out), out.length));
    for (size_t i = 0; i < rg_document_count(d); i++) rg_free(all[i]);
    rg_free(all);
    rg_text_free(&out);
    rg_text_free(&bytes);
    rg_document_free(d);
}

int main(int count, char **words)
{
    rg_document_config c = RG_DOCUMENT_CONFIG_DEFAULT;
    if (count < 5 || !(c.format = rg_document_format_find(words[1]))) return 2;
    check(rg_sentences__new(&c.sentences, rg_sentences__icu(), "en"));
    for (int i = 3; i + 1 < count; i += 2) {
        c.name = words[i];
        translate_file(&c, strcmp(words[2], "reverse") == 0, words[i], words[i + 1]);
    }
    rg_sentences_free(c.sentences);
    return 0;
}
