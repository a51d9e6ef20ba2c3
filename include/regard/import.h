/* import.h - models that other programs trained, as models of ours.
 *
 * Recognised by content: Hugging Face MarianMT and BART (safetensors or PyTorch archives, with config.json and the vocabulary beside them),
 * Marian's .npz, CTranslate2's model.bin, pytorch-GAT's .pth, Hugging Face GPT-2. Nothing in a file is run. */
#ifndef REGARD_IMPORT_H
#define REGARD_IMPORT_H

#include "regard/model.h"

RG_API_BEGIN

/* `path` is the model file, or the folder that holds it. *out is the caller's: rg_model_save writes it, rg_model_free frees it. `report` (may be
 * NULL) gets a line about what was found and the settings that follow from it. RG_EFORMAT: the file is broken or of no known format; RG_EMATCH:
 * it computes something that no system here does, by name. */
rg_status rg_import(rg_model **out, rg_text *report, const char *path);
/* The same for a file that must be of the architecture `from`, one of rg_import_name; NULL: any. */
rg_status rg_import_from(rg_model **out, rg_text *report, const char *path, const char *from);

/* What is known, in the order it is tried; NULL: no more. */
const char *rg_import_name(size_t index);
const char *rg_import_summary(size_t index);

RG_API_END
#endif
