/* sentences.c - where sentences end: candidates of the module, less abbreviations; opens the module on first use. */
#include "data/documents/sentences.h"

#include <ctype.h>
#include <string.h>

#include "base/module.h"

struct rg_sentences {
    const rg_sentence_breaker *breaker;
    void                      *opened;
    char                       language[16];
};

rg_status rg_sentences__new(rg_sentences **out, const rg_sentence_breaker *breaker, const char *language)
{
    rg_sentences *s = rg_alloc_zero(sizeof *s);
    *out = NULL;
    if (!s) return RG_ENOMEM;
    s->breaker = breaker;
    snprintf(s->language, sizeof s->language, "%s", language && *language ? language : "und");
    const rg_status status = breaker->open(&s->opened, s->language);
    if (status == RG_OK) *out = s;
    else rg_free(s);
    return status;
}

rg_status rg_sentences_new(rg_sentences **out, const char *language)
{
    rg_module_function *function = NULL;
    *out = NULL;
    RG_TRY(rg_module_open(&function, "sentences", "rg_sentences__icu"));
    return rg_sentences__new(out, ((rg_sentence_breaker_function *)function)(), language);
}

rg_status rg_sentences_like(rg_sentences **out, const rg_sentences *other, const char *language)
{
    return rg_sentences__new(out, other->breaker, language);
}

void rg_sentences_free(rg_sentences *s)
{
    if (!s) return;
    s->breaker->close(s->opened);
    rg_free(s);
}

static bool is_blank(const char *text) { return strchr(" \t\r\n", *text) != NULL; }

/* Somebody was quoted, and the sentence goes on: "Why?" she said. */
static bool is_quoted(const char *text, size_t end, size_t next)
{
    static const char *const quotes[] = { "\"", "'", "\xe2\x80\x9d", "\xe2\x80\x99", "\xc2\xbb" };
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        const size_t n = strlen(quotes[i]);
        if (end >= n && memcmp(text + end - n, quotes[i], n) == 0) return islower((unsigned char)text[next]);
    }
    return false;
}

/* Is there an end behind text[begin .. end), or only the point of an abbreviation? text[next] is what follows. */
static bool ends(const rg_sentences *s, const char *text, size_t begin, size_t end, size_t next)
{
    if (is_quoted(text, end, next)) return false;
    return end == begin || text[end - 1] != '.' || !rg_sentences__abbreviated(s->language, text + begin, end - begin);
}

rg_status rg_sentences_cut(rg_spans *out, rg_sentences *s, const char *text, size_t bytes)
{
    rg_spans  found = { 0 };
    rg_status status = s->breaker->cut(&found, s->opened, text, bytes);
    size_t    begin = 0;
    for (size_t i = 0; status == RG_OK && i < found.count; i++) {
        size_t end = found.data[i].end;
        while (end > begin && is_blank(text + end - 1)) end--;
        if (i + 1 < found.count && !ends(s, text, begin, end, found.data[i].end)) continue;
        while (begin < end && is_blank(text + begin)) begin++;
        if (end > begin) status = rg_spans_add(out, begin, end);
        begin = found.data[i].end;
    }
    rg_spans_free(&found);
    return status;
}
