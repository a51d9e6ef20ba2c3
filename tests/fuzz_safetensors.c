/* fuzz_safetensors.c - any bytes as a safetensors file (P1, P2).
 *
 * What is accepted must be readable to the last byte into buffers of exact size, must survive writing and reading
 * again, and must then give the same bytes when written once more. Blocks above 512 MiB are refused, as on a small
 * machine. */
#include "base/seams.h"
#include "support/sample_safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static bool too_much(void *context, size_t bytes)
{
    (void)context;
    return bytes > (size_t)512 << 20;
}

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s: %s\n", what, rg_message());
    abort();
}

/* All arrays can be read, or a checksum says that they cannot. */
static bool read_all(rg_safetensors *st, size_t count)
{
    size_t total = 0;
    bool whole = true;
    for (size_t i = 0; i < rg_safetensors_count(st); i++) {
        const rg_safetensors_entry *e = rg_safetensors_at(st, i);
        require(rg_safetensors_find(st, e->name) == e, "an array that cannot be found");
        require(e->bytes <= count && (total += e->bytes) <= count, "more bytes than the file has");
        void *buffer = malloc(e->bytes == 0 ? 1 : e->bytes);
        rg_status status = rg_safetensors_read(st, e, buffer, e->bytes);
        require(status == RG_OK || status == RG_EFORMAT, "a read that is neither done nor refused");
        if (status != RG_OK) whole = false;
        free(buffer);
    }
    return whole;
}

static void write_and_read_again(rg_safetensors *st)
{
    rg_safetensors_writer *first, *second;
    rg_safetensors *copy;
    void *bytes, *again;
    size_t count, again_count;
    require(sample_copy(&first, st) == RG_OK, "what was read cannot be collected");
    rg_status status = rg_safetensors_writer_build(&bytes, &count, first);
    rg_safetensors_writer_free(first);
    if (status == RG_ELIMIT) return; /* checksums made the header too long */
    require(status == RG_OK, "what was read cannot be written");
    require(rg_safetensors_open_memory(&copy, "copy", bytes, count) == RG_OK, "what was written cannot be read");
    require(sample_copy(&second, copy) == RG_OK, "the copy cannot be collected");
    require(rg_safetensors_writer_build(&again, &again_count, second) == RG_OK, "the copy cannot be written");
    require(again_count == count && memcmp(again, bytes, count) == 0, "save, load, save gives other bytes");
    rg_safetensors_writer_free(second);
    rg_safetensors_close(copy);
    rg_free(bytes);
    rg_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rg_safetensors *st;
    size_t blocks = rg_base__live_blocks();
    rg_base__seam_alloc(too_much, NULL);
    if (rg_safetensors_open_memory(&st, "input", bytes, count) == RG_OK) {
        if (read_all(st, count)) write_and_read_again(st);
        rg_safetensors_close(st);
    } else {
        require(rg_message()[0] != '\0' && strncmp(rg_message(), "input: ", 7) == 0, "a refusal without a reason");
    }
    require(rg_base__live_blocks() == blocks, "a leak");
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- seeds */

static const char *const headers[] = {
    /* with this many zeros behind them */
    "0 {}",
    "0 {\"__metadata__\":{\"a\":\"b\"}}",
    "4 {\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}",
    "24 {\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
    "\"y\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[16,24]}}   ",
    "6 {\"b\":{\"data_offsets\":[0,6],\"dtype\":\"F16\",\"shape\":[3],\"more\":[{\"deep\":[[1,2.5e3,null,true]]}]}}",
    "8 {\"x\":{\"dtype\":\"F64\",\"shape\":[9223372036854775807,2],\"data_offsets\":[0,8]}}",
    "8 "
    "{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"z\":{\"dtype\":\"U8\",\"shape\":[5],\"data_"
    "offsets\":[3,8]}}",
};

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    size_t plain = sizeof headers / sizeof *headers, count = 0;
    if (index < plain) {
        const char *text = strchr(headers[index], ' ') + 1;
        size_t length = strlen(text), zeros = (size_t)atoi(headers[index]);
        memset(bytes, 0, 8 + length + zeros);
        bytes[0] = (uint8_t)length;
        bytes[1] = (uint8_t)(length >> 8);
        memcpy(bytes + 8, text, length);
        return 8 + length + zeros;
    }
    if (index > plain + 1) return 0;
    rg_safetensors_writer *w;
    void *built = NULL;
    require(sample_writer(&w, 1) == RG_OK && rg_safetensors_writer_build(&built, &count, w) == RG_OK, "the sample");
    require(count <= room, "room for the sample");
    memcpy(bytes, built, count);
    if (index > plain) bytes[8 + strlen("{\"__metadata__\":{\"")] = 'R'; /* now mutations get past the header's checksum */
    rg_free(built);
    rg_safetensors_writer_free(w);
    return count;
}
