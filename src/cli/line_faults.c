/* line_faults.c - see line_faults.h. */
#include "cli/line_faults.h"

#include <stdio.h>

static const struct {
    unsigned    bit;
    const char *line, *lines; /* of one, of many */
} kinds[] = {
    { RG_LINE_TOO_LONG, "over the byte limit of a line (16 MiB): read as an empty line",
      "over the byte limit of a line (16 MiB), read as empty lines" },
    { RG_LINE_BAD_UTF8, "bad UTF-8: each such byte is read as U+FFFD", "with bad UTF-8, replaced by U+FFFD" },
    { RG_LINE_NUL, "NUL bytes: each is read as U+FFFD", "with NUL bytes, replaced by U+FFFD" },
};

void rg_line_faults_say(const rg_lines *lines, const rg_line *line)
{
    for (size_t i = 0; line->faults && i < sizeof kinds / sizeof *kinds; i++)
        if (line->faults & kinds[i].bit && rg_lines_fault(lines, kinds[i].bit)->count <= RG_FAULT_LINES)
            fprintf(stderr, "%s: line %llu: %s\n", rg_lines_name(lines), (unsigned long long)line->number,
                    kinds[i].line);
}

rg_status rg_line_faults_sum(const rg_lines *lines)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const rg_fault *fault = rg_lines_fault(lines, kinds[i].bit);
        rg_text         text = { 0 };
        if (fault->count <= RG_FAULT_LINES) continue;
        const rg_status status = rg_fault_print(&text, fault, kinds[i].lines);
        if (status == RG_OK) fprintf(stderr, "%s: %s\n", rg_lines_name(lines), rg_text_c(&text));
        rg_text_free(&text);
        RG_TRY(status);
    }
    return RG_OK;
}
