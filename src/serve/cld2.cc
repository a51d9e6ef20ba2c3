// cld2.cc - see cld2.h. The only file that includes the library's header; without it nothing can be told.
#include "serve/cld2.h"

#ifdef RG_CLD2
#include <climits>
#include <cstdio> // the header below needs it
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <new>

namespace {
const int kBestEffort = 0x4000; // kCLDFlagBestEffort: an answer for short texts too
}

size_t rg_cld2(const char *code[RG_CLD2_MOST], int percent[RG_CLD2_MOST], const char *text, size_t bytes, bool html,
               const char *hint)
{
    CLD2::Language       language[RG_CLD2_MOST];
    double               score[RG_CLD2_MOST];
    const CLD2::CLDHints hints = { hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE };
    int                  letters, valid;
    bool                 reliable;
    size_t               count = 0;
    try {
        CLD2::ExtDetectLanguageSummaryCheckUTF8(text, bytes < INT_MAX ? static_cast<int>(bytes) : INT_MAX, !html,
                                                &hints, kBestEffort, language, percent, score, nullptr, &letters,
                                                &reliable, &valid);
    } catch (const std::bad_alloc &) {
        return 0;
    }
    for (int i = 0; i < RG_CLD2_MOST; i++) {
        if (language[i] == CLD2::UNKNOWN_LANGUAGE || percent[i] <= 0) continue;
        percent[count] = percent[i];
        code[count++] = CLD2::LanguageCode(language[i]);
    }
    return count;
}

bool rg_cld2_there(void) { return true; }

#else
size_t rg_cld2(const char **, int *, const char *, size_t, bool, const char *) { return 0; }
bool   rg_cld2_there(void) { return false; }
#endif
