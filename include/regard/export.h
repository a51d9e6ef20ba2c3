/* export.h - models of ours as files of other programs: the inverse of import.h, by the same tables of names. */
#ifndef REGARD_EXPORT_H
#define REGARD_EXPORT_H

#include "regard/model.h"

RG_API_BEGIN

typedef struct rg_export_options {
    const char *to;        /* one of rg_export_name                                                                  */
    bool        int8;      /* Marian: whole numbers of 8 bits, with the scales of activations                        */
    bool        npz;       /* Marian: .npz instead of .bin                                                           */
    const char *calibrate; /* file of source lines that activation scales are measured on; needed for int8            */
    size_t      lines;     /* of it that are used; 0: 500                                                            */
    int         threads;   /* 0: 1                                                                                   */
} rg_export_options;

/* Write files into the folder `path`, which is made where it is not there ("sentencepiece": or one file, where path
 * ends in .model or .spm). `report` (may be NULL) gets a line per file. RG_EMATCH names what the other program has no place
 * for; then nothing is written. */
rg_status rg_export(rg_text *report, const rg_model *model, const char *path, const rg_export_options *options);

/* What can be written; NULL: no more. */
const char *rg_export_name(size_t index);
const char *rg_export_summary(size_t index);

RG_API_END
#endif
