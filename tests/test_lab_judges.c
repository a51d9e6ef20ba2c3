/* test_lab_judges.c - judges of `regard reproduce` on models whose answers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "lab/caption_judge.h"
#include "lab/recipe_judge.h"
#include "lab/rows_words.h"
#include "regard/made.h"
#include "regard/metrics.h"

#define OK(call) ok(call, #call)
static void ok(rg_status status, const char *call)
{
    if (status != RG_OK) fail_msg("%s: %s", call, rg_message());
}

/* A model of a few updates. */
static rg_model *train(const char *text)
{
    rg_words   w = { 0 };
    rg_recipe *r;
    rg_model  *m;
    OK(rg_words_split(&w, text));
    OK(rg_words_split(&w, "--model \"\" --after-batches 2 --cpu-threads 1"));
    for (size_t i = 0; i < w.count; i++)
        if (strcmp(w.word[i], "\"\"") == 0) w.word[i][0] = 0;
    OK(rg_words_recipe(&r, &w));
    const rg_training t = rg_recipe_training(r, NULL);
    OK(rg_learn(&m, NULL, &t));
    rg_recipe_free(r);
    rg_words_free(&w);
    return m;
}

/* --------------------------------------------------------------------------------------------------------- captions */

/* --attention fixed: word t weighs the cells by a row of its own, whatever the picture shows. All of it on one cell. */
static void look_at(const rg_model *m, size_t word, size_t cell)
{
    const size_t cells = rg_model_size(m, "cells-down") * rg_model_size(m, "cells-across");
    for (size_t i = 0; i < rg_params_count(m->params); i++) {
        rg_param *p = rg_params_at(m->params, i);
        if (!strstr(rg_param_name(p), "places")) continue;
        for (size_t k = 0; k < cells; k++) rg_param_data(p)[word * cells + k] = k == cell ? 50 : 0;
        return;
    }
    fail_msg("no weights of places");
}

#define FIXED                                                                                               \
    "--type caption --attention fixed --layers c3x4s2,p2 --dim-emb 4 --dim-rnn 6 --mini-batch 4 " \
    "--early-stopping 0 "

static void attention_is_ordered_when_every_symbol_lies_to_the_right_of_the_last(void **state)
{
    (void)state;
    static const char about[] = "captcha count=8 shortest=3 longest=3 lines=0";
    rg_caption_score  score;
    OK(rg_generator_write(&rg_generator_captcha, "strings", "count: 8\nvalid: 0\ntest: 0\nshortest: 3\nlongest: 3\n"));
    rg_model *m = train(FIXED "--vocab-kind characters --train-sets strings/train.tsv");
    for (size_t i = 0; i < 3; i++) look_at(m, i, 4 * i);
    OK(rg_caption_judge(&score, m, about, "", 10));
    assert_int_equal(score.things, 30);
    assert_true(fabs(score.ordered - 1) < 1e-12);
    look_at(m, 1, 9); /* the third is left of the second */
    OK(rg_caption_judge(&score, m, about, "", 10));
    assert_true(fabs(score.ordered) < 1e-12);
    look_at(m, 1, 8); /* and here in the same column */
    OK(rg_caption_judge(&score, m, about, "", 10));
    assert_true(fabs(score.ordered) < 1e-12);
    assert_int_equal(rg_caption_judge(&score, m, "scenes count=8", "", 10), RG_EMATCH);
    rg_model_free(m);
}

/* One shape per scene, and "a red square": the noun is the third word. */
static void nouns_point_where_their_boxes_are(void **state)
{
    (void)state;
    static const char about[] = "scenes count=8 fewest=1 most=1";
    enum { PICTURES = 60 };
    rg_caption_score score;
    OK(rg_generator_write(&rg_generator_scenes, "shapes", "count: 8\nvalid: 0\ntest: 0\nfewest: 1\nmost: 1\n"));
    rg_model    *m = train(FIXED "--train-sets shapes/train.tsv");
    const size_t across = rg_model_size(m, "cells-across"), down = rg_model_size(m, "cells-down");
    assert_true(across == 15 && down == 15); /* of 4 x 4 pixels */
    size_t inside = 0;
    void  *options = rg_alloc_zero(rg_generator_scenes.options_bytes);
    OK(rg_options_init(rg_generator_scenes.options, options));
    const rg_option_group group = { .title = "scenes", .rows = rg_generator_scenes.options, .values = options };
    static const char     yaml[] = "count: 8\nfewest: 1\nmost: 1\n";
    OK(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "test", false));
    rg_maker *maker;
    OK(rg_maker_new(&maker, &rg_generator_scenes, options));
    for (size_t i = 0; i < PICTURES; i++) {
        rg_made made = { 0 };
        OK(rg_maker_draw(&made, maker, RG_MADE_TEST, i));
        const rg_box box = { (double)made.box[0].x, (double)made.box[0].y, (double)made.box[0].width,
                             (double)made.box[0].height };
        inside += rg_box_has(box, 29.5, 29.5); /* the enlarged map is as large there as half a pixel further */
        rg_made_free(&made);
    }
    look_at(m, 2, 7 * across + 7); /* the middle of the picture */
    OK(rg_caption_judge(&score, m, about, "", PICTURES));
    assert_true(inside > 0 && inside < PICTURES && score.things == PICTURES);
    if (fabs(score.pointing - (double)inside / PICTURES) > 1e-9)
        fail_msg("pointing %.4f, %zu of %d boxes have the middle", score.pointing, inside, PICTURES);
    look_at(m, 2, 0); /* a corner, where no shape is */
    OK(rg_caption_judge(&score, m, about, "", PICTURES));
    assert_true(score.pointing < 0.2);
    rg_maker_free(maker);
    rg_options_fini(rg_generator_scenes.options, options);
    rg_free(options);
    rg_model_free(m);
}

/* ---------------------------------------------------------------------------------------------------------- recipes */

static void the_grammar_has_the_perplexity_of_its_entropy(void **state)
{
    (void)state;
    static const char wrong[] = "picture\ttitle\tdirections\tnats\na.png\tx\ty\t-1\n";
    static const char table[] = "picture\ttitle\tingredients\tdirections\tnats\n"
                                "a.png\traw basil and pea\tbasil|pea\tchop the basil . crush the pea . "
                                "serve it cold .\t1.3863\n";
    double            grammar = 0;
    OK(rg_generator_write(&rg_generator_plates, "plates", "count: 8\nvalid: 0\ntest: 0\n"));
    rg_model *m = train("--type recipe --layers c3x4s2,c3x4s2 --dim-emb 8 --transformer-heads 2 --mini-batch 4 "
                        "--early-stopping 0 --train-sets plates/train.tsv");
    OK(rg_file_replace("one.tsv", table, strlen(table)));
    OK(rg_recipe_grammar(&grammar, m, "one.tsv"));
    /* raw basil and pea | chop the basil . | crush the pea . | serve it cold . </s>: 4 + 5 + 5 + 5 + 1 */
    assert_true(fabs(grammar - exp(1.3863 / 20)) < 1e-9);
    OK(rg_file_replace("one.tsv", wrong, strlen(wrong)));
    assert_int_equal(rg_recipe_grammar(&grammar, m, "one.tsv"), RG_EFORMAT);
    assert_non_null(strstr(rg_message(), "nats"));
    rg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_ordered_when_every_symbol_lies_to_the_right_of_the_last),
        cmocka_unit_test(nouns_point_where_their_boxes_are),
        cmocka_unit_test(the_grammar_has_the_perplexity_of_its_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
