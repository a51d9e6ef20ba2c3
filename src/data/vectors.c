/* vectors.c - files whose examples are rows of numbers or pictures, without labels. */
#include <string.h>

#include "regard/picture.h"

/* A folder, an archive or an idx file? */
static bool has_pictures(const char *path, const rg_reader_config *reading)
{
    static const char *const wanted[] = { "picture" };
    rg_reader_config         c = *reading;
    rg_reader               *r;
    c.wanted = wanted;
    c.wanted_count = 1;
    if (rg_reader_open(&r, path, &c) != RG_OK) return false; /* a table without such a column, or nothing: the next look tells */
    const char *format = rg_reader_format_of(r);
    const bool  pictures =
        c.files || strcmp(format, "idx") == 0 || strcmp(format, "folder") == 0 || strcmp(format, "tar") == 0;
    rg_reader_close(r);
    return pictures;
}

rg_status rg_vectors_spec(rg_field_spec *out, rg_reader_config *reading, const char *path)
{
    static const char *const picture[] = { "picture" }, *const numbers[] = { "numbers" };
    const bool               pictures = has_pictures(path, reading);
    rg_reader               *r;
    rg_row                   row;
    bool                     more;
    reading->wanted = pictures ? picture : numbers;
    reading->wanted_count = 1;
    if (pictures) *out = (rg_field_spec){ .name = "picture", .kind = RG_FIELD_PIXELS, .decode = rg_pixels_decode };
    else {
        *out = (rg_field_spec){ .name = "numbers", .kind = RG_FIELD_NUMBERS };
        RG_TRY(rg_reader_open(&r, path, reading));
        const rg_status status = rg_reader_next(&more, &row, r);
        if (!rg_reader_has_header(r) && !reading->columns[0]) reading->columns = "1-"; /* all of them */
        rg_reader_close(r);
        RG_TRY(status);
    }
    return RG_OK;
}
