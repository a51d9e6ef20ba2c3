/* table1.h - the layers of Table 1 (Vaswani et al. 2017), each as a function on rows, with what theory says of it. */
#ifndef RG_LAB_TABLE1_H
#define RG_LAB_TABLE1_H

#include <stdio.h>

#include "regard/attention.h"

enum { TABLE1_KERNEL = 3, TABLE1_WINDOW = 16, TABLE1_LAYERS = 7 };

/* What the layers of one width learn. */
typedef struct table1_weights {
    rg_params *params;
    rg_heads   heads;
    rg_param  *rnn_w, *rnn_u, *conv, *depth, *point;
    rg_attention dot; /* attention without projections */
} table1_weights;

rg_status table1_weights_new(table1_weights *out, size_t d);
void      table1_weights_free(table1_weights *w);

typedef struct table1_layer {
    const char *name;
    const char *work, *sequential, *path;       /* as the table prints them */
    double (*operations)(double n, double d);   /* leading terms            */
    double depth_exponent;                      /* of n                     */
    size_t (*layers)(size_t n);                 /* until the ends of n rows see each other */
    bool   forward_only;                        /* a row never sees later ones */
    bool   grows;                               /* layers of a stack differ    */
    rg_tensor *(*run)(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number); /* number: in a stack */
    rg_tensor *(*probe)(rg_tape *t, const table1_weights *w, rg_tensor *x, const rg_layout *rows, size_t number); /* NULL: run */
} table1_layer;

extern const table1_layer table1_layers[TABLE1_LAYERS];

/* Layers needed until every row depends on every other (or on every earlier one), found by the support of gradients. */
rg_status table1_path(size_t *out, const table1_layer *layer, size_t n);

/* Operations and time (repeat > 0) of attention with projections at n rows of d columns, cut into heads[count]; a table.
 * *holds: the operations are within a tenth of the first. */
rg_status table1_heads(bool *holds, FILE *out, const size_t *heads, size_t count, size_t n, size_t d, int64_t repeat);

#endif
