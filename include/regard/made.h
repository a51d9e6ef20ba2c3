/* made.h - generators: data sets that are made, not read.
 *
 * A generator is a constant in src/data/made and one word in RG_GENERATORS: `regard make NAME OPTIONS -o OUT` and
 * every test that walks the table know it from there. What it writes follows from its options and its seed alone. */
#ifndef REGARD_MADE_H
#define REGARD_MADE_H

#include "regard/options.h"
#include "regard/picture.h"

RG_API_BEGIN

/* ------------------------------------------------------------------------------------------------------- examples */

typedef enum rg_made_split { RG_MADE_TRAIN, RG_MADE_VALID, RG_MADE_TEST, RG_MADE_SPLITS } rg_made_split;

enum { RG_MADE_COLUMNS = 6, RG_MADE_BOXES = 64, RG_MADE_NAME = 24 };

/* Where something is in a picture: pixels x .. x + width - 1, y .. y + height - 1. */
typedef struct rg_made_box {
    char   name[RG_MADE_NAME];
    size_t x, y, width, height;
} rg_made_box;

/* One example. All zero is none; rg_made_free. */
typedef struct rg_made {
    rg_picture  picture;               /* without pixels: the example has none                                             */
    rg_text     sound;                 /* a WAV file; empty: the example has none                                          */
    rg_text     cell[RG_MADE_COLUMNS]; /* as `columns` of the generator names them                                         */
    rg_made_box box[RG_MADE_BOXES];
    size_t      boxes;
    uint64_t    identity; /* what no two splits may share (a hash of a scene, of a string); 0: they cannot, by its source */
} rg_made;
void rg_made_free(rg_made *made); /* and make it none */

/* A generator with its options and what it draws from, opened. Any number of threads may draw from one. */
typedef struct rg_maker rg_maker;

/* ------------------------------------------------------------------------------------------------------ generators */

typedef struct rg_generator {
    const char      *name, *summary;
    const char      *writes;  /* what is there afterwards: "OUT.en, OUT.fr, OUT.links", "OUT: JSON lines", "OUT/: PNG files, labels.tsv" */
    const rg_option *options; /* rows that fill a struct of options_bytes */
    size_t           options_bytes;
    /* Write to `out`: a file, a folder or the first part of names, as `writes` says. On failure the message names
     * the file or the option; files that were complete may be there. */
    rg_status (*write)(const char *out, const void *options);

    /* Generators of examples, which can be drawn one by one; NULL for the others. */
    const char *columns;     /* names of the cells of an example: "label", "question answer kind"                          */
    size_t      per_picture; /* so many examples in a row share a picture; 0 and 1: each has its own                       */
    /* Draw example `number` of a split by numbers from `random`, which depends on seed, split and picture alone. */
    rg_status (*draw)(rg_made *out, const rg_maker *maker, rg_made_split split, uint64_t number, rg_random *random);
} rg_generator;

/* Open a generator of examples; its options are borrowed and must outlive it. */
rg_status rg_maker_new(rg_maker **out, const rg_generator *generator, const void *options);
void      rg_maker_free(rg_maker *maker);
/* Example `number` of a split, of as many as one wants: the same for the same options, seed, split and number. What
 * was in *out is freed. */
rg_status rg_maker_draw(rg_made *out, const rg_maker *maker, rg_made_split split, uint64_t number);

/* Generators that place, turn or cover one digit, over the digits of somebody's own files: `digits` of 28 x 28 bytes
 * each, borrowed, from which clutter is cut. RG_EINVAL: the generator has no use for them. */
enum { RG_MADE_DIGIT = 28 };
rg_status rg_maker_over(rg_maker **out, const rg_generator *generator, const void *options, const unsigned char *digits,
                        size_t count);
/* The picture of a digit in an epoch: what is drawn depends on the options' seed, the epoch and the number alone.
 * What was in *out is freed. */
rg_status rg_maker_change(rg_made *out, const rg_maker *maker, const unsigned char *digit, uint64_t epoch,
                          uint64_t number);

/* One word per generator, in the order of the help. */
#define RG_GENERATORS(X)                                                                                            \
    X(grammar) X(names) X(frames) X(puzzles) X(t60) X(ct60) X(ct100) X(stclut) X(rts42) X(addition) X(grid16) X(mnist_m) X(captcha) X(scenes) X(vqa) X(sets) \
    X(plates) X(longrange) X(adding) X(bond) X(coreference) X(referents) X(ring8) X(dna) X(series) X(speech)
#define RG_GENERATOR_DECLARE(name) extern const rg_generator rg_generator_##name;
RG_GENERATORS(RG_GENERATOR_DECLARE)
#undef RG_GENERATOR_DECLARE

const rg_generator *const *rg_generator_all(void);              /* ends with NULL */
const rg_generator        *rg_generator_find(const char *name); /* NULL: none     */
/* Write with the settings of this YAML, "count: 60\nseed: 5\n"; the others are its defaults. */
rg_status rg_generator_write(const rg_generator *generator, const char *out, const char *yaml);
/* The same into FOLDER/NAME. */
rg_status rg_generator_write_in(const rg_generator *generator, const char *folder, const char *name, const char *yaml);

RG_API_END
#endif
