/* fuzz_import.c - any bytes as a model file of another program (safetensors, PyTorch's and NumPy's archives,
 * CTranslate2's model.bin, Marian's .bin) and as a pickle: refused, or arrays that lie inside what was read (P1, P8). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "import/arrays.h"
#include "import/pickle.h"

int    LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index);

static void must(bool condition)
{
    if (!condition) abort();
}

static void as_file(const uint8_t *bytes, size_t count)
{
    rg_arrays arrays;
    if (rg_arrays_read(&arrays, "fuzz", bytes, count) == RG_OK)
        for (size_t i = 0; i < arrays.count && i < 100; i++) {
            const rg_array *a = &arrays.list[i];
            float          *x = a->count < 1 << 20 ? rg_alloc_array(a->count + 1, sizeof *x) : NULL;
            if (x) (void)rg_array_floats(x, &arrays, a);
            rg_free(x);
            must(rg_arrays_find(&arrays, a->name) == a);
        }
    rg_arrays_fini(&arrays);
}

static void as_pickle(const uint8_t *bytes, size_t count)
{
    rg_arena        *arena;
    const rg_pickle *value = NULL;
    if (rg_arena_new(&arena, 1 << 12) != RG_OK) return;
    must((rg_pickle_read(&value, arena, bytes, count) == RG_OK) == (value != NULL));
    rg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    as_file(bytes, count);
    as_pickle(bytes, count);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ seeds */

/* {"w": a tensor (2, 2) of storage "0"}, as PyTorch writes it. */
static const char pickled[] = "\x80\x02}q\x00X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n(("
                              "X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00"
                              "0X\x03\x00\x00\x00"
                              "cpuK\x04tQK\x00K\x02K\x02\x86K\x02K\x01\x86\x89"
                              "ccollections\nOrderedDict\n)RtRs.";

static size_t archive(uint8_t *bytes, size_t room, const char *const *name, const void *const *data,
                      const size_t *length, size_t members)
{
    zip_error_t   error;
    zip_source_t *out = zip_source_buffer_create(NULL, 0, 0, &error);
    must(out != NULL);
    zip_source_keep(out);
    zip_t *zip = zip_open_from_source(out, ZIP_TRUNCATE, &error);
    must(zip != NULL);
    for (size_t i = 0; i < members; i++) {
        zip_source_t *in = zip_source_buffer(zip, data[i], length[i], 0);
        const zip_int64_t at = zip_file_add(zip, name[i], in, 0);
        must(at >= 0 && zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) == 0);
    }
    must(zip_close(zip) == 0 && zip_source_open(out) == 0);
    const zip_int64_t n = zip_source_read(out, bytes, room);
    zip_source_close(out);
    zip_source_free(out);
    must(n > 0);
    return (size_t)n;
}

static size_t torch_seed(uint8_t *bytes, size_t room)
{
    static const float       numbers[4] = { 1, 2, 3, 4 };
    static const char *const name[] = { "archive/data.pkl", "archive/data/0" };
    const void *const        data[] = { pickled, numbers };
    const size_t             length[] = { sizeof pickled - 1, sizeof numbers };
    return archive(bytes, room, name, data, length, 2);
}

static size_t npz_seed(uint8_t *bytes, size_t room)
{
    static const char npy[] =
        "\x93NUMPY\x01\x00\x3c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n\0\0\x80\x3f\0\0\0\x40";
    static const char yml[] =
        "\x93NUMPY\x01\x00\x3a\x00{'descr': '|i1', 'fortran_order': False, 'shape': (5,), }  \na: 1\0";
    static const char *const name[] = { "Wemb.npy", "special:model.yml.npy" };
    const void *const        data[] = { npy, yml };
    const size_t             length[] = { sizeof npy - 1, sizeof yml - 1 };
    return archive(bytes, room, name, data, length, 2);
}

static size_t ct2_seed(uint8_t *bytes, uint8_t version)
{
    static const char head[] = "\x00\x00\x00\x02\x00T\x00\x01\x00\x00\x00\x02\x00\x00\x00";
    static const char old[] = "\x02\x00w\x00\x01\x02\x00\x00\x00\x01\x02\x00\x00\x00\x05\x06"
                              "\x08\x00w_scale\x00\x00\x04\x01\x00\x00\x00\x00\x00\x80\x3f";
    static const char new[] = "\x02\x00w\x00\x01\x02\x00\x00\x00\x01\x02\x00\x00\x00\x05\x06"
                              "\x08\x00w_scale\x00\x00\x00\x04\x00\x00\x00\x00\x00\x80\x3f"
                              "\x01\x00\x00\x00\x02\x00v\x00\x02\x00w\x00";
    const char       *rest = version < 3 ? old : new;
    const size_t      n = version < 3 ? sizeof old - 1 : sizeof new - 1;
    bytes[0] = version;
    memcpy(bytes + 1, head, sizeof head - 1);
    memcpy(bytes + sizeof head, rest, n);
    return sizeof head + n;
}

static void put(uint8_t **at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) *(*at)++ = (uint8_t)(number >> 8 * i);
}

/* Two arrays of two numbers, the first as floats or integers with their multiplier 1, and settings. */
static size_t marian_seed(uint8_t *bytes, bool small)
{
    static const char names[] = "Wq\0Wemb\0special:model.yml";
    uint8_t          *at = bytes;
    put(&at, 1, 8);
    put(&at, 3, 8);
    for (int i = 0; i < 3; i++) {
        put(&at, i == 0 ? 3 : i == 1 ? 5 : 18, 8);
        put(&at, i == 2 ? 0x0101 : small ? 0x4101 : 0x0404, 8);
        put(&at, i == 2 ? 1 : 2, 8);
        put(&at, i == 2 ? 5 : small ? 6 : 8, 8);
    }
    memcpy(at, names, sizeof names);
    at += sizeof names;
    for (int i = 0; i < 2; i++) put(&at, 2, 4), put(&at, 1, 4);
    put(&at, 5, 4);
    put(&at, 3, 8);
    put(&at, 0, 3);
    for (int i = 0; i < 2; i++) {
        if (small) put(&at, 0x7F81, 2);
        put(&at, 0x3F800000, 4);
        if (!small) put(&at, 0x40000000, 4);
    }
    memcpy(at, "a: 1", 5);
    return (size_t)(at + 5 - bytes);
}

size_t fuzz_seed(uint8_t *bytes, size_t room, unsigned index)
{
    must(room > 4096);
    if (index == 0) return torch_seed(bytes, room);
    if (index == 1) return npz_seed(bytes, room);
    if (index == 2 || index == 3) return ct2_seed(bytes, index == 2 ? 2 : 4);
    if (index == 5 || index == 6) return marian_seed(bytes, index == 6);
    if (index > 6) return 0;
    memcpy(bytes, pickled, sizeof pickled - 1);
    return sizeof pickled - 1;
}
