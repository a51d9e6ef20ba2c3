/* view.h - ways to look at a record: in the terminal, as a figure, as a page; and the report of a training run.
 *
 * Everything here returns text or bytes; the program prints them or writes them to files. */
#ifndef REGARD_VIEW_H
#define REGARD_VIEW_H

#include "regard/decode.h"
#include "regard/metrics.h"
#include "regard/record.h"
#include "regard/task.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------------ collecting */

/* Fills a record from the watch points of a tape while one sentence pair (or one graph) goes through it:
 *
 *     rg_collector_new(&c, record, model->system->uses, -1);
 *     rg_tape_set_watcher(tape, rg_collector_watcher(c));
 *     ... the forward pass ...
 *     rg_tape_set_watcher(tape, NULL);
 *     RG_TRY(rg_collector_finish(c, NULL));
 *
 * The record has the label lists that the system's uses name; of several lists of a name ("output" of an n-best
 * list) number `hypothesis` is taken, and maps carry that number. "decoder.2.cross.weights" becomes maps named
 * "decoder.cross" of layer 2, one per head. Maps of nodes become edges. Rows from one list to another may come one
 * after the other, as a recurrent decoder makes them: such a map is added by rg_collector_finish. Watch points whose
 * sizes are not those of the labels are counted in out_skipped. */
typedef struct rg_collector rg_collector;
rg_status         rg_collector_new(rg_collector **out, rg_record *record, const rg_attention_use *uses, int hypothesis); /* uses are borrowed */
/* Only watch points whose full name matches ('*' any run of characters: "decoder.*.cross.weights"), and one head
 * (-1: all). The others are never made. */
rg_status         rg_collector_only(rg_collector *collector, const char *pattern, int head);
const rg_watcher *rg_collector_watcher(const rg_collector *collector);
rg_status         rg_collector_finish(rg_collector *collector, size_t *out_skipped); /* frees it; reports the first failure */

/* The same for the gates of recurrent layers (recurrent.h): maps "forget", "input", "output", "cell" of an LSTM,
 * "update" and "reset" of a GRU, and "candidate", one per layer, units down and the labels of list `words` across; of a
 * layer that reads backwards "back.forget", and so on. Cells are drawn as (1 + tanh c) / 2, candidates as (1 + n) / 2.
 * The means of gates over their units are curves. Rows may come one after another, as a decoder makes them. */
typedef struct rg_gate_collector rg_gate_collector;
rg_status         rg_gate_collector_new(rg_gate_collector **out, rg_record *record, size_t words);
/* Layers inside `scope` ("encoder") read the labels of another list; their maps are called "encoder.forget", and so on.
 * At most RG_GATE_SCOPES of them, whose names are borrowed. RG_ELIMIT: one too many. */
enum { RG_GATE_SCOPES = 4 };
rg_status         rg_gate_collector_scope(rg_gate_collector *collector, const char *scope, size_t words);
const rg_watcher *rg_gate_collector_watcher(const rg_gate_collector *collector);
rg_status         rg_gate_collector_finish(rg_gate_collector *collector); /* frees it; reports the first failure */

/* Of maps of rows over the rows before them: a curve of the mean weight against the distance, one per name and
 * layer. Nothing where there are none. */
rg_status rg_record_add_distances(rg_record *record);

/* Two records in one: each map that both have (same name, layer, head and step; of n-best lists the first hypothesis) as
 * "A: NAME", "B: NAME" and "difference: NAME", B - A over the labels of both. RG_EMATCH: they have none in common. */
rg_status rg_record_beside(rg_record **out, const rg_record *a, const rg_record *b);

/* A confusion matrix: classes down, with the number of their inputs, answers across, the share of a class's inputs that
 * got each answer. */
rg_status rg_record_of_confusion(rg_record **out, const rg_confusion *confusion, const rg_names *names);

/* "faithfulness: rank correlation with occlusion 0.41; ...", the line under a map; "": not measured. A new string for
 * rg_free; NULL: no memory. */
char *rg_faithfulness_text(const rg_faithfulness *faith);

/* --------------------------------------------------------------------------------------------------- colours */

/* Colours from low to high. AUTO is BLUE on light ground and FIRE on dark ground. */
typedef enum rg_palette { RG_PALETTE_AUTO, RG_PALETTE_BLUE, RG_PALETTE_FIRE, RG_PALETTE_GRAY } rg_palette;

/* Red, green, blue in 0..1 for a value in -1..1 (values outside are clamped). Below 0 the colour is another one: red on
 * light ground, ice on dark; gray has none. */
void rg_palette_colour(double out[3], rg_palette palette, double value);

/* -------------------------------------------------------------------------------------------------- terminal */

typedef enum rg_terminal_colour { RG_COLOUR_NONE, RG_COLOUR_256, RG_COLOUR_24BIT } rg_terminal_colour;

typedef struct rg_terminal_options {
    rg_terminal_colour colour;
    bool               unicode; /* arrows, blocks and lines; otherwise ASCII                     */
    int                width;   /* columns of the terminal, at least 20                          */
    int                height;  /* most lines of a matrix; more are joined                       */
    int                links;   /* how many of the strongest links to list                       */
    rg_palette         palette; /* AUTO is FIRE on a dark terminal, BLUE on a light one          */
    bool               light;   /* dark letters on a light ground                                */
    bool               bare;    /* without title and texts: another map of the same record stands above */
} rg_terminal_options;
#define RG_TERMINAL_OPTIONS_DEFAULT { RG_COLOUR_NONE, true, 80, 60, 12, RG_PALETTE_AUTO, false, false }

/* What the terminal can do, from NO_COLOR, COLORTERM, TERM, LC_ALL, LC_CTYPE, LANG and COLUMNS. Colour only when
 * is_terminal. `width` is what the system says, or 0. */
void rg_terminal_detect(rg_terminal_options *out, bool is_terminal, int width);

/* One map as text with its title, heat map, colour scale and strongest links. to be freed with rg_free. Labels cannot
 * smuggle escape sequences: control characters are shown as a replacement. */
rg_status rg_terminal_draw(char **out, const rg_record *record, size_t map, const rg_terminal_options *options);

/* The record's curves, drawn with dots. */
rg_status rg_terminal_curves(char **out, const rg_curves *curves, const rg_terminal_options *options);

/* A record of kind "beam" as a tree of lines. RG_EINVAL: the map is no tree. */
rg_status rg_terminal_tree(char **out, const rg_record *record, size_t map, const rg_terminal_options *options);

/* A new string without anything a terminal would obey; NULL when there is no memory. */
char *rg_terminal_safe(const char *text);
char *rg_terminal_cut(const char *text, size_t columns); /* the same, of at most so many columns: cut with an ellipsis */

/* Columns a text takes on a terminal: wide characters count 2, combining marks 0. */
size_t rg_terminal_width(const char *text);

/* --------------------------------------------------------------------------------------------------- figures */

typedef enum rg_figure_style {
    RG_FIGURE_AUTO,    /* by what the record holds                                      */
    RG_FIGURE_MATRIX,  /* one map: rows down, columns across (Bahdanau 2015, figure 3)  */
    RG_FIGURE_GRID,    /* every head of every layer, small                              */
    RG_FIGURE_LINKS,   /* two columns of words and lines between them                   */
    RG_FIGURE_PICTURE, /* the picture under a soft light, once for each word            */
    RG_FIGURE_GRAPH,   /* nodes and edges                                               */
    RG_FIGURE_CURVES,  /* series over axes                                              */
    RG_FIGURE_MEMORY,  /* heads over a memory's slots, time across (Graves 2014, fig. 6) */
    RG_FIGURE_PANELS,  /* every picture of the record beside the others, and lit by its maps below */
    RG_FIGURE_PARTS,   /* the parts of a network as boxes, what goes in below             */
    RG_FIGURE_BEAM,    /* the hypotheses of a beam search as a tree, time across         */
    RG_FIGURE_STYLES
} rg_figure_style;

const char *rg_figure_style_name(rg_figure_style style); /* "auto" "matrix" "grid" "links" "picture" "graph" "curves" "memory" "panels" "parts" "beam" */

typedef enum rg_figure_format { RG_FIGURE_PNG, RG_FIGURE_SVG, RG_FIGURE_PDF } rg_figure_format;

typedef struct rg_figure_options {
    rg_figure_style style;
    size_t          map;       /* which map; past the last: the one rg_record_find(-1, -1, -1) names;
                                  of a grid: every head of every name                                */
    size_t          curves;    /* which set of curves                                                */
    bool            dark;
    bool            numbers;   /* write the weights into the cells where they fit                    */
    bool            no_title;
    rg_palette      palette;
    float           threshold; /* links and edges below it are not drawn                             */
    double          width;     /* points (1/72 inch); 0 lets the content decide                      */
    double          scale;     /* pixels per point of a PNG                                          */
    const char     *font;      /* a Pango family, NULL for "DejaVu Sans, Noto Sans, sans-serif"      */
} rg_figure_options;
#define RG_FIGURE_OPTIONS_DEFAULT \
    { RG_FIGURE_AUTO, (size_t)-1, 0, false, false, false, RG_PALETTE_AUTO, 0.02f, 0, 2, NULL }

/* What a drawing came to. missing_glyphs counts characters for which no installed font has a glyph. */
typedef struct rg_figure_result {
    double   width, height; /* points */
    unsigned missing_glyphs;
} rg_figure_result;

/* Draw into memory (to be freed with rg_free) or into a file. Opens the figures module, which
 * needs cairo and pango; RG_EIO says that it is not installed. out_result may be NULL. */
rg_status rg_figure_render(void **out, size_t *out_bytes, rg_figure_result *out_result, const rg_record *record,
                           rg_figure_format format, const rg_figure_options *options);
rg_status rg_figure_save(const char *path, rg_figure_format format, rg_figure_result *out_result,
                         const rg_record *record, const rg_figure_options *options);

/* ------------------------------------------------------------------------------------------------------ page */

typedef struct rg_page_options {
    bool live; /* served: the page shows a box to type into and asks /v1/attention and /translate */
    bool dark; /* start dark whatever the reader's system prefers */
} rg_page_options;

/* One HTML file with the record inside; nothing else is loaded. record may be NULL when live. To be freed with
 * rg_free. */
rg_status rg_page_write(char **out, size_t *out_bytes, const rg_record *record, const rg_page_options *options);
rg_status rg_page_save(const char *path, const rg_record *record, const rg_page_options *options);

/* A set of curves as an <svg> element that follows the page's colours (CSS variables), without cairo. */
rg_status rg_curves_svg(char **out, const rg_curves *curves, int width, int height);

/* ---------------------------------------------------------------------------------------------------- report */

/* A training log (JSON lines, docs/record.md) as a record: its curves and its samples as texts. */
rg_status rg_report_read(rg_record **out, const char *path);
/* The same as a page of curves, numbers and sample translations. */
rg_status rg_report_write(char **out, size_t *out_bytes, const char *log_path);
/* Several runs: a set of curves per quantity ("Validation: bleu"), a series per run, named by what tells the paths apart. */
rg_status rg_report_compare(rg_record **out, const char *const *paths, size_t count);
/* A record of curves as such a page. */
rg_status rg_report_write_record(char **out, size_t *out_bytes, const rg_record *record, const char *heading);

/* ------------------------------------------------------------------------------------------------- gradients */

typedef struct rg_gradients_options {
    size_t      steps, width;
    double      gain; /* the spectral radius the weights are drawn for; 0: 0.9 over time, 0.577 over depth (uniform in +- 1 / sqrt(width)) */
    uint64_t    seed;
    const char *activation; /* of the plain network and of the deep one: "tanh" "relu" "sigmoid" "linear" */
    const char *remedy;     /* "none" "batchnorm" (over depth) "orthogonal" "clip" (the whole gradient to norm 1) */
    size_t      depth;      /* 0: recurrent networks over `steps` steps; else one network of so many layers, without and with the remedy */
} rg_gradients_options;
#define RG_GRADIENTS_OPTIONS_DEFAULT { 128, 64, 0, 1, "tanh", "none", 0 }

/* Networks with random weights: the norm of dL/dh_t over the time steps for a plain network, an LSTM and a GRU, or
 * over the layers of a deep one. Sets of curves and a heat map, under a title that says what happened. */
rg_status rg_gradients_record(rg_record **out, const rg_gradients_options *options);

/* The double sum of backpropagation through time of a plain network, a loss at every step: a triangle of the norms
 * of its terms, loss down and step across. *out_apart (may be NULL): how far the sum of the terms is from the tape's
 * gradient, relative to it. */
rg_status rg_gradients_contributions(rg_record **out, double *out_apart, const rg_gradients_options *options);

/* Sinusoidal positions: the codes of `places` as a matrix, and the dot product of two of them against their distance.
 * RG_EINVAL: fewer than 2 or more than 1,024 places or columns, or an odd number of columns. */
rg_status rg_positions_record(rg_record **out, size_t places, size_t width);

/* ----------------------------------------------------------------------------------------------------- parts */

/* What a network consists of, in the order its parts come in: read off a tape that runs one batch on shapes alone. */
enum { RG_PART_NAME = 96 };
typedef struct rg_network_part {
    char   name[RG_PART_NAME]; /* "encoder.0-5.self": sub-layer `self` of six layers that are alike   */
    size_t layers;             /* 6                                                                  */
    size_t rows, cols;         /* of what it makes, in one layer                                     */
    bool   passed;             /* which other parts use                                              */
    size_t parameters;         /* of all its layers; a table used twice counts where it is used first */
    double flops;              /* of all its layers, forward                                          */
    size_t ops, times;         /* of all; how often one of its layers comes: once per step in a recurrence */
} rg_network_part;
typedef struct rg_network {
    char      system[RG_PART_NAME];
    rg_network_part  *part;
    size_t    count;
    uint32_t *from, *to; /* what part `from` makes, part `to` uses; back to an earlier one: in the next step */
    size_t    edges;
    size_t    parameters;
    double    flops;
} rg_network;

/* Of a training that is prepared and not run; `sizes` as in rg_learn_prepare. */
rg_status rg_network_new(rg_network **out, const rg_training *training, const rg_sizes *sizes);
void      rg_network_free(rg_network *parts);
/* "6 x 2 + 6 x 3 = 30 sub-layers": layers times sub-layers with parameters of each stack. Nothing where there is no
 * stack. */
rg_status rg_network_sublayers(rg_text *out, size_t *out_total, const rg_network *parts);
/* A graph of boxes, drawn in style "parts": labels "NAME · ROWS x COLS · N parameters" with their places, edges "flow". */
rg_status rg_network_record(rg_record **out, const rg_network *parts);

/* ------------------------------------------------------------------------------------------------------ beam */

/* A search as a tree: rg_beam_tree_note is rg_search_config.trace, the tree its context; one thread. */
typedef struct rg_beam_tree rg_beam_tree;
rg_status rg_beam_tree_new(rg_beam_tree **out);
void      rg_beam_tree_free(rg_beam_tree *tree);
void      rg_beam_tree_clear(rg_beam_tree *tree); /* forget what was noted */
void      rg_beam_tree_note(void *tree, const rg_beam_event *event);
/* The search of one source (its number) as a record of kind "beam" (docs/record.md): kept, dropped and finished
 * hypotheses and the path of the answer. `name` gives the text of a token, borrowed. */
typedef const char *rg_token_name(const void *context, int32_t token);
rg_status rg_beam_tree_record(rg_record **out, const rg_beam_tree *tree, uint64_t number, const char *title,
                              rg_token_name *name, const void *context);

/* How far back a trained model's answer depends on what it read:
 *
 *     g_k = mean of || d log p(y_t) / d x_{t-k} ||        k = 0 .. most; x the embedded inputs, t the last row of each group
 *
 * A task runs batches through it; inputs are what the system's `enter` gives or what it watches under the name
 * "inputs". */
typedef struct rg_influence rg_influence;
rg_status rg_influence_new(rg_influence **out, const rg_model *model, size_t most);
void      rg_influence_free(rg_influence *influence);
size_t    rg_influence_most(const rg_influence *influence);
/* One measurement per group of inputs. RG_EMATCH: the system reads no sequence. */
rg_status rg_influence_add(rg_influence *influence, const void *batch);
/* RG_EINVAL: nothing, or no group of two rows, was measured. */
rg_status rg_influence_record(rg_record **out, const rg_influence *influence);

RG_API_END
#endif
