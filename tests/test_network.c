/* The parts of a network, read off the tape: of every system, whatever its data are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regard/view.h"
#include "support/faults.h"

#include "support/small_recipe.h"

#include <math.h>
#include <string.h>

static void ok(rg_status status)
{
    if (status != RG_OK) fail_msg("%s", rg_message());
}

static rg_status count_numbers(void *context, const rg_prepared *prepared)
{
    *(size_t *)context = rg_params_numbers(prepared->run->model->params);
    return RG_OK;
}

static void parts_of_every_system_have_all_its_parameters(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        rg_recipe        *recipe = small_recipe(*s, ".", "");
        const rg_training t = rg_recipe_training(recipe, NULL);
        rg_network       *n;
        size_t            numbers = 0, sum = 0;
        double            flops = 0;
        if (t.system != *s) { /* of two systems of a name the other one has these data */
            rg_recipe_free(recipe);
            continue;
        }
        ok(rg_learn_prepare(&t, NULL, true, count_numbers, &numbers));
        ok(rg_network_new(&n, &t, NULL));
        for (size_t i = 0; i < n->count; i++) {
            sum += n->part[i].parameters;
            flops += n->part[i].flops;
            assert_true(n->part[i].name[0]);
        }
        for (size_t e = 0; e < n->edges; e++) assert_true(n->from[e] < n->count && n->to[e] < n->count);
        if (sum != numbers) fail_msg("%s: parts have %zu parameters, the model %zu", (*s)->name, sum, numbers);
        assert_int_equal(n->parameters, numbers);
        assert_true(fabs(flops - n->flops) <= 1e-9 * n->flops);
        assert_true(n->flops > 0 && n->count >= 1 && (n->edges >= 1 || n->count == 1));
        rg_record *r;
        ok(rg_network_record(&r, n));
        assert_string_equal(r->kind, "network");
        assert_int_equal(r->map[0].edges, n->edges);
        assert_non_null(r->labels[0].places);
        rg_record_free(r);
        rg_network_free(n);
        rg_recipe_free(recipe);
    }
}

static const rg_network_part *part(const rg_network *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->part[i].name, name) == 0) return &n->part[i];
    fail_msg("there is no part %s", name);
    return NULL;
}

static bool flows(const rg_network *n, const char *from, const char *to)
{
    for (size_t e = 0; e < n->edges; e++)
        if (&n->part[n->from[e]] == part(n, from) && &n->part[n->to[e]] == part(n, to)) return true;
    return false;
}

/* The slide: 6 x 2 + 6 x 3 = 30. */
static void the_base_transformer_has_thirty_sub_layers(void **state)
{
    (void)state;
    rg_recipe *recipe =
        small_recipe(rg_system_find("transformer"), ".", rg_preset_find(rg_system_find("transformer"), "base")->yaml);
    const rg_training t = rg_recipe_training(recipe, NULL);
    rg_sizes sizes = { { { "source-vocabulary", 37000 }, { "target-vocabulary", 37000 }, { "unheard-of", 3 } } };
    rg_network       *n;
    rg_text           line = { 0 };
    size_t            total;
    ok(rg_network_new(&n, &t, &sizes));
    ok(rg_network_sublayers(&line, &total, n));
    assert_string_equal(rg_text_c(&line), "6 x 2 + 6 x 3 = 30 sub-layers");
    assert_int_equal(total, 30);
    assert_int_equal(part(n, "embedding")->parameters, 37000 * 512);
    /* four products of 512 x 512 with biases where there are some, and a norm */
    assert_int_equal(part(n, "encoder.0-5.self")->layers, 6);
    assert_true(part(n, "encoder.0-5.self")->parameters >= 6 * 4 * 512 * 512);
    assert_int_equal(part(n, "encoder.0-5.ff")->parameters, 6 * (2 * 512 * 2048 + 2048 + 512 + 2 * 512));
    assert_true(flows(n, "encoder.0-5.ff", "decoder.0-5.cross"));
    assert_true(flows(n, "decoder.0-5.self", "decoder.0-5.cross"));
    assert_false(flows(n, "decoder.0-5.self", "encoder.0-5.self"));
    rg_text_free(&line);
    rg_network_free(n);
    rg_recipe_free(recipe);
}

static void layers_that_differ_stay_apart(void **state)
{
    (void)state;
    rg_recipe        *recipe = small_recipe(rg_system_find("gat"), ".", "layers: 2\n");
    const rg_training t = rg_recipe_training(recipe, NULL);
    rg_network       *n;
    ok(rg_network_new(&n, &t, NULL));
    for (size_t i = 0; i < n->count; i++) assert_null(strchr(n->part[i].name, '-'));
    rg_network_free(n);
    rg_recipe_free(recipe);
}

static rg_status make_network(void *context)
{
    const rg_training t = rg_recipe_training(context, NULL);
    rg_network       *n = NULL;
    rg_record        *r = NULL;
    rg_status         status = rg_network_new(&n, &t, NULL);
    if (status == RG_OK) status = rg_network_record(&r, n);
    rg_record_free(r);
    rg_network_free(n);
    return status;
}

static void a_network_without_memory_leaves_nothing(void **state)
{
    (void)state;
    rg_recipe *recipe = small_recipe(rg_system_find("seq2seq"), ".", "dim-emb: 4\ndim-rnn: 4\n");
    faults_no_sync();
    faults_every_alloc(make_network, recipe, NULL, true);
    rg_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_every_system_have_all_its_parameters),
        cmocka_unit_test(the_base_transformer_has_thirty_sub_layers),
        cmocka_unit_test(layers_that_differ_stay_apart),
        cmocka_unit_test(a_network_without_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
