/* export_huggingface.h - kinds of models that are written as folders of Hugging Face: config.json, model.safetensors
 * and the tokeniser's files. */
#ifndef RG_IMPORT_EXPORT_HUGGINGFACE_H
#define RG_IMPORT_EXPORT_HUGGINGFACE_H

#include "import/export.h"
#include "import/huggingface.h"

typedef struct rg_hf_kind {
    const char           *whose, *type; /* for people; model_type of config.json */
    const rg_export_rule *rules;
    const rg_import_row  *rows;
    bool (*config)(json_t *out, const rg_exporting *e); /* all but model_type; false: no memory */
    /* Its files where `write` says so, and what of it stands in config.json; before anything is written it is asked
     * without. */
    rg_status (*vocabulary)(const rg_exporting *e, json_t *config, bool write);
} rg_hf_kind;

extern const rg_hf_kind rg_hf_kind_gpt2, rg_hf_kind_bert; /* export_language.c */

/* Keys of config.json with their values; false: no memory. */
typedef struct rg_hf_number {
    const char *key;
    int64_t     value;
} rg_hf_number;
bool rg_hf_put_numbers(json_t *out, const rg_hf_number *numbers, size_t count);
bool rg_hf_put_real(json_t *out, const char *key, const rg_exporting *e, const char *setting);
bool rg_hf_put_text(json_t *out, const char *key, const char *text);
bool rg_hf_put_flag(json_t *out, const char *key, bool value);
/* Architecture and type of numbers, and the activation under `key`. */
bool rg_hf_put_kind(json_t *out, const rg_exporting *e, const char *class, const char *key);

/* Settings of the model. */
int64_t rg_hf_integer(const rg_exporting *e, const char *setting);
bool    rg_hf_flag(const rg_exporting *e, const char *setting);

rg_status rg_hf_write_json(const rg_exporting *e, const char *name, const json_t *json);
/* vocab.json and, of byte-level BPE, merges.txt. */
rg_status rg_hf_write_pieces(const rg_exporting *e, const rg_vocab *vocab);
rg_status rg_hf_write_bytes(const rg_exporting *e, const rg_vocab *vocab);

#endif
