/* fuzz_jsonl.c - any bytes as lines of JSON (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("jsonl", "label", "text",
            "{\"label\":\"pos\",\"text\":\"a\\nb\\u00e9\"}\n{\"text\":[1,2.5e3,\"x\",true],\"label\":null}\n",
            "{\"1\":{},\"2\":[[[[]]]]}\n", "[]\n", "{\"label\":1e400}\n", "{\"label\":1,\"label\":2}\n")
