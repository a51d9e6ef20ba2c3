/* frames.h - the tables of a configuration of log-mel rows. */
#ifndef REGARD_DATA_SOUND_FRAMES_H
#define REGARD_DATA_SOUND_FRAMES_H

#include "data/sound/sound.h"

struct rg_frames {
    rg_frames_config config;
    size_t           window, step, bins; /* samples; bins: frequencies 0 .. N/2 */
    rg_fourier       fourier;            /* of N numbers                        */
    double          *hann;               /* (window)                            */
    double          *filter;             /* (mels, bins)                        */
};

/* How many frames `samples` samples have. */
size_t rg_frames__count(const rg_frames *f, size_t samples);
/* The spectrum of the frame that begins at sample `at`: what lies beyond the end is 0. re and im have N numbers. */
void rg_frames__spectrum(double *re, double *im, const rg_frames *f, const rg_sound *s, size_t at);

enum { RG_FRAMES_FLOOR = 100000000 }; /* log max(E, 1 / floor) */

#endif
