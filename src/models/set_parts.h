/* set_parts.h - a writer of sets: label after label, then the end, looking at the cells of a picture. It serves set and
 * recipe.
 *
 *     rows of a picture   <s>  l_1  l_2  ...        answers   l_1  l_2  ...  end
 *
 * Labels are 0 .. C-1, the end is C in answers, <s> is C among what is read. A label that stands before a row cannot
 * be its answer. */
#ifndef RG_MODELS_SET_PARTS_H
#define RG_MODELS_SET_PARTS_H

#include <string.h>

#include "models/picture_parts.h"
#include "regard/transformer.h"

typedef struct rg_set_settings {
    int64_t d, width, hidden, heads, depth;
    double  dropout;
    bool    shuffle;
} rg_set_settings;

#define RG_SET_WRITER_ROWS(S, set)                                                                                      \
    { RG_OPTION_INT, "dim-emb", offsetof(S, set.d), "64", "width of embeddings and blocks", 0, "[1,1000000]", NULL },   \
        { RG_OPTION_INT, "dim-rnn", offsetof(S, set.width), "128", "width of states (lstm)", 0, "[1,1000000]", NULL },  \
        { RG_OPTION_INT,                                                                                                \
          "transformer-dim-ffn",                                                                                        \
          offsetof(S, set.hidden),                                                                                      \
          "128",                                                                                                        \
          "width inside the feed-forward networks",                                                                     \
          0,                                                                                                            \
          "[1,1000000]",                                                                                                \
          NULL },                                                                                                       \
        { RG_OPTION_INT, "transformer-heads", offsetof(S, set.heads), "4", "heads of attention", 0, "[1,1000]", NULL }, \
        { RG_OPTION_INT, "dec-depth", offsetof(S, set.depth), "2", "blocks", 0, "[1,32]", NULL },                       \
        { RG_OPTION_REAL, "dropout", offsetof(S, set.dropout), "0.1", "share that is dropped", 0, "[0,1)", NULL },      \
    {                                                                                                                   \
        RG_OPTION_BOOL, "shuffle", offsetof(S, set.shuffle), "true",                                                    \
            "labels in an order drawn anew each time; otherwise by name", 0, NULL, NULL                                 \
    }

typedef struct rg_set_writer {
    bool     recurrent, shuffle;
    double   dropout;
    rg_look  look; /* lstm */
    rg_stack blocks;
    rg_param *table;
    rg_dense cells, output;
    size_t   classes, most;
} rg_set_writer;

/* Reads the sizes classes and most-members. */
rg_status rg_set_writer_build(rg_set_writer *out, rg_model *model, const rg_set_settings *settings, size_t cells,
                              bool recurrent);
/* Cross-entropy of the labels of a field of sets, one after another in an order that is drawn while learning, and of
 * the end. The watch point "logits" has a row (classes + 1) per label and end. */
rg_tensor *rg_set_writer_loss(rg_tape *t, const rg_model *model, const rg_set_writer *w, const rg_field *set,
                              rg_tensor *cells);
/* Of what it writes by itself, pooled over the steps (set_losses.h). Watched, it is given the labels instead, as
 * rg_set_writer_loss is. */
rg_tensor *rg_set_writer_pooled_loss(rg_tape *t, const rg_model *model, const rg_set_writer *w, const rg_field *set,
                                     rg_tensor *cells);
/* (pictures, classes): 1/2 + p/2 for labels that were written, p the probability they were written with; otherwise
 * below 1/2. */
rg_tensor *rg_set_writer_answer(rg_tape *t, const rg_model *model, const rg_set_writer *w, rg_tensor *cells);
/* (examples, C): 1 for members. On the tape. */
rg_real *rg_set_targets(rg_tape *t, const rg_field *set, size_t classes);

#endif
