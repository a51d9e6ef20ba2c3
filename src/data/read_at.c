/* read_at.c - see read_at.h. */
#include "data/read_at.h"

rg_status rg_read_at(rg_text *out, rg_file *file, uint64_t at, size_t bytes)
{
    rg_text_clear(out);
    if (bytes >= out->room) {
        rg_text_free(out);
        char *room = rg_alloc(bytes + 1);
        if (!room) return RG_ENOMEM;
        *out = (rg_text){ room, 0, bytes + 1 };
    }
    RG_TRY(rg_file_seek(file, at));
    RG_TRY(rg_file_read(file, out->data, bytes));
    out->data[out->length = bytes] = '\0';
    return RG_OK;
}
