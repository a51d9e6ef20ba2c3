/* examples_made.h - what generators of examples share: options, digits to draw from, drawing. */
#ifndef REGARD_DATA_MADE_EXAMPLES_MADE_H
#define REGARD_DATA_MADE_EXAMPLES_MADE_H

#include "regard/made.h"

/* The first member of every generator's options. */
typedef struct rg_made_settings {
    int64_t count, valid, test, seed;
    char   *digits, *pictures; /* NULL where the generator has no such rows */
} rg_made_settings;

#define RG_MADE_ROWS(type, COUNT)                                                                                                         \
    { RG_OPTION_INT, "count", offsetof(type, base.count), COUNT, "training examples", 'n', "[0,100000000]", NULL },                       \
    { RG_OPTION_INT, "valid", offsetof(type, base.valid), "1000", "validation examples; 0: none", 0, "[0,100000000]", NULL },             \
    { RG_OPTION_INT, "test", offsetof(type, base.test), "1000", "test examples; 0: none", 0, "[0,100000000]", NULL },                     \
    { RG_OPTION_INT, "seed", offsetof(type, base.seed), "1", "of everything that is drawn", 0, "[0,inf)", NULL }
#define RG_MADE_DIGITS(type)                                                            \
    {                                                                                   \
        RG_OPTION_STRING, "digits", offsetof(type, base.digits), "",                    \
            "folder with MNIST's idx files; without it digits are drawn", 0, NULL, NULL \
    }

/* ---------------------------------------------------------------------------------------------------------- digits */

enum { RG_DIGIT_SIDE = 28 };
typedef struct rg_digits {
    rg_text              pixels[2], labels[2]; /* of MNIST's two files; empty: digits are drawn */
    uint64_t             count[RG_MADE_SPLITS];
    const unsigned char *over, *digit; /* of somebody else; the one of number `at` */
    uint64_t             at;
} rg_digits;

/* MNIST's files below `folder` (validation: the last 10,000 of the training file), or digits of strokes for "". */
rg_status rg_digits__open(rg_digits **out, const char *folder);
void      rg_digits__close(rg_digits *digits);
uint64_t  rg_digits__count(const rg_digits *digits, rg_made_split split);
/* The digits of somebody else, for all splits. `rg_digits__with` is the same with `digit` in the place of number
 * `at`. */
rg_status rg_digits__over(rg_digits **out, const unsigned char *pixels, size_t count);
void      rg_digits__with(rg_digits *out, const rg_digits *digits, const unsigned char *digit, uint64_t at);
/* 28 x 28 pixels of digit `index` (modulo the count) of a split; returns its class. */
int rg_digits__get(unsigned char *out, const rg_digits *digits, rg_made_split split, uint64_t index);

struct rg_maker {
    const rg_generator     *generator;
    const void             *options;
    const rg_made_settings *base;
    rg_digits              *digits;   /* of generators with that option; otherwise NULL */
    rg_picture             *pictures; /* the same: photographs, RGB                     */
    size_t                  picture_count;
};

/* `write` of generators of examples: OUT/train..., OUT/valid..., OUT/test..., as idx where the only column is the
 * label, otherwise PNG in a tar archive with a TSV; boxes beside them. */
rg_status rg_made__write(const rg_generator *generator, const char *out, const void *options);
#define RG_MADE_WRITES_IDX "OUT/{train,valid,test}-images-idx3-ubyte, -labels-idx1-ubyte, -boxes.tsv"
#define RG_MADE_WRITES_TAR "OUT/{train,valid,test}.tar (PNG), .tsv, -boxes.tsv"
#define RG_MADE_WRITES_TXT "OUT/{train,valid,test}.txt"
#define RG_MADE_WRITES_TSV "OUT/{train,valid,test}.tsv"

/* lowest .. highest, both included. */
size_t rg_made__between(rg_random *random, size_t lowest, size_t highest);
double rg_made__uniform(rg_random *random, double lowest, double highest);
rg_status rg_made__add_box(rg_made *made, const char *name, double x, double y, double width, double height); /* cut at the picture's edge */
/* The box of all pixels of `layer` brighter than 64; none, no box. */
rg_status rg_made__add_bounds(rg_made *made, const char *name, const rg_picture *layer);

/* --------------------------------------------------------------------------------------------------------- drawing */

typedef struct rg_ink {
    unsigned char c[3]; /* the first alone where the picture is grey */
} rg_ink;

void rg_draw__line(rg_picture *p, double x0, double y0, double x1, double y1, double thick, rg_ink ink);
/* Shapes by name of the table, filled, in the square of 2 * size pixels around (x, y). */
enum { RG_SHAPE_CIRCLE, RG_SHAPE_SQUARE, RG_SHAPE_TRIANGLE, RG_SHAPE_CROSS, RG_SHAPE_RING, RG_SHAPES };
extern const char *const rg_draw__shapes[RG_SHAPES];
void rg_draw__shape(rg_picture *p, int shape, double x, double y, double size, rg_ink ink);
/* A symbol 0-9A-Z of strokes. (u, v) of its box, 0 .. 1, goes to (m[0] u + m[1] v + m[2], m[3] u + m[4] v + m[5]).
 * jitter moves the points of its strokes by so much of the box. */
void rg_draw__symbol(rg_picture *p, char symbol, const double m[6], double thick, rg_ink ink, double jitter,
                     rg_random *random);
/* Take the brighter of both, first pixel of `from` at (top, left). */
void rg_draw__paste(rg_picture *p, const rg_picture *from, ptrdiff_t top, ptrdiff_t left);

/* Smooth noise between 0 and 1 of `cells` bumps across the picture; one number per pixel. */
rg_status rg_draw__noise(float *out, size_t height, size_t width, size_t cells, rg_random *random);
/* A colour picture of smooth patches. */
rg_status rg_draw__texture(rg_picture *out, size_t height, size_t width, rg_random *random);

#endif
