/* fuzz_csv.c - any bytes as comma-separated values (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("csv", "label", "text", "label,text\r\npos,\"a, \"\"b\"\"\nc\"\r\nneg,\n", "pos,\"\"\n,\n", "pos,\"open\n",
            "\"a\"x,b\n", "a,b,c\n1,2,3\n")
