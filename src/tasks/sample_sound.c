/* sample_sound.c - see sample_sound.h. */
#include "tasks/sample_sound.h"

#include <math.h>
#include <string.h>

static const double LOW = -5.5, HIGH = 6; /* 50 dB below the loudest bands of recordings whose largest sample is 0.9 */

static void level(rg_sound *s)
{
    double most = 1e-6;
    for (size_t i = 0; i < s->count; i++) most = fmax(most, fabs((double)s->samples[i]));
    for (size_t i = 0; i < s->count; i++) s->samples[i] = (float)(0.9 * (double)s->samples[i] / most);
}

static unsigned char to_byte(float r) { return (unsigned char)lrint(255 * fmin(1, fmax(0, ((double)r - LOW) / (HIGH - LOW)))); }

static rg_status decode(rg_text *out, size_t *height, size_t *width, size_t channels, const rg_cell *cell, void *context)
{
    const rg_sound_pictures *p = context;
    const size_t             M = rg_frames_config_of(p->heard.frames)->mels;
    rg_sound                 s = { 0 };
    rg_text                  rows = { 0 };
    if (channels != 1) return rg_fail(RG_ESHAPE, "a recording of %zu channels", channels);
    RG_TRY(rg_sound_decode(&s, cell->bytes, cell->count));
    level(&s);
    rg_status    status = rg_frames_of(&rows, p->heard.frames, &s);
    const size_t T = rows.length / (M * sizeof(float));
    for (size_t i = 0; status == RG_OK && i < M * p->frames; i++) {
        const size_t m = M - 1 - i / p->frames, t = i % p->frames;
        float        r = (float)LOW;
        if (t < T) memcpy(&r, rows.data + (t * M + m) * sizeof r, sizeof r);
        const char byte = (char)to_byte(r);
        status = rg_text_add(out, &byte, 1);
    }
    *height = M, *width = p->frames;
    rg_sound_free(&s);
    rg_text_free(&rows);
    return status;
}

rg_status rg_sound_pictures_start(rg_sound_pictures *p, rg_field_spec *spec, rg_reader_config *reading,
                                  const rg_sound_options *o, size_t frames)
{
    static const char *const wanted[] = { "sound" };
    rg_sound_options         plain = *o;
    plain.norm = (char *)(uintptr_t)"none"; /* only read. NOLINT(performance-no-int-to-ptr) */
    plain.stack = 1;
    plain.range = 0;
    RG_TRY(rg_heard_start(&p->heard, spec, wanted[0], &plain, 0));
    if (o->augment[0]) return rg_fail(RG_EINVAL, "--sound-augment is for what is recognised, not for what is made");
    p->frames = frames;
    *spec = (rg_field_spec){ .name = wanted[0], .kind = RG_FIELD_PIXELS, .width = 1, .decode = decode, .context = p };
    reading->wanted = wanted;
    reading->wanted_count = 1;
    reading->file = wanted[0];
    return RG_OK;
}

rg_status rg_sound_pictures_save(const char *path, const rg_heard *h, const rg_real *pixels, size_t frames, size_t rounds)
{
    const size_t M = rg_frames_config_of(h->frames)->mels;
    float       *rows = rg_alloc_array(M * frames + 1, sizeof *rows);
    rg_sound     s = { 0 };
    if (!rows) return RG_ENOMEM;
    for (size_t t = 0; t < frames; t++)
        for (size_t m = 0; m < M; m++)
            rows[t * M + m] = (float)(LOW + (HIGH - LOW) * (double)pixels[(M - 1 - m) * frames + t]);
    rg_status status = rg_frames_invert(&s, h->frames, rows, frames, rounds, 1);
    if (status == RG_OK) level(&s);
    if (status == RG_OK) status = rg_sound_save(path, &s);
    rg_sound_free(&s);
    rg_free(rows);
    return status;
}
