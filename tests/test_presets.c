/* Presets: sizes under a name. The paper's parameter counts come out without a weight being allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "regard/model.h"

#include <string.h>

/* Numbers a system declares under a preset; nothing is built. */
static size_t numbers(const char *system_name, const char *preset_name, size_t V)
{
    const rg_system *system = rg_system_find(system_name);
    const rg_preset *preset = rg_preset_find(system, preset_name);
    assert_non_null(preset);
    rg_model m = { .system = system,
                   .sizes = { { { "source-vocabulary", V },
                                { "target-vocabulary", V },
                                { "joint-vocabulary", true },
                                { "bos", 1 },
                                { "eos", 2 },
                                { "context", 64 } } } };
    m.options = rg_alloc_zero(system->options_bytes);
    m.parts = rg_alloc_zero(system->parts_bytes);
    assert_int_equal(rg_params_new(&m.params), RG_OK);
    assert_int_equal(rg_options_init(system->options, m.options), RG_OK);
    const rg_option_group group = { .rows = system->options, .values = m.options };
    assert_int_equal(rg_options_read_yaml(&group, 1, preset->yaml, strlen(preset->yaml), "preset", false), RG_OK);
    if (system->build(&m) != RG_OK) fail_msg("%s", rg_message());
    const size_t n = rg_params_numbers(m.params);
    rg_params_free(m.params);
    rg_options_fini(system->options, m.options);
    rg_free(m.options);
    rg_free(m.parts);
    return n;
}

/* One table of V rows and an output bias; attention 4 d^2 + 4 d, feed-forward 2 d f + d + f, norms 2 d each. */
static size_t formula(size_t V, size_t d, size_t f, size_t encoder, size_t decoder)
{
    const size_t attention = 4 * d * d + 4 * d, ff = 2 * d * f + d + f, norm = 2 * d;
    return V * d + V + encoder * (attention + ff + 2 * norm) + decoder * (2 * attention + ff + 3 * norm);
}

static void the_papers_sizes_come_out(void **state)
{
    (void)state;
    const size_t base = numbers("transformer", "base", 37000), big = numbers("transformer", "big", 37000);
    assert_int_equal(base, formula(37000, 512, 2048, 6, 6));
    assert_int_equal(big, formula(37000, 1024, 4096, 6, 6));
    assert_in_range(base, 62000000, 66000000);   /* the paper: 65 M */
    assert_in_range(big, 210000000, 216000000); /* the paper: 213 M */
    assert_int_equal(numbers("transformer", "tiny", 10000), formula(10000, 128, 256, 4, 4) + 4 * 128); /* norms at the ends */
    assert_int_equal(numbers("transformer", "small", 8000), formula(8000, 256, 1024, 3, 3) + 4 * 256);
}

static void an_unknown_preset_names_those_there_are(void **state)
{
    (void)state;
    assert_null(rg_preset_find(rg_system_find("transformer"), "huge"));
    assert_non_null(strstr(rg_message(), "tiny, small, base, big"));
    assert_null(rg_preset_find(rg_system_find("seq2seq"), "tiny"));
    assert_non_null(strstr(rg_message(), "none"));
}

/* Every key of every preset is a setting of its system. */
static void every_preset_builds(void **state)
{
    (void)state;
    for (const rg_system *const *s = rg_system_all(); *s; s++)
        for (const rg_preset *p = (*s)->presets; p && p->name; p++) assert_true(numbers((*s)->name, p->name, 100) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_sizes_come_out),
        cmocka_unit_test(an_unknown_preset_names_those_there_are),
        cmocka_unit_test(every_preset_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
