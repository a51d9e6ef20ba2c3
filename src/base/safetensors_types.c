/* safetensors_types.c - the number types of safetensors files. */
#include "base/safetensors.h"

#include <math.h>
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

bool rg_dtype_is_weight(rg_dtype dtype)
{
    return dtype == RG_DTYPE_F32 || dtype == RG_DTYPE_F16 || dtype == RG_DTYPE_BF16;
}

/* ----------------------------------------------------------------------------------------------------- as floats */

/* The number in `width` little-endian bytes. */
static uint64_t bits_of(const unsigned char *bytes, size_t width)
{
    uint64_t bits = 0;
    for (size_t i = width; i > 0; i--) bits = bits << 8 | bytes[i - 1];
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 1 sign, 5 exponent (bias 15), 10 fraction; exponent 0 is fraction * 2^-24, 31 is infinite or not a number. */
static float half(uint64_t bits)
{
    const uint32_t sign = (uint32_t)(bits >> 15) << 31, exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
    if (exponent == 0) return (sign ? -1.0f : 1.0f) * ldexpf((float)fraction, -24);
    return float_of(sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13);
}

static float bfloat(uint64_t bits) { return float_of((uint32_t)bits << 16); } /* the upper half of a float */
static float single(uint64_t bits) { return float_of((uint32_t)bits); }
static float i64(uint64_t bits) { return (float)(int64_t)bits; }
static float u64(uint64_t bits) { return (float)bits; }
static float i32(uint64_t bits) { return (float)(int32_t)(uint32_t)bits; }
static float i16(uint64_t bits) { return (float)(int16_t)(uint16_t)bits; }
static float i8(uint64_t bits) { return (float)(int8_t)(uint8_t)bits; }
static float f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

rg_status rg_dtype_floats(float *out, rg_dtype dtype, const void *from, size_t count)
{
    static float (*const number[])(uint64_t bits) = {
        [RG_DTYPE_F64] = f64,   [RG_DTYPE_I64] = i64,     [RG_DTYPE_U64] = u64, [RG_DTYPE_F32] = single,
        [RG_DTYPE_I32] = i32,   [RG_DTYPE_U32] = u64,     [RG_DTYPE_F16] = half, [RG_DTYPE_BF16] = bfloat,
        [RG_DTYPE_I16] = i16,   [RG_DTYPE_U16] = u64,     [RG_DTYPE_I8] = i8,   [RG_DTYPE_U8] = u64,
        [RG_DTYPE_BOOL] = NULL,
    };
    const unsigned char *bytes = from;
    const size_t         width = rg_dtype_bytes(dtype);
    if (!number[dtype]) return rg_fail(RG_EINVAL, "numbers of type %s cannot be read as weights", rg_dtype_name(dtype));
    for (size_t i = 0; i < count; i++) out[i] = number[dtype](bits_of(bytes + i * width, width));
    return RG_OK;
}
