/* speak.h - a small synthesiser of spoken digits: sounds of English with three formants each. */
#ifndef REGARD_DATA_MADE_SPEAK_H
#define REGARD_DATA_MADE_SPEAK_H

#include "regard/sound.h"

/* Whoever speaks, and how. */
typedef struct rg_voice {
    double pitch;   /* Hz                                              */
    double tract;   /* formants are multiplied with it                 */
    double pace;    /* durations are                                   */
    double breath;  /* noise beside the voice, 0 .. 1                  */
    double loud;    /* largest sample of a digit                       */
} rg_voice;

/* The sound of digit 0 .. 9 from sample *at on, which is moved behind it; what does not fit is left out. */
void rg_speak__digit(rg_sound *to, size_t *at, int digit, const rg_voice *voice, rg_random *random);
/* How many samples a digit has. */
size_t rg_speak__length(int digit, const rg_voice *voice, size_t rate);

#endif
