/* safetensors_types.c - the number types of safetensors files. */
#include "base/safetensors.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    [RG_DTYPE_F64] = { "F64", 8 },         [RG_DTYPE_I64] = { "I64", 8 },         [RG_DTYPE_U64] = { "U64", 8 },
    [RG_DTYPE_F32] = { "F32", 4 },         [RG_DTYPE_I32] = { "I32", 4 },         [RG_DTYPE_U32] = { "U32", 4 },
    [RG_DTYPE_F16] = { "F16", 2 },         [RG_DTYPE_BF16] = { "BF16", 2 },       [RG_DTYPE_I16] = { "I16", 2 },
    [RG_DTYPE_U16] = { "U16", 2 },         [RG_DTYPE_F8_E4M3] = { "F8_E4M3", 1 }, [RG_DTYPE_F8_E5M2] = { "F8_E5M2", 1 },
    [RG_DTYPE_I8] = { "I8", 1 },           [RG_DTYPE_U8] = { "U8", 1 },           [RG_DTYPE_BOOL] = { "BOOL", 1 },
};

size_t rg_dtype_bytes(rg_dtype dtype)
{
    return types[dtype].bytes;
}

const char *rg_dtype_name(rg_dtype dtype)
{
    return types[dtype].name;
}

bool rg_dtype_find(rg_dtype *out, const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *out = (rg_dtype)i;
        return true;
    }
    return false;
}
