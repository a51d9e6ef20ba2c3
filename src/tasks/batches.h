/* batches.h - what tasks on examples share: cutting a batch into shares, where the data stand in a checkpoint,
 * vocabularies in a model file. */
#ifndef RG_TASKS_BATCHES_H
#define RG_TASKS_BATCHES_H

#include "regard/supervised.h"

/* At most `threads` shares, none of them empty. They borrow from batch and room. */
rg_status rg_cut_shares(rg_shares *out, rg_share_room *room, const rg_batch *batch, int threads);
void      rg_share_room_free(rg_share_room *room);

/* "corpus lines 3 17 20": where the examples of a share stand. */
void rg_blame_lines(const rg_run *run, const void *share, char *out, size_t room);

/* Where the data stand, and what they are. Data of another checksum are RG_EMATCH. */
rg_status rg_put_place(rg_state *state, rg_place place, uint64_t checksum);
rg_status rg_get_place(rg_place *out, const rg_state *state, uint64_t checksum);
/* The same of a second store, under its own name. */
rg_status rg_put_place_of(rg_state *state, const char *store, rg_place place, uint64_t checksum);
rg_status rg_get_place_of(rg_place *out, const rg_state *state, const char *store, uint64_t checksum);

/* beside.c: examples without labels beside those of a training (--unlabelled, --target-sets), and a further column
 * of the training files. open: what the options ask for, after the training data. specs and reading are those of the
 * training data. */
rg_status rg_beside_open(rg_run *run, const rg_set_options *sets, const rg_reader_config *reading,
                         const rg_field_spec *specs, size_t fields);
rg_status rg_beside_next(rg_run *run, rg_shares *shares); /* gives every share its part of the next batch */
rg_status rg_beside_tell(const rg_run *run, rg_state *state);
rg_status rg_beside_seek(rg_run *run, const rg_state *state);
void      rg_beside_close(rg_run *run);
bool      rg_set_has_labels(const char *path, const rg_reader_config *reading); /* can all wanted columns be read? */
/* The reading of the training file with the column run->column behind the others, and its field; *text is freed by
 * the caller behind it. */
rg_status rg_beside_column(rg_reader_config *out, rg_text *text, const char **wanted, rg_field_spec *spec, rg_run *run,
                           const char *path, const rg_reader_config *reading);

rg_status rg_put_vocab(rg_state *state, const char *key, const rg_vocab *vocab);
rg_status rg_get_vocab(rg_vocab **out, const rg_state *state, const char *key);

/* Options of a task as YAML in the model file, and back into values that rg_options_init has filled: of a file that is
 * wrong RG_EFORMAT, for the command is not. */
rg_status rg_put_settings(rg_state *state, const char *key, const rg_option *rows, const void *values);
rg_status rg_get_settings(void *values, const rg_state *state, const char *key, const rg_option *rows);

/* The vocabulary in a file of --vocabs: of rg_vocab_load, or of a model file under `key`. */
bool      rg_is_model_file(const char *path);
rg_status rg_load_vocab(rg_vocab **out, const char *path, const char *key);

/* What was wrong with the lines that were read; they were answered all the same. */
rg_status rg_note_line_faults(const rg_sink *sink, const rg_lines *lines);

/* Each text that is asked about: the words of the question as one, or else the lines of its input. Numbers are from 1.
 */
typedef rg_status rg_each_text(void *context, const char *text, size_t bytes, uint64_t number);
bool              rg_always_texts(const rg_model *model); /* `texts` of tasks that read nothing else */
rg_status         rg_question_texts(const rg_question *question, rg_each_text *each, void *context);

#endif
