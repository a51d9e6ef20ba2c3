/* marian.h - Marian's names and its .bin, for readers and writers. All numbers are little endian.
 *
 *   u64 version 1, u64 how many arrays n
 *   n times      u64 bytes of its name (the zero behind it is counted), u64 type, u64 rank, u64 bytes of its data
 *   the names, the shapes (i32 each), u64 padding, so many bytes, and the data from a multiple of 256 on
 *
 * A type is a class and the bytes of a number. intgemm8 holds the whole numbers q of a matrix (in, out), transposed
 * ("Wemb" aside, whose rows are looked up), then one float m: the matrix is q / m. */
#ifndef RG_IMPORT_MARIAN_H
#define RG_IMPORT_MARIAN_H

#include <stdbool.h>
#include <string.h>

#include "import/foreign.h"

enum {
    RG_MARIAN_VERSION = 1,
    RG_MARIAN_ALIGN   = 256,
    RG_MARIAN_INT8    = 0x0101, /* also text: special:model.yml */
    RG_MARIAN_FLOAT32 = 0x0404,
    RG_MARIAN_INTGEMM8  = 0x4101,
    RG_MARIAN_INTGEMM16 = 0x4102
};

#define RG_MARIAN_SETTINGS "special:model.yml"
#define RG_MARIAN_SCALE "_QuantMultA" /* behind the name of a matrix: what activations are multiplied by */

extern const rg_import_row rg_marian_rows[]; /* arch_marian.c */

/* Are its rows looked up, and so not transposed? */
static inline bool rg_marian_is_table(const char *name) { return strstr(name, "Wemb") != NULL; }

#endif
