/* import.h - models that other programs trained, as models of ours.
 *
 * Recognised by content: Hugging Face MarianMT and BART (safetensors or PyTorch archives, with config.json and the
 * vocabulary beside them), Marian's .npz and .bin (Firefox's translators), CTranslate2's model.bin, pytorch-GAT's .pth,
 * Hugging Face GPT-2, MobileNet v2 and SqueezeNet 1.1 with torchvision's names. Nothing in a file is run. */
#ifndef REGARD_IMPORT_H
#define REGARD_IMPORT_H

#include "regard/model.h"

RG_API_BEGIN

/* What a file does not say; but for `from`, of networks for pictures. Strings may be NULL or "", for what is usual
 * for the form of the file. */
typedef struct rg_import_options {
    const char *from;    /* the architecture it must be of, one of rg_import_name; NULL: any                                */
    const char *classes; /* file with the name of each class, one per line, in the order of the outputs; none: their numbers */
    const char *pixels;  /* a rule of rg_pixels_as: "signed", "imagenet", "caffe"                                          */
    const char *padding; /* of windows that move by two: "same" (TensorFlow), "even" (PyTorch)                              */
    const char *pooling; /* incomplete windows: "up" counts them, "down" drops them                                        */
    size_t      size;    /* pixels of a side that pictures are brought to; 0: 224                                          */
} rg_import_options;

/* `path` is the model file, or the folder that holds it. *out is the caller's: rg_model_save writes it,
 * rg_model_free frees it. `report` (may be NULL) gets a line about what was found and the settings that follow from
 * it. RG_EFORMAT: the file is broken or of no known format; RG_EMATCH: it computes something that no system here
 * does, by name. */
rg_status rg_import(rg_model **out, rg_text *report, const char *path);
/* The same for a file that must be of the architecture `from`, one of rg_import_name; NULL: any. */
rg_status rg_import_from(rg_model **out, rg_text *report, const char *path, const char *from);
/* The same with options; NULL: none. */
rg_status rg_import_with(rg_model **out, rg_text *report, const char *path, const rg_import_options *options);

/* What is known, in the order it is tried; NULL: no more. */
const char *rg_import_name(size_t index);
const char *rg_import_summary(size_t index);

RG_API_END
#endif
