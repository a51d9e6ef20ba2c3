/* multi30k.h - the parts of `regard reproduce multi30k`: rows of trainings, what one run came to, the table of all. */
#ifndef RG_CLI_REPRODUCE_MULTI30K_H
#define RG_CLI_REPRODUCE_MULTI30K_H

#include "regard/base.h"

/* One training: options are words of `regard train`. */
typedef struct multi30k_row {
    const char *name, *source, *target;
    double      published, least; /* BLEU, lower-cased; 0: none */
    int64_t     seeds;
    const char *options;
} multi30k_row;

extern const multi30k_row multi30k_rows[]; /* ends with name = NULL */
enum { MULTI30K_ROWS = 64, MULTI30K_SEEDS = 16 };

/* What the user asked for. */
typedef struct multi30k_job {
    const char *data, *out, *extra; /* folders; options appended to every row */
    int64_t     epochs, threads;
    bool        quick, overwrite;
    bool        judge; /* the weights as they are now: no training */
} multi30k_job;

/* Classes of source length: the first has up to edges[0] words, the last more than the last edge. */
enum { MULTI30K_CLASSES = 7 };
extern const uint32_t multi30k_edges[MULTI30K_CLASSES - 1];

/* Figures of one run; all numbers, so that a table of names writes and reads them. */
typedef struct multi30k_result {
    double bleu, bleu_cased, chrf;       /* test2016, beam 5, 13a                                     */
    double perplexity, word_perplexity;  /* of the references: a piece, a word between blanks          */
    double valid_bleu;                   /* lower-cased, of the weights that were chosen by it         */
    double parameters;
    double flops_word, flops_training;   /* forward, a target word; forward and backward, all pieces seen */
    double updates, epochs, seconds, words_second; /* training, validations included; the median speed */
    double translate_seconds;
    double epochs_cap;                   /* what --epochs was; 0: the row's own limits; -1: judged before its end */
    double class_bleu[MULTI30K_CLASSES], class_lines[MULTI30K_CLASSES];
} multi30k_result;

typedef struct multi30k_field {
    const char *name;
    size_t      offset;
} multi30k_field;
extern const multi30k_field multi30k_fields[]; /* ends with name = NULL; the classes are not among them */

/* --- multi30k_run.c */

/* Where a run lives: OUT/NAME.sSEED. A new string. */
char *multi30k_folder(const multi30k_job *job, const multi30k_row *row, int64_t seed);
/* FOLDER/NAME, replaced whole. */
rg_status multi30k_save(const char *folder, const char *name, const char *text);
/* Is there a model to be judged? */
rg_status multi30k_begun(bool *out, const multi30k_job *job, const multi30k_row *row, int64_t seed);
/* Train (or go on, or nothing when it is finished) and judge. RG_ESTOP: asked to stop, everything is saved. */
rg_status multi30k_run(multi30k_result *out, const multi30k_job *job, const multi30k_row *row, int64_t seed);
/* What a finished run came to; *found is false when there is none with these options. */
rg_status multi30k_read(bool *found, multi30k_result *out, const multi30k_job *job, const multi30k_row *row, int64_t seed);

/* --- multi30k_judge.c */

/* Everything that needs the trained weights: fills the figures that are not of the training. */
rg_status multi30k_judge(multi30k_result *out, const multi30k_job *job, const multi30k_row *row, const char *folder, double normalize,
                         double length_factor);
/* DIR/SET.LANGUAGE.gz or without .gz, in DIR or DIR/multi30k. A new string, or RG_EIO that names what is missing. */
rg_status multi30k_file(char **out, const multi30k_job *job, const char *set, const char *language);

/* --- multi30k_table.c */

typedef struct multi30k_line { /* one row with all its seeds */
    const multi30k_row *row;
    multi30k_result     result[MULTI30K_SEEDS];
    int64_t             seed[MULTI30K_SEEDS];
    size_t              runs;
} multi30k_line;

/* Print the table and what it says about the claims, write comparison.tsv, .json and the figures. *holds is false when a claim that was
 * measured does not hold. */
rg_status multi30k_table(bool *holds, const multi30k_job *job, const multi30k_line *lines, size_t count);

#endif
