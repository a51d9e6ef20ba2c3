/* multi30k.h - the parts of `regard reproduce multi30k`. */
#ifndef RG_LAB_MULTI30K_H
#define RG_LAB_MULTI30K_H

#include "lab/rows.h"
#include "regard/metrics.h"

/* Test sets; those whose files are in --data are judged. The first must be there. */
typedef struct multi30k_set {
    const char *name, *bleu, *cased; /* of the files; of its results */
} multi30k_set;
extern const multi30k_set multi30k_sets[]; /* ends with name = NULL */

/* Classes of source length: the first has up to edges[0] words, the last more than the last edge. */
enum { MULTI30K_CLASSES = 7 };
extern const uint32_t multi30k_edges[MULTI30K_CLASSES - 1];
/* "8-9", and the name of its result, "bleu_8-9". */
void multi30k_class(char *out, size_t room, const char *prefix, size_t b);

/* Short and long sentences, whose BLEU is compared: `fall` is BLEU(short) - BLEU(long), `fall_share` that divided by
 * BLEU(short). */
enum { MULTI30K_SHORT = 9, MULTI30K_LONG = 17 };

/* --- multi30k_data.c */

typedef struct multi30k_pairs {
    rg_line_list source, reference;
} multi30k_pairs;

/* DIR/SET.LANGUAGE.gz or without .gz, in DIR or DIR/multi30k. A new string; *out = NULL: there is none. */
rg_status multi30k_find(char **out, const rg_grid_job *job, const char *set, const char *language);
/* The same, or RG_EIO that names what is missing. */
rg_status multi30k_file(char **out, const rg_grid_job *job, const char *set, const char *language);
/* The language of a side (0, 1) of a row "en de". */
void      multi30k_language(char out[3], const rg_row *row, int side);
rg_status multi30k_pairs_read(multi30k_pairs *p, const rg_grid_job *job, const rg_row *row, const char *set);
void      multi30k_pairs_free(multi30k_pairs *p);
uint32_t  multi30k_words(const char *line); /* between blanks */
/* A scorer of BLEU, lower-cased or not, of the lines against the references. */
rg_status multi30k_score(rg_scorer **out, const char *metric, bool lowercase, const multi30k_pairs *p,
                         const char *const *lines);

/* --- multi30k_judge.c */

rg_status multi30k_judge(rg_results *out, const rg_row_run *run);

/* --- multi30k_compare.c */

double    multi30k_fall(const rg_scorer *scorer, const size_t *few, size_t few_count, const size_t *many,
                        size_t many_count, bool share);
rg_status multi30k_split(size_t **out, size_t *few, size_t *many, const multi30k_pairs *p);
rg_status multi30k_resample(rg_resampled *out, const rg_grid_job *job, const rg_claim *claim, const rg_outcome *a,
                            const rg_outcome *b);
rg_status multi30k_after(const rg_grid_job *job, const rg_outcome *lines, size_t count);

/* multi30k_table2.c: operations per second of products on one thread, in processor time. */
rg_status multi30k_sustained(double *out);
/* OUT/bleu-by-cost: nothing where no system is finished. */
rg_status multi30k_draw_cost(const rg_grid_job *job, const rg_outcome *lines, size_t count);
/* OUT/table2.md, and the same printed; nothing where none of its rows is finished. */
rg_status multi30k_table2(const rg_grid_job *job, const rg_outcome *lines, size_t count);

#endif
