/* Translating three lines with every allocation failing in turn (P3): an error, no leak, and the next call works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/faults.h"
#include "support/small_translator.h"

#include <unistd.h>

static const char *const place = "test_translate_faults.safetensors";
static const char *const lines[] = { "a b c", "", "c a" }, *const beginnings[] = { "zzz", "", "zzz a" }; /* zzz: unknown, and replaced */

static rg_status three_lines(void *context)
{
    rg_translator       *t = NULL;
    rg_session          *session = NULL;
    const rg_translated *out;
    rg_session_config    c = RG_SESSION_CONFIG_DEFAULT;
    (void)context;
    c.search.beam = c.search.n_best = 2;
    c.search.attention = true;
    c.search.length_extra = 3;
    c.search.length_factor = 0;
    c.replace_unknown = true;
    rg_status status = rg_translator_load(&t, place);
    if (status == RG_OK) status = rg_session_new(&session, &t, 1, 1);
    if (status == RG_OK) status = rg_session_run(&out, session, &c, lines, 3, 0, beginnings);
    rg_session_free(session);
    rg_translator_free(t);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const systems[] = { "transformer", "luong" };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(small_translator_save(place, systems[i], 8), RG_OK);
        faults_every_alloc(three_lines, NULL, NULL, true); /* an arena that cannot join its chunks goes on without */
        assert_int_equal(three_lines(NULL), RG_OK);
        unlink(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
