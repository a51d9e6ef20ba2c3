/* recurrent_parts.h - what the recurrent translators share: settings, tables, the encoder, and walking a target step
 * by step. */
#ifndef RG_MODELS_RECURRENT_PARTS_H
#define RG_MODELS_RECURRENT_PARTS_H

#include "decode/step_state.h"
#include "models/answer_parts.h"
#include "regard/layers.h"
#include "regard/model.h"

/* Settings that every recurrent translator has; the first member of its own settings. */
typedef struct rg_rnn_settings {
    int64_t d, width, encoder, decoder;
    char   *cell, *combine, *order, *vocabulary;
    bool    bidirectional, reverse, tied, scaled;
    double  dropout, smoothing;
} rg_rnn_settings;

/* Rows of what stands around the recurrence. */
#define RG_RNN_LOSS_ROWS(S)                                                                                                              \
    { RG_OPTION_BOOL, "tied-embeddings", offsetof(S, rnn.tied), "false", "one table for target words and output", 0, NULL },                \
    { RG_OPTION_BOOL, "scale-embeddings", offsetof(S, rnn.scaled), "false",                                                                \
      "with tied embeddings: words are multiplied by sqrt(dim-emb) when they are looked up", 0, NULL },                                    \
    { RG_OPTION_REAL, "dropout-rnn", offsetof(S, rnn.dropout), "0.2", "share of embeddings, states and outputs dropped", 0, "[0,1)" },      \
    { RG_OPTION_REAL, "label-smoothing", offsetof(S, rnn.smoothing), "0.1", "probability spread over all words", 0, "[0,1)" },     \
    RG_ANSWER_VOCABULARY_ROW(S, rnn.vocabulary)

/* Their rows; S is the settings struct, `rnn` the name of its rg_rnn_settings member. */
#define RG_RNN_ROWS(S, bidirectional_default)                                                                                                           \
    { RG_OPTION_INT, "dim-emb", offsetof(S, rnn.d), "256", "width of embeddings", 0, "[1,1000000]" },                                            \
    { RG_OPTION_INT, "dim-rnn", offsetof(S, rnn.width), "512", "width of states", 0, "[1,1000000]" },                                            \
    { RG_OPTION_INT, "enc-depth", offsetof(S, rnn.encoder), "1", "encoder layers", 0, NULL },                                           \
    { RG_OPTION_STRING, "enc-combine", offsetof(S, rnn.combine), "concat", "how the two directions are joined", 0, "concat|add|multiply" }, \
    { RG_OPTION_BOOL, "enc-bidirectional", offsetof(S, rnn.bidirectional), bidirectional_default, "read the source in both directions", 0, NULL }, \
    { RG_OPTION_BOOL, "reverse", offsetof(S, rnn.reverse), "false", "read the source backwards (Sutskever)", 0, NULL },                 \
    RG_RNN_LOSS_ROWS(S)

/* The rows of deep ones, which say how many layers read and write. Their encoders have an order of directions of
 * their own. */
#define RG_RNN_DEEP_ROWS(S, encoder_default, decoder_default)                                                                              \
    { RG_OPTION_INT, "dim-emb", offsetof(S, rnn.d), "256", "width of embeddings", 0, "[1,1000000]" },                                       \
    { RG_OPTION_INT, "dim-rnn", offsetof(S, rnn.width), "256", "width of states", 0, "[1,1000000]" },                                       \
    { RG_OPTION_INT, "enc-depth", offsetof(S, rnn.encoder), encoder_default, "encoder layers", 0, NULL },                                   \
    { RG_OPTION_INT, "dec-depth", offsetof(S, rnn.decoder), decoder_default, "decoder layers", 0, NULL },                                   \
    RG_RNN_LOSS_ROWS(S)

typedef struct rg_rnn_parts {
    rg_param          *source, *target;     /* tables */
    rg_param          *output, *output_bias; /* (V, width of what is answered from) */
    const rg_model    *model;
    double             scale;               /* of target words when they are looked up: sqrt(dim-emb) for a tied, scaled table, else 1 */
    rg_recurrent_stack encoder;
    rg_recurrence      cell;
} rg_rnn_parts;

/* `earlier` of a system: how models from before these settings were trained. */
#define RG_RNN_EARLIER "scale-embeddings: false\n"
#define RG_RNN_EARLIER_ATTENTION RG_RNN_EARLIER "attention-order: reading\n"

/* A row of systems with attention. Before it existed, a reversed source was counted as it was read. */
#define RG_RNN_ORDER_ROW(S)                                                                                  \
    {                                                                                                        \
        RG_OPTION_STRING, "attention-order", offsetof(S, rnn.order), "source",                               \
            "with --reverse: count places (local attention, location score) as in the source or as read", 0, \
            "source|reading"                                                                                 \
    }

/* RG_EINVAL unless both depths lie in 1 .. RG_RECURRENT_DEPTH. */
rg_status rg_rnn_check_depths(const rg_rnn_settings *s);

/* Deviation of embedded words at the start, where a system has no other: 0.4 for a table that is the output's matrix
 * too, 1 where it is not or words are scaled on lookup (docs/models/luong.md, Start). */
double rg_rnn_deviation(const rg_rnn_settings *s);

/* Tables, encoder and output; `answer` is the width the output reads, `deviation` that of embedded words at the
 * start. */
rg_status rg_rnn_build_tables(rg_rnn_parts *out, rg_model *model, const rg_rnn_settings *s, size_t answer, double deviation); /* no encoder */
rg_status rg_rnn_build(rg_rnn_parts *out, rg_model *model, const rg_rnn_settings *s, size_t answer, double deviation);

/* States of the source words, (N, encoder width), in the order in which they are read; `ends` (may be NULL) gets
 * where each sentence ended. */
rg_tensor *rg_rnn_read(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const int32_t *ids,
                       const rg_layout *layout, rg_recurrent_states *ends);

/* The same rows for attention: turned back into the order of the source, so that nothing that follows knows of
 * --reverse. Models that count places in reading order (--attention-order) get them as they are, and rg_rnn_watch
 * turns what is shown. */
rg_tensor *rg_rnn_turn(rg_tape *t, const rg_rnn_settings *s, rg_tensor *h, const rg_layout *layout);
bool       rg_rnn_reads_mirrored(const rg_rnn_settings *s); /* attention sees reversed rows */
/* Weights a over `near`, rows in reading order: watched as weights of the whole sentences in source order, 0 outside
 * of `near`. */
void       rg_rnn_watch(rg_tape *t, rg_tensor *a, const rg_reach *near, const rg_reach *whole);
/* rg_mix; values in reading order are offered in source order. */
rg_tensor *rg_rnn_mix(rg_tape *t, const rg_rnn_settings *s, rg_tensor *a, rg_tensor *v, const rg_reach *reach);
/* rg_attend, watched in source order. */
rg_tensor *rg_rnn_attend(rg_tape *t, const rg_rnn_settings *s, const rg_attention *att, rg_tensor *q, rg_tensor *k,
                         rg_tensor *v, const rg_reach *whole);

/* Embedded target words; `embed` with dropout, for decoders whose first layer does not drop what goes in. */
rg_tensor *rg_rnn_words(rg_tape *t, const rg_rnn_parts *p, const int32_t *ids, size_t n, const rg_layout *layout);
rg_tensor *rg_rnn_embed(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const int32_t *ids, size_t n,
                        const rg_layout *layout);

/* Loss of rows that answer the target words. */
rg_loss rg_rnn_loss(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, rg_tensor *y, const rg_batch *batch);
struct rg_copy;
/* The same where words may be copied from the source's rows h (copy_parts.h); copy NULL: they may not. */
rg_loss    rg_rnn_copy_loss(rg_tape *t, const rg_rnn_parts *p, const rg_rnn_settings *s, const struct rg_copy *copy,
                            rg_tensor *y, rg_tensor *h, const rg_batch *batch);

/* The attention of queries `q` wide over keys `keys` wide, in the scope "attention". Scores that compare the two
 * directly get a learned projection of the keys, *out_key, where the widths differ; else it is NULL. */
rg_status rg_rnn_attention(rg_attention *out, rg_param **out_key, rg_model *model, const char *score,
                           const char *activation, size_t q, size_t keys, size_t hidden);
rg_tensor *rg_rnn_keys(rg_tape *t, const rg_attention *att, const rg_param *key, rg_tensor *h); /* prepared keys of the source's states */

/* Decoding. What is carried from step to step stands in an rg_step_state, the first member of the system's state:
 * block 2l is h of layer l, block 2l + 1 its c (LSTM). */
rg_status  rg_rnn_put_states(rg_step_state *carried, const rg_recurrent_states *states, size_t depth);
void       rg_rnn_use_states(rg_recurrent_states *out, rg_tape *t, const rg_step_state *carried, rg_recurrence cell,
                             size_t depth);
/* The end of a step: logits of the rows y, and the states for the next. */
rg_tensor *rg_rnn_answer(rg_decoding *d, rg_tape *t, const rg_rnn_parts *p, rg_tensor *y,
                         const rg_recurrent_states *states, size_t depth);
rg_status  rg_rnn_keep(rg_decoding *d, const int32_t *parents, size_t n);
void       rg_rnn_finish(rg_decoding *d);

/* Reach of the queries of step t of a batch: each sees the source of its sentence. */
const rg_reach *rg_rnn_reach_step(rg_tape *t, const rg_steps *steps, size_t step, const rg_layout *source);
/* The same for the hypotheses of a decoding. */
const rg_reach *rg_rnn_reach_sources(rg_tape *t, const rg_decoding *d);

#endif
