/* icu.c - sentences by Unicode's rules: UAX 29 (Davis), as ICU has them. */
#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "data/documents/sentences.h"

static rg_status open_breaker(void **out, const char *language)
{
    UErrorCode      error = U_ZERO_ERROR;
    UBreakIterator *breaker = ubrk_open(UBRK_SENTENCE, language, NULL, 0, &error);
    *out = breaker;
    if (U_SUCCESS(error)) return RG_OK;
    return rg_fail(RG_EIO, "ICU cannot cut sentences of language \"%s\": %s", language, u_errorName(error));
}

static void close_breaker(void *breaker)
{
    if (breaker) ubrk_close(breaker);
}

static rg_status cut(rg_spans *out, void *breaker, const char *text, size_t bytes)
{
    UErrorCode error = U_ZERO_ERROR;
    UText     *utf8 = utext_openUTF8(NULL, text, (int64_t)bytes, &error);
    rg_status  status = RG_OK;
    if (U_SUCCESS(error)) ubrk_setUText(breaker, utf8, &error);
    int32_t from = U_SUCCESS(error) ? ubrk_first(breaker) : UBRK_DONE;
    for (int32_t to; status == RG_OK && from != UBRK_DONE && (to = ubrk_next(breaker)) != UBRK_DONE; from = to)
        status = rg_spans_add(out, (size_t)from, (size_t)to);
    utext_close(utf8);
    return U_FAILURE(error) ? rg_fail(RG_EIO, "ICU cannot cut sentences: %s", u_errorName(error)) : status;
}

const rg_sentence_breaker *rg_sentences__icu(void)
{
    static const rg_sentence_breaker breaker = { open_breaker, close_breaker, cut };
    return &breaker;
}
