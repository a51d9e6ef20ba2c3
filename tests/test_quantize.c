/* Files with weights of 8 bits that are not as they should be: refused in words, before anything is computed with
 * them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "regard/safetensors.h"
#include "regard/task.h"
#include "support/faults.h"
#include "support/small_translator.h"

static const char *const good = "good.st", *const bad = "bad.st", *const plain = "plain.st";

/* A transformer in 8 bits; its first weight and that one's scale. */
static void make(char *weight, size_t room)
{
    rg_translator  *t;
    rg_safetensors *file;
    assert_int_equal(small_translator_save(plain, "transformer", 16), RG_OK);
    assert_int_equal(rg_translator_load_as(&t, plain, RG_WEIGHT_INT8), RG_OK);
    assert_int_equal(rg_translator_save(t, good), RG_OK);
    rg_translator_free(t);
    assert_int_equal(rg_safetensors_open(&file, good), RG_OK);
    *weight = 0;
    for (size_t i = 0; i < rg_safetensors_count(file) && !*weight; i++)
        if (rg_safetensors_at(file, i)->dtype == RG_DTYPE_I8)
            snprintf(weight, room, "%s", rg_safetensors_at(file, i)->name);
    rg_safetensors_close(file);
    assert_true(*weight);
}

typedef enum {
    NOTHING,
    NO_SCALE,
    SHORT_SCALE,
    FLAT_SCALE,
    INFINITE_SCALE,
    HALF_SCALE,
    INTEGER_VECTOR,
    OTHER_WEIGHTS,
    NARROW
} change;

/* `good` copied to `bad` with one thing changed. */
static void spoil(change what, const char *weight)
{
    rg_safetensors        *file;
    rg_safetensors_writer *w;
    char                   scale[200];
    static float           numbers[4096];
    static int8_t          bytes[4096];
    snprintf(scale, sizeof scale, "%s.scale", weight);
    assert_int_equal(rg_safetensors_open(&file, good), RG_OK);
    assert_int_equal(rg_safetensors_writer_new(&w), RG_OK);
    for (size_t i = 0; i < rg_safetensors_metadata_count(file); i++) {
        const char *key, *value;
        rg_safetensors_metadata_at(&key, &value, file, i);
        if (what == OTHER_WEIGHTS && strcmp(key, "regard.weights") == 0) value = "int3";
        assert_int_equal(rg_safetensors_writer_metadata(w, key, value), RG_OK);
    }
    for (size_t i = 0; i < rg_safetensors_count(file); i++) {
        rg_safetensors_entry a = *rg_safetensors_at(file, i);
        const void          *data;
        assert_int_equal(rg_safetensors_data(&data, file, rg_safetensors_at(file, i)), RG_OK);
        if (strcmp(a.name, scale) == 0) {
            if (what == NO_SCALE) continue;
            if (what == SHORT_SCALE) a.dims[a.dims[0] > 1 ? 0 : 1]--;
            if (what == FLAT_SCALE) a.dims[0] *= a.dims[1], a.ndim = 1;
            if (what == HALF_SCALE) a.dtype = RG_DTYPE_BF16;
            if (what == INFINITE_SCALE) {
                memcpy(numbers, data, a.bytes);
                numbers[1] = INFINITY;
                data = numbers;
            }
        }
        if (what == NARROW && strcmp(a.name, weight) == 0) a.dims[0]--;
        if (what == INTEGER_VECTOR && a.dtype == RG_DTYPE_F32 && a.ndim == 1) a.dtype = RG_DTYPE_I8, data = bytes;
        assert_int_equal(rg_safetensors_writer_add(w, a.name, a.dtype, a.dims, a.ndim, data), RG_OK);
    }
    assert_int_equal(rg_safetensors_writer_save(w, bad), RG_OK);
    rg_safetensors_writer_free(w);
    rg_safetensors_close(file);
}

static void a_file_that_is_not_right_is_refused_in_words(void **state)
{
    (void)state;
    static const struct {
        change      what;
        const char *words;
    } cases[] = {
        { NOTHING, NULL },
        { NO_SCALE, "with its scales" },
        { SHORT_SCALE, "one scale per" },
        { FLAT_SCALE, "one scale per" },
        { HALF_SCALE, "one scale per" },
        { INFINITE_SCALE, "inf" },
        { INTEGER_VECTOR, "with its scales" },
        { OTHER_WEIGHTS, "int3" },
        { NARROW, "the model wants" },
    };
    char weight[150];
    make(weight, sizeof weight);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_model *m;
        spoil(cases[i].what, weight);
        for (rg_weights as = RG_WEIGHT_STORED; as <= RG_WEIGHT_INT8; as++) {
            const rg_status status = rg_model_load_as(&m, bad, NULL, as);
            if (cases[i].what == OTHER_WEIGHTS && as != RG_WEIGHT_STORED) assert_int_equal(status, RG_OK); /* what was asked for counts */
            else if (!cases[i].words) assert_int_equal(status, RG_OK);
            else {
                assert_int_not_equal(status, RG_OK);
                assert_null(m);
                if (!strstr(rg_message(), cases[i].words) || !strstr(rg_message(), bad))
                    fail_msg("case %zu: %s", i, rg_message());
            }
            rg_model_free(m);
        }
    }
}

static rg_status load_and_save(void *context)
{
    rg_model *m;
    (void)context;
    RG_TRY(rg_model_load_as(&m, plain, NULL, RG_WEIGHT_INT8));
    rg_status status = rg_model_save(m, good);
    rg_model_free(m);
    if (status == RG_OK) status = rg_model_load_as(&m, good, NULL, RG_WEIGHT_BF16);
    if (status == RG_OK) {
        status = rg_model_save(m, bad);
        rg_model_free(m);
    }
    return status;
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    char weight[150];
    faults_no_sync();
    make(weight, sizeof weight);
    faults_every_alloc(load_and_save, NULL, NULL, false);
}

static size_t read_all(char *bytes, size_t room, const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t count = fread(bytes, 1, room, f);
    fclose(f);
    assert_in_range(count, 1, room - 1);
    return count;
}

/* What is converted in memory is what is converted while loading. */
static rg_status convert(void *context)
{
    rg_model *m;
    (void)context;
    RG_TRY(rg_model_load(&m, plain, NULL));
    rg_status status = rg_params_convert(m->params, RG_WEIGHT_INT8);
    if (status == RG_OK) status = rg_model_save(m, bad);
    rg_model_free(m);
    return status;
}

static void converting_in_memory_is_converting_while_loading(void **state)
{
    (void)state;
    char        weight[150];
    static char one[1 << 17], two[1 << 17];
    rg_model   *m;
    faults_no_sync();
    make(weight, sizeof weight);
    assert_int_equal(convert(NULL), RG_OK);
    const size_t bytes = read_all(one, sizeof one, good);
    assert_int_equal(read_all(two, sizeof two, bad), bytes);
    assert_memory_equal(one, two, bytes);
    faults_every_alloc(convert, NULL, NULL, false);
    assert_int_equal(rg_model_load(&m, good, NULL), RG_OK);
    assert_int_equal(rg_params_convert(m->params, RG_WEIGHT_INT8), RG_EINVAL); /* it is no longer float32 */
    assert_int_equal(rg_params_slim(m->params), RG_OK);                       /* nothing to do */
    rg_model_free(m);
}

/* Other programs read them: NAME * NAME.scale, by the rules of numpy, is the weight to half a step. */
static void integers_times_scales_are_the_weights(void **state)
{
    (void)state;
    char            weight[150];
    rg_safetensors *eight, *float32;
    make(weight, sizeof weight);
    assert_int_equal(rg_safetensors_open(&eight, good), RG_OK);
    assert_int_equal(rg_safetensors_open(&float32, plain), RG_OK);
    size_t seen = 0;
    for (size_t i = 0; i < rg_safetensors_count(eight); i++) {
        const rg_safetensors_entry *a = rg_safetensors_at(eight, i);
        const void                 *q, *w, *scale;
        char                        name[200];
        if (a->dtype != RG_DTYPE_I8) continue;
        snprintf(name, sizeof name, "%s.scale", a->name);
        const rg_safetensors_entry *s = rg_safetensors_find(eight, name);
        assert_int_equal(rg_safetensors_data(&q, eight, a), RG_OK);
        assert_int_equal(rg_safetensors_data(&scale, eight, s), RG_OK);
        assert_int_equal(rg_safetensors_data(&w, float32, rg_safetensors_find(float32, a->name)), RG_OK);
        for (size_t r = 0; r < a->dims[0]; r++)
            for (size_t c = 0; c < a->dims[1]; c++) {
                const float step = ((const float *)scale)[s->dims[0] > 1 ? r : c];
                const float is = (float)((const int8_t *)q)[r * a->dims[1] + c] * step,
                            was = ((const float *)w)[r * a->dims[1] + c];
                assert_true(fabsf(is - was) <= 0.501f * step);
            }
        seen++;
    }
    assert_true(seen > 5);
    rg_safetensors_close(eight);
    rg_safetensors_close(float32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_not_right_is_refused_in_words),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(converting_in_memory_is_converting_while_loading),
        cmocka_unit_test(integers_times_scales_are_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
