/* vocab_sample.c - another cut of a line into pieces each time it is learned from (subword regularisation).
 *
 *   bpe       each merge that could be made next is left out with probability alpha   (Provilkov, Emelianenko, Voita 2020)
 *   unigram   a cut x has probability  p(x)^alpha / sum over all cuts                 (Kudo 2018)
 *
 * Pieces do not reach over blanks, so a line is cut word by word:
 *
 *   given      _sno wboard ing          cut again   _s now board in g
 *
 * A model that saw a word in many pieces knows what its letters have to do with it. */
#include "data/text/vocab.h"

#include <math.h>
#include <string.h>

enum {
    WORD_CHARACTERS = 256,
    WORD_BYTES = 4 * WORD_CHARACTERS,
    PIECE_BYTES = 64 /* unigram: longer pieces are not drawn */
};

/* Bytes begin[i] .. begin[i+1]-1 are symbol i: a character at first. */
typedef struct {
    const rg_vocab *vocab;
    char            text[WORD_BYTES];
    size_t          begin[WORD_CHARACTERS + 1], symbols;
} word;

/* The ordinary piece that symbols from .. to-1 make together, or -1. */
static int32_t piece_of(const word *w, size_t from, size_t to)
{
    return rg_spm_find_ordinary(w->vocab->spm, w->text + w->begin[from], w->begin[to] - w->begin[from]);
}

static double score_of(const word *w, int32_t piece) { return rg_spm_score(w->vocab->spm, piece); }

/* -------------------------------------------------------------------------------------------------------------- bpe */

/* The best of the merges that are not left out this time; `symbols` when there is none. joint[i] is what i and i+1
 * make. */
static size_t best_merge(const word *w, const int32_t *joint, double alpha, rg_random *random)
{
    size_t best = w->symbols;
    for (size_t i = 0; i + 1 < w->symbols; i++) {
        if (joint[i] < 0 || rg_random_uniform(random) < alpha) continue;
        if (best == w->symbols || score_of(w, joint[i]) > score_of(w, joint[best])) best = i;
    }
    return best;
}

static void merge(word *w, int32_t *joint, size_t i)
{
    w->symbols--;
    memmove(&w->begin[i + 1], &w->begin[i + 2], (w->symbols - i) * sizeof *w->begin);
    memmove(&joint[i], &joint[i + 1], (w->symbols - i) * sizeof *joint);
    if (i) joint[i - 1] = piece_of(w, i - 1, i + 1);
    if (i + 1 < w->symbols) joint[i] = piece_of(w, i, i + 2);
}

static bool cut_bpe(int32_t *out, size_t *out_count, word *w, double alpha, rg_random *random)
{
    int32_t joint[WORD_CHARACTERS];
    for (size_t i = 0; i + 1 < w->symbols; i++) joint[i] = piece_of(w, i, i + 2);
    for (size_t i; (i = best_merge(w, joint, alpha, random)) < w->symbols;) merge(w, joint, i);
    for (size_t i = 0; i < w->symbols; i++)
        if ((out[i] = piece_of(w, i, i + 1)) < 0) return false;
    *out_count = w->symbols;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- unigram */

static double log_add(double a, double b)
{
    if (a < b) return log_add(b, a);
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

/* How much the cuts that end with symbols from .. to-1 weigh among those of the first `to`; all[to] is the log of
 * their sum. */
static double ending(const word *w, const double *all, size_t from, size_t to, double alpha, int32_t *out_piece)
{
    *out_piece = piece_of(w, from, to);
    return *out_piece < 0 ? -INFINITY : all[from] + alpha * score_of(w, *out_piece);
}

static size_t earliest(const word *w, size_t to)
{
    size_t from = to;
    while (from && w->begin[to] - w->begin[from - 1] <= PIECE_BYTES) from--;
    return from;
}

/* Sums forward, draws backward: exactly one draw from all cuts. */
static bool cut_unigram(int32_t *out, size_t *out_count, word *w, double alpha, rg_random *random)
{
    double  all[WORD_CHARACTERS + 1] = { 0 };
    int32_t drawn[WORD_CHARACTERS], piece;
    size_t  count = 0;
    for (size_t to = 1; to <= w->symbols; to++) {
        all[to] = -INFINITY;
        for (size_t from = earliest(w, to); from < to; from++)
            all[to] = log_add(all[to], ending(w, all, from, to, alpha, &piece));
    }
    if (all[w->symbols] == -INFINITY) return false;
    for (size_t to = w->symbols; to > 0;) {
        double left = rg_random_uniform(random);
        size_t chosen = to;
        for (size_t from = earliest(w, to); from < to && left >= 0; from++) {
            const double weight = ending(w, all, from, to, alpha, &piece);
            if (weight == -INFINITY) continue;
            left -= exp(weight - all[to]); /* rounding may leave a little over: then the last one is taken */
            drawn[count] = piece;
            chosen = from;
        }
        count++;
        to = chosen;
    }
    for (size_t i = 0; i < count; i++) out[i] = drawn[count - 1 - i];
    *out_count = count;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static bool begins_word(const char *piece) { return strncmp(piece, RG_BLANK_MARK, strlen(RG_BLANK_MARK)) == 0; }

/* The characters of the pieces; false when they are not all ordinary or too many. */
static bool spell(word *w, const int32_t *ids, size_t count)
{
    size_t bytes = 0;
    w->symbols = 0;
    for (size_t i = 0; i < count; i++) {
        const char  *piece = rg_vocab_piece(w->vocab, ids[i]);
        const size_t length = strlen(piece);
        if (rg_spm_find_ordinary(w->vocab->spm, piece, length) != ids[i] || length > sizeof w->text - bytes)
            return false;
        memcpy(w->text + bytes, piece, length);
        bytes += length;
    }
    for (size_t at = 0; at < bytes;) {
        uint32_t character;
        if (w->symbols == WORD_CHARACTERS) return false;
        w->begin[w->symbols++] = at;
        at += rg_utf8_next(&character, w->text + at, bytes - at);
    }
    w->begin[w->symbols] = bytes;
    return true;
}

static rg_status sample_word(rg_ids *out, word *w, const int32_t *ids, size_t count, double alpha, rg_random *random)
{
    int32_t cut[WORD_CHARACTERS];
    size_t  pieces = 0;
    const bool bpe = w->vocab->kind == RG_VOCAB_BPE;
    if (spell(w, ids, count) && (bpe ? cut_bpe : cut_unigram)(cut, &pieces, w, alpha, random)) {
        ids = cut;
        count = pieces;
    }
    for (size_t i = 0; i < count; i++) RG_TRY(rg_ids_add(out, ids[i]));
    return RG_OK;
}

bool rg_vocab_can_sample(const rg_vocab *v) { return v->kind == RG_VOCAB_BPE || v->kind == RG_VOCAB_UNIGRAM; }

rg_status rg_vocab_sample(rg_ids *out, const rg_vocab *v, const int32_t *ids, size_t count, double alpha,
                          rg_random *random)
{
    word w = { .vocab = v };
    if (!rg_vocab_can_sample(v))
        return rg_fail(RG_EINVAL, "a vocabulary of kind %s cuts a line in one way only", rg_vocab_kind_name(v->kind));
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && !begins_word(rg_vocab_piece(v, ids[end])); end++) {}
        RG_TRY(sample_word(out, &w, ids + begin, end - begin, alpha, random));
    }
    return RG_OK;
}
