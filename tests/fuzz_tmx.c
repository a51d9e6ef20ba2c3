/* fuzz_tmx.c - any bytes as a translation memory (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER("tmx", "source", "target",
            "<tmx version=\"1.4\"><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>a <bpt>x</bpt>b</seg></tuv>"
            "<tuv xml:lang=\"de\"><seg>c &amp; d</seg></tuv></tu></body></tmx>",
            "<tu><tuv lang='EN-US'><seg>a</seg></tuv></tu><tu/>", "<tu><tuv><seg>", "no units\n")
