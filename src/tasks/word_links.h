/* word_links.h - word alignments of a corpus: which source word each target word is linked with, by line. */
#ifndef RG_TASKS_WORD_LINKS_H
#define RG_TASKS_WORD_LINKS_H

#include "regard/text.h"

typedef struct rg_word_links rg_word_links;

/* Pharaoh's form, one line per pair of the corpus: "0-0 1-2", source-target, words between blanks counted from 0 (the
 * sure and the possible links of "3?4" both count). The file has as many lines as the corpus was read from; a link
 * to a word that is not there is refused with file and line. */
rg_status rg_word_links_load(rg_word_links **out, const char *path, rg_corpus *corpus, const rg_vocab *source,
                             const rg_vocab *target);
/* Of its tokens, by the aligner that `regard heads` compares with: IBM model 1 both ways, what both agree on. */
rg_status rg_word_links_learn(rg_word_links **out, rg_corpus *corpus, int iterations);
void      rg_word_links_free(rg_word_links *links);

size_t   rg_word_links_count(const rg_word_links *links); /* of all lines */
uint64_t rg_word_links_checksum(const rg_word_links *links);
/* Links of a line (from 1): *out has pairs source, target; returns how many. */
size_t rg_word_links_of(const uint16_t (**out)[2], const rg_word_links *links, uint64_t line);
bool   rg_word_links_are_of_tokens(const rg_word_links *links); /* else of words */

/* The number of the word that each token belongs to, as links count them: what stands between blanks, or the tokens
 * of a vocabulary of words, where an elided article is one. */
void rg_word_links_number(int *out, const rg_vocab *vocab, const int32_t *ids, size_t n);

/* All pairs of a corpus without </s>, and for each target token the source token it is linked with, or -1. To be freed
 * after a failure too. */
typedef struct rg_linked_corpus {
    rg_ids   source, target;
    size_t  *source_start, *target_start; /* pairs + 1 */
    int32_t *link;
} rg_linked_corpus;
rg_status rg_linked_corpus_make(rg_linked_corpus *out, rg_corpus *corpus, int iterations);
void      rg_linked_corpus_free(rg_linked_corpus *c);

#endif
