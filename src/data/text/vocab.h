/* vocab.h - what the parts of the vocabulary share. */
#ifndef REGARD_DATA_VOCAB_H
#define REGARD_DATA_VOCAB_H

#include "data/text/sentencepiece.h"
#include "data/text/words.h"

/* How text becomes pieces of a table, and pieces text. `text` given to cut was made by prepare. */
typedef rg_status rg_piece_sink(void *context, const char *piece, size_t bytes, size_t begin, size_t end);
typedef struct rg_cutter {
    rg_vocab_kind kind;
    rg_status (*load)(rg_vocab *vocab); /* make ready what is in vocab->model; NULL: nothing to do */
    rg_status (*prepare)(rg_text *out, const rg_vocab *vocab, const char *line, size_t bytes); /* in place of out's content */
    rg_status (*cut)(const rg_vocab *vocab, const char *text, size_t bytes, rg_piece_sink *sink, void *context);
    rg_status (*join)(rg_text *out, const rg_vocab *vocab, const int32_t *ids, size_t count,
                      const char *const *instead);
    rg_status (*normalize)(rg_text *out, const rg_vocab *vocab, const char *text, size_t bytes); /* what spans count in; NULL: text itself */
} rg_cutter;

/* The cutter of a kind that has a table of pieces; NULL: SentencePiece does it all. */
const rg_cutter *rg_cutter_of(rg_vocab_kind kind);
extern const rg_cutter rg_cutter_words, rg_cutter_tokens, rg_cutter_characters, rg_cutter_pieces, rg_cutter_bytes,
    rg_cutter_wordpiece;

/* Either a SentencePiece model that numbers its own pieces, or a table of pieces and a cutter. */
struct rg_vocab {
    rg_vocab_kind    kind;
    rg_text_form     form;
    const rg_cutter *cutter;
    int32_t          unk, bos, eos, begin;
    size_t           size;
    rg_spm          *spm;
    rg_text          model; /* SentencePiece's bytes, or merges */
    rg_words         pieces;
    bool             foreign; /* another program's table: all of it is stored, with the ids of its signs */
    rg_words         merges;  /* BYTES: pairs of ids, 8 bytes each, in order of rank */
    int32_t         *merged;  /* BYTES: what each makes */
    uint64_t         checksum;
};

enum { RG_VOCAB_MAX_PIECES = 1 << 24, RG_VOCAB_MAX_PIECE_BYTES = 1 << 16 };

/* vocab.c: bytes of a file of any sort rg_vocab_load takes. */
rg_status rg_vocab__from_file_bytes(rg_vocab **out, const void *bytes, size_t count);

/* vocab_plain.c: our own words and characters. `text` is clean and squeezed, without U+2581. */
rg_status rg_plain_train(rg_vocab *vocab, const rg_vocab_config *config, rg_vocab_feed *feed, void *context);
rg_status rg_plain_begin(rg_vocab *vocab); /* adds <unk> <s> </s> */
rg_status rg_plain_add(rg_vocab *vocab, const char *piece, size_t bytes);

/* The line as the plain kinds see it, in place of out's content. */
rg_status rg_plain_normalize(rg_text *out, rg_text_form form, const char *line, size_t bytes);

/* vocab_table.c: pieces of another program's table, one line each, a blank line, then what the cutter needs. */
rg_status rg_table__write(rg_text *out, const rg_vocab *vocab);
rg_status rg_table__read(rg_vocab *vocab, const char *bytes, size_t count); /* kind, form and signs are set */
rg_status rg_table__fill(rg_vocab *vocab, const rg_vocab_table *table);

/* spm_check.c: look through a SentencePiece model before SentencePiece does, and learn its kind. */
rg_status rg_spm_check(rg_vocab_kind *out_kind, const void *model, size_t bytes);

#define RG_BLANK_MARK "\xE2\x96\x81" /* U+2581 */

#endif
