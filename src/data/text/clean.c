/* clean.c - rules of corpus cleaning: lengths, ratio, letters, script, language, numbers, duplicates.
 *
 * Duplicates are found by XXH64 of the normalised text: of n pairs, two different ones are taken for equal with
 * probability below n^2 / 2^65 (for 100 million pairs, 3e-4). */
#include "regard/clean.h"

#include <string.h>

#include "base/hash.h"
#include "regard/text.h"

/* ---------------------------------------------------------------------------------------------------- scripts */

typedef enum {
    OTHER_SCRIPT, LATIN, GREEK, CYRILLIC, ARMENIAN, HEBREW, ARABIC, DEVANAGARI,
    BENGALI, TAMIL, TELUGU, THAI, GEORGIAN, HANGUL, HAN, KANA, SCRIPTS
} script;

static const struct {
    uint32_t first, last;
    script   script;
} ranges[] = {
    { 'A', 'Z', LATIN },           { 'a', 'z', LATIN },           { 0xAA, 0xAA, LATIN },          { 0xBA, 0xBA, LATIN },
    { 0xC0, 0xD6, LATIN },         { 0xD8, 0xF6, LATIN },         { 0xF8, 0x2AF, LATIN },         { 0x370, 0x3FF, GREEK },
    { 0x400, 0x52F, CYRILLIC },    { 0x531, 0x58F, ARMENIAN },    { 0x591, 0x5F4, HEBREW },       { 0x600, 0x6FF, ARABIC },
    { 0x750, 0x77F, ARABIC },      { 0x8A0, 0x8FF, ARABIC },      { 0x900, 0x97F, DEVANAGARI },   { 0x980, 0x9FF, BENGALI },
    { 0xB80, 0xBFF, TAMIL },       { 0xC00, 0xC7F, TELUGU },      { 0xE01, 0xE4E, THAI },         { 0x10A0, 0x10FF, GEORGIAN },
    { 0x1100, 0x11FF, HANGUL },    { 0x1E00, 0x1EFF, LATIN },     { 0x1F00, 0x1FFF, GREEK },      { 0x3041, 0x30FF, KANA },
    { 0x3131, 0x318E, HANGUL },    { 0x3400, 0x4DBF, HAN },       { 0x4E00, 0x9FFF, HAN },        { 0xAC00, 0xD7A3, HANGUL },
    { 0xFB50, 0xFDFF, ARABIC },    { 0xFE70, 0xFEFC, ARABIC },    { 0xFF66, 0xFF9F, KANA },       { 0x20000, 0x323AF, HAN },
};

/* Languages that are not written in Latin letters; up to two scripts. What is not here is taken for Latin. */
static const struct {
    const char *code;
    script      script[2];
} languages[] = {
    { "el", { GREEK } },      { "ru", { CYRILLIC } },   { "uk", { CYRILLIC } },   { "be", { CYRILLIC } },   { "bg", { CYRILLIC } },
    { "mk", { CYRILLIC } },   { "kk", { CYRILLIC } },   { "ky", { CYRILLIC } },   { "mn", { CYRILLIC } },   { "tg", { CYRILLIC } },
    { "sr", { CYRILLIC, LATIN } }, { "hy", { ARMENIAN } }, { "he", { HEBREW } },  { "yi", { HEBREW } },     { "ar", { ARABIC } },
    { "fa", { ARABIC } },     { "ur", { ARABIC } },     { "ps", { ARABIC } },     { "hi", { DEVANAGARI } }, { "mr", { DEVANAGARI } },
    { "ne", { DEVANAGARI } }, { "bn", { BENGALI } },    { "ta", { TAMIL } },      { "te", { TELUGU } },     { "th", { THAI } },
    { "ka", { GEORGIAN } },   { "ko", { HANGUL, HAN } }, { "zh", { HAN } },       { "ja", { KANA, HAN } },
};

static script script_of(uint32_t c)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].script;
    return OTHER_SCRIPT;
}

/* ------------------------------------------------------------------------------------------------------ lines */

typedef struct {
    size_t words, longest;          /* the longest in characters                                  */
    size_t characters, letters;     /* blanks not counted; letters of scripts that are known here */
    size_t of[SCRIPTS];
    bool   control;
    uint64_t hash, numbers; /* of the text; the sum of hashes of its numbers: their order does not count */
} line_facts;

static bool is_blank(uint32_t c) { return c == ' ' || c == '\t' || c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200A); }

/* Letters of scripts without blanks between words count as words. */
static bool stands_alone(script s) { return s == HAN || s == KANA || s == THAI; }

static void end_number(line_facts *f, const char *digits, size_t count)
{
    if (count >= 2) f->numbers += rg_hash64_of(digits, count);
}

static line_facts look_at(const char *text)
{
    line_facts   f = { 0 };
    const size_t bytes = strlen(text);
    size_t       word = 0, digits = 0, alone = 0;
    for (size_t at = 0, n; at < bytes; at += n) {
        uint32_t c;
        n = rg_utf8_next(&c, text + at, bytes - at);
        if (!n) break;
        const bool digit = c >= '0' && c <= '9';
        if (!digit) end_number(&f, text + at - digits, digits);
        digits = digit ? digits + 1 : 0;
        if (is_blank(c)) {
            word = alone = 0;
            continue;
        }
        const script s = script_of(c);
        f.control = f.control || c < 0x20 || c == 0x7F || c == 0xFFFD || (c >= 0x80 && c < 0xA0);
        f.characters++;
        f.letters += s != OTHER_SCRIPT;
        f.of[s]++;
        if (stands_alone(s)) f.words++, alone = 1, word = 0;
        else if (word++ == 0 && !alone) f.words++;
        if (word > f.longest) f.longest = word;
    }
    end_number(&f, text + bytes - digits, digits);
    f.hash = rg_hash64_of(text, bytes);
    return f;
}

/* ------------------------------------------------------------------------------------------------- duplicates */

typedef struct {
    uint64_t *slot; /* 0: free */
    size_t    count, room;
} seen_set;

static bool place(uint64_t *slot, size_t room, uint64_t key)
{
    size_t at = (size_t)key & (room - 1);
    while (slot[at] && slot[at] != key) at = (at + 1) & (room - 1);
    const bool is_new = !slot[at];
    slot[at] = key;
    return is_new;
}

/* *out_new: it was not there. */
static rg_status remember(bool *out_new, seen_set *s, uint64_t key)
{
    if (!key) key = 1;
    if (2 * (s->count + 1) > s->room) {
        const size_t room = s->room ? 2 * s->room : 1024;
        uint64_t    *larger = rg_alloc_zero(room * sizeof *larger);
        if (!larger) return RG_ENOMEM;
        for (size_t i = 0; i < s->room; i++)
            if (s->slot[i]) (void)place(larger, room, s->slot[i]);
        rg_free(s->slot);
        s->slot = larger;
        s->room = room;
    }
    *out_new = place(s->slot, s->room, key);
    s->count += *out_new;
    return RG_OK;
}

/* ------------------------------------------------------------------------------------------------------ rules */

struct rg_cleaner {
    rg_clean_config config;
    script          script[2][2]; /* of each side; OTHER_SCRIPT: not known, or no second one */
    char            hint[64];     /* both languages, for the detector */
    seen_set        seen;
};

static void find_script(script out[2], const char *code)
{
    out[0] = out[1] = OTHER_SCRIPT;
    if (!*code) return;
    out[0] = LATIN;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strncmp(languages[i].code, code, 2) == 0 && (!code[2] || code[2] == '-' || code[2] == '_'))
            out[0] = languages[i].script[0], out[1] = languages[i].script[1];
}

rg_status rg_cleaner_new(rg_cleaner **out, const rg_clean_config *config)
{
    *out = NULL;
    if (config->max_words < config->min_words)
        return rg_fail(RG_EINVAL, "at least %zu and at most %zu words: no pair can be kept", config->min_words, config->max_words);
    rg_cleaner *c = rg_alloc_zero(sizeof *c);
    if (!c) return RG_ENOMEM;
    c->config = *config;
    for (int side = 0; side < 2; side++) find_script(c->script[side], config->language[side]);
    snprintf(c->hint, sizeof c->hint, "%.30s%s%.30s", config->language[0],
             *config->language[0] && *config->language[1] ? "," : "", config->language[1]);
    *out = c;
    return RG_OK;
}

void rg_cleaner_free(rg_cleaner *c)
{
    if (!c) return;
    rg_free(c->seen.slot);
    rg_free(c);
}

static rg_clean_verdict judge_side(const rg_cleaner *c, const line_facts *f, int side)
{
    const rg_clean_config *k = &c->config;
    const script          *s = c->script[side];
    if (!f->characters) return RG_DROPPED_EMPTY;
    if (f->control) return RG_DROPPED_DAMAGED;
    if (f->words > k->max_words) return RG_DROPPED_LONG;
    if (f->words < k->min_words) return RG_DROPPED_SHORT;
    if (f->longest > k->max_word) return RG_DROPPED_LONG_WORD;
    if ((double)f->letters < k->min_letters * (double)f->characters) return RG_DROPPED_LETTERS;
    if (s[0] == OTHER_SCRIPT) return RG_CLEAN_KEPT;
    const size_t own = f->of[s[0]] + (s[1] != OTHER_SCRIPT ? f->of[s[1]] : 0);
    return (double)own < k->min_script * (double)f->letters ? RG_DROPPED_SCRIPT : RG_CLEAN_KEPT;
}

/* Only where the detector trusts its answer: a few words, names and numbers could be of any language. */
static bool in_another_language(const rg_cleaner *c, const char *text, int side)
{
    const rg_language_question asked = { .hint = c->hint };
    const char                *code = c->config.language[side];
    rg_language_guess          guess[RG_LANGUAGE_GUESSES];
    bool                       reliable;
    double                     own = 0;
    if (!c->config.detector || !*code) return false;
    const size_t found = rg_languages_guess(guess, &reliable, c->config.detector, text, strlen(text), &asked);
    for (size_t i = 0; i < found; i++)
        if (rg_language_close(code, guess[i].code)) own += guess[i].share;
    return reliable && own < 0.5 && !rg_language_close(code, guess[0].code);
}

static bool out_of_ratio(const rg_cleaner *c, size_t a, size_t b)
{
    const double longer = (double)(a > b ? a : b), shorter = (double)(a > b ? b : a);
    return c->config.max_ratio > 0 && longer >= 5 && longer > c->config.max_ratio * shorter;
}

static uint64_t key_of(const rg_cleaner *c, const line_facts *f)
{
    if (c->config.duplicates == RG_DUPLICATES_SOURCE) return f[0].hash;
    if (c->config.duplicates == RG_DUPLICATES_TARGET) return f[1].hash;
    const uint64_t both[2] = { f[0].hash, f[1].hash };
    return rg_hash64_of(both, sizeof both);
}

rg_status rg_cleaner_judge(rg_clean_verdict *out, rg_cleaner *c, const char *source, const char *target, bool damaged)
{
    const line_facts       f[2] = { look_at(source), look_at(target) };
    const rg_clean_verdict side[2] = { judge_side(c, &f[0], 0), judge_side(c, &f[1], 1) };
    bool                   is_new = true;
    rg_clean_verdict       verdict = side[0] && (!side[1] || side[0] < side[1]) ? side[0] : side[1]; /* the earlier rule */
    const struct {
        bool             broken;
        rg_clean_verdict verdict;
    } pair[] = { { damaged, RG_DROPPED_DAMAGED },
                 { out_of_ratio(c, f[0].words, f[1].words), RG_DROPPED_RATIO },
                 { !c->config.copied && strcmp(source, target) == 0, RG_DROPPED_COPIED },
                 { c->config.numbers && f[0].numbers != f[1].numbers, RG_DROPPED_NUMBERS } };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        if (pair[i].broken && (!verdict || pair[i].verdict < verdict)) verdict = pair[i].verdict;
    if ((!verdict || verdict > RG_DROPPED_LANGUAGE) &&
        (in_another_language(c, source, 0) || in_another_language(c, target, 1)))
        verdict = RG_DROPPED_LANGUAGE;
    if (!verdict && c->config.duplicates) RG_TRY(remember(&is_new, &c->seen, key_of(c, f)));
    *out = is_new ? verdict : RG_DROPPED_DUPLICATE;
    return RG_OK;
}

static const char *const names[RG_CLEAN_VERDICTS][2] = {
    { "kept", "" },
#define ROW(name, word, text) { word, text },
    RG_CLEAN_RULES(ROW)
};

const char *rg_clean_name(rg_clean_verdict v) { return v < RG_CLEAN_VERDICTS ? names[v][0] : "?"; }
const char *rg_clean_reason(rg_clean_verdict v) { return v < RG_CLEAN_VERDICTS ? names[v][1] : "?"; }
