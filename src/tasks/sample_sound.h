/* sample_sound.h - recordings as pictures of one size, and samples of such pictures as recordings.
 *
 *     v(m, t) = (r(t, m) - LOW) / (HIGH - LOW), cut to 0 .. 1        r: log-mel rows without normalisation, low bands below
 *
 * A recording is made as loud as every other (its largest sample is 0.9) and has `frames` frames: what is longer is cut,
 * what is shorter is followed by silence. */
#ifndef RG_TASKS_SAMPLE_SOUND_H
#define RG_TASKS_SAMPLE_SOUND_H

#include "tasks/heard.h"

typedef struct rg_sound_pictures {
    rg_heard heard;
    size_t   frames; /* across a picture; 0: pictures are pictures */
} rg_sound_pictures;

/* The field of a training; *reading wants its column. */
rg_status rg_sound_pictures_start(rg_sound_pictures *out, rg_field_spec *spec, rg_reader_config *reading,
                                  const rg_sound_options *o, size_t frames);
/* A sample of `pixels` (mels, frames) as a WAV file, phases by `rounds` rounds of Griffin and Lim. */
rg_status rg_sound_pictures_save(const char *path, const rg_heard *heard, const rg_real *pixels, size_t frames,
                                 size_t rounds);

#endif
