/* record_file.c - records on disk. */
#include "regard/record.h"
#include "view/buffer.h"
#include "view/record_files.h"

#include <string.h>

rg_status rg_record_save(const rg_record *r, const char *path)
{
    rg_status status;
    char     *json = NULL;
    size_t    bytes;

    RG_TRY(rg_record_to_json(&json, &bytes, r, RG_WEIGHTS_AUTO));
    status = rg_view__write_file(path, json, bytes);
    rg_free(json);
    return status;
}

rg_status rg_record_load(rg_record **out, const char *path)
{
    rg_status status;
    char     *json = NULL;
    size_t    bytes;

    RG_TRY(rg_view__read_file(&json, &bytes, path, RG_RECORD_MAX_JSON));
    status = rg_record_from_json(out, json, bytes);
    rg_free(json);
    return status == RG_OK ? RG_OK : rg_fail_in(status, "%s: ", path);
}
