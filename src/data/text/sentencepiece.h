/* sentencepiece.h - the little of SentencePiece that the vocabulary needs, as C.
 *
 * The C++ side catches every exception and turns every status into false with a reason in `why`. Nothing is printed. */
#ifndef REGARD_DATA_SENTENCEPIECE_H
#define REGARD_DATA_SENTENCEPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_spm rg_spm;
enum { RG_SPM_WHY = 256 }; /* room for a reason */

typedef struct rg_spm_training {
    const char *type; /* "unigram", "bpe", "char", "word" */
    size_t      size, max_lines;
    int         threads; /* into so many parts work is cut: sums, and so the model, depend on it */
    double      coverage;
    bool        byte_fallback;
    uint32_t    seed;
    const char *options;                 /* "--name=value --name=value"; NULL: none */
    const char *const *symbols;          /* always one piece                        */
    size_t      symbol_count;
    /* The next line: 1 given, 0 the end, -1 failed. */
    int (*next)(void *context, const char **text, size_t *bytes);
    void *context;
} rg_spm_training;

/* Bytes handed over piece by piece; false stops with failure. */
typedef bool rg_spm_sink(void *context, const char *bytes, size_t count);
/* One piece of an encoded line. `text` is the piece, blanks as U+2581; byte is 0..255 for a byte piece, else -1. */
typedef bool rg_spm_piece_sink(void *context, int32_t id, const char *text, size_t bytes, int byte);

typedef bool rg_spm_ids_sink(void *context, const int32_t *ids, size_t count);

bool rg_spm_train(rg_spm_sink *model, void *context, const rg_spm_training *training, char why[RG_SPM_WHY]);
bool rg_spm_load(rg_spm **out, const void *model, size_t bytes, char why[RG_SPM_WHY]);
void rg_spm_free(rg_spm *spm);
bool rg_spm_encode(const rg_spm *spm, const char *text, size_t bytes, rg_spm_piece_sink *sink, void *context,
                   char why[RG_SPM_WHY]);
/* Ids alone, several times as fast: the sink gets all of them at once. */
bool        rg_spm_encode_ids(const rg_spm *spm, const char *text, size_t bytes, rg_spm_ids_sink *sink, void *context,
                              char why[RG_SPM_WHY]);
bool        rg_spm_decode(const rg_spm *spm, const int32_t *ids, size_t count, rg_spm_sink *sink, void *context,
                          char why[RG_SPM_WHY]);
int32_t     rg_spm_size(const rg_spm *spm);
int32_t     rg_spm_unk(const rg_spm *spm); /* -1 where there is none, as the next two */
int32_t     rg_spm_bos(const rg_spm *spm);
int32_t     rg_spm_eos(const rg_spm *spm);
const char *rg_spm_piece(const rg_spm *spm, int32_t id); /* id within size */
int32_t     rg_spm_find(const rg_spm *spm, const char *piece);
int32_t     rg_spm_find_ordinary(const rg_spm *spm, const char *text, size_t bytes); /* also -1: control, unknown, byte, unused */
double      rg_spm_score(const rg_spm *spm, int32_t id);                             /* unigram: log p; bpe: higher merges first */
bool        rg_spm_is_control(const rg_spm *spm, int32_t id);

#ifdef __cplusplus
}
#endif
#endif
