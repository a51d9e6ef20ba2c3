/* encoder.h - what reads a sequence of rows and what makes one row of it: two small tables that classifiers, taggers
 * and masked language models choose from by name.
 *
 *     encoder     rnn lstm gru       states of a recurrent stack
 *                 bilstm bigru       states of both directions, side by side
 *                 transformer        blocks of self-attention; every row sees its whole text, or what came before it
 *                 cnn                windows of 3, 4 and 5 rows, relu (Kim 2014)
 *                 window             a window around each row, tanh (Collobert et al. 2011)
 *                 words              the rows as they are
 *
 *     pool        last               the state where each direction ended; else the last row
 *                 first              the first row: BERT's [CLS]
 *                 mean max           over the rows of a text
 *                 attention          rows a_r = softmax_i v_r . tanh(W h_i), sum_i a_ri h_i (Lin et al. 2017) */
#ifndef REGARD_ENCODER_H
#define REGARD_ENCODER_H

#include "regard/options.h"
#include "regard/transformer.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------------------- settings */

typedef struct rg_encoder_settings {
    const char *name, *norm, *positions, *activation, *reach;
    int64_t     width, layers, window, maps, heads, ff, places, segments;
    double      dropout, dropout_attention, epsilon;
    bool        entry_norm;
} rg_encoder_settings;

/* Rows for a member `encoder` of a system's struct of settings. Those of the blocks are called as in gpt, so that
 * its settings are taken with its weights. */
#define RG_ENCODER_ROWS(type, encoder, which, units)                                                                        \
    { RG_OPTION_STRING,                                                                                                     \
      "encoder",                                                                                                            \
      offsetof(type, encoder.name),                                                                                         \
      which,                                                                                                                \
      "what reads the rows: states of a recurrent stack, one way or "                                                       \
      "both, blocks of self-attention, windows of 3, 4 and 5 (cnn) or one window, or nothing (words)",                      \
      0,                                                                                                                    \
      "rnn|lstm|gru|bilstm|bigru|transformer|cnn|words|window",                                                             \
      NULL, NULL },                                                                                                               \
        { RG_OPTION_INT,                                                                                                    \
          "width",                                                                                                          \
          offsetof(type, encoder.width),                                                                                    \
          units,                                                                                                            \
          "recurrent: units of a state, in each direction; window: units",                                                  \
          0,                                                                                                                \
          "[1,1000000]",                                                                                                    \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_INT,                                                                                                    \
          "layers",                                                                                                         \
          offsetof(type, encoder.layers),                                                                                   \
          "1",                                                                                                              \
          "layers of a recurrent stack, blocks of a transformer",                                                           \
          0,                                                                                                                \
          "[1,32]",                                                                                                         \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_INT, "window", offsetof(type, encoder.window), "2", "window: rows on either side", 0, "[0,10]", NULL, NULL }, \
        { RG_OPTION_INT, "maps", offsetof(type, encoder.maps), "100", "cnn: maps of each of the three windows", 0,          \
          "[1,100000]",  NULL, NULL },                                                                                            \
        { RG_OPTION_INT, "transformer-heads", offsetof(type, encoder.heads), "4", "attention heads", 0, "[1,1000000]",      \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_INT,                                                                                                    \
          "transformer-dim-ffn",                                                                                            \
          offsetof(type, encoder.ff),                                                                                       \
          "0",                                                                                                              \
          "width inside the feed-forward network; 0: four times dim-emb",                                                   \
          0,                                                                                                                \
          "[0,1000000]",                                                                                                    \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_REAL,                                                                                                   \
          "transformer-dropout",                                                                                            \
          offsetof(type, encoder.dropout),                                                                                  \
          "0.1",                                                                                                            \
          "share dropped of embeddings and sub-layer outputs",                                                              \
          0,                                                                                                                \
          "[0,1)",                                                                                                          \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_REAL,                                                                                                   \
          "transformer-dropout-attention",                                                                                  \
          offsetof(type, encoder.dropout_attention),                                                                        \
          "0",                                                                                                              \
          "share of weights dropped",                                                                                       \
          0,                                                                                                                \
          "[0,1)",                                                                                                          \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_STRING,                                                                                                 \
          "transformer-norm",                                                                                               \
          offsetof(type, encoder.norm),                                                                                     \
          "pre",                                                                                                            \
          "where the norm stands",                                                                                          \
          0,                                                                                                                \
          "pre|post",                                                                                                       \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_STRING,                                                                                                 \
          "transformer-positions",                                                                                          \
          offsetof(type, encoder.positions),                                                                                \
          "sinusoidal",                                                                                                     \
          "how rows know their place",                                                                                      \
          0,                                                                                                                \
          "learned|sinusoidal",                                                                                             \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_INT,                                                                                                    \
          "places",                                                                                                         \
          offsetof(type, encoder.places),                                                                                   \
          "512",                                                                                                            \
          "learned places: how many rows a text may have",                                                                  \
          0,                                                                                                                \
          "[1,1000000]",                                                                                                    \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_STRING,                                                                                                 \
          "transformer-ffn-activation",                                                                                     \
          offsetof(type, encoder.activation),                                                                               \
          "gelu",                                                                                                           \
          "inside the feed-forward network",                                                                                \
          0,                                                                                                                \
          "relu|gelu|gelu_tanh",                                                                                            \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_STRING,                                                                                                 \
          "transformer-reach",                                                                                              \
          offsetof(type, encoder.reach),                                                                                    \
          "groups",                                                                                                         \
          "a row sees its whole text, or what came before it",                                                              \
          0,                                                                                                                \
          "groups|causal",                                                                                                  \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_BOOL,                                                                                                   \
          "embedding-norm",                                                                                                 \
          offsetof(type, encoder.entry_norm),                                                                               \
          "false",                                                                                                          \
          "a norm before the first block, as in BERT",                                                                      \
          0,                                                                                                                \
          NULL,                                                                                                             \
          NULL, NULL },                                                                                                           \
        { RG_OPTION_INT,                                                                                                    \
          "segments",                                                                                                       \
          offsetof(type, encoder.segments),                                                                                 \
          "0",                                                                                                              \
          "kinds of segment that rows are told of, as in BERT",                                                             \
          0,                                                                                                                \
          "[0,16]",                                                                                                         \
          NULL, NULL },                                                                                                           \
    {                                                                                                                       \
        RG_OPTION_REAL, "norm-epsilon", offsetof(type, encoder.epsilon), "1e-5", "added to variances in the norms", 0,      \
            "(0,1)", NULL, NULL                                                                                                   \
    }

/* -------------------------------------------------------------------------------------------------------- encoders */

typedef struct rg_encoder rg_encoder;

typedef struct rg_encoder_kind {
    const char *name;
    rg_recurrence cell; /* of recurrent stacks */
    bool          both;
    rg_status (*init)(rg_encoder *e, rg_params *p);
    /* (N, in) -> (N, out). segment: of each row, may be NULL. *end: (groups, out), where the directions ended; NULL:
     * the last row. */
    rg_tensor *(*run)(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end);
} rg_encoder_kind;

enum { RG_ENCODER_WINDOWS = 3 };

struct rg_encoder {
    const rg_encoder_kind     *kind;
    const rg_encoder_settings *settings; /* borrowed from the model's options */
    size_t                     in, out;  /* columns                           */
    union {
        rg_recurrent_stack recurrent;
        rg_dense           window[RG_ENCODER_WINDOWS];
        struct {
            rg_stack  stack;
            rg_param *places, *segments; /* NULL: sinusoidal; none */
            rg_norm   entry;
            double    scale; /* of rows that go in */
        } blocks;
    } of;
};

/* Declares places, segments, entry, block.N of a transformer as gpt and bert call theirs; encoder.N of a stack;
 * window.3 .. of windows. */
rg_status  rg_encoder_init(rg_encoder *out, rg_params *p, const rg_encoder_settings *settings, size_t in);
rg_tensor *rg_encoder_run(rg_tape *t, const rg_encoder *e, rg_tensor *x, const int32_t *segment, rg_tensor **end);
size_t     rg_encoder_longest(const rg_encoder *e);                      /* rows a group may have; 0: any number         */
double     rg_encoder_deviation(const rg_encoder_settings *s, size_t in); /* that embeddings which go in should start with */

/* --------------------------------------------------------------------------------------------------------- pooling */

typedef struct rg_pool_kind rg_pool_kind;

typedef struct rg_pool {
    const rg_pool_kind *kind;
    rg_attention        att; /* attention: `heads` rows */
    size_t              out;
} rg_pool;

/* rows and hidden are of attention, in scope "pool". */
rg_status rg_pool_init(rg_pool *out, rg_params *p, const char *name, size_t in, size_t rows, size_t hidden);
/* (N, in) -> (groups, out). `end` as rg_encoder_run left it. *penalty (may be NULL): how much rows of attention
 * overlap, summed over the groups, NULL where there is one row or none. The weights are watched as "pool.weights". */
rg_tensor *rg_pool_run(rg_tape *t, const rg_pool *pool, rg_tensor *x, rg_tensor *end, rg_tensor **penalty);

RG_API_END
#endif
