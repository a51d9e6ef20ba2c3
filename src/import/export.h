/* export.h - what the exporters share. An *exporter* is one file, export_<name>.c, that ends in `const rg_exporter
 * rg_exporter_<name>`, and one word in the list of export.c. Names of arrays are those of the importer's table. */
#ifndef RG_IMPORT_EXPORT_H
#define RG_IMPORT_EXPORT_H

#include "import/foreign.h"
#include "regard/export.h"
#include "regard/translate.h"

typedef struct rg_exporting {
    const rg_model          *model;
    const rg_translator     *translator; /* NULL: the model is none */
    const char              *settings;   /* YAML of its options     */
    const char              *path;
    const rg_export_options *options;
    rg_text                 *report;
} rg_exporting;

typedef struct rg_exporter {
    const char *name, *summary;
    rg_status (*write)(const rg_exporting *e);
} rg_exporter;

/* A setting of the model that the other program has only some values of. */
typedef struct rg_export_rule {
    const char *setting, *good[5]; /* numbers are compared as numbers */
} rg_export_rule;
/* RG_EMATCH names the first that is otherwise; rules end with setting = NULL. The rule "type" is of the system. Also
 * refused: quantised weights. `whose` is what cannot hold it: "Marian". */
rg_status rg_export_check(const rg_exporting *e, const rg_export_rule *rules, const char *whose);

/* The arrays of a model under their names and in the layout of another program. */
typedef struct rg_export_array {
    char           *name;
    const rg_param *param; /* it is part of */
    size_t          ndim, dims[2];
    float          *data;
} rg_export_array;
typedef struct rg_export_arrays {
    rg_export_array *list;
    size_t           count;
} rg_export_arrays;
/* `holds`: the RG_EXPORT_ conditions that hold. `lines`: vectors are (1, n). RG_EMATCH names a parameter without a row.
 * Always to be followed by rg_export_arrays_free. */
rg_status rg_export_arrays_of(rg_export_arrays *out, const rg_exporting *e, const rg_import_row *rows, unsigned holds,
                              bool lines, const char *whose);
void      rg_export_arrays_free(rg_export_arrays *arrays);

/* A file of the folder e->path. */
rg_status rg_export_file(const rg_exporting *e, const char *name, const void *bytes, size_t count);

/* export_vocab.c: the bytes of SentencePiece's model, borrowed. RG_EMATCH: the vocabulary is of another kind, or its
 * lines are changed before it cuts them in a way that no .model says. */
rg_status rg_export_spm(const char **out, size_t *out_bytes, const rg_vocab *vocab);
/* {"piece": id, ...} and "piece": id on lines of their own, appended. */
rg_status rg_export_vocab_json(rg_text *out, const rg_vocab *vocab);
rg_status rg_export_vocab_yaml(rg_text *out, const rg_vocab *vocab);

/* calibrate.c: the largest number in the left sides of products with each parameter (by its index), over the greedy
 * answers to lines of e->options->calibrate; 0 where there was no product. rg_free it. */
rg_status rg_export_calibrate(float **out, const rg_exporting *e);

/* write_marian.c, write_npz.c: appended to out. `most` (NULL: floats) has the largest activation by parameter. */
rg_status rg_write_marian(rg_text *out, const rg_export_arrays *arrays, const float *most, const char *settings);
rg_status rg_write_npz(rg_text *out, const rg_export_arrays *arrays, const char *settings);

#endif
