/* options.h - settings described by rows.
 *
 * A row says what a setting is called, where it lives in a struct, its default and its help. Everything else comes from
 * the rows: defaults, command-line flags, YAML configuration, `--help`, the manual, what a model file remembers.
 *
 *     typedef struct train_options { int64_t steps; double rate; char *model; bool tied; rg_list sets; } train_options;
 *
 *     static const rg_option rows[] = {
 *         { RG_OPTION_INT,    "steps",      offsetof(train_options, steps), "1000",  "optimiser steps", 0, "[1,inf)" },
 *         { RG_OPTION_REAL,   "learn-rate", offsetof(train_options, rate),  "1e-3",  "learning rate" },
 *         { RG_OPTION_STRING, "model",      offsetof(train_options, model), "",      "model file", 'm' },
 *         { RG_OPTION_BOOL,   "tied",       offsetof(train_options, tied),  "false", "share embeddings" },
 *         { RG_OPTION_LIST,   "train-sets", offsetof(train_options, sets),  "",      "parallel files", 't' },
 *         RG_OPTION_END
 *     };
 */
#ifndef REGARD_OPTIONS_H
#define REGARD_OPTIONS_H

#include "regard/base.h"

RG_API_BEGIN

typedef enum rg_option_kind {
    RG_OPTION_INT,    /* int64_t                                                          */
    RG_OPTION_REAL,   /* double, finite                                                   */
    RG_OPTION_STRING, /* char *, never NULL, owned by the struct                          */
    RG_OPTION_BOOL,   /* bool; a flag without a value means true                          */
    RG_OPTION_LIST    /* rg_list of strings, owned; the default is split at spaces        */
} rg_option_kind;

typedef struct rg_list {
    size_t count;
    char **items;
} rg_list;

typedef struct rg_option {
    rg_option_kind kind;
    const char    *name;   /* the long flag without its dashes, the key in YAML */
    size_t         offset; /* of the field                                      */
    const char    *value;  /* the default, as text                              */
    const char    *help;   /* a line; lower case, no full stop                  */
    char           letter; /* 'm' for -m, or 0                                  */
    const char    *choices; /* the only values allowed: "dot|general|additive"; of numbers "[0,1)", "(0,inf)"; or NULL */
    const char    *was;     /* an earlier name, which is refused with a hint; NULL: none                               */
    const char    *implicit; /* the value of a flag that stands alone: "1" of -n; NULL: a flag needs a value          */
} rg_option;

#define RG_OPTION_END { RG_OPTION_INT, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL }

/* Several row tables read together: a command's own, its model's, its task's. */
typedef struct rg_option_group {
    const char      *title; /* heading in --help */
    const rg_option *rows;
    void            *values; /* the struct the rows' offsets point into */
    /* Names and values that another program has for the same things: asked before the rows of all groups are. *out_taken
     * says that it was one of them and has been dealt with. NULL: none. */
    rg_status (*other)(void *values, const char *name, size_t words, const char *const *word, bool *out_taken);
} rg_option_group;

/* Fill caller's storage with the defaults. On failure (a row whose default is no value of its kind, memory) nothing is
 * left to free. */
rg_status rg_options_init(const rg_option *rows, void *values);
void      rg_options_fini(const rg_option *rows, void *values); /* frees strings and lists; zeroed storage is fine */

/* The same values, with strings and lists of their own; `to` is zeroed or finished storage. */
rg_status rg_options_copy(const rg_option *rows, void *to, const void *from);

/* Set one value from words: exactly one, or any number for a list, or none for `true` and for the implicit value.
 * Numbers may end in K, M or G: 16K is 16000. RG_EINVAL names the flag. */
rg_status rg_option_set(const rg_option *row, void *values, size_t count, const char *const *words);

/* The row of that name (or letter) among the groups, and its group; NULL when there is none. */
const rg_option *rg_option_find(const rg_option_group *groups, size_t count, const char *name, size_t *out_group);
const rg_option *rg_option_find_letter(const rg_option_group *groups, size_t count, char letter, size_t *out_group);

/* Set by name. An unknown name is RG_EINVAL with the nearest one in the message. */
rg_status rg_options_set(const rg_option_group *groups, size_t count, const char *name, size_t words,
                         const char *const *word);

/* The same; *out_known is false, and nothing is set, where no row has the name. */
rg_status rg_options_try(bool *out_known, const rg_option_group *groups, size_t count, const char *name, size_t words,
                         const char *const *word);

/* Names that no row has, collected so that a person hears of all of them at once. Starts as zeros. */
typedef struct rg_unknown_options {
    size_t count, line; /* line: of the first, 0 on a command line */
    char   first[400]; /* the whole message where there is one */
    char   list[640];  /* "--foo (line 3; did you mean --fob?), --bar" */
} rg_unknown_options;
void      rg_unknown_options_add(rg_unknown_options *unknown, const rg_option_group *groups, size_t count,
                                 const char *flag, size_t line); /* flag with its dashes; line 0: of a command line */
rg_status rg_unknown_options_check(const rg_unknown_options *unknown); /* RG_EINVAL names them; RG_OK: there were none */

/* All values as YAML, one `name: value` a line, in the order of the rows. A new string for rg_free; NULL on failure. */
char *rg_options_yaml(const rg_option_group *groups, size_t count);

/* Read YAML: a flat map of names to scalars or sequences of scalars. `where` names the source in messages, which give
 * the line. Unknown names fail unless `lenient`. Depth, aliases and size are limited. */
rg_status rg_options_read_yaml(const rg_option_group *groups, size_t count, const char *text, size_t bytes,
                               const char *where, bool lenient);
rg_status rg_options_read_file(const rg_option_group *groups, size_t count, const char *path, bool lenient);

/* The word of `words` (ends with NULL) nearest to `name` by typing errors, or NULL when none is near. Borrowed. */
const char *rg_nearest(const char *name, const char *const *words);
/* '*' of the pattern matches any run of characters; everything else itself: names of parameters, of watch points. */
bool rg_name_matches(const char *pattern, const char *name);

RG_API_END
#endif
