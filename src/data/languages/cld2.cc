// cld2.cc - the Compact Language Detector 2, which is C++, as the module of languages (data/text/language_guess.h).
#include <climits>
#include <cstdio> // the header below needs it
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <new>

#include "data/text/language_guess.h"

namespace {
const int kBestEffort = 0x4000; // kCLDFlagBestEffort: an answer for short texts too
}

size_t rg_languages__cld2(rg_language_guess out[RG_LANGUAGE_GUESSES], bool *out_reliable, const char *text, size_t bytes,
                          bool html, bool short_texts, const char *hint)
{
    const int            most = RG_LANGUAGE_GUESSES;
    CLD2::Language       language[most];
    int                  percent[most];
    double               score[most];
    const CLD2::CLDHints hints = { hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE };
    int                  letters, valid;
    size_t               count = 0;
    *out_reliable = false;
    try {
        CLD2::ExtDetectLanguageSummaryCheckUTF8(text, bytes < INT_MAX ? static_cast<int>(bytes) : INT_MAX, !html,
                                                &hints, short_texts ? kBestEffort : 0, language, percent, score,
                                                nullptr, &letters, out_reliable, &valid);
    } catch (const std::bad_alloc &) {
        return 0;
    }
    for (int i = 0; i < most; i++) {
        if (language[i] == CLD2::UNKNOWN_LANGUAGE || percent[i] <= 0) continue;
        out[count].code = CLD2::LanguageCode(language[i]);
        out[count++].share = percent[i] / 100.0;
    }
    return count;
}
