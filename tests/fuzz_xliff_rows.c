/* fuzz_xliff_rows.c - any bytes as an XLIFF file of pairs (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("xliff", "source", "target",
            "<xliff><trans-unit><source>a <g>b</g><x/></source><target>c</target></trans-unit></xliff>",
            "<segment><source>a</source></segment>", "<trans-unit><source>", "no units\n")
