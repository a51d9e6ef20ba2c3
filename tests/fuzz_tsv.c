/* fuzz_tsv.c - any bytes as a tab-separated file (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("tsv", "label", "text", "label\ttext\npos\tgood\r\n\nneg\t\"bad\tx\n", "pos\tgood\nneg\tbad",
            "text\tlabel\n\xFF\t\xC3\xA9\n", "no tab\n")
