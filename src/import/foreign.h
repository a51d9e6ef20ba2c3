/* foreign.h - a model of another program on its way to one of ours.
 *
 * An *architecture* is one file, arch_<name>.c, that ends in `const rg_architecture rg_architecture_<name>`, and one
 * word in the list of import.c. It says whether the arrays at hand are its own, which settings and vocabularies
 * follow from the files, and by a table of names where each of our parameters comes from. */
#ifndef RG_IMPORT_FOREIGN_H
#define RG_IMPORT_FOREIGN_H

#include "import/arrays.h"
#include "regard/import.h"
#include "regard/task.h"

/* What was found: the file, and its folder for the files beside it. */
typedef struct rg_foreign {
    const char *path, *folder;
    rg_arrays   arrays;
    json_t     *config; /* config.json beside it; NULL: there is none */
    const rg_import_options *options;
} rg_foreign;

/* Where a parameter comes from when a model is imported; of several rows with the same `ours` the first whose array is
 * there. Where it goes when one is exported; of several rows the first whose conditions hold. # stands for the number of
 * a layer in both names. */
typedef struct rg_import_row {
    const char *ours;
    const char *theirs[3]; /* one, or several whose columns stand side by side */
    unsigned    how;       /* RG_IMPORT_ and RG_EXPORT_ bits */
    size_t      skip;      /* leading rows of theirs that are left out; zeros when they are written */
} rg_import_row;
enum {
    RG_IMPORT_TURN     = 1, /* theirs is (out, in): transpose it               */
    RG_IMPORT_OPTIONAL = 2, /* zeros where it is not there                     */
    RG_IMPORT_FROM_ONE = 4, /* their layers are counted from 1                 */
    RG_EXPORT_LINE     = 8, /* a vector is stored as (1, n) where others are (n) */
    RG_EXPORT_PRE      = 16, /* of models whose norm comes first               */
    RG_EXPORT_RECURS   = 32, /* of models whose decoder recurs                 */
    RG_EXPORT_IF       = RG_EXPORT_PRE | RG_EXPORT_RECURS
};

/* rows.c: does a name match a pattern, and with which number for #? And the pattern with a number in its place. */
bool rg_row_matches(size_t *out_number, const char *pattern, const char *name);
void rg_row_name(char out[RG_ARRAYS_NAME], const char *pattern, size_t number);
size_t rg_row_parts(const rg_import_row *row); /* how many of theirs */
/* The name of part i for layer `number` of ours. */
void rg_row_theirs(char out[RG_ARRAYS_NAME], const rg_import_row *row, size_t i, size_t number);

/* What an architecture makes of the files: YAML of the system's settings, sizes, and what the task needs beside
 * weights. */
typedef struct rg_import_plan rg_import_plan;
struct rg_import_plan {
    const char *system;
    rg_text     settings;
    rg_sizes    sizes;
    void       *assets; /* from rg_alloc, its first member an rg_model *; `drop` frees what it holds */
    void (*drop)(void *assets);
    const rg_import_row *rows; /* ends with ours = NULL */
    const char *const   *unused; /* names, * at either end for any, of arrays that have no place here; ends with NULL */
    rg_status (*fill)(rg_model *model, const rg_import_plan *plan, rg_foreign *foreign); /* instead of rows, marks what it uses; NULL: rows */
    void *context; /* of fill, freed by drop_context */
    void (*drop_context)(void *context);
};

typedef struct rg_architecture {
    const char *name, *summary;
    bool (*fits)(const rg_foreign *foreign);
    rg_status (*plan)(rg_import_plan *plan, rg_foreign *foreign);
} rg_architecture;

/* ------------------------------------------------------------------------------------------------ for architectures */

/* A file of the folder, whole and unpacked (gzip, zstd): appended to out. *out_there false: it is not there. */
rg_status rg_foreign_file(bool *out_there, rg_text *out, const rg_foreign *foreign, const char *name);

/* The first name, in order, of the folder's files that match one of the patterns (* is any run of characters), of
 * which the first counts that matches at all; the list ends with NULL. *out NULL: there is none. rg_free it. */
rg_status rg_foreign_find(char **out, const rg_foreign *foreign, const char *const *patterns);

/* The value of `key: value` on a line of its own of flat YAML, in quotes or not; `other` when there is none. */
enum { RG_SETTING = 120 };
const char *rg_setting(char room[RG_SETTING], const char *yaml, const char *key, const char *other);

/* Settings of config.json (or of another object); `other` where there is none. */
int64_t     rg_config_integer(const json_t *config, const char *key, int64_t other);
double      rg_config_real(const json_t *config, const char *key, double other);
bool        rg_config_flag(const json_t *config, const char *key, bool other);
const char *rg_config_text(const json_t *config, const char *key, const char *other);

/* Layers with arrays named by a pattern, # their number from `first` on: how many there are without a gap. */
size_t rg_foreign_layers(const rg_foreign *foreign, const char *pattern, size_t first);

/* The assets and sizes of a translator; takes the vocabularies over, also on failure. target NULL: joint. */
rg_status rg_plan_translator(rg_import_plan *plan, rg_vocab *source, rg_vocab *target);
/* Those of a language model whose texts end with eos and have windows of `context` tokens; takes the vocabulary
 * over, also on failure. */
rg_status rg_plan_language(rg_import_plan *plan, rg_vocab *vocab, size_t context);

#endif
