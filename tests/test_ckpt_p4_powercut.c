/* test_ckpt_p4_powercut.c - three saves, and the power fails after any file operation: a whole file is there (P4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/faults.h"
#include "support/powercut.h"
#include "support/sample_safetensors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAVES = 3 };

static struct {
    char folder[64], path[96], temp[112];
    size_t began[SAVES + 1], ended[SAVES + 1]; /* note numbers around save 1, 2, 3 */
} box;

static void save(int version, rg_status expected)
{
    rg_safetensors_writer *w;
    assert_int_equal(sample_writer(&w, version), RG_OK);
    assert_int_equal(rg_safetensors_writer_save(w, box.path), expected);
    rg_safetensors_writer_free(w);
}

static int record_saves(void **state)
{
    (void)state;
    strcpy(box.folder, "test_powercut.XXXXXX");
    if (mkdtemp(box.folder) == NULL) return -1;
    snprintf(box.path, sizeof box.path, "%s/model", box.folder);
    snprintf(box.temp, sizeof box.temp, "%s" RG_FILE_TEMP_END, box.path);
    powercut_record();
    for (int version = 1; version <= SAVES; version++) {
        box.began[version] = powercut_operations();
        save(version, RG_OK);
        box.ended[version] = powercut_operations();
    }
    powercut_stop();
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    powercut_record(); /* frees the notes */
    powercut_stop();
    unlink(box.path);
    unlink(box.temp);
    return rmdir(box.folder);
}

/* Which version can be loaded after the cut; 0 when there is no file. Fails the test when there is one that does not
 * load. */
static int version_after(size_t operations, powercut_mode mode, rg_random *random)
{
    unsigned char *bytes;
    size_t count;
    rg_safetensors *st;
    int version = 0;
    if (!powercut_disk(&bytes, &count, box.path, operations, mode, random)) return 0;
    rg_status status = rg_safetensors_open_memory(&st, "disk", bytes, count);
    if (status == RG_OK) status = sample_check(&version, st);
    if (status != RG_OK)
        fail_msg("cut after operation %zu of %zu, mode %d: %zu bytes that do not load: %s", operations,
                 powercut_operations(), (int)mode, count, rg_message());
    rg_safetensors_close(st);
    free(bytes);
    return version;
}

static void check_cut(size_t operations, powercut_mode mode, rg_random *random)
{
    int begun = 0, ended = 0;
    for (int v = 1; v <= SAVES; v++) {
        if (operations > box.began[v]) begun = v;
        if (operations >= box.ended[v]) ended = v;
    }
    int version = version_after(operations, mode, random);
    if (version < ended || version > begun)
        fail_msg("cut after operation %zu, mode %d: version %d, though %d was saved and %d begun", operations,
                 (int)mode, version, ended, begun);
}

static void a_cut_after_any_operation_leaves_the_last_finished_save_or_a_newer_one(void **state)
{
    (void)state;
    assert_true(powercut_operations() >= SAVES * 6); /* create, two writes, sync, rename, folder sync */
    for (size_t operations = 0; operations <= powercut_operations(); operations++) {
        check_cut(operations, POWERCUT_ALL_LOST, NULL);
        check_cut(operations, POWERCUT_NAMES_KEPT, NULL);
        check_cut(operations, POWERCUT_BYTES_KEPT, NULL);
        check_cut(operations, POWERCUT_NONE_LOST, NULL);
    }
}

static void torn_and_partly_lost_operations_change_nothing(void **state)
{
    (void)state;
    uint64_t seeds = getenv("CAMPAIGN") != NULL ? 2000 : 20;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        rg_random random = rg_random_new(seed, 0);
        for (size_t operations = 0; operations <= powercut_operations(); operations++)
            check_cut(operations, POWERCUT_TORN, &random);
    }
}

/* The model of the disk can tell: a save that forgets to sync is caught by it. */
static int forgetful_sync(void *context, int fd)
{
    (void)context, (void)fd;
    return 0;
}

static void the_test_itself_notices_a_missing_sync(void **state)
{
    (void)state;
    powercut_record();
    rg_file_calls forgetful = *rg_base__file_calls();
    forgetful.sync = forgetful_sync;
    rg_base__seam_file(&forgetful);
    save(4, RG_OK);
    powercut_stop();
    unsigned char *bytes;
    size_t count;
    assert_true(powercut_disk(&bytes, &count, box.path, powercut_operations(), POWERCUT_NAMES_KEPT, NULL));
    assert_int_equal(count, 0); /* the well-known empty file */
    assert_false(powercut_disk(&bytes, &count, box.path, powercut_operations(), POWERCUT_ALL_LOST, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_after_any_operation_leaves_the_last_finished_save_or_a_newer_one),
        cmocka_unit_test(torn_and_partly_lost_operations_change_nothing),
        cmocka_unit_test(the_test_itself_notices_a_missing_sync),
    };
    return cmocka_run_group_tests(tests, record_saves, drop_folder);
}
