/* deep_parts.h - the bottom of a deep decoder that looks back before every word: gnmt and deep-att.
 *
 *     c_i = attend(h_{i-1}, source)           the query is the bottom layer's state of the word BEFORE
 *     f_i = W E y_{i-1} + b + C c_i           what goes into its gates
 *     h_i = cell(f_i, h_{i-1})
 *
 * The layers above need nothing from each other's words: they run over whole sentences. */
#ifndef RG_MODELS_DEEP_PARTS_H
#define RG_MODELS_DEEP_PARTS_H

#include "models/recurrent_parts.h"

/* Settings of a deep translator and their rows; S is its settings struct, `deep` the name of this member. */
typedef struct rg_deep_settings {
    char   *score, *activation;
    int64_t align;
} rg_deep_settings;
#define RG_DEEP_ROWS(S)                                                                                                          \
    { RG_OPTION_STRING, "cell", offsetof(S, rnn.cell), "lstm", "kind of recurrence", 0, "lstm|gru|rnn|gru-reset-after" },        \
        { RG_OPTION_STRING, "score", offsetof(S, deep.score), "additive", "score of the attention (`regard scores`)", 0, NULL }, \
        { RG_OPTION_STRING, "score-activation", offsetof(S, deep.activation), "own",                                             \
          "function inside the linear, additive and concat scores; own: identity in linear, else tanh", 0,                       \
          "own|identity|tanh|relu|leaky_relu" },                                                                                 \
    {                                                                                                                            \
        RG_OPTION_INT, "dim-align", offsetof(S, deep.align), "0", "width inside the score; 0: that of states", 0, "[0,1000000]"  \
    }

typedef struct rg_deep_bottom {
    rg_recurrence       kind;
    rg_attention        att;
    rg_param           *key;     /* keys as wide as queries, for scores that need it; or NULL */
    rg_recurrent_params cell;    /* reads the embedded word                                   */
    rg_param           *context; /* C                                                         */
} rg_deep_bottom;

typedef struct rg_deep_source {
    rg_tensor *keys, *values;
} rg_deep_source;

/* Declares "attention" and "decoder.0"; `keys` is the width of the source's rows. */
rg_status      rg_deep_bottom_init(rg_deep_bottom *out, rg_model *model, const rg_deep_settings *s,
                                   const rg_recurrent_config *config, size_t d, size_t keys);
rg_deep_source rg_deep_prepare(rg_tape *t, const rg_deep_bottom *b, rg_tensor *x); /* rows of the source as keys and values */

/* The word's share of f: W E y + b. */
rg_tensor *rg_deep_words(rg_tape *t, const rg_deep_bottom *b, rg_tensor *y);
/* One word: *h and *c (LSTM) move, *f (may be NULL) gets what went into the gates; the context is returned. */
rg_tensor *rg_deep_move(rg_tape *t, const rg_deep_bottom *b, rg_tensor *words, rg_tensor **h, rg_tensor **c,
                        const rg_deep_source *source, const rg_reach *reach, rg_tensor **f);
/* All words of a batch, sentences side by side, from the states h, c (one row per sentence): the bottom's states of
 * every word; *contexts and *f (may be NULL) likewise. y: embedded words. */
rg_tensor *rg_deep_run(rg_tape *t, const rg_deep_bottom *b, rg_tensor *y, const rg_batch *batch,
                       const rg_deep_source *source, rg_tensor *h, rg_tensor *c, rg_tensor **contexts, rg_tensor **f);

#endif
