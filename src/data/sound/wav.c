/* wav.c - WAV files (Microsoft and IBM 1991; WAVE_FORMAT_EXTENSIBLE 2001) to samples and back.
 *
 *   "RIFF" size "WAVE"   then chunks: name (4 bytes), size, bytes, one byte more where the size is odd
 *   "fmt "               kind 1 PCM, 3 float, 0xFFFE: the kind is the beginning of a GUID; channels, rate, bytes of a
 *                        second, bytes of a sample of all channels, bits
 *   "data"               samples, channels side by side; 8 bits are unsigned
 *
 * Numbers are little-endian. Every size is compared with the bytes that are there: a file that says more is refused. */
#include <math.h>
#include <string.h>

#include "data/reader.h"
#include "data/sound/sound.h"

enum { PCM = 1, FLOAT = 3, EXTENSIBLE = 0xFFFE, HEAD = 12, CHUNK = 8, FORMAT = 16, LONG_FORMAT = 40 };

typedef struct {
    unsigned kind, channels, bits;
    size_t   rate, block; /* block: bytes of a sample of all channels */
} form;

rg_status rg_sound_new(rg_sound *out, size_t rate, size_t count)
{
    float *samples = rg_alloc_array(count + 1, sizeof *samples);
    if (!samples) return RG_ENOMEM;
    memset(samples, 0, (count + 1) * sizeof *samples);
    *out = (rg_sound){ rate, count, samples };
    return RG_OK;
}

void rg_sound_free(rg_sound *s)
{
    rg_free(s->samples);
    *s = (rg_sound){ 0 };
}

/* --------------------------------------------------------------------------------------------------------- reading */

static uint32_t little(const unsigned char *b, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint32_t)b[i] << (8 * i);
    return value;
}

static rg_status read_form(form *out, const unsigned char *b, size_t count)
{
    static const unsigned char tail[14] = { 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71 };
    if (count < FORMAT) return rg_fail(RG_EFORMAT, "a format of %zu bytes; %d are needed", count, FORMAT);
    *out = (form){ .kind = little(b, 2),
                   .channels = little(b + 2, 2),
                   .rate = little(b + 4, 4),
                   .block = little(b + 12, 2),
                   .bits = little(b + 14, 2) };
    if (out->kind != EXTENSIBLE) return RG_OK;
    if (count < LONG_FORMAT)
        return rg_fail(RG_EFORMAT, "an extensible format of %zu bytes; %d are needed", count, LONG_FORMAT);
    if (memcmp(b + 26, tail, sizeof tail) != 0)
        return rg_fail(RG_EFORMAT, "an extensible format of a kind that is not read: convert it to PCM");
    out->kind = little(b + 24, 2);
    return RG_OK;
}

static rg_status check_form(const form *f)
{
    const bool whole = f->kind == PCM && (f->bits == 8 || f->bits == 16 || f->bits == 24 || f->bits == 32),
               real = f->kind == FLOAT && (f->bits == 32 || f->bits == 64);
    if (f->kind != PCM && f->kind != FLOAT)
        return rg_fail(RG_EFORMAT, "samples of kind %u; 1 (PCM) and 3 (float) are read: convert the file", f->kind);
    if (!whole && !real)
        return rg_fail(RG_EFORMAT, "%s samples of %u bits; PCM of 8, 16, 24, 32 and float of 32, 64 are read",
                       f->kind == PCM ? "PCM" : "float", f->bits);
    if (!f->channels || f->channels > RG_SOUND_MOST_CHANNELS)
        return rg_fail(RG_EFORMAT, "%u channels; 1 to %d are read", f->channels, RG_SOUND_MOST_CHANNELS);
    if (f->rate < RG_SOUND_LEAST_RATE || f->rate > RG_SOUND_MOST_RATE)
        return rg_fail(RG_EFORMAT, "%zu samples a second; %d to %d are read", f->rate, RG_SOUND_LEAST_RATE,
                       RG_SOUND_MOST_RATE);
    if (f->block != (size_t)f->channels * (f->bits / 8))
        return rg_fail(RG_EFORMAT, "%zu bytes for a sample of %u channels of %u bits", f->block, f->channels, f->bits);
    return RG_OK;
}

static double to_real(const unsigned char *b, unsigned kind, unsigned bits)
{
    if (kind == FLOAT && bits == 32) {
        const uint32_t word = little(b, 4);
        float          x;
        memcpy(&x, &word, sizeof x);
        return (double)x;
    }
    if (kind == FLOAT) {
        const uint64_t word = (uint64_t)little(b + 4, 4) << 32 | little(b, 4);
        double         x;
        memcpy(&x, &word, sizeof x);
        return x;
    }
    if (bits == 8) return ((double)b[0] - 128) / 128;
    const uint32_t word = little(b, bits / 8) << (32 - bits); /* the sign is its highest bit */
    return (word & 0x80000000u ? (double)word - 4294967296.0 : (double)word) / 2147483648.0;
}

static rg_status read_samples(rg_sound *out, const form *f, const unsigned char *b, size_t count)
{
    const size_t samples = count / f->block, each = f->bits / 8;
    rg_sound     s = { 0 };
    if (count % f->block)
        return rg_fail(RG_EFORMAT, "%zu bytes of data are no whole number of samples of %zu bytes: copy the file again",
                       count, f->block);
    if (!samples) return rg_fail(RG_EFORMAT, "no samples: the data are 0 bytes");
    RG_TRY(rg_sound_new(&s, f->rate, samples));
    for (size_t i = 0; i < samples; i++) {
        double sum = 0;
        for (unsigned c = 0; c < f->channels; c++) sum += to_real(b + i * f->block + c * each, f->kind, f->bits);
        s.samples[i] = (float)(sum / f->channels);
        if (isfinite(s.samples[i])) continue;
        rg_sound_free(&s);
        return rg_fail(RG_EFORMAT, "sample %zu is not a finite number", i + 1);
    }
    *out = s;
    return RG_OK;
}

static rg_status read_chunks(rg_sound *out, const unsigned char *b, size_t count)
{
    form f = { 0 };
    bool has_form = false;
    for (size_t at = HEAD; count - at >= CHUNK;) {
        const size_t bytes = little(b + at + 4, 4), left = count - at - CHUNK;
        const bool   format = memcmp(b + at, "fmt ", 4) == 0, data = memcmp(b + at, "data", 4) == 0;
        if (bytes > left)
            return rg_fail(RG_EFORMAT,
                           "a chunk at byte %zu says that %zu bytes follow; %zu are there: copy or convert the file",
                           at, bytes, left);
        if (data && !has_form) return rg_fail(RG_EFORMAT, "the samples stand before their format");
        if (data) return read_samples(out, &f, b + at + CHUNK, bytes);
        if (format) {
            RG_TRY(read_form(&f, b + at + CHUNK, bytes));
            RG_TRY(check_form(&f));
            has_form = true;
        }
        at += CHUNK + bytes + (bytes % 2 && bytes < left);
    }
    return rg_fail(RG_EFORMAT, "a WAV file of %zu bytes without %s", count, has_form ? "samples" : "a format");
}

rg_status rg_sound_decode(rg_sound *out, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    if (count >= 4 && (memcmp(b, "RIFX", 4) == 0 || memcmp(b, "RF64", 4) == 0))
        return rg_fail(RG_EFORMAT, "a %.4s file; RIFF is read: convert it", (const char *)b);
    if (count < HEAD || memcmp(b, "RIFF", 4) != 0 || memcmp(b + 8, "WAVE", 4) != 0)
        return rg_fail(RG_EFORMAT, "no WAV file: it does not begin with RIFF....WAVE");
    if (count > RG_SOUND_MOST_BYTES)
        return rg_fail(RG_ELIMIT, "a WAV file of %zu bytes; at most %d are read", count, RG_SOUND_MOST_BYTES);
    if (little(b + 4, 4) > count - 8)
        return rg_fail(RG_EFORMAT, "its header says that %zu bytes follow; %zu are there: copy or convert the file",
                       (size_t)little(b + 4, 4), count - 8);
    return read_chunks(out, b, count);
}

rg_status rg_sound_load(rg_sound *out, const char *path)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_reader__read_file(&bytes, path, RG_SOUND_MOST_BYTES);
    if (status == RG_OK) {
        status = rg_sound_decode(out, rg_text_c(&bytes), bytes.length);
        if (status != RG_OK) status = rg_fail_in(status, "%s: ", path);
    }
    rg_text_free(&bytes);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- writing */

static rg_status add_little(rg_text *out, uint32_t value, size_t bytes)
{
    char b[4];
    for (size_t i = 0; i < bytes; i++) b[i] = (char)(value >> (8 * i) & 255);
    return rg_text_add(out, b, bytes);
}

static rg_status add_head(rg_text *out, const rg_sound *s)
{
    const uint32_t data = (uint32_t)(2 * s->count), rate = (uint32_t)s->rate;
    RG_TRY(rg_text_add(out, "RIFF", 4));
    RG_TRY(add_little(out, 36 + data, 4));
    RG_TRY(rg_text_add(out, "WAVEfmt ", 8));
    RG_TRY(add_little(out, FORMAT, 4));
    RG_TRY(add_little(out, PCM, 2));
    RG_TRY(add_little(out, 1, 2));
    RG_TRY(add_little(out, rate, 4));
    RG_TRY(add_little(out, 2 * rate, 4));
    RG_TRY(add_little(out, 2, 2));
    RG_TRY(add_little(out, 16, 2));
    RG_TRY(rg_text_add(out, "data", 4));
    return add_little(out, data, 4);
}

rg_status rg_sound_encode(rg_text *out, const rg_sound *s)
{
    if (s->count > RG_SOUND_MOST_BYTES / 2)
        return rg_fail(RG_ELIMIT, "%zu samples are too many for a WAV file", s->count);
    RG_TRY(add_head(out, s));
    for (size_t i = 0; i < s->count; i++) {
        const double x = fmin(1, fmax(-1, (double)s->samples[i]));
        RG_TRY(add_little(out, (uint32_t)(int32_t)lrint(fmin(32767, 32768 * x)), 2));
    }
    return RG_OK;
}

rg_status rg_sound_save(const char *path, const rg_sound *s)
{
    rg_text   bytes = { 0 };
    rg_status status = rg_sound_encode(&bytes, s);
    if (status == RG_OK) status = rg_file_replace(path, bytes.data, bytes.length);
    rg_text_free(&bytes);
    return status;
}
