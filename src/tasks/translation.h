/* translation.h - text -> text: its settings, and what a trained translator is asked. */
#ifndef RG_TASKS_TRANSLATION_H
#define RG_TASKS_TRANSLATION_H

#include "regard/task.h"
#include "regard/translate.h"

/* Names are Marian's where Marian has one. */
typedef struct rg_translation_options {
    rg_list train_sets, valid_sets, vocabs, dim_vocabs, alphas, metrics, script_args, user_symbols;
    char   *script, *translation_output, *spm_options;
    int64_t spm_lines, spm_mib;
    char   *vocab_kind, *form, *source_lang, *target_lang, *format, *columns, *header, *guided;
    bool    joint, tsv, crop;
    int64_t vocab_min_count, max_length, mini_batch, mini_batch_words, maxi_batch, workspace, corpus_memory;
    char   *cache;
    int64_t beam, samples;
    double  normalize, max_length_factor, guided_weight;
    int64_t guided_layer, guided_head;
    bool    guided_shift;
} rg_translation_options;

extern const rg_option rg_translation_rows[];
/* Made news with their headlines in a folder, and the settings that learn them: small of a demo. */
rg_status rg_translation_headlines(rg_text *yaml, const char *folder, rg_small_size size);
/* Are the sets tables, one file each, instead of two files of lines? */
bool rg_translation_is_table(const rg_translation_options *o);
struct rg_reader_config;
struct rg_reader_config rg_translation_table(const rg_translation_options *o); /* of source and target; borrows from o */

/* A translator is what a model of this task needs beside weights (translator.c). */
rg_status rg_translator_init(rg_translator *t, rg_vocab *source, rg_vocab *target); /* takes them over, also on failure; target NULL: joint */
rg_status rg_translator_adopt(void *assets, rg_sizes *sizes, const rg_state *state);
rg_status rg_translator_describe_assets(rg_state *state, const void *assets);
void      rg_translator_drop(void *assets);

/* translated.c: answer k of a line as a batch of one pair, as if it were the reference. Nothing is called for an answer
 * without tokens. */
typedef rg_status rg_translated_pass(void *context, const rg_batch *batch, size_t k);
rg_status rg_translated_forced(const rg_translator *t, const rg_translated *r, size_t k, rg_translated_pass *pass,
                               void *context);

/* translated_gates.c: what the gates of encoder and decoder did, word by word, by a pass of the best answer as if it
 * were the reference. The decoder's column of a word is the step that writes it. RG_EMATCH: the system has no gates.
 * RG_ELIMIT: more than RG_GATES_SHOWN tokens. */
enum { RG_GATES_SHOWN = 256 };
rg_status rg_record_of_gates(rg_record **out, const rg_translator *translator, const rg_translated *translated);

/* extract.c */
bool      rg_extracts(const double *weights); /* is one of them not 0? */
rg_status rg_extract_put(rg_state *state, const double *weights);
rg_status rg_extract_get(double *weights, const rg_state *state); /* 0 where the file has none */

/* translation_answer.c */
typedef struct rg_translation_asking {
    int64_t beam, n_best, max_length;
    bool    gates;
} rg_translation_asking;
extern const rg_option rg_translation_asking_rows[];
rg_status rg_translation_answer(const rg_model *model, const rg_question *question);
rg_status rg_translation_influence(rg_influence *out, const rg_model *model, const rg_question *question);

#endif
