/* score_files.h - what a score learns, from files and to the terminal, written as in its formula. */
#ifndef RG_CLI_SCORE_FILES_H
#define RG_CLI_SCORE_FILES_H

#include <stdio.h>

#include "regard/attention.h"

/* Files of W (or M, w_q), U (or w_k), v and b; "": drawn from the seed. A matrix has one line per row of the
 * formula: W q has as many lines as the hidden layer is wide, q^T W k one per column of the queries, v one per head. */
typedef struct rg_score_files {
    const char *w, *u, *v, *b;
} rg_score_files;

/* The width of the hidden layer that the file of v says; `otherwise` without one. */
rg_status rg_score_files_hidden(size_t *out, const rg_score_files *files, size_t otherwise);
/* Replace what was drawn. RG_EINVAL: the score has no such weights, or they have another size. *drawn: how many
 * numbers no file gave. */
rg_status rg_score_files_read(size_t *drawn, rg_params *params, const rg_score_files *files, const char *score);
/* In the form that files have. */
void rg_score_print(FILE *out, const rg_params *params, int digits, bool json);

#endif
