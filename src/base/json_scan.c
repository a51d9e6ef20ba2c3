/* json_scan.c - see json_scan.h. */
#include "base/json_scan.h"

#include <stdbool.h>

rg_json_scan rg_json_scan_text(const char *text, size_t bytes)
{
    rg_json_scan scan = { 0 };
    size_t open = 0;
    bool in_string = false;

    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') i++; /* whatever is escaped, it does not end the string */
            else if (c == '"') in_string = false;
            continue;
        }
        switch (c) {
        case '"': in_string = true; break;
        case ',': scan.commas++; break;
        case '{': scan.objects++, open++; break;
        case '[': scan.arrays++, open++; break;
        case '}':
        case ']': open -= open > 0; break;
        default: break;
        }
        if (open > scan.depth) scan.depth = open;
    }
    return scan;
}
