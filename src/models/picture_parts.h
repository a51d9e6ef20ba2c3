/* picture_parts.h - what systems that look at pictures and say something share: an encoder that makes rows of a
 * picture's cells, the texts that belong to each picture, and a recurrent writer that looks at the cells before
 * every word. */
#ifndef RG_MODELS_PICTURE_PARTS_H
#define RG_MODELS_PICTURE_PARTS_H

#include "models/recurrent_parts.h"
#include "regard/between.h"
#include "regard/net.h"

/* --------------------------------------------------------------------------------------------------------- pictures */

typedef struct rg_picture_settings {
    char *layers;
    bool  coordinates, centre;
} rg_picture_settings;

/* Rows of a member `picture`. */
#define RG_PICTURE_ROWS(S)                                                                                            \
    { RG_OPTION_STRING,                                                                                               \
      "layers",                                                                                                       \
      offsetof(S, picture.layers),                                                                                    \
      "auto",                                                                                                         \
      "of the network that makes cells: c5x32 convolution, p2 pooling (docs/models/cnn.md); auto: c3x32 p2 c3x64 p2 " \
      "c3x64, behind --features none",                                                                                \
      0,                                                                                                              \
      NULL,                                                                                                           \
      NULL },                                                                                                         \
    { RG_OPTION_BOOL,                                                                                                 \
      "coordinates",                                                                                                  \
      offsetof(S, picture.coordinates),                                                                               \
      "true",                                                                                                         \
      "each cell knows its place: two numbers in -1 .. 1",                                                            \
      0,                                                                                                              \
      NULL,                                                                                                           \
      NULL },                                                                                                         \
    {                                                                                                                 \
        RG_OPTION_BOOL, "centre", offsetof(S, picture.centre), "false",                                               \
            "the mean colour of a picture is taken away first: for light grounds", 0, NULL, NULL                      \
    }

typedef struct rg_picture_parts {
    rg_net net;
    bool   coordinates, centre;
    size_t down, across, width; /* cells of a picture; columns of one */
} rg_picture_parts;

/* Layers in the scope "picture". Puts the sizes cells-down and cells-across. RG_EINVAL when dense layers are asked
 * for: cells are rows. */
rg_status rg_picture_build(rg_picture_parts *out, rg_model *model, const rg_picture_settings *settings);
/* (cells, width), a group per picture. */
rg_tensor *rg_picture_cells(rg_tape *t, const rg_picture_parts *p, const rg_field *field);

/* ------------------------------------------------------------------------------------------------------------ texts */

/* The texts of a field that has several per example: each ends with `eos`. */
typedef struct rg_texts {
    const rg_layout *layout; /* rows of each text                     */
    const int32_t   *of;     /* the example each text belongs to      */
    size_t           count;
} rg_texts;
rg_status rg_texts_of(rg_texts *out, rg_tape *t, const rg_field *field, int32_t eos);
/* Query i looks at the whole of group of[i]. */
const rg_reach *rg_reach_chosen(rg_tape *t, const int32_t *of, size_t n, const rg_layout *groups);

/* ---------------------------------------------------------------------------------------------- a writer that looks */

/* Show, attend and tell (Xu et al. 2015): an LSTM that looks at the cells before every word.
 *
 *     h_0 = tanh(W_h mean_i a_i + b)    c_0 = tanh(W_c mean_i a_i + b)
 *     e_ti = w . tanh(W h_{t-1} + U a_i)    alpha_t = softmax(e_t)    z_t = beta_t sum_i alpha_ti a_i    beta_t = sigma(w_b . h_{t-1} + b)
 *     h_t, c_t = LSTM([E y_{t-1}; z_t], h_{t-1}, c_{t-1})        what is answered from: E y_{t-1} + L_h h_t + L_z z_t
 *
 *   soft    all cells, weighted           hard     one cell, drawn while learning, the likeliest otherwise
 *   mean    all cells alike               gumbel   one cell by a draw that passes gradients           none   the picture is not seen
 *   fixed   word t weighs the cells by a row of its own, softmax(P_t), whatever the picture shows: the control for strings of varying length */
typedef enum rg_look_kind {
    RG_LOOK_SOFT,
    RG_LOOK_HARD,
    RG_LOOK_GUMBEL,
    RG_LOOK_FIXED,
    RG_LOOK_MEAN,
    RG_LOOK_NONE
} rg_look_kind;
rg_look_kind rg_look_kind_of(const char *name); /* one of "soft|hard|gumbel|fixed|mean|none" */
enum { RG_LOOK_PLACES = 64 };                   /* fixed: words beyond share the last row */

typedef struct rg_look {
    rg_look_kind        kind;
    bool                gated;
    double              temperature, dropout;
    rg_attention        att;
    rg_param           *key, *table, *context, *from_context;
    rg_recurrent_params cell;
    rg_dense            first_h, first_c, gate, from_state;
    size_t              d, width, cells;
    size_t              grid;   /* fixed: cells of a picture */
    rg_param           *places; /* (RG_LOOK_PLACES * grid, 1) */
} rg_look;

/* Embeddings `d` wide of `words` words, states `width` wide, cells `cells` wide. The other members are set by the
 * caller before. */
rg_status rg_look_build(rg_look *look, rg_model *model, size_t words, size_t d, size_t width, size_t cells);

typedef struct rg_look_state {
    rg_tensor *h, *c;
} rg_look_state;

/* What a run over whole texts leaves: rows to answer from, and of all words, step by step, the weights and what was
 * picked of them. */
typedef struct rg_looked {
    rg_tensor      *y;         /* (N, d) in the layout of the texts   */
    rg_tensor      *a, *picked; /* (P, 1); NULL: mean, none            */
    const rg_reach *reach;
    const int32_t  *row; /* row of the texts of each query of `reach` */
} rg_looked;

rg_tensor    *rg_look_keys(rg_tape *t, const rg_look *look, rg_tensor *cells);
rg_look_state rg_look_first(rg_tape *t, const rg_look *look, rg_tensor *cells); /* a row per picture */
/* Word number `step`: `soft` (hard only) takes the expectation instead of a draw; `out` gets a, picked and y. */
rg_look_state rg_look_step(rg_looked *out, rg_tape *t, const rg_look *look, rg_tensor *words, rg_look_state before,
                           rg_tensor *keys, rg_tensor *cells, const rg_reach *reach, bool soft, size_t step);
/* Whole texts. */
rg_looked rg_look_run(rg_tape *t, const rg_look *look, rg_tensor *cells, const rg_texts *texts, const int32_t *previous,
                      uint64_t first, bool soft);

/* softmax(output (E y + ...)) over V words: the parameters. */
void rg_look_output(rg_rnn_parts *out, rg_model *model, size_t V, size_t d);

/* Decoding: `start` of a system, given the cells of its sources, and `step`. The system's state is an rg_look_memory,
 * `keep` and `finish` are rg_rnn_keep and rg_rnn_finish. */
typedef struct rg_look_memory {
    rg_step_state carried; /* 0: state, 1: cell */
    rg_tensor    *keys, *cells;
} rg_look_memory;
rg_status  rg_look_start(rg_decoding *d, const rg_look *look, rg_tensor *cells);
rg_tensor *rg_look_answer(rg_decoding *d, rg_tape *t, const rg_look *look, const rg_rnn_parts *words);

#endif
