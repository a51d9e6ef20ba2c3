/* Export: arrays go back to where import took them from, bit for bit; activation scales are the largest activation; and
 * neither a failed allocation nor a failed file call leaves a broken model file or a block behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "autograd/params.h"
#include "import/arrays.h"
#include "import/export.h"
#include "import/marian.h"
#include "regard/import.h"
#include "regard/task.h"
#include "support/faults.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

static rg_model *import_of(const char *path)
{
    rg_model *m = NULL;
    ok(rg_import(&m, NULL, path));
    return m;
}

static void expect_same_weights(const rg_model *a, const rg_model *b)
{
    assert_int_equal(rg_params_count(a->params), rg_params_count(b->params));
    for (size_t i = 0; i < rg_params_count(a->params); i++) {
        const rg_param *p = rg_params_at(a->params, i), *q = rg_params_find(b->params, p->name);
        assert_non_null(q);
        assert_true(p->rows == q->rows && p->cols == q->cols);
        assert_memory_equal(p->data, q->data, p->rows * p->cols * sizeof *p->data);
    }
}

static void models_that_were_imported_come_back_bit_for_bit(void **state)
{
    static const struct {
        const char *folder, *to;
        bool        npz;
    } cases[] = { { "marian", "marian", false },      { "marian", "marian", true },
                  { "marian_bin", "marian", false },  { "marian_int8", "marian", true },
                  { "marian_int8", "marian", false }, { "marian_hf", "huggingface", false },
                  { "bart", "huggingface", false },
                  { "gpt2", "huggingface", false },
                  { "bert", "huggingface", false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rg_export_options how = { .to = cases[i].to, .npz = cases[i].npz };
        char                   *from = rg_format("%s/import/%s", TEST_DATA, cases[i].folder);
        char                   *to = rg_format("there%zu", i);
        rg_model               *first = import_of(from);
        ok(rg_export(NULL, first, to, &how));
        rg_model *second = import_of(to);
        expect_same_weights(first, second);
        rg_model_free(first);
        rg_model_free(second);
        rg_free(from);
        rg_free(to);
    }
    (void)state;
}

/* ---------------------------------------------------------------------------------------------------------- 8 bits */

static rg_param fake(const char *name, rg_param_kind kind, size_t index)
{
    return (rg_param){ .name = name, .kind = kind, .index = index };
}

/* Two matrices, one of them tied, and a bias, through the writer and the reader. */
static void integers_are_to_the_nearest_with_one_scale_per_matrix(void **state)
{
    float           w[6] = { 0.5f, -1.0f, 0.25f, 0.125f, 0.003f, 1.0f }, e[4] = { 2, -4, 1, 0 }, b[2] = { 7, 8 };
    const float     most[3] = { 2.0f, 0.5f, 0 };
    const rg_param  p[3] = { fake("w", RG_WEIGHT, 0), fake("e", RG_TIED, 1), fake("b", RG_VECTOR, 2) };
    rg_export_array list[] = { { (char[]){ "x_W1" }, &p[0], 2, { 2, 3 }, w },
                               { (char[]){ "Wemb" }, &p[1], 2, { 2, 2 }, e },
                               { (char[]){ "x_b1" }, &p[2], 2, { 1, 2 }, b } };
    rg_text         bytes = { 0 };
    rg_arrays       arrays;
    float           x[6];
    ok(rg_write_marian(&bytes, &(rg_export_arrays){ list, 3 }, most, "type: transformer\n"));
    ok(rg_arrays_read(&arrays, "bytes", bytes.data, bytes.length));
    assert_string_equal(arrays.format, "Marian bin");
    assert_string_equal(rg_text_c(&arrays.settings), "type: transformer\n");
    for (size_t k = 0; k < 2; k++) {
        const size_t n = k ? 4 : 6;
        ok(rg_array_floats(x, &arrays, rg_arrays_find(&arrays, list[k].name)));
        const float step = (k ? 4.0f : 1.0f) / 127;
        for (size_t i = 0; i < n; i++) assert_true(fabsf(x[i] - (k ? e : w)[i]) <= step / 2 * 1.0001f);
        assert_true(k ? x[1] == -127 * (1 / (127 / 4.0f))
                      : x[5] == 127 * (1 / 127.0f)); /* the largest is one of the steps */
    }
    ok(rg_array_floats(x, &arrays, rg_arrays_find(&arrays, "x_b1")));
    assert_memory_equal(x, b, sizeof b);
    assert_true(rg_arrays_number(&arrays, "x_W1_QuantMultA", 0) == 63.5);
    assert_true(rg_arrays_number(&arrays, "Wemb_QuantMultA", 0) == 254);
    assert_true(rg_arrays_number(&arrays, "none_QuantMultA", 0) == 254);
    assert_null(rg_arrays_find(&arrays, "x_b1_QuantMultA"));
    rg_arrays_fini(&arrays);
    rg_text_free(&bytes);
    (void)state;
}

static void write_lines(const char *path)
{
    static const char lines[] = "the old dog sees the cat\na house\n\n";
    ok(rg_file_replace(path, lines, sizeof lines - 1));
}

/* Every matrix of a product was seen; a table that is only looked up was not. */
static void calibration_sees_every_product(void **state)
{
    rg_model               *m = import_of(TEST_DATA "/import/marian_int8");
    const rg_export_options how = { .to = "marian", .calibrate = "lines" };
    const rg_exporting      e = { .model = m, .translator = m->assets, .options = &how };
    float                  *most;
    write_lines("lines");
    ok(rg_export_calibrate(&most, &e));
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        const rg_param *p = rg_params_at(m->params, i);
        assert_true((p->kind == RG_WEIGHT || p->kind == RG_TIED) == (most[i] > 0));
    }
    /* what the first layer's queries are made of: sqrt(8) times the embedding, and a sinusoid */
    const rg_param *table = rg_params_find(m->params, "source.embedding"),
                   *first = rg_params_find(m->params, "encoder.0.self.wqkv");
    float largest = 0;
    for (size_t i = 0; i < table->rows * table->cols; i++) largest = fmaxf(largest, fabsf(table->data[i]));
    assert_true(most[first->index] > 0.5f && most[first->index] <= largest * sqrtf(8) + 1);
    rg_free(most);
    rg_model_free(m);
    (void)state;
}

/* ---------------------------------------------------------------------------------------------------------- faults */

typedef struct {
    rg_model         *model;
    rg_export_options how;
    const char       *file;
} scenario;

static rg_status export_it(void *context)
{
    const scenario *s = context;
    return rg_export(NULL, s->model, "faulty", &s->how);
}

/* A model file that is there is whole. */
static void look(void *context, rg_status status)
{
    const scenario *s = context;
    struct stat     about;
    rg_model       *m = NULL;
    (void)status;
    if (stat(s->file, &about) != 0) return;
    if (rg_import(&m, NULL, "faulty") == RG_OK) expect_same_weights(s->model, m);
    rg_model_free(m);
}

static void failures_leave_nothing_broken(void **state)
{
    scenario cases[] = {
        { import_of(TEST_DATA "/import/marian_bin"), { .to = "marian" }, "faulty/model.bin" },
        { import_of(TEST_DATA "/import/marian_hf"), { .to = "huggingface" }, "faulty/model.safetensors" }
    };
    faults_no_sync();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        faults_every_alloc(export_it, &cases[i], NULL, false);
        faults_every_file_call(export_it, &cases[i], look);
        (void)remove(cases[i].file);
        rg_model_free(cases[i].model);
    }
    faults_off();
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_that_were_imported_come_back_bit_for_bit),
        cmocka_unit_test(integers_are_to_the_nearest_with_one_scale_per_matrix),
        cmocka_unit_test(calibration_sees_every_product),
        cmocka_unit_test(failures_leave_nothing_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
