/* fuzz_svmlight.c - any bytes as lines of svmlight (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("svmlight", "label", "counts", "# head\n+1 3:1 7:0.5 # note\n-1 1:2\n", "1 qid:3 1:1\n",
            "0\n\n1 999999999:1e30\n")
