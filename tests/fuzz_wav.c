/* fuzz_wav.c - any bytes as a WAV file: read or refused with a reason, rows of what was read are finite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "regard/sound.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

static void check_rows(const rg_sound *s)
{
    rg_frames_config c = RG_FRAMES_CONFIG_DEFAULT;
    rg_frames       *f = NULL;
    rg_text          rows = { 0 };
    c.norm = (rg_frames_norm)(s->count % RG_FRAMES_NORMS);
    must(rg_frames_new(&f, &c) == RG_OK);
    must(rg_frames_of(&rows, f, s) == RG_OK);
    must(rows.length && rows.length % (rg_frames_width(&c) * sizeof(float)) == 0);
    for (size_t i = 0; i < rows.length; i += sizeof(float)) {
        float x;
        memcpy(&x, rows.data + i, sizeof x);
        must(isfinite(x));
    }
    rg_frames_free(f);
    rg_text_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_sound        s = { 0 };
    const rg_status status = rg_sound_decode(&s, bytes, count);
    must((status == RG_OK) == (s.samples != NULL));
    must(status == RG_OK || rg_message()[0]);
    if (status == RG_OK) {
        must(s.count && s.count <= count && s.rate >= RG_SOUND_LEAST_RATE && s.rate <= RG_SOUND_MOST_RATE);
        check_rows(&s);
    }
    rg_sound_free(&s);
    return 0;
}

/* 0: 16 bits, 1: two channels of 8 bits behind an odd chunk, 2: float as an extensible format, 3: 24 bits. */
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    static const char plain[] = "RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
                                "data\x8\0\0\0\0\x10\0\x20\0\x30\0\xf0";
    static const char odd[] = "RIFF\x34\0\0\0WAVELIST\3\0\0\0abc\0fmt \x10\0\0\0\1\0\2\0\x22\x56\0\0\x44\xac\0\0\2\0\x8\0"
                              "data\4\0\0\0\x80\x90\xa0\x70";
    static const char real[] = "RIFF\x44\0\0\0WAVEfmt \x28\0\0\0\xfe\xff\1\0\x80\xbb\0\0\0\xee\2\0\4\0\x20\0\x16\0\x20\0\4\0\0\0"
                               "\3\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
                               "data\x8\0\0\0\0\0\0\x3f\0\0\0\xbf";
    static const char three[] = "RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\xc0\x5d\0\0\3\0\x18\0"
                                "data\6\0\0\0\0\0\x40\0\0\xc0";
    static const struct {
        const char *bytes;
        size_t      count;
    } seeds[] = { { plain, sizeof plain - 1 }, { odd, sizeof odd - 1 }, { real, sizeof real - 1 }, { three, sizeof three - 1 } };
    if (index >= sizeof seeds / sizeof *seeds || seeds[index].count > room) return 0;
    memcpy(bytes, seeds[index].bytes, seeds[index].count);
    return seeds[index].count;
}
