/* Forged files of memory models (P2): settings that ask for more than the file holds, or for sequences that would take
 * minutes or gigabytes, are refused with the file and the numbers before anything large is allocated. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/seams.h"
#include "regard/text.h"
#include "tasks/memory_task.h"

#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/test_ntm_files.XXXXXX";
static char path[64];

/* ---------------------------------------------------------------------------------------------------------- forging */

/* A machine whose weights are all 0 with the settings of a real file, and one key changed. */
typedef struct {
    const char *system, *options; /* YAML of what the weights are                                          */
    const char *memory;           /* more of memory.settings                                                */
    const char *claimed;          /* YAML the file says the system's options are; NULL: the truth           */
    uint64_t    features, classes; /* the file says; 0: the truth                                           */
} forgery;

static rg_status write_forgery(const forgery *f)
{
    const rg_system      *system = rg_system_find(f->system);
    void                 *options = rg_alloc_zero(system->options_bytes);
    const rg_option_group group = { .rows = system->options, .values = options };
    const rg_sizes        sizes = { { { "features", 5 }, { "classes", 3 } } };
    rg_model             *m = NULL;
    rg_state             *state = NULL;
    char                  settings[512];
    snprintf(settings, sizeof settings, "task: copy\nbits: 3\nmin-length: 1\nmax-length: 3\n%s", f->memory);
    rg_status status = rg_options_init(system->options, options);
    if (status == RG_OK) status = rg_options_read_yaml(&group, 1, f->options, strlen(f->options), "test", true);
    if (status == RG_OK) status = rg_model_new(&m, system, options, &sizes, 1);
    if (status == RG_OK) status = rg_state_new(&state);
    if (status == RG_OK) status = rg_model_describe(state, m);
    if (status == RG_OK) status = rg_state_put_text(state, "memory.settings", settings);
    if (status == RG_OK && f->claimed) status = rg_state_put_text(state, "regard.settings", f->claimed);
    if (status == RG_OK && f->features) status = rg_state_put_count(state, "sizes.features", f->features);
    if (status == RG_OK && f->classes) status = rg_state_put_count(state, "sizes.classes", f->classes);
    if (status == RG_OK) status = rg_checkpoint_save(path, m->params, NULL, state);
    rg_state_free(state);
    rg_model_free(m);
    rg_options_fini(system->options, options);
    rg_free(options);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- asking */

static atomic_size_t largest; /* allocation asked for */

static bool note_size(void *context, size_t bytes)
{
    (void)context;
    if (bytes > largest) largest = bytes;
    return bytes > (size_t)256 << 20;
}

static rg_status no_columns(void *context, const char *const *names, size_t count)
{
    return (void)context, (void)names, (void)count, RG_OK;
}
static rg_status no_row(void *context, const rg_value *cells) { return (void)context, (void)cells, RG_OK; }
static rg_status no_record(void *context, const rg_record *r) { return (void)context, (void)r, RG_OK; }

/* As `regard predict -m FILE --length N [--attention FILE]` does. */
static rg_status predict(int64_t length, bool watched)
{
    const rg_memory_asking asking = { .length = length, .count = 1, .seed = 1, .recorded = (char *)"0" };
    const rg_sink          sink = { .columns = no_columns, .row = no_row, .record = watched ? no_record : NULL };
    const rg_question      q = { .options = &asking, .sink = &sink };
    rg_model              *m = NULL;
    largest = 0;
    rg_base__seam_alloc(note_size, NULL);
    rg_status status = rg_model_load(&m, path, NULL);
    if (status == RG_OK && (status = m->system->task->answer(m, &q)) != RG_OK) rg_fail_in(status, "%s: ", path);
    rg_model_free(m);
    rg_base__seam_alloc(NULL, NULL);
    return status;
}

#define SMALL "units: 4\nmemory-rows: 5\nmemory-width: 4\n"
#define NTM   .system = "ntm", .options = SMALL

static void settings_that_ask_for_more_than_the_file_holds_are_refused(void **state)
{
    (void)state;
    const struct {
        forgery     file;
        const char *words;
    } cases[] = {
        { { NTM, .memory = "", .features = 8000000 }, "the file has room for" },
        { { NTM, .memory = "", .features = UINT64_MAX }, "features is 18446744073709551615" },
        { { NTM, .memory = "", .classes = 8000000 }, "classes is 8000000" },
        { { NTM, .memory = "", .claimed = "units: 1000000\nmemory-rows: 5\nmemory-width: 4\n" },
          "the file has room for" },
        { { NTM, .memory = "", .claimed = "units: 4\nmemory-rows: 1000000\nmemory-width: 4\n" },
          "the file has room for" },
        { { NTM, .memory = "", .claimed = "units: 4\nmemory-rows: 5\nmemory-width: 1000000\n" },
          "the file has room for" },
        { { NTM, .memory = "", .claimed = "units: 4000000\n" }, "units is 4000000" },
        { { .system = "lstm-copy",
            .options = "layers: 1\nunits: 4\n",
            .memory = "",
            .claimed = "layers: 1\nunits: 1000000\n" },
          "the file has room for" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(write_forgery(&cases[i].file), RG_OK);
        if (predict(0, false) == RG_OK) fail_msg("case %zu was accepted", i);
        if (!strstr(rg_message(), cases[i].words) || !strstr(rg_message(), path))
            fail_msg("case %zu: %s", i, rg_message());
        if (largest > (size_t)1 << 20) fail_msg("case %zu: %zu bytes in one allocation", i, (size_t)largest);
    }
}

static void settings_of_the_puzzle_have_stated_limits(void **state)
{
    (void)state;
    const struct {
        forgery     file;
        const char *words;
    } cases[] = {
        { { NTM, .memory = "max-length: 1000000000\n" },
          "max-length is 1000000000; it should be at least 1 and at most 10000" },
        { { NTM, .memory = "max-length: 10001\n" }, "max-length is 10001" },
        { { NTM, .memory = "min-length: 100000\n" }, "min-length is 100000" },
        { { NTM, .memory = "bits: 1025\n" }, "bits is 1025" },
        { { NTM, .memory = "max-repeats: 1001\n" }, "max-repeats is 1001" },
        { { NTM, .memory = "mini-batch: 1000000000\n" }, "mini-batch is 1000000000" },
        { { NTM, .memory = "zero-vectors: 2\n" }, "zero-vectors is 2" },
        { { NTM, .memory = "coding: morse\n" }, "coding" },
        { { NTM, .memory = "bits: 1024\nmax-length: 10000\n" }, "20001 steps and 30761026 numbers" },
        { { NTM, .memory = "task: repeat-copy\nmax-length: 10000\nmax-repeats: 1000\n" }, "10010002 steps" },
        { { NTM, .memory = "bits: 4\n" }, "takes 5 numbers and gives 3, its puzzle has 6 and 4" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(write_forgery(&cases[i].file), RG_OK);
        if (predict(0, false) == RG_OK) fail_msg("case %zu was accepted", i);
        if (!strstr(rg_message(), cases[i].words) || !strstr(rg_message(), path))
            fail_msg("case %zu: %s", i, rg_message());
        if (largest > (size_t)1 << 20) fail_msg("case %zu: %zu bytes in one allocation", i, (size_t)largest);
    }
}

/* Few parameters can make a large memory, and a sequence keeps one for every step. */
static void a_sequence_that_takes_more_than_a_gigabyte_is_refused_before_it_is_begun(void **state)
{
    (void)state;
    const forgery wide = { .system = "ntm",
                           .options = "units: 1\nmemory-rows: 1000\nmemory-width: 400\n",
                           .memory = "max-length: 10000\n" };
    size_t        takes[2] = { 0 }; /* MiB, without and with somebody who watches the heads */
    assert_int_equal(write_forgery(&wide), RG_OK);
    for (int watched = 0; watched < 2; watched++) {
        assert_int_equal(predict(0, watched), RG_ELIMIT);
        const char *at = strstr(rg_message(), "takes ");
        if (!at || sscanf(at, "takes %zu MiB", &takes[watched]) != 1) fail_msg("%s", rg_message());
        if (!strstr(rg_message(), "the limit is 1024") || !strstr(rg_message(), path)) fail_msg("%s", rg_message());
        assert_true(largest < (size_t)64 << 20);
    }
    assert_true(takes[0] > 20000 && takes[1] > 2 * takes[0]); /* 20,001 steps with 1.5 MiB each */
    assert_int_equal(predict(3, true), RG_OK);
    assert_int_equal(predict(3, false), RG_OK);
}

/* -------------------------------------------------------------------------------------------------------------- run */

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/forged.safetensors", folder);
    return 0;
}

static int remove_one(const char *file, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    return remove(file);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_ask_for_more_than_the_file_holds_are_refused),
        cmocka_unit_test(settings_of_the_puzzle_have_stated_limits),
        cmocka_unit_test(a_sequence_that_takes_more_than_a_gigabyte_is_refused_before_it_is_begun),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
