/* fuzz_conll.c - any bytes as words and tags (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("conll", "text", "tags", "The\tDET\ndog\tNOUN\n\nIt\tPRON\n", "# id\nThe DT B\nend NN I\n\n\n", "a\t\tX\n",
            "a\n")
