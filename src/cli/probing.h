/* probing.h - options that attack, shift and rank share: a model, and how other files are read. */
#ifndef RG_CLI_PROBING_H
#define RG_CLI_PROBING_H

#include "cli/command.h"
#include "regard/probe.h"

typedef struct rg_probing {
    char          *model;
    rg_set_options sets;
    bool           json;
    int64_t        threads;
} rg_probing;

#define RG_PROBING_ROWS(type)                                                                                                                          \
    { RG_OPTION_STRING, "model", offsetof(type, probing.model), "model.safetensors", "model file of a classifier", 'm', NULL, NULL },                  \
    { RG_OPTION_STRING, "format", offsetof(type, probing.sets.format), "", "of the files (docs/data.md); empty: recognised", 0, NULL, NULL },          \
    { RG_OPTION_STRING, "columns", offsetof(type, probing.sets.columns), "", "their columns, label first, by name or number", 0, NULL, NULL },         \
    { RG_OPTION_STRING, "header", offsetof(type, probing.sets.header), "auto", "is the first line names of columns?", 0, "auto|yes|no", NULL },        \
    { RG_OPTION_STRING, "pictures", offsetof(type, probing.sets.pictures), "", "folder or tar archive that the column picture names files of", 0,      \
      NULL, NULL },                                                                                                                                    \
    { RG_OPTION_INT, "mini-batch", offsetof(type, probing.sets.batch), "100", "examples at a time", 0, "[1,100000]", NULL },                           \
    { RG_OPTION_BOOL, "json", offsetof(type, probing.json), "false", "JSON lines instead of TSV", 0, NULL, NULL },                                     \
    { RG_OPTION_INT, "cpu-threads", offsetof(type, probing.threads), "2", "threads", 0, "[1,1024]", NULL }

#endif
