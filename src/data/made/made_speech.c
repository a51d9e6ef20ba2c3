/* made_speech.c - `regard make speech`: strings of digits, spoken by voices that are made (speak.h), as WAV files.
 *
 * Every recording has another speaker: pitch, vocal tract, pace. A string belongs to one split only. The column times
 * says where each digit was, in seconds. */
#include "data/made/examples_made.h"

#include <string.h>

#include "base/hash.h"
#include "data/made/speak.h"

typedef struct settings {
    rg_made_settings base;
    int64_t          shortest, longest, rate;
    double           seconds, noise;
} settings;

enum { MOST = 20 };

static rg_voice draw_voice(double seconds, rg_random *random)
{
    rg_voice v;
    v.tract = rg_made__uniform(random, 0.88, 1.16);
    v.pitch = rg_made__uniform(random, 85, 130) * (v.tract > 1 ? 1.6 : 1);
    v.pace = seconds / 0.36 * rg_made__uniform(random, 0.85, 1.2);
    v.breath = rg_made__uniform(random, 0, 0.08);
    v.loud = rg_made__uniform(random, 0.3, 0.8);
    return v;
}

static rg_status speak(rg_made *out, const settings *s, const char *text, size_t length, rg_random *random)
{
    const rg_voice voice = draw_voice(s->seconds, random);
    const size_t   rate = (size_t)s->rate, gap = (size_t)(s->seconds * (double)rate / 6);
    rg_sound       sound = { 0 };
    size_t         all = gap, at = gap;
    for (size_t i = 0; i < length; i++) all += rg_speak__length(text[i] - '0', &voice, rate) + 2 * gap;
    RG_TRY(rg_sound_new(&sound, rate, all));
    rg_status status = RG_OK;
    for (size_t i = 0; status == RG_OK && i < length; i++) {
        const size_t from = at;
        rg_speak__digit(&sound, &at, text[i] - '0', &voice, random);
        status = rg_text_print(&out->cell[1], "%s%.2f-%.2f", i ? " " : "", (double)from / (double)rate,
                               (double)at / (double)rate);
        at += rg_made__between(random, 0, gap);
    }
    for (size_t i = 0; i < sound.count; i++)
        sound.samples[i] = (float)((double)sound.samples[i] + s->noise * (2 * rg_random_uniform(random) - 1));
    sound.count = at + gap < sound.count ? at + gap : sound.count;
    if (status == RG_OK) status = rg_sound_encode(&out->sound, &sound);
    rg_sound_free(&sound);
    return status;
}

static rg_status draw(rg_made *out, const rg_maker *m, rg_made_split split, uint64_t number, rg_random *random)
{
    const settings *s = m->options;
    char            text[MOST + 1] = "";
    (void)split, (void)number;
    if (s->shortest > s->longest)
        return rg_fail(RG_EINVAL, "--shortest %lld is larger than --longest %lld", (long long)s->shortest,
                       (long long)s->longest);
    const size_t length = rg_made__between(random, (size_t)s->shortest, (size_t)s->longest);
    for (size_t i = 0; i < length; i++) text[i] = (char)('0' + rg_random_below(random, 10));
    out->identity = rg_hash64_of(text, length) | 1u << 31;
    RG_TRY(rg_text_add(&out->cell[0], text, length));
    return speak(out, s, text, length, random);
}

static const rg_option options[] = {
    RG_MADE_ROWS(settings, "2000"),
    { RG_OPTION_INT, "shortest", offsetof(settings, shortest), "3", "digits", 0, "[1,20]", NULL },
    { RG_OPTION_INT, "longest", offsetof(settings, longest), "7", "digits", 0, "[1,20]", NULL },
    { RG_OPTION_REAL, "seconds", offsetof(settings, seconds), "0.36", "of a digit, about", 0, "[0.05,5]", NULL },
    { RG_OPTION_REAL, "noise", offsetof(settings, noise), "0.005", "added everywhere, up to so much", 0, "[0,1]", NULL },
    { RG_OPTION_INT, "rate", offsetof(settings, rate), "8000", "samples a second", 0, "[4000,48000]", NULL },
    RG_OPTION_END
};

static rg_status write_speech(const char *out, const void *o) { return rg_made__write(&rg_generator_speech, out, o); }

const rg_generator rg_generator_speech = {
    "speech",
    "strings of spoken digits in voices that are made",
    "OUT/{train,valid,test}.tar (WAV), .tsv",
    options,
    sizeof(settings),
    write_speech,
    "text times",
    1,
    draw
};
