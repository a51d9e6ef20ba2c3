/* made.h - generators: data sets that are made, not read.
 *
 * A generator is a constant in src/data/made and one word in RG_GENERATORS: `regard make NAME OPTIONS -o OUT` and every test that walks the
 * table know it from there. What it writes follows from its options and its seed alone. */
#ifndef REGARD_MADE_H
#define REGARD_MADE_H

#include "regard/options.h"

RG_API_BEGIN

typedef struct rg_generator {
    const char      *name, *summary;
    const char      *writes;  /* what is there afterwards: "OUT.en, OUT.fr, OUT.links", "OUT: JSON lines", "OUT/: PNG files, labels.tsv" */
    const rg_option *options; /* rows that fill a struct of options_bytes */
    size_t           options_bytes;
    /* Write to `out`: a file, a folder or the first part of names, as `writes` says. On failure the message names the file or the option;
     * files that were complete may be there. */
    rg_status (*write)(const char *out, const void *options);
} rg_generator;

/* One word per generator, in the order of the help. */
#define RG_GENERATORS(X) X(grammar) X(puzzles)
#define RG_GENERATOR_DECLARE(name) extern const rg_generator rg_generator_##name;
RG_GENERATORS(RG_GENERATOR_DECLARE)
#undef RG_GENERATOR_DECLARE

const rg_generator *const *rg_generator_all(void);              /* ends with NULL */
const rg_generator        *rg_generator_find(const char *name); /* NULL: none     */

RG_API_END
#endif
