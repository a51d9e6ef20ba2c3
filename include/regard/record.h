/* record.h - what was attended to, as data: labelled rows and columns and the weights between them.
 *
 * A record holds label lists (tokens, image regions, graph nodes, memory slots), maps (one matrix or edge list of
 * weights for one layer, head and step, between two label lists), texts (source, output, n-best) and curves. The
 * terminal, the figures and the page draw records and nothing else; docs/record.md describes the files. */
#ifndef REGARD_RECORD_H
#define REGARD_RECORD_H

#include "regard/base.h"

RG_API_BEGIN

#define RG_RECORD_VERSION "regard-record/1"

/* What a reader accepts. A file past a limit is refused with RG_ELIMIT and the number. */
#define RG_RECORD_MAX_JSON    ((size_t)64 << 20) /* bytes of a JSON record                */
#define RG_RECORD_MAX_LISTS   4096               /* label lists, texts, curves            */
#define RG_RECORD_MAX_MAPS    65536
#define RG_RECORD_MAX_LABELS  1000000            /* labels of one list                    */
#define RG_RECORD_MAX_LABEL   ((size_t)64 << 10) /* bytes of one label                    */
#define RG_RECORD_MAX_WEIGHTS ((size_t)1 << 28)  /* weights of all maps                   */
#define RG_RECORD_MAX_PICTURE ((size_t)32 << 20) /* bytes of one picture, still encoded   */

typedef enum rg_label_kind {
    RG_LABEL_TOKEN,
    RG_LABEL_REGION, /* a box of a picture  */
    RG_LABEL_NODE,   /* a node of a graph   */
    RG_LABEL_SLOT,   /* a place in a memory */
    RG_LABEL_KINDS
} rg_label_kind;

const char *rg_label_kind_name(rg_label_kind kind); /* "token" "region" "node" "slot" */

typedef struct rg_labels {
    char          *name; /* "source" */
    rg_label_kind  kind;
    size_t         count;
    char         **text;
    float         *boxes;         /* regions: x0 y0 x1 y1 each, fractions of the picture, or NULL */
    float         *places;        /* nodes: x y each, any unit, or NULL: the drawing finds places */
    unsigned char *picture;       /* a PNG or JPEG file's bytes, or NULL                          */
    size_t         picture_bytes;
} rg_labels;

/* How faithful a map is to what the model does (explain.h). */
typedef struct rg_faithfulness {
    bool   measured;
    float  rank;         /* rank correlation with occlusion                                   */
    size_t k;            /* so many inputs with the largest weights were left out; 0: none were */
    float  drop, random; /* ... log p fell by this; by that without as many random ones        */
} rg_faithfulness;

/* One matrix of weights. `rows` look at `cols`: the weights of a row are what its query gave to each key.
 * Dense: weights[r * cols + c]. Sparse (from, to, weights, each `edges` long): only the pairs that were open. */
typedef struct rg_record_map {
    char     *name;       /* "decoder.cross" */
    int       layer;      /* -1 where it does not apply, as for head, step and hypothesis */
    int       head;
    int       step;
    int       hypothesis; /* which text of the n-best list this matrix belongs to         */
    size_t    row_labels; /* index of a label list */
    size_t    col_labels;
    size_t    rows, cols; /* lengths of those lists */
    float    *weights;
    size_t    edges;
    uint32_t *from, *to;  /* NULL when dense */
    rg_faithfulness faith;
} rg_record_map;

/* A text that belongs to the record; role is "source", "output", "hypothesis", "reference" or "note". */
typedef struct rg_record_text {
    char  *role, *text;
    double score; /* of a hypothesis, else 0 */
    bool   chosen;
} rg_record_text;

typedef struct rg_series {
    char   *name;
    size_t  count;
    double *x, *y;
    double *low, *high; /* the interval around each y, or NULL */
} rg_series;

/* Several series over one pair of axes: losses, BLEU by length, gradient norm by time step. Series of a single point
 * each are points with names. With bars, x counts them from 0, and the drawing has a bar for each; where there are
 * intervals, a point with its interval. */
typedef struct rg_curves {
    char      *title, *x_name, *y_name;
    bool       x_log, y_log;
    size_t     count;
    rg_series *series;
    size_t     bars;
    char     **bar; /* names, or NULL */
} rg_curves;

typedef struct rg_record {
    char           *title;
    char           *kind; /* "translation", "caption", "graph", "memory", "language", "training": free text */
    size_t          label_lists, maps, texts, curve_sets;
    size_t          weights; /* in all maps together */
    rg_labels      *labels;
    rg_record_map         *map;
    rg_record_text *text;
    rg_curves      *curves;
} rg_record;

/* ---------------------------------------------------------------------------------------------------- making */

rg_status rg_record_new(rg_record **out, const char *title, const char *kind);
void      rg_record_free(rg_record *record);
/* Another kind. "sheet": its last picture says all, the map over it is for pointing at parts of it. */
rg_status rg_record_set_kind(rg_record *record, const char *kind);

/* All adders copy what they are given and leave the record as it was when they fail. out_index may be NULL. */
rg_status rg_record_add_labels(size_t *out_index, rg_record *record, const char *name, rg_label_kind kind,
                               const char *const *text, size_t count);
rg_status rg_record_set_boxes(rg_record *record, size_t labels, const float *boxes);   /* 4 * count */
rg_status rg_record_set_places(rg_record *record, size_t labels, const float *places); /* 2 * count */
rg_status rg_record_set_picture(rg_record *record, size_t labels, const void *png_or_jpeg, size_t bytes);

/* Are they regions of a picture that stand side by side, each as high as the picture: times of a recording? */
bool rg_labels_are_strips(const rg_labels *labels);

/* A grid of down x across equal boxes over the whole picture, row by row: the regions of a convolutional encoder. */
rg_status rg_record_add_grid(size_t *out_index, rg_record *record, const char *name, size_t down, size_t across);

typedef struct rg_map_place {
    const char *name;
    int         layer, head, step, hypothesis;
} rg_map_place;
#define RG_MAP_PLACE_DEFAULT { "attention", -1, -1, -1, -1 }

/* Rows and columns are the lengths of the two lists. ld is the distance between rows of `weights` (>= columns). */
rg_status rg_record_add_map(size_t *out_index, rg_record *record, rg_map_place place, size_t row_labels,
                            size_t col_labels, const rg_real *weights, size_t ld);
rg_status rg_record_add_edges(size_t *out_index, rg_record *record, rg_map_place place, size_t row_labels,
                              size_t col_labels, const uint32_t *from, const uint32_t *to, const rg_real *weights,
                              size_t edges);
void      rg_record_set_faithfulness(rg_record *record, size_t map, rg_faithfulness faith); /* finite numbers */
rg_status rg_record_add_text(rg_record *record, const char *role, const char *text, double score, bool chosen);
rg_status rg_record_add_curves(size_t *out_index, rg_record *record, const char *title, const char *x_name,
                               const char *y_name, bool x_log, bool y_log);
rg_status rg_record_add_series(rg_record *record, size_t curves, const char *name, const double *x, const double *y,
                               size_t count);
/* Of the series that was added last: low <= y <= high. */
rg_status rg_record_set_interval(rg_record *record, size_t curves, const double *low, const double *high);
/* Names of x = 0 .. count - 1, at least one, before any series; series then have their x among them. */
rg_status rg_record_set_bars(rg_record *record, size_t curves, const char *const *name, size_t count);

/* ---------------------------------------------------------------------------------------------------- asking */

/* Weight of one pair; 0 for a pair that is not among the edges. Indices must be inside. */
float rg_map_weight(const rg_record_map *map, size_t row, size_t col);

/* Is the map one over the picture of a record of kind "sheet"? The drawing is the picture itself. */
bool rg_map_is_sheet(const rg_record *record, const rg_record_map *map);

/* All of it as rows * cols numbers, sparse or not; to be freed with rg_free. RG_ELIMIT past `most` numbers. */
rg_status rg_map_dense(float **out, const rg_record_map *map, size_t most);

/* The map of that name (NULL: any), layer, head and step (-1: any); prefers the chosen hypothesis, then the last
 * layer and step, then the first head. Returns the number of maps when there is none. */
size_t rg_record_find(const rg_record *record, const char *name, int layer, int head, int step);

/* Largest weights of a map, strongest first. Returns how many were written, at most `most`. */
typedef struct rg_link {
    size_t row, col;
    float  weight;
} rg_link;
size_t rg_map_strongest(rg_link *out, const rg_record_map *map, float threshold, size_t most);

/* ----------------------------------------------------------------------------------------------------- files */

/* How weights are written into JSON: plain numbers that read back to the same float; base64 of little-endian
 * float32; base64 of 16 bits times a scale (for the page: half a pixel's brightness is 0.002, a step is 0.00002).
 * AUTO writes numbers up to 16,384 weights a map and float32 beyond. */
typedef enum rg_weights_as { RG_WEIGHTS_AUTO, RG_WEIGHTS_NUMBERS, RG_WEIGHTS_F32, RG_WEIGHTS_U16 } rg_weights_as;

/* JSON text, ending in a zero byte that out_bytes does not count; to be freed with rg_free. */
rg_status rg_record_to_json(char **out, size_t *out_bytes, const rg_record *record, rg_weights_as weights);
rg_status rg_record_from_json(rg_record **out, const char *json, size_t bytes);

/* By the name's end: .safetensors, or JSON for everything else. Reading looks at the content instead. */
rg_status rg_record_save(const rg_record *record, const char *path);
rg_status rg_record_load(rg_record **out, const char *path);

RG_API_END
#endif
