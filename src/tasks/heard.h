/* heard.h - tasks that read recordings: options, the settings a model file keeps, the field, and the spectrogram of a
 * record. */
#ifndef RG_TASKS_HEARD_H
#define RG_TASKS_HEARD_H

#include "regard/record.h"
#include "regard/sound.h"
#include "regard/supervised.h"

typedef struct rg_sound_options {
    int64_t rate, mels, stack;
    double  window, step, low, high, emphasis, range;
    char   *norm, *augment;
} rg_sound_options;

/* Rows for a member `sound` of a task's options. */
#define RG_SOUND_ROWS(type, sound)                                                                                          \
    { RG_OPTION_INT, "sound-rate", offsetof(type, sound.rate), "8000",                                                      \
      "samples a second of recordings; files of other rates are resampled", 0, "[1000,192000]", NULL },                     \
    { RG_OPTION_INT, "sound-mels", offsetof(type, sound.mels), "40", "bands of a frame", 0, "[1,256]", NULL },              \
    { RG_OPTION_REAL, "sound-window", offsetof(type, sound.window), "25", "milliseconds of a frame", 0, "[1,1000]", NULL }, \
    { RG_OPTION_REAL, "sound-step", offsetof(type, sound.step), "10", "milliseconds from frame to frame", 0, "[1,1000]",    \
      NULL },                                                                                                               \
    { RG_OPTION_REAL, "sound-low", offsetof(type, sound.low), "0", "Hz where the bands begin", 0, "[0,96000]", NULL },      \
    { RG_OPTION_REAL, "sound-high", offsetof(type, sound.high), "0", "Hz where they end; 0: half the rate", 0, "[0,96000]", \
      NULL },                                                                                                               \
    { RG_OPTION_REAL, "sound-emphasis", offsetof(type, sound.emphasis), "0.97",                                             \
      "of high frequencies: x(n) - E x(n-1)", 0, "[0,1)", NULL },                                                           \
    { RG_OPTION_REAL, "sound-range", offsetof(type, sound.range), "50",                                                     \
      "dB below the loudest band of a recording that are heard; 0: all", 0, "[0,200]", NULL },                              \
    { RG_OPTION_INT, "sound-stack", offsetof(type, sound.stack), "1", "frames side by side in a row", 0, "[1,32]", NULL },  \
    { RG_OPTION_STRING, "sound-norm", offsetof(type, sound.norm), "mean",                                                   \
      "taken away per recording: nothing, one mean, the mean of each band, also its deviation", 0,                          \
      "none|level|mean|variance", NULL },                                                                                   \
    { RG_OPTION_STRING, "sound-augment", offsetof(type, sound.augment), "",                                                 \
      "change training recordings in every epoch: warp:0.1 stretch:0.2 noise:0.1 bands:6 frames:8 (docs/speech.md)", 0,     \
      NULL, NULL }

/* What a model that reads recordings has. All zero: it reads none. */
typedef struct rg_heard {
    char            *settings; /* as the model file has them */
    rg_frames       *frames;
    rg_frames_change change; /* of training rows */
} rg_heard;

/* From the options of a training; the field, named `name`. */
rg_status rg_heard_start(rg_heard *out, rg_field_spec *spec, const char *name, const rg_sound_options *o, uint64_t seed);
/* From `settings`, which a model file had. RG_EFORMAT. */
rg_status rg_heard_adopt(rg_heard *heard);
void      rg_heard_drop(rg_heard *heard); /* but for the settings, which are an asset */
rg_field_spec rg_heard_spec(const rg_heard *heard, const char *name);

/* Where the files of a table's column are: --pictures, else its folder. Folders and archives are themselves: NULL. A new
 * string. */
rg_status rg_heard_files(char **out, const char *path, const rg_set_options *sets);

/* Add the rows that were asked about as labels `name`: a label per row, with its second, and the spectrogram behind
 * them. heard NULL: numbers that are no recording. */
rg_status rg_heard_add_rows(rg_record *record, const char *name, const rg_heard *heard, const rg_asked *asked);

#endif
