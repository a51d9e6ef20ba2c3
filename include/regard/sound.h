/* sound.h - recordings: WAV files to samples and back, another sampling rate, and rows of log-mel numbers.
 *
 *   bytes of a file --rg_sound_decode--> samples --rg_sound_resample--> samples of one rate --rg_frames_of--> rows of a field
 *
 *   WAV    PCM of 8, 16, 24 and 32 bits, float of 32 and 64, also as WAVE_FORMAT_EXTENSIBLE; several channels are
 *          mixed to one; chunks that are not needed are passed over
 *
 * Sizes in a file are checked against its bytes before anything is read. Samples are -1 .. 1 (float files may hold
 * larger ones). */
#ifndef REGARD_SOUND_H
#define REGARD_SOUND_H

#include "regard/examples.h"

RG_API_BEGIN

enum {
    RG_SOUND_MOST_CHANNELS = 16,
    RG_SOUND_LEAST_RATE = 1000,
    RG_SOUND_MOST_RATE = 192000,
    RG_SOUND_MOST_BYTES = 512 << 20 /* of a file */
};

/* One channel. All zero is no sound. The samples are the owner's: rg_sound_free. */
typedef struct rg_sound {
    size_t rate, count; /* samples of a second, samples */
    float *samples;
} rg_sound;

rg_status rg_sound_new(rg_sound *out, size_t rate, size_t count); /* silence */
void      rg_sound_free(rg_sound *sound);                         /* and make it no sound */

/* In what follows *out is a sound of its own, never the one that is read; on failure it is unchanged. */

/* A WAV file. RG_EFORMAT: none, damaged, cut short, of a kind that is not read; RG_ELIMIT: too large. Messages say
 * what is wrong, with its numbers, without the name of the file. */
rg_status rg_sound_decode(rg_sound *out, const void *bytes, size_t count);
/* Append the sound as a WAV file of 16 bits; what is outside -1 .. 1 is cut. The same sound gives the same bytes. */
rg_status rg_sound_encode(rg_text *out, const rg_sound *sound);
rg_status rg_sound_load(rg_sound *out, const char *path); /* messages name the file */
rg_status rg_sound_save(const char *path, const rg_sound *sound);

/* The same sound at another rate by a windowed sinc: what lies above half the lower of both rates is taken away. */
rg_status rg_sound_resample(rg_sound *out, const rg_sound *sound, size_t rate);

/* --------------------------------------------------------------------------------------------------------- frames */

/* What of a recording is taken away before a model sees it, over all its frames. */
typedef enum rg_frames_norm {
    RG_FRAMES_RAW,      /* nothing                                                     */
    RG_FRAMES_LEVEL,    /* the mean of all numbers: how loud it is                     */
    RG_FRAMES_MEAN,     /* the mean of each band: also the colour of microphone and room */
    RG_FRAMES_VARIANCE, /* the mean of each band, and its deviation becomes 1          */
    RG_FRAMES_NORMS
} rg_frames_norm;
const char *rg_frames_norm_name(rg_frames_norm norm); /* "none" "level" "mean" "variance" */

/* How samples become rows: see src/data/sound/frames.c for the formulas. */
typedef struct rg_frames_config {
    size_t         rate;         /* samples of a second; files of other rates are brought to it       */
    size_t         mels;         /* bands                                                             */
    double         window, step; /* milliseconds                                                      */
    double         low, high;    /* Hz: where the bands begin and end; high 0: half the rate          */
    double         emphasis;     /* x(n) - emphasis x(n-1) is what is looked at: high bands are as loud as low ones; 0: x   */
    double         range;        /* dB: what is further below the loudest band of a recording is raised to it; 0: no limit */
    size_t         stack;        /* so many frames side by side make one row                          */
    rg_frames_norm norm;
} rg_frames_config;
#define RG_FRAMES_CONFIG_DEFAULT { 8000, 40, 25, 10, 0, 0, 0.97, 50, 1, RG_FRAMES_MEAN }

/* RG_EINVAL names what is wrong: out of its range, bands without a frequency in them. */
rg_status rg_frames_check(const rg_frames_config *config);
size_t    rg_frames_width(const rg_frames_config *config); /* numbers of a row: mels * stack */
/* "rate 8000 mels 40 window 25 step 10 low 0 high 0 emphasis 0.97 range 50 stack 1 norm
 * mean", and back: for model files. */
rg_status rg_frames_config_print(rg_text *out, const rg_frames_config *config);
rg_status rg_frames_config_parse(rg_frames_config *out, const char *text);

/* Windows, filters and tables for one configuration. Any number of threads may use one. */
typedef struct rg_frames rg_frames;
rg_status rg_frames_new(rg_frames **out, const rg_frames_config *config);
void      rg_frames_free(rg_frames *frames);
const rg_frames_config *rg_frames_config_of(const rg_frames *frames);
/* Append rg_frames_width() floats per row to *out, any rate going in. A sound shorter than a window is one frame. */
rg_status rg_frames_of(rg_text *out, const rg_frames *frames, const rg_sound *sound);
/* A rg_decode_rows (examples.h): a WAV file as rows. The context is the rg_frames. */
rg_status rg_frames_decode(rg_text *out, size_t width, const rg_cell *cell, void *frames);

/* Changes of training rows, new in every epoch: what another speaker, another pace or noise would change. */
typedef struct rg_frames_change {
    double   warp;    /* bands are read at a place times exp(u), u in -warp .. warp: a longer or shorter vocal tract (Jaitly, Hinton 2013) */
    double   stretch; /* the same of time: slower or faster                                     */
    double   noise;   /* deviation of normal numbers that are added                             */
    size_t   bands, frames; /* up to so many neighbours become 0 (Park et al. 2019)             */
    size_t   mels;          /* of a frame                                                       */
    uint64_t seed;
} rg_frames_change;
/* "warp:0.1 stretch:0.2 noise:0.1 bands:6 frames:8", in any order; mels and seed stay. RG_EINVAL names the word. */
rg_status rg_frames_change_parse(rg_frames_change *out, const char *text);
/* A rg_change_rows (examples.h); the context is the rg_frames_change. Rows are whole frames, stacked or not. */
rg_status rg_frames_change_rows(rg_text *out, const float *rows, size_t count, size_t width, uint64_t epoch,
                                uint64_t line, void *change);

/* Samples whose log-mel rows are near `rows` (count, mels), which went through no normalisation and no stacking
 * (Griffin, Lim 1984): `rounds` rounds from phases that follow from the seed. */
rg_status rg_frames_invert(rg_sound *out, const rg_frames *frames, const float *rows, size_t count, size_t rounds,
                           uint64_t seed);

RG_API_END
#endif
