/* vocab.h - what the parts of the vocabulary share. */
#ifndef REGARD_DATA_VOCAB_H
#define REGARD_DATA_VOCAB_H

#include "data/text/sentencepiece.h"
#include "data/text/words.h"

/* Either a SentencePiece model (spm and its bytes) or a table of pieces. */
struct rg_vocab {
    rg_vocab_kind kind;
    rg_text_form  form;
    int32_t       unk, bos, eos;
    size_t        size;
    rg_spm       *spm;
    rg_text       model; /* SentencePiece's bytes */
    rg_words      pieces;
    uint64_t      checksum;
};

enum { RG_VOCAB_MAX_PIECES = 1 << 24, RG_VOCAB_MAX_PIECE_BYTES = 1 << 16 };

/* vocab.c: bytes of a file of any sort rg_vocab_load takes. */
rg_status rg_vocab__from_file_bytes(rg_vocab **out, const void *bytes, size_t count);

/* vocab_plain.c: our own words and characters. `text` is clean and squeezed, without U+2581. */
typedef rg_status rg_plain_sink(void *context, const char *piece, size_t bytes, size_t begin, size_t end);
rg_status rg_plain_cut(rg_vocab_kind kind, const char *text, size_t bytes, rg_plain_sink *sink, void *context);
rg_status rg_plain_join(rg_text *out, const rg_vocab *vocab, const int32_t *ids, size_t count, const char *const *instead);
rg_status rg_plain_train(rg_vocab *vocab, const rg_vocab_config *config, rg_vocab_feed *feed, void *context);
rg_status rg_plain_begin(rg_vocab *vocab); /* adds <unk> <s> </s> */
rg_status rg_plain_add(rg_vocab *vocab, const char *piece, size_t bytes);

/* The line as the plain kinds see it, in place of out's content. */
rg_status rg_plain_normalize(rg_text *out, rg_text_form form, const char *line, size_t bytes);

/* spm_check.c: look through a SentencePiece model before SentencePiece does, and learn its kind. */
rg_status rg_spm_check(rg_vocab_kind *out_kind, const void *model, size_t bytes);

#define RG_BLANK_MARK "\xE2\x96\x81" /* U+2581 */

#endif
