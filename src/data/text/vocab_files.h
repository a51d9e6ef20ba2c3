/* vocab_files.h - the vocabulary files that come with models of other programs, as lists of pieces in order of ids. */
#ifndef REGARD_DATA_VOCAB_FILES_H
#define REGARD_DATA_VOCAB_FILES_H

#include "regard/text.h"

/* vocab.json: {"piece": id, ...}. Every id from 0 on has one piece, or RG_EFORMAT. Also after a failure
 * rg_line_list_free(out). */
rg_status rg_pieces_of_json(rg_line_list *out, const char *bytes, size_t count);

/* Marian's vocab.yml, `piece: id` on each line; as above. */
rg_status rg_pieces_of_yaml(rg_line_list *out, const char *bytes, size_t count);

/* vocab.txt: one piece a line, the first is 0. Line ends may be CR LF. */
rg_status rg_pieces_of_lines(rg_line_list *out, const char *bytes, size_t count);

/* The id of a piece, -1: it is not there. */
int32_t rg_pieces_find(const rg_line_list *pieces, const char *piece);

/* One more piece, copied. */
rg_status rg_pieces_add(rg_line_list *pieces, const char *piece, size_t bytes);

#endif
