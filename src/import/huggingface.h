/* huggingface.h - what Hugging Face's models share: names of arrays of the encoder-decoder models (BART, MarianMT,
 * mBART), settings of config.json, vocabularies. */
#ifndef RG_IMPORT_HUGGINGFACE_H
#define RG_IMPORT_HUGGINGFACE_H

#include "import/foreign.h"

extern const rg_import_row rg_hf_rows[]; /* of the encoder-decoder models */
extern const rg_import_row rg_gpt2_rows[], rg_bert_rows[];

bool rg_hf_is(const rg_foreign *foreign, const char *model_type); /* config.json says so */

/* Settings, rows and names that are not needed; positions, as YAML, are the caller's to say. */
rg_status rg_hf_plan(rg_import_plan *plan, const rg_foreign *foreign, const char *positions);

/* Pieces of vocab.json; RG_EMATCH when it is not there or has not `size` pieces. */
rg_status rg_hf_pieces(rg_line_list *out, const rg_foreign *foreign, size_t size);

/* Byte-level BPE from vocab.json and merges.txt; bos, eos and begin as `ids` says, `unknown` (NULL: there is none)
 * by its name. */
rg_status rg_hf_bytes(rg_vocab **out, const rg_foreign *foreign, size_t size, const char *unknown,
                      const rg_vocab_table *ids);

/* The feed-forward network's activation that config.json names under `key`, by our name; `other` where it names
 * none. */
rg_status rg_hf_activation(const char **out, const json_t *config, const char *key, const char *other);
const char *rg_hf_activation_name(const char *ours); /* their name of ours */

#endif
