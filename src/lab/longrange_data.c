/* longrange_data.c - sentences of `regard make longrange` as lines to learn from. */
#include "lab/longrange.h"

#include <sys/stat.h>

#include "regard/made.h"
#include "regard/text.h"

static rg_status write_column(const char *folder, const char *split, const char *ending)
{
    char        *from = rg_format("%s/%s.tsv", folder, split), *to = rg_format("%s/%s.%s", folder, split, ending);
    rg_line_list lines = { 0 };
    rg_text      text = { 0 };
    rg_status    status = from && to ? rg_line_list_read(&lines, from, 0) : RG_ENOMEM;
    for (size_t i = 1; status == RG_OK && i < lines.count; i++)
        status = rg_text_print(&text, "%s\n", lines.line[i]); /* behind the heading */
    if (status == RG_OK) status = rg_file_replace(to, text.data, text.length);
    rg_line_list_free(&lines);
    rg_text_free(&text);
    rg_free(from);
    rg_free(to);
    return status;
}

rg_status longrange_data(const char *out, const char *folder, const char *distance)
{
    char     *last = rg_format("%s/valid.txt", folder);
    char     *yaml = rg_format("count: 10000\nvalid: 1000\ntest: 1000\nseed: 1\ndistance: %s\n", distance);
    bool      there = false;
    rg_status status = last && yaml ? rg_file_exists(&there, last) : RG_ENOMEM;
    if (status == RG_OK && !there) {
        (void)mkdir(out, 0777); /* what follows says why it is not there */
        status = rg_generator_write(&rg_generator_longrange, folder, yaml);
        if (status == RG_OK) status = write_column(folder, "train", "txt");
        if (status == RG_OK) status = write_column(folder, "valid", "txt"); /* the last: all is there */
    }
    rg_free(last);
    rg_free(yaml);
    return status;
}
