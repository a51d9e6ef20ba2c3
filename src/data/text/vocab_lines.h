/* vocab_lines.h - the lines a vocabulary is learned from: all of them, or a sample where there are too many. */
#ifndef REGARD_DATA_VOCAB_LINES_H
#define REGARD_DATA_VOCAB_LINES_H

#include "regard/text.h"

/* Lines that can be gone through twice, first to count them. */
typedef struct rg_vocab_lines {
    rg_vocab_feed *next;
    rg_status (*skip)(bool *out_more, size_t *out_bytes, void *context); /* past a line without cleaning it */
    void (*rewind)(void *context);
    void *context;
} rg_vocab_lines;

/* rg_vocab_train from all lines when SentencePiece's kinds find no more of them than config->max_lines and
 * config->max_bytes, and for the plain kinds; otherwise from each line with the same probability, so that both limits
 * are expected to be kept. Which lines follows from config->seed and their numbers. */
rg_status rg_vocab__train_lines(rg_vocab **out, const rg_vocab_config *config, const rg_vocab_lines *lines);

#endif
