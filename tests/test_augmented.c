/* test_augmented.c - pictures that are new in every epoch: what is drawn depends on seed, epoch and line alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/made.h"
#include "tasks/augmented.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 20, SIDE = 28 };

static unsigned char digits[COUNT][SIDE * SIDE];

/* A store of 20 digits of strokes, 4 to a batch. */
static rg_examples *store_of(rg_augmented *a, size_t batch, bool still)
{
    const rg_examples_config config = { .batch = batch, .window = 0, .shuffle = true, .seed = 3, .memory = SIZE_MAX };
    rg_field_spec            spec = { .name = "picture", .kind = RG_FIELD_PIXELS, .width = 1, .still = still };
    rg_examples             *c = NULL;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < SIDE * SIDE; k++)
            digits[i][k] = (unsigned char)(k % SIDE > 8 && k % SIDE < 14 + i % 7 && k / SIDE > 6 ? 40 + 10 * i : 0);
    if (a) rg_augmented_on(&spec, a);
    assert_int_equal(rg_examples_new(&c, &config, &spec, 1), RG_OK);
    for (size_t i = 0; i < COUNT; i++) {
        const rg_cell cell = {
            .bytes = (const char *)digits[i], .count = SIDE * SIDE, .height = SIDE, .width = SIDE, .channels = 1
        };
        assert_int_equal(rg_examples_add(c, &cell, i + 1), RG_OK);
    }
    assert_int_equal(rg_examples_seal(c), RG_OK);
    return c;
}

static rg_augmented *made_of(const char *text)
{
    rg_augmented *a = NULL;
    if (rg_augmented_new(&a, text, 7) != RG_OK) fail_msg("%s", rg_message());
    return a;
}

/* The picture of a line in an epoch, from whichever batch it comes in; the caller frees. */
static float *picture_of(size_t *out_side, rg_examples *c, uint64_t epoch, uint64_t line)
{
    for (;;) {
        const uint64_t now = rg_examples_tell(c).epoch;
        rg_batch       b;
        assert_int_equal(rg_examples_next(&b, NULL, c), RG_OK);
        assert_true(now <= epoch);
        for (size_t i = 0; i < b.examples && now == epoch; i++) {
            if (b.lines[i] != line) continue;
            const rg_field *f = &b.field[0];
            const size_t    n = (size_t)(f->layout.start[i + 1] - f->layout.start[i]);
            float          *x = malloc(n * sizeof *x);
            for (size_t k = 0; k < n; k++) x[k] = (float)f->values[(size_t)f->layout.start[i] + k];
            *out_side = f->layout.height;
            return x;
        }
    }
}

static void a_picture_does_not_depend_on_its_batch(void **state)
{
    static const char *const kinds[] = { "ct60 clutter:3", "rts42", "grid16", "shift:2 rotate:20 noise:0.1" };
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        float *x[2];
        size_t side[2];
        for (size_t i = 0; i < 2; i++) {
            rg_augmented *a = made_of(kinds[k]);
            rg_examples  *c = store_of(a, i ? 7 : 3, false);
            assert_int_equal(rg_augmented_fill(a, c, NULL, 0), RG_OK);
            x[i] = picture_of(&side[i], c, 2, 5);
            rg_examples_free(c);
            rg_augmented_free(a);
        }
        assert_int_equal(side[0], side[1]);
        assert_memory_equal(x[0], x[1], side[0] * side[0] * sizeof(float));
        free(x[0]);
        free(x[1]);
    }
}

static void epochs_give_fresh_pictures_and_resuming_the_same(void **state)
{
    rg_augmented *a = made_of("t60");
    rg_examples  *c = store_of(a, 4, false);
    size_t        side;
    (void)state;
    assert_int_equal(rg_augmented_fill(a, c, NULL, 0), RG_OK);
    float *first = picture_of(&side, c, 0, 9), *second = picture_of(&side, c, 1, 9);
    assert_int_equal(side, 60);
    assert_memory_not_equal(first, second, 3600 * sizeof *first);
    assert_int_equal(rg_examples_seek(c, (rg_place){ .epoch = 1 }), RG_OK);
    float *again = picture_of(&side, c, 1, 9);
    assert_memory_equal(second, again, 3600 * sizeof *first);
    free(first);
    free(second);
    free(again);
    rg_examples_free(c);
    rg_augmented_free(a);
}

static void validation_stands_still(void **state)
{
    rg_augmented *a = made_of("t60"), *b = made_of("rotate:30");
    rg_examples  *train = store_of(a, 4, false), *valid = store_of(a, 4, true), *plain = store_of(b, 4, true);
    size_t        side;
    (void)state;
    assert_int_equal(rg_augmented_fill(a, train, valid, 0), RG_OK);
    float *first = picture_of(&side, valid, 0, 2), *second = picture_of(&side, valid, 1, 2),
          *as_it_is = picture_of(&side, plain, 0, 2);
    assert_memory_equal(first, second, 3600 * sizeof *first);
    assert_int_equal(side, SIDE);
    for (size_t k = 0; k < SIDE * SIDE; k++) assert_true(as_it_is[k] == (float)((rg_real)digits[1][k] / 255));
    free(first);
    free(second);
    free(as_it_is);
    rg_examples_free(train);
    rg_examples_free(valid);
    rg_examples_free(plain);
    rg_augmented_free(a);
    rg_augmented_free(b);
}

/* What was placed is inside the box that comes with it, and nothing else of t60 is; plain changes know no box. */
static void boxes_come_with_what_was_placed(void **state)
{
    rg_augmented *a = made_of("t60"), *b = made_of("rotate:30");
    rg_examples  *placed = store_of(a, 4, false), *plain = store_of(b, 4, false);
    rg_batch      batch;
    (void)state;
    assert_int_equal(rg_augmented_fill(a, placed, NULL, 0), RG_OK);
    assert_int_equal(rg_examples_next(&batch, NULL, placed), RG_OK);
    for (size_t i = 0; i < batch.examples; i++) {
        const rg_field *f = &batch.field[0];
        const int32_t  *at = f->box + 4 * i;
        double          inside = 0, all = 0;
        assert_true(at[2] > 0 && at[3] > 0 && at[0] + at[2] <= 60 && at[1] + at[3] <= 60);
        for (int32_t k = 0; k < 3600; k++) {
            const int32_t x = k % 60, y = k / 60;
            const double  v = (double)f->values[f->layout.start[i] + k];
            all += v > 0.3;
            inside += v > 0.3 && x >= at[0] && x < at[0] + at[2] && y >= at[1] && y < at[1] + at[3];
        }
        assert_true(inside == all);
    }
    assert_int_equal(rg_examples_next(&batch, NULL, plain), RG_OK);
    for (size_t k = 0; k < 4 * batch.examples; k++) assert_int_equal(batch.field[0].box[k], 0);
    rg_examples_free(placed);
    rg_examples_free(plain);
    rg_augmented_free(a);
    rg_augmented_free(b);
}

static void wrong_words_are_told(void **state)
{
    rg_augmented *a = NULL;
    (void)state;
    assert_int_equal(rg_augmented_new(&a, "sideways:3", 1), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "sideways"));
    assert_int_equal(rg_augmented_new(&a, "ct60 pieces:3", 1), RG_EINVAL);
    a = made_of("addition");
    rg_examples *c = store_of(a, 4, false);
    assert_int_equal(rg_augmented_fill(a, c, NULL, 0), RG_EINVAL);
    assert_non_null(strstr(rg_message(), "keep their label"));
    rg_examples_free(c);
    rg_augmented_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_does_not_depend_on_its_batch),
        cmocka_unit_test(epochs_give_fresh_pictures_and_resuming_the_same),
        cmocka_unit_test(validation_stands_still),
        cmocka_unit_test(boxes_come_with_what_was_placed),
        cmocka_unit_test(wrong_words_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
