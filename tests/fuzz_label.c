/* fuzz_label.c - any bytes as lines of a label and a text (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("label", "label", "text", "pos very good\nneg\tbad\n\nalone\n", "  \t x y\n", "\xEF\xBB\xBF__label__1 a\n")
