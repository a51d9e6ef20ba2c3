/* json_scan.h - how deep and how rich JSON text is, before a parser that recurses and allocates sees it. */
#ifndef REGARD_BASE_JSON_SCAN_H
#define REGARD_BASE_JSON_SCAN_H

#include <stddef.h>

enum { RG_JSON_DEPTH_MAX = 64 };

typedef struct rg_json_scan {
    size_t depth;                   /* most brackets open at once */
    size_t objects, arrays, commas; /* outside of strings; each costs the parser memory */
} rg_json_scan;

/* One pass without recursion over any bytes, well formed or not. */
rg_json_scan rg_json_scan_text(const char *text, size_t bytes);

#endif
