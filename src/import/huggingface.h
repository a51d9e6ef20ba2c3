/* huggingface.h - what Hugging Face's encoder-decoder models (BART, MarianMT, mBART) share: names of arrays and settings of config.json. */
#ifndef RG_IMPORT_HUGGINGFACE_H
#define RG_IMPORT_HUGGINGFACE_H

#include "import/foreign.h"

bool rg_hf_is(const rg_foreign *foreign, const char *model_type); /* config.json says so */

/* Settings, rows and names that are not needed; positions, as YAML, are the caller's to say. */
rg_status rg_hf_plan(rg_import_plan *plan, const rg_foreign *foreign, const char *positions);

/* Pieces of vocab.json; RG_EMATCH when it is not there or has not `size` pieces. */
rg_status rg_hf_pieces(rg_line_list *out, const rg_foreign *foreign, size_t size);

#endif
