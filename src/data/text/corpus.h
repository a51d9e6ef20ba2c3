/* corpus.h - what the parts of a corpus share: corpus.c keeps pairs and gives batches, corpus_read.c reads files on
 * several threads, shards.c is a corpus that is larger than memory. */
#ifndef REGARD_DATA_CORPUS_H
#define REGARD_DATA_CORPUS_H

#include "data/examples.h"
#include "data/text/shards.h"
#include "regard/copies.h"

struct rg_corpus {
    rg_examples         *examples; /* all pairs; of shards: those of the pool at hand */
    rg_corpus_report     report;
    const rg_read_watch *watch; /* while files are read */
    int                  threads;
    rg_open_words       *extra; /* words that can be copied; NULL: none can */
    rg_copies            copies;
    const rg_vocab      *vocab; /* of the copies */

    rg_shards *shards; /* NULL: all pairs are in examples */
    uint64_t   sum;    /* of shards: the checksum */
    uint64_t   epoch, pool;
    bool       loaded; /* is that pool in examples? */
    bool       ended;  /* the epoch before is over and rg_corpus_next_in_epoch has yet to say so */
};

/* A pair of lines as readers give it. */
typedef struct rg_line_pair {
    const char *source, *target; /* source NULL: a corpus of one side */
    uint64_t    line;
    unsigned    faults[2]; /* of both */
} rg_line_pair;

rg_status rg_corpus__add_pair(rg_corpus *c, const rg_line_pair *pair);
/* Counts of a part of the text behind those of the parts before it. */
void rg_corpus__count(rg_corpus_report *report, const rg_corpus_report *part);
/* A corpus like those of `config` that only encodes: its records go elsewhere. */
rg_status rg_corpus__new_part(rg_corpus **out, const rg_corpus_config *config, const rg_vocab *source,
                              const rg_vocab *target);
void      rg_corpus__clear_part(rg_corpus *part); /* records and counts */

/* corpus_read.c: all pairs of files into c, encoded by c->threads threads in parts like those of `config`. */
typedef struct rg_pairs_source {
    rg_status (*next)(bool *out_more, rg_line_pair *out, void *context); /* borrowed until the next call */
    void *context;
} rg_pairs_source;
rg_status rg_corpus__read(rg_corpus *c, const rg_corpus_config *config, const rg_pairs_source *from,
                          const rg_vocab *source, const rg_vocab *target);

/* Two readers of lines, or one, as such a source. */
typedef struct rg_two_files {
    rg_lines *source, *target; /* source NULL: one side */
} rg_two_files;
rg_status rg_two_files_open(rg_two_files *out, const char *source_path, const char *target_path);
rg_status rg_two_files_open_bytes(rg_two_files *out, const rg_text *source, const rg_text *target); /* borrowed */
void      rg_two_files_close(rg_two_files *files);
rg_status rg_two_files_next(bool *out_more, rg_line_pair *out, void *files);

#endif
