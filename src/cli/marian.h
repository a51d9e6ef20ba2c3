/* marian.h - names and values that Marian has for what commands here can do. */
#ifndef RG_CLI_MARIAN_H
#define RG_CLI_MARIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "regard/base.h"

struct rg_call;

/* What reading a command line found, in lines "--name TAB reason". */
typedef struct rg_marian_notes {
    bool lenient;                           /* rows may still come: what is not there yet is not refused */
    bool norm_before, norm_after, norm_top; /* of --transformer-preprocess, -postprocess, -postprocess-top */
    bool after_said;
    char needless[4096], missing[2048];
} rg_marian_notes;

/* Marian's name behind a long name or (name NULL) a letter that no row has; NULL: Marian has none either. */
const char *rg_marian_name(const struct rg_call *call, const char *name, char letter);
/* How many of the words that follow belong to it. */
size_t rg_marian_take(const struct rg_call *call, const char *name, int left, const char *const *words);

/* The `other` of a group of options (regard/options.h) whose values are the call. */
rg_status rg_marian_set(void *call, const char *name, size_t words, const char *const *word, bool *out_taken);

/* After all words were read: settings that follow from several; RG_EINVAL names what is not done here, all at once. */
rg_status rg_marian_check(struct rg_call *call);
/* The remark: what was given and is not needed, and why. Nothing where there was nothing. */
void rg_marian_remark(FILE *out, const struct rg_call *call);

#endif
