/* test_boxes.c - boxes: overlap, the box of a map, and `evaluate --type boxes`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/metrics.h"
#include "regard/text.h"

#include <math.h>
#include <string.h>

static void overlap_is_shared_over_all(void **state)
{
    (void)state;
    assert_true(fabs(rg_box_iou((rg_box){ 0, 0, 10, 10 }, (rg_box){ 5, 0, 10, 10 }) - 1.0 / 3) < 1e-12);
    assert_true(rg_box_iou((rg_box){ 0, 0, 10, 10 }, (rg_box){ 10, 0, 10, 10 }) == 0);
    assert_true(rg_box_iou((rg_box){ 1, 2, 3, 4 }, (rg_box){ 1, 2, 3, 4 }) == 1);
    assert_true(rg_box_has((rg_box){ 2, 2, 4, 4 }, 2, 5.9) && !rg_box_has((rg_box){ 2, 2, 4, 4 }, 6, 3));
}

/* The larger of two parts counts, even when the peak is in the other one. */
static void the_box_is_that_of_the_largest_part(void **state)
{
    const float map[] = { 9, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 0,
                          0, 0, 0, 5, 5, 5,
                          0, 0, 0, 5, 5, 5 };
    rg_evidence e;
    (void)state;
    assert_int_equal(rg_evidence_of(&e, map, 4, 6, 4, 6, 0.2), RG_OK);
    assert_true(e.box.x == 3 && e.box.y == 2 && e.box.width == 3 && e.box.height == 2);
    assert_true(e.x == 0.5 && e.y == 0.5);
    assert_int_equal(rg_evidence_of(&e, map, 4, 6, 40, 60, 0.2), RG_OK); /* enlarged */
    assert_true(e.box.x > 20 && e.box.x < 30 && e.box.x + e.box.width == 60 && e.box.y + e.box.height == 40);
    const float nothing[] = { 0, -1, 0, 0 };
    assert_int_equal(rg_evidence_of(&e, nothing, 2, 2, 8, 8, 0.2), RG_OK);
    assert_true(e.box.width == 8 && e.box.height == 8);
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(rg_file_replace(path, text, strlen(text)), RG_OK);
}

static rg_status judge(rg_text *out)
{
    const char *const gold[] = { "gold.tsv" };
    rg_text           notes = { 0 };
    const rg_judging  j = {
         .predicted = "said.tsv", .gold = gold, .gold_count = 1, .digits = 2, .out = out, .notes = &notes
    };
    const rg_status   status = rg_metric_family_find("boxes")->judge(&j);
    rg_text_free(&notes);
    return status;
}

static void predictions_are_found_by_the_picture_s_name(void **state)
{
    rg_text out = { 0 };
    (void)state;
    write_text("gold.tsv", "picture\tname\tx\ty\twidth\theight\n1\tdog\t0\t0\t10\t10\n2\tcat\t0\t0\t10\t10\n2\tdog\t20"
                           "\t20\t10\t10\na.png\tcat\t0\t0\t4\t4\n");
    write_text("said.tsv", "input\tlabel\tprobability\tbox-x\tbox-y\tbox-width\tbox-height\tpeak-x\tpeak-y\n"
                           "test-images:1\tdog\t0.9\t0\t0\t10\t10\t3\t3\n"
                           "test-images:2\tdog\t0.9\t0\t0\t10\t10\t3\t3\n" /* on the cat: neither box nor peak */
                           "x/y/a.png\tbird\t0.9\t0\t0\t8\t4\t30\t3\n");   /* no such class: any box; half of it */
    if (judge(&out) != RG_OK) fail_msg("%s", rg_message());
    assert_string_equal(rg_text_c(&out),
                        "pictures 3\npointing 0.33\nmean IoU 0.50\nIoU >= 0.5 0.67\nlabel right and IoU >= 0.5 0.33\n");
    rg_text_clear(&out);
    write_text("said.tsv", "input\tlabel\tprobability\tbox-x\tbox-y\tbox-width\tbox-height\tpeak-x\tpeak-y\nb."
                           "png\tcat\t1\t0\t0\t1\t1\t0\t0\n");
    assert_int_equal(judge(&out), RG_EMATCH);
    assert_non_null(strstr(rg_message(), "b.png"));
    write_text("said.tsv", "input\tlabel\tprobability\tbox-x\tbox-y\tbox-width\tbox-height\tpeak-x\tpeak-y\na."
                           "png\tcat\t1\t0\tleft\t1\t1\t0\t0\n");
    assert_int_equal(judge(&out), RG_EFORMAT);
    rg_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_shared_over_all),
        cmocka_unit_test(the_box_is_that_of_the_largest_part),
        cmocka_unit_test(predictions_are_found_by_the_picture_s_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
